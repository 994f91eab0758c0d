/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * What the radio itself added to packets, by time: a ring of slots that the daemon
 * fills from the modem's records, 10 to 300 ms late, and one word is read of for a
 * packet. crates/laws/src/copa_gandalf/table.rs says which events a slot has.
 *
 * A word: from the top 24 bits that name its slot, never 0; 20 bits of a wait
 * for a grant in the uplink, which tell the bursts of retransmissions apart in the
 * downlink; 20 bits of a retransmission. Waits and retransmissions in microseconds.
 */
#ifndef SOUNDING_DELAYS_H
#define SOUNDING_DELAYS_H

#include "common/arith.h"

#define DELAY_SLOT_NS		250000ULL
#define DELAY_SLOTS		4096U	/* a power of two: some 1.02 s */
/* A modem without a record for so long is silent. */
#define DELAY_SILENT_NS		100000000ULL
/* Between reports of the buffer's status. Where they are rarer no wait for one is known. */
#define DELAY_USUAL_INTERVAL_US	5000U
#define DELAY_LONGEST_INTERVAL_US	20000U

struct delay_table {
	__u64 heard_at_ns;		/* CLOCK_MONOTONIC; 0: never */
	__u64 interval_us;		/* between reports of the buffer's status; 0: unknown */
	__u64 reserved[6];
	__u64 up[DELAY_SLOTS];		/* by when a packet entered the modem */
	__u64 down[DELAY_SLOTS];	/* by when one reached this host */
};
SOUNDING_ASSERT(sizeof(struct delay_table) == 64 + 16 * DELAY_SLOTS);

/* The number of a time's slot. It wraps after 12 days. */
LAW_INLINE __u32 delay_slot(__u64 at_ns)
{
	return at_ns / DELAY_SLOT_NS;
}

LAW_INLINE int delay_is_of(__u64 word, __u32 slot)
{
	return word >> 40 == ((slot & 0x7fffff) | 0x800000);
}

LAW_INLINE __u32 delay_held(__u64 word)
{
	return word & 0xfffff;
}

/* Of the uplink. */
LAW_INLINE __u32 delay_waited(__u64 word)
{
	return word >> 20 & 0xfffff;
}

/* Of the downlink. */
LAW_INLINE __u32 delay_burst(__u64 word)
{
	return word >> 20 & 0xfffff;
}

LAW_INLINE __u64 delay_read(const __u64 *words, __u32 slot)
{
	return *(const volatile __u64 *)&words[slot & (DELAY_SLOTS - 1)];
}

/* Whether records came lately. A time in the future is not from this clock. */
LAW_INLINE int delay_is_heard(const struct delay_table *table, __u64 now)
{
	__u64 at = *(const volatile __u64 *)&table->heard_at_ns;

	return at && at <= now && now - at <= DELAY_SILENT_NS;
}

/* The interval between reports that constants follow. */
LAW_INLINE __u32 delay_interval(const struct delay_table *table)
{
	__u64 us = *(const volatile __u64 *)&table->interval_us;

	if (us < DELAY_USUAL_INTERVAL_US || us > DELAY_LONGEST_INTERVAL_US)
		return DELAY_USUAL_INTERVAL_US;
	return us;
}

#endif /* SOUNDING_DELAYS_H */
