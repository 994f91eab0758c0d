/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * How far a server trusts the claim of a device at the other end, as pure functions of integers: no
 * kernel header, no clock, no memory but the caller's. A device may lie, and any host on the path
 * may write in its name.
 */
#ifndef SOUNDING_TRUST_H
#define SOUNDING_TRUST_H

#include "wire.h"

/*
 * An experimental option (RFC 6994) that carries what a receiver's radio link
 * has for this flow: kind 253, length, ExID, and then 32 or 64 bits in network
 * order. The ExID is not registered with IANA.
 *
 * Version 1, length 8: of its 32 bits the topmost says that the rate is a floor,
 * the others are kbit/s of IP packets. It is what fits beside a time stamp and
 * two SACK blocks.
 * Version 2, length 12 or more: 64 bits as in wire.h. What follows them is left
 * for later and ignored.
 */
#define OPTION_KIND		253
#define OPTION_FLOOR		0x80000000U
#define OPTION_MOST		0x7fffffffU
#define OPTION_LENGTH_1		8
#define OPTION_LENGTH_2		12

/*
 * Reads the 32 bits of version 1. Of state and fair share it says nothing: what
 * is known of them stays.
 */
LAW_INLINE void trust_read(__u32 word, __u64 at_most, struct peer_claim *claim)
{
	claim->claimed = (__u64)(word & OPTION_MOST) * 125;
	claim->rate = law_min(claim->claimed, at_most);
	claim->bound = word & OPTION_FLOOR ? BOUND_FLOOR : BOUND_CAPACITY;
	claim->known |= CLAIM_RATE;
	claim->age_ms = 0;
}

/* Reads the 64 bits of version 2; -1 if they mean nothing to this version. */
LAW_INLINE int trust_read_2(__u64 word, __u64 at_most, struct peer_claim *claim)
{
	struct wire_payload says;

	if (!wire_is_known(word))
		return -1;
	wire_parse(word, &says);
	claim->claimed = says.rate;
	claim->rate = law_min(says.rate, at_most);
	claim->fair = law_min(says.fair, at_most);
	claim->known = says.rate ? CLAIM_RATE | CLAIM_STATE : CLAIM_STATE;
	claim->bound = says.bound;
	claim->state = says.state;
	claim->users = says.users;
	claim->carriers = says.carriers;
	claim->age_ms = says.age_ms;
	return 0;
}

enum trust_segment {
	TRUST_HEARD = 0,
	TRUST_LATE = 1,		/* TCP takes it for one that was overtaken */
	TRUST_FORGED = 2,	/* TCP drops it */
};

/*
 * Whether TCP takes a segment that acknowledges @ack (RFC 9293 §3.10.7.4,
 * RFC 5961 §5). The kernel has looked at the sequence number, at the time stamp
 * if there is one, and at RST and SYN before it has options looked at, and
 * looks at the acknowledgement afterwards. Where time stamps were agreed on, a
 * segment without one is to be dropped (RFC 7323 §3.2), which Linux does not.
 */
LAW_INLINE __u32 trust_segment(__u32 ack, __u32 una, __u32 nxt, __u32 max_window,
			       int lacks_stamp)
{
	if (lacks_stamp || !law_reached(nxt, ack) || !law_reached(ack, una - max_window))
		return TRUST_FORGED;
	return law_reached(ack, una) ? TRUST_HEARD : TRUST_LATE;
}

/* No claim is believed beyond so many times what was delivered lately. */
#define TRUST_GAIN		3U
/*
 * In so many rounds of a connection, and after idleness, nothing is known of
 * what the path delivers: the window may reach what TRUST_SEGS take, which is
 * what 27 Mbit/s have under way at 40 ms. Three times as much each round is
 * more than a start by doubling has.
 */
#define TRUST_ROUNDS		3U
#define TRUST_SEGS		128U
/* Nothing was in flight for that long: the path may be another. */
#define TRUST_IDLE_NS		1000000000ULL
/* As long as BBR's filter: by then no sample is in it but of the application's pace. */
#define TRUST_HELD_BACK		10U
/*
 * A radio that gets faster is believed after one round or two for each factor of
 * three, so an honest claim is not cut for so long: 3^8 is 6561.
 */
#define TRUST_OVERSTATED	16U

/*
 * A claim that is cut while arrivals stay the same is too high. After so many rounds without a
 * quarter more (BBR's full-pipe test) it is used only up to an eighth above the arrivals: enough to
 * find a path that got wider, and little for its queue.
 */
#define TRUST_STUCK		3U

/* Flags of struct peer_trust. */
#define TRUST_BEGUN	1
#define TRUST_FREE	2	/* not all of this round was limited by the application */
#define TRUST_CUT	4	/* in this round a claim was cut that would have been used */
#define TRUST_BORNE	8	/* in this round a claim was within what is believed */

/* What is remembered of a connection. */
struct peer_trust {
	__u32 ends_at;		/* delivered segments that end this round */
	__u32 rounds;		/* that count, up to TRUST_ROUNDS */
	__u32 held_back;	/* in a row that do not */
	__u32 overstated;	/* in which the claim was cut, and none in which it was not */
	__u32 flags;
	__u32 stuck;		/* in a row in which the claim was cut and no more arrived */
	__u64 arrived;		/* delivered_rate when it last was a quarter more */
};
SOUNDING_ASSERT(sizeof(struct peer_trust) == 32);

