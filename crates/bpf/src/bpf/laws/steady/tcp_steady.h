/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* A law for tests (steady.h) over a socket of this kernel. */
#ifndef SOUNDING_TCP_STEADY_H
#define SOUNDING_TCP_STEADY_H

#include "laws/steady/steady.h"
#include "laws/tcp_flow.h"

static __always_inline void steady_run(struct sock *sk, const struct rate_sample *rs,
				       struct steady_state *state, struct law_input *in,
				       struct law_output *out)
{
	steady_step(&config, state, in, out);
}

static __always_inline void steady_start(struct sock *sk, struct steady_state *state)
{
	steady_init(state, bpf_ktime_get_ns());
}

#endif /* SOUNDING_TCP_STEADY_H */
