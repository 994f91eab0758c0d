/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The law of `sounding` as pure functions of integers: no kernel header, no
 * clock, no memory but the caller's. ../../../cc/src/sounding is the same
 * arithmetic in Rust, function by function, and says why; a property test runs
 * both over the same sequences. Bytes, microseconds and bytes a second.
 */
#ifndef SOUNDING_PROBE_H
#define SOUNDING_PROBE_H

#include "rise.h"

/*
 * law.rs draws the machine. What others are told of it is enum sounding_state;
 * in UNHEARD, ELSEWHERE and MISLED the stock algorithm drives.
 */
enum probe_state {
	PROBE_UNHEARD = 0,
	PROBE_FULL = 1,
	PROBE_CLIMBING = 2,
	PROBE_HELD = 3,
	PROBE_AWAY = 4,
	PROBE_ASKING = 5,
	PROBE_ELSEWHERE = 6,
	PROBE_MISLED = 7,
};

enum probe_word {
	PROBE_CARRIES,
	PROBE_IDLE,
	PROBE_HANDOVER,
	PROBE_NOTHING,
};

#define PROBE_KNOWN_FOR_NS	1000000000ULL
#define PROBE_SUSPECT_ROUNDS	2U
#define PROBE_ASK_ROUNDS	2U
#define PROBE_BACK_AFTER_RTTS	2U
#define PROBE_WIDER_EIGHTHS	9U
#define PROBE_LOSSY		10U

LAW_INLINE int probe_drives(const struct sounding_probe *st)
{
	return st->state != PROBE_UNHEARD && st->state != PROBE_ELSEWHERE &&
	       st->state != PROBE_MISLED;
}

LAW_INLINE __u64 probe_share(const struct law_input *in, __u64 rate)
{
	return share_part(&in->pool, in->weight, in->hunger, rate);
}

LAW_INLINE int probe_capacity_known(const struct sounding_probe *st, __u64 now)
{
	return st->capacity_at_ns && law_since(now, st->capacity_at_ns) <= PROBE_KNOWN_FOR_NS;
}

LAW_INLINE void probe_climb(struct sounding_probe *st, __u64 now)
{
	st->state = PROBE_CLIMBING;
	st->step = probe_capacity_known(st, now) ? probe_first_step(st) : PROBE_MOST_STEP;
}

LAW_INLINE void probe_hold(struct sounding_probe *st, __u32 rounds)
{
	st->state = PROBE_HELD;
	st->rounds = rounds;
}

/* The part of the link is another. */
LAW_INLINE void probe_rescale(struct sounding_probe *st, const struct law_input *in, __u32 mss)
{
	__u64 share;

	st->part = share_fraction(&in->pool, in->weight);
	if (!st->capacity_at_ns)
		return;
	share = probe_share(in, st->capacity);
	if (share == st->capacity_share)
		return;
	probe_set(st, st->cwnd * share / law_max(st->capacity_share, 1), mss);
	st->capacity_share = share;
	st->pipe = 0;
}

/* The device has a rate of the radio; whether that changes what drives is said by the state. */
LAW_INLINE void probe_rate(struct sounding_probe *st, const struct law_input *in, __u32 mss)
{
	__u64 now = in->now_ns, rate = law_min(in->feed.rate_bytes_per_sec, LAW_MAX_RATE);
	int full = in->feed.bound == SOUNDING_CAPACITY;
	__u64 elapsed = law_since(now, st->heard_at_ns);
	__u64 share, sure, holds, cwnd;

	if (!st->least_us[0])
		return;
	share = probe_share(in, rate);
	st->said.share_bytes_per_sec = share;
	sure = probe_limit(st, share);
	probe_follow(st, sure, elapsed);
	if (probe_capacity_known(st, now))
		probe_room(st, in->feed.bound, elapsed);
	if (st->state == PROBE_MISLED) {
		if (probe_starved(st->said.delivery_bytes_per_sec, share) && !probe_crowded(st))
			return;
		st->state = PROBE_UNHEARD;
	}
	if (st->state == PROBE_ELSEWHERE) {
		if (!full) {
			st->backlog_since_ns = 0;
			return;
		}
		if (!st->backlog_since_ns)
			st->backlog_since_ns = now;
		if (law_since(now, st->backlog_since_ns) <
		    (__u64)st->least_us[0] * PROBE_BACK_AFTER_RTTS * 1000)
			return;
	}
	if (full)
		probe_usual(st, rate);
	holds = probe_holds(st, sure, rate, mss);
	if (full) {
		st->state = PROBE_FULL;
		st->capacity = rate;
		st->capacity_share = share;
		st->capacity_at_ns = now;
		probe_set(st, holds, mss);
		return;
	}
	if (st->state == PROBE_UNHEARD) {
		cwnd = law_max(holds, law_min((__u64)in->shadow_cwnd * mss, holds * 2));
		probe_set(st, law_max(cwnd, LAW_RESTART_CWND * mss), mss);
		probe_climb(st, now);
	} else if (st->state == PROBE_FULL || st->state == PROBE_AWAY) {
		probe_climb(st, now);
	}
	if (st->state == PROBE_CLIMBING || st->state == PROBE_HELD)
		probe_set(st, law_max(st->cwnd, holds), mss);
}

