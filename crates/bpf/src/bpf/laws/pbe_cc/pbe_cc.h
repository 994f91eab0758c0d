/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The law of PBE-CC as pure functions of integers: no kernel header, no clock, no memory but the
 * caller's. crates/laws/src/pbe_cc is the same arithmetic in Rust, function by function, and says
 * why; a property test runs both over the same sequences. Bytes, microseconds and bytes a second.
 */
#ifndef SOUNDING_PBE_CC_H
#define SOUNDING_PBE_CC_H

#include "laws/pbe_cc/pbe_cc_path.h"

/* state.rs draws the machine of enum flow_phase. What the publisher reports: */
enum pbe_cc_update {
	PBE_CC_CARRIES,
	PBE_CC_HANDOVER,
	PBE_CC_NOTHING,
};

/* law.rs, and the defaults of config.rs */
#define PBE_CC_DRAIN		50U
#define PBE_CC_REACHED		95U
#define PBE_CC_FIRST_GROWTH	200U
#define PBE_CC_GROWTH		125U
#define PBE_CC_PROBE		125U
#define PBE_CC_GROWS		105U
#define PBE_CC_FOUND_LASTS_NS	1000000000ULL
#define PBE_CC_ABOVE_FLOOR	2U
#define PBE_CC_RAMP_RTTS	3U
#define PBE_CC_SLACK_US		40000U
/* RTprop before anything was measured, and the least that a rate is made with. */
#define PBE_CC_SOME_RTT_US	100000U
#define PBE_CC_LEAST_RTT_US	1000U

/* Places in State::ALL of crates/estimate/src/lib.rs. */
#define PBE_CC_STATE_IDLE	1U
#define PBE_CC_STATE_HANDOVER	2U

LAW_INLINE __u64 pbe_cc_rtt_min(const struct pbe_cc_state *st)
{
	return windowed_known(&st->rtt_us) ? st->rtt_us.best[0] : PBE_CC_SOME_RTT_US;
}

LAW_INLINE void pbe_cc_handle_rtt(struct pbe_cc_state *st, __u64 now, __u32 rtt_us)
{
	if (rtt_us)
		windowed_update(&st->rtt_us, PBE_CC_LASTS_NS, now,
				law_min(rtt_us, LAW_MAX_RTT_US));
}

/* So many bytes in each RTprop. */
LAW_INLINE __u64 pbe_cc_a_round_trip(const struct pbe_cc_state *st, __u64 bytes)
{
	return bytes * 1000000 / law_max(pbe_cc_rtt_min(st), PBE_CC_LEAST_RTT_US);
}

/* The initial window a round trip (interpretation 6). */
LAW_INLINE __u64 pbe_cc_first_rate(const struct pbe_cc_state *st, __u32 mss)
{
	return pbe_cc_a_round_trip(st, (__u64)LAW_RESTART_CWND * mss);
}

/* At less a flow would not learn that the path is back. */
LAW_INLINE __u64 pbe_cc_slowest(const struct pbe_cc_state *st, __u32 min_cwnd, __u32 mss)
{
	return pbe_cc_a_round_trip(st, law_min(min_cwnd, LAW_MAX_SEGS) * mss);
}

/* N_pkt (Eq. 6), as payload. A claim that is too high would make it longer than it is to take. */
LAW_INLINE __u64 pbe_cc_enough(const struct pbe_cc_state *st, __u32 mss)
{
	__u64 rate = st->known & PBE_CC_SHARE ? st->rate : st->target;
	__u64 arrives = pbe_cc_arrives(st);

	if (arrives)
		rate = law_min(rate, arrives);
	return law_max(pbe_cc_over(rate, PBE_CC_LATE_FOR_US), mss);
}

/* No more than a quarter above what arrives while packets are late (interpretation 25). */
LAW_INLINE __u64 pbe_cc_sends(const struct pbe_cc_state *st, __u32 mss)
{
	__u64 arrives = pbe_cc_arrives(st);

	if (!arrives || !pbe_cc_late_is(st, pbe_cc_enough(st, mss)))
		return st->target;
	return law_min(st->target, law_max(pbe_cc_most_of(arrives), pbe_cc_first_rate(st, mss)));
}

/* What the flow ramps up to. */
LAW_INLINE __u64 pbe_cc_goal(const struct pbe_cc_state *st)
{
	return st->known & PBE_CC_FAIR ? st->fair : st->rate;
}

