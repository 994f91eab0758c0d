/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The window of a background flow whose receiver has no usable clock: LEDBAT++
 * in whole numbers, as crates/laws/src/background/delay.rs has it.
 */
#ifndef SOUNDING_BY_DELAY_H
#define SOUNDING_BY_DELAY_H

#include "common/arith.h"

#define BY_DELAY_TARGET_US		60000ULL
#define BY_DELAY_SLOW_START_ENDS_US	45000ULL
#define BY_DELAY_MAX_DIVISOR		16ULL
#define BY_DELAY_LEAST			2ULL
#define BY_DELAY_ROUNDS			2ULL
#define BY_DELAY_APART			9ULL
#define BY_DELAY_MINUTES		10
#define BY_DELAY_MINUTE_NS		60000000000ULL
#define BY_DELAY_CURRENT		4

/* Keeps all products below 2^64. */
#define BY_DELAY_MAX_CWND		(1ULL << 30)

enum by_delay_phase {
	BY_DELAY_SLOW_START = 0,
	BY_DELAY_STEERING = 1,
	BY_DELAY_SLOWED = 2,
	BY_DELAY_COMING_BACK = 3,
};

struct by_delay {
	__u64 cwnd;
	__u64 credit;
	__u64 at;		/* the next slowdown, or the end of this one, ns */
	__u64 since;		/* this slowdown, ns */
	__u64 to;		/* the window to come back to */
	__u64 minute_began;
	__u32 minutes[BY_DELAY_MINUTES];	/* least RTTs, us, the newest first; 0: none */
	__u32 current[BY_DELAY_CURRENT];
	__u32 next;
	__u32 phase;
	__u32 mss;
};

LAW_INLINE void by_delay_init(struct by_delay *d, __u64 now, __u32 mss)
{
	__builtin_memset(d, 0, sizeof(*d));
	d->mss = law_mss(mss);
	d->cwnd = BY_DELAY_LEAST * d->mss;
	d->minute_began = now;
}

LAW_INLINE void by_delay_learn(struct by_delay *d, __u64 now, __u32 rtt_us, __u64 *least,
			       __u64 *base)
{
	int i;

	if (law_since(now, d->minute_began) >= BY_DELAY_MINUTE_NS) {
		d->minute_began = now;
		for (i = BY_DELAY_MINUTES - 1; i > 0; i--)
			d->minutes[i] = d->minutes[i - 1];
		d->minutes[0] = rtt_us;
	}
	if (!d->minutes[0] || rtt_us < d->minutes[0])
		d->minutes[0] = rtt_us;
	d->current[d->next % BY_DELAY_CURRENT] = rtt_us;
	d->next = (d->next + 1) % BY_DELAY_CURRENT;
	*least = rtt_us;
	for (i = 0; i < BY_DELAY_CURRENT; i++)
		if (d->current[i])
			*least = law_min(*least, d->current[i]);
	*base = d->minutes[0];
	for (i = 1; i < BY_DELAY_MINUTES; i++)
		if (d->minutes[i])
			*base = law_min(*base, d->minutes[i]);
}

LAW_INLINE void by_delay_advance(struct by_delay *d, __u64 now, __u64 rtt_us, __u64 queueing)
{
	__u64 rounds = rtt_us * 1000 * BY_DELAY_ROUNDS;

	if (d->phase == BY_DELAY_SLOW_START) {
		if (queueing > BY_DELAY_SLOW_START_ENDS_US) {
			d->phase = BY_DELAY_STEERING;
			d->at = law_add(now, rounds);
		}
	} else if (d->phase == BY_DELAY_STEERING) {
		if (d->at <= now) {
			d->to = d->cwnd;
			d->cwnd = BY_DELAY_LEAST * d->mss;
			d->since = now;
			d->at = law_add(now, rounds);
			d->phase = BY_DELAY_SLOWED;
		}
	} else if (d->phase == BY_DELAY_SLOWED) {
		if (d->at <= now)
			d->phase = BY_DELAY_COMING_BACK;
	} else if (d->cwnd >= d->to) {
		d->phase = BY_DELAY_STEERING;
		d->at = law_add(now, law_since(now, d->since) * BY_DELAY_APART);
	}
}

LAW_INLINE void by_delay_steer(struct by_delay *d, __u64 queueing, __u64 divisor, __u64 acked)
{
	__u64 whole, less;

	if (queueing <= BY_DELAY_TARGET_US) {
		whole = law_max(divisor * d->cwnd, 1);
		d->credit += acked * d->mss;
		d->cwnd += d->credit / whole;
		d->credit %= whole;
		return;
	}
	less = d->cwnd * (queueing - BY_DELAY_TARGET_US) / BY_DELAY_TARGET_US;
	less = law_min(law_since(less, d->mss / law_max(divisor, 1)), d->cwnd / 2);
	less = less * law_min(acked, d->cwnd) / law_max(d->cwnd, 1);
	d->cwnd = law_max(d->cwnd - less, BY_DELAY_LEAST * d->mss);
	d->credit = 0;
}

/* An ACK; without @grows the window is not what limits, or losses are repaired. Checked once,
 * apart. */
LAW_PART int by_delay_ack(struct by_delay *d, __u64 now, __u32 rtt_us, __u64 acked, int grows)
{
	__u64 least, base, queueing, divisor;

	if (!d || !rtt_us)
		return 0;
	rtt_us = law_min(rtt_us, LAW_MAX_RTT_US);
	acked = law_min(acked, BY_DELAY_MAX_CWND);
	by_delay_learn(d, now, rtt_us, &least, &base);
	queueing = law_since(least, base);
	by_delay_advance(d, now, least, queueing);
	if (!grows)
		return 1;
	base = law_max(base, 1);
	divisor = (2 * BY_DELAY_TARGET_US + base - 1) / base;
	divisor = law_min(law_max(divisor, 1), BY_DELAY_MAX_DIVISOR);
	if (d->phase == BY_DELAY_STEERING)
		by_delay_steer(d, queueing, divisor, acked);
	else if (d->phase != BY_DELAY_SLOWED)
		d->cwnd += acked / divisor;
	d->cwnd = law_min(d->cwnd, BY_DELAY_MAX_CWND);
	return 1;
}

LAW_INLINE void by_delay_cut(struct by_delay *d, __u64 now)
{
	__u64 rtt_us = 0;
	int i;

	d->cwnd = law_max(d->cwnd / 2, BY_DELAY_LEAST * d->mss);
	d->credit = 0;
	if (d->phase != BY_DELAY_SLOW_START)
		return;
	for (i = 0; i < BY_DELAY_CURRENT; i++)
		rtt_us = law_max(rtt_us, d->current[i]);
	d->phase = BY_DELAY_STEERING;
	d->at = law_add(now, rtt_us * 1000 * BY_DELAY_ROUNDS);
}

LAW_INLINE void by_delay_timeout(struct by_delay *d, __u64 now)
{
	d->to = law_max(d->cwnd / 2, BY_DELAY_LEAST * d->mss);
	d->cwnd = d->mss;
	d->credit = 0;
	d->since = now;
	d->phase = BY_DELAY_COMING_BACK;
}

#endif /* SOUNDING_BY_DELAY_H */
