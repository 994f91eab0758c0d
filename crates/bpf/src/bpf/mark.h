/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * How the pool of a device tells flows of `background` from all others: they are in
 * another object, under any name. They take only what is left, so that they count as
 * nothing there.
 */
#ifndef SOUNDING_MARK_H
#define SOUNDING_MARK_H

/*
 * In the first word of what the kernel keeps for a socket's algorithm. No other algorithm
 * has this there but by chance. Drawn once.
 */
#define BACKGROUND_MARK		0x9d5c3a17e84bf206ULL

#endif /* SOUNDING_MARK_H */
