/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * `background`: it sends while the cell is its alone, and yields while it is not.
 * The same arithmetic as crates/laws/src/background.rs, where the phases are drawn,
 * and as the part of crates/cc/src/part/aimd.rs that it uses.
 */
#ifndef SOUNDING_BACKGROUND_H
#define SOUNDING_BACKGROUND_H

#include "background/share.h"
#include "background/by_delay.h"

#define BACKGROUND_INTERVAL_NS		250000000ULL
#define BACKGROUND_MAX_BACK_OFF		4U
#define BACKGROUND_CROWDED		3U
#define BACKGROUND_LEAST_BACK_OFF	2U
#define BACKGROUND_QUEUE_US		40000ULL
#define BACKGROUND_PROVEN_FOR_NS	10000000000ULL
#define BACKGROUND_PROOFS		7U
#define BACKGROUND_CONFIRMED		2U
#define BACKGROUND_DEAR			10ULL
#define BACKGROUND_CHEAP_NS		300000000ULL
#define BACKGROUND_LONGEST_NS		3000000000ULL
#define BACKGROUND_STEADY_NS		2000000000ULL
#define BACKGROUND_SHORT		1U
#define BACKGROUND_COARSEST_NS		2000000ULL
#define BACKGROUND_FIRST_CWND		10ULL
#define BACKGROUND_LEAST_QUEUE_US	5000U
#define BACKGROUND_SHARED_FOR_NS	30000000000ULL
#define BACKGROUND_OTHERS_US		10000U
#define BACKGROUND_PROBE		4ULL
#define BACKGROUND_MORE			4ULL

enum background_phase {
	BACKGROUND_OPENING = 0,
	BACKGROUND_WAITING = 1,
	BACKGROUND_PROBING = 2,
	BACKGROUND_SENDING = 3,
	BACKGROUND_BY_DELAY = 4,
	BACKGROUND_PHASES = 5,
};

enum background_recovery {
	BACKGROUND_NONE = 0,
	BACKGROUND_FAST = 1,
	BACKGROUND_TIMEOUT = 2,
};

struct aimd {
	__u64 cwnd;
	__u64 ssthresh;
	__u64 credit;
	__u64 before_cwnd;	/* before a timeout */
	__u64 before_ssthresh;
	__u32 has_before;
	__u32 answered;		/* marks of packets that left before this was delivered */
};

struct background_state {
	struct slots slots;
	struct share share;
	struct by_delay delay;
	struct aimd window;
	__u64 at_ns;		/* the end of a wait, or when sending began */
	__u32 least_rtt_us;	/* 0: unknown */
	__u32 phase;
	__u32 back_off;
	__u32 mss;
	__u32 draws;		/* random numbers used */
	__u32 last_rtt_us;	/* 0: unknown */
	__u32 queue_us;		/* what waits while it sends */
	__u32 is_first;		/* the first packet of a burst into a shared queue is out */
	__u64 shared_until_ns;	/* until then other flows share the queue */
	__u64 began_ns;		/* the newest burst */
	__u64 look_ns;		/* a newcomer is served first for so long, as far as is known */
	__u64 spell_ns;		/* when the newest spell of sending began */
	__u32 proofs;		/* bursts in a row that found the cell free */
	__u32 was_short;	/* the last spell */
};

/* One ACK that delivers new data. */
struct background_ack {
	__u64 now_ns;
	__u64 acked;		/* bytes */
	__u64 sent_ns;		/* when the newest packet left that it delivers */
	__u64 tick_ns;		/* of the receiver's clock; 0: it has none */
	__u32 stamp;		/* ticks */
	__u32 rtt_us;		/* 0: it measured none */
	__u32 recovery;
	__u32 limited;		/* by the window */
	__u32 marked;		/* a part of it has a congestion mark */
	__u32 sent_delivered;	/* packets delivered when that one left */
	__u32 delivered;	/* packets */
	__u32 random;		/* for a wait, should it begin one */
};

LAW_INLINE __u64 aimd_least(const struct background_state *b)
{
	return 2 * (__u64)b->mss;
}

LAW_INLINE void aimd_init(struct background_state *b, __u32 delivered)
{
	__builtin_memset(&b->window, 0, sizeof(b->window));
	b->window.cwnd = BACKGROUND_FIRST_CWND * b->mss;
	b->window.ssthresh = ~0ULL;
	b->window.answered = delivered;
}

