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

LAW_INLINE void windowed_place(struct windowed *w, int place, __u64 now, __u64 value)
{
	w->at_ns[place] = now;
	w->best[place] = value;
}

LAW_INLINE void windowed_move(struct windowed *w, int to, int from)
{
	windowed_place(w, to, w->at_ns[from], w->best[from]);
}

/* Begins with a value; older ones do not count. */
LAW_INLINE void windowed_begin(struct windowed *w, __u64 now, __u64 value)
{
	windowed_place(w, 0, now, value);
	windowed_place(w, 1, now, value);
	windowed_place(w, 2, now, value);
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
	if (value <= w->best[1]) {
		windowed_place(w, 1, now, value);
		windowed_place(w, 2, now, value);
	} else if (value <= w->best[2]) {
		windowed_place(w, 2, now, value);
	}
	age = law_since(now, w->at_ns[0]);
	if (age > window) {
		windowed_move(w, 0, 1);
		windowed_move(w, 1, 2);
		windowed_place(w, 2, now, value);
		if (law_since(now, w->at_ns[0]) > window) {
			windowed_move(w, 0, 1);
			windowed_place(w, 1, now, value);
		}
	} else if (w->at_ns[1] == w->at_ns[0] && age > window / 4) {
		windowed_place(w, 1, now, value);
		windowed_place(w, 2, now, value);
	} else if (w->at_ns[2] == w->at_ns[1] && age > window / 2) {
		windowed_place(w, 2, now, value);
	}
	return 0;
}

#endif /* SOUNDING_WINDOWED_H */
