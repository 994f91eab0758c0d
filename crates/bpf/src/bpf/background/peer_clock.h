/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * How long a tick of the peer's time stamps is: RFC 7323 leaves it open, and no
 * segment says it. It is taken for 1 ms, as of Linux, macOS and Android, until a
 * second has shown what it is. Microseconds are counted in whole milliseconds.
 */
#ifndef SOUNDING_PEER_CLOCK_H
#define SOUNDING_PEER_CLOCK_H

#include "common/arith.h"

/* Ticks are compared over this; a queue that fills meanwhile is a part of it. Chosen. */
#define PEER_CLOCK_SPAN_NS	2000000000ULL
#define PEER_CLOCK_MS_NS	1000000ULL
/* Below, the peer counts microseconds: no clock is between (tcp_usec_ts of Linux 6.7). */
#define PEER_CLOCK_FINE_NS	300000ULL
/* To this, 1 ms; above, the measured tick. */
#define PEER_CLOCK_MS_MOST_NS	1500000ULL
#define PEER_CLOCK_PER_MS	1000U
#define PEER_CLOCK_US_NS	1000ULL
/* A clock that is off by more was set: no queue on the way back drains by as much at once. Chosen.
 * */
#define PEER_CLOCK_STEP_NS	500000000ULL
/* The unit of time stamps in the kernel's own socket is known: linux tcp_usec_ts. */

struct peer_clock {
	__u64 since_ns;		/* when the comparison began */
	__u64 tick_ns;		/* 0: not known yet */
	__u32 since;		/* the stamp then */
	__u32 known;
	__u32 last;		/* the newest stamp, for microseconds */
	__u32 rest;		/* microseconds below a millisecond */
	__u32 millis;		/* whole milliseconds since the clock was first read */
	__u32 fine;		/* it counts microseconds */
	__u32 offset;		/* what steps of the clock are put right by */
	__u32 newest;		/* stamp, with the offset */
	__u64 newest_at_ns;	/* and when it was read */
};

/*
 * A clock that was set goes on from where it was, or a law would take the step for
 * silence, or for an ACK that was overtaken. @tick: of the stamps.
 */
LAW_INLINE __u32 peer_clock_steady(struct peer_clock *c, __u64 now, __u32 stamp, __u64 tick)
{
	__u32 more = stamp + c->offset - c->newest;
	__u64 due, limit;
	int is_back = more > ~0U / 2;

	if (tick) {
		limit = PEER_CLOCK_STEP_NS / tick;
		due = law_min(law_since(now, c->newest_at_ns) / tick, ~0U / 4);
		if (is_back ? (__u32)-more > limit : more > due + limit) {
			c->offset += (__u32)due - more;
			is_back = 0;
		}
	}
	stamp += c->offset;
	if (!is_back) {
		c->newest = stamp;
		c->newest_at_ns = now;
	}
	return stamp;
}

/* Reads a stamp at @now: the tick in ns, and the reading in @reading. */
LAW_INLINE __u64 peer_clock_read(struct peer_clock *c, __u64 now, __u32 stamp, __u32 *reading)
{
	__u64 elapsed, ticks, tick;
	__u32 more;

	if (!c->known) {
		c->newest = stamp;
		c->newest_at_ns = now;
	}
	/* As long as the tick is not known, a step cannot be seen. */
	stamp = peer_clock_steady(c, now, stamp, c->fine ? PEER_CLOCK_US_NS : c->tick_ns);
	*reading = stamp;
	if (!c->known) {
		c->known = 1;
		c->since_ns = now;
		c->since = stamp;
		c->last = stamp;
		return PEER_CLOCK_MS_NS;
	}
	elapsed = law_since(now, c->since_ns);
	ticks = stamp - c->since;
	if (elapsed >= PEER_CLOCK_SPAN_NS && ticks && ticks <= ~0U / 2) {
		tick = elapsed / ticks;
		c->since_ns = now;
		c->since = stamp;
		c->fine = tick < PEER_CLOCK_FINE_NS;
		if (c->fine || tick <= PEER_CLOCK_MS_MOST_NS)
			c->tick_ns = PEER_CLOCK_MS_NS;
		else
			c->tick_ns = tick;
	}
	if (c->fine) {
		more = stamp - c->last;
		if (more <= ~0U / 2) {
			c->last = stamp;
			c->rest += more % PEER_CLOCK_PER_MS;
			c->millis += more / PEER_CLOCK_PER_MS + c->rest / PEER_CLOCK_PER_MS;
			c->rest %= PEER_CLOCK_PER_MS;
		}
		*reading = c->millis;
	} else {
		c->last = stamp;
	}
	return c->tick_ns ? c->tick_ns : PEER_CLOCK_MS_NS;
}

#endif /* SOUNDING_PEER_CLOCK_H */
