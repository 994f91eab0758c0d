/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * BISCAY's control law as pure functions of integers: no kernel header, no
 * clock, no memory but the caller's. ../../../cc/src/biscay.rs is the same
 * arithmetic in Rust; a property test runs both over the same sequences.
 * States and transitions: intf.h. The other law: probe.h.
 */
#ifndef SOUNDING_LAW_H
#define SOUNDING_LAW_H

#include "input.h"

#define LAW_MAX_GAIN	4000U
/*
 * Rounds of a lowered window until the verdict: one to drain into it, one to
 * see what came of it.
 */
#define LAW_ASK_ROUNDS	2U
/*
 * How long a path is believed to be longer than the kernel's minimum
 * remembers: as long as BBR believes its own.
 */
#define LAW_LONGER_NS	10000000000ULL
LAW_INLINE void law_init(struct sounding_law *st, __u64 now_ns, __u32 delivered)
{
	__builtin_memset(st, 0, sizeof(*st));
	st->said.since_ns = now_ns;
	st->said.state = SOUNDING_STARTUP;
	st->said.reason = SOUNDING_CONNECTED;
	st->next_delivered = delivered;
	st->round_share = ~0ULL;
	st->prior_share = ~0ULL;
}

/*
 * What the share carries in @span_us, and its part of three bursts of the whole
 * link, in segments: three bursts for each flow would make the queue longer by
 * every flow that shares the link. So many quarters of that.
 */
LAW_PART __u64 law_segments(__u64 share, __u64 whole, __u64 span_us, __u32 mss, __u32 quarters)
{
	__u64 burst = law_burst(law_payload(whole, mss), mss, 65535);
	__u64 packet = mss + LAW_HEADERS;
	__u64 bytes = share * span_us / 1000000 + 3 * burst * packet * share / whole;

	return (bytes + packet - 1) / packet * quarters / 4;
}

/*
 * Our window: what goes into one RTT and the allowance, and its part of the least
 * window of a link. Three quarters of it while asking whether a queue or the
 * path makes the RTT.
 */
LAW_INLINE __u32 law_window(const volatile struct sounding_knobs *k, __u64 share,
			    __u64 whole, __u32 rtt_us, __u32 mss, int asking)
{
	__u64 span_us = law_min(rtt_us, LAW_MAX_RTT_US) +
			law_min(k->allowance_us, LAW_MAX_RTT_US);
	__u64 cap = law_max(law_min(k->max_cwnd, LAW_MAX_SEGS), LAW_FLOOR_CWND);
	__u64 least = law_min(k->min_cwnd, LAW_MAX_SEGS), segs;

	if (!share)
		return LAW_FLOOR_CWND;
	segs = law_segments(share, whole, span_us, mss, asking ? 3 : 4);
	least = law_max((least * share + whole - 1) / whole, LAW_FLOOR_CWND);
	return law_min(law_max(segs, least), cap);
}

/*
 * An upper bound of what the path delivered in the round that ended, payload
 * bytes/s: BBR's filter, and where the window was the limit, no more than the
 * round's largest flight in its smallest RTT (Little's law). The filter alone
 * remembers ten rounds, each as long as the queue we build meanwhile.
 */
LAW_INLINE __u64 law_delivery(const struct sounding_law *st, __u64 e2e,
			      __u32 mss)
{
	__u64 flight = law_min(st->round_inflight, LAW_MAX_SEGS);

	if (!st->round_rtt_us)
		return e2e;
	return law_min(e2e, flight * mss * 1000000 / st->round_rtt_us);
}

/* What a round says for a path narrower than the radio. */
#define LAW_NOTHING	0
#define LAW_QUEUE	1	/* the window was full and came back late */
#define LAW_LOSS	2	/* much of it never came back */

/*
 * What the round that ended says for a path narrower than the radio.
 *
 * The paper compares `cellular_bw > end_to_end_bw` (A.5, line 26). Taken
 * literally it is always true: our own window caps what is delivered, and a
 * share that has just grown is above anything delivered yet. So a round counts
 * only if it says more than that:
 *  - the application was never the limit;
 *  - the flight filled the window, and even the smallest RTT of the round was
 *    so long that flight / RTT stays below the share. A window of
 *    share x (RTTmin + allowance) takes that long only behind a queue, or on a
 *    path longer than RTTmin. Where the end-to-end rate is merely old or
 *    unasked for, the RTT stays short;
 *  - or, with a shallow buffer or a policer, which never queue, a tenth of the
 *    round was lost;
 *  - the share is the smallest of this round and of the one before, because
 *    what is acknowledged in one round was sent in the one before.
 */