/* A rate that is only what was asked for grows by so many hundredths a round. */
LAW_INLINE void pbe_cc_follow_radio(struct pbe_cc_state *st, __u32 growth)
{
	if (st->known & PBE_CC_FAIR || st->bound == BOUND_CAPACITY) {
		st->phase = PHASE_RADIO_LIMITED;
		return;
	}
	st->phase = PHASE_PROBING;
	st->growth = growth;
}

LAW_INLINE void pbe_cc_ramp(struct pbe_cc_state *st, __u64 now, __u64 from)
{
	st->phase = PHASE_RAMP;
	st->at_ns = now;
	st->from = from;
	st->peak = 0;
	st->peaked_at_ns = now;
}

/* The law takes the flow over, which sends at about @from. */
LAW_INLINE void pbe_cc_begin(struct pbe_cc_state *st, __u64 now, __u64 from)
{
	st->target = from;
	pbe_cc_late_begin(st);
	if (st->known & PBE_CC_FAIR)
		pbe_cc_ramp(st, now, from);
	else
		pbe_cc_follow_radio(st, PBE_CC_FIRST_GROWTH);
}

/* Estimates come again: what was found of the path a moment ago still counts. */
LAW_INLINE void pbe_cc_go_on(struct pbe_cc_state *st, __u64 now)
{
	if (st->found && law_since(now, st->found_at_ns) <= PBE_CC_FOUND_LASTS_NS)
		st->phase = st->found;
	else
		pbe_cc_begin(st, now, st->last);
	st->found = 0;
}

LAW_INLINE void pbe_cc_handle_claim(struct pbe_cc_state *st, const struct law_input *in, __u32 mss)
{
	__u64 fair = law_min(in->feed.fair_bytes_per_sec, LAW_MAX_RATE);
	__u64 rate = in->feed.valid ? in->feed.rate_bytes_per_sec : 0;
	int added = st->known & PBE_CC_SHARE && in->feed.carriers > st->carriers && fair;

	rate = share_part(&in->pool, in->weight, in->hunger, law_min(rate, LAW_MAX_RATE));
	st->status.share_bytes_per_sec = rate;
	st->rate = law_payload(law_min(rate, LAW_MAX_RATE), mss);
	st->bound = in->feed.bound;
	st->known = PBE_CC_SHARE;
	st->carriers = 0;
	if (fair) {
		fair = share_part(&in->pool, in->weight, in->hunger, fair);
		st->fair = law_payload(law_min(fair, LAW_MAX_RATE), mss);
		st->carriers = in->feed.carriers;
		st->known |= PBE_CC_FAIR;
	}
	if (st->phase == PHASE_NO_ESTIMATE)
		pbe_cc_go_on(st, in->now_ns);
	else if (st->phase == PHASE_HANDOVER)
		pbe_cc_begin(st, in->now_ns, law_min(st->target, pbe_cc_goal(st)));
	else if (st->phase == PHASE_RADIO_LIMITED && added)
		pbe_cc_ramp(st, in->now_ns, st->target);
	else if (st->phase == PHASE_RADIO_LIMITED)
		pbe_cc_follow_radio(st, PBE_CC_GROWTH);
	else if (st->phase == PHASE_PROBING)
		pbe_cc_follow_radio(st, st->growth);
	else if (st->phase == PHASE_ESTIMATE_TOO_HIGH && st->rate <= pbe_cc_delivery_believed(st))
		st->phase = PHASE_RADIO_LIMITED;
}

/* C_p, and no less than C_f unless packets are late (interpretation 17). */
LAW_INLINE __u64 pbe_cc_steady(const struct pbe_cc_state *st, __u32 mss)
{
	if (st->known & PBE_CC_FAIR && !pbe_cc_late_is(st, pbe_cc_enough(st, mss)))
		return law_max(st->rate, st->fair);
	return st->rate;
}

/* Lets the rate follow time and what was reported. */
LAW_INLINE void pbe_cc_advance(struct pbe_cc_state *st, __u64 now, __u32 mss)
{
	__u64 goal, whole, passed;

	if (!(st->known & PBE_CC_SHARE))
		return;
	if (st->phase == PHASE_RAMP) {
		goal = pbe_cc_goal(st);
		whole = pbe_cc_rtt_min(st) * PBE_CC_RAMP_RTTS;
		passed = law_min(law_min(law_since(now, st->at_ns) / 1000, LAW_MAX_RTT_US), whole);
		if (passed >= whole || st->from >= goal) {
			st->phase = PHASE_RADIO_LIMITED;
			st->target = pbe_cc_steady(st, mss);
			return;
		}
		st->target = law_max(st->from + law_since(goal, st->from) * passed / law_max(whole, 1),
				     law_min(pbe_cc_first_rate(st, mss), goal));
	} else if (st->phase == PHASE_RADIO_LIMITED) {
		st->target = pbe_cc_steady(st, mss);
	} else if (st->phase == PHASE_PROBING) {
		st->target = law_max(law_max(st->target, st->rate), pbe_cc_first_rate(st, mss));
	} else if (st->phase == PHASE_DRAIN && now >= st->at_ns) {
		pbe_cc_late_begin(st);
		if (st->elsewhere)
			st->phase = PHASE_BOTTLENECK_ELSEWHERE;
		else
			pbe_cc_follow_radio(st, PBE_CC_GROWTH);
	}
}

