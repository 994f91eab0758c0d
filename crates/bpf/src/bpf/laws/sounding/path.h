/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * What ACKs show of a path, for sounding.h: its RTT without queue, the radio's extra delay without
 * a queue, and the queue on top, as path.rs has it.
 */
#ifndef SOUNDING_PATH_H
#define SOUNDING_PATH_H

#include "common/input.h"

/* The memory of sounding's law of one flow; bytes and bytes a second. */
struct sounding_state {
	struct flow_status status;
	__u64 least_at_ns[3];		/* the RTT without queue, windowed */
	__u64 sum_us;			/* RTTs of this round */
	__u64 round_acked;
	__u64 round_lost;
	__u64 capacity;			/* what the radio last had, whole device, IP */
	__u64 capacity_share;		/* this flow's part of it */
	__u64 capacity_at_ns;		/* 0: nothing is known */
	__u64 usual_rate;		/* its mean, and mean deviation */
	__u64 usual_deviation;
	__u64 pipe;			/* mean of what was told over an RTT; 0: nothing */
	__u64 epoch;			/* of the feed, when it was last heard */
	__u64 heard_at_ns;
	__u64 backlog_since_ns;		/* while the queue is elsewhere; 0: none */
	__u64 carried;			/* through the queue that may be elsewhere; 0: unknown */
	__u64 growth_since_ns;		/* when a queue began to grow, if it does */
	__u64 growth_acked;		/* since then, or since it is asked whose it is */
	__u64 slot_since_ns;
	__u64 rival_since_ns;
	__u64 cap_round;		/* most delivered in this round; 0: held back */
	__u64 cap_most;		/* in the rounds counted */
	__u64 cap_before;		/* in as many before */
	__u32 least_us[3];		/* 0: unknown */
	__u32 smallest_us;		/* RTT of this round; 0: none */
	__u32 samples;
	__u32 last_us;			/* smallest RTT of the round before */
	__u32 jitter_us;
	__u32 queue_us;
	__u32 growth_slots;		/* in which it grew */
	__u32 growth_us;			/* smallest RTT of the last slot; 0: none */
	__u32 slot_us;			/* and of this */
	__u32 slot_samples;
	__u32 queue_target_us;
	__u32 round_ends_at;		/* segments */
	__u32 cwnd;
	__u32 ramp;			/* cap while restarting after an RTO, or 0 */
	__u32 phase;			/* enum flow_phase */
	__u32 step;			/* of a climb, 64ths */
	__u32 rounds;			/* held, or queue_test */
	__u32 tested_us;			/* RTT that the answer is compared with */
	__u32 rival;			/* enum sounding_rival */
	__u32 part;			/* of all who want any of the link, SHARE_WHOLE: all */
	__u32 usual_known;
	__u32 cap_rounds;
};

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
