/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The law of `sounding` as pure functions of integers: no kernel header, no
 * clock, no memory but the caller's. crates/laws/src/sounding is the same
 * arithmetic in Rust, function by function, and says why; a property test runs
 * both over the same sequences. Bytes, microseconds and bytes a second.
 */
#ifndef SOUNDING_SOUNDING_H
#define SOUNDING_SOUNDING_H

#include "laws/sounding/delivery_cap.h"
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

/* What the radio last had, IP; bytes a second. */
struct sounding_capacity {
	__u64 rate;			/* of the whole device */
	__u64 share;			/* this flow's part of it */
	__u64 at_ns;			/* 0: nothing is known */
};

/* The memory of one flow; the last five are the phase and what it remembers. */
struct sounding_state {
	struct flow_status status;
	struct sounding_path_rtt path;
	struct sounding_queue_target queue_target;
	struct sounding_window window;
	struct sounding_delivery_cap delivery_cap;
	struct sounding_capacity capacity;
	struct sounding_queue_growth queue_growth;
	__u64 epoch;			/* of the feed, when it was last heard */
	__u64 heard_at_ns;
	__u64 carried;			/* through the queue that may be elsewhere; 0: unknown */
	__u64 round_acked;
	__u64 round_lost;
	__u64 backlog_since_ns;		/* while the queue is elsewhere; 0: none */
	__u32 phase;			/* enum flow_phase */
	__u32 step;			/* of a climb, 64ths */
	__u32 rounds;			/* held, or queue_test */
	__u32 tested_us;		/* RTT that the answer is compared with */
};

LAW_INLINE __u64 sounding_share_of(const struct law_input *in, __u64 rate)
{
	return share_part(&in->pool, in->weight, in->hunger, rate);
}

LAW_INLINE int sounding_capacity_known(const struct sounding_state *st, __u64 now)
{
	return st->capacity.at_ns && law_since(now, st->capacity.at_ns) <= SOUNDING_KNOWN_FOR_NS;
}

LAW_INLINE void sounding_enter_probing(struct sounding_state *st, __u64 now)
{
	st->phase = PHASE_PROBING;
	st->step = sounding_capacity_known(st, now)
			   ? sounding_queue_target_first_step(&st->queue_target)
			   : SOUNDING_MAX_STEP;
}

LAW_INLINE void sounding_enter_hold(struct sounding_state *st, __u32 rounds)
{
	st->phase = PHASE_HOLD;
	st->rounds = rounds;
}

/* The part of the link is another. */
LAW_INLINE void sounding_handle_part(struct sounding_state *st, const struct law_input *in,
				     __u32 mss)
{
	__u64 share;

	st->window.part = share_fraction(&in->pool, in->weight);
	if (!st->capacity.at_ns)
		return;
	share = sounding_share_of(in, st->capacity.rate);
	if (share == st->capacity.share)
		return;
	sounding_window_rescale(&st->window, st->capacity.share, share, mss);
	st->capacity.share = share;
}

LAW_INLINE int sounding_is_starved(const struct sounding_state *st, __u64 share)
{
	return sounding_starved(st->status.delivery_bytes_per_sec, share);
}

