/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * A flow's share of its cell while it had data waiting, beside what the cell
 * gives it alone: crates/laws/src/background/share.rs.
 */
#ifndef SOUNDING_SHARE_H
#define SOUNDING_SHARE_H

#include "background/slots.h"
#include "background/turns.h"

#define SHARE_PIECE_NS		20000000ULL
#define SHARE_HEAD		4U
#define SHARE_LONG		10U
#define SHARE_SHORT		5U
#define SHARE_REMEMBERED_NS	1500000000ULL
#define SHARE_BATCHED_NS	60000000000ULL
#define SHARE_KNOWN		4U
#define SHARE_HEADS		6U
#define SHARE_BUSY		580U
#define SHARE_FREE		650U
#define SHARE_SURELY_BUSY	380U
#define SHARE_SURELY_FREE	800U
#define SHARE_DOUBTS		4U
#define SHARE_WEIGHT_OF_NEW	3U
#define SHARE_EVER_NS		30000000000ULL
#define SHARE_OF_EVER		95ULL
/* Above this a rate a second would wrap; saturating_mul in Rust. */
#define SHARE_MOST_BYTES	(~0ULL / 1000000000ULL)

enum share_verdict {
	SHARE_OPEN = 0,		/* not enough is known yet */
	SHARE_IS_BUSY = 1,
	SHARE_IS_LIKELY = 2,	/* free as far as is known, which is not far */
	SHARE_IS_FREE = 3,
	SHARE_IS_CROWDED = 4,	/* busy, by several others */
};

struct share {
	struct windowed most;		/* over SHARE_LONG pieces, complements of bytes/s */
	struct windowed ever;		/* the same for longer, where turns cannot be seen */
	struct windowed batch;	/* the shortest gap, ticks */
	struct turns turns;
	__u64 bytes;			/* of the current piece */
	__u64 nanos;
	__u64 best_of_head;
	__u64 last[2];			/* rates of the last pieces of this burst; 0: none */
	__u64 sum;			/* of the sample in hand */
	__u64 heads;			/* of bursts, the mean of their best */
	__u64 reading;			/* median of what a reading brings */
	__u64 share;			/* thousandths */
	__u32 pieces;			/* of the sample in hand */
	__u32 count;			/* since the burst began */
	__u32 seen;			/* heads; 0: heads is unknown */
	__u32 has_reading;
	__u32 has_share;
	__u32 is_free;
	__u32 doubts;			/* samples of this burst that the mean contradicts */
	__u32 follows_silence;		/* the burst; the first is a slow start, which shows no cell */
};

LAW_INLINE void share_init(struct share *s, __u32 mss)
{
	__builtin_memset(s, 0, sizeof(*s));
	s->turns.mss = mss;
}

/* A burst begins after silence. */
LAW_INLINE void share_begin(struct share *s)
{
	s->bytes = 0;
	s->nanos = 0;
	s->count = 0;
	s->best_of_head = 0;
	s->last[0] = 0;
	s->last[1] = 0;
	s->pieces = 0;
	s->sum = 0;
	s->doubts = 0;
	turns_begin(&s->turns);
	s->follows_silence = 1;
}

LAW_INLINE __u64 share_times(__u64 value, __u64 by)
{
	__u64 most = ~0ULL / by;

	/* Or clang makes a product of 128 bits of it, which BPF does not have. */
	asm volatile("" : "+r"(most));
	return value > most ? ~0ULL : value * by;
}

LAW_INLINE __u64 share_of_cell(const struct share *s, __u64 rate)
{
	__u64 cell = s->seen ? s->heads : 0;

	if (s->has_reading)
		cell = law_max(cell, s->reading);
	if (windowed_known(&s->most) && s->is_free)
		cell = law_max(cell, ~s->most.best[0]);
	if (windowed_known(&s->ever) && turns_unseen(&s->turns))
		cell = law_max(cell, share_times(~s->ever.best[0], SHARE_OF_EVER) / 100);
	return share_times(rate, 1000) / law_max(cell, 1);
}

/* What the cell gives this flow alone, bytes/s; 0: unknown, if not @known. */
LAW_INLINE __u64 share_capacity(const struct share *s, int *known)
{
	__u64 capacity = s->seen ? s->heads : 0;

	if (windowed_known(&s->most))
		capacity = law_max(capacity, ~s->most.best[0]);
	if (s->has_reading)
		capacity = law_max(capacity, s->reading);
	*known = s->seen || windowed_known(&s->most) || s->has_reading;
	return capacity;
}

/* Others have turns. */
LAW_INLINE int share_turns(struct share *s, __u64 share)
{
	turns_begin(&s->turns);
	s->has_share = 1;
	s->share = share;
	s->is_free = 0;
	return share < SHARE_SURELY_BUSY ? SHARE_IS_CROWDED : SHARE_IS_BUSY;
}

