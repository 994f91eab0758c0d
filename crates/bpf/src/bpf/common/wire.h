/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * An estimate in eight bytes, as a TCP option carries it. The format is
 * specified in crates/estimate/src/wire.rs. A test checks that both give the
 * same bits.
 */
#ifndef SOUNDING_WIRE_H
#define SOUNDING_WIRE_H

#include "common/arith.h"

/* The mantissa of a rate: the number of its bits, and the implicit leading bit. */
#define WIRE_MANTISSA_BITS	11
#define WIRE_HIDDEN		(1U << WIRE_MANTISSA_BITS)
/* The largest rate, bytes/s. */
#define WIRE_MOST		((2ULL * WIRE_HIDDEN - 1) << 30)
/* Bit offsets of the fields in the big-endian 64-bit number. */
#define WIRE_RATE		48
#define WIRE_FAIR		32
#define WIRE_USERS		27
#define WIRE_CARRIERS		24
#define WIRE_STATE		21
#define WIRE_FLOOR		20
#define WIRE_AGE		16
#define WIRE_RETRANSMITTED	8
#define WIRE_LONGER		0
/* Both together: struct wire_payload.delay. */
#define WIRE_DELAYS		0xffff
#define WIRE_DELAY_US		250
/* The largest values of the fields; they mean that value or more. */
#define WIRE_MOST_USERS		31
#define WIRE_MOST_CARRIERS	7
#define WIRE_MOST_AGE		15
#define WIRE_AGE_MS		16

/* Length of State::ALL of crates/estimate/src/lib.rs; larger states belong to later versions. */
#define WIRE_STATES		5
#define WIRE_STATE_BITS		7

struct wire_payload {
	__u64 rate;		/* bytes/s of IP packets; 0: unknown */
	__u64 fair;		/* the fair share, bytes/s of IP packets; 0: unknown */
	__u32 users;		/* 0: unknown */
	__u32 carriers;		/* 0: unknown */
	__u32 state;		/* place in State::ALL */
	__u32 bound;		/* enum estimate_bound */
	__u32 age_ms;
	__u32 delays;		/* two codes, see wire_delay_us(); 0: both unknown */
};

/* The 16 bits of a rate, rounded to the nearest code; 0 is unknown. */
LAW_PART __u32 wire_code(__u64 rate)
{
	__u64 units = law_min(rate, WIRE_MOST);
	__u32 exponent = 0, step;

	for (step = 16; step; step /= 2)
		if (units >> (exponent + step) >= WIRE_HIDDEN)
			exponent += step;
	/* A mantissa that rounds up to twice the hidden bit carries into the exponent. */
	return (exponent << WIRE_MANTISSA_BITS) +
	       ((units + (1ULL << exponent >> 1)) >> exponent);
}

LAW_INLINE __u64 wire_rate(__u32 code)
{
	__u32 exponent = code >> WIRE_MANTISSA_BITS & 31;
	__u64 mantissa = code & (WIRE_HIDDEN - 1);

	return exponent ? (WIRE_HIDDEN + mantissa) << (exponent - 1) : mantissa;
}

/*
 * A code of a delay: 0 is unknown, and corrects nothing; any other is one more than the delay
 * in units of 250 us.
 */
LAW_INLINE __u32 wire_delay_us(__u32 delays, __u32 shift)
{
	__u32 code = delays >> shift & 0xff;

	return code ? (code - 1) * WIRE_DELAY_US : 0;
}

LAW_INLINE __u64 wire_emit(const struct wire_payload *says)
{
	return (__u64)wire_code(says->rate) << WIRE_RATE |
	       (__u64)wire_code(says->fair) << WIRE_FAIR |
	       law_min(says->users, WIRE_MOST_USERS) << WIRE_USERS |
	       law_min(says->carriers, WIRE_MOST_CARRIERS) << WIRE_CARRIERS |
	       (__u64)(says->state & WIRE_STATE_BITS) << WIRE_STATE |
	       (__u64)(says->bound == BOUND_FLOOR) << WIRE_FLOOR |
	       law_min(says->age_ms / WIRE_AGE_MS, WIRE_MOST_AGE) << WIRE_AGE |
	       (says->delays & WIRE_DELAYS);
}

/* Whether this version knows the state in these bytes. */
LAW_INLINE int wire_is_known(__u64 word)
{
	return (word >> WIRE_STATE & WIRE_STATE_BITS) < WIRE_STATES;
}

/* Decodes such bytes. */
LAW_INLINE void wire_parse(__u64 word, struct wire_payload *says)
{
	says->rate = wire_rate(word >> WIRE_RATE & 0xffff);
	says->fair = wire_rate(word >> WIRE_FAIR & 0xffff);
	says->users = word >> WIRE_USERS & WIRE_MOST_USERS;
	says->carriers = word >> WIRE_CARRIERS & WIRE_MOST_CARRIERS;
	says->state = word >> WIRE_STATE & WIRE_STATE_BITS;
	says->bound = word >> WIRE_FLOOR & 1 ? BOUND_FLOOR : BOUND_CAPACITY;
	says->age_ms = (word >> WIRE_AGE & WIRE_MOST_AGE) * WIRE_AGE_MS;
	says->delays = word & WIRE_DELAYS;
}

#endif /* SOUNDING_WIRE_H */
