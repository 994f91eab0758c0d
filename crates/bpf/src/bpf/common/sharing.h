/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * How the flows of a device share what its link carries, as pure functions of
 * integers. crates/cc/src/sharing.rs is the same arithmetic in Rust; a
 * property test runs both over the same claims.
 */
#ifndef SOUNDING_SHARING_H
#define SOUNDING_SHARING_H

#include "common/arith.h"

/* The weight of an ordinary flow: weights are in 1/256 of it. */
#define SHARE_WEIGHT		256U
/* All of a link. */
#define SHARE_WHOLE		1024U
/* Larger weights are cut to this: products with any rate stay below 2^64. */
#define SHARE_MOST_WEIGHT	(1U << 20)
/* An application weighs as much as so many flows. */
#define SHARE_APPLICATION	64U
/* Left to a limited flow beyond what it used, to show that it wants more: 1/8. */
#define SHARE_HEADROOM_SHIFT	3

/* By what weight the flows of a user share. */
enum share_policy {
	SHARE_FLOWS = 0,	/* all alike (BISCAY A.5.2) */
	SHARE_WEIGHTS = 1,	/* by weights they were given */
	SHARE_APPLICATIONS = 2,	/* all applications alike, and the flows of each */
};

/* The weights of a user's flows come to less than this: 65536 of the greatest weight. */
#define SHARE_MOST_FLOWS	(1ULL << 36)
/*
 * The users' total weight is exact up to this, so that its product with the above stays below 2^64:
 * a thousand users of 512 times the ordinary weight. Beyond, its last bits are dropped.
 */
#define SHARE_EXACT_WHOLE	(1ULL << 27)
#define SHARE_COARSE_SHIFT	13
#define SHARE_MOST_WHOLE	(1ULL << 40)

/* What a flow claims of its link. */
enum share_kind {
	SHARE_IDLE = 0,		/* nothing now */
	SHARE_LIMITED = 1,	/* no more than a rate */
	SHARE_HUNGRY = 2,	/* all it can get */
};

struct share_claim {
	__u64 rate;		/* of IP packets, bytes/s; of the limited */
	__u32 kind;		/* enum share_kind */
	__u32 weight;		/* among all with a claim */
	__u32 hunger;		/* its weight among the hungry */
	__u32 reserved;
};

/*
 * The total claims of a link's flows. In a link's pool the weights are users'; in the pool that a
 * flow sees they are those of its own user's flows.
 */
struct share_pool {
	__u64 hungry;		/* weights among them */
	__u64 everybody;	/* weights of all, the hungry too */
	__u64 claimed;		/* by the limited, bytes/s */
	__u64 flows;		/* that claim anything */
};

/* What the flows of one user claim. */
struct share_user {
	__u64 hungry;		/* weights among them */
	__u64 everybody;	/* weights of all, the hungry too */
	__u32 flows;		/* that claim anything */
	__u32 weight;		/* its own in the link's pool; 0: it claims nothing */
	__u32 hunger;		/* and among the hungry there */
	__u32 reserved;
};

/* @a less @b; zero if there is less. */
LAW_INLINE __u64 share_without(__u64 a, __u64 b)
{
	return a > b ? a - b : 0;
}

LAW_INLINE __u64 share_headroom(__u64 rate)
{
	return rate + (rate >> SHARE_HEADROOM_SHIFT);
}

/*
 * The weight of a user among users: all are equal, so that more flows gain a user nothing. If flows
 * were given weights, the mean of the user's flows.
 */
LAW_INLINE __u32 share_user_weight(__u32 policy, const struct share_user *user)
{
	if (!user->flows)
		return 0;
	if (policy == SHARE_WEIGHTS)
		return law_min(law_max(user->everybody / user->flows, 1), SHARE_MOST_WEIGHT);
	return SHARE_WEIGHT;
}

/* Has a user weigh in the link's pool what its flows make it weigh now. */
LAW_INLINE void share_weigh_user(__u32 policy, struct share_pool *link,
				 struct share_user *user)
{
	__u32 weight = share_user_weight(policy, user);
	__u32 hunger = user->hungry ? weight : 0;

	link->everybody = share_without(link->everybody, user->weight) + weight;
	link->hungry = share_without(link->hungry, user->hunger) + hunger;
	user->weight = weight;
	user->hunger = hunger;
}

/* Adds or removes the claim of a user's flow in the user's sums. */
LAW_INLINE void share_user_add(struct share_user *user, const struct share_claim *claim)
{
	if (claim->kind == SHARE_IDLE)
		return;
	user->flows++;
	user->everybody += claim->weight;
	if (claim->kind == SHARE_HUNGRY)
		user->hungry += claim->hunger;
}

