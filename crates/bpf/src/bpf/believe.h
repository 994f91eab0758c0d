/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * How the congestion control obeys what a peer says (peers.h), and what it
 * tells of one that overstates.
 */
#ifndef SOUNDING_BELIEVE_H
#define SOUNDING_BELIEVE_H

#include "input.h"
#include "peers.h"

/* A full ring drops; counted they are before. */
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 64 * 1024);
} overstatements SEC(".maps");

/* What the peer said, if it spoke lately, or NULL. */
static __always_inline struct sounding_peer *peer_of(struct sock *sk, __u64 now)
{
	struct sounding_peer *peer = bpf_sk_storage_get(&peers, sk, 0, 0);

	return peer && law_since(now, peer->heard_at_ns) <= PEER_MAX_AGE_NS ? peer : 0;
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

static __always_inline void report_overstated(struct sock *sk,
					      const struct sounding_peer *peer,
					      const struct law_input *in)
{
	struct peer_counts *counts = count_peers();
	struct sounding_overstatement *o;

	if (counts)
		__sync_fetch_and_add(&counts->connections_overstated, 1);
	o = bpf_ringbuf_reserve(&overstatements, sizeof(*o), 0);
	if (!o)
		return;
	__builtin_memset(o, 0, sizeof(*o));
	o->at_ns = in->now_ns;
	o->said_bytes_per_sec = peer->claim.said;
	o->delivered_bytes_per_sec = in->e2e;
	o->family = sk->__sk_common.skc_family;
	o->local_port = sk->__sk_common.skc_num;
	o->remote_port = bpf_ntohs(sk->__sk_common.skc_dport);
	if (o->family == AF_INET) {
		o->remote[0] = sk->__sk_common.skc_daddr;
	} else if (bpf_core_field_exists(sk->__sk_common.skc_v6_daddr)) {
		/* Read as they are: a kernel that is locked down has no helper for it. */
		o->remote[0] = sk->__sk_common.skc_v6_daddr.in6_u.u6_addr32[0];
		o->remote[1] = sk->__sk_common.skc_v6_daddr.in6_u.u6_addr32[1];
		o->remote[2] = sk->__sk_common.skc_v6_daddr.in6_u.u6_addr32[2];
		o->remote[3] = sk->__sk_common.skc_v6_daddr.in6_u.u6_addr32[3];
	}
	bpf_ringbuf_submit(o, 0);
}

/*
 * What of a peer's claim is believed at this ACK, bytes/s of IP packets; @rs is
 * NULL for a restart from idle. @window is what was last set, segments, and
 * @allowance_us the queue that it has room for.
 */
static __always_inline __u64 believe(struct sock *sk, struct sounding_peer *peer,
				     const struct law_input *in,
				     const struct rate_sample *rs, __u32 window,
				     __u32 allowance_us)
{
	struct trust_input told = {
		.rate = peer->claim.rate,
		.delivered_rate = in->e2e,
		.delivered = ((struct tcp_sock *)sk)->delivered,
		.mss = in->mss,
		.span_us = law_min(in->rtt_min_us, LAW_MAX_RTT_US) +
			   law_min(allowance_us, LAW_MAX_RTT_US),
	};
	__u64 rate;

	if (rs) {
		told.prior_delivered = rs->prior_delivered;
		told.flags |= TRUST_ACK;
		if (rs->is_app_limited)
			told.flags |= TRUST_LIMITED;
		if ((__u64)rs->prior_in_flight * 2 >= window)
			told.flags |= TRUST_USED;
	}
	rate = trust_step(&peer->trust, &told);
	if (peer->trust.overstated >= TRUST_OVERSTATED && !(peer->told & PEER_OVERSTATED)) {
		peer->told |= PEER_OVERSTATED;
		report_overstated(sk, peer, in);
	}
	return rate;
}

/*
 * Puts what of a peer's claim is believed in place of the feed; it is this
 * flow's alone, so nobody else is to be counted.
 */
static __always_inline void obey_peer(struct law_input *in, const struct sounding_peer *peer,
				      __u64 rate)
{
	in->feed.rate_bytes_per_sec = rate;
	in->feed.sampled_at_ns = peer->heard_at_ns;
	in->feed.bound = peer->claim.bound;
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

#endif /* SOUNDING_BELIEVE_H */
