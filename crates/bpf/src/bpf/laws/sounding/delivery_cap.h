/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* How far an estimate is followed, by what the path delivered, as delivery_cap.rs has it. */
#ifndef SOUNDING_DELIVERY_CAP_H
#define SOUNDING_DELIVERY_CAP_H

#include "common/arith.h"

#define SOUNDING_CAP_GAIN	3U
#define SOUNDING_CAP_ROUNDS	5U

struct sounding_delivery_cap {
	__u64 round;			/* most delivered in this round; 0: held back */
	__u64 most;			/* in the rounds counted */
	__u64 before;			/* in as many before */
	__u32 rounds;
	__u32 reserved;
};

LAW_INLINE __u64 sounding_delivery_cap_known(const struct sounding_delivery_cap *cap)
{
	return law_max(cap->most, cap->before);
}

/* An ACK that measured @rate, or 0. */
LAW_INLINE void sounding_delivery_cap_handle_ack(struct sounding_delivery_cap *cap, int over,
						 __u64 rate, int limited)
{
	__u64 known;

	if (over) {
		if (cap->rounds >= SOUNDING_CAP_ROUNDS) {
			cap->before = cap->most;
			cap->most = 0;
			cap->rounds = 0;
		}
		cap->most = law_max(cap->most, cap->round);
		cap->rounds++;
		cap->round = 0;
	}
	known = sounding_delivery_cap_known(cap);
	if (!limited || (known && rate > known))
		cap->round = law_max(cap->round, rate);
}

/* The part of a rate that may be used. */
LAW_INLINE __u64 sounding_delivery_cap_limit(const struct sounding_delivery_cap *cap, __u64 rate)
{
	__u64 known = sounding_delivery_cap_known(cap);

	if (!known)
		return rate;
	return law_min(rate, law_max(known, cap->round) * SOUNDING_CAP_GAIN);
}

#endif /* SOUNDING_DELIVERY_CAP_H */
