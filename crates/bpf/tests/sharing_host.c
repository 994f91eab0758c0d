// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * sharing.h as a filter: claims in, parts out, so that sharing.rs can compare
 * it with the Rust arithmetic.
 */
#include <stdio.h>
#include "common/intf.h"
#include "common/sharing.h"

enum host_verb {
	HOST_BEGIN = 0,		/* an empty link */
	HOST_ADD = 1,
	HOST_REMOVE = 2,
	HOST_ASK = 3,		/* what has this claim in; and then the part of a link of this rate */
	HOST_WEIGH = 4,		/* the weight under a policy (kind), of flows (rate) */
	HOST_SHARE_BY = 5,	/* a policy (kind) */
};

#define HOST_USERS	4

struct host_step {
	struct share_claim claim;	/* its reserved word is the user */
	__u64 verb;
};

static int answer(__u64 number)
{
	return fwrite(&number, sizeof(number), 1, stdout) != 1;
}

int main(void)
{
	static const struct share_claim nothing;
	struct share_user users[HOST_USERS] = {};
	struct share_claim own = {};
	struct share_pool link = {};
	struct host_step step;
	__u32 policy = SHARE_FLOWS;
	int asks = 0;

	while (fread(&step, sizeof(step), 1, stdin) == 1) {
		const struct share_claim *claim = &step.claim;
		struct share_user *user = &users[claim->reserved % HOST_USERS];
		struct share_pool seen = link;
		struct share_user whose = *user;

		switch (step.verb) {
		case HOST_BEGIN:
			__builtin_memset(users, 0, sizeof(users));
			__builtin_memset(&link, 0, sizeof(link));
			break;
		case HOST_SHARE_BY:
			policy = claim->kind;
			break;
		case HOST_ADD:
			share_change(policy, &link, user, &nothing, claim);
			break;
		case HOST_REMOVE:
			share_change(policy, &link, user, claim, &nothing);
			break;
		case HOST_ASK:
			asks = !asks;
			if (asks) {
				own = *claim;
				break;
			}
			share_seen(policy, &seen, &whose, &own, claim->weight, claim->hunger, 0);
			if (answer(share_part(&seen, claim->weight, claim->hunger, claim->rate)) ||
			    answer(share_fraction(&seen, claim->weight)))
				return 1;
			break;
		default:
			if (answer(share_weight(claim->kind, claim->weight, claim->rate)))
				return 1;
			break;
		}
	}
	return 0;
}
