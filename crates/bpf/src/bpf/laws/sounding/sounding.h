/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The law of `sounding` as pure functions of integers: no kernel header, no
 * clock, no memory but the caller's. crates/cc/src/sounding is the same
 * arithmetic in Rust, function by function, and says why; a property test runs
 * both over the same sequences. Bytes, microseconds and bytes a second.
 */
#ifndef SOUNDING_SOUNDING_H
#define SOUNDING_SOUNDING_H

#include "laws/sounding/queue_growth.h"

/* law.rs draws the machine of enum flow_phase. What the publisher reports: */
enum feed_update {
	FEED_CARRIES,
	FEED_IDLE,
	FEED_HANDOVER,
	FEED_NOTHING,
};

#define SOUNDING_KNOWN_FOR_NS	1000000000ULL
#define SOUNDING_SUSPECT_ROUNDS	2U
#define SOUNDING_ASK_ROUNDS	2U
#define SOUNDING_BACK_AFTER_RTTS	2U
#define SOUNDING_WIDER_EIGHTHS	9U
#define SOUNDING_LOSSY		10U

LAW_INLINE __u64 sounding_share(const struct law_input *in, __u64 rate)
{
	return share_part(&in->pool, in->weight, in->hunger, rate);
}

LAW_INLINE int sounding_capacity_known(const struct sounding_state *st, __u64 now)
{
	return st->capacity_at_ns && law_since(now, st->capacity_at_ns) <= SOUNDING_KNOWN_FOR_NS;
}

LAW_INLINE void sounding_enter_probing(struct sounding_state *st, __u64 now)
{
	st->phase = PHASE_PROBING;
	st->step = sounding_capacity_known(st, now) ? sounding_first_step(st) : SOUNDING_MAX_STEP;
}

LAW_INLINE void sounding_enter_hold(struct sounding_state *st, __u32 rounds)
{
	st->phase = PHASE_HOLD;
	st->rounds = rounds;
}

/* The part of the link is another. */
LAW_INLINE void sounding_rescale(struct sounding_state *st, const struct law_input *in, __u32 mss)
{
	__u64 share;

	st->part = share_fraction(&in->pool, in->weight);
	if (!st->capacity_at_ns)
		return;
	share = sounding_share(in, st->capacity);
	if (share == st->capacity_share)
		return;
	sounding_set(st, st->cwnd * share / law_max(st->capacity_share, 1), mss);
	st->capacity_share = share;
	st->pipe = 0;
}

/* The device has a rate of the radio; the state says whether that changes the phase. */
LAW_INLINE void sounding_rate(struct sounding_state *st, const struct law_input *in, __u32 mss)
{
	__u64 now = in->now_ns, rate = law_min(in->feed.rate_bytes_per_sec, LAW_MAX_RATE);
	int full = in->feed.bound == BOUND_CAPACITY;
	__u64 elapsed = law_since(now, st->heard_at_ns);
	__u64 share, sure, holds, cwnd;

	if (!st->least_us[0])
		return;
	share = sounding_share(in, rate);
	st->status.share_bytes_per_sec = share;
	sure = sounding_limit(st, share);
	sounding_follow(st, sure, elapsed);
	if (sounding_capacity_known(st, now))
		sounding_queue_target(st, in->feed.bound, elapsed);
	if (st->phase == PHASE_ESTIMATE_TOO_HIGH) {
		if (sounding_starved(st->status.delivery_bytes_per_sec, share) && !sounding_crowded(st))
			return;
		st->phase = PHASE_NO_ESTIMATE;
	}
	if (st->phase == PHASE_BOTTLENECK_ELSEWHERE) {
		if (!full) {
			st->backlog_since_ns = 0;
			return;
		}
		if (!st->backlog_since_ns)
			st->backlog_since_ns = now;
		if (law_since(now, st->backlog_since_ns) <
		    (__u64)st->least_us[0] * SOUNDING_BACK_AFTER_RTTS * 1000)
			return;
	}
	if (full)
		sounding_usual(st, rate);
	holds = sounding_holds(st, sure, rate, mss);
	if (full) {
		st->phase = PHASE_RADIO_LIMITED;
		st->capacity = rate;
		st->capacity_share = share;
		st->capacity_at_ns = now;
		sounding_set(st, holds, mss);
		return;
	}
	if (st->phase == PHASE_NO_ESTIMATE) {
		cwnd = law_max(holds, law_min((__u64)in->shadow_cwnd * mss, holds * 2));
		sounding_set(st, law_max(cwnd, LAW_RESTART_CWND * mss), mss);
		sounding_enter_probing(st, now);
	} else if (st->phase == PHASE_RADIO_LIMITED || st->phase == PHASE_HANDOVER) {
		sounding_enter_probing(st, now);
	}
	if (st->phase == PHASE_PROBING || st->phase == PHASE_HOLD)
		sounding_set(st, law_max(st->cwnd, holds), mss);
}