LAW_INLINE void aimd_cut(struct background_state *b)
{
	b->window.ssthresh = law_max(b->window.cwnd / 2, aimd_least(b));
	b->window.cwnd = b->window.ssthresh;
	b->window.credit = 0;
}

LAW_INLINE void aimd_slow_start_to(struct background_state *b, __u64 cwnd, __u64 ssthresh)
{
	b->window.cwnd = law_max(cwnd, aimd_least(b));
	b->window.ssthresh = law_max(ssthresh, aimd_least(b));
	b->window.credit = 0;
}

/* Whether a congestion mark has just cut the window. */
LAW_INLINE int aimd_ack(struct background_state *b, const struct background_ack *ack)
{
	if (ack->recovery != BACKGROUND_TIMEOUT)
		b->window.has_before = 0;
	if (!ack->marked || ack->recovery != BACKGROUND_NONE ||
	    !law_reached(ack->sent_delivered, b->window.answered))
		return 0;
	b->window.answered = ack->delivered;
	aimd_cut(b);
	return 1;
}

LAW_INLINE void aimd_grow(struct background_state *b, const struct background_ack *ack)
{
	struct aimd *w = &b->window;

	if (ack->recovery == BACKGROUND_FAST || !ack->limited)
		return;
	if (w->cwnd < w->ssthresh) {
		w->cwnd = law_min(w->cwnd + ack->acked, law_max(w->ssthresh, w->cwnd + b->mss));
		return;
	}
	w->credit += ack->acked;
	if (w->credit >= w->cwnd) {
		w->credit -= w->cwnd;
		w->cwnd += b->mss;
	}
}

LAW_INLINE void aimd_timeout(struct background_state *b)
{
	if (!b->window.has_before) {
		b->window.has_before = 1;
		b->window.before_cwnd = b->window.cwnd;
		b->window.before_ssthresh = b->window.ssthresh;
	}
	aimd_cut(b);
	b->window.cwnd = b->mss;
}

LAW_INLINE void background_open(struct background_state *b, __u32 delivered)
{
	__builtin_memset(&b->slots, 0, sizeof(b->slots));
	share_init(&b->share, b->mss);
	aimd_init(b, delivered);
	b->phase = BACKGROUND_OPENING;
}

/* @delivered: packets so far, of a flow that is moved here in mid-life. */
LAW_INLINE void background_init(struct background_state *b, __u64 now, __u32 mss,
				__u32 delivered)
{
	__builtin_memset(b, 0, sizeof(*b));
	b->mss = law_mss(mss);
	b->queue_us = BACKGROUND_QUEUE_US;
	b->began_ns = now;
	by_delay_init(&b->delay, now, b->mss);
	background_open(b, delivered);
}

/* How much longer than the fastest packet the newest took. */
LAW_INLINE __u32 background_queueing(const struct background_state *b)
{
	return law_since(b->last_rtt_us, b->least_rtt_us);
}

LAW_INLINE void background_wait(struct background_state *b, __u64 now, __u64 span)
{
	b->phase = BACKGROUND_WAITING;
	b->at_ns = now + span;
}

/* Waits for twice as long as the last time, 2 to @least intervals at least and @most at most. */
LAW_INLINE void background_back_off(struct background_state *b, __u64 now, __u32 least,
				    __u32 most, __u32 random)
{
	__u64 half, drawn;

	b->back_off = law_min(law_max(b->back_off + 1, least), most);
	b->proofs = 0;
	half = (1ULL << ((b->back_off - 1) & 7)) * 1000;
	drawn = half + random % half;
	b->draws++;
	background_wait(b, now, BACKGROUND_INTERVAL_NS * drawn / 1000);
}

/* A loss, a timeout or a queue of others: one burst that finds the cell free is enough. */
LAW_INLINE void background_busy(struct background_state *b, __u64 now, __u32 random)
{
	__u32 proofs = law_min(b->proofs, BACKGROUND_CONFIRMED - 1);

	background_back_off(b, now, 1, BACKGROUND_MAX_BACK_OFF, random);
	b->proofs = proofs;
}

