/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * What the kernel side of `copa_gandalf` and the Rust side agree on. The skeleton
 * carries the types, ../../copa.rs and ../../delay_feed.rs read them.
 *
 * Map "delays"      one struct delay_table for each modem, written by the daemon
 *                   through mmap, read on every ACK. Stale 100 ms after its last record.
 * Map "peers"       one struct sounding_peer a socket, written by peers.bpf.c: what the
 *                   device at its other end says.
 * Map "copa_flows"  one struct copa_flow a socket, read by user space with a socket's
 *                   descriptor as key.
 */
#ifndef SOUNDING_COPA_INTF_H
#define SOUNDING_COPA_INTF_H

#include "copa/corrected.h"

struct copa_flow {
	struct corrected_state law;
	__u64 acks;
	__u32 begun;		/* an ACK was seen */
	__u32 modem;		/* the place of the one it leaves by, or NO_MODEM */
};

struct copa_counts {
	__u64 flows;		/* that began under it */
	__u64 without_memory;
};

#endif /* SOUNDING_COPA_INTF_H */