LAW_INLINE __u32 sounding_feed_update(const volatile struct law_config *k,
			    const struct law_input *in, __u32 verdict)
{
	if (verdict == REASON_FRESH)
		return FEED_CARRIES;
	if (verdict != REASON_ABSENT ||
	    law_since(in->now_ns, in->heartbeat_at_ns) > k->max_silence_ns)
		return FEED_NOTHING;
	if (in->feed.lull == LULL_IDLE)
		return FEED_IDLE;
	return in->feed.lull == LULL_HANDOVER ? FEED_HANDOVER : FEED_NOTHING;
}

/* The publisher wrote, or is found to be silent. */
LAW_PART int sounding_handle_feed(struct sounding_state *st, const struct law_input *in, __u32 word,
			__u32 mss)
{
	if (!st || !in)
		return 0;
	mss = law_mss(mss);
	if (word != FEED_NOTHING && in->feed.epoch == st->epoch)
		return 0;
	st->epoch = in->feed.epoch;
	sounding_rescale(st, in, mss);
	if (word != FEED_CARRIES)
		st->pipe = 0;
	if (word == FEED_CARRIES) {
		sounding_rate(st, in, mss);
	} else if (word == FEED_HANDOVER) {
		if (phase_controls(st->phase)) {
			st->phase = PHASE_HANDOVER;
			st->capacity_at_ns = 0;
			st->usual_known = 0;
			st->usual_rate = 0;
		}
	} else if (word == FEED_IDLE) {
		if (st->phase == PHASE_RADIO_LIMITED)
			sounding_enter_probing(st, in->now_ns);
	} else {
		st->phase = PHASE_NO_ESTIMATE;
	}
	st->heard_at_ns = in->now_ns;
	return 0;
}

/* Three quarters of what was under way while the RTT was that long. */
LAW_INLINE void sounding_begin_queue_test(struct sounding_state *st, __u32 rtt_us, __u32 mss)
{
	__u64 cwnd = st->cwnd;

	if (st->carried)
		cwnd = law_min(cwnd, st->carried * rtt_us / 1000000);
	sounding_set(st, cwnd * 3 / 4, mss);
	st->phase = PHASE_QUEUE_TEST;
	st->rounds = 0;
	st->tested_us = rtt_us;
}

/* The bytes in flight at this rate of payload on a path of this RTT. */
LAW_INLINE void sounding_keep(struct sounding_state *st, __u64 rate, __u32 rtt_us, __u32 mss)
{
	sounding_set(st, law_max(rate * rtt_us / 1000000, LAW_RESTART_CWND * mss), mss);
}

/*
 * Whether much less arrives, through the queue that grows, than this flow's
 * part of what the radio had a moment ago.
 */
LAW_INLINE int sounding_narrower(const struct sounding_state *st, __u64 now)
{
	return law_since(st->growth_us, st->least_us[0]) >= SOUNDING_QUEUE_US &&
	       st->usual_known && sounding_capacity_known(st, now) &&
	       sounding_starved(sounding_growth_rate(st, now), st->usual_rate * st->part / SHARE_WHOLE);
}

/* A queue gets shorter by a smaller window, a path does not. */
LAW_INLINE void sounding_judge_queue_test(struct sounding_state *st, __u64 now, __u32 mss,
			     struct law_output *out)
{
	__u64 found = st->last_us;

	/* All of it left before the window was lowered, and came through the whole queue. */
	if (st->rounds == 1)
		st->carried = sounding_growth_rate(st, now);
	if (found * 10 <= (__u64)st->tested_us * 9) {
		st->phase = PHASE_BOTTLENECK_ELSEWHERE;
		st->backlog_since_ns = 0;
		if (st->carried)
			sounding_keep(st, st->carried, found, mss);
		out->cuts = 1;
		out->cut = st->cwnd * 1000000ULL / law_max(found, SOUNDING_MIN_RTT_US);
		return;
	}
	if (st->rounds < SOUNDING_ASK_ROUNDS)
		return;
	sounding_forget_least(st, now, found);
	st->phase = PHASE_PROBING;
	st->step = sounding_first_step(st);
}

LAW_INLINE __u64 sounding_acked(const struct law_input *in, __u32 mss)
{
	return law_min((__u64)in->acked * mss, SOUNDING_MAX_CWND);
}

