/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The rhythm in which readings of the receiver's clock bring data:
 * crates/laws/src/background/turns.rs.
 */
#ifndef SOUNDING_TURNS_H
#define SOUNDING_TURNS_H

#include "background/slots.h"

#define TURNS_LONGEST		6U
#define TURNS_SEGMENTS		3ULL
#define TURNS_FEW		8U
#define TURNS_MANY		24U
#define TURNS_UNSEEN		16U
#define TURNS_STRICT		125U
#define TURNS_LESS		800ULL
#define TURNS_FREE		800ULL
#define TURNS_REMEMBERED_NS	60000000000ULL
#define TURNS_ALONE		500ULL
#define TURNS_KNOWN_FOR_NS	600000000000ULL

struct turns {
	struct windowed even;	/* the most neighbours, complements of thousandths */
	struct windowed most;	/* the most gaps of a sample, complements */
	__u32 gaps[8];		/* of this sample, by their length in ticks; the last is not used */
	__u32 mss;
	__u32 reserved;
};

/* A new sample begins. */
LAW_INLINE void turns_begin(struct turns *t)
{
	__builtin_memset(t->gaps, 0, sizeof(t->gaps));
}

LAW_INLINE void turns_slot(struct turns *t, __u64 ticks, __u64 bytes)
{
	if (ticks <= TURNS_LONGEST && bytes >= TURNS_SEGMENTS * t->mss)
		t->gaps[ticks & 7]++;
}

LAW_INLINE __u32 turns_count(const struct turns *t)
{
	__u32 count = 0;
	int i;

	for (i = 0; i <= (int)TURNS_LONGEST; i++)
		count += t->gaps[i];
	return count;
}

/* A long sample ends. */
LAW_INLINE void turns_end(struct turns *t, __u64 now)
{
	windowed_update(&t->most, TURNS_REMEMBERED_NS, now, ~(__u64)turns_count(t));
	turns_begin(t);
}

/* Whether the flow's rate is too low to see turns. */
LAW_INLINE int turns_unseen(const struct turns *t)
{
	return windowed_known(&t->most) && ~t->most.best[0] < TURNS_UNSEEN;
}

/* Of how many turns the flow has one; 0: unknown. Checked once, apart. */
LAW_PART __u32 turns_of(struct turns *t, __u64 now, __u64 batch, __u64 share)
{
	__u32 count, neighbours = 0, most = 0, gap = 0;
	__u32 i;

	if (!t)
		return 0;
	count = turns_count(t);
	if (count < TURNS_FEW)
		return 0;
	for (i = 0; i <= TURNS_LONGEST; i++) {
		if (i <= batch)
			neighbours += t->gaps[i];
		if (t->gaps[i] > most) {
			most = t->gaps[i];
			gap = i;
		}
	}
	neighbours = 1000 * neighbours / count;
	if (neighbours < TURNS_STRICT && gap > batch && 4 * most >= 3 * count &&
	    windowed_known(&t->even) && ~t->even.best[0] >= TURNS_ALONE)
		return gap;
	if (count < TURNS_MANY)
		return 0;
	windowed_update(&t->even, TURNS_KNOWN_FOR_NS, now, ~(__u64)neighbours);
	return (__u64)neighbours * 1000 < ~t->even.best[0] * TURNS_LESS && share < TURNS_FREE ? 2 : 0;
}

#endif /* SOUNDING_TURNS_H */
