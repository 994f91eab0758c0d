/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * A law as a filter: one struct host_step in, one struct host_answer out. A test includes the
 * law's header and this file, defines struct host_answer and answer_of(), and ends with LAW_FILTER.
 */
#include <stdio.h>

struct host_step {
	struct law_config config;
	struct law_input in;
	__u64 begins;		/* a new flow; nothing is answered */
};

/* After the name: what <name>_init takes besides the state, from step. */
#define LAW_FILTER(name, ...)							\
int main(void)									\
{										\
	struct name##_state law;						\
	struct host_answer answer;						\
	struct host_step step;							\
										\
	while (fread(&step, sizeof(step), 1, stdin) == 1) {			\
		if (step.begins) {						\
			name##_init(&law, __VA_ARGS__);				\
			continue;						\
		}								\
		struct law_output out = {};					\
										\
		name##_step(&step.config, &law, &step.in, &out);		\
		answer = answer_of(&law, &out);					\
		if (fwrite(&answer, sizeof(answer), 1, stdout) != 1)		\
			return 1;						\
	}									\
	return 0;								\
}
