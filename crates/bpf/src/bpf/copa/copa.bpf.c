// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Copa as a TCP congestion control without a kernel module and without a stock
 * algorithm behind it. While a daemon says what the radio itself added to packets,
 * that is no queue to it. Nor is what a device at the other end says that its radio adds.
 * Without either it is Copa.
 */
#include "common/kernel_types.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_tracing.h>
#include "copa/copa_intf.h"
#include "common/radio.h"
#include "peers/peers.h"

char _license[] SEC("license") = "Dual MIT/GPL";

#define SK_PACING_NEEDED	1U
#define NOT_PACED		(~0UL)
/* Without memory for its state a flow shall harm none. */
#define WITHOUT_MEMORY_CWND	2U

/* What became of sockets so far. */
struct copa_counts counts = {};
/* The network namespace whose sockets are counted; 0: all. */
__u64 counted_netns = 0;

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, MODEMS_MOST);
	__type(key, __u32);
	__type(value, struct delay_table);
} delays SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct copa_flow);
} copa_flows SEC(".maps");

static __always_inline struct copa_flow *flow_of(struct sock *sk)
{
	return bpf_sk_storage_get(&copa_flows, sk, 0, 0);
}

static __always_inline void set_window(struct sock *sk, const struct copa_flow *flow)
{
	struct tcp_sock *tp = (struct tcp_sock *)sk;
	__u64 pacing = copa_pacing(&flow->law.copa, tp->mss_cache);

	tp->snd_cwnd = law_min(copa_cwnd(&flow->law.copa), law_max(tp->snd_cwnd_clamp, 1));
	/* sch_fq sets another status for each flow that it has forgotten. */
	sk->sk_pacing_status = SK_PACING_NEEDED;
	sk->sk_pacing_rate = pacing ? law_min(pacing, sk->sk_max_pacing_rate) : NOT_PACED;
}

SEC("struct_ops")
void BPF_PROG(copa_begins, struct sock *sk)
{
	struct tcp_sock *tp = (struct tcp_sock *)sk;
	struct copa_flow *flow;

	sk->sk_pacing_status = SK_PACING_NEEDED;
	sk->sk_pacing_rate = NOT_PACED;
	flow = bpf_sk_storage_get(&copa_flows, sk, 0, BPF_SK_STORAGE_GET_F_CREATE);
	if (!flow) {
		__sync_fetch_and_add(&counts.without_memory, 1);
		tp->snd_cwnd = WITHOUT_MEMORY_CWND;
		return;
	}
	corrected_init(&flow->law, tp->delivered);
	flow->acks = 0;
	flow->begun = 0;
	flow->modem = radios.unnamed;
	set_window(sk, flow);
	if (!counted_netns || sk->__sk_common.skc_net.net->net_cookie == counted_netns)
		__sync_fetch_and_add(&counts.flows, 1);
}

SEC("struct_ops")
void BPF_PROG(copa_release, struct sock *sk)
{
	bpf_sk_storage_delete(&copa_flows, sk);
}

static __always_inline void take_ack(struct sock *sk, const struct rate_sample *rs)
{
	struct copa_flow *flow = flow_of(sk);
	struct tcp_sock *tp = (struct tcp_sock *)sk;
	__u8 state = sk->__sk_common.skc_state;
	struct delay_table *table;
	struct copa_ack ack = {};
	__u32 modem;

	/* The answer to a SYN says nothing of the path. */
	if (state == TCP_SYN_SENT || state == TCP_SYN_RECV)
		return;
	if (!flow) {
		tp->snd_cwnd = WITHOUT_MEMORY_CWND;
		return;
	}
	if (!flow->begun) {
		flow->begun = 1;
		flow->law.copa.round_ends_at = rs->prior_delivered;
	}
	if (rs->acked_sacked) {
		ack.now_ns = bpf_ktime_get_ns();
		/* When the newest packet left that is delivered, us of the same clock. */
		ack.sent_ns = tp->first_tx_mstamp * 1000;
		ack.rtt_us = rs->rtt_us > 0 ? law_min(rs->rtt_us, LAW_MAX_RTT_US) : 0;
		ack.acked = rs->acked_sacked;
		ack.app_limited = rs->is_app_limited;
		ack.timed_out = BPF_CORE_READ_BITFIELD(&tp->inet_conn, icsk_ca_state) ==
				TCP_CA_Loss;
		ack.sent_delivered = rs->prior_delivered;
		ack.delivered = tp->delivered;
		modem = modem_of(sk, &flow->modem);
		table = bpf_map_lookup_elem(&delays, &modem);
		corrected_ack(&flow->law, table, peer_delays(sk, ack.now_ns), &ack);
		flow->acks++;
	}
	set_window(sk, flow);
}

SEC("struct_ops")
void BPF_PROG(copa_cong_control, struct sock *sk, __u32 acked, int flag,
	      const struct rate_sample *rs)
{
	take_ack(sk, rs);
}

SEC("?struct_ops")
void BPF_PROG(copa_cong_control_before_6_10, struct sock *sk, const struct rate_sample *rs)
{
	take_ack(sk, rs);
}

SEC("struct_ops")
__u32 BPF_PROG(copa_ssthresh, struct sock *sk)
{
	struct tcp_sock *tp = (struct tcp_sock *)sk;

	/* Not used by this law, and half of the window for an algorithm that comes after it. */
	return law_max(tp->snd_cwnd / 2, LAW_FLOOR_CWND);
}

SEC("struct_ops")
void BPF_PROG(copa_set_state, struct sock *sk, __u8 new_state)
{
	struct copa_flow *flow = flow_of(sk);

	if (!flow)
		return;
	if (new_state == TCP_CA_Recovery)
		copa_loss(&flow->law.copa);
	else if (new_state == TCP_CA_Loss)
		copa_timeout(&flow->law.copa);
	else
		return;
	set_window(sk, flow);
}

SEC("struct_ops")
__u32 BPF_PROG(copa_undo_cwnd, struct sock *sk)
{
	struct copa_flow *flow = flow_of(sk);
	struct tcp_sock *tp = (struct tcp_sock *)sk;

	if (!flow)
		return tp->snd_cwnd;
	copa_spurious(&flow->law.copa);
	return copa_cwnd(&flow->law.copa);
}

SEC("struct_ops")
__u32 BPF_PROG(copa_min_tso_segs, struct sock *sk)
{
	return sk->sk_pacing_rate < LAW_SLOW ? 1 : 2;
}

SEC("struct_ops")
__u32 BPF_PROG(copa_sndbuf_expand, struct sock *sk)
{
	/* In slow start the window doubles while a window is under way, as for BBR. */
	return 3;
}

/* A restricted name would leak the map where a namespace may not select it. */
SEC(".struct_ops.link")
struct tcp_congestion_ops copa = {
	.init = (void *)copa_begins,
	.release = (void *)copa_release,
	.cong_control = (void *)copa_cong_control,
	.ssthresh = (void *)copa_ssthresh,
	.undo_cwnd = (void *)copa_undo_cwnd,
	.set_state = (void *)copa_set_state,
	.min_tso_segs = (void *)copa_min_tso_segs,
	.sndbuf_expand = (void *)copa_sndbuf_expand,
	.flags = TCP_CONG_NON_RESTRICTED,
	.name = "copa_gandalf",
};
