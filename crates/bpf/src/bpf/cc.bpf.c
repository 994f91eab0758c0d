// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * The laws as TCP congestion controls without a kernel module: `biscay` asks
 * law.h, `sounding` asks probe.h. An instance has one of them.
 */
#include "mini.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_tracing.h>
#include "law.h"
#include "probe.h"
#include "glue.h"

char _license[] SEC("license") = "Dual MIT/GPL";

/* The law by itself, which the verifier then looks at once. */
LAW_PART int step_biscay(struct sounding_law *law, struct law_input *in, struct law_output *out)
{
	if (!law || !in || !out)
		return 0;
	/* The law then has one flow to think of. What is absurd is its to refuse. */
	if (in->feed.rate_bytes_per_sec <= LAW_MAX_RATE) {
		in->link = in->feed.rate_bytes_per_sec;
		in->feed.rate_bytes_per_sec = share_part(&in->pool, in->weight, in->hunger,
							 in->link);
	}
	law_step(&knobs, law, in, out);
	return 0;
}

static __always_inline void ask_biscay(struct sock *sk, struct sounding_flow *flow,
				       const struct rate_sample *rs)
{
	__u32 from = flow->said.state, sharers;
	struct law_output out = {};
	struct law_input in = {};

	look(sk, flow, rs, &in);
	sharers = flow->said.n_flows;
	step_biscay(&flow->law, &in, &out);
	flow->said.n_flows = sharers;
	obey(sk, flow, &in, &out, from);
}

static __always_inline void ask_sounding(struct sock *sk, struct sounding_flow *flow,
					 const struct rate_sample *rs)
{
	__u32 from = flow->said.state;
	struct law_output out = {};
	struct law_input in = {};

	look(sk, flow, rs, &in);
	probe_step(&knobs, &flow->probe, &in, &out);
	obey(sk, flow, &in, &out, from);
}

SEC("struct_ops")
void BPF_PROG(biscay_init, struct sock *sk)
{
	struct sounding_flow *flow = begin(sk);

	if (flow)
		law_init(&flow->law, bpf_ktime_get_ns(), tcp_sk(sk)->delivered);
}

SEC("struct_ops")
void BPF_PROG(sounding_init, struct sock *sk)
{
	struct sounding_flow *flow = begin(sk);
	struct tcp_sock *tp = tcp_sk(sk);

	if (flow)
		probe_init(&flow->probe, bpf_ktime_get_ns(), tp->mss_cache, least_rtt(tp),
			   tp->delivered);
}

SEC("struct_ops")
void BPF_PROG(biscay_cong_control, struct sock *sk, __u32 ack, int flag,
	      const struct rate_sample *rs)
{
	struct sounding_flow *flow = run_bbr(sk, ack, flag, rs);

	if (flow)
		ask_biscay(sk, flow, rs);
}

SEC("struct_ops")
void BPF_PROG(sounding_cong_control, struct sock *sk, __u32 ack, int flag,
	      const struct rate_sample *rs)
{
	struct sounding_flow *flow = run_bbr(sk, ack, flag, rs);

	if (flow)
		ask_sounding(sk, flow, rs);
}

/* In place of the two above where the kernel has the older shape. */

SEC("?struct_ops")
void BPF_PROG(biscay_cong_control_before_6_10, struct sock *sk, const struct rate_sample *rs)
{
	struct sounding_flow *flow = run_bbr_before_6_10(sk, rs);

	if (flow)
		ask_biscay(sk, flow, rs);
}

SEC("?struct_ops")
void BPF_PROG(sounding_cong_control_before_6_10, struct sock *sk, const struct rate_sample *rs)
{
	struct sounding_flow *flow = run_bbr_before_6_10(sk, rs);

	if (flow)
		ask_sounding(sk, flow, rs);
}

SEC("struct_ops")
void BPF_PROG(biscay_cwnd_event, struct sock *sk, enum tcp_ca_event event)
{
	struct sounding_flow *flow = flow_of(sk);

	if (restarts(sk, flow, event) && flow)
		ask_biscay(sk, flow, 0);
}

SEC("struct_ops")
void BPF_PROG(sounding_cwnd_event, struct sock *sk, enum tcp_ca_event event)
{
	struct sounding_flow *flow = flow_of(sk);

	if (restarts(sk, flow, event) && flow)
		ask_sounding(sk, flow, 0);
}

/* From here on both are alike. */

SEC("struct_ops")
void BPF_PROG(flow_release, struct sock *sk)
{
	renounce(member_of(sk));
	bpf_sk_storage_delete(&members, sk);
	bpf_sk_storage_delete(&flows, sk);
	if (falls_to_cubic)
		bpf_sk_storage_delete(&cubic_flows, sk);
}