LAW_INLINE __u32 law_evidence(const volatile struct sounding_knobs *k,
			      const struct sounding_law *st, __u64 delivery,
			      __u32 mss)
{
	__u64 share = law_min(st->round_share, st->prior_share);
	int seen = law_max(st->round_share, st->prior_share) <= LAW_MAX_RATE;
	__u64 margin = 1000 + law_min(k->narrow_permille, LAW_MAX_GAIN);
	__u64 lost = st->round_lost, sent = lost + st->round_acked;
	int full = (__u64)st->round_inflight * 10 >= (__u64)st->said.cwnd * 9;
	int lossy = lost * 1000 > sent * law_min(k->narrow_loss_permille, 1000);

	if (st->round_limited || !seen || !st->round_rtt_us)
		return LAW_NOTHING;
	if (law_payload(share, mss) * 1000 <= delivery * margin)
		return LAW_NOTHING;
	if (lossy)
		return LAW_LOSS;
	return full ? LAW_QUEUE : LAW_NOTHING;
}

LAW_INLINE void law_trust(struct sounding_law *st)
{
	st->narrow_rounds = 0;
	st->narrow_since_ns = 0;
	st->asking = 0;
	st->asked_rtt_us = 0;
}

LAW_INLINE void law_enter(struct sounding_law *st, __u64 now, __u32 state,
			  __u32 reason)
{
	st->said.state = state;
	st->said.reason = reason;
	st->said.since_ns = now;
	law_trust(st);
	st->wide_rounds = 0;
	st->ramp = 0;
	st->said.transitions++;
}

LAW_INLINE void law_round_begin(struct sounding_law *st, __u32 delivered)
{
	st->next_delivered = delivered;
	st->prior_share = st->round_share;
	st->round_share = ~0ULL;
	st->round_rtt_us = 0;
	st->round_inflight = 0;
	st->round_acked = 0;
	st->round_lost = 0;
	st->round_limited = 0;
}

/*
 * Weighs the round that ended against those before it.
 *
 * A window that fills and comes back late is held up by a queue, or by a path
 * that has got longer, as after a handover: the kernel's minimum remembers the
 * shorter one for minutes, and a BBR that goes by it starves itself. To tell
 * them apart, go on with three quarters of the window: a queue gets shorter by
 * it, a path does not.
 */
LAW_INLINE void law_suspect(const volatile struct sounding_knobs *k,
			    struct sounding_law *st, __u64 now, __u64 delivery,
			    __u32 mss)
{
	__u32 evidence = law_evidence(k, st, delivery, mss);
	__u32 rtt_us = st->round_rtt_us;

	if (st->asking) {
		if (st->round_limited || !rtt_us) {
			law_trust(st);
		} else if (st->asking < LAW_ASK_ROUNDS) {
			st->asking++;
		} else if ((__u64)rtt_us * 10 <= (__u64)st->asked_rtt_us * 9) {
			law_enter(st, now, SOUNDING_FALLBACK, SOUNDING_NARROW);
		} else {
			st->longer_us = law_min(rtt_us, st->asked_rtt_us);
			st->longer_until_ns = law_add(now, LAW_LONGER_NS);
			law_trust(st);
		}
		return;
	}
	if (evidence == LAW_NOTHING) {
		law_trust(st);
		return;
	}
	if (!st->narrow_rounds++)
		st->narrow_since_ns = now;
	if (st->narrow_rounds < k->narrow_rounds ||
	    law_since(now, st->narrow_since_ns) < k->narrow_for_ns)
		return;
	if (evidence == LAW_LOSS) {
		law_enter(st, now, SOUNDING_FALLBACK, SOUNDING_NARROW);
		return;
	}
	st->asking = 1;
	st->asked_rtt_us = rtt_us;
}

/* Judges the round that ended: where is the bottleneck? */
LAW_INLINE void law_judge(const volatile struct sounding_knobs *k,
			  struct sounding_law *st, const struct law_input *in,
			  __u64 payload, __u32 mss)
{
	__u64 now = in->now_ns;
	__u64 wide = 1000 - law_min(k->wide_permille, 1000);
	__u64 delivery = law_delivery(st, law_min(in->e2e, LAW_MAX_RATE), mss);

	st->said.delivery_bytes_per_sec = delivery;
	if (st->said.state == SOUNDING_BISCAY) {
		law_suspect(k, st, now, delivery, mss);
		return;
	}
	if (st->said.state != SOUNDING_FALLBACK || st->said.reason != SOUNDING_NARROW)
		return;
	if (delivery * 1000 >= payload * wide)
		st->wide_rounds++;
	else if (!st->round_limited)
		st->wide_rounds = 0;
	if (st->wide_rounds >= k->wide_rounds)
		law_enter(st, now, SOUNDING_BISCAY, SOUNDING_WIDE);
}

/*
 * The least RTT (interpretation 5). The kernel's minimum looks back five minutes,
 * and a flow that keeps a link full never sees it empty: an RTT that its window
 * alone makes is no path that got longer, however long it stands.
 */