/* The device has a rate of the radio; the state says whether that changes the phase. */
LAW_INLINE void sounding_handle_rate(struct sounding_state *st, const struct law_input *in,
				     __u32 mss)
{
	__u64 now = in->now_ns, rate = law_min(in->feed.rate_bytes_per_sec, LAW_MAX_RATE);
	int full = in->feed.bound == BOUND_CAPACITY;
	__u32 least = sounding_path_least(&st->path);
	__u64 elapsed = law_since(now, st->heard_at_ns);
	struct sounding_share counted = { .link = rate };
	struct sounding_window *w = &st->window;
	__u64 share, held, cwnd;

	if (!least)
		return;
	share = sounding_share_of(in, rate);
	st->status.share_bytes_per_sec = share;
	counted.sure = sounding_delivery_cap_limit(&st->delivery_cap, share);
	sounding_window_follow(w, counted.sure, elapsed, least);
	if (sounding_capacity_known(st, now))
		sounding_queue_target_handle_bound(&st->queue_target, in->feed.bound, elapsed);
	if (st->phase == PHASE_ESTIMATE_TOO_HIGH) {
		if (sounding_is_starved(st, share) && !sounding_window_is_crowded(w, &st->path))
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
		    (__u64)least * SOUNDING_BACK_AFTER_RTTS * 1000)
			return;
	}
	if (full)
		sounding_queue_target_handle_capacity(&st->queue_target, rate);
	held = sounding_window_held(w, &counted, &st->path, &st->queue_target, mss);
	if (full) {
		st->phase = PHASE_RADIO_LIMITED;
		st->capacity.rate = rate;
		st->capacity.share = share;
		st->capacity.at_ns = now;
		sounding_window_set(w, held, mss);
		return;
	}
	if (st->phase == PHASE_NO_ESTIMATE) {
		cwnd = law_max(held, law_min((__u64)in->shadow_cwnd * mss, held * 2));
		sounding_window_set(w, law_max(cwnd, LAW_RESTART_CWND * mss), mss);
		sounding_enter_probing(st, now);
	} else if (st->phase == PHASE_RADIO_LIMITED || st->phase == PHASE_HANDOVER) {
		sounding_enter_probing(st, now);
	}
	if (st->phase == PHASE_PROBING || st->phase == PHASE_HOLD)
		sounding_window_set(w, law_max(w->cwnd, held), mss);
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
	sounding_handle_part(st, in, mss);
	if (word != FEED_CARRIES)
		st->window.pipe = 0;
	if (word == FEED_CARRIES) {
		sounding_handle_rate(st, in, mss);
	} else if (word == FEED_HANDOVER) {
		if (phase_controls(st->phase)) {
			st->phase = PHASE_HANDOVER;
			st->capacity.at_ns = 0;
			sounding_queue_target_forget(&st->queue_target);
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

LAW_INLINE void sounding_begin_queue_test(struct sounding_state *st, __u32 rtt_us, __u32 mss)
{
	sounding_window_begin_queue_test(&st->window, st->carried, rtt_us, mss);
	st->phase = PHASE_QUEUE_TEST;
	st->rounds = 0;
	st->tested_us = rtt_us;
}

/*
 * Whether much less arrives, through the queue that grows, than this flow's
 * part of what the radio had a moment ago.
 */
LAW_INLINE int sounding_is_narrower(const struct sounding_state *st, __u64 now)
{
	__u64 queue = law_since(st->queue_growth.last_us, sounding_path_least(&st->path));
	__u64 usual = st->queue_target.usual_rate * st->window.part / SHARE_WHOLE;

	return queue >= SOUNDING_QUEUE_US && st->queue_target.usual_known &&
	       sounding_capacity_known(st, now) &&
	       sounding_starved(sounding_queue_growth_rate(&st->queue_growth, now), usual);
}

/* A queue gets shorter by a smaller window, a path does not. */
LAW_INLINE void sounding_judge_queue_test(struct sounding_state *st, __u64 now, __u32 mss,
			     struct law_output *out)
{
	__u64 found = st->path.last_us;

	/* All of it left before the window was lowered, and came through the whole queue. */
	if (st->rounds == 1)
		st->carried = sounding_queue_growth_rate(&st->queue_growth, now);
	if (found * 10 <= (__u64)st->tested_us * 9) {
		st->phase = PHASE_BOTTLENECK_ELSEWHERE;
		st->backlog_since_ns = 0;
		if (st->carried)
			sounding_window_hold(&st->window, st->carried, found, mss);
		out->cuts = 1;
		out->cut = st->window.cwnd * 1000000ULL / law_max(found, SOUNDING_MIN_RTT_US);
		return;
	}
	if (st->rounds < SOUNDING_ASK_ROUNDS)
		return;
	sounding_path_handle_longer(&st->path, now, found);
	st->phase = PHASE_PROBING;
	st->step = sounding_queue_target_first_step(&st->queue_target);
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
	sounding_window_hold(&st->window, arrives, sounding_path_least(&st->path), mss);
	sounding_enter_probing(st, now);
}

/* Whether a queue is seen to grow where the radio is not known to have one. */
LAW_INLINE int sounding_handle_rise(struct sounding_state *st, const struct law_input *in,
				    __u64 acked)
{
	struct sounding_queue_growth *growth = &st->queue_growth;

	if (st->phase == PHASE_PROBING || st->phase == PHASE_HOLD)
		return sounding_queue_growth_handle_ack(growth, in->now_ns,
							law_min(in->rtt_us, LAW_MAX_RTT_US),
							acked);
	if (st->phase == PHASE_QUEUE_TEST)
		sounding_queue_growth_count(growth, acked);
	else
		sounding_queue_growth_reset(growth, in->now_ns);
	return 0;
}

LAW_PART int sounding_handle_round(struct sounding_state *st, const struct law_input *in,
				   const struct sounding_seen *seen, __u32 mss,
				   struct law_output *out)
{
	struct sounding_window *w;
	__u64 acked;
	int queues, stops, used;

	if (!st || !in || !seen || !out)
		return 0;
	w = &st->window;
	mss = law_mss(mss);
	acked = sounding_acked(in, mss);
	queues = seen->known && seen->queue_us >= SOUNDING_QUEUE_US;
	stops = queues || in->flags & (LAW_RECOVERY | LAW_MARKED);
	used = (__u64)in->inflight * mss >= w->cwnd / 2;
	if (sounding_handle_rise(st, in, acked) && used && sounding_is_narrower(st, in->now_ns)) {
		st->carried = sounding_queue_growth_rate(&st->queue_growth, in->now_ns);
		sounding_path_begin_round(&st->path, in->delivered);
		sounding_begin_queue_test(st, st->queue_growth.last_us, mss);
		return 0;
	}
	if (st->phase == PHASE_PROBING) {
		if (stops) {
			sounding_window_without_queue(w, &st->path, seen, mss);
			sounding_enter_hold(st, 0);
			st->carried = 0;
		} else if (used) {
			sounding_window_set(w, w->cwnd + acked * st->step / SOUNDING_MAX_STEP, mss);
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
			st->step = sounding_queue_target_first_step(&st->queue_target);
		} else if (used && st->rounds + 1 >= SOUNDING_SUSPECT_ROUNDS) {
			sounding_queue_growth_reset(&st->queue_growth, in->now_ns);
			sounding_begin_queue_test(st, st->path.last_us, mss);
		} else {
			sounding_window_without_queue(w, &st->path, seen, mss);
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

/* The estimate does not help if much less arrives and the rest is lost. */
LAW_INLINE void sounding_handle_losses(struct sounding_state *st)
{
	if (st->phase == PHASE_RADIO_LIMITED &&
	    st->round_lost * SOUNDING_LOSSY > st->round_lost + st->round_acked &&
	    sounding_is_starved(st, st->capacity.share) &&
	    !sounding_window_is_crowded(&st->window, &st->path))
		st->phase = PHASE_ESTIMATE_TOO_HIGH;
}

LAW_INLINE void sounding_handle_ack(struct sounding_state *st, const struct law_input *in,
				    __u32 mss, struct law_output *out)
{
	__u64 acked = sounding_acked(in, mss), rate = law_min(in->rate, LAW_MAX_RATE);
	__u64 share = st->capacity.share;
	struct sounding_window *w = &st->window;
	struct sounding_path_rtt *path = &st->path;
	struct sounding_seen seen = {};
	int makes;

	sounding_path_handle_ack(path, in, &seen);
	sounding_window_handle_ack(w, acked);
	if (rate)
		st->status.delivery_bytes_per_sec = rate;
	sounding_delivery_cap_handle_ack(&st->delivery_cap, seen.over, rate,
					 in->flags & LAW_LIMITED);
	st->round_acked += acked;
	st->round_lost += law_min((__u64)in->lost * mss, SOUNDING_MAX_CWND);
	if (seen.over && st->capacity.at_ns) {
		sounding_window_handle_rivals(w, in->now_ns, share, rate, path, mss);
		makes = law_payload(share, mss) * path->last_us / 1000000 <= w->cwnd;
		/* A flow that keeps a link full never sees it empty, nor does one with a rival. */
		if ((st->phase == PHASE_RADIO_LIMITED && makes) || w->rival == SOUNDING_KNOWN)
			sounding_path_keep_least(path, in->now_ns);
		sounding_handle_losses(st);
	}
	if (seen.over) {
		st->round_acked = 0;
		st->round_lost = 0;
	}
	sounding_handle_round(st, in, &seen, mss, out);
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
	st->queue_target.span_us = SOUNDING_FIRST_TARGET_US;
	st->window.part = SHARE_WHOLE;
	st->window.cwnd = LAW_RESTART_CWND * law_mss(mss);
	st->path.round_ends_at = delivered;
	sounding_queue_growth_reset(&st->queue_growth, now);
	if (rtt_us)
		sounding_path_handle_longer(&st->path, now, law_min(rtt_us, LAW_MAX_RTT_US));
}

/* One ACK, or a restart from idle (without LAW_ACK). */
LAW_INLINE void sounding_step(const volatile struct law_config *k, struct sounding_state *st,
			   const struct law_input *in, struct law_output *out)
{
	__u32 mss = law_mss(in->mss), verdict = law_verdict(k, in), cwnd, least;
	struct sounding_window *w = &st->window;
	__u64 pacing;

	if (in->flags & LAW_UNDO)
		w->ramp = 0;
	else if (in->flags & LAW_RTO)
		w->ramp = LAW_RESTART_CWND * mss;
	sounding_handle_feed(st, in, sounding_feed_update(k, in, verdict), mss);
	if (in->flags & LAW_ACK)
		sounding_handle_ack(st, in, mss, out);
	sounding_publish(st, in, verdict, out);
	least = sounding_path_least(&st->path);
	if (phase_controls(st->phase) && least) {
		cwnd = w->ramp ? law_min(w->ramp, w->cwnd) : w->cwnd;
		pacing = (__u64)w->cwnd * SOUNDING_PACING_PERMILLE / 1000 * 1000000 /
			 law_max(least, SOUNDING_MIN_RTT_US);
		st->status.cwnd = law_max(cwnd / mss, LAW_FLOOR_CWND);
		st->status.pacing_bytes_per_sec = law_max(pacing, LAW_MIN_PACING);
		/* BBR, which never sees an empty path under our window, would keep a shorter one's.
		 * */
		out->longer_us = least;
	} else {
		st->status.cwnd = law_max(in->shadow_cwnd, LAW_FLOOR_CWND);
		st->status.pacing_bytes_per_sec = in->shadow_pacing;
	}
}

#endif /* SOUNDING_SOUNDING_H */
