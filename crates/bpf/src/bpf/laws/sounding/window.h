/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * How much may be in flight, for sounding.h: what the link holds, with room for
 * what waits at the radio on purpose and for what the path was seen to deliver,
 * as room.rs, window.rs and proven.rs have it.
 */
#ifndef SOUNDING_WINDOW_H
#define SOUNDING_WINDOW_H

#include "laws/sounding/path.h"

/* room.rs */
#define SOUNDING_FIRST_ROOM_US	8000U
#define SOUNDING_MAX_ROOM_US	40000U
#define SOUNDING_MIN_ROOM_US	13000U
#define SOUNDING_MIN_PER_VARIATION 200U
#define SOUNDING_LESS_PERMILLE	12U
#define SOUNDING_MORE_PERMILLE	10U
#define SOUNDING_MORE_PER_VARIATION 5U
#define SOUNDING_MAX_ELAPSED_US	100000U
#define SOUNDING_USUAL_SHIFT	5
#define SOUNDING_UNKNOWN_PERMILLE	200U
#define SOUNDING_STEP_PER_MILLE	40U
#define SOUNDING_MIN_STEP	2U
#define SOUNDING_MAX_FIRST_STEP	16U
/* window.rs */
#define SOUNDING_MAX_STEP		64U
#define SOUNDING_PACING_PERMILLE	1250U
#define SOUNDING_MIN_CWND	4U
#define SOUNDING_MAX_CWND		(1U << 30)
#define SOUNDING_MIN_RTT_US	1000U
#define SOUNDING_RIVAL_AFTER_NS	1000000000ULL
#define SOUNDING_RIVAL_QUEUE_US	32000U
#define SOUNDING_CROWDED_RTTS	3U
/* proven.rs */
#define SOUNDING_PROVEN_GAIN	3U
#define SOUNDING_PROVEN_ROUNDS	5U
/* part/pacing.rs */
#define SOUNDING_MAX_BURST	64000U

enum sounding_rival {
	SOUNDING_NO_RIVAL = 0,
	SOUNDING_SUSPECTED = 1,
	SOUNDING_KNOWN = 2,
};

LAW_INLINE int sounding_starved(__u64 rate, __u64 share)
{
	return rate && rate * 4 < share * 3;
}

LAW_INLINE __u64 sounding_variation(const struct sounding_state *st)
{
	if (!st->usual_rate)
		return SOUNDING_UNKNOWN_PERMILLE;
	return law_min(st->usual_deviation * 1000 / st->usual_rate, 1000);
}

LAW_INLINE __u32 sounding_first_step(const struct sounding_state *st)
{
	__u64 step = sounding_variation(st) * SOUNDING_STEP_PER_MILLE / 1000;

	return law_min(law_max(step, SOUNDING_MIN_STEP), SOUNDING_MAX_FIRST_STEP);
}

/* The backlog kept at the radio on purpose, depending on whether a backlog was left. */
LAW_INLINE void sounding_queue_target(struct sounding_state *st, __u32 bound, __u64 elapsed_ns)
{
	__u64 us = law_min(elapsed_ns / 1000, SOUNDING_MAX_ELAPSED_US), more;

	if (bound == BOUND_CAPACITY) {
		st->queue_target_us = law_since(st->queue_target_us, us * SOUNDING_LESS_PERMILLE / 1000);
		return;
	}
	more = SOUNDING_MORE_PERMILLE * 10 + SOUNDING_MORE_PER_VARIATION * sounding_variation(st);
	st->queue_target_us = law_min(st->queue_target_us + us * more / 10000, SOUNDING_MAX_ROOM_US);
}

LAW_INLINE __u64 sounding_proven(const struct sounding_state *st)
{
	return law_max(st->cap_most, st->cap_before);
}

/* The path's delivered rate: an ACK that measured @rate, or 0. */
LAW_INLINE void sounding_cap_update(struct sounding_state *st, int over, __u64 rate, int limited)
{
	__u64 known;

	if (over) {
		if (st->cap_rounds >= SOUNDING_PROVEN_ROUNDS) {
			st->cap_before = st->cap_most;
			st->cap_most = 0;
			st->cap_rounds = 0;
		}
		st->cap_most = law_max(st->cap_most, st->cap_round);
		st->cap_rounds++;
		st->cap_round = 0;
	}
	known = sounding_proven(st);
	if (!limited || (known && rate > known))
		st->cap_round = law_max(st->cap_round, rate);
}

/* The part of a rate that may be used. */
LAW_INLINE __u64 sounding_limit(const struct sounding_state *st, __u64 rate)
{
	__u64 known = sounding_proven(st);

	if (!known)
		return rate;
	return law_min(rate, law_max(known, st->cap_round) * SOUNDING_PROVEN_GAIN);
}

LAW_INLINE __u64 sounding_blend(__u64 old, __u64 new)
{
	return ((old << SOUNDING_USUAL_SHIFT) - old + new) >> SOUNDING_USUAL_SHIFT;
}

