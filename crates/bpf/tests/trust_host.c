// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * trust.h as a filter: a connection's events in, the believed rate out, so that
 * trust.rs can look at it. The fuzz target has it as a library.
 */
#include <stddef.h>
#include <stdio.h>
#include "common/trust.h"

enum host_verb {
	HOST_READ = 0,		/* the option's word, of a limit */
	HOST_SEGMENT = 1,	/* whether TCP takes it */
	HOST_FORGET = 2,	/* the connection was idle */
	HOST_STEP = 3,		/* what is believed at an ACK */
	HOST_READ_2 = 4,	/* the option's two words, of a limit */
	HOST_WITHIN = 5,	/* what is believed of a fair share then */
};

struct host_step {
	struct trust_input in;
	__u64 at_most;
	__u32 word;		/* or the acknowledgement */
	__u32 una;		/* or the second word */
	__u32 nxt;
	__u32 max_window;
	__u32 lacks_stamp;
	__u32 verb;
};

struct host_answer {
	__u64 first;		/* claimed; the verdict; what is believed */
	__u64 second;		/* within the limit; rounds that count */
	__u64 third;		/* bound; fair share within the limit; rounds in a row that overstate */
};

static void answer_step(struct peer_trust *trust, const struct host_step *step,
			struct host_answer *answer)
{
	struct peer_claim claim = {};

	__builtin_memset(answer, 0, sizeof(*answer));
	switch (step->verb) {
	case HOST_READ:
		trust_read(step->word, step->at_most, &claim);
		answer->first = claim.claimed;
		answer->second = claim.rate;
		answer->third = claim.bound;
		return;
	case HOST_READ_2:
		if (trust_read_2((__u64)step->word << 32 | step->una, step->at_most, &claim)) {
			answer->first = ~0ULL;
			return;
		}
		answer->first = claim.claimed;
		answer->second = claim.rate;
		answer->third = claim.fair;
		return;
	case HOST_WITHIN:
		answer->first = trust_within(trust, &step->in, step->in.rate);
		return;
	case HOST_SEGMENT:
		answer->first = trust_segment(step->word, step->una, step->nxt,
					      step->max_window, step->lacks_stamp);
		return;
	case HOST_FORGET:
		trust_forget(trust, step->in.delivered);
		return;
	default:
		answer->first = trust_step(trust, &step->in);
		answer->second = trust->rounds;
		answer->third = trust->overstated;
	}
}

/* A connection's whole life. */
void trust_host(const struct host_step *steps, size_t count, struct host_answer *answers)
{
	struct peer_trust trust = {};
	size_t i;

	for (i = 0; i < count; i++)
		answer_step(&trust, &steps[i], &answers[i]);
}

#ifndef TRUST_HOST_LIBRARY
int main(void)
{
	struct peer_trust trust = {};
	struct host_answer answer;
	struct host_step step;

	while (fread(&step, sizeof(step), 1, stdin) == 1) {
		answer_step(&trust, &step, &answer);
		if (fwrite(&answer, sizeof(answer), 1, stdout) != 1)
			return 1;
	}
	return 0;
}
#endif
