/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The law of CQIC (cqic.h) over a socket of this kernel. */
#ifndef SOUNDING_TCP_CQIC_H
#define SOUNDING_TCP_CQIC_H

#include "laws/cqic/cqic.h"
#include "laws/tcp_flow.h"

static __always_inline void cqic_run(struct sock *sk, const struct rate_sample *rs,
				     struct cqic_state *state, struct law_input *in,
				     struct law_output *out)
{
	cqic_step(&config, state, in, out);
}

static __always_inline void cqic_start(struct sock *sk, struct cqic_state *state)
{
	cqic_init(state, bpf_ktime_get_ns(), least_rtt(tcp_sk(sk)));
}

#endif /* SOUNDING_TCP_CQIC_H */
