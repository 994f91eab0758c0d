/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * A minimum over a sliding window in the space of three, as
 * crates/cc/src/part/filter.rs has it. A maximum is the minimum of complements.
 */
#ifndef SOUNDING_WINDOWED_H
#define SOUNDING_WINDOWED_H

#include "common/arith.h"

struct windowed {
	__u64 at_ns[3];		/* 0: nothing was folded in */
	__u64 best[3];
};

LAW_INLINE int windowed_known(const struct windowed *w)
{
	return w->at_ns[0] != 0;
}

LAW_INLINE void windowed_forget(struct windowed *w)
{
	w->at_ns[0] = 0;
}

/* The new value in the last places, from this one on. */
LAW_INLINE void windowed_fill(struct windowed *w, int from, __u64 now, __u64 value)
{
	for (; from < 3; from++) {
		w->at_ns[from] = now;
		w->best[from] = value;
	}
}

/* Begins with a value; older ones do not count. */
LAW_INLINE void windowed_begin(struct windowed *w, __u64 now, __u64 value)
{
	windowed_fill(w, 0, now, value);
}

/* The next best replace the best. */
LAW_INLINE void windowed_shift(struct windowed *w, __u64 now, __u64 value)
{
	w->at_ns[0] = w->at_ns[1];
	w->best[0] = w->best[1];
	w->at_ns[1] = w->at_ns[2];
	w->best[1] = w->best[2];
	windowed_fill(w, 2, now, value);
}

LAW_PART int windowed_update(struct windowed *w, __u64 window, __u64 now, __u64 value)
{
	__u64 age;

	if (!w)
		return 0;
	if (!windowed_known(w) || value <= w->best[0] || law_since(now, w->at_ns[2]) > window) {
		windowed_begin(w, now, value);
		return 0;
	}
	if (value <= w->best[1])
		windowed_fill(w, 1, now, value);
	else if (value <= w->best[2])
		windowed_fill(w, 2, now, value);
	age = law_since(now, w->at_ns[0]);
	if (age > window) {
		windowed_shift(w, now, value);
		if (law_since(now, w->at_ns[0]) > window)
			windowed_shift(w, now, value);
	} else if (w->at_ns[1] == w->at_ns[0] && age > window / 4) {
		windowed_fill(w, 1, now, value);
	} else if (w->at_ns[2] == w->at_ns[1] && age > window / 2) {
		windowed_fill(w, 2, now, value);
	}
	return 0;
}

#endif /* SOUNDING_WINDOWED_H */