LAW_INLINE __u32 probe_word(const volatile struct sounding_knobs *k,
			    const struct law_input *in, __u32 verdict)
{
	if (verdict == SOUNDING_FRESH)
		return PROBE_CARRIES;
	if (verdict != SOUNDING_ABSENT ||
	    law_since(in->now_ns, in->heartbeat_at_ns) > k->max_silence_ns)
		return PROBE_NOTHING;
	if (in->feed.lull == SOUNDING_IDLE)
		return PROBE_IDLE;
	return in->feed.lull == SOUNDING_AWAY ? PROBE_HANDOVER : PROBE_NOTHING;
}

/* The publisher spoke, or is found to be silent. */
LAW_PART int probe_hear(struct sounding_probe *st, const struct law_input *in, __u32 word,
			__u32 mss)
{
	if (!st || !in)
		return 0;
	mss = law_mss(mss);
	if (word != PROBE_NOTHING && in->feed.epoch == st->epoch)
		return 0;
	st->epoch = in->feed.epoch;
	probe_rescale(st, in, mss);
	if (word != PROBE_CARRIES)
		st->pipe = 0;
	if (word == PROBE_CARRIES) {
		probe_rate(st, in, mss);
	} else if (word == PROBE_HANDOVER) {
		if (probe_drives(st)) {
			st->state = PROBE_AWAY;
			st->capacity_at_ns = 0;
			st->usual_known = 0;
			st->usual_rate = 0;
		}
	} else if (word == PROBE_IDLE) {
		if (st->state == PROBE_FULL)
			probe_climb(st, in->now_ns);
	} else {
		st->state = PROBE_UNHEARD;
	}
	st->heard_at_ns = in->now_ns;
	return 0;
}

/* Three quarters of what was under way while the RTT was that long. */
LAW_INLINE void probe_ask(struct sounding_probe *st, __u32 rtt_us, __u32 mss)
{
	__u64 cwnd = st->cwnd;

	if (st->carried)
		cwnd = law_min(cwnd, st->carried * rtt_us / 1000000);
	probe_set(st, cwnd * 3 / 4, mss);
	st->state = PROBE_ASKING;
	st->rounds = 0;
	st->asked_us = rtt_us;
}

/* What arrives at this rate of payload on a path of this RTT. */
LAW_INLINE void probe_keep(struct sounding_probe *st, __u64 rate, __u32 rtt_us, __u32 mss)
{
	probe_set(st, law_max(rate * rtt_us / 1000000, LAW_RESTART_CWND * mss), mss);
}

/*
 * Whether much less arrives, through the queue that grows, than this flow's
 * part of what the radio had a moment ago.
 */
LAW_INLINE int probe_narrower(const struct sounding_probe *st, __u64 now)
{
	return law_since(st->rise_us, st->least_us[0]) >= PROBE_QUEUE_US &&
	       st->usual_known && probe_capacity_known(st, now) &&
	       probe_starved(probe_rise_rate(st, now), st->usual_rate * st->part / SHARE_WHOLE);
}

/* A queue gets shorter by a smaller window, a path does not. */
LAW_INLINE void probe_answer(struct sounding_probe *st, __u64 now, __u32 mss,
			     struct law_output *out)
{
	__u64 found = st->last_us;

	/* All of it left before the window was lowered, and came through the whole queue. */
	if (st->rounds == 1)
		st->carried = probe_rise_rate(st, now);
	if (found * 10 <= (__u64)st->asked_us * 9) {
		st->state = PROBE_ELSEWHERE;
		st->backlog_since_ns = 0;
		if (st->carried)
			probe_keep(st, st->carried, found, mss);
		out->cuts = 1;
		out->cut = st->cwnd * 1000000ULL / law_max(found, PROBE_LEAST_RTT_US);
		return;
	}
	if (st->rounds < PROBE_ASK_ROUNDS)
		return;
	probe_forget_least(st, now, found);
	st->state = PROBE_CLIMBING;
	st->step = probe_first_step(st);
}

LAW_INLINE __u64 probe_acked(const struct law_input *in, __u32 mss)
{
	return law_min((__u64)in->acked * mss, PROBE_MOST_CWND);
}

