/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* BISCAY's law (biscay.h) over a socket of this kernel. */
#ifndef SOUNDING_TCP_BISCAY_H
#define SOUNDING_TCP_BISCAY_H

#include "laws/biscay/biscay.h"
#include "laws/tcp_flow.h"

/* By itself, so that the verifier looks at the law once. */
LAW_PART int biscay_share_step(struct biscay_state *state, struct law_input *in,
			       struct law_output *out)
{
	if (!state || !in || !out)
		return 0;
	/* The law then has one flow to think of. The law itself refuses an absurd rate. */
	if (in->feed.rate_bytes_per_sec <= LAW_MAX_RATE) {
		in->link = in->feed.rate_bytes_per_sec;
		in->feed.rate_bytes_per_sec = share_part(&in->pool, in->weight, in->hunger,
							 in->link);
	}
	biscay_step(&config, state, in, out);
	return 0;
}

static __always_inline void biscay_run(struct sock *sk, const struct rate_sample *rs,
				       struct biscay_state *state, struct law_input *in,
				       struct law_output *out)
{
	__u32 sharers = state->status.n_flows;

	biscay_share_step(state, in, out);
	state->status.n_flows = sharers;
}

static __always_inline void biscay_start(struct sock *sk, struct biscay_state *state)
{
	biscay_init(state, bpf_ktime_get_ns(), tcp_sk(sk)->delivered);
}

#endif /* SOUNDING_TCP_BISCAY_H */
