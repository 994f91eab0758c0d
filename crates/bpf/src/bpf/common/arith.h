/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Arithmetic of the laws, and the bounds that keep its products below 2^64: no
 * kernel header, no clock, no memory but the caller's.
 */
#ifndef SOUNDING_ARITH_H
#define SOUNDING_ARITH_H

#include "common/intf.h"

#define LAW_INLINE static inline __attribute__((always_inline))

/*
 * A part of a law that the verifier checks once, separately. Inlined, it would be checked in every
 * state that the code before it can leave. A separate part knows nothing about its arguments, and
 * therefore checks them.
 */
#ifdef __bpf__
#define LAW_PART __attribute__((noinline))
#else
#define LAW_PART static inline
#endif

/* 100 Gbit/s: no radio carries more. */
#define LAW_MAX_RATE	12500000000ULL
/* No path and no setting comes near. */
#define LAW_MAX_RTT_US	10000000U
#define LAW_MAX_SEGS	(1U << 20)
#define LAW_MAX_MSS	65535U
/* TCP and IPv4 headers with timestamps: what a segment adds on the radio. */
#define LAW_HEADERS	52U
/*
 * 1 Mbit/s. Below it the window holds a flow back, not the pacing timer: at a
 * rate of zero the timer would outlive the outage. Chosen.
 */
#define LAW_MIN_PACING	125000ULL
/*
 * 1.2 Mbit/s. Below it TCP hands down single segments, above it at least two,
 * as BBR has it do (bbr_min_tso_rate).
 */
#define LAW_SLOW	150000ULL
/* Window after an RTO, as after any restart: RFC 6928's IW10 (interpretation 10). */
#define LAW_RESTART_CWND 10U
/* The least that a stock algorithm begins with, as BBR. */
#define LAW_STOCK_CWND	4U
/* The least window there is, even on a link that carries nothing. */
#define LAW_FLOOR_CWND	2U

LAW_INLINE __u64 law_min(__u64 a, __u64 b)
{
	return a < b ? a : b;
}

LAW_INLINE __u64 law_max(__u64 a, __u64 b)
{
	return a > b ? a : b;
}

/* Time from @then to @now; zero if @then is the later. */
LAW_INLINE __u64 law_since(__u64 now, __u64 then)
{
	return now > then ? now - then : 0;
}

/* A moment @span after @now, or the end of time. */
LAW_INLINE __u64 law_add(__u64 now, __u64 span)
{
	return now + span < now ? ~0ULL : now + span;
}

/* Whether @seen, which wraps, has reached @goal. */
LAW_INLINE int law_reached(__u32 seen, __u32 goal)
{
	return (__s32)(seen - goal) >= 0;
}

/* Payload of a segment, within what the arithmetic bears. */
LAW_INLINE __u32 law_mss(__u32 mss)
{
	return law_min(law_max(mss, 1), LAW_MAX_MSS);
}

/* Payload's part of a rate of IP packets. */
LAW_INLINE __u64 law_payload(__u64 rate, __u32 mss)
{
	return rate * mss / (mss + LAW_HEADERS);
}

/*
 * Segments that TCP hands down at once at a rate of payload: a millisecond's
 * worth, as in Linux, of at most @most bytes.
 */
LAW_INLINE __u64 law_burst(__u64 payload, __u32 mss, __u32 most)
{
	return law_max(law_min(payload >> 10, most) / mss, payload < LAW_SLOW ? 1 : 2);
}

#endif /* SOUNDING_ARITH_H */
