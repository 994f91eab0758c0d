/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * What ACKs show of a path, for pbe_cc.h: which packets are late, as delay.rs has it, and what
 * arrives beside what the device claims, as delivery.rs has it.
 */
#ifndef SOUNDING_PBE_CC_PATH_H
#define SOUNDING_PBE_CC_PATH_H

#include "common/input.h"
#include "common/windowed.h"

/* The memory of PBE-CC's law of one flow. Rates are payload, bytes a second. */
struct pbe_cc_state {
	struct flow_status status;
	struct windowed rtt_us;		/* RTprop */
	struct windowed way_us;		/* D_prop, from an origin of its own */
	__u64 early_at_ns;		/* when a packet came as early as that */
	__u64 late;			/* bytes in a row */
	__u64 late_since_ns;		/* when the first of them came */
	__u64 on_time;
	__u64 claim_sum;		/* of this round */
	__u64 least_claim;
	__u64 prior_mean;		/* of the one before; 0: there was none */
	__u64 prior_least;
	__u64 best;			/* at which this round arrived at most */
	__u64 last;			/* and the last whole one; 0: unknown */
	__u64 wanted;			/* claimed of it and sent; 0: it says nothing */
	__u64 peak;			/* the most that arrived in this ramp */
	__u64 peaked_at_ns;
	__u64 rate;			/* what the device last reported: C_t */
	__u64 fair;			/* and C_f */
	__u64 target;
	__u64 from;			/* where a ramp begins */
	__u64 at_ns;			/* since when a ramp, until when a drain */
	__u64 bandwidth;		/* BtlBw */
	__u64 epoch;			/* of the feed, when it was last heard */
	__u64 found_at_ns;		/* when estimates ceased to come */
	__u32 origin_us;		/* of the delays, which wrap */
	__u32 has_origin;
	__u32 claims;			/* in claim_sum */
	__u32 round_ends_at;		/* segments */
	__u32 limited;			/* the application held this round back */
	__u32 late_span_us;		/* from the first late byte in a row to the last */
	__u32 excess;			/* rounds in a row that brought too little */
	__u32 phase;			/* enum flow_phase */
	__u32 growth;			/* while probing, hundredths a round */
	__u32 elsewhere;		/* while draining: the queue is one of the Internet */
	__u32 known;			/* PBE_CC_… of what the device last reported */
	__u32 bound;			/* enum estimate_bound */
	__u32 carriers;
	__u32 found;			/* the phase then, if the path was found wanting; or 0 */
};

/* What is known of what the device reports. */
#define PBE_CC_SHARE	1
#define PBE_CC_FAIR	2

/* delay.rs, and the defaults of config.rs */
#define PBE_CC_LASTS_NS		10000000000ULL
#define PBE_CC_JITTER_US	3000U
#define PBE_CC_LATE_BY_US	27000U
#define PBE_CC_LATE_FOR_US	6000U
/* delivery.rs */
#define PBE_CC_NARROW		85U
#define PBE_CC_BELIEVED		125U
#define PBE_CC_EXCESS_ROUNDS	3U
#define PBE_CC_MOST_CLAIMS	(1U << 20)
/* Delays are counted from here: half of what 32 bits have either way. */
#define PBE_CC_ORIGIN_US	(1U << 31)

/* Bytes that are delivered in @us at a rate. */
LAW_INLINE __u64 pbe_cc_over(__u64 rate, __u64 us)
{
	return rate * us / 1000000;
}

/* Past arrivals say nothing about the next ones. */
LAW_INLINE void pbe_cc_late_begin(struct pbe_cc_state *st)
{
	st->late = 0;
	st->on_time = 0;
}

/* The way is another. */
LAW_INLINE void pbe_cc_late_forget(struct pbe_cc_state *st, __u64 now)
{
	windowed_forget(&st->way_us);
	st->early_at_ns = now;
	pbe_cc_late_begin(st);
}

/* @acked bytes were late, or on time. */
LAW_INLINE void pbe_cc_late_count(struct pbe_cc_state *st, __u64 now, int late, __u64 acked)
{
	if (late) {
		if (!st->late)
			st->late_since_ns = now;
		st->late_span_us = law_min(law_since(now, st->late_since_ns) / 1000,
					   PBE_CC_LATE_FOR_US);
		st->late += acked;
		st->on_time = 0;
	} else {
		st->late = 0;
		st->on_time += acked;
	}
}

