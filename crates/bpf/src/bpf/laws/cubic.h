/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * CUBIC as fallback, for an instance with that option: the kernel's own, on the same socket. While
 * it controls the flow, BBR runs on in parallel, as it does beside the law, because the law uses
 * BBR's measurements. A socket has space for the state of one of them; that of CUBIC is put there
 * for each call and taken out again.
 *
 * The core leaves the window of a congestion control that answers every ACK alone, also at a loss.
 * So this file does the core's part for CUBIC: RFC 6937 and the pacing of a window.
 */
#ifndef SOUNDING_CUBIC_H
#define SOUNDING_CUBIC_H

#include "common/arith.h"
#include "common/input.h"

/* Set by the loader before load; where it is 0, the verifier drops all this. */
const volatile __u32 falls_to_cubic;

/* Linux, tcp_ca_pacing_ratio and tcp_ss_ratio: percent of a window an RTT. */
#define CUBIC_PACING		120U
#define CUBIC_PACING_AT_FIRST	200U

struct cubic_flow {
	__u64 memory[CA_PRIV_WORDS];
	__u32 drives;			/* CUBIC, not the law or BBR, controls the flow */
	__u32 recover_from;		/* RecoverFS: the window before a loss; 0: none is repaired */
	__u32 recovered;		/* prr_delivered, segments */
	__u32 reserved;
};

struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct cubic_flow);
} cubic_flows SEC(".maps");

/* Weak: a kernel without CUBIC has the others. */
extern void cubictcp_init(struct sock *sk) __ksym __weak;
extern __u32 cubictcp_recalc_ssthresh(struct sock *sk) __ksym __weak;
extern void cubictcp_cong_avoid(struct sock *sk, __u32 ack, __u32 acked) __ksym __weak;
extern void cubictcp_state(struct sock *sk, __u8 new_state) __ksym __weak;
extern void cubictcp_cwnd_event(struct sock *sk, enum tcp_ca_event event) __ksym __weak;
extern void cubictcp_acked(struct sock *sk, const struct ack_sample *sample) __ksym __weak;
extern __u32 tcp_reno_undo_cwnd(struct sock *sk) __ksym __weak;

/* The memory of a flow that may fall back to CUBIC, or NULL. */
static __always_inline struct cubic_flow *cubic_of(struct sock *sk)
{
	return falls_to_cubic ? bpf_sk_storage_get(&cubic_flows, sk, 0, 0) : 0;
}

static __always_inline int cubic_drives(const struct cubic_flow *cubic)
{
	return cubic && cubic->drives;
}

/* Puts CUBIC's memory where BBR's is, or takes it out again. */
static __always_inline void cubic_swap(struct sock *sk, struct cubic_flow *cubic)
{
	__u64 *priv = ((struct inet_connection_sock *)sk)->icsk_ca_priv, kept;
	int i;

	for (i = 0; i < CA_PRIV_WORDS; i++) {
		kept = priv[i];
		priv[i] = cubic->memory[i];
		cubic->memory[i] = kept;
	}
}

/* CUBIC controls the flow from here on, as a new flow. */
static __always_inline void cubic_begin(struct sock *sk, struct cubic_flow *cubic)
{
	cubic_swap(sk, cubic);
	cubictcp_init(sk);
	cubic_swap(sk, cubic);
	cubic->drives = 1;
	cubic->recover_from = 0;
}

/*
 * CUBIC goes on from where the law stood, @cwnd: in congestion avoidance, or in
 * slow start while that is less than the path is known to hold.
 */
static __always_inline __u32 cubic_take_over(struct sock *sk, struct cubic_flow *cubic,
					     const struct law_input *in,
					     const struct law_output *out, __u32 cwnd)
{
	struct tcp_sock *tp = (struct tcp_sock *)sk;
	__u64 rate = out->cuts ? law_min(in->e2e, out->cut) : in->e2e;
	__u64 holds = law_min(rate, LAW_MAX_RATE) * law_min(in->rtt_min_us, LAW_MAX_RTT_US) /
		      1000000 / law_mss(in->mss);

	/* The law's may be for more than a path carries that was found to be narrow. */
	if (out->cuts)
		cwnd = law_min(cwnd, holds * 2);
	if (BPF_CORE_READ_BITFIELD(&tp->inet_conn, icsk_ca_state) == TCP_CA_Loss)
		cwnd = law_min(cwnd, LAW_RESTART_CWND);
	cwnd = law_max(law_min(cwnd, LAW_MAX_SEGS), LAW_STOCK_CWND);
	cubic_begin(sk, cubic);
	tp->snd_ssthresh = law_max(cwnd, law_min(holds, LAW_MAX_SEGS));
	return cwnd;
}

/* Proportional rate reduction: the window while losses are repaired (RFC 6937 §3). */
static __always_inline void cubic_reduce(struct tcp_sock *tp, struct cubic_flow *cubic,
					 __u32 acked)
{
	__u32 pipe = tp->packets_out + tp->retrans_out - tp->sacked_out - tp->lost_out;
	__u64 ssthresh = tp->snd_ssthresh, sent = tp->prr_out, most;
	__u64 may;

	if (!acked)
		return;
	cubic->recovered += acked;
	if (pipe > ssthresh) {
		may = (cubic->recovered * ssthresh + cubic->recover_from - 1) /
		      law_max(cubic->recover_from, 1);
		may = law_since(may, sent);
	} else {
		most = law_max(law_since(cubic->recovered, sent), acked) + 1;
		may = law_min(ssthresh - pipe, most);
	}
	/* The first repair leaves at once. */
	tp->snd_cwnd = pipe + law_max(may, sent ? 0 : 1);
}

/* CUBIC's answer to an ACK, given the window that the core left. */
static __always_inline void cubic_ack(struct sock *sk, struct cubic_flow *cubic,
				      const struct rate_sample *rs)
{
	struct tcp_sock *tp = (struct tcp_sock *)sk;
	__u8 state = BPF_CORE_READ_BITFIELD(&tp->inet_conn, icsk_ca_state);

	if (state == TCP_CA_CWR || state == TCP_CA_Recovery) {
		/* Losses that were being repaired when CUBIC took over are not CUBIC's. */
		if (cubic->recover_from)
			cubic_reduce(tp, cubic, rs->acked_sacked);
		return;
	}
	if (cubic->recover_from) {
		tp->snd_cwnd = law_min(tp->snd_ssthresh, LAW_MAX_SEGS);
		cubic->recover_from = 0;
	}
	if (!rs->acked_sacked)
		return;
	cubic_swap(sk, cubic);
	cubictcp_cong_avoid(sk, tp->snd_una, rs->acked_sacked);
	cubic_swap(sk, cubic);
}

/* How fast the core would pace such a window, bytes/s. */
static __always_inline __u64 cubic_pacing(struct tcp_sock *tp)
{
	__u64 cwnd = law_min(tp->snd_cwnd, LAW_MAX_SEGS);
	__u32 percent = cwnd < tp->snd_ssthresh / 2 ? CUBIC_PACING_AT_FIRST : CUBIC_PACING;
	__u64 pacing;

	/* srtt_us is in eighths. */
	if (!tp->srtt_us)
		return ~0ULL;
	pacing = cwnd * law_mss(tp->mss_cache) * 80000 * percent / tp->srtt_us;
	return law_max(pacing, LAW_MIN_PACING);
}

#endif /* SOUNDING_CUBIC_H */
