// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * The laws as TCP congestion controls without a kernel module. An instance loads
 * one of them. The rows at the end say which there are.
 */
#include "common/kernel_types.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_tracing.h>
#include "laws/tcp_flow.h"

char _license[] SEC("license") = "Dual MIT/GPL";

SEC("struct_ops")
void BPF_PROG(flow_release, struct sock *sk)
{
	claim_release(member_of(sk));
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
		/* Until it gets an estimate again, others may have its part. */
		claim_release(member_of(sk));
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

/*
 * The programs of one law. Its own file (tcp_<law>.h) has
 *
 *	struct <law>_state { struct flow_status status; ... }
 *	void <law>_start(struct sock *sk, struct <law>_state *state)
 *	void <law>_run(struct sock *sk, const struct rate_sample *rs,
 *		       struct <law>_state *state, struct law_input *in,
 *		       struct law_output *out)
 *
 * Of the two forms of cong_control the loader takes the one that the kernel has.
 */
#define LAW_PROGRAMS(law)							\
_Static_assert(sizeof(struct law##_state) <= LAW_STATE_BYTES,			\
	       "LAW_STATE_BYTES of intf.h has no room for struct " #law "_state");	\
_Static_assert(!__builtin_offsetof(struct law##_state, status),			\
	       "struct " #law "_state begins with its status");			\
										\
static __always_inline void law##_update(struct sock *sk, struct sounding_flow *flow,	\
					 const struct rate_sample *rs)		\
{										\
	__u32 from = flow->status.phase;					\
	struct law_output out = {};						\
	struct law_input in = {};						\
										\
	build_law_input(sk, flow, rs, &in);					\
	law##_run(sk, rs, (struct law##_state *)flow->state, &in, &out);	\
	apply_verdict(sk, flow, &in, &out, from);				\
}										\
										\
SEC("struct_ops")								\
void BPF_PROG(law##_flow_begins, struct sock *sk)				\
{										\
	struct sounding_flow *flow = flow_init(sk);				\
										\
	if (flow)								\
		law##_start(sk, (struct law##_state *)flow->state);		\
}										\
										\
SEC("struct_ops")								\
void BPF_PROG(law##_cong_control, struct sock *sk, __u32 ack, int flag,		\
	      const struct rate_sample *rs)					\
{										\
	struct sounding_flow *flow = run_bbr(sk, ack, flag, rs);		\
										\
	if (flow)								\
		law##_update(sk, flow, rs);					\
}										\
										\
SEC("?struct_ops")								\
void BPF_PROG(law##_cong_control_before_6_10, struct sock *sk,			\
	      const struct rate_sample *rs)					\
{										\
	struct sounding_flow *flow = run_bbr_before_6_10(sk, rs);		\
										\
	if (flow)								\
		law##_update(sk, flow, rs);					\
}										\
										\
SEC("struct_ops")								\
void BPF_PROG(law##_cwnd_event, struct sock *sk, enum tcp_ca_event event)	\
{										\
	struct sounding_flow *flow = flow_of(sk);				\
										\
	if (restarts(sk, flow, event) && flow)					\
		law##_update(sk, flow, 0);					\
}										\
										\
/* A restricted name would leak the map where a namespace may not select it. */	\
SEC(".struct_ops.link")								\
struct tcp_congestion_ops law = {						\
	.init = (void *)law##_flow_begins,					\
	.release = (void *)flow_release,					\
	.cong_control = (void *)law##_cong_control,				\
	.ssthresh = (void *)flow_ssthresh,					\
	.undo_cwnd = (void *)flow_undo_cwnd,					\
	.cwnd_event = (void *)law##_cwnd_event,					\
	.set_state = (void *)flow_set_state,					\
	.min_tso_segs = (void *)flow_min_tso_segs,				\
	.sndbuf_expand = (void *)flow_sndbuf_expand,				\
	.flags = TCP_CONG_NON_RESTRICTED,					\
	.name = #law,								\
}

/* A row for each law; ../../laws.rs has the same rows. */
#include "laws/biscay/tcp_biscay.h"
LAW_PROGRAMS(biscay);

#include "laws/sounding/tcp_sounding.h"
LAW_PROGRAMS(sounding);

#include "laws/pbe_cc/tcp_pbe_cc.h"
LAW_PROGRAMS(pbe_cc);

#include "laws/cqic/tcp_cqic.h"
LAW_PROGRAMS(cqic);

#ifdef SOUNDING_THIRD_LAW
#include "laws/steady/tcp_steady.h"
LAW_PROGRAMS(steady);
#endif