/* What the radio has, in the mean and beside it. */
LAW_INLINE void sounding_usual(struct sounding_state *st, __u64 rate)
{
	__u64 mean = st->usual_rate;

	if (!st->usual_known) {
		st->usual_known = 1;
		st->usual_rate = rate;
		st->usual_deviation = rate * SOUNDING_UNKNOWN_PERMILLE / 1000;
		return;
	}
	st->usual_rate = sounding_blend(mean, rate);
	st->usual_deviation = sounding_blend(st->usual_deviation,
					  rate > mean ? rate - mean : mean - rate);
}

/* The least window: a flow's part of that of a link, bytes. */
LAW_INLINE __u64 sounding_least_cwnd(const struct sounding_state *st, __u32 mss)
{
	__u64 segs = (SOUNDING_MIN_CWND * (__u64)st->part + SHARE_WHOLE - 1) / SHARE_WHOLE;

	return law_max(segs, LAW_FLOOR_CWND) * mss;
}

LAW_INLINE void sounding_set(struct sounding_state *st, __u64 cwnd, __u32 mss)
{
	st->cwnd = law_max(law_min(cwnd, SOUNDING_MAX_CWND), sounding_least_cwnd(st, mss));
}

/* The link has had this rate since so long ago; window.rs says why the window follows. */
LAW_INLINE void sounding_follow(struct sounding_state *st, __u64 share, __u64 elapsed_ns)
{
	__u64 least = st->least_us[0], us = law_min(elapsed_ns / 1000, least);

	if (st->pipe)
		share = (st->pipe * (least - us) + share * us) / law_max(least, 1);
	st->pipe = share;
}

/*
 * The window on a link of this rate for a flow with this usable part: it has its part of a burst of
 * the link.
 */
LAW_PART __u64 sounding_holds(const struct sounding_state *st, __u64 sure, __u64 link, __u32 mss)
{
	__u64 payload, least, room, burst;

	if (!st)
		return 0;
	mss = law_mss(mss);
	payload = law_payload(sure, mss);
	least = st->least_us[0];
	burst = law_burst(law_payload(link, mss), mss, SOUNDING_MAX_BURST) * mss;
	room = law_min(sounding_variation(st) * SOUNDING_MIN_PER_VARIATION, SOUNDING_MIN_ROOM_US);
	room = law_max(room, st->queue_target_us);
	/* As long as a rival makes the RTT, less a tenth. */
	if (st->rival == SOUNDING_KNOWN)
		room = law_max(room, law_since((least + st->queue_us) * 9 / 10, least));
	return (law_payload(st->pipe, mss) * least + payload * room) / 1000000 +
	       burst * sure / law_max(link, 1);
}

/* A window that leaves no more than the smallest queue that counts as one. */
LAW_INLINE void sounding_without_queue(struct sounding_state *st, const struct sounding_seen *seen,
				    __u32 mss)
{
	__u64 wanted = st->least_us[0] + SOUNDING_QUEUE_US;
	__u64 found = st->least_us[0] + (seen->known ? seen->queue_us : SOUNDING_QUEUE_US);

	sounding_set(st, st->cwnd * law_min(wanted, found) / law_max(found, 1), mss);
}

/* A flow on the same device that fills the queue, whatever we do. */
LAW_INLINE void sounding_rivals(struct sounding_state *st, const struct law_input *in, __u64 rate,
			     __u32 mss)
{
	__u64 floors = sounding_least_cwnd(st, mss) * 1000000 / law_max(st->capacity_share, 1);
	int queues = st->queue_us > st->jitter_us * 4 + SOUNDING_RIVAL_QUEUE_US + floors;
	int starved = sounding_starved(rate, st->capacity_share);

	if (st->part == SHARE_WHOLE || !queues) {
		st->rival = SOUNDING_NO_RIVAL;
	} else if (st->rival == SOUNDING_NO_RIVAL) {
		if (!starved)
			return;
		st->rival = SOUNDING_SUSPECTED;
		st->rival_since_ns = in->now_ns;
	} else if (st->rival == SOUNDING_SUSPECTED) {
		if (!starved)
			st->rival = SOUNDING_NO_RIVAL;
		else if (law_since(in->now_ns, st->rival_since_ns) >= SOUNDING_RIVAL_AFTER_NS)
			st->rival = SOUNDING_KNOWN;
	}
	/* A queue that stands hides the least RTT: it is believed for as long again. */
	if (st->rival == SOUNDING_KNOWN)
		sounding_forget_least(st, in->now_ns, st->least_us[0]);
}

/* Whether a rival fills the queue until something is lost. */
LAW_INLINE int sounding_crowded(const struct sounding_state *st)
{
	return st->rival == SOUNDING_KNOWN && st->least_us[0] &&
	       st->queue_us / SOUNDING_CROWDED_RTTS >= st->least_us[0];
}

#endif /* SOUNDING_WINDOW_H */
