// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * `background` as a TCP congestion control without a kernel module, and without a
 * stock algorithm behind it: a flow that has no memory or no clock to go by is
 * slower, never a foreground flow. Other programs give it to the sockets of a
 * cgroup as they connect, and run the law over what these receive. own.bpf.c notes
 * what else leaves this machine.
 */
#include "common/kernel_types.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_tracing.h>
#include "background/background_intf.h"
#include "background/gate.h"
#include "common/mark.h"
#include "background/receive.h"

char _license[] SEC("license") = "Dual MIT/GPL";

/* Set by the loader before load: what the cgroup's sockets select. */
const volatile char algorithm[CA_NAME_BYTES] = "background";

/* What became of sockets so far. */
struct background_counts counts = {};

struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct background_flow);
} backgrounds SEC(".maps");

static __always_inline struct background_flow *flow_of(struct sock *sk)
{
	return bpf_sk_storage_get(&backgrounds, sk, 0, 0);
}

/* Notes a change of phase, and how long the last one was. */
static __always_inline void note(struct background_flow *flow, __u64 now)
{
	__u32 phase = flow->law.phase;

	if (phase == flow->noted_phase)
		return;
	if (flow->noted_phase < BACKGROUND_PHASES)
		flow->in_phase_ns[flow->noted_phase] += law_since(now, flow->since_ns);
	if (phase == BACKGROUND_BY_DELAY)
		__sync_fetch_and_add(&counts.by_delay, 1);
	flow->noted_phase = phase;
	flow->since_ns = now;
	flow->transitions++;
}

SEC("struct_ops")
void BPF_PROG(background_begins, struct sock *sk)
{
	struct tcp_sock *tp = (struct tcp_sock *)sk;
	struct background_flow *flow;
	__u64 now = bpf_ktime_get_ns();

	/* The timer of waits is that of pacing, with or without sch_fq. */
	sk->sk_pacing_status = SK_PACING_NEEDED;
	sk->sk_pacing_rate = NOT_PACED;
	/* The kernel clears this where a socket gets another algorithm. */
	tp->inet_conn.icsk_ca_priv[0] = BACKGROUND_MARK;
	flow = bpf_sk_storage_get(&backgrounds, sk, 0, BPF_SK_STORAGE_GET_F_CREATE);
	if (!flow) {
		__sync_fetch_and_add(&counts.without_memory, 1);
		tp->snd_cwnd = WITHOUT_MEMORY_CWND;
		return;
	}
	__builtin_memset(flow, 0, sizeof(*flow));
	flow->since_ns = now;
	flow->marked = tp->delivered_ce;
	flow->was_accepted = sk->__sk_common.skc_state == TCP_SYN_RECV;
	background_init(&flow->law, now, tp->mss_cache, tp->delivered);
	set_window(sk, flow, now);
	__sync_fetch_and_add(&counts.flows, 1);
}

SEC("struct_ops")
void BPF_PROG(background_release, struct sock *sk)
{
	bpf_sk_storage_delete(&backgrounds, sk);
}

static __always_inline void take_ack(struct sock *sk, const struct rate_sample *rs)
{
	struct background_flow *flow = flow_of(sk);
	struct tcp_sock *tp = (struct tcp_sock *)sk;
	struct background_ack ack = {};
	__u8 state = sk->__sk_common.skc_state;

	/* The answer to a SYN says nothing of the path, and its options are not taken in yet. */
	if (state == TCP_SYN_SENT || state == TCP_SYN_RECV)
		return;
	if (!flow) {
		tp->snd_cwnd = WITHOUT_MEMORY_CWND;
		return;
	}
	ack.now_ns = bpf_ktime_get_ns();
	if (!flow->begun) {
		/* A socket that was chosen before its SYN did not know its segments. */
		flow->begun = 1;
		background_init(&flow->law, ack.now_ns, tp->mss_cache, rs->prior_delivered);
	}
	background_waits(&flow->law, ack.now_ns);
	if (rs->acked_sacked) {
		flow->law.mss = law_mss(tp->mss_cache);
		read_ack(tp, flow, rs, &ack);
		background_ack(&flow->law, &ack);
	}
	note(flow, ack.now_ns);
	set_window(sk, flow, ack.now_ns);
}

SEC("struct_ops")
void BPF_PROG(background_cong_control, struct sock *sk, __u32 acked, int flag,
	      const struct rate_sample *rs)
{
	take_ack(sk, rs);
}

SEC("?struct_ops")
void BPF_PROG(background_cong_control_before_6_10, struct sock *sk, const struct rate_sample *rs)
{
	take_ack(sk, rs);
}

