// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * pbe_cc.h as a filter: one struct host_step in, one struct host_answer out, so
 * that pbe_cc_conformance.rs can compare it with the Rust law. A field that a state does not
 * use belongs to an earlier state, and is answered as 0.
 */
#include "laws/pbe_cc/pbe_cc.h"
#include "law_host.h"

struct host_answer {
	__u64 phase;
	__u64 growth;
	__u64 at_ns;
	__u64 from;
	__u64 elsewhere;
	__u64 cwnd;
	__u64 pacing;
	__u64 cuts;
	__u64 cut;
};

static struct host_answer answer_of(const struct pbe_cc_state *st, const struct law_output *out)
{
	int ramps = st->phase == PHASE_RAMP, drains = st->phase == PHASE_DRAIN;

	return (struct host_answer){
		.phase = st->phase,
		.growth = st->phase == PHASE_PROBING ? st->growth : 0,
		.at_ns = ramps || drains ? st->at_ns : 0,
		.from = ramps ? st->from : 0,
		.elsewhere = drains && st->elsewhere,
		.cwnd = st->status.cwnd,
		.pacing = st->status.pacing_bytes_per_sec,
		.cuts = out->cuts,
		.cut = out->cut,
	};
}

LAW_FILTER(pbe_cc, step.in.now_ns, step.in.rtt_us, step.in.delivered)
