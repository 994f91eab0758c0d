/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * What the device at the other end of a connection says its downlink carries
 * for it. Written by peers.bpf.c when an ACK brings the option, read by the
 * congestion control at the same ACK.
 */
#ifndef SOUNDING_PEERS_H
#define SOUNDING_PEERS_H

struct sounding_peer {
	__u64 heard_at_ns;		/* CLOCK_MONOTONIC */
	__u64 rate_bytes_per_sec;	/* of IP packets, this flow's share */
	__u64 heard;			/* options so far */
	__u32 bound;			/* enum sounding_bound */
	__u32 reserved;
};
SOUNDING_ASSERT(sizeof(struct sounding_peer) == 32);

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

/* What the peer said, if it spoke lately, or NULL. */
static __always_inline struct sounding_peer *peer_of(struct sock *sk, __u64 now)
{
	struct sounding_peer *peer = bpf_sk_storage_get(&peers, sk, 0, 0);

	return peer && law_since(now, peer->heard_at_ns) <= PEER_MAX_AGE_NS ? peer : 0;
}

/* Puts what the peer says in place of the feed; it is this flow's alone, so nobody else is to be counted. */
static __always_inline void obey_peer(struct law_input *in, const struct sounding_peer *peer)
{
	in->feed.rate_bytes_per_sec = peer->rate_bytes_per_sec;
	in->feed.sampled_at_ns = peer->heard_at_ns;
	in->feed.bound = peer->bound;
	in->feed.epoch = peer->heard_at_ns;
	in->feed.valid = 1;
	in->feed.agreeing = law_min(peer->heard, ~0U);
	in->feed.other_flows = 0;
	/* It lives as long as it speaks. */
	in->heartbeat_at_ns = in->now_ns;
	in->pool = (struct share_pool){
		.hungry = SHARE_WEIGHT, .everybody = SHARE_WEIGHT, .flows = 1,
	};
	in->weight = in->hunger = SHARE_WEIGHT;
}

#endif /* SOUNDING_PEERS_H */
