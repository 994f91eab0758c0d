/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Detects a growing queue: packets arrive steadily, and at a lower rate than
 * they were sent. queue_growth.rs explains it.
 */
#ifndef SOUNDING_QUEUE_GROWTH_H
#define SOUNDING_QUEUE_GROWTH_H

#include "laws/sounding/window.h"

#define SOUNDING_SLOT_US	12000U
#define SOUNDING_SLOT_SAMPLES	3U
#define SOUNDING_STEEP		4U
#define SOUNDING_SLOTS		3U

struct sounding_queue_growth {
	__u64 since_ns;			/* when a queue began to grow, if it does */
	__u64 acked;			/* since then, or since it is asked whose it is */
	__u64 slot_since_ns;
	__u32 slots;			/* in which it grew */
	__u32 smallest_us;		/* RTT of this slot; 0: none */
	__u32 samples;
	__u32 last_us;			/* smallest RTT of the slot before; 0: none */
};

/* Starts a new detection. */
LAW_INLINE void sounding_queue_growth_reset(struct sounding_queue_growth *growth, __u64 now)
{
	*growth = (struct sounding_queue_growth){ .since_ns = now, .slot_since_ns = now };
}

LAW_INLINE void sounding_queue_growth_count(struct sounding_queue_growth *growth, __u64 acked)
{
	growth->acked = law_min(growth->acked + acked, SOUNDING_MAX_CWND);
}

/* Whether a slot has ended after which the queue counts as growing. */
LAW_INLINE int sounding_queue_growth_handle_ack(struct sounding_queue_growth *growth, __u64 now,
						__u32 rtt_us, __u64 acked)
{
	__u64 elapsed = law_min(law_since(now, growth->slot_since_ns) / 1000, LAW_MAX_RTT_US);

	sounding_queue_growth_count(growth, acked);
	if (rtt_us) {
		if (!growth->smallest_us || rtt_us < growth->smallest_us)
			growth->smallest_us = rtt_us;
		if (growth->samples != ~0U)
			growth->samples++;
	}
	if (elapsed < SOUNDING_SLOT_US || growth->samples < SOUNDING_SLOT_SAMPLES)
		return 0;
	if (growth->last_us && growth->smallest_us >= growth->last_us + elapsed / SOUNDING_STEEP) {
		if (growth->slots != ~0U)
			growth->slots++;
	} else {
		growth->since_ns = now;
		growth->acked = 0;
		growth->slots = 0;
	}
	growth->slot_since_ns = now;
	growth->last_us = growth->smallest_us;
	growth->smallest_us = 0;
	growth->samples = 0;
	return growth->slots >= SOUNDING_SLOTS;
}

/* Rate of arrivals since the detection began, bytes/s. */
LAW_INLINE __u64 sounding_queue_growth_rate(const struct sounding_queue_growth *growth, __u64 now)
{
	__u64 elapsed = law_min(law_since(now, growth->since_ns) / 1000, LAW_MAX_RTT_US);

	return law_min(growth->acked * 1000000 / law_max(elapsed, 1), LAW_MAX_RATE);
}

#endif /* SOUNDING_QUEUE_GROWTH_H */
