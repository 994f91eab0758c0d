// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * probe.h as a filter: one struct host_step in, one struct host_answer out, so
 * that probe.rs can compare it with the Rust law. What a state does not use is
 * of one before, and answered as 0.
 */
#include <stdio.h>
#include "probe.h"

struct host_step {
	struct sounding_knobs knobs;
	struct law_input in;
	__u64 begins;		/* a new flow; nothing is answered */
};

struct host_answer {
	__u64 state;
	__u64 step;
	__u64 rounds;
	__u64 asked_us;
	__u64 backlog_since_ns;
	__u64 cwnd;
	__u64 pacing;
	__u64 cuts;
	__u64 cut;
	__u64 longer_us;
};

static struct host_answer answer_of(const struct sounding_probe *st, const struct law_output *out)
{
	int asks = st->state == PROBE_ASKING;

	return (struct host_answer){
		.state = st->state,
		.step = st->state == PROBE_CLIMBING ? st->step : 0,
		.rounds = asks || st->state == PROBE_HELD ? st->rounds : 0,
		.asked_us = asks ? st->asked_us : 0,
		.backlog_since_ns = st->state == PROBE_ELSEWHERE ? st->backlog_since_ns : 0,
		.cwnd = st->said.cwnd,
		.pacing = st->said.pacing_bytes_per_sec,
		.cuts = out->cuts,
		.cut = out->cut,
		.longer_us = out->longer_us,
	};
}

int main(void)
{
	struct sounding_probe probe;
	struct host_answer answer;
	struct host_step step;

	while (fread(&step, sizeof(step), 1, stdin) == 1) {
		if (step.begins) {
			probe_init(&probe, step.in.now_ns, step.in.mss, step.in.rtt_us,
				   step.in.delivered);
			continue;
		}
		struct law_output out = {};

		probe_step(&step.knobs, &probe, &step.in, &out);
		answer = answer_of(&probe, &out);
		if (fwrite(&answer, sizeof(answer), 1, stdout) != 1)
			return 1;
	}
	return 0;
}