/* @acked bytes were on the way for a delay that is known but for a constant. */
LAW_INLINE void pbe_cc_late_ack(struct pbe_cc_state *st, __u64 now, __u32 delay_us, __u64 acked)
{
	__u64 delay, least;

	if (!st->has_origin) {
		st->has_origin = 1;
		st->origin_us = delay_us - PBE_CC_ORIGIN_US;
	}
	delay = delay_us - st->origin_us;
	windowed_update(&st->way_us, PBE_CC_LASTS_NS, now, delay);
	least = st->way_us.best[0];
	if (delay <= least + PBE_CC_JITTER_US)
		st->early_at_ns = now;
	pbe_cc_late_count(st, now, delay > least + PBE_CC_LATE_BY_US, acked);
}

/* @enough bytes were late, and not all at once (interpretation 26). */
LAW_INLINE int pbe_cc_late_is(const struct pbe_cc_state *st, __u64 enough)
{
	return st->late >= enough && st->late_span_us >= PBE_CC_LATE_FOR_US;
}

/* No packet came as early as the earliest for long: how long is the way now? */
LAW_INLINE int pbe_cc_late_is_due(const struct pbe_cc_state *st, __u64 now)
{
	return law_since(now, st->early_at_ns) > PBE_CC_LASTS_NS;
}

/* The flow is to send at this rate, of what the device claims. */
LAW_INLINE void pbe_cc_delivery_claim(struct pbe_cc_state *st, __u64 rate)
{
	st->least_claim = st->claims ? law_min(st->least_claim, rate) : rate;
	if (st->claims >= PBE_CC_MOST_CLAIMS)
		return;
	st->claim_sum += rate;
	st->claims++;
}

/* There is no claim now, or it belongs to another link. */
LAW_INLINE void pbe_cc_delivery_forget(struct pbe_cc_state *st)
{
	st->claim_sum = 0;
	st->least_claim = 0;
	st->claims = 0;
	st->prior_mean = 0;
	st->prior_least = 0;
	st->wanted = 0;
	st->excess = 0;
}

/* Folds an acknowledgement in; whether it ends a round. */
LAW_INLINE int pbe_cc_delivery_ack(struct pbe_cc_state *st, const struct law_input *in)
{
	__u64 mean, wanted, least;

	st->best = law_max(st->best, law_min(in->rate, LAW_MAX_RATE));
	st->limited |= in->flags & LAW_LIMITED;
	if (!law_reached(in->prior_delivered, st->round_ends_at))
		return 0;
	st->round_ends_at = in->delivered;
	if (st->best)
		st->last = st->best;
	/* A round without a claim wanted nothing. */
	mean = st->claim_sum / law_max(st->claims, 1);
	wanted = law_min(mean, st->prior_mean);
	least = law_min(st->least_claim, st->prior_least);
	if (st->best && !st->limited) {
		st->wanted = wanted;
		st->excess = least * 100 > st->best * PBE_CC_BELIEVED ?
			     law_min(st->excess + 1, PBE_CC_EXCESS_ROUNDS) : 0;
	} else {
		st->wanted = 0;
		st->excess = 0;
	}
	st->prior_mean = mean;
	st->prior_least = st->least_claim;
	st->claim_sum = 0;
	st->least_claim = 0;
	st->claims = 0;
	st->best = 0;
	st->limited = 0;
	return 1;
}

/* Less arrived in the last round than was claimed and sent, and than is claimed now. */
LAW_INLINE int pbe_cc_delivery_narrow(const struct pbe_cc_state *st, __u64 claimed)
{
	return st->last * 100 < law_min(st->wanted, claimed) * PBE_CC_NARROW;
}

/* At most so much arrived in this round and the one before; 0: unknown. */
LAW_INLINE __u64 pbe_cc_arrives(const struct pbe_cc_state *st)
{
	return law_max(st->last, st->best);
}

/* The most that is believed or sent where so much arrives. */
LAW_INLINE __u64 pbe_cc_most_of(__u64 arrives)
{
	return arrives * PBE_CC_BELIEVED / 100;
}

/* The most that is sent upon a claim that is too high. */
LAW_INLINE __u64 pbe_cc_delivery_believed(const struct pbe_cc_state *st)
{
	return pbe_cc_most_of(st->last);
}

#endif /* SOUNDING_PBE_CC_PATH_H */
