/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * A queue that grows while what was sent arrives steadily, and less of it than
 * was sent, for probe.h: rise.rs says why.
 */
#ifndef SOUNDING_RISE_H
#define SOUNDING_RISE_H

#include "window.h"

#define PROBE_SLOT_US		12000U
#define PROBE_SLOT_SAMPLES	3U
#define PROBE_STEEP		4U
#define PROBE_SLOTS		3U

/* Nothing that was before counts. */
LAW_INLINE void probe_rise_new(struct sounding_probe *st, __u64 now)
{
	st->rise_since_ns = st->slot_since_ns = now;
	st->rise_acked = 0;
	st->rise_slots = 0;
	st->rise_us = 0;
	st->slot_us = 0;
	st->slot_samples = 0;
}

LAW_INLINE void probe_rise_count(struct sounding_probe *st, __u64 acked)
{
	st->rise_acked = law_min(st->rise_acked + acked, PROBE_MOST_CWND);
}

/* Whether a slot has ended with which the queue is known to grow. */
LAW_INLINE int probe_rises(struct sounding_probe *st, __u64 now, __u32 rtt_us, __u64 acked)
{
	__u64 elapsed = law_min(law_since(now, st->slot_since_ns) / 1000, LAW_MAX_RTT_US);

	probe_rise_count(st, acked);
	if (rtt_us) {
		if (!st->slot_us || rtt_us < st->slot_us)
			st->slot_us = rtt_us;
		if (st->slot_samples != ~0U)
			st->slot_samples++;
	}
	if (elapsed < PROBE_SLOT_US || st->slot_samples < PROBE_SLOT_SAMPLES)
		return 0;
	if (st->rise_us && st->slot_us >= st->rise_us + elapsed / PROBE_STEEP) {
		if (st->rise_slots != ~0U)
			st->rise_slots++;
	} else {
		st->rise_since_ns = now;
		st->rise_acked = 0;
		st->rise_slots = 0;
	}
	st->slot_since_ns = now;
	st->rise_us = st->slot_us;
	st->slot_us = 0;
	st->slot_samples = 0;
	return st->rise_slots >= PROBE_SLOTS;
}

/* What arrived since it began, bytes/s. */
LAW_INLINE __u64 probe_rise_rate(const struct sounding_probe *st, __u64 now)
{
	__u64 elapsed = law_min(law_since(now, st->rise_since_ns) / 1000, LAW_MAX_RTT_US);

	return law_min(st->rise_acked * 1000000 / law_max(elapsed, 1), LAW_MAX_RATE);
}

#endif /* SOUNDING_RISE_H */
