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
	struct sounding_law law;
	struct law_output out;
};

int main(void)
{
	struct sounding_law law;
	struct host_step step;
	struct host_answer answer;

	while (fread(&step, sizeof(step), 1, stdin) == 1) {
		if (step.begins) {
			law_init(&law, step.in.now_ns, step.in.delivered);
			continue;
		}
		law_step(&step.knobs, &law, &step.in, &answer.out);
		answer.law = law;
		if (fwrite(&answer, sizeof(answer), 1, stdout) != 1)
			return 1;
	}
	return 0;
}