/* A device that nothing is granted to is idle; a fair share says what it may have all the same. */
LAW_INLINE __u32 pbe_cc_feed_update(const volatile struct law_config *k,
				    const struct law_input *in, __u32 verdict)
{
	const struct sounding_estimate *e = &in->feed;

	if (verdict != REASON_FRESH &&
	    (verdict != REASON_ABSENT ||
	     law_since(in->now_ns, in->heartbeat_at_ns) > k->max_silence_ns))
		return PBE_CC_NOTHING;
	if (e->state == PBE_CC_STATE_HANDOVER)
		return PBE_CC_HANDOVER;
	if (verdict == REASON_FRESH)
		return PBE_CC_CARRIES;
	if (e->state != PBE_CC_STATE_IDLE || !e->fair_bytes_per_sec ||
	    law_since(e->sampled_at_ns, in->now_ns) > LAW_MAX_LEAD_NS ||
	    law_since(in->now_ns, e->sampled_at_ns) > k->max_age_ns)
		return PBE_CC_NOTHING;
	return PBE_CC_CARRIES;
}

/* The publisher wrote, or is found to be silent. */
LAW_PART int pbe_cc_handle_feed(struct pbe_cc_state *st, const struct law_input *in, __u32 update,
				__u32 mss)
{
	if (!st || !in)
		return 0;
	mss = law_mss(mss);
	if (update != PBE_CC_NOTHING && in->feed.epoch == st->epoch)
		return 0;
	st->epoch = in->feed.epoch;
	if (update == PBE_CC_CARRIES) {
		if (windowed_known(&st->rtt_us))
			pbe_cc_handle_claim(st, in, mss);
	} else if (update == PBE_CC_HANDOVER) {
		/* Knowledge of the last cell does not hold in the next. */
		pbe_cc_late_forget(st, in->now_ns);
		pbe_cc_delivery_forget(st);
		st->found = 0;
		if (phase_controls(st->phase))
			st->phase = PHASE_HANDOVER;
	} else {
		pbe_cc_delivery_forget(st);
		if (st->phase == PHASE_BOTTLENECK_ELSEWHERE ||
		    st->phase == PHASE_ESTIMATE_TOO_HIGH) {
			st->found = st->phase;
			st->found_at_ns = in->now_ns;
		}
		st->phase = PHASE_NO_ESTIMATE;
		st->known = 0;
	}
	pbe_cc_advance(st, in->now_ns, mss);
	return 0;
}

/* BBR's filter must not remember more than what the last round delivered. */
LAW_INLINE void pbe_cc_cut(const struct pbe_cc_state *st, struct law_output *out)
{
	out->cuts = st->last > 0;
	out->cut = st->last;
}

LAW_INLINE void pbe_cc_begin_drain(struct pbe_cc_state *st, __u64 now, int elsewhere,
				   struct law_output *out)
{
	st->early_at_ns = now;
	if (elsewhere)
		pbe_cc_cut(st, out);
	st->phase = PHASE_DRAIN;
	st->at_ns = now + pbe_cc_rtt_min(st) * 1000;
	st->elsewhere = elsewhere;
}

LAW_INLINE void pbe_cc_grow(struct pbe_cc_state *st)
{
	__u64 most = law_max(st->rate * PBE_CC_ABOVE_FLOOR, st->target);

	st->target = law_min(st->target * st->growth / 100, most);
	if (st->growth == 100)
		st->growth = PBE_CC_GROWTH;
}

/* More is sent than arrives, and no more has arrived for one RTprop (interpretation 25). */
LAW_INLINE int pbe_cc_is_flat(const struct pbe_cc_state *st, const struct law_input *in)
{
	return st->target > pbe_cc_most_of(pbe_cc_arrives(st)) && !(in->flags & LAW_LIMITED) &&
	       law_since(in->now_ns, st->peaked_at_ns) >= pbe_cc_rtt_min(st) * 1000;
}

