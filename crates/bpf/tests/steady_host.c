// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * steady.h as a filter: one struct host_step in, one struct host_answer out, so
 * that third_law.rs can compare it with the Rust law. All steps are of one flow.
 */
#include <stdio.h>
#include "laws/steady/steady.h"

struct host_step {
	__u64 max_age_ns;
	__u64 max_silence_ns;
	__u64 now_ns;
	__u64 rate;
	__u64 sampled_at_ns;
	__u64 heartbeat_at_ns;
	__u64 valid;
	__u32 hungry;		/* weights of other flows of the link */
	__u32 rtt_min_us;
	__u32 mss;
	__u32 shadow_cwnd;
	__u64 shadow_pacing;
};

struct host_answer {
	__u64 phase;
	__u64 transitions;
	__u64 changed;
	__u64 cwnd;
	__u64 pacing;
};

int main(void)
{
	struct host_answer answer;
	struct steady_state law;
	struct host_step step;

	steady_init(&law, 0);
	while (fread(&step, sizeof(step), 1, stdin) == 1) {
		struct law_config config = {
			.max_age_ns = step.max_age_ns, .max_silence_ns = step.max_silence_ns,
		};
		struct law_input in = {
			.now_ns = step.now_ns,
			.feed = {
				.rate_bytes_per_sec = step.rate,
				.sampled_at_ns = step.sampled_at_ns,
				.valid = step.valid,
			},
			.heartbeat_at_ns = step.heartbeat_at_ns,
			.pool = {
				.hungry = SHARE_WEIGHT + step.hungry,
				.everybody = SHARE_WEIGHT + step.hungry,
			},
			.weight = SHARE_WEIGHT,
			.hunger = SHARE_WEIGHT,
			.rtt_min_us = step.rtt_min_us,
			.mss = step.mss,
			.shadow_cwnd = step.shadow_cwnd,
			.shadow_pacing = step.shadow_pacing,
			.flags = LAW_ACK,
		};
		struct law_output out = {};

		steady_step(&config, &law, &in, &out);
		answer = (struct host_answer){
			.phase = law.status.phase,
			.transitions = law.status.transitions,
			.changed = out.changed,
			.cwnd = law.status.cwnd,
			.pacing = law.status.pacing_bytes_per_sec,
		};
		if (fwrite(&answer, sizeof(answer), 1, stdout) != 1)
			return 1;
	}
	return 0;
}
