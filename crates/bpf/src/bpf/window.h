/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * How much may be in flight, for probe.h: what the link holds, with room for
 * what waits at the radio on purpose and for what the path was seen to deliver,
 * as room.rs, window.rs and proven.rs have it.
 */
#ifndef SOUNDING_WINDOW_H
#define SOUNDING_WINDOW_H

#include "path.h"

/* room.rs */
#define PROBE_FIRST_ROOM_US	8000U
#define PROBE_MOST_ROOM_US	40000U
#define PROBE_LEAST_ROOM_US	13000U
#define PROBE_LEAST_PER_VARIATION 200U
#define PROBE_LESS_PERMILLE	12U
#define PROBE_MORE_PERMILLE	10U
#define PROBE_MORE_PER_VARIATION 5U
#define PROBE_MOST_ELAPSED_US	100000U
#define PROBE_USUAL_SHIFT	5
#define PROBE_UNKNOWN_PERMILLE	200U
#define PROBE_STEP_PER_MILLE	40U
#define PROBE_LEAST_STEP	2U
#define PROBE_MOST_FIRST_STEP	16U
/* window.rs */
#define PROBE_MOST_STEP		64U
#define PROBE_PACING_PERMILLE	1250U
#define PROBE_LEAST_CWND	4U
#define PROBE_MOST_CWND		(1U << 30)
#define PROBE_LEAST_RTT_US	1000U
#define PROBE_RIVAL_AFTER_NS	1000000000ULL
#define PROBE_RIVAL_QUEUE_US	32000U
#define PROBE_CROWDED_RTTS	3U
/* proven.rs */
#define PROBE_PROVEN_GAIN	3U
#define PROBE_PROVEN_ROUNDS	5U
/* part/pacing.rs */
#define PROBE_MOST_BURST	64000U

enum probe_rival {
	PROBE_NO_RIVAL = 0,
	PROBE_SUSPECTED = 1,
	PROBE_KNOWN = 2,
};

LAW_INLINE int probe_starved(__u64 rate, __u64 share)
{
	return rate && rate * 4 < share * 3;
}

LAW_INLINE __u64 probe_variation(const struct sounding_probe *st)
{
	if (!st->usual_rate)
		return PROBE_UNKNOWN_PERMILLE;
	return law_min(st->usual_deviation * 1000 / st->usual_rate, 1000);
}

LAW_INLINE __u32 probe_first_step(const struct sounding_probe *st)
{
	__u64 step = probe_variation(st) * PROBE_STEP_PER_MILLE / 1000;

	return law_min(law_max(step, PROBE_LEAST_STEP), PROBE_MOST_FIRST_STEP);
}

/* What waits at the radio on purpose, by whether something was left waiting. */
LAW_INLINE void probe_room(struct sounding_probe *st, __u32 bound, __u64 elapsed_ns)
{
	__u64 us = law_min(elapsed_ns / 1000, PROBE_MOST_ELAPSED_US), more;

	if (bound == SOUNDING_CAPACITY) {
		st->room_us = law_since(st->room_us, us * PROBE_LESS_PERMILLE / 1000);
		return;
	}
	more = PROBE_MORE_PERMILLE * 10 + PROBE_MORE_PER_VARIATION * probe_variation(st);
	st->room_us = law_min(st->room_us + us * more / 10000, PROBE_MOST_ROOM_US);
}

LAW_INLINE __u64 probe_proven(const struct sounding_probe *st)
{
	return law_max(st->proven_most, st->proven_before);
}

/* What the path was seen to deliver: an ACK that measured @rate, or 0. */
LAW_INLINE void probe_prove(struct sounding_probe *st, int over, __u64 rate, int limited)
{
	__u64 known;

	if (over) {
		if (st->proven_rounds >= PROBE_PROVEN_ROUNDS) {
			st->proven_before = st->proven_most;
			st->proven_most = 0;
			st->proven_rounds = 0;
		}
		st->proven_most = law_max(st->proven_most, st->proven_round);
		st->proven_rounds++;
		st->proven_round = 0;
	}
	known = probe_proven(st);
	if (!limited || (known && rate > known))
		st->proven_round = law_max(st->proven_round, rate);
}

/* What of a rate may be counted on. */
LAW_INLINE __u64 probe_limit(const struct sounding_probe *st, __u64 rate)
{
	__u64 known = probe_proven(st);

	if (!known)
		return rate;
	return law_min(rate, law_max(known, st->proven_round) * PROBE_PROVEN_GAIN);
}

LAW_INLINE __u64 probe_blend(__u64 old, __u64 new)
{
	return ((old << PROBE_USUAL_SHIFT) - old + new) >> PROBE_USUAL_SHIFT;
}

