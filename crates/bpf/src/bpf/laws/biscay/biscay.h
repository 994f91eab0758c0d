/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * BISCAY's control law as pure functions of integers: no kernel header, no
 * clock, no memory but the caller's. crates/laws/src/biscay.rs is the same
 * arithmetic in Rust; a property test runs both over the same sequences.
 * States and transitions: intf.h.
 */
#ifndef SOUNDING_BISCAY_H
#define SOUNDING_BISCAY_H

#include "common/input.h"

#define BISCAY_MAX_GAIN	4000U
/*
 * Rounds of a lowered window until the verdict: one to drain into it, one to
 * see what came of it.
 */
#define BISCAY_QUEUE_TEST_ROUNDS	2U
/* How long a path counts as longer than the kernel's minimum: as long as BBR keeps its own. */
#define BISCAY_LONGER_NS	10000000000ULL

/* The memory of BISCAY's law of one flow. */
struct biscay_state {
	struct flow_status status;
	__u64 narrow_since_ns;		/* 0: the last round was not narrow */
	__u64 round_share;		/* smallest share in this round */
	__u64 prior_share;		/* smallest share in the round before */
	__u64 longer_until_ns;		/* how long longer_us holds */
	__u32 ramp;			/* cap while restarting after an RTO, or 0 */
	__u32 next_delivered;		/* ends this round */
	__u32 round_rtt_us;		/* smallest in this round; 0: none */
	__u32 round_inflight;		/* largest in this round, segments */
	__u32 round_acked;
	__u32 round_lost;
	__u32 round_limited;		/* the application was the limit */
	__u32 narrow_rounds;
	__u32 wide_rounds;
	__u32 queue_test;			/* rounds of a lowered window, from 1; or 0 */
	__u32 tested_rtt_us;		/* what its RTT is compared with */
	__u32 longer_us;		/* RTT of a path that got longer, or 0 */
	__u32 least_us;			/* RTT without queue; 0: unknown */
	__u32 reserved;
};

LAW_INLINE void biscay_init(struct biscay_state *st, __u64 now_ns, __u32 delivered)
{
	__builtin_memset(st, 0, sizeof(*st));
	st->status.since_ns = now_ns;
	st->status.phase = PHASE_NO_ESTIMATE;
	st->status.reason = REASON_CONNECTED;
	st->next_delivered = delivered;
	st->round_share = ~0ULL;
	st->prior_share = ~0ULL;
}

/*
 * What the share carries in @span_us, plus its part of three bursts of the whole link, in segments:
 * three bursts for each flow would lengthen the queue by every flow that shares the link. So many
 * quarters of that.
 */
LAW_PART __u64 biscay_segments(__u64 share, __u64 whole, __u64 span_us, __u32 mss, __u32 quarters)
{
	__u64 burst = law_burst(law_payload(whole, mss), mss, 65535);
	__u64 packet = mss + LAW_HEADERS;
	__u64 bytes = share * span_us / 1000000 + 3 * burst * packet * share / whole;

	return (bytes + packet - 1) / packet * quarters / 4;
}

/*
 * Our window: what goes into one RTT and the allowance, and its part of the least
 * window of a link. Three quarters of it while queue_test whether a queue or the
 * path makes the RTT.
 */
LAW_INLINE __u32 biscay_window(const volatile struct law_config *k, __u64 share,
			    __u64 whole, __u32 rtt_us, __u32 mss, int queue_test)
{
	__u64 span_us = law_min(rtt_us, LAW_MAX_RTT_US) +
			law_min(k->allowance_us, LAW_MAX_RTT_US);
	__u64 cap = law_max(law_min(k->max_cwnd, LAW_MAX_SEGS), LAW_FLOOR_CWND);
	__u64 least = law_min(k->min_cwnd, LAW_MAX_SEGS), segs;

	if (!share)
		return LAW_FLOOR_CWND;
	segs = biscay_segments(share, whole, span_us, mss, queue_test ? 3 : 4);
	least = law_max((least * share + whole - 1) / whole, LAW_FLOOR_CWND);
	return law_min(law_max(segs, least), cap);
}

/*
 * An upper bound of what the path delivered in the round that ended, payload
 * bytes/s: BBR's filter, and where the window was the limit, no more than the
 * round's largest flight in its smallest RTT (Little's law). The filter alone
 * remembers ten rounds, each as long as the queue we build meanwhile.
 */
LAW_INLINE __u64 biscay_delivery(const struct biscay_state *st, __u64 e2e,
			      __u32 mss)
{
	__u64 flight = law_min(st->round_inflight, LAW_MAX_SEGS);

	if (!st->round_rtt_us)
		return e2e;
	return law_min(e2e, flight * mss * 1000000 / st->round_rtt_us);
}

