/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The best value of a sliding window in the space of three, as
 * crates/cc/src/part/filter.rs has it: a minimum or a maximum of 64 bits.
 */
#ifndef SOUNDING_WINDOWED64_H
#define SOUNDING_WINDOWED64_H

#include "common/arith.h"

struct windowed64 {
	__u64 at_ns[3];
	__u64 best[3];
	__u32 known;		/* 0: nothing was folded in */
	__u32 is_max;
};

LAW_INLINE int windowed64_beats(const struct windowed64 *w, __u64 value, __u64 than)
{
	return w->is_max ? value >= than : value <= than;
}

LAW_INLINE void windowed64_place(struct windowed64 *w, int place, __u64 now, __u64 value)
{
	w->at_ns[place] = now;
	w->best[place] = value;
}

LAW_INLINE void windowed64_move(struct windowed64 *w, int to, int from)
{
	windowed64_place(w, to, w->at_ns[from], w->best[from]);
}

LAW_PART int windowed64_update(struct windowed64 *w, __u64 window, __u64 now, __u64 value)
{
	__u64 age;

	if (!w)
		return 0;
	if (!w->known || windowed64_beats(w, value, w->best[0]) ||
	    law_since(now, w->at_ns[2]) > window) {
		w->known = 1;
		windowed64_place(w, 0, now, value);
		windowed64_place(w, 1, now, value);
		windowed64_place(w, 2, now, value);
		return 1;
	}
	if (windowed64_beats(w, value, w->best[1])) {
		windowed64_place(w, 1, now, value);
		windowed64_place(w, 2, now, value);
	} else if (windowed64_beats(w, value, w->best[2])) {
		windowed64_place(w, 2, now, value);
	}
	age = law_since(now, w->at_ns[0]);
	if (age > window) {
		windowed64_move(w, 0, 1);
		windowed64_move(w, 1, 2);
		windowed64_place(w, 2, now, value);
		if (law_since(now, w->at_ns[0]) > window) {
			windowed64_move(w, 0, 1);
			windowed64_place(w, 1, now, value);
		}
	} else if (w->at_ns[1] == w->at_ns[0] && age > window / 4) {
		windowed64_place(w, 1, now, value);
		windowed64_place(w, 2, now, value);
	} else if (w->at_ns[2] == w->at_ns[1] && age > window / 2) {
		windowed64_place(w, 2, now, value);
	}
	return 1;
}

#endif /* SOUNDING_WINDOWED64_H */