/* The stock algorithm's probing has room now: a climb is faster. */
LAW_INLINE void sounding_look_for_more(struct sounding_state *st, __u64 now, __u32 mss)
{
	__u64 arrives = st->status.delivery_bytes_per_sec;

	if (!st->carried || arrives * 8 <= st->carried * SOUNDING_WIDER_EIGHTHS)
		return;
	sounding_keep(st, arrives, st->least_us[0], mss);
	sounding_enter_probing(st, now);
}

/* Whether a queue is seen to grow where the radio is not known to have one. */
LAW_INLINE int sounding_queue_grows(struct sounding_state *st, const struct law_input *in, __u64 acked)
{
	if (st->phase == PHASE_PROBING || st->phase == PHASE_HOLD)
		return sounding_growth_update(st, in->now_ns, law_min(in->rtt_us, LAW_MAX_RTT_US), acked);
	if (st->phase == PHASE_QUEUE_TEST)
		sounding_growth_count(st, acked);
	else
		sounding_growth_reset(st, in->now_ns);
	return 0;
}

LAW_PART int sounding_round(struct sounding_state *st, const struct law_input *in,
			 const struct sounding_seen *seen, __u32 mss, struct law_output *out)
{
	__u64 acked;
	int queues, stops, used;

	if (!st || !in || !seen || !out)
		return 0;
	mss = law_mss(mss);
	acked = sounding_acked(in, mss);
	queues = seen->known && seen->queue_us >= SOUNDING_QUEUE_US;
	stops = queues || in->flags & (LAW_RECOVERY | LAW_MARKED);
	used = (__u64)in->inflight * mss >= st->cwnd / 2;
	if (sounding_queue_grows(st, in, acked) && used && sounding_narrower(st, in->now_ns)) {
		st->carried = sounding_growth_rate(st, in->now_ns);
		sounding_begin_round(st, in->delivered);
		sounding_begin_queue_test(st, st->growth_us, mss);
		return 0;
	}
	if (st->phase == PHASE_PROBING) {
		if (stops) {
			sounding_without_queue(st, seen, mss);
			sounding_enter_hold(st, 0);
			st->carried = 0;
		} else if (used) {
			sounding_set(st, st->cwnd + acked * st->step / SOUNDING_MAX_STEP, mss);
			st->step = law_min(seen->over ? st->step * 2 : st->step, SOUNDING_MAX_STEP);
		}
		return 0;
	}
	if (!seen->over)
		return 0;
	if (st->phase == PHASE_HOLD || (st->phase == PHASE_BOTTLENECK_ELSEWHERE && stops))
		st->carried = law_max(st->carried, st->status.delivery_bytes_per_sec);
	if (st->phase == PHASE_HOLD) {
		if (!stops) {
			st->phase = PHASE_PROBING;
			st->step = sounding_first_step(st);
		} else if (used && st->rounds + 1 >= SOUNDING_SUSPECT_ROUNDS) {
			sounding_growth_reset(st, in->now_ns);
			sounding_begin_queue_test(st, st->last_us, mss);
		} else {
			sounding_without_queue(st, seen, mss);
			sounding_enter_hold(st, law_min(st->rounds + 1, SOUNDING_SUSPECT_ROUNDS));
		}
	} else if (st->phase == PHASE_QUEUE_TEST && in->flags & LAW_LIMITED) {
		/* A pause of the application's shortens a queue as well. */
		sounding_enter_hold(st, 0);
	} else if (st->phase == PHASE_QUEUE_TEST) {
		st->rounds++;
		sounding_judge_queue_test(st, in->now_ns, mss, out);
	} else if (st->phase == PHASE_BOTTLENECK_ELSEWHERE && !stops && !(in->flags & LAW_LIMITED)) {
		sounding_look_for_more(st, in->now_ns, mss);
	}
	return 0;
}

LAW_INLINE void sounding_ack(struct sounding_state *st, const struct law_input *in, __u32 mss,
			  struct law_output *out)
{
	__u64 acked = sounding_acked(in, mss), rate = law_min(in->rate, LAW_MAX_RATE);
	struct sounding_seen seen = {};

