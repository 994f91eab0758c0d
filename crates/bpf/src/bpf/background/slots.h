/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Which readings of the receiver's clock brought how much, from the time stamps
 * of its ACKs: crates/cc/src/part/slots.rs.
 */
#ifndef SOUNDING_SLOTS_H
#define SOUNDING_SLOTS_H

#include "common/windowed.h"

/* How long the fastest way to the receiver is remembered. */
#define SLOTS_REMEMBERED_NS	10000000000ULL
/* Keeps differences of two clocks positive. */
#define SLOTS_SHIFT		(1ULL << 62)

struct slots {
	struct windowed way;	/* the fastest, ns, shifted */
	__u64 nanos;		/* the reading, ns since the clock's zero */
	__u64 bytes;		/* that came at it */
	__u32 value;		/* the reading, ticks */
	__u32 known;
	__u32 before_ticks;	/* from the reading before; 0: it is the first */
	__u32 before_waited;	/* data was waiting in that gap */
};

/* What one reading brought, and the gap before it. */
struct slot {
	__u64 bytes;
	__u32 ticks;		/* 0: there was no reading before */
	__u32 waited;
};

LAW_INLINE void slots_learn(struct slots *s, __u64 now, __u64 sent, __u64 at)
{
	__u64 sum = SLOTS_SHIFT + at;

	if (sum < sent)
		return;
	windowed_update(&s->way, SLOTS_REMEMBERED_NS, now, sum - sent);
}

/* Whether what left at @sent was at the bottleneck by @reading. */
LAW_INLINE int slots_waited(const struct slots *s, __u64 sent, __u64 reading)
{
	return windowed_known(&s->way) && sent + s->way.best[0] <= SLOTS_SHIFT + reading;
}

/* An ACK of @acked bytes; whether it ends a slot, which is then in @out. */
LAW_INLINE int slots_ack(struct slots *s, __u64 now, __u64 sent, __u32 value, __u64 tick_ns,
			 __u64 acked, struct slot *out)
{
	__u32 ticks;
	__u64 at;

	if (!s->known) {
		at = (__u64)value * tick_ns;
		slots_learn(s, now, sent, at);
		s->known = 1;
		s->value = value;
		s->nanos = at;
		s->bytes = acked;
		s->before_ticks = 0;
		return 0;
	}
	ticks = value - s->value;
	/* The same reading, or an ACK that was overtaken. */
	if (!ticks || ticks > ~0U / 2) {
		s->bytes += acked;
		return 0;
	}
	at = s->nanos + ticks * tick_ns;
	slots_learn(s, now, sent, at);
	out->bytes = s->bytes;
	out->ticks = s->before_ticks;
	out->waited = s->before_waited;
	s->before_ticks = ticks;
	s->before_waited = slots_waited(s, sent, s->nanos);
	s->value = value;
	s->nanos = at;
	s->bytes = acked;
	return 1;
}

#endif /* SOUNDING_SLOTS_H */
