/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The law of PBE-CC (pbe_cc.h) over a socket of this kernel. */
#ifndef SOUNDING_TCP_PBE_CC_H
#define SOUNDING_TCP_PBE_CC_H

#include "laws/pbe_cc/pbe_cc.h"
#include "laws/tcp_flow.h"

/* Whether both ends agreed on microseconds in time stamps (Linux 6.7). */
static __always_inline int pbe_cc_fine_stamps(struct tcp_sock *tp)
{
	return bpf_core_field_exists(tp->tcp_usec_ts) && BPF_CORE_READ_BITFIELD(tp, tcp_usec_ts);
}

/*
 * The delay of what an ACK acknowledges, from any origin: the way to the receiver by the time
 * stamps (RFC 7323), or the RTT where the connection has none. While something is missing, the
 * receiver echoes the stamp of what came before it, and no delay is known (interpretation 18).
 */
static __always_inline void pbe_cc_delay(struct tcp_sock *tp, const struct rate_sample *rs,
					 struct law_input *in)
{
	__u32 state = BPF_CORE_READ_BITFIELD(&tp->inet_conn, icsk_ca_state);
	__u32 way = tp->rx_opt.rcv_tsval - tp->rx_opt.rcv_tsecr;

	if (!BPF_CORE_READ_BITFIELD(tp, rx_opt.tstamp_ok)) {
		in->delay_us = in->rtt_us;
		if (in->rtt_us)
			in->flags |= LAW_DELAY;
		return;
	}
	if (!BPF_CORE_READ_BITFIELD(tp, rx_opt.saw_tstamp) || !tp->rx_opt.rcv_tsecr ||
	    !rs->acked_sacked || (state != TCP_CA_Open && state != TCP_CA_CWR))
		return;
	/* Multiplied, it wraps as the stamps do. */
	in->delay_us = pbe_cc_fine_stamps(tp) ? way : way * 1000;
	in->flags |= LAW_DELAY;
}

static __always_inline void pbe_cc_run(struct sock *sk, const struct rate_sample *rs,
				       struct pbe_cc_state *state, struct law_input *in,
				       struct law_output *out)
{
	if (rs)
		pbe_cc_delay(tcp_sk(sk), rs, in);
	pbe_cc_step(&config, state, in, out);
}

static __always_inline void pbe_cc_start(struct sock *sk, struct pbe_cc_state *state)
{
	struct tcp_sock *tp = tcp_sk(sk);

	pbe_cc_init(state, bpf_ktime_get_ns(), least_rtt(tp), tp->delivered);
}

#endif /* SOUNDING_TCP_PBE_CC_H */
