/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Copa in whole numbers: the same arithmetic as
 * crates/laws/src/copa_gandalf/law.rs, which says what it is. No kernel header, no
 * clock, no memory but the caller's.
 *
 * SLOW_START --(rate above target)--> DRAINING --(rate below it)--> AT_TARGET
 *     ^-------------------------(timeout)-------------------------------'
 */
#ifndef SOUNDING_COPA_H
#define SOUNDING_COPA_H

#include "common/windowed.h"

/* A segment, in what windows and 1 / delta are counted in. */
#define COPA_ONE		65536ULL
#define COPA_LEAST_LASTS_NS	10000000000ULL
#define COPA_FIRST_CWND		(10 * COPA_ONE)
#define COPA_MIN_CWND		(2 * COPA_ONE)
#define COPA_MAX_CWND		(LAW_MAX_SEGS * COPA_ONE)
/* delta = 0.5 */
#define COPA_INVERSE_DELTA	(2 * COPA_ONE)
#define COPA_MAX_INVERSE_DELTA	(1000 * COPA_ONE)
#define COPA_STEADY_ROUNDS	3U
#define COPA_MAX_VELOCITY	65536U
#define COPA_CORRECTED_RISE	16U	/* a part of the window, in a round */
#define COPA_NEARLY_EMPTY	10U	/* a tenth of the largest queue */
#define COPA_EMPTY_ROUNDS	5U
#define COPA_MAX_ROUNDS		4U

enum copa_phase {
	COPA_SLOW_START = 0,
	COPA_DRAINING = 1,
	COPA_AT_TARGET = 2,
};

enum copa_trend {
	COPA_NO_TREND = 0,
	COPA_UP = 1,
	COPA_DOWN = 2,
};

struct copa_state {
	struct windowed least;		/* RTT without a queue, us */
	struct windowed standing;	/* and with what does not drain */
	struct windowed most;		/* complements of the last four rounds' */
	__u64 cwnd;			/* segments / COPA_ONE */
	__u64 inverse_delta;		/* the same */
	__u64 smoothed_ns;		/* RTT; 0: unknown */
	__u64 round_cwnd;		/* the window when the round began; 0: there was none */
	__u64 before_cwnd;		/* before a timeout; 0: there was none */
	__u64 empty_at_ns;
	__u32 has_empty;
	__u32 before_phase;
	__u32 phase;			/* enum copa_phase */
	__u32 velocity;
	__u32 trend;			/* enum copa_trend, in which velocity grows */
	__u32 trend_rounds;
	__u32 round_ends_at;		/* segments delivered */
	__u32 lost;			/* in this round */
	__u32 corrected;		/* RTTs are without what the radio added */
	__u32 reserved;
};

/* One ACK that delivers new data. */
struct copa_ack {
	__u64 now_ns;
	__u64 sent_ns;		/* when the newest packet left that it delivers */
	__u32 rtt_us;		/* 0: it measured none */
	__u32 acked;		/* segments */
	__u32 app_limited;	/* that packet left while the application had no more */
	__u32 timed_out;	/* a timeout is being repaired */
	__u32 sent_delivered;	/* segments delivered when that packet left */
	__u32 delivered;	/* segments */
};

LAW_INLINE void copa_still(struct copa_state *c)
{
	c->round_cwnd = 0;
	c->velocity = 1;
	c->trend = COPA_NO_TREND;
	c->trend_rounds = 0;
}

/* @delivered: segments so far, of a flow that is moved here in mid-life. */
LAW_INLINE void copa_init(struct copa_state *c, __u32 delivered)
{
	__builtin_memset(c, 0, sizeof(*c));
	c->cwnd = COPA_FIRST_CWND;
	c->inverse_delta = COPA_INVERSE_DELTA;
	c->round_ends_at = delivered;
	copa_still(c);
}

LAW_INLINE __u32 copa_queueing(const struct copa_state *c)
{
	return law_since(c->standing.best[0], c->least.best[0]);
}