LAW_INLINE void pbe_cc_judge(struct pbe_cc_state *st, const struct law_input *in, int over,
			     __u32 mss, struct law_output *out)
{
	__u64 enough = pbe_cc_enough(st, mss);
	int late = pbe_cc_late_is(st, enough), free = over && !(in->flags & LAW_LIMITED);

	if (!(st->known & PBE_CC_SHARE))
		return;
	if (late && pbe_cc_delivery_narrow(st, st->rate) &&
	    (st->phase == PHASE_RAMP || st->phase == PHASE_RADIO_LIMITED ||
	     st->phase == PHASE_PROBING)) {
		pbe_cc_begin_drain(st, in->now_ns, 1, out);
	} else if (st->phase == PHASE_RAMP) {
		if (late && pbe_cc_is_flat(st, in))
			pbe_cc_begin_drain(st, in->now_ns, 1, out);
	} else if (st->phase == PHASE_RADIO_LIMITED) {
		if (st->excess >= PBE_CC_EXCESS_ROUNDS) {
			st->phase = PHASE_ESTIMATE_TOO_HIGH;
			pbe_cc_cut(st, out);
		} else if (pbe_cc_late_is_due(st, in->now_ns)) {
			pbe_cc_begin_drain(st, in->now_ns, 0, out);
		}
	} else if (st->phase == PHASE_PROBING) {
		if (late)
			st->growth = 100;
		else if (free)
			pbe_cc_grow(st);
	} else if (st->phase == PHASE_BOTTLENECK_ELSEWHERE && st->on_time >= enough && free &&
		   st->last * 100 >= pbe_cc_goal(st) * PBE_CC_REACHED) {
		st->target = st->last;
		st->phase = PHASE_RADIO_LIMITED;
	}
}

/* Folds an acknowledgement in. */
LAW_PART int pbe_cc_handle_ack(struct pbe_cc_state *st, const struct law_input *in, __u32 mss,
			       struct law_output *out)
{
	int over;

	if (!st || !in || !out)
		return 0;
	mss = law_mss(mss);
	pbe_cc_handle_rtt(st, in->now_ns, in->rtt_us);
	st->bandwidth = law_min(in->e2e, LAW_MAX_RATE);
	if (in->flags & LAW_DELAY)
		pbe_cc_late_ack(st, in->now_ns, in->delay_us, (__u64)in->acked * mss);
	else if (in->rtt_us) /* while losses are repaired (interpretation 18) */
		pbe_cc_late_count(st, in->now_ns, law_min(in->rtt_us, LAW_MAX_RTT_US) >
				  pbe_cc_rtt_min(st) + PBE_CC_LATE_BY_US,
				  (__u64)in->acked * mss);
	if (st->known & PBE_CC_SHARE)
		pbe_cc_delivery_claim(st, phase_controls(st->phase) ?
					  law_min(st->target, st->rate) : st->rate);
	over = pbe_cc_delivery_ack(st, in);
	if (law_min(in->rate, LAW_MAX_RATE) * 100 > st->peak * PBE_CC_GROWS) {
		st->peak = law_min(in->rate, LAW_MAX_RATE);
		st->peaked_at_ns = in->now_ns;
	}
	pbe_cc_judge(st, in, over, mss, out);
	pbe_cc_advance(st, in->now_ns, mss);
	return 0;
}

/* A timeout fired: what is in flight is lost, and the flow begins anew. */
LAW_INLINE void pbe_cc_handle_timeout(struct pbe_cc_state *st, __u64 now)
{
	if (!phase_controls(st->phase))
		return;
	st->target = 0;
	pbe_cc_ramp(st, now, 0);
}

/* The window while the law controls the flow, segments. */
LAW_INLINE __u32 pbe_cc_cwnd(const struct pbe_cc_state *st, __u32 min_cwnd, __u32 mss)
{
	__u64 rtt_us = pbe_cc_rtt_min(st), slack = law_max(rtt_us / 4, PBE_CC_SLACK_US);
	__u64 window = pbe_cc_over(pbe_cc_sends(st, mss), rtt_us + slack) + 2 * mss;
	__u32 least = st->phase == PHASE_RAMP || st->phase == PHASE_PROBING ? LAW_RESTART_CWND :
									      min_cwnd;

	return law_min(law_max(law_max(window / mss, least), LAW_FLOOR_CWND), LAW_MAX_SEGS);
}

