/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * How the flows of a device share what its link carries, as pure functions of
 * integers. ../../../cc/src/sharing.rs is the same arithmetic in Rust; a
 * property test runs both over the same claims.
 */
#ifndef SOUNDING_SHARING_H
#define SOUNDING_SHARING_H

#include "arith.h"

/* The weight of an ordinary flow: weights are in 1/256 of it. */
#define SHARE_WEIGHT		256U
/* All of a link. */
#define SHARE_WHOLE		1024U
/* What is given beyond this is this: products with any rate stay below 2^64. */
#define SHARE_MOST_WEIGHT	(1U << 20)
/* An application weighs as much as so many flows. */
#define SHARE_APPLICATION	64U
/* Left to a limited flow beyond what it used, to show that it wants more: 1/8. */
#define SHARE_HEADROOM_SHIFT	3

/* By what weight flows share. */
enum share_policy {
	SHARE_FLOWS = 0,	/* all alike (BISCAY A.5.2) */
	SHARE_WEIGHTS = 1,	/* by weights they were given */
	SHARE_APPLICATIONS = 2,	/* all applications alike, and the flows of each */
};

/* What a flow claims of its link. */
enum share_kind {
	SHARE_IDLE = 0,		/* nothing now */
	SHARE_LIMITED = 1,	/* no more than a rate */
	SHARE_HUNGRY = 2,	/* all it can get */
};

struct share_claim {
	__u64 rate;		/* of IP packets, bytes/s; of the limited */
	__u32 kind;		/* enum share_kind */
	__u32 weight;		/* among all who want anything */
	__u32 hunger;		/* its weight among the hungry */
	__u32 reserved;
};

/* What the flows of a link claim together. */
struct share_pool {
	__u64 hungry;		/* weights among them */
	__u64 everybody;	/* weights of all, the hungry too */
	__u64 claimed;		/* by the limited, bytes/s */
	__u64 flows;		/* that claim anything */
};

/* What is left of @a without @b; nothing if there is less. */
LAW_INLINE __u64 share_without(__u64 a, __u64 b)
{
	return a > b ? a - b : 0;
}

LAW_INLINE __u64 share_headroom(__u64 rate)
{
	return rate + (rate >> SHARE_HEADROOM_SHIFT);
}

LAW_INLINE void share_add(struct share_pool *pool, const struct share_claim *claim)
{
	if (claim->kind == SHARE_IDLE)
		return;
	pool->flows++;
	pool->everybody += claim->weight;
	if (claim->kind == SHARE_HUNGRY)
		pool->hungry += claim->hunger;
	else
		pool->claimed += share_headroom(claim->rate);
}

LAW_INLINE void share_remove(struct share_pool *pool, const struct share_claim *claim)
{
	if (claim->kind == SHARE_IDLE)
		return;
	pool->flows = share_without(pool->flows, 1);
	pool->everybody = share_without(pool->everybody, claim->weight);
	if (claim->kind == SHARE_HUNGRY)
		pool->hungry = share_without(pool->hungry, claim->hunger);
	else
		pool->claimed = share_without(pool->claimed, share_headroom(claim->rate));
}

/*
 * How much of @link, at most LAW_MAX_RATE, a flow of this weight may have: its
 * weight among all who want anything, or its @hunger among the hungry of what
 * the limited leave, whichever is more. A limited flow claims more than its equal part
 * only until it is told so; the first of the two keeps it from taking the part
 * of others meanwhile.
 */
LAW_INLINE __u64 share_part(const struct share_pool *pool, __u32 weight, __u32 hunger,
			    __u64 link)
{
	__u64 everybody = law_max(law_max(pool->everybody, weight), 1);
	__u64 hungry = law_max(law_max(pool->hungry, hunger), 1);
	__u64 left = share_without(link, pool->claimed);

	return law_max(link * weight / everybody, left * hunger / hungry);
}

/* Its weight among all who want anything, in SHARE_WHOLE; all only if nobody else does. */
LAW_INLINE __u32 share_fraction(const struct share_pool *pool, __u32 weight)
{
	__u64 everybody = law_max(law_max(pool->everybody, weight), 1);

	return (__u64)weight * SHARE_WHOLE / everybody;
}

/*
 * The weight of a flow that was given @given, one of @flows of its application:
 * among all, of those that want anything, and among the hungry, of the hungry.
 * What an application's trickles leave is its bulk flow's.
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