LAW_INLINE void copa_sample(struct copa_state *c, __u64 now, __u32 rtt_us)
{
	if (c->smoothed_ns)
		c->smoothed_ns = (c->smoothed_ns * 7 + rtt_us * 1000ULL) / 8;
	else
		c->smoothed_ns = rtt_us * 1000ULL;
	windowed_update(&c->least, COPA_LEAST_LASTS_NS, now, rtt_us);
	windowed_update(&c->standing, c->smoothed_ns / 2, now, rtt_us);
}

/* An RTT that was shown at @seen_ns is now known to be @rtt_us. */
LAW_PART int copa_revise(struct copa_state *c, __u64 now, __u64 seen_ns, __u32 rtt_us)
{
	if (!c || !windowed_known(&c->least))
		return 0;
	windowed_update(&c->least, COPA_LEAST_LASTS_NS, now, rtt_us);
	if (law_since(now, seen_ns) <= c->smoothed_ns / 2)
		windowed_update(&c->standing, c->smoothed_ns / 2, now, rtt_us);
	return 0;
}

/*
 * From now on RTTs are on another scale, whose least is this: without what the radio
 * added, or with it.
 */
LAW_PART int copa_rebase(struct copa_state *c, __u64 now, __u32 least_us, __u32 corrected)
{
	__u32 standing;

	if (!c)
		return 0;
	c->corrected = corrected;
	if (!windowed_known(&c->least))
		return 0;
	standing = law_max(c->standing.best[0], least_us);
	windowed_begin(&c->least, now, least_us);
	windowed_begin(&c->standing, now, standing);
	return 0;
}

/* The window rises at its least pace: a queue may be hidden. */
LAW_INLINE void copa_rise_slowly(struct copa_state *c)
{
	if (c->trend == COPA_UP)
		c->velocity = 1;
}

LAW_INLINE __u32 copa_direction(const struct copa_state *c)
{
	/* cwnd / standing against 1 / (delta * queueing), without a division. */
	return c->cwnd * copa_queueing(c) <= c->inverse_delta * c->standing.best[0] ? COPA_UP
										    : COPA_DOWN;
}

/* Whether another flow keeps the queue, and how hard to push then. */
LAW_INLINE void copa_compete(struct copa_state *c, const struct copa_ack *ack, int over)
{
	__u64 swing, few;

	if (ack->rtt_us) {
		windowed_update(&c->most, c->smoothed_ns * COPA_MAX_ROUNDS, ack->now_ns,
				~(__u64)ack->rtt_us);
		swing = law_since(~c->most.best[0], c->least.best[0]);
		/* One and a half of the flow's own segments. */
		few = c->standing.best[0] * COPA_ONE * 3 / (c->cwnd * 2);
		if (copa_queueing(c) <= law_max(swing / COPA_NEARLY_EMPTY, few)) {
			c->empty_at_ns = ack->now_ns;
			c->has_empty = 1;
		}
	}
	if (!over)
		return;
	if (!c->has_empty) {
		c->empty_at_ns = ack->now_ns;
		c->has_empty = 1;
	}
	if (law_since(ack->now_ns, c->empty_at_ns) <= c->smoothed_ns * COPA_EMPTY_ROUNDS)
		c->inverse_delta = COPA_INVERSE_DELTA;
	else if (!c->lost)
		c->inverse_delta = law_min(c->inverse_delta + COPA_ONE, COPA_MAX_INVERSE_DELTA);
	c->lost = 0;
}

/* A round began: the window moves faster from the third one in a direction on. */
LAW_INLINE void copa_velocity_round(struct copa_state *c)
{
	__u64 before = c->round_cwnd;
	__u32 trend = c->cwnd > before ? COPA_UP : COPA_DOWN;

	c->round_cwnd = c->cwnd;
	if (!before)
		return;
	if (c->trend != trend) {
		c->trend = trend;
		c->trend_rounds = 1;
		c->velocity = 1;
		return;
	}
	c->trend_rounds = law_min(c->trend_rounds + 1, COPA_STEADY_ROUNDS);
	if (c->trend_rounds >= COPA_STEADY_ROUNDS)
		c->velocity = law_min(c->velocity * 2, COPA_MAX_VELOCITY);
}

