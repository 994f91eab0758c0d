/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * How far a server trusts the claim of a device at the other end, as pure functions of integers: no
 * kernel header, no clock, no memory but the caller's. A device may lie, and any host on the path
 * may write in its name.
 */
#ifndef SOUNDING_TRUST_H
#define SOUNDING_TRUST_H

#include "common/wire.h"

/*
 * An experimental option (RFC 6994) that carries what a receiver's radio link
 * has for this flow: kind 253, length, ExID, and then 32 or 64 bits in network
 * order. The ExID is not registered with IANA.
 *
 * Version 1, length 8: of its 32 bits the topmost says that the rate is a floor,
 * the others are kbit/s of IP packets. It is what fits beside a time stamp and
 * two SACK blocks.
 * Version 2, length 12 or more: 64 bits as in wire.h. Later versions may add
 * bytes, which are ignored.
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

/*
 * crates/laws/src/trust.rs is the rest of this file in Rust, function by function; a property test
 * runs both over the same sequences.
 */

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

/* Losses of a round are heavy from so many segments on, if they are a sixteenth of it. */
#define TRUST_HEAVY		8U
/*
 * The rounds of a cycle of a claim that heavy losses cut: in the first few what waits drains, in
 * the last few arrivals are measured.
 */
#define TRUST_DRAINED		2U
#define TRUST_MEASURED		4U
#define TRUST_CYCLE		8U
/* The most that is tried above the arrivals, in eighths: a start by doubling has as much. */
#define TRUST_MOST_EXCESS	8U
/* The most cycles without a try, after tries that showed nothing. */
#define TRUST_MOST_PAUSE	4U
/*
 * A device whose claim the arrivals bear out for so many rounds is believed again. Each cut adds as
 * many, up to TRUST_STRIKES times.
 */
#define TRUST_BORNE_ROUNDS	8U
#define TRUST_STRIKES		8U

/* Flags of struct peer_trust, all but the first of a round. */
#define TRUST_BEGUN	1
#define TRUST_FREE	2	/* not all of it was limited by the application */
#define TRUST_CUT	4	/* a claim was cut that would have been used */
#define TRUST_BORNE	8	/* a claim was within what is believed */
#define TRUST_LIMITED	16	/* a part of it was limited by the application */
#define TRUST_ABOVE	32	/* more than an eighth above what arrived lately was believed */
#define TRUST_WAS_ABOVE	64	/* the same of the round before, whose losses show in this one */
#define TRUST_OVER	128	/* a claim was more than the arrivals bear out */

/* Flags of struct trust_cap. */
#define TRUST_UNMEASURED	1	/* the rate is not of a round yet */
#define TRUST_PACED		2	/* the application limited a part of the measurement */
#define TRUST_DRAINS		4	/* the last cycle left a queue: this one begins with less */

/* A claim that heavy losses cut, until deliveries show more. */
struct trust_cap {
	__u64 rate;		/* what arrives, payload bytes/s */
	__u64 from_ns;		/* when the measurement of this cycle began */
	__u32 from_delivered;	/* and what was delivered and lost by then */
	__u32 from_lost;
	__u32 round;		/* of the cycle */
	__u32 excess;		/* tried above the rate, in eighths; 0: there is no cut */
	__u32 wait;		/* cycles until the next try */
	__u32 pause;		/* and how many there are after one that shows nothing */
	__u32 borne;		/* rounds in a row in which no claim exceeded the rate */
	__u32 flags;
};
SOUNDING_ASSERT(sizeof(struct trust_cap) == 48);

/* What is remembered of a connection. */
struct peer_trust {
	__u32 ends_at;		/* delivered segments that end this round */
	__u32 rounds;		/* that count, up to TRUST_ROUNDS */
	__u32 held_back;	/* in a row that do not */
	__u32 overstated;	/* in which the claim was cut, and none in which it was not */
	__u32 flags;
	__u32 stuck;		/* in a row in which the claim was cut and no more arrived */
	__u64 arrived;		/* delivered_rate when it last was a quarter more */
	__u64 began_ns;		/* this round */
	__u32 lost;		/* segments, when it began */
	__u32 strikes;		/* cuts so far, up to TRUST_STRIKES */
	struct trust_cap cap;
};
SOUNDING_ASSERT(sizeof(struct peer_trust) == 96);