LAW_INLINE void law_look_at_path(struct sounding_law *st, const struct law_input *in,
				 __u32 mss)
{
	__u64 payload = law_payload(st->said.share_bytes_per_sec, mss);
	__u64 fits = payload * law_min(in->rtt_min_us, LAW_MAX_RTT_US) / 1000000;
	int makes = st->said.state == SOUNDING_BISCAY && fits <= (__u64)st->said.cwnd * mss;

	if (!st->least_us || in->rtt_min_us <= st->least_us || !makes)
		st->least_us = in->rtt_min_us;
}

/* One ACK, or a restart from idle (without LAW_ACK). */
LAW_INLINE void law_step(const volatile struct sounding_knobs *k,
			 struct sounding_law *st, const struct law_input *in,
			 struct law_output *out)
{
	__u32 mss = law_mss(in->mss);
	__u64 others = in->feed.valid ? in->feed.other_flows : 0;
	__u64 flows = law_max(in->n_flows + others, 1);
	__u32 verdict = law_verdict(k, in);
	int usable = verdict == SOUNDING_FRESH && in->rtt_min_us;
	__u32 was = st->said.transitions;
	__u64 share = 0, payload = 0;

	law_look_at_path(st, in, mss);
	st->said.n_flows = law_min(flows, ~0U);
	if (usable) {
		share = in->feed.rate_bytes_per_sec / flows;
		payload = law_payload(share, mss);
		st->said.share_bytes_per_sec = share;
	}
	if (in->flags & LAW_ACK) {
		if (in->rtt_us &&
		    (!st->round_rtt_us || in->rtt_us < st->round_rtt_us))
			st->round_rtt_us = in->rtt_us;
		if (in->rtt_us && in->rtt_us < st->longer_us)
			st->longer_us = in->rtt_us;
		st->round_inflight = law_max(st->round_inflight, in->inflight);
		st->round_acked += in->acked;
		st->round_lost += in->lost;
		if (in->flags & LAW_LIMITED)
			st->round_limited = 1;
		if (usable)
			st->round_share = law_min(st->round_share, share);
		if (law_reached(in->prior_delivered, st->next_delivered)) {
			if (usable)
				law_judge(k, st, in, payload, mss);
			law_round_begin(st, in->delivered);
		}
	}

	switch (st->said.state) {
	case SOUNDING_STARTUP:
		if (usable && in->feed.agreeing >= k->settled_after)
			law_enter(st, in->now_ns, SOUNDING_BISCAY, SOUNDING_FRESH);
		break;
	case SOUNDING_BISCAY:
		if (verdict != SOUNDING_FRESH)
			law_enter(st, in->now_ns, SOUNDING_FALLBACK, verdict);
		break;
	default:
		/* A narrow path stays narrow while the feed is away. */
		if (usable && st->said.reason != SOUNDING_NARROW)
			law_enter(st, in->now_ns, SOUNDING_BISCAY, SOUNDING_FRESH);
		break;
	}
	out->changed = st->said.transitions != was;
	/*
	 * BBR's filter still remembers the rounds in which the path was wide, and
	 * would build a longer queue than the one we leave for.
	 */
	out->cuts = out->changed && st->said.state == SOUNDING_FALLBACK &&
		    st->said.reason == SOUNDING_NARROW;
	out->cut = st->said.delivery_bytes_per_sec;

	if (in->now_ns >= st->longer_until_ns)
		st->longer_us = 0;
	out->longer_us = st->longer_us > in->rtt_min_us ? st->longer_us : 0;

	if (st->said.state != SOUNDING_BISCAY || !usable) {
		st->ramp = 0;
		st->said.cwnd = law_max(in->shadow_cwnd, LAW_FLOOR_CWND);
		st->said.pacing_bytes_per_sec = in->shadow_pacing;
	} else {
		__u64 gain = law_min(k->pacing_gain_permille, LAW_MAX_GAIN);
		__u32 rtt_us = law_max(st->least_us, st->longer_us);
		__u64 link = in->link ? in->link : in->feed.rate_bytes_per_sec;
		__u64 whole = law_max(law_min(link, LAW_MAX_RATE), share);
		__u64 cwnd = law_window(k, share, whole, rtt_us, mss, st->asking);
		__u64 pacing = law_max(payload * gain / 1000, LAW_MIN_PACING);

		/* Loss is no signal here; a timeout restarts, and soon is back. */
		if (in->flags & LAW_UNDO)
			st->ramp = 0;
		else if (in->flags & LAW_RTO)
			st->ramp = LAW_RESTART_CWND;
		else if (st->ramp)
			st->ramp = law_min((__u64)st->ramp + in->acked, LAW_MAX_SEGS);
		/* A floor is probed above, by BBR (interpretation 4). */
		if (in->feed.bound == SOUNDING_SERVED) {
			cwnd = law_max(cwnd, in->shadow_cwnd);
			pacing = law_max(pacing, in->shadow_pacing);
		}
		if (st->ramp && st->ramp < cwnd)
			cwnd = st->ramp;
		else
			st->ramp = 0;
		st->said.cwnd = cwnd;
		st->said.pacing_bytes_per_sec = pacing;
	}
}

#endif /* SOUNDING_LAW_H */
