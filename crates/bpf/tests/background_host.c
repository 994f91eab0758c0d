// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * background.h as a filter: one struct host_step in, one struct host_answer out, so
 * that background_conformance.rs can compare it with the Rust law.
 */
#include <stdio.h>
#include "background/background.h"

enum host_kind {
	HOST_BEGIN = 0,		/* a new flow; nothing is answered */
	HOST_ACK = 1,
	HOST_LOSS = 2,
	HOST_TIMEOUT = 3,
	HOST_SPURIOUS = 4,
	HOST_TIME = 5,
};

struct host_step {
	__u64 kind;
	struct background_ack ack;
	__u32 mss;
	__u32 reserved;
};

struct host_answer {
	__u64 phase;
	__u64 cwnd;
	__u64 not_before;
};

int main(void)
{
	struct background_state law;
	struct host_answer answer;
	struct host_step step;

	while (fread(&step, sizeof(step), 1, stdin) == 1) {
		__u64 now = step.ack.now_ns;

		switch (step.kind) {
		case HOST_BEGIN:
			background_init(&law, now, step.mss, 0);
			continue;
		case HOST_ACK:
			background_ack(&law, &step.ack);
			break;
		case HOST_LOSS:
			background_loss(&law, now, step.ack.random);
			break;
		case HOST_TIMEOUT:
			background_timeout(&law, now, step.ack.random);
			break;
		case HOST_SPURIOUS:
			background_spurious(&law);
			break;
		default:
			background_waits(&law, now);
		}
		answer = (struct host_answer){
			.phase = law.phase,
			.cwnd = background_cwnd(&law),
			.not_before = law.phase == BACKGROUND_WAITING ? law.at_ns : 0,
		};
		if (fwrite(&answer, sizeof(answer), 1, stdout) != 1)
			return 1;
	}
	return 0;
}