LAW_INLINE int share_sample(struct share *s, __u64 share)
{
	__u64 mean = share;

	if (s->seen < SHARE_KNOWN)
		return SHARE_IS_LIKELY;
	if (s->has_share)
		mean = ((SHARE_WEIGHT_OF_NEW - 1) * s->share + share) / SHARE_WEIGHT_OF_NEW;
	s->has_share = 1;
	s->share = mean;
	s->is_free = share >= SHARE_SURELY_BUSY &&
		     mean >= (s->is_free ? SHARE_BUSY : SHARE_FREE);
	if (!s->is_free && share >= SHARE_SURELY_FREE && s->doubts < SHARE_DOUBTS) {
		s->doubts++;
		return SHARE_OPEN;
	}
	if (!s->is_free)
		return share < SHARE_SURELY_BUSY ? SHARE_IS_CROWDED : SHARE_IS_BUSY;
	return s->seen < SHARE_HEADS ? SHARE_IS_LIKELY : SHARE_IS_FREE;
}

LAW_INLINE int share_piece(struct share *s, __u64 now, __u64 rate, __u32 pieces)
{
	__u64 mean, share, weight;
	__u32 turns;

	s->count = s->count + pieces < pieces ? ~0U : s->count + pieces;
	s->last[1] = s->last[0];
	s->last[0] = rate;
	if (s->count <= SHARE_HEAD) {
		s->best_of_head = law_max(s->best_of_head, rate);
		if (s->count == SHARE_HEAD && s->follows_silence) {
			weight = law_min(s->seen, 3);
			s->heads = (weight * (s->seen ? s->heads : 0) + s->best_of_head) /
				   (weight + 1);
			s->seen++;
		}
		return SHARE_OPEN;
	}
	s->pieces += pieces;
	s->sum += rate * pieces;
	mean = s->sum / law_max(s->pieces, 1);
	share = share_of_cell(s, mean);
	turns = s->pieces >= SHARE_SHORT ?
			turns_of(&s->turns, now, s->batch.best[0], share) : 0;
	if (turns) {
		s->pieces = 0;
		s->sum = 0;
		return share_turns(s, law_min(share, 1000 / turns));
	}
	if (s->pieces >= SHARE_LONG) {
		s->pieces = 0;
		s->sum = 0;
		turns_end(&s->turns, now);
		windowed_update(&s->most, SHARE_REMEMBERED_NS, now, ~mean);
		windowed_update(&s->ever, SHARE_EVER_NS, now, ~mean);
		return share_sample(s, share);
	}
	if (s->pieces >= SHARE_SHORT && share < SHARE_SURELY_BUSY) {
		s->pieces = 0;
		s->sum = 0;
		turns_begin(&s->turns);
		return share_sample(s, share);
	}
	return SHARE_OPEN;
}

/* The least that most readings bring. */
LAW_INLINE void share_learn_reading(struct share *s, __u64 now, __u64 bytes, __u64 acked,
				    __u32 ticks, __u64 tick_ns)
{
	__u64 rate, step, span;

	windowed_update(&s->batch, SHARE_BATCHED_NS, now, ticks);
	span = law_max(share_times(tick_ns, law_max(s->batch.best[0], 1)), 1);
	rate = share_times(law_since(bytes, acked), 1000000000ULL) / span;
	if (!s->has_reading) {
		s->has_reading = 1;
		s->reading = rate;
		return;
	}
	step = law_max(s->reading / 32, 1000);
	if (rate > s->reading)
		s->reading += step;
	else
		s->reading = law_since(s->reading, step);
}

/* What one reading brought; @acked is what the ACK that ended it did. Checked once, apart. */
LAW_PART int share_slot(struct share *s, const struct slot *slot, __u64 now, __u64 acked,
			__u64 tick_ns)
{
	__u64 rate, pieces;

	if (!s || !slot || !slot->ticks || !slot->waited)
		return SHARE_OPEN;
	tick_ns = law_max(tick_ns, 1);
	share_learn_reading(s, now, slot->bytes, acked, slot->ticks, tick_ns);
	turns_slot(&s->turns, slot->ticks, slot->bytes);
	s->bytes += slot->bytes;
	s->nanos += slot->ticks * tick_ns;
	if (s->nanos < SHARE_PIECE_NS)
		return SHARE_OPEN;
	rate = share_times(s->bytes, 1000000000ULL) / law_max(s->nanos, 1);
	/* A hole of HARQ can be longer than a piece. */
	pieces = law_min(law_max(s->nanos / SHARE_PIECE_NS, 1), SHARE_LONG);
	s->bytes = 0;
	s->nanos = 0;
	return share_piece(s, now, rate, pieces);
}

#endif /* SOUNDING_SHARE_H */