/* What a round says for a path narrower than the radio. */
#define EVIDENCE_NOTHING	0
#define EVIDENCE_QUEUE	1	/* the window was full and came back late */
#define EVIDENCE_LOSS	2	/* much of it never came back */

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
LAW_INLINE __u32 biscay_evidence(const volatile struct law_config *k,
			      const struct biscay_state *st, __u64 delivery,
			      __u32 mss)
{
	__u64 share = law_min(st->round_share, st->prior_share);
	int seen = law_max(st->round_share, st->prior_share) <= LAW_MAX_RATE;
	__u64 margin = 1000 + law_min(k->narrow_permille, BISCAY_MAX_GAIN);
	__u64 lost = st->round_lost, sent = lost + st->round_acked;
	int full = (__u64)st->round_inflight * 10 >= (__u64)st->status.cwnd * 9;
	int lossy = lost * 1000 > sent * law_min(k->narrow_loss_permille, 1000);

	if (st->round_limited || !seen || !st->round_rtt_us)
		return EVIDENCE_NOTHING;
	if (law_payload(share, mss) * 1000 <= delivery * margin)
		return EVIDENCE_NOTHING;
	if (lossy)
		return EVIDENCE_LOSS;
	return full ? EVIDENCE_QUEUE : EVIDENCE_NOTHING;
}

LAW_INLINE void biscay_clear_suspicion(struct biscay_state *st)
{
	st->narrow_rounds = 0;
	st->narrow_since_ns = 0;
	st->queue_test = 0;
	st->tested_rtt_us = 0;
}

LAW_INLINE void biscay_enter(struct biscay_state *st, __u64 now, __u32 state,
			  __u32 reason)
{
	st->status.phase = state;
	st->status.reason = reason;
	st->status.since_ns = now;
	biscay_clear_suspicion(st);
	st->wide_rounds = 0;
	st->ramp = 0;
	st->status.transitions++;
}

LAW_INLINE void biscay_round_begin(struct biscay_state *st, __u32 delivered)
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
 * Compares the round that ended with those before it.
 *
 * If a window is full and comes back late, either a queue holds it up or the path has become
 * longer, as after a handover. The kernel's minimum remembers the shorter path for minutes, and a
 * BBR that uses it starves itself. To distinguish the two, continue with three quarters of the
 * window: that shortens a queue, but not a path.
 */
LAW_INLINE void biscay_suspect(const volatile struct law_config *k,
			    struct biscay_state *st, __u64 now, __u64 delivery,
			    __u32 mss)
{
	__u32 evidence = biscay_evidence(k, st, delivery, mss);
	__u32 rtt_us = st->round_rtt_us;

	if (st->queue_test) {
		if (st->round_limited || !rtt_us) {
			biscay_clear_suspicion(st);
		} else if (st->queue_test < BISCAY_QUEUE_TEST_ROUNDS) {
			st->queue_test++;
		} else if ((__u64)rtt_us * 10 <= (__u64)st->tested_rtt_us * 9) {
			biscay_enter(st, now, PHASE_BOTTLENECK_ELSEWHERE, REASON_NARROW);
		} else {
			st->longer_us = law_min(rtt_us, st->tested_rtt_us);
			st->longer_until_ns = law_add(now, BISCAY_LONGER_NS);
			biscay_clear_suspicion(st);
		}
		return;
	}
	if (evidence == EVIDENCE_NOTHING) {
		biscay_clear_suspicion(st);
		return;
	}
	if (!st->narrow_rounds++)
		st->narrow_since_ns = now;
	if (st->narrow_rounds < k->narrow_rounds ||
	    law_since(now, st->narrow_since_ns) < k->narrow_for_ns)
		return;
	if (evidence == EVIDENCE_LOSS) {
		biscay_enter(st, now, PHASE_BOTTLENECK_ELSEWHERE, REASON_NARROW);
		return;
	}
	st->queue_test = 1;
	st->tested_rtt_us = rtt_us;
}

/* Judges the round that ended: where is the bottleneck? */
LAW_INLINE void biscay_judge(const volatile struct law_config *k,
			  struct biscay_state *st, const struct law_input *in,
			  __u64 payload, __u32 mss)
{
	__u64 now = in->now_ns;
	__u64 wide = 1000 - law_min(k->wide_permille, 1000);
	__u64 delivery = biscay_delivery(st, law_min(in->e2e, LAW_MAX_RATE), mss);

	st->status.delivery_bytes_per_sec = delivery;
	if (st->status.phase == PHASE_RADIO_LIMITED) {
		biscay_suspect(k, st, now, delivery, mss);
		return;
	}
	if (st->status.phase != PHASE_BOTTLENECK_ELSEWHERE)
		return;
	if (delivery * 1000 >= payload * wide)
		st->wide_rounds++;
	else if (!st->round_limited)
		st->wide_rounds = 0;
	if (st->wide_rounds >= k->wide_rounds)
		biscay_enter(st, now, PHASE_RADIO_LIMITED, REASON_WIDE);
}