/* What an ACK moves the window by. */
LAW_INLINE __u64 copa_step(struct copa_state *c, __u32 direction, __u64 acked)
{
	__u64 moves;

	if (c->velocity > 1 && c->trend != direction) {
		c->trend = direction;
		c->trend_rounds = 0;
		c->velocity = 1;
	}
	moves = c->velocity * c->inverse_delta;
	if (c->corrected && direction == COPA_UP)
		moves = law_min(moves, law_max(c->cwnd / COPA_CORRECTED_RISE, c->inverse_delta));
	moves *= acked;
	/* * COPA_ONE / cwnd, without a product beyond 64 bits. */
	return moves / c->cwnd * COPA_ONE + moves % c->cwnd * COPA_ONE / c->cwnd;
}

LAW_PART int copa_ack(struct copa_state *c, const struct copa_ack *ack)
{
	__u64 acked, step;
	__u32 direction;
	int over = 0;

	if (!c || !ack || c->cwnd < COPA_MIN_CWND)
		return 0;
	acked = law_min(ack->acked, LAW_MAX_SEGS);
	if (!ack->timed_out)
		c->before_cwnd = 0;
	if (ack->rtt_us)
		copa_sample(c, ack->now_ns, law_min(ack->rtt_us, LAW_MAX_RTT_US));
	if (law_reached(ack->sent_delivered, c->round_ends_at)) {
		over = 1;
		c->round_ends_at = ack->delivered;
	}
	if (!windowed_known(&c->least))
		return 0;
	if (c->phase == COPA_AT_TARGET)
		copa_compete(c, ack, over);
	direction = copa_direction(c);
	if (c->phase == COPA_SLOW_START) {
		if (direction == COPA_UP) {
			if (!ack->app_limited)
				c->cwnd = law_min(c->cwnd + acked * COPA_ONE, COPA_MAX_CWND);
			return 0;
		}
		c->phase = COPA_DRAINING;
		copa_still(c);
	}
	if (direction == COPA_UP)
		c->phase = COPA_AT_TARGET;
	if (over)
		copa_velocity_round(c);
	step = copa_step(c, direction, acked);
	if (direction == COPA_DOWN)
		c->cwnd = law_since(c->cwnd, step);
	else if (!ack->app_limited)
		c->cwnd += law_min(step, COPA_MAX_CWND);
	c->cwnd = law_min(law_max(c->cwnd, COPA_MIN_CWND), COPA_MAX_CWND);
	return 0;
}

/* Losses began that are not yet repaired. */
LAW_INLINE void copa_loss(struct copa_state *c)
{
	c->lost = 1;
	c->inverse_delta = law_max(c->inverse_delta / 2, COPA_INVERSE_DELTA);
}

LAW_INLINE void copa_timeout(struct copa_state *c)
{
	if (!c->before_cwnd) {
		c->before_cwnd = c->cwnd;
		c->before_phase = c->phase;
	}
	c->cwnd = COPA_MIN_CWND;
	c->phase = COPA_SLOW_START;
	copa_still(c);
}

LAW_INLINE void copa_spurious(struct copa_state *c)
{
	if (!c->before_cwnd)
		return;
	c->cwnd = law_max(c->cwnd, c->before_cwnd);
	c->phase = c->before_phase;
	c->before_cwnd = 0;
}

LAW_INLINE __u32 copa_cwnd(const struct copa_state *c)
{
	return c->cwnd / COPA_ONE;
}

/* Twice the window a standing RTT, bytes/s of payload; 0: no RTT is known. */
LAW_INLINE __u64 copa_pacing(const struct copa_state *c, __u32 mss)
{
	__u64 bytes = copa_cwnd(c) * (__u64)law_mss(mss);

	if (!windowed_known(&c->least))
		return 0;
	return law_max(bytes * 2000000 / law_max(c->standing.best[0], 1), law_mss(mss));
}

#endif /* SOUNDING_COPA_H */
