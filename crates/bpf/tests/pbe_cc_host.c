// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * pbe_cc.h as a filter: one struct host_step in, one struct host_answer out, so
 * that pbe_cc_conformance.rs can compare it with the Rust law. What a state does not use is
 * of one before, and answered as 0.
 */
#include <stdio.h>
#include "pbe_cc.h"

struct host_step {
	struct law_config config;
	struct law_input in;
	__u64 begins;		/* a new flow; nothing is answered */
};

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

int main(void)
{
	struct pbe_cc_state law;
	struct host_answer answer;
	struct host_step step;

	while (fread(&step, sizeof(step), 1, stdin) == 1) {
		if (step.begins) {
			pbe_cc_init(&law, step.in.now_ns, step.in.rtt_us, step.in.delivered);
			continue;
		}
		struct law_output out = {};

		pbe_cc_step(&step.config, &law, &step.in, &out);
		answer = answer_of(&law, &out);
		if (fwrite(&answer, sizeof(answer), 1, stdout) != 1)
			return 1;
	}
	return 0;
}
