/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The law of `sounding` (sounding.h) over a socket of this kernel. */
#ifndef SOUNDING_TCP_SOUNDING_H
#define SOUNDING_TCP_SOUNDING_H

#include "laws/sounding/sounding.h"
#include "laws/tcp_flow.h"

static __always_inline void sounding_run(struct sock *sk, const struct rate_sample *rs,
				       struct sounding_state *state, struct law_input *in,
				       struct law_output *out)
{
	sounding_step(&config, state, in, out);
}

static __always_inline void sounding_start(struct sock *sk, struct sounding_state *state)
{
	struct tcp_sock *tp = tcp_sk(sk);

	sounding_init(state, bpf_ktime_get_ns(), tp->mss_cache, least_rtt(tp), tp->delivered);
}

#endif /* SOUNDING_TCP_SOUNDING_H */
