// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * probe.h as a filter: one struct host_step in, one struct host_answer out, so
 * that probe.rs can compare it with the Rust law.
 */
#include <stdio.h>
#include "probe.h"

struct host_step {
	struct sounding_knobs knobs;
	struct law_input in;
	__u64 begins;		/* a new flow; nothing is answered */
};

struct host_answer {
	struct sounding_probe probe;
	struct law_output out;
};

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
		__builtin_memset(&answer, 0, sizeof(answer));
		probe_step(&step.knobs, &probe, &step.in, &answer.out);
		answer.probe = probe;
		if (fwrite(&answer, sizeof(answer), 1, stdout) != 1)
			return 1;
	}
	return 0;
}