struct trust_input {
	__u64 rate;		/* claimed, bytes/s of IP packets */
	__u64 delivered_rate;	/* most of the last ten rounds, payload bytes/s */
	__u64 now_ns;
	__u32 delivered;	/* segments, ever */
	__u32 prior_delivered;	/* the same when what is now acknowledged left */
	__u32 lost;		/* segments, ever */
	__u32 mss;		/* payload bytes a segment */
	__u32 rtt_us;		/* the least */
	__u32 queue_us;		/* that a claim's window has room for besides */
	__u32 inflight;		/* segments, before this ACK */
	__u32 window;		/* segments, as set last */
	__u32 acked;		/* data was acknowledged: rounds advance */
	__u32 limited;		/* this sample was limited by the application */
};
SOUNDING_ASSERT(sizeof(struct trust_input) == 64);

/* A rate of payload as one of IP packets. */
LAW_INLINE __u64 trust_whole(const struct trust_input *in, __u64 payload)
{
	return payload * (law_mss(in->mss) + LAW_HEADERS) / law_mss(in->mss);
}

LAW_INLINE __u64 trust_delivers(const struct trust_input *in)
{
	return law_min(in->delivered_rate, LAW_MAX_RATE);
}

/* What a counter of segments, which wraps, gained. */
LAW_INLINE __u64 trust_gained(__u32 now, __u32 before)
{
	return law_min((__u32)(now - before), LAW_MAX_SEGS);
}

/* The mean rate of payload since then. */
LAW_INLINE __u64 trust_mean(const struct trust_input *in, __u64 from_ns, __u32 from_delivered)
{
	__u64 bytes = trust_gained(in->delivered, from_delivered) * law_mss(in->mss);
	__u64 span_us = law_max(law_since(in->now_ns, from_ns) / 1000, 1);

	return law_min(bytes * 1000000 / span_us, LAW_MAX_RATE);
}

/* Whether a quarter more is in flight than a path of this rate holds: then it is all that it
 * carries. */
LAW_INLINE int trust_queues(const struct trust_input *in, __u64 rate)
{
	__u64 inflight = law_min(in->inflight, LAW_MAX_SEGS) * law_mss(in->mss);

	return inflight * 4000000 >= rate * law_min(in->rtt_us, LAW_MAX_RTT_US) * 5;
}

/* The connection was idle: nothing is known of its path, except what heavy losses taught. */
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

/* Whether losses of this round are heavy so far. */
LAW_INLINE int trust_loses_much(const struct peer_trust *trust, const struct trust_input *in)
{
	__u64 lost = trust_gained(in->lost, trust->lost);

	return lost >= TRUST_HEAVY &&
	       lost * 16 >= lost + trust_gained(in->delivered, trust->ends_at);
}

/* Whether more than arrives is tried. */
LAW_INLINE int trust_tries(const struct trust_cap *cap)
{
	return !cap->wait && !(cap->flags & TRUST_DRAINS && cap->round < TRUST_DRAINED);
}

/* No try until some cycles later. */
LAW_INLINE void trust_rest(struct trust_cap *cap)
{
	cap->excess = 1;
	cap->wait = cap->pause;
	cap->pause = law_min(cap->pause * 2, TRUST_MOST_PAUSE);
}

/* Losses were heavy: this round measures anew what arrives. */
LAW_INLINE void trust_failed(struct peer_trust *trust, const struct trust_input *in)
{
	struct trust_cap *cap = &trust->cap;

	cap->rate = trust_delivers(in);
	cap->from_ns = trust->began_ns;
	cap->from_delivered = trust->ends_at;
	cap->from_lost = in->lost;
	cap->round = 0;
	cap->flags = TRUST_UNMEASURED | TRUST_DRAINS;
	trust_rest(cap);
}

