/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The backlog to keep at the radio, by how its rate varies, as queue_target.rs has it. */
#ifndef SOUNDING_QUEUE_TARGET_H
#define SOUNDING_QUEUE_TARGET_H

#include "common/input.h"

#define SOUNDING_FIRST_TARGET_US	8000U
#define SOUNDING_MAX_TARGET_US	40000U
#define SOUNDING_MIN_TARGET_US	13000U
#define SOUNDING_MIN_PER_VARIATION 200U
#define SOUNDING_LESS_PERMILLE	12U
#define SOUNDING_MORE_PERMILLE	10U
#define SOUNDING_MORE_PER_VARIATION 5U
#define SOUNDING_MAX_ELAPSED_US	100000U
#define SOUNDING_USUAL_SHIFT	5
#define SOUNDING_UNKNOWN_PERMILLE	200U
#define SOUNDING_STEP_PER_MILLE	40U
#define SOUNDING_MIN_STEP	2U
#define SOUNDING_MAX_FIRST_STEP	16U

struct sounding_queue_target {
	__u64 usual_rate;		/* of the radio: the mean, and mean deviation */
	__u64 usual_deviation;
	__u32 usual_known;
	__u32 span_us;
};

LAW_INLINE __u64 sounding_queue_target_variation(const struct sounding_queue_target *target)
{
	if (!target->usual_rate)
		return SOUNDING_UNKNOWN_PERMILLE;
	return law_min(target->usual_deviation * 1000 / target->usual_rate, 1000);
}

LAW_INLINE __u32 sounding_queue_target_first_step(const struct sounding_queue_target *target)
{
	__u64 step = sounding_queue_target_variation(target) * SOUNDING_STEP_PER_MILLE / 1000;

	return law_min(law_max(step, SOUNDING_MIN_STEP), SOUNDING_MAX_FIRST_STEP);
}

LAW_INLINE __u64 sounding_queue_target_span(const struct sounding_queue_target *target)
{
	__u64 least = sounding_queue_target_variation(target) * SOUNDING_MIN_PER_VARIATION;

	return law_max(law_min(least, SOUNDING_MIN_TARGET_US), target->span_us);
}

/* Whether a backlog was left. */
LAW_INLINE void sounding_queue_target_handle_bound(struct sounding_queue_target *target,
						   __u32 bound, __u64 elapsed_ns)
{
	__u64 us = law_min(elapsed_ns / 1000, SOUNDING_MAX_ELAPSED_US), more;

	if (bound == BOUND_CAPACITY) {
		target->span_us = law_since(target->span_us, us * SOUNDING_LESS_PERMILLE / 1000);
		return;
	}
	more = SOUNDING_MORE_PERMILLE * 10 +
	       SOUNDING_MORE_PER_VARIATION * sounding_queue_target_variation(target);
	target->span_us = law_min(target->span_us + us * more / 10000, SOUNDING_MAX_TARGET_US);
}

LAW_INLINE __u64 sounding_blend(__u64 old, __u64 new)
{
	return ((old << SOUNDING_USUAL_SHIFT) - old + new) >> SOUNDING_USUAL_SHIFT;
}

LAW_INLINE void sounding_queue_target_handle_capacity(struct sounding_queue_target *target,
						      __u64 rate)
{
	__u64 mean = target->usual_rate;

	if (!target->usual_known) {
		target->usual_known = 1;
		target->usual_rate = rate;
		target->usual_deviation = rate * SOUNDING_UNKNOWN_PERMILLE / 1000;
		return;
	}
	target->usual_rate = sounding_blend(mean, rate);
	target->usual_deviation = sounding_blend(target->usual_deviation,
						 rate > mean ? rate - mean : mean - rate);
}

LAW_INLINE void sounding_queue_target_forget(struct sounding_queue_target *target)
{
	target->usual_known = 0;
	target->usual_rate = 0;
}

#endif /* SOUNDING_QUEUE_TARGET_H */