SEC("struct_ops")
__u32 BPF_PROG(flow_ssthresh, struct sock *sk)
{
	struct sounding_flow *flow = flow_of(sk);
	struct cubic_flow *cubic = cubic_of(sk);
	struct tcp_sock *tp = tcp_sk(sk);
	__u32 cwnd = tp->snd_cwnd, ssthresh;

	/* BBR keeps the window it finds here, to come back to after the loss. */
	if (flow && cwnd == flow->set_cwnd)
		tp->snd_cwnd = flow->shadow_cwnd;
	ssthresh = bbr_ssthresh(sk);
	tp->snd_cwnd = cwnd;
	if (cubic_drives(cubic)) {
		cubic_swap(sk, cubic);
		ssthresh = cubictcp_recalc_ssthresh(sk);
		cubic_swap(sk, cubic);
		cubic->recover_from = cwnd;
		cubic->recovered = 0;
	}
	return ssthresh;
}

SEC("struct_ops")
__u32 BPF_PROG(flow_undo_cwnd, struct sock *sk)
{
	struct sounding_flow *flow = flow_of(sk);
	struct cubic_flow *cubic = cubic_of(sk);
	__u32 cwnd;

	if (flow)
		flow->events = LAW_UNDO;
	cwnd = bbr_undo_cwnd(sk);
	if (cubic_drives(cubic)) {
		cubic->recover_from = 0;
		cwnd = tcp_reno_undo_cwnd(sk);
	}
	return cwnd;
}

SEC("struct_ops")
void BPF_PROG(flow_set_state, struct sock *sk, __u8 new_state)
{
	struct cubic_flow *cubic = cubic_of(sk);
	struct sounding_flow *flow;

	if (cubic_drives(cubic)) {
		cubic_swap(sk, cubic);
		cubictcp_state(sk, new_state);
		cubic_swap(sk, cubic);
		/* The core has set the window to begin again with. */
		if (new_state == TCP_CA_Loss)
			cubic->recover_from = 0;
	}
	if (new_state == TCP_CA_Loss) {
		flow = flow_of(sk);
		if (flow)
			flow->events = LAW_RTO;
		/* Until it hears something again, others may have its part. */
		renounce(member_of(sk));
	}
	bbr_set_state(sk, new_state);
}

SEC("struct_ops")
__u32 BPF_PROG(flow_min_tso_segs, struct sock *sk)
{
	return bbr_min_tso_segs(sk);
}

SEC("struct_ops")
__u32 BPF_PROG(flow_sndbuf_expand, struct sock *sk)
{
	return bbr_sndbuf_expand(sk);
}

/* Only where CUBIC is what to fall back to. */
SEC("?struct_ops")
void BPF_PROG(flow_pkts_acked, struct sock *sk, const struct ack_sample *sample)
{
	struct cubic_flow *cubic = cubic_of(sk);

	if (!cubic_drives(cubic))
		return;
	cubic_swap(sk, cubic);
	cubictcp_acked(sk, sample);
	cubic_swap(sk, cubic);
}

SEC(".struct_ops.link")
struct tcp_congestion_ops biscay = {
	.init = (void *)biscay_init,
	.release = (void *)flow_release,
	.cong_control = (void *)biscay_cong_control,
	.ssthresh = (void *)flow_ssthresh,
	.undo_cwnd = (void *)flow_undo_cwnd,
	.cwnd_event = (void *)biscay_cwnd_event,
	.set_state = (void *)flow_set_state,
	.min_tso_segs = (void *)flow_min_tso_segs,
	.sndbuf_expand = (void *)flow_sndbuf_expand,
	/* Restricted names leak the map where a namespace may not select them. */
	.flags = TCP_CONG_NON_RESTRICTED,
	.name = "biscay",
};

SEC(".struct_ops.link")
struct tcp_congestion_ops sounding = {
	.init = (void *)sounding_init,
	.release = (void *)flow_release,
	.cong_control = (void *)sounding_cong_control,
	.ssthresh = (void *)flow_ssthresh,
	.undo_cwnd = (void *)flow_undo_cwnd,
	.cwnd_event = (void *)sounding_cwnd_event,
	.set_state = (void *)flow_set_state,
	.min_tso_segs = (void *)flow_min_tso_segs,
	.sndbuf_expand = (void *)flow_sndbuf_expand,
	/* Restricted names leak the map where a namespace may not select them. */
	.flags = TCP_CONG_NON_RESTRICTED,
	.name = "sounding",
};
