/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * What the program that corrects receive times and the Rust side agree on. The
 * skeleton carries the types, ../../arrivals.rs reads and writes them.
 *
 * Map "notices"   two struct arrivals_notice. The program reads the one
 *                 that `current` names. User space writes the other.
 * Map "arrived"   a ring of struct arrivals_packet, one for each packet of media.
 */
#ifndef SOUNDING_ARRIVALS_INTF_H
#define SOUNDING_ARRIVALS_INTF_H

/* Events that a packet is compared with. */
#define ARRIVALS_EVENTS		8
/* Notices that are older say nothing (Gandalf 4.3: without a modem nothing changes). */
#define ARRIVALS_SILENT_NS	100000000ULL
/* No stamp moves by more: a block's four transmissions take 32 ms. Chosen: as long as an uplink's
 * packet may be late without a queue. */
#define ARRIVALS_MOST_NS	80000000ULL
/* Packets of a burst come this much before and after an event's end: host and modem do not agree
 * better. */
#define ARRIVALS_BEFORE_NS	1000000ULL
#define ARRIVALS_AFTER_NS	1500000ULL
/* Bytes of the ring: 2 048 packets. */
#define ARRIVALS_RING		65536

/* A block that was sent again, and whose packets reach the host at `to_ns`. */
struct arrivals_event {
	__u64 to_ns;
	__u64 amount_ns;
};

struct arrivals_notice {
	__u64 heard_ns;		/* the modem was heard; 0: never */
	__u64 lately_ns;	/* what the radio added lately, on average */
	struct arrivals_event events[ARRIVALS_EVENTS];	/* unused ones are zero */
};

struct arrivals_packet {
	__u64 at_ns;		/* CLOCK_MONOTONIC of the kernel */
	__u64 back_ns;		/* how much earlier its stamp says */
	__u32 bytes;
	__u32 by_event;		/* it came in a burst that was known */
};

struct arrivals_counts {
	__u64 packets;		/* of media */
	__u64 corrected;
	__u64 unstamped;	/* the kernel stamps only while a socket asks for stamps */
	__u64 unnoted;		/* the ring was full */
};

#endif /* SOUNDING_ARRIVALS_INTF_H */