LAW_INLINE void trust_cut(struct peer_trust *trust, const struct trust_input *in)
{
	trust->strikes = law_min(trust->strikes + 1, TRUST_STRIKES);
	trust->cap.pause = 1;
	trust->cap.borne = 0;
	trust_failed(trust, in);
	trust->cap.wait = 0;
}

/* A cycle ends: do deliveries show more? */
LAW_INLINE void trust_judge(struct trust_cap *cap, const struct trust_input *in)
{
	__u64 mean = trust_mean(in, cap->from_ns, cap->from_delivered);
	__u64 delivered = trust_gained(in->delivered, cap->from_delivered);
	__u64 lost = trust_gained(in->lost, cap->from_lost);
	int lossy;

	lossy = lost && lost * 32 >= delivered;
	cap->round = 0;
	if (!cap->wait || lossy)
		cap->flags |= TRUST_DRAINS;
	else
		cap->flags &= ~TRUST_DRAINS;
	if (cap->wait) {
		cap->wait--;
	} else if (cap->flags & TRUST_PACED) {
		/* It shows nothing. */
	} else if (!lossy && mean * 16 >= cap->rate * (16 + cap->excess)) {
		cap->rate = mean;
		cap->excess = law_min(cap->excess * 2, TRUST_MOST_EXCESS);
		cap->pause = 1;
	} else {
		if (lossy || trust_queues(in, mean))
			cap->rate = law_min(cap->rate, law_max(mean, cap->rate * 7 / 8));
		trust_rest(cap);
	}
}