/*
 * The least RTT (interpretation 5). The kernel's minimum looks back five minutes,
 * and a flow that keeps a link full never sees it empty: an RTT that its window
 * alone makes is no path that got longer, however long it stands.
 */
LAW_INLINE void biscay_update_rtt(struct biscay_state *st, const struct law_input *in,
				 __u32 mss)
{
	__u64 payload = law_payload(st->status.share_bytes_per_sec, mss);
	__u64 fits = payload * law_min(in->rtt_min_us, LAW_MAX_RTT_US) / 1000000;
	int makes = st->status.phase == PHASE_RADIO_LIMITED && fits <= (__u64)st->status.cwnd * mss;

	if (!st->least_us || in->rtt_min_us <= st->least_us || !makes)
		st->least_us = in->rtt_min_us;
}

/* One ACK, or a restart from idle (without LAW_ACK). */
LAW_INLINE void biscay_step(const volatile struct law_config *k,
			 struct biscay_state *st, const struct law_input *in,
			 struct law_output *out)
{
	__u32 mss = law_mss(in->mss);
	__u64 others = in->feed.valid ? in->feed.other_flows : 0;
	__u64 flows = law_max(in->n_flows + others, 1);
	__u32 verdict = law_verdict(k, in);
	int usable = verdict == REASON_FRESH && in->rtt_min_us;
	__u32 was = st->status.transitions;
	__u64 share = 0, payload = 0;

	biscay_update_rtt(st, in, mss);
	st->status.n_flows = law_min(flows, ~0U);
	if (usable) {
		share = in->feed.rate_bytes_per_sec / flows;
		payload = law_payload(share, mss);
		st->status.share_bytes_per_sec = share;
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
				biscay_judge(k, st, in, payload, mss);
			biscay_round_begin(st, in->delivered);
		}
	}

	switch (st->status.phase) {
	case PHASE_NO_ESTIMATE:
		/* The first estimate of a flow has to agree with the one before it. */
		if (usable && (st->status.reason != REASON_CONNECTED ||
			       in->feed.agreeing >= k->settled_after))
			biscay_enter(st, in->now_ns, PHASE_RADIO_LIMITED, REASON_FRESH);
		break;
	case PHASE_RADIO_LIMITED:
		if (verdict != REASON_FRESH)
			biscay_enter(st, in->now_ns, PHASE_NO_ESTIMATE, verdict);
		break;
	default:
		/* A narrow path stays narrow while the feed is away. */
		break;
	}
	out->changed = st->status.transitions != was;
	/*
	 * BBR's filter still remembers the rounds in which the path was wide, and
	 * would build a longer queue than the one we leave for.
	 */
	out->cuts = out->changed && st->status.phase == PHASE_BOTTLENECK_ELSEWHERE;
	out->cut = st->status.delivery_bytes_per_sec;

	if (in->now_ns >= st->longer_until_ns)
		st->longer_us = 0;
	out->longer_us = st->longer_us > in->rtt_min_us ? st->longer_us : 0;

	if (st->status.phase != PHASE_RADIO_LIMITED || !usable) {
		st->ramp = 0;
		st->status.cwnd = law_max(in->shadow_cwnd, LAW_FLOOR_CWND);
		st->status.pacing_bytes_per_sec = in->shadow_pacing;
	} else {
		__u64 gain = law_min(k->pacing_gain_permille, BISCAY_MAX_GAIN);
		__u32 rtt_us = law_max(st->least_us, st->longer_us);
		__u64 link = in->link ? in->link : in->feed.rate_bytes_per_sec;
		__u64 whole = law_max(law_min(link, LAW_MAX_RATE), share);
		__u64 cwnd = biscay_window(k, share, whole, rtt_us, mss, st->queue_test);
		__u64 pacing = law_max(payload * gain / 1000, LAW_MIN_PACING);

		/* Loss is no signal here; a timeout restarts, and soon is back. */
		if (in->flags & LAW_UNDO)
			st->ramp = 0;
		else if (in->flags & LAW_RTO)
			st->ramp = LAW_RESTART_CWND;
		else if (st->ramp)
			st->ramp = law_min((__u64)st->ramp + in->acked, LAW_MAX_SEGS);
		/* A floor is probed above, by BBR (interpretation 4). */
		if (in->feed.bound == BOUND_FLOOR) {
			cwnd = law_max(cwnd, in->shadow_cwnd);
			pacing = law_max(pacing, in->shadow_pacing);
		}
		if (st->ramp && st->ramp < cwnd)
			cwnd = st->ramp;
		else
			st->ramp = 0;
		st->status.cwnd = cwnd;
		st->status.pacing_bytes_per_sec = pacing;
	}
}

#endif /* SOUNDING_BISCAY_H */