SEC("struct_ops")
__u32 BPF_PROG(background_ssthresh, struct sock *sk)
{
	struct tcp_sock *tp = (struct tcp_sock *)sk;

	/* Not used by this law, and half of the window for an algorithm that comes after it. */
	return law_max(tp->snd_cwnd / 2, LAW_FLOOR_CWND);
}

SEC("struct_ops")
void BPF_PROG(background_set_state, struct sock *sk, __u8 new_state)
{
	struct background_flow *flow = flow_of(sk);
	__u64 now = bpf_ktime_get_ns();

	if (!flow)
		return;
	if (new_state == TCP_CA_Recovery)
		background_loss(&flow->law, now, bpf_get_prandom_u32());
	else if (new_state == TCP_CA_Loss)
		background_timeout(&flow->law, now, bpf_get_prandom_u32());
	else
		return;
	note(flow, now);
	set_window(sk, flow, now);
}

SEC("struct_ops")
__u32 BPF_PROG(background_undo_cwnd, struct sock *sk)
{
	struct background_flow *flow = flow_of(sk);
	struct tcp_sock *tp = (struct tcp_sock *)sk;

	if (!flow)
		return tp->snd_cwnd;
	background_spurious(&flow->law);
	return window_of(tp, flow, bpf_ktime_get_ns());
}

/*
 * The kernel asks for this whenever it is about to send, also as the pacing timer
 * fires: the one call that comes at the end of a wait.
 */
SEC("struct_ops")
__u32 BPF_PROG(background_min_tso_segs, struct sock *sk)
{
	struct background_flow *flow = flow_of(sk);
	__u64 now;

	if (!flow || flow->law.phase != BACKGROUND_WAITING)
		return 2;
	now = bpf_ktime_get_ns();
	background_waits(&flow->law, now);
	note(flow, now);
	set_window(sk, flow, now);
	return flow->law.phase == BACKGROUND_WAITING ? 1 : 2;
}

/* A restricted name would leak the map where a namespace may not select it. */
SEC(".struct_ops.link")
struct tcp_congestion_ops background = {
	.init = (void *)background_begins,
	.release = (void *)background_release,
	.cong_control = (void *)background_cong_control,
	.ssthresh = (void *)background_ssthresh,
	.undo_cwnd = (void *)background_undo_cwnd,
	.set_state = (void *)background_set_state,
	.min_tso_segs = (void *)background_min_tso_segs,
	.flags = TCP_CONG_NON_RESTRICTED,
	.name = "background",
};

static __always_inline int is_loopback_4(__u32 address)
{
	return bpf_ntohl(address) >> 24 == 127;
}

/* Where a connection goes that stays on this machine, there is no radio to yield. */
static __always_inline int stays_here(struct bpf_sock_ops *ctx)
{
	if (ctx->family == AF_INET)
		return is_loopback_4(ctx->remote_ip4);
	if (ctx->family != AF_INET6 || ctx->remote_ip6[0] || ctx->remote_ip6[1])
		return 0;
	if (ctx->remote_ip6[2] == bpf_htonl(0xffff))
		return is_loopback_4(ctx->remote_ip6[3]);
	return !ctx->remote_ip6[2] && ctx->remote_ip6[3] == bpf_htonl(1);
}

SEC("sockops")
int choose(struct bpf_sock_ops *ctx)
{
	char name[CA_NAME_BYTES];
	int i;

	if (ctx->op != BPF_SOCK_OPS_TCP_CONNECT_CB &&
	    ctx->op != BPF_SOCK_OPS_PASSIVE_ESTABLISHED_CB)
		return 1;
	if (stays_here(ctx))
		return 1;
	for (i = 0; i < CA_NAME_BYTES; i++)
		name[i] = algorithm[i];
	if (bpf_setsockopt(ctx, SOL_TCP, TCP_CONGESTION, name, sizeof(name)))
		__sync_fetch_and_add(&counts.refused, 1);
	else
		__sync_fetch_and_add(&counts.chosen, 1);
	return 1;
}

/* What the sockets of a cgroup receive. */
SEC("?sockops")
int receive(struct bpf_sock_ops *ctx)
{
	switch (ctx->op) {
	case BPF_SOCK_OPS_ACTIVE_ESTABLISHED_CB:
	case BPF_SOCK_OPS_PASSIVE_ESTABLISHED_CB:
		if (stays_here(ctx))
			break;
		receive_begin(ctx);
		__sync_fetch_and_add(&counts.received, 1);
		break;
	case BPF_SOCK_OPS_HDR_OPT_LEN_CB:
		receive_attend(ctx);
		break;
	}
	return 1;
}