/* A burst had the cell for so long before others had nearly all of it. */
LAW_INLINE void background_learn_look(struct background_state *b, __u64 length, int verdict)
{
	if (verdict == SHARE_IS_CROWDED && length < BACKGROUND_LONGEST_NS)
		b->look_ns = law_max(length, b->look_ns - b->look_ns / 4);
}

LAW_INLINE void background_verdict(struct background_state *b, __u64 now, int verdict,
				   __u32 random)
{
	__u64 length = law_since(now, b->began_ns), dear;

	if (b->phase == BACKGROUND_WAITING || b->phase == BACKGROUND_BY_DELAY ||
	    verdict == SHARE_OPEN)
		return;
	/* Its rate may be all of the cell or a part of it: silence, and a burst that shows both. */
	if (b->phase == BACKGROUND_OPENING || verdict == SHARE_IS_LIKELY) {
		background_wait(b, now, BACKGROUND_INTERVAL_NS);
	} else if (verdict == SHARE_IS_BUSY || verdict == SHARE_IS_CROWDED) {
		background_learn_look(b, length, verdict);
		dear = law_since(law_min(length, BACKGROUND_LONGEST_NS), BACKGROUND_CHEAP_NS);
		if (b->phase == BACKGROUND_SENDING) {
			b->was_short = law_since(now, b->spell_ns) < BACKGROUND_STEADY_NS;
			/* It may be a fade: the next burst shows it soon, and that one backs off.
			 * */
			background_wait(b, now, BACKGROUND_INTERVAL_NS);
		} else {
			background_back_off(b, now + dear * BACKGROUND_DEAR,
					    BACKGROUND_LEAST_BACK_OFF,
					    BACKGROUND_MAX_BACK_OFF +
					    (verdict == SHARE_IS_CROWDED ? BACKGROUND_CROWDED : 0) +
					    (b->was_short ? BACKGROUND_SHORT : 0),
					    random);
		}
	} else if (b->phase == BACKGROUND_PROBING) {
		/* A newcomer is served first for as long. */
		if (length < b->look_ns + b->look_ns / 4)
			return;
		b->proofs = law_min(b->proofs + 1, BACKGROUND_PROOFS);
		if (b->proofs < BACKGROUND_CONFIRMED) {
			background_wait(b, now, BACKGROUND_INTERVAL_NS);
			return;
		}
		if (b->proofs == BACKGROUND_CONFIRMED)
			b->spell_ns = now;
		b->back_off = 0;
		b->phase = BACKGROUND_SENDING;
		b->at_ns = now;
	} else if (law_since(now, b->at_ns) > BACKGROUND_PROVEN_FOR_NS >>
						  ((BACKGROUND_PROOFS - b->proofs) & 7)) {
		/* A rival that was there all along shows in a burst after silence alone. */
		background_wait(b, now, BACKGROUND_INTERVAL_NS);
	}
}

/* The window that keeps the cell busy; 0: unknown. */
LAW_INLINE __u64 background_target(const struct background_state *b)
{
	int known;
	__u64 rate = share_capacity(&b->share, &known);
	__u64 given = law_max(b->share.last[0], b->share.last[1]);
	__u64 span = (__u64)b->least_rtt_us + b->queue_us;
	__u64 more = given + given / BACKGROUND_MORE;

	if (!b->least_rtt_us || !known)
		return 0;
	/* A little more than what the cell gives now. */
	if (given)
		rate = law_min(rate, more < given ? ~0ULL : more);
	return law_max(share_times(rate, span) / 1000000, 4 * (__u64)b->mss);
}

/* By delay from here on, or by the receiver's clock again. */
LAW_INLINE void background_go_by(struct background_state *b, __u64 now, int has_clock,
				 __u32 delivered)
{
	if (has_clock && b->phase == BACKGROUND_BY_DELAY) {
		background_open(b, delivered);
	} else if (!has_clock && b->phase != BACKGROUND_BY_DELAY) {
		by_delay_init(&b->delay, now, b->mss);
		b->phase = BACKGROUND_BY_DELAY;
	}
}