	sounding_path(st, in, &seen);
	if (st->ramp) {
		st->ramp = law_min(st->ramp + acked, ~0U);
		if (st->ramp >= st->cwnd)
			st->ramp = 0;
	}
	if (rate)
		st->status.delivery_bytes_per_sec = rate;
	sounding_cap_update(st, seen.over, rate, in->flags & LAW_LIMITED);
	st->round_acked += acked;
	st->round_lost += law_min((__u64)in->lost * mss, SOUNDING_MAX_CWND);
	if (seen.over && st->capacity_at_ns) {
		sounding_rivals(st, in, rate, mss);
		/* A flow that keeps a link full never sees it empty. */
		if (st->phase == PHASE_RADIO_LIMITED &&
		    law_payload(st->capacity_share, mss) * st->last_us / 1000000 <= st->cwnd)
			sounding_forget_least(st, in->now_ns, st->least_us[0]);
		/* The estimate does not help if much less arrives and the rest is lost. */
		if (st->phase == PHASE_RADIO_LIMITED &&
		    st->round_lost * SOUNDING_LOSSY > st->round_lost + st->round_acked &&
		    sounding_starved(st->status.delivery_bytes_per_sec, st->capacity_share) &&
		    !sounding_crowded(st))
			st->phase = PHASE_ESTIMATE_TOO_HIGH;
	}
	if (seen.over) {
		st->round_acked = 0;
		st->round_lost = 0;
	}
	sounding_round(st, in, &seen, mss, out);
}

/* The modem's every report may move a flow between these three: published as one. */
LAW_INLINE __u32 sounding_published_phase(__u32 phase)
{
	return phase == PHASE_PROBING || phase == PHASE_HOLD ? PHASE_RADIO_LIMITED : phase;
}

/* Publishes the phase, and why the flow is in it. */
LAW_INLINE void sounding_publish(struct sounding_state *st, const struct law_input *in,
				 __u32 verdict, struct law_output *out)
{
	__u32 was = st->status.phase, phase = st->phase;

	if (phase == PHASE_BOTTLENECK_ELSEWHERE || phase == PHASE_ESTIMATE_TOO_HIGH)
		st->status.reason = REASON_NARROW;
	else if (phase == PHASE_NO_ESTIMATE && st->status.transitions)
		st->status.reason = verdict;
	else if (was == PHASE_BOTTLENECK_ELSEWHERE || was == PHASE_ESTIMATE_TOO_HIGH)
		st->status.reason = REASON_WIDE;
	else if (was == PHASE_NO_ESTIMATE)
		st->status.reason = phase == was ? REASON_CONNECTED : REASON_FRESH;
	if (phase == was)
		return;
	st->status.phase = phase;
	st->status.since_ns = in->now_ns;
	out->changed = sounding_published_phase(phase) != sounding_published_phase(was);
	if (out->changed)
		st->status.transitions++;
}

LAW_INLINE void sounding_init(struct sounding_state *st, __u64 now, __u32 mss, __u32 rtt_us,
			   __u32 delivered)
{
	__builtin_memset(st, 0, sizeof(*st));
	st->status.since_ns = now;
	st->status.phase = PHASE_NO_ESTIMATE;
	st->status.reason = REASON_CONNECTED;
	st->heard_at_ns = now;
	st->queue_target_us = SOUNDING_FIRST_ROOM_US;
	st->part = SHARE_WHOLE;
	st->cwnd = LAW_RESTART_CWND * law_mss(mss);
	st->round_ends_at = delivered;
	sounding_growth_reset(st, now);
	if (rtt_us)
		sounding_forget_least(st, now, law_min(rtt_us, LAW_MAX_RTT_US));
}

/* One ACK, or a restart from idle (without LAW_ACK). */
LAW_INLINE void sounding_step(const volatile struct law_config *k, struct sounding_state *st,
			   const struct law_input *in, struct law_output *out)
{
	__u32 mss = law_mss(in->mss), verdict = law_verdict(k, in), cwnd;
	__u64 pacing;

	if (in->flags & LAW_UNDO)
		st->ramp = 0;
	else if (in->flags & LAW_RTO)
		st->ramp = LAW_RESTART_CWND * mss;
	sounding_handle_feed(st, in, sounding_feed_update(k, in, verdict), mss);
	if (in->flags & LAW_ACK)
		sounding_ack(st, in, mss, out);
	sounding_publish(st, in, verdict, out);
	if (phase_controls(st->phase) && st->least_us[0]) {
		cwnd = st->ramp ? law_min(st->ramp, st->cwnd) : st->cwnd;
		pacing = (__u64)st->cwnd * SOUNDING_PACING_PERMILLE / 1000 * 1000000 /
			 law_max(st->least_us[0], SOUNDING_MIN_RTT_US);
		st->status.cwnd = law_max(cwnd / mss, LAW_FLOOR_CWND);
		st->status.pacing_bytes_per_sec = law_max(pacing, LAW_MIN_PACING);
		/* BBR, which never sees an empty path under our window, would keep a shorter one's. */
		out->longer_us = st->least_us[0];
	} else {
		st->status.cwnd = law_max(in->shadow_cwnd, LAW_FLOOR_CWND);
		st->status.pacing_bytes_per_sec = in->shadow_pacing;
	}
}

#endif /* SOUNDING_SOUNDING_H */
