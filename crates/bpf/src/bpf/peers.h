/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * What the device at the other end of a connection says its downlink carries
 * for it. Written by peers.bpf.c when an ACK brings the option, read by the
 * congestion control at the same ACK, as far as it believes it (trust.h).
 */
#ifndef SOUNDING_PEERS_H
#define SOUNDING_PEERS_H

#include "trust.h"

struct sounding_peer {
	__u64 heard_at_ns;		/* CLOCK_MONOTONIC */
	struct trust_claim claim;	/* of this flow's share */
	__u64 heard;			/* options so far */
	struct peer_trust trust;
	__u32 told;			/* what was counted of this connection, PEER_* */
	__u32 reserved;
};
SOUNDING_ASSERT(sizeof(struct sounding_peer) == 72);

/* Flags of struct sounding_peer. */
#define PEER_LIMITED		1	/* it said more than the limit */
#define PEER_OVERSTATED		2	/* and more than the path bears out, for rounds */

/*
 * As old as an option may be: a device writes it on every segment, and a flow
 * whose ACKs are further apart than that has nothing to be told.
 */
#define PEER_MAX_AGE_NS		100000000ULL

struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct sounding_peer);
} peers SEC(".maps");

/* What was not believed, of all connections. Added to by all processors at once. */
struct peer_counts {
	__u64 segments_forged;		/* with the option, that TCP drops */
	__u64 connections_limited;
	__u64 connections_overstated;
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct peer_counts);
} peer_counts SEC(".maps");

static __always_inline struct peer_counts *count_peers(void)
{
	__u32 only = 0;

	return bpf_map_lookup_elem(&peer_counts, &only);
}

#endif /* SOUNDING_PEERS_H */
