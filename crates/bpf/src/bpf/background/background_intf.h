/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * What the kernel side of `background` and the Rust side agree on. The skeleton
 * carries the types, ../../background.rs reads them.
 *
 * Map "backgrounds"  one struct background_flow a socket, read by user space with
 *                    a socket's descriptor as key.
 * Map "receivers"    the same of a socket whose receive window the law sets.
 */
#ifndef SOUNDING_BACKGROUND_INTF_H
#define SOUNDING_BACKGROUND_INTF_H

#include "background/background.h"
#include "background/peer_clock.h"

/* TCP_CA_NAME_MAX */
#define CA_NAME_BYTES	16

struct background_flow {
	struct background_state law;
	struct peer_clock clock;
	__u64 since_ns;				/* of this phase */
	__u64 in_phase_ns[BACKGROUND_PHASES];	/* of phases that have ended */
	__u32 noted_phase;
	__u32 transitions;
	__u32 marked;				/* tp->delivered_ce, as of the last ACK */
	__u32 begun;				/* an ACK was seen */
	__u32 was_accepted;			/* the other end connected */
	__u32 reserved;
};

struct background_receiver {
	struct background_state law;
	struct peer_clock clock;		/* of the sender */
	__u64 since_ns;				/* of this phase */
	__u64 in_phase_ns[BACKGROUND_PHASES];	/* of phases that have ended */
	__u64 sent_ns;				/* when the newest segment left, on that clock */
	__u64 bytes;				/* received, when it was last looked at */
	__u32 sent;				/* the sender's last stamp, if has_sent */
	__u32 has_sent;
	__u32 window;				/* the clamp we set; 0: none */
	__u32 theirs;				/* the clamp without us */
	__u32 noted_phase;
	__u32 transitions;
	__u32 begun;				/* its first segment was seen */
	__u32 reserved;
};

struct background_counts {
	__u64 flows;		/* that began under it */
	__u64 by_delay;		/* times that one went by delay */
	__u64 without_memory;
	__u64 chosen;		/* sockets of the cgroup that were given it */
	__u64 refused;		/* and those whose kernel would not */
	__u64 received;		/* that receive as background */
};

#endif /* SOUNDING_BACKGROUND_INTF_H */