/* The stock algorithm's probing has room now: a climb is faster. */
LAW_INLINE void probe_look_for_more(struct sounding_probe *st, __u64 now, __u32 mss)
{
	__u64 arrives = st->said.delivery_bytes_per_sec;

	if (!st->carried || arrives * 8 <= st->carried * PROBE_WIDER_EIGHTHS)
		return;
	probe_keep(st, arrives, st->least_us[0], mss);
	probe_climb(st, now);
}

/* Whether a queue is seen to grow where the radio is not known to have one. */
LAW_INLINE int probe_rise(struct sounding_probe *st, const struct law_input *in, __u64 acked)
{
	if (st->state == PROBE_CLIMBING || st->state == PROBE_HELD)
		return probe_rises(st, in->now_ns, law_min(in->rtt_us, LAW_MAX_RTT_US), acked);
	if (st->state == PROBE_ASKING)
		probe_rise_count(st, acked);
	else
		probe_rise_new(st, in->now_ns);
	return 0;
}

LAW_PART int probe_round(struct sounding_probe *st, const struct law_input *in,
			 const struct probe_seen *seen, __u32 mss, struct law_output *out)
{
	__u64 acked;
	int queues, stops, used;

	if (!st || !in || !seen || !out)
		return 0;
	mss = law_mss(mss);
	acked = probe_acked(in, mss);
	queues = seen->known && seen->queue_us >= PROBE_QUEUE_US;
	stops = queues || in->flags & (LAW_RECOVERY | LAW_MARKED);
	used = (__u64)in->inflight * mss >= st->cwnd / 2;
	if (probe_rise(st, in, acked) && used && probe_narrower(st, in->now_ns)) {
		st->carried = probe_rise_rate(st, in->now_ns);
		probe_begin_round(st, in->delivered);
		probe_ask(st, st->rise_us, mss);
		return 0;
	}
	if (st->state == PROBE_CLIMBING) {
		if (stops) {
			probe_without_queue(st, seen, mss);
			probe_hold(st, 0);
			st->carried = 0;
		} else if (used) {
			probe_set(st, st->cwnd + acked * st->step / PROBE_MOST_STEP, mss);
			st->step = law_min(seen->over ? st->step * 2 : st->step, PROBE_MOST_STEP);
		}
		return 0;
	}
	if (!seen->over)
		return 0;
	if (st->state == PROBE_HELD || (st->state == PROBE_ELSEWHERE && stops))
		st->carried = law_max(st->carried, st->said.delivery_bytes_per_sec);
	if (st->state == PROBE_HELD) {
		if (!stops) {
			st->state = PROBE_CLIMBING;
			st->step = probe_first_step(st);
		} else if (used && st->rounds + 1 >= PROBE_SUSPECT_ROUNDS) {
			probe_rise_new(st, in->now_ns);
			probe_ask(st, st->last_us, mss);
		} else {
			probe_without_queue(st, seen, mss);
			probe_hold(st, law_min(st->rounds + 1, PROBE_SUSPECT_ROUNDS));
		}
	} else if (st->state == PROBE_ASKING && in->flags & LAW_LIMITED) {
		/* A pause of the application's shortens a queue as well. */
		probe_hold(st, 0);
	} else if (st->state == PROBE_ASKING) {
		st->rounds++;
		probe_answer(st, in->now_ns, mss, out);
	} else if (st->state == PROBE_ELSEWHERE && !stops && !(in->flags & LAW_LIMITED)) {
		probe_look_for_more(st, in->now_ns, mss);
	}
	return 0;
}

LAW_INLINE void probe_ack(struct sounding_probe *st, const struct law_input *in, __u32 mss,
			  struct law_output *out)
{
	__u64 acked = probe_acked(in, mss), rate = law_min(in->rate, LAW_MAX_RATE);
	struct probe_seen seen = {};

	probe_path(st, in, &seen);
	if (st->ramp) {
		st->ramp = law_min(st->ramp + acked, ~0U);
		if (st->ramp >= st->cwnd)
			st->ramp = 0;
	}
	if (rate)
		st->said.delivery_bytes_per_sec = rate;
	probe_prove(st, seen.over, rate, in->flags & LAW_LIMITED);
	st->round_acked += acked;
	st->round_lost += law_min((__u64)in->lost * mss, PROBE_MOST_CWND);
	if (seen.over && st->capacity_at_ns) {
		probe_rivals(st, in, rate, mss);
		/* Who keeps a link full never sees it empty. */
		if (st->state == PROBE_FULL &&
		    law_payload(st->capacity_share, mss) * st->last_us / 1000000 <= st->cwnd)
			probe_forget_least(st, in->now_ns, st->least_us[0]);
		/* What is told is no help where much less arrives and the rest is lost. */
		if (st->state == PROBE_FULL &&
		    st->round_lost * PROBE_LOSSY > st->round_lost + st->round_acked &&
		    probe_starved(st->said.delivery_bytes_per_sec, st->capacity_share) &&
		    !probe_crowded(st))
			st->state = PROBE_MISLED;
	}
	if (seen.over) {
		st->round_acked = 0;
		st->round_lost = 0;
	}
	probe_round(st, in, &seen, mss, out);
}