/* What the radio has, in the mean and beside it. */
LAW_INLINE void probe_usual(struct sounding_probe *st, __u64 rate)
{
	__u64 mean = st->usual_rate;

	if (!st->usual_known) {
		st->usual_known = 1;
		st->usual_rate = rate;
		st->usual_deviation = rate * PROBE_UNKNOWN_PERMILLE / 1000;
		return;
	}
	st->usual_rate = probe_blend(mean, rate);
	st->usual_deviation = probe_blend(st->usual_deviation,
					  rate > mean ? rate - mean : mean - rate);
}

/* The least window: a flow's part of that of a link, bytes. */
LAW_INLINE __u64 probe_least_cwnd(const struct sounding_probe *st, __u32 mss)
{
	__u64 segs = (PROBE_LEAST_CWND * (__u64)st->part + SHARE_WHOLE - 1) / SHARE_WHOLE;

	return law_max(segs, LAW_FLOOR_CWND) * mss;
}

LAW_INLINE void probe_set(struct sounding_probe *st, __u64 cwnd, __u32 mss)
{
	st->cwnd = law_max(law_min(cwnd, PROBE_MOST_CWND), probe_least_cwnd(st, mss));
}

/* The link has had this rate since so long ago; window.rs says why the window follows. */
LAW_INLINE void probe_follow(struct sounding_probe *st, __u64 share, __u64 elapsed_ns)
{
	__u64 least = st->least_us[0], us = law_min(elapsed_ns / 1000, least);

	if (st->pipe)
		share = (st->pipe * (least - us) + share * us) / law_max(least, 1);
	st->pipe = share;
}

/*
 * What a link of this rate holds for a flow that may count on so much of it: of
 * a burst of the link it has its part.
 */
LAW_PART __u64 probe_holds(const struct sounding_probe *st, __u64 sure, __u64 link, __u32 mss)
{
	__u64 payload, least, room, burst;

	if (!st)
		return 0;
	mss = law_mss(mss);
	payload = law_payload(sure, mss);
	least = st->least_us[0];
	burst = law_burst(law_payload(link, mss), mss, PROBE_MOST_BURST) * mss;
	room = law_min(probe_variation(st) * PROBE_LEAST_PER_VARIATION, PROBE_LEAST_ROOM_US);
	room = law_max(room, st->room_us);
	/* As long as a rival makes the RTT, less a tenth. */
	if (st->rival == PROBE_KNOWN)
		room = law_max(room, law_since((least + st->queue_us) * 9 / 10, least));
	return (law_payload(st->pipe, mss) * least + payload * room) / 1000000 +
	       burst * sure / law_max(link, 1);
}

/* What leaves no more than the smallest queue that is one. */
LAW_INLINE void probe_without_queue(struct sounding_probe *st, const struct probe_seen *seen,
				    __u32 mss)
{
	__u64 wanted = st->least_us[0] + PROBE_QUEUE_US;
	__u64 found = st->least_us[0] + (seen->known ? seen->queue_us : PROBE_QUEUE_US);

	probe_set(st, st->cwnd * law_min(wanted, found) / law_max(found, 1), mss);
}

/* A flow on the same device that fills the queue, whatever we do. */
LAW_INLINE void probe_rivals(struct sounding_probe *st, const struct law_input *in, __u64 rate,
			     __u32 mss)
{
	__u64 floors = probe_least_cwnd(st, mss) * 1000000 / law_max(st->capacity_share, 1);
	int queues = st->queue_us > st->jitter_us * 4 + PROBE_RIVAL_QUEUE_US + floors;
	int starved = probe_starved(rate, st->capacity_share);

	if (st->part == SHARE_WHOLE || !queues) {
		st->rival = PROBE_NO_RIVAL;
	} else if (st->rival == PROBE_NO_RIVAL) {
		if (!starved)
			return;
		st->rival = PROBE_SUSPECTED;
		st->rival_since_ns = in->now_ns;
	} else if (st->rival == PROBE_SUSPECTED) {
		if (!starved)
			st->rival = PROBE_NO_RIVAL;
		else if (law_since(in->now_ns, st->rival_since_ns) >= PROBE_RIVAL_AFTER_NS)
			st->rival = PROBE_KNOWN;
	}
	/* A queue that stands hides the least RTT: it is believed for as long again. */
	if (st->rival == PROBE_KNOWN)
		probe_forget_least(st, in->now_ns, st->least_us[0]);
}

/* Whether a rival fills the queue until something is lost. */
LAW_INLINE int probe_crowded(const struct sounding_probe *st)
{
	return st->rival == PROBE_KNOWN && st->least_us[0] &&
	       st->queue_us / PROBE_CROWDED_RTTS >= st->least_us[0];
}

#endif /* SOUNDING_WINDOW_H */
