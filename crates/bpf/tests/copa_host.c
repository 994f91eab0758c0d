// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * corrected.h and copa.h as a filter: one struct host_step in, one struct host_answer
 * out, so that copa_conformance.rs can compare them with the Rust law.
 */
#include <stdio.h>
/* Each by itself, so that a test can put a changed one in its place. */
#include "copa/copa.h"
#include "copa/delays.h"
#include "copa/corrected.h"

enum host_kind {
	HOST_BEGIN = 0,		/* a new flow and an empty table; nothing is answered */
	HOST_ACK = 1,
	HOST_ELSEWHERE = 2,	/* an ACK of a flow that does not leave over the modem */
	HOST_LOSS = 3,
	HOST_TIMEOUT = 4,
	HOST_SPURIOUS = 5,
	HOST_UP = 6,		/* a word of the table; nothing is answered */
	HOST_DOWN = 7,
	HOST_HEARD = 8,
	HOST_SAID = 9,		/* by the device at the other end; nothing is answered */
	HOST_INTERVAL = 10,	/* between reports, us; nothing is answered */
};

struct host_step {
	__u64 kind;
	__u64 index;
	__u64 word;
	struct copa_ack ack;
};

struct host_answer {
	__u64 cwnd;
	__u64 pacing;
	__u64 phase;
	__u64 least;
	__u64 standing;
	__u64 inverse_delta;
	__u64 is_active;
	__u64 corrections;
};

static struct delay_table table;

int main(void)
{
	struct corrected_state law;
	struct host_answer answer;
	struct host_step step;
	__u32 said = 0;

	while (fread(&step, sizeof(step), 1, stdin) == 1) {
		switch (step.kind) {
		case HOST_BEGIN:
			table = (struct delay_table){};
			corrected_init(&law, 0);
			said = 0;
			continue;
		case HOST_UP:
			table.up[step.index % DELAY_SLOTS] = step.word;
			continue;
		case HOST_DOWN:
			table.down[step.index % DELAY_SLOTS] = step.word;
			continue;
		case HOST_HEARD:
			table.heard_at_ns = step.word;
			continue;
		case HOST_SAID:
			said = step.word;
			continue;
		case HOST_INTERVAL:
			table.interval_us = step.word;
			continue;
		case HOST_ACK:
			corrected_ack(&law, &table, said, &step.ack);
			break;
		case HOST_ELSEWHERE:
			corrected_ack(&law, 0, said, &step.ack);
			break;
		case HOST_LOSS:
			copa_loss(&law.copa);
			break;
		case HOST_TIMEOUT:
			copa_timeout(&law.copa);
			break;
		default:
			copa_spurious(&law.copa);
		}
		answer = (struct host_answer){
			.cwnd = copa_cwnd(&law.copa),
			.pacing = copa_pacing(&law.copa, 1448),
			.phase = law.copa.phase,
			.least = windowed_known(&law.copa.least) ? law.copa.least.best[0] : 0,
			.standing = windowed_known(&law.copa.least) ? law.copa.standing.best[0] : 0,
			.inverse_delta = law.copa.inverse_delta,
			.is_active = law.is_active,
			.corrections = law.corrections,
		};
		if (fwrite(&answer, sizeof(answer), 1, stdout) != 1)
			return 1;
	}
	return 0;
}