struct trust_input {
	__u64 rate;		/* claimed, bytes/s of IP packets */
	__u64 delivered_rate;	/* most of the last ten rounds, payload bytes/s */
	__u32 delivered;	/* segments, ever */
	__u32 prior_delivered;	/* the same when what is now acknowledged left */
	__u32 mss;		/* payload bytes a segment */
	__u32 rtt_us;		/* the least */
	__u32 queue_us;		/* that a claim's window has room for besides */
	__u32 inflight;		/* segments, before this ACK */
	__u32 window;		/* segments, as set last */
	__u32 acked;		/* data was acknowledged: rounds advance */
	__u32 limited;		/* this sample was limited by the application */
	__u32 reserved;
};
SOUNDING_ASSERT(sizeof(struct trust_input) == 56);

/* The connection begins, or was idle: nothing is known of its path. */
LAW_INLINE void trust_forget(struct peer_trust *trust, __u32 delivered)
{
	trust->ends_at = delivered;
	trust->rounds = 0;
	trust->held_back = 0;
	trust->overstated = 0;
	trust->flags = TRUST_BEGUN;
	trust->stuck = 0;
	trust->arrived = 0;
}

/* The round that ends delivered @rate at most. */
LAW_INLINE void trust_growth(struct peer_trust *trust, __u64 rate)
{
	if (rate * 4 >= trust->arrived * 5 || trust->flags & TRUST_BORNE) {
		trust->arrived = rate;
		trust->stuck = 0;
	} else if (trust->flags & TRUST_CUT) {
		trust->stuck = law_min(trust->stuck + 1, TRUST_STUCK);
	}
}

LAW_INLINE void trust_round(struct peer_trust *trust, __u32 delivered, __u64 rate)
{
	trust_growth(trust, rate);
	if (trust->flags & TRUST_FREE) {
		trust->held_back = 0;
		trust->rounds = law_min(trust->rounds + 1, TRUST_ROUNDS);
	} else if (++trust->held_back >= TRUST_HELD_BACK) {
		trust->held_back = 0;
		trust->rounds = 0;
		trust->stuck = 0;
		trust->arrived = 0;
	}
	/* A round in which the window was not used shows nothing, for example with a slow reader. */
	if (trust->flags & TRUST_BORNE || !(trust->flags & TRUST_FREE))
		trust->overstated = 0;
	else if (trust->flags & TRUST_CUT && trust->rounds >= TRUST_ROUNDS)
		trust->overstated = law_min(trust->overstated + 1, TRUST_OVERSTATED);
	trust->flags = TRUST_BEGUN;
	trust->ends_at = delivered;
}

/* What may be believed at most, whatever is claimed. */
LAW_INLINE __u64 trust_most(const struct peer_trust *trust, const struct trust_input *in)
{
	__u64 packet = law_mss(in->mss) + LAW_HEADERS;
	__u64 seen = law_min(in->delivered_rate, LAW_MAX_RATE);
	__u64 arrives = seen * packet / law_mss(in->mss);
	__u64 most = arrives * TRUST_GAIN;
	__u64 span_us = law_max(law_min(in->rtt_us, LAW_MAX_RTT_US) +
				law_min(in->queue_us, LAW_MAX_RTT_US), 1);

	if (trust->stuck >= TRUST_STUCK && seen)
		return arrives + arrives / 8;
	if (trust->rounds < TRUST_ROUNDS || !seen)
		most = law_max(most, TRUST_SEGS * packet * 1000000 / span_us);
	return most;
}

/* Whether a claim that is cut would have been used; a slow reader does not show the path's limit. */
LAW_INLINE int trust_lacks(const struct trust_input *in)
{
	return in->acked && !in->limited && (__u64)in->inflight * 2 >= in->window;
}

/* At an ACK or a restart from idle: the usable part of the claim. */
LAW_PART __u64 trust_step(struct peer_trust *trust, const struct trust_input *in)
{
	__u64 most;

	if (!trust || !in)
		return 0;
	if (!(trust->flags & TRUST_BEGUN))
		trust_forget(trust, in->delivered);
	if (in->acked) {
		if (law_reached(in->prior_delivered, trust->ends_at))
			trust_round(trust, in->delivered,
				    law_min(in->delivered_rate, LAW_MAX_RATE));
		if (!in->limited)
			trust->flags |= TRUST_FREE;
	}
	most = trust_most(trust, in);
	if (in->rate <= most) {
		trust->flags |= TRUST_BORNE;
		return in->rate;
	}
	if (trust_lacks(in))
		trust->flags |= TRUST_CUT;
	return most;
}

/* What is believed of another rate that comes with the claim, after that step. */
LAW_PART __u64 trust_within(const struct peer_trust *trust, const struct trust_input *in,
			    __u64 rate)
{
	if (!trust || !in || !rate)
		return 0;
	return law_min(rate, trust_most(trust, in));
}

#endif /* SOUNDING_TRUST_H */
