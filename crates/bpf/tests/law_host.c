// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * law.h as a filter: one struct host_step in, one struct host_answer out, so
 * that conformance.rs can compare it with the Rust law.
 */
#include <stdio.h>
#include "law.h"

struct host_step {
	struct sounding_knobs knobs;
	struct law_input in;
	__u64 begins;		/* a new flow; nothing is answered */
};

struct host_answer {
	__u64 state;
	__u64 reason;
	__u64 since_ns;
	__u64 share;
	__u64 delivery;
	__u64 narrow_rounds;
	__u64 narrow_since_ns;
	__u64 asking;
	__u64 asked_rtt_us;
	__u64 longer_us;
	__u64 wide_rounds;
	__u64 ramp;
	__u64 transitions;
	__u64 flows;
	__u64 cwnd;
	__u64 pacing;
	__u64 cuts;
	__u64 cut;
};

static struct host_answer answer_of(const struct sounding_law *st, const struct law_output *out)
{
	return (struct host_answer){
		.state = st->said.state,
		.reason = st->said.reason,
		.since_ns = st->said.since_ns,
		.share = st->said.share_bytes_per_sec,
		.delivery = st->said.delivery_bytes_per_sec,
		.narrow_rounds = st->narrow_rounds,
		.narrow_since_ns = st->narrow_since_ns,
		.asking = st->asking,
		.asked_rtt_us = st->asked_rtt_us,
		.longer_us = out->longer_us,
		.wide_rounds = st->wide_rounds,
		.ramp = st->ramp,
		.transitions = st->said.transitions,
		.flows = st->said.n_flows,
		.cwnd = st->said.cwnd,
		.pacing = st->said.pacing_bytes_per_sec,
		.cuts = out->cuts,
		.cut = out->cut,
	};
}

int main(void)
{
	struct sounding_law law;
	struct host_answer answer;
	struct host_step step;

	while (fread(&step, sizeof(step), 1, stdin) == 1) {
		if (step.begins) {
			law_init(&law, step.in.now_ns, step.in.delivered);
			continue;
		}
		struct law_output out = {};

		law_step(&step.knobs, &law, &step.in, &out);
		answer = answer_of(&law, &out);
		if (fwrite(&answer, sizeof(answer), 1, stdout) != 1)
			return 1;
	}
	return 0;
}