LAW_INLINE __u32 probe_said_state(const struct sounding_probe *st)
{
	switch (st->state) {
	case PROBE_FULL:
		return SOUNDING_FULL;
	case PROBE_CLIMBING:
		return SOUNDING_PROBING;
	case PROBE_HELD:
		return SOUNDING_HELD;
	case PROBE_AWAY:
		return SOUNDING_HANDOVER;
	case PROBE_ASKING:
		return SOUNDING_ASKING;
	case PROBE_UNHEARD:
		return st->said.transitions ? SOUNDING_FALLBACK : SOUNDING_STARTUP;
	default:
		return SOUNDING_FALLBACK;
	}
}

/* What comes and goes with every report of the modem is one to who is told of it. */
LAW_INLINE __u32 probe_told(__u32 state)
{
	return state == SOUNDING_PROBING || state == SOUNDING_HELD ? SOUNDING_FULL : state;
}

/* Says what drives, and why. */
LAW_INLINE void probe_say(struct sounding_probe *st, const struct law_input *in, __u32 verdict,
			  struct law_output *out)
{
	__u32 was = st->said.state, state = probe_said_state(st);

	if (st->state == PROBE_ELSEWHERE || st->state == PROBE_MISLED)
		st->said.reason = SOUNDING_NARROW;
	else if (st->state == PROBE_UNHEARD && state != SOUNDING_STARTUP)
		st->said.reason = verdict;
	else if (was == SOUNDING_FALLBACK && st->said.reason == SOUNDING_NARROW)
		st->said.reason = SOUNDING_WIDE;
	else if (was == SOUNDING_FALLBACK || was == SOUNDING_STARTUP)
		st->said.reason = state == SOUNDING_STARTUP ? SOUNDING_CONNECTED : SOUNDING_FRESH;
	if (state == was)
		return;
	st->said.state = state;
	st->said.since_ns = in->now_ns;
	out->changed = probe_told(state) != probe_told(was);
	if (out->changed)
		st->said.transitions++;
}

LAW_INLINE void probe_init(struct sounding_probe *st, __u64 now, __u32 mss, __u32 rtt_us,
			   __u32 delivered)
{
	__builtin_memset(st, 0, sizeof(*st));
	st->said.since_ns = now;
	st->said.state = SOUNDING_STARTUP;
	st->said.reason = SOUNDING_CONNECTED;
	st->heard_at_ns = now;
	st->room_us = PROBE_FIRST_ROOM_US;
	st->part = SHARE_WHOLE;
	st->cwnd = LAW_RESTART_CWND * law_mss(mss);
	st->round_ends_at = delivered;
	probe_rise_new(st, now);
	if (rtt_us)
		probe_forget_least(st, now, law_min(rtt_us, LAW_MAX_RTT_US));
}

/* One ACK, or a restart from idle (without LAW_ACK). */
LAW_INLINE void probe_step(const volatile struct sounding_knobs *k, struct sounding_probe *st,
			   const struct law_input *in, struct law_output *out)
{
	__u32 mss = law_mss(in->mss), verdict = law_verdict(k, in), cwnd;
	__u64 pacing;

	if (in->flags & LAW_UNDO)
		st->ramp = 0;
	else if (in->flags & LAW_RTO)
		st->ramp = LAW_RESTART_CWND * mss;
	probe_hear(st, in, probe_word(k, in, verdict), mss);
	if (in->flags & LAW_ACK)
		probe_ack(st, in, mss, out);
	probe_say(st, in, verdict, out);
	if (probe_drives(st) && st->least_us[0]) {
		cwnd = st->ramp ? law_min(st->ramp, st->cwnd) : st->cwnd;
		pacing = (__u64)st->cwnd * PROBE_PACING_PERMILLE / 1000 * 1000000 /
			 law_max(st->least_us[0], PROBE_LEAST_RTT_US);
		st->said.cwnd = law_max(cwnd / mss, LAW_FLOOR_CWND);
		st->said.pacing_bytes_per_sec = law_max(pacing, LAW_MIN_PACING);
		/* BBR, which never sees an empty path under our window, would keep a shorter one's. */
		out->longer_us = st->least_us[0];
	} else {
		st->said.cwnd = law_max(in->shadow_cwnd, LAW_FLOOR_CWND);
		st->said.pacing_bytes_per_sec = in->shadow_pacing;
	}
}

#endif /* SOUNDING_PROBE_H */