/* The pace while the law controls the flow. */
LAW_INLINE __u64 pbe_cc_pacing(const struct pbe_cc_state *st, __u32 mss)
{
	if (st->phase == PHASE_DRAIN)
		return law_min(st->bandwidth, st->target) * PBE_CC_DRAIN / 100;
	return pbe_cc_sends(st, mss);
}

/* The most that BBR may send meanwhile (Eq. 7, and the guard against misreports). */
LAW_INLINE __u64 pbe_cc_limit(const struct pbe_cc_state *st)
{
	if (st->phase == PHASE_BOTTLENECK_ELSEWHERE)
		return law_min(law_max(pbe_cc_goal(st), st->bandwidth),
			       st->bandwidth * PBE_CC_PROBE / 100);
	if (st->phase == PHASE_ESTIMATE_TOO_HIGH)
		return pbe_cc_delivery_believed(st);
	return ~0ULL;
}

/* The device's every report may move a flow between these two: published as one. */
LAW_INLINE __u32 pbe_cc_published_phase(__u32 phase)
{
	return phase == PHASE_PROBING ? PHASE_RADIO_LIMITED : phase;
}

/* Publishes the phase, and why the flow is in it. */
LAW_INLINE void pbe_cc_publish(struct pbe_cc_state *st, const struct law_input *in,
			       __u32 verdict, struct law_output *out)
{
	__u32 was = st->status.phase, phase = st->phase;
	int drains = was == PHASE_DRAIN && st->elsewhere;

	st->status.delivery_bytes_per_sec = st->last;
	if (phase == was)
		return;
	if (phase == PHASE_BOTTLENECK_ELSEWHERE || phase == PHASE_ESTIMATE_TOO_HIGH ||
	    (phase == PHASE_DRAIN && st->elsewhere))
		st->status.reason = REASON_NARROW;
	else if (phase == PHASE_NO_ESTIMATE)
		st->status.reason = verdict;
	else if (was == PHASE_BOTTLENECK_ELSEWHERE || was == PHASE_ESTIMATE_TOO_HIGH || drains)
		st->status.reason = REASON_WIDE;
	else if (was == PHASE_NO_ESTIMATE)
		st->status.reason = REASON_FRESH;
	st->status.phase = phase;
	st->status.since_ns = in->now_ns;
	out->changed = pbe_cc_published_phase(phase) != pbe_cc_published_phase(was);
	if (out->changed)
		st->status.transitions++;
}

LAW_INLINE void pbe_cc_init(struct pbe_cc_state *st, __u64 now, __u32 rtt_us, __u32 delivered)
{
	__builtin_memset(st, 0, sizeof(*st));
	st->status.since_ns = now;
	st->status.phase = PHASE_NO_ESTIMATE;
	st->status.reason = REASON_CONNECTED;
	st->early_at_ns = now;
	st->round_ends_at = delivered;
	pbe_cc_delivery_forget(st);
	pbe_cc_handle_rtt(st, now, rtt_us);
}

/* One ACK, or a restart from idle (without LAW_ACK). */
LAW_INLINE void pbe_cc_step(const volatile struct law_config *k, struct pbe_cc_state *st,
			    const struct law_input *in, struct law_output *out)
{
	__u32 mss = law_mss(in->mss), verdict = law_verdict(k, in), min_cwnd = k->min_cwnd;
	__u64 slowest, limit;

	/* The law drains a queue of the Internet itself, and knows the RTT. */
	out->keeps_rtt = 1;
	if (in->flags & LAW_RTO)
		pbe_cc_handle_timeout(st, in->now_ns);
	pbe_cc_handle_feed(st, in, pbe_cc_feed_update(k, in, verdict), mss);
	if (in->flags & LAW_ACK)
		pbe_cc_handle_ack(st, in, mss, out);
	else
		pbe_cc_advance(st, in->now_ns, mss);
	pbe_cc_publish(st, in, verdict, out);
	slowest = pbe_cc_slowest(st, min_cwnd, mss);
	if (phase_controls(st->phase)) {
		st->status.cwnd = pbe_cc_cwnd(st, min_cwnd, mss);
		st->status.pacing_bytes_per_sec = law_max(pbe_cc_pacing(st, mss), slowest);
	} else {
		limit = law_max(pbe_cc_limit(st), slowest);
		st->status.cwnd = law_max(in->shadow_cwnd, LAW_FLOOR_CWND);
		st->status.pacing_bytes_per_sec = law_min(in->shadow_pacing, limit);
	}
}

#endif /* SOUNDING_PBE_CC_H */
