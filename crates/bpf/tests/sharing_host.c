// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * sharing.h as a filter: claims in, parts out, so that sharing.rs can compare
 * it with the Rust arithmetic.
 */
#include <stdio.h>
#include "intf.h"
#include "sharing.h"

enum host_verb {
	HOST_BEGIN = 0,		/* an empty pool */
	HOST_ADD = 1,
	HOST_REMOVE = 2,
	HOST_ASK = 3,		/* the part of this weight, of a link of this rate */
	HOST_WEIGH = 4,		/* the weight under a policy (kind), of flows (rate) */
};

struct host_step {
	struct share_claim claim;
	__u64 verb;
};

int main(void)
{
	struct share_pool pool = {};
	struct host_step step;
	__u64 answer;

	while (fread(&step, sizeof(step), 1, stdin) == 1) {
		const struct share_claim *claim = &step.claim;

		switch (step.verb) {
		case HOST_BEGIN:
			__builtin_memset(&pool, 0, sizeof(pool));
			continue;
		case HOST_ADD:
			share_add(&pool, claim);
			continue;
		case HOST_REMOVE:
			share_remove(&pool, claim);
			continue;
		case HOST_ASK:
			answer = share_part(&pool, claim->weight, claim->hunger, claim->rate);
			break;
		default:
			answer = share_weight(claim->kind, claim->weight, claim->rate);
			break;
		}
		if (fwrite(&answer, sizeof(answer), 1, stdout) != 1)
			return 1;
	}
	return 0;
}
