/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * What ACKs show of a path, for sounding.h: its RTT without queue, the radio's extra delay without
 * a queue, and the queue on top, as path.rs has it.
 */
#ifndef SOUNDING_PATH_H
#define SOUNDING_PATH_H

#include "input.h"

#define SOUNDING_MIN_LASTS_NS	10000000000ULL
#define SOUNDING_SAMPLES		8U
#define SOUNDING_QUEUE_US		25000U
#define SOUNDING_MAX_JITTER_US	20000U

/* Restarts the measurement of the path's RTT. */
LAW_INLINE void sounding_forget_least(struct sounding_state *st, __u64 now, __u32 us)
{
	st->least_at_ns[0] = st->least_at_ns[1] = st->least_at_ns[2] = now;
	st->least_us[0] = st->least_us[1] = st->least_us[2] = us;
}

LAW_INLINE void sounding_place_least(struct sounding_state *st, int place, __u64 now,
				  __u32 us)
{
	st->least_at_ns[place] = now;
	st->least_us[place] = us;
}

LAW_INLINE void sounding_move_least(struct sounding_state *st, int to, int from)
{
	sounding_place_least(st, to, st->least_at_ns[from], st->least_us[from]);
}

/* A windowed minimum in the space of three: part/filter.rs. */
LAW_INLINE void sounding_least(struct sounding_state *st, __u64 now, __u32 us)
{
	__u64 age;

	if (!st->least_us[0] || us <= st->least_us[0] ||
	    law_since(now, st->least_at_ns[2]) > SOUNDING_MIN_LASTS_NS) {
		sounding_forget_least(st, now, us);
		return;
	}
	if (us <= st->least_us[1]) {
		sounding_place_least(st, 1, now, us);
		sounding_place_least(st, 2, now, us);
	} else if (us <= st->least_us[2]) {
		sounding_place_least(st, 2, now, us);
	}
	age = law_since(now, st->least_at_ns[0]);
	if (age > SOUNDING_MIN_LASTS_NS) {
		sounding_move_least(st, 0, 1);
		sounding_move_least(st, 1, 2);
		sounding_place_least(st, 2, now, us);
		if (law_since(now, st->least_at_ns[0]) > SOUNDING_MIN_LASTS_NS) {
			sounding_move_least(st, 0, 1);
			sounding_place_least(st, 1, now, us);
		}
	} else if (st->least_at_ns[1] == st->least_at_ns[0] &&
		   age > SOUNDING_MIN_LASTS_NS / 4) {
		sounding_place_least(st, 1, now, us);
		sounding_place_least(st, 2, now, us);
	} else if (st->least_at_ns[2] == st->least_at_ns[1] &&
		   age > SOUNDING_MIN_LASTS_NS / 2) {
		sounding_place_least(st, 2, now, us);
	}
}

/* What an ACK came to. */
struct sounding_seen {
	__u32 over;		/* it ended a round */
	__u32 known;		/* enough of the round is seen to say */
	__u64 queue_us;		/* the queue that stands */
};

/* A round begins with what leaves from here on. */
LAW_INLINE void sounding_begin_round(struct sounding_state *st, __u32 delivered)
{
	st->round_ends_at = delivered;
	st->smallest_us = 0;
	st->sum_us = 0;
	st->samples = 0;
}

LAW_PART int sounding_path(struct sounding_state *st, const struct law_input *in,
			struct sounding_seen *seen)
{
	__u32 rtt_us;
	__u64 mean;

	if (!st || !in || !seen)
		return 0;
	rtt_us = law_min(in->rtt_us, LAW_MAX_RTT_US);
	if (rtt_us) {
		sounding_least(st, in->now_ns, rtt_us);
		if (!st->smallest_us || rtt_us < st->smallest_us)
			st->smallest_us = rtt_us;
		st->sum_us += rtt_us;
		if (st->samples != ~0U)
			st->samples++;
	}
	seen->over = law_reached(in->prior_delivered, st->round_ends_at);
	seen->known = st->smallest_us && (seen->over || st->samples >= SOUNDING_SAMPLES);
	seen->queue_us = seen->known ? law_since(st->smallest_us, st->least_us[0]) : 0;
	if (!seen->over)
		return 0;
	if (st->smallest_us) {
		mean = st->sum_us / law_max(st->samples, 1);
		st->jitter_us = (st->jitter_us * 7 + law_min(law_since(mean, st->smallest_us),
							     SOUNDING_MAX_JITTER_US)) / 8;
		st->queue_us = seen->queue_us;
		st->last_us = st->smallest_us;
	}
	sounding_begin_round(st, in->delivered);
	return 0;
}

#endif /* SOUNDING_PATH_H */
