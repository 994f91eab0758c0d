// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * cqic.h as a filter: one struct host_step in, one struct host_answer out, so that
 * cqic_conformance.rs can compare it with the Rust law.
 */
#include "laws/cqic/cqic.h"
#include "law_host.h"

struct host_answer {
	__u64 phase;
	__u64 since_ns;		/* of a hold */
	__u64 cwnd;
	__u64 pacing;
	__u64 transitions;
};

static struct host_answer answer_of(const struct cqic_state *st, const struct law_output *out)
{
	(void)out;
	return (struct host_answer){
		.phase = st->phase,
		.since_ns = st->phase == PHASE_HOLD ? st->timed_out_at_ns : 0,
		.cwnd = st->status.cwnd,
		.pacing = st->status.pacing_bytes_per_sec,
		.transitions = st->status.transitions,
	};
}

LAW_FILTER(cqic, step.in.now_ns, step.in.rtt_us)