LAW_INLINE void share_user_remove(struct share_user *user, const struct share_claim *claim)
{
	if (claim->kind == SHARE_IDLE)
		return;
	user->flows = share_without(user->flows, 1);
	user->everybody = share_without(user->everybody, claim->weight);
	if (claim->kind == SHARE_HUNGRY)
		user->hungry = share_without(user->hungry, claim->hunger);
}

/* Adds or removes the claim of any user's flow in the link's sums. */
LAW_INLINE void share_link_add(struct share_pool *link, const struct share_claim *claim)
{
	if (claim->kind == SHARE_IDLE)
		return;
	link->flows++;
	if (claim->kind == SHARE_LIMITED)
		link->claimed += share_headroom(claim->rate);
}

LAW_INLINE void share_link_remove(struct share_pool *link, const struct share_claim *claim)
{
	if (claim->kind == SHARE_IDLE)
		return;
	link->flows = share_without(link->flows, 1);
	if (claim->kind == SHARE_LIMITED)
		link->claimed = share_without(link->claimed, share_headroom(claim->rate));
}

/* Puts in what a flow of a user claims, for what it had in before. */
LAW_INLINE void share_change(__u32 policy, struct share_pool *link, struct share_user *user,
			     const struct share_claim *before, const struct share_claim *next)
{
	share_link_remove(link, before);
	share_link_add(link, next);
	share_user_remove(user, before);
	share_user_add(user, next);
	share_weigh_user(policy, link, user);
}

/*
 * The sum of the weights of a user's flows, times the ratio of @whole to the user's own weight
 * @own: the sum over the whole link on the scale of this user's flows. Alone, a user's flows keep
 * their weights.
 */
LAW_INLINE __u64 share_among(__u64 flows, __u64 whole, __u32 own)
{
	whole = law_min(whole, SHARE_MOST_WHOLE);
	if (whole > SHARE_EXACT_WHOLE) {
		whole >>= SHARE_COARSE_SHIFT;
		own >>= SHARE_COARSE_SHIFT;
	}
	return law_min(flows, SHARE_MOST_FLOWS) * whole / law_max(own, 1);
}

/*
 * The pool that a flow sees which has @claim in, as if it were hungry: its
 * part as soon as it wants more. @beside: weights of flows of its user that are not
 * in the user's sums. @link and @user are copies.
 */
LAW_INLINE void share_seen(__u32 policy, struct share_pool *link, struct share_user *user,
			   const struct share_claim *claim, __u32 weight, __u32 hunger,
			   __u64 beside)
{
	struct share_claim hungry = {
		.kind = SHARE_HUNGRY, .weight = weight, .hunger = hunger,
	};

	share_change(policy, link, user, claim, &hungry);
	link->everybody = share_among(user->everybody + beside, link->everybody, user->weight);
	link->hungry = share_among(user->hungry, link->hungry, user->hunger);
}

/*
 * How much of @link, at most LAW_MAX_RATE, a flow of this weight may have: by weight among all with
 * a claim, or by @hunger among the hungry of what the limited leave, whichever is more. A limited
 * flow claims more than its equal part only until it gets a smaller one; until then the first of
 * the two keeps it from taking the others' part.
 */
LAW_INLINE __u64 share_part(const struct share_pool *pool, __u32 weight, __u32 hunger,
			    __u64 link)
{
	__u64 everybody = law_max(law_max(pool->everybody, weight), 1);
	__u64 hungry = law_max(law_max(pool->hungry, hunger), 1);
	__u64 left = share_without(link, pool->claimed);

	return law_max(link * weight / everybody, left * hunger / hungry);
}

/* Its weight among all with a claim, in SHARE_WHOLE; all only without other claims. */
LAW_INLINE __u32 share_fraction(const struct share_pool *pool, __u32 weight)
{
	__u64 everybody = law_max(law_max(pool->everybody, weight), 1);

	return (__u64)weight * SHARE_WHOLE / everybody;
}

/*
 * The weight of a flow that was given @given, one of @flows of its application:
 * among all, of those that want anything, and among the hungry, of the hungry.
 * The bulk flow of an application has the part that its trickles leave.
 */
LAW_INLINE __u32 share_weight(__u32 policy, __u32 given, __u32 flows)
{
	if (policy == SHARE_WEIGHTS)
		return law_min(law_max(given, 1), SHARE_MOST_WEIGHT);
	if (policy == SHARE_APPLICATIONS)
		return law_max(SHARE_WEIGHT * SHARE_APPLICATION / law_max(flows, 1), 1);
	return SHARE_WEIGHT;
}

#endif /* SOUNDING_SHARING_H */
