// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * wire.h as a filter: what a device says and the bytes it becomes, and bytes and
 * what they say, so that wire_conformance.rs can hold them to the codec in Rust.
 */
#include <stdio.h>
#include "common/wire.h"

struct host_step {
	struct wire_payload says;
	__u64 word;
};

struct host_answer {
	__u64 emitted;
	__u64 is_known;		/* and what is read, if it is; else zeros */
	__u64 rate;
	__u64 fair;
	__u64 users;
	__u64 carriers;
	__u64 state;
	__u64 bound;
	__u64 age_ms;
	__u64 delays;
	__u64 retransmitted_us;
	__u64 longer_us;
};

int main(void)
{
	struct host_step step;

	while (fread(&step, sizeof(step), 1, stdin) == 1) {
		struct host_answer answer = { .emitted = wire_emit(&step.says) };
		struct wire_payload heard;

		if (wire_is_known(step.word)) {
			wire_parse(step.word, &heard);
			answer.is_known = 1;
			answer.rate = heard.rate;
			answer.fair = heard.fair;
			answer.users = heard.users;
			answer.carriers = heard.carriers;
			answer.state = heard.state;
			answer.bound = heard.bound;
			answer.age_ms = heard.age_ms;
			answer.delays = heard.delays;
			answer.retransmitted_us = wire_delay_us(heard.delays, WIRE_RETRANSMITTED);
			answer.longer_us = wire_delay_us(heard.delays, WIRE_LONGER);
		}
		if (fwrite(&answer, sizeof(answer), 1, stdout) != 1)
			return 1;
	}
	return 0;
}
