// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * sounding.h as a filter: one struct host_step in, one struct host_answer out, so
 * that sounding_conformance.rs can compare it with the Rust law. A field that a state does not
 * use belongs to an earlier state, and is answered as 0.
 */
#include "laws/sounding/sounding.h"
#include "law_host.h"

struct host_answer {
	__u64 phase;
	__u64 step;
	__u64 rounds;
	__u64 tested_us;
	__u64 backlog_since_ns;
	__u64 cwnd;
	__u64 pacing;
	__u64 cuts;
	__u64 cut;
	__u64 longer_us;
};

static struct host_answer answer_of(const struct sounding_state *st, const struct law_output *out)
{
	int tests = st->phase == PHASE_QUEUE_TEST;

	return (struct host_answer){
		.phase = st->phase,
		.step = st->phase == PHASE_PROBING ? st->step : 0,
		.rounds = tests || st->phase == PHASE_HOLD ? st->rounds : 0,
		.tested_us = tests ? st->tested_us : 0,
		.backlog_since_ns = st->phase == PHASE_BOTTLENECK_ELSEWHERE ? st->backlog_since_ns : 0,
		.cwnd = st->status.cwnd,
		.pacing = st->status.pacing_bytes_per_sec,
		.cuts = out->cuts,
		.cut = out->cut,
		.longer_us = out->longer_us,
	};
}

LAW_FILTER(sounding, step.in.now_ns, step.in.mss, step.in.rtt_us, step.in.delivered)