LAW_INLINE void background_ack(struct background_state *b, const struct background_ack *ack)
{
	struct slot slot = {};
	__u64 target;
	__u32 is_first;
	int marked;

	if (ack->rtt_us && (!b->least_rtt_us || ack->rtt_us < b->least_rtt_us))
		b->least_rtt_us = ack->rtt_us;
	if (ack->rtt_us)
		b->last_rtt_us = ack->rtt_us;
	marked = aimd_ack(b, ack);
	background_go_by(b, ack->now_ns, ack->tick_ns && ack->tick_ns <= BACKGROUND_COARSEST_NS,
			 0);
	if (b->phase == BACKGROUND_BY_DELAY) {
		if (marked)
			by_delay_cut(&b->delay, ack->now_ns);
		by_delay_ack(&b->delay, ack->now_ns, ack->rtt_us, ack->acked,
			     !marked && ack->limited && ack->recovery != BACKGROUND_FAST);
		return;
	}
	is_first = b->is_first;
	b->is_first = 0;
	if (is_first && background_queueing(b) > BACKGROUND_OTHERS_US) {
		background_busy(b, ack->now_ns, ack->random);
		return;
	}
	if (b->phase == BACKGROUND_OPENING) {
		aimd_grow(b, ack);
	} else if (ack->recovery == BACKGROUND_NONE) {
		target = background_target(b);
		/* Losses cut the window; it comes back as in slow start. */
		if (target)
			aimd_slow_start_to(b, law_min(target, b->window.cwnd + ack->acked), target);
	}
	if (slots_ack(&b->slots, ack->now_ns, ack->sent_ns, ack->stamp, ack->tick_ns, ack->acked,
		      &slot))
		background_verdict(b, ack->now_ns,
				   share_slot(&b->share, &slot, ack->now_ns, ack->acked,
					      ack->tick_ns),
				   ack->random);
}

/* Losses were found for the first time since the last repair ended. */
LAW_INLINE void background_loss(struct background_state *b, __u64 now, __u32 random)
{
	__u32 queueing = background_queueing(b);

	aimd_cut(b);
	if (b->phase == BACKGROUND_BY_DELAY)
		by_delay_cut(&b->delay, now);
	if ((b->phase != BACKGROUND_PROBING && b->phase != BACKGROUND_SENDING) ||
	    queueing < b->queue_us / 2)
		return;
	/* Lost of an earlier burst: it left before what the newest ACK delivered. */
	if (law_since(now, b->began_ns) < (__u64)b->last_rtt_us * 1000)
		return;
	/* The buffer is full: its queue is another flow's too, or it is small. */
	b->queue_us = law_max(law_min(b->queue_us, queueing / 2), BACKGROUND_LEAST_QUEUE_US);
	b->shared_until_ns = now + BACKGROUND_SHARED_FOR_NS;
	background_busy(b, now, random);
}

LAW_INLINE void background_timeout(struct background_state *b, __u64 now, __u32 random)
{
	aimd_timeout(b);
	if (b->phase == BACKGROUND_BY_DELAY)
		by_delay_timeout(&b->delay, now);
	else if (b->phase != BACKGROUND_WAITING)
		/* A cell that serves nothing is busy. */
		background_busy(b, now, random);
}

LAW_INLINE void background_spurious(struct background_state *b)
{
	if (!b->window.has_before)
		return;
	b->window.has_before = 0;
	b->window.cwnd = law_max(b->window.cwnd, b->window.before_cwnd);
	b->window.ssthresh = law_max(b->window.ssthresh, b->window.before_ssthresh);
}

/* Whether the flow is to send nothing at @now; it ends a wait that is over. */
LAW_INLINE int background_waits(struct background_state *b, __u64 now)
{
	__u64 target, first;

	if (b->phase != BACKGROUND_WAITING)
		return 0;
	if (now < b->at_ns)
		return 1;
	share_begin(&b->share);
	b->began_ns = now;
	target = background_target(b);
	if (target) {
		b->is_first = now < b->shared_until_ns;
		first = b->is_first ? BACKGROUND_PROBE * b->mss : target;
		aimd_slow_start_to(b, law_min(first, target), target);
	}
	b->phase = BACKGROUND_PROBING;
	return 0;
}

/* Bytes that may be in flight. */
LAW_INLINE __u64 background_cwnd(const struct background_state *b)
{
	return b->phase == BACKGROUND_BY_DELAY ? b->delay.cwnd : b->window.cwnd;
}

#endif /* SOUNDING_BACKGROUND_H */