/* What a cut claim is cut to in the next round, if it still is. */
LAW_INLINE void trust_next_cap(struct peer_trust *trust, const struct trust_input *in)
{
	struct trust_cap *cap = &trust->cap;
	__u64 round;

	if (trust->flags & TRUST_OVER)
		cap->borne = 0;
	else if (trust->flags & TRUST_BORNE)
		cap->borne++;
	if (cap->borne >= TRUST_BORNE_ROUNDS * trust->strikes) {
		cap->excess = 0;
		return;
	}
	cap->round++;
	if (trust->flags & TRUST_LIMITED)
		cap->flags |= TRUST_PACED;
	round = trust_mean(in, trust->began_ns, trust->ends_at);
	if (cap->flags & TRUST_UNMEASURED) {
		/* What was lost found the queue full: the link was never without work. */
		cap->rate = law_min(cap->rate, round);
		cap->flags &= ~TRUST_UNMEASURED;
	} else if (trust_loses_much(trust, in) && !(trust->flags & TRUST_LIMITED) &&
		   round * 8 < cap->rate * 7) {
		/*
		 * The path is narrower than it was. Losses that come at any rate do not reduce it
		 * again and again.
		 */
		cap->rate = law_max(round, cap->rate / 2);
		cap->round = 0;
		cap->excess = 1;
		cap->flags |= TRUST_DRAINS;
	}
	if (cap->round == TRUST_MEASURED) {
		cap->from_ns = in->now_ns;
		cap->from_delivered = in->delivered;
		cap->from_lost = in->lost;
		cap->flags &= ~TRUST_PACED;
	} else if (cap->round >= TRUST_CYCLE) {
		trust_judge(cap, in);
	}
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

LAW_INLINE void trust_round(struct peer_trust *trust, const struct trust_input *in)
{
	if (trust->cap.excess)
		trust_next_cap(trust, in);
	trust_growth(trust, trust_delivers(in));
	if (trust->flags & TRUST_FREE) {
		trust->held_back = 0;
		trust->rounds = law_min(trust->rounds + 1, TRUST_ROUNDS);
	} else if (++trust->held_back >= TRUST_HELD_BACK) {
		trust->held_back = 0;
		trust->rounds = 0;
		trust->stuck = 0;
		trust->arrived = 0;
	}
	/* A round in which the window was not used shows nothing, for example with a slow reader.
	 * */
	if (trust->flags & TRUST_BORNE || !(trust->flags & TRUST_FREE))
		trust->overstated = 0;
	else if (trust->flags & TRUST_CUT && trust->rounds >= TRUST_ROUNDS)
		trust->overstated = law_min(trust->overstated + 1, TRUST_OVERSTATED);
	trust->flags = TRUST_BEGUN | (trust->flags & TRUST_ABOVE ? TRUST_WAS_ABOVE : 0);
	trust->ends_at = in->delivered;
	trust->began_ns = in->now_ns;
	trust->lost = in->lost;
}

/* What is used of a cut claim. One that the arrivals confirm is used whole. */
LAW_INLINE __u64 trust_used(const struct trust_cap *cap, const struct trust_input *in)
{
	if (in->rate <= trust_whole(in, cap->rate))
		return cap->rate;
	if (trust_tries(cap))
		return cap->rate + cap->rate * cap->excess / 8;
	if (cap->flags & TRUST_DRAINS && cap->round < TRUST_DRAINED)
		return cap->rate / 2;
	return cap->rate;
}

/* What may be believed at most, whatever is claimed. */
LAW_INLINE __u64 trust_most(const struct peer_trust *trust, const struct trust_input *in)
{
	__u64 packet = law_mss(in->mss) + LAW_HEADERS;
	__u64 arrives = trust_whole(in, trust_delivers(in));
	__u64 most = arrives * TRUST_GAIN;
	__u64 span_us = law_max(law_min(in->rtt_us, LAW_MAX_RTT_US) +
				law_min(in->queue_us, LAW_MAX_RTT_US), 1);

	if (trust->rounds < TRUST_ROUNDS || !arrives)
		most = law_max(most, TRUST_SEGS * packet * 1000000 / span_us);
	if (trust->cap.excess)
		return law_min(most, trust_whole(in, trust_used(&trust->cap, in)));
	if (trust->stuck >= TRUST_STUCK && arrives)
		return arrives + arrives / 8;
	return most;
}

/* Whether a claim that is cut would have been used; a slow reader does not show the path's limit.
 * */
LAW_INLINE int trust_lacks(const struct trust_input *in)
{
	return in->acked && !in->limited && (__u64)in->inflight * 2 >= in->window;
}

/* An ACK is looked at: rounds and losses. */
LAW_INLINE void trust_acked(struct peer_trust *trust, const struct trust_input *in)
{
	if (law_reached(in->prior_delivered, trust->ends_at))
		trust_round(trust, in);
	trust->flags |= in->limited ? TRUST_LIMITED : TRUST_FREE;
	if (!trust_loses_much(trust, in))
		return;
	if (!trust->cap.excess) {
		if (trust->flags & (TRUST_ABOVE | TRUST_WAS_ABOVE))
			trust_cut(trust, in);
	} else if (trust->flags & TRUST_OVER && trust_tries(&trust->cap)) {
		trust_failed(trust, in);
	}
}

/* At an ACK or a restart from idle: the usable part of the claim. */
LAW_PART __u64 trust_step(struct peer_trust *trust, const struct trust_input *in)
{
	__u64 most, arrives, used;
	int over;

	if (!trust || !in)
		return 0;
	if (!(trust->flags & TRUST_BEGUN)) {
		trust_forget(trust, in->delivered);
		trust->began_ns = in->now_ns;
		trust->lost = in->lost;
	}
	if (in->acked)
		trust_acked(trust, in);
	most = trust_most(trust, in);
	arrives = trust_whole(in, trust_delivers(in));
	used = law_min(in->rate, most);
	over = trust->cap.excess && in->rate > trust_whole(in, trust->cap.rate);
	if (over)
		trust->flags |= TRUST_OVER;
	if (in->rate && in->rate <= most && !over)
		trust->flags |= TRUST_BORNE;
	if (in->rate > most && trust_lacks(in))
		trust->flags |= TRUST_CUT;
	if (used > arrives + arrives / 8)
		trust->flags |= TRUST_ABOVE;
	return used;
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
