/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The downlink's rate for a connection, as the device at its other end reports it. Written by
 * peers.bpf.c when an ACK brings the option, read by the congestion control at the same ACK, as far
 * as trust.h believes it.
 */
#ifndef SOUNDING_PEERS_H
#define SOUNDING_PEERS_H

#include "common/trust.h"

struct sounding_peer {
	__u64 heard_at_ns;		/* CLOCK_MONOTONIC */
	__u64 stated_at_ns;		/* when an option last had state and fair share */
	struct peer_claim claim;
	__u64 believed;			/* the part of its rate that the last ACK believed, bytes/s */
	__u64 believed_fair;		/* and of its fair share */
	__u64 delivered;		/* most of the last ten rounds, payload bytes/s */
	__u64 heard;			/* options received so far */
	struct peer_trust trust;
	__u32 told;			/* what was counted of this connection, PEER_* */
	__u32 delays;			/* what the radio adds, codes of wire.h, of stated_at_ns */
};
SOUNDING_ASSERT(sizeof(struct sounding_peer) == 200);

/* Flags of struct sounding_peer. */
#define PEER_LIMITED		1	/* it said more than the limit */
#define PEER_OVERSTATED		2	/* and more than the path bears out, for rounds */
#define PEER_REPORTED		4	/* its first option was reported */

/*
 * The oldest usable option, as old as an estimate may be: a device writes it on every segment that
 * has room. Where nothing is missing there is room, and silence counts sooner (believe.h).
 */
#define PEER_MAX_AGE_NS		200000000ULL
/*
 * So long ACKs may lack it there. With what the device waits for its daemon (downlink.h), a path of
 * 20 ms and a pause of 20 ms between ACKs, a flow falls within 80 ms of its reporter's death.
 * Chosen.
 */
#define PEER_SILENCE_NS		20000000ULL

struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct sounding_peer);
} peers SEC(".maps");

/* What the peer reported, if it did recently, or NULL. */
static __always_inline struct sounding_peer *peer_of(struct sock *sk, __u64 now)
{
	struct sounding_peer *peer = bpf_sk_storage_get(&peers, sk, 0, 0);

	return peer && law_since(now, peer->heard_at_ns) <= PEER_MAX_AGE_NS ? peer : 0;
}

/* Whether state and fair share are of now. */
static __always_inline int peer_states(const struct sounding_peer *peer, __u64 now)
{
	return peer->claim.known & CLAIM_STATE &&
	       law_since(now, peer->stated_at_ns) <= PEER_MAX_AGE_NS;
}

/* A peer's radio delay is known for so long after its report: as long as that of an own modem. */
#define PEER_DELAYS_NS		100000000ULL

/* The codes of that; 0: nothing is known. */
static __always_inline __u32 peer_delays(struct sock *sk, __u64 now)
{
	struct sounding_peer *peer = bpf_sk_storage_get(&peers, sk, 0, 0);

	if (!peer || law_since(now, peer->stated_at_ns) > PEER_DELAYS_NS)
		return 0;
	return peer->delays;
}

/* Nothing was under way since @before: its path may be another. */
static __always_inline void peer_idle(struct sock *sk, __u64 now, __u64 before)
{
	struct sounding_peer *peer;

	if (law_since(now, before) < TRUST_IDLE_NS)
		return;
	peer = bpf_sk_storage_get(&peers, sk, 0, 0);
	if (peer)
		trust_forget(&peer->trust, ((struct tcp_sock *)sk)->delivered);
}

#endif /* SOUNDING_PEERS_H */
