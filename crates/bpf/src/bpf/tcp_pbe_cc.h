/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The law of PBE-CC (pbe_cc.h) over a socket of this kernel. */
#ifndef SOUNDING_TCP_PBE_CC_H
#define SOUNDING_TCP_PBE_CC_H

#include "pbe_cc.h"
#include "tcp_flow.h"

static __always_inline void pbe_cc_run(struct pbe_cc_state *state, struct law_input *in,
				       struct law_output *out)
{
	pbe_cc_step(&config, state, in, out);
}

static __always_inline void pbe_cc_start(struct sock *sk, struct pbe_cc_state *state)
{
	struct tcp_sock *tp = tcp_sk(sk);

	pbe_cc_init(state, bpf_ktime_get_ns(), least_rtt(tp), tp->delivered);
}

#endif /* SOUNDING_TCP_PBE_CC_H */
