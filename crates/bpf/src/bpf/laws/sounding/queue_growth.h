/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Detects a growing queue for sounding.h: packets arrive steadily, and at a
 * lower rate than they were sent. queue_growth.rs explains it.
 */
#ifndef SOUNDING_QUEUE_GROWTH_H
#define SOUNDING_QUEUE_GROWTH_H

#include "laws/sounding/window.h"

#define SOUNDING_SLOT_US		12000U
#define SOUNDING_SLOT_SAMPLES	3U
#define SOUNDING_STEEP		4U
#define SOUNDING_SLOTS		3U

/* Starts a new detection. */
LAW_INLINE void sounding_growth_reset(struct sounding_state *st, __u64 now)
{
	st->growth_since_ns = st->slot_since_ns = now;
	st->growth_acked = 0;
	st->growth_slots = 0;
	st->growth_us = 0;
	st->slot_us = 0;
	st->slot_samples = 0;
}

LAW_INLINE void sounding_growth_count(struct sounding_state *st, __u64 acked)
{
	st->growth_acked = law_min(st->growth_acked + acked, SOUNDING_MAX_CWND);
}

/* Whether a slot has ended after which the queue counts as growing. */
LAW_INLINE int sounding_growth_update(struct sounding_state *st, __u64 now, __u32 rtt_us, __u64 acked)
{
	__u64 elapsed = law_min(law_since(now, st->slot_since_ns) / 1000, LAW_MAX_RTT_US);

	sounding_growth_count(st, acked);
	if (rtt_us) {
		if (!st->slot_us || rtt_us < st->slot_us)
			st->slot_us = rtt_us;
		if (st->slot_samples != ~0U)
			st->slot_samples++;
	}
	if (elapsed < SOUNDING_SLOT_US || st->slot_samples < SOUNDING_SLOT_SAMPLES)
		return 0;
	if (st->growth_us && st->slot_us >= st->growth_us + elapsed / SOUNDING_STEEP) {
		if (st->growth_slots != ~0U)
			st->growth_slots++;
	} else {
		st->growth_since_ns = now;
		st->growth_acked = 0;
		st->growth_slots = 0;
	}
	st->slot_since_ns = now;
	st->growth_us = st->slot_us;
	st->slot_us = 0;
	st->slot_samples = 0;
	return st->growth_slots >= SOUNDING_SLOTS;
}

/* Rate of arrivals since the detection began, bytes/s. */
LAW_INLINE __u64 sounding_growth_rate(const struct sounding_state *st, __u64 now)
{
	__u64 elapsed = law_min(law_since(now, st->growth_since_ns) / 1000, LAW_MAX_RTT_US);

	return law_min(st->growth_acked * 1000000 / law_max(elapsed, 1), LAW_MAX_RATE);
}

#endif /* SOUNDING_QUEUE_GROWTH_H */
