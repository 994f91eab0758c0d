/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * How many flows are active, without a list of them: each counts itself once
 * an epoch.
 */
#ifndef SOUNDING_EPOCH_H
#define SOUNDING_EPOCH_H

/*
 * A flow is active if it sent, received or had something acknowledged in this
 * or the last epoch of 2^27 ns (134 ms): the paper's list of sockets without
 * the list. Long enough for a flow that comes in bursts, short enough that a
 * finished one gives its share back within 0.27 s. Chosen.
 */
#define EPOCH_SHIFT	27
#define COUNT_TRIES	8

static __always_inline __u32 epoch_of(__u64 now)
{
	return now >> EPOCH_SHIFT;
}

/*
 * Counts a flow into the epoch once, and returns how many are active.
 * @count: epoch << 32 | flows counted in the epoch before << 16 | in this one;
 * @counted: the flow's own memory of the epoch it was last counted in.
 */
static __always_inline __u32 count_in(__u64 *count, __u32 *counted, __u32 epoch)
{
	__u64 word, next;
	__u32 this, last;
	int i;

	if (*counted != epoch) {
		for (i = 0; i < COUNT_TRIES; i++) {
			word = *(volatile __u64 *)count;
			/* Another processor may have been later to look at the clock, and earlier
			 * here. */
			if ((__s32)(epoch - (__u32)(word >> 32)) <= 0)
				next = word + ((word & 0xffff) != 0xffff);
			else if ((__u32)(word >> 32) + 1 == epoch)
				next = (__u64)epoch << 32 | (word & 0xffff) << 16 | 1;
			else
				next = (__u64)epoch << 32 | 1;
			if (__sync_val_compare_and_swap(count, word, next) == word)
				break;
		}
		*counted = epoch;
	}
	word = *(volatile __u64 *)count;
	this = word & 0xffff;
	last = word >> 16 & 0xffff;
	return this > last ? this : last;
}

#endif /* SOUNDING_EPOCH_H */
