/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Which estimate a flow goes by: its own modem's, or that of the device at the
 * other end as far as trust.h believes that.
 */
#ifndef SOUNDING_BELIEVE_H
#define SOUNDING_BELIEVE_H

#include "peers/peers.h"
#include "laws/pool.h"

/*
 * Returns how much of a peer's claim is used at this ACK; @rs is NULL for a restart from idle.
 * @window is the last window set, in segments. A separate function: its stack is then free when the
 * law runs, and Linux 6.1 allows a chain of calls 512 bytes.
 */
static __attribute__((noinline)) void believe(struct sock *sk, struct sounding_peer *peer,
					      const struct law_input *in,
					      const struct rate_sample *rs, __u32 window)
{
	struct trust_input told = {
		.rate = peer->claim.rate,
		.delivered_rate = in->e2e,
		.now_ns = in->now_ns,
		.delivered = ((struct tcp_sock *)sk)->delivered,
		.lost = ((struct tcp_sock *)sk)->lost,
		.mss = in->mss,
		.rtt_us = in->rtt_min_us,
		.queue_us = config.allowance_us,
		.window = window,
	};

	if (rs) {
		told.prior_delivered = rs->prior_delivered;
		told.inflight = rs->prior_in_flight;
		told.limited = rs->is_app_limited;
		told.acked = 1;
	}
	peer->delivered = in->e2e;
	peer->believed = trust_step(&peer->trust, &told);
	peer->believed_fair = trust_within(&peer->trust, &told, peer->claim.fair);
}

/*
 * Replaces the feed by the usable part of a peer's claim. The claim is this flow's alone, so no
 * other flows count.
 */
static __always_inline void use_peer_claim(struct law_input *in, const struct sounding_peer *peer,
					   __u64 alive_at_ns)
{
	int states = peer_states(peer, in->now_ns);

	in->feed.rate_bytes_per_sec = peer->believed;
	in->feed.sampled_at_ns = law_since(peer->heard_at_ns, peer->claim.age_ms * 1000000ULL);
	in->feed.bound = peer->claim.bound;
	in->feed.epoch = peer->heard_at_ns;
	in->feed.valid = peer->claim.known & CLAIM_RATE;
	in->feed.agreeing = law_min(peer->heard, ~0U);
	in->feed.other_flows = 0;
	/* A version 1 option has a rate only of a link that is active. */
	in->feed.state = states ? peer->claim.state : 0;
	in->feed.fair_bytes_per_sec = states ? peer->believed_fair : 0;
	in->feed.users = states ? peer->claim.users : 0;
	in->feed.carriers = states ? peer->claim.carriers : 0;
	in->heartbeat_at_ns = alive_at_ns;
	in->pool = (struct share_pool){
		.hungry = SHARE_WEIGHT, .everybody = SHARE_WEIGHT, .flows = 1,
	};
	in->weight = in->hunger = SHARE_WEIGHT;
}

LAW_PART int use_claim(struct law_input *in, const struct sounding_peer *peer, __u64 alive_at_ns)
{
	if (in && peer)
		use_peer_claim(in, peer, alive_at_ns);
	return 0;
}

/*
 * When the peer's reporter was known to live: it reports on every ACK, and one that ceased to is
 * dead. Where something is missing, SACK blocks may leave the option no room; and before an ACK it
 * had no occasion.
 */
static __always_inline __u64 peer_alive_at(struct sock *sk, const struct sounding_peer *peer,
					   __u64 now, const struct rate_sample *rs)
{
	struct inet_connection_sock *icsk = (struct inet_connection_sock *)sk;

	if (!rs || BPF_CORE_READ_BITFIELD(icsk, icsk_ca_state) != TCP_CA_Open)
		return now;
	return law_since(now, peer->heard_at_ns) <= PEER_SILENCE_NS ? now : 0;
}

/*
 * Fills in what the flow's modem carries and this flow's part of it, or what the modem at the
 * other end carries, if that is less or nothing is known here. Returns how many flows share it.
 */
static __always_inline __u32 select_feed(struct sock *sk, struct sounding_flow *flow,
				  struct member *member, __u32 modem,
				  struct law_input *in, const struct rate_sample *rs)
{
	struct sounding_peer *peer = peer_of(sk, in->now_ns), *stated = 0;
	int own = law_verdict(&config, in) == REASON_FRESH;
	__u32 flows;

	if (peer)
		believe(sk, peer, in, rs, flow->set_cwnd);
	/* One that knows no rate says what it knows of its cells, and limits nothing. */
	if (peer && !(peer->claim.known & CLAIM_RATE)) {
		stated = peer;
		peer = 0;
	}
	/* A flow's claim while this modem reports is not its demand afterwards. */
	flows = share_link(sk, member, modem != NO_MODEM && (own || !peer), in, rs);
	/* A report of this device's modem counts before that, even a reason for no rate. */
	if (stated && !own && !in->feed.lull)
		use_claim(in, stated, peer_alive_at(sk, stated, in->now_ns, rs));
	if (!peer || (own && share_part(&in->pool, in->weight, in->hunger,
					in->feed.rate_bytes_per_sec) <= peer->believed))
		return flows;
	use_claim(in, peer, peer_alive_at(sk, peer, in->now_ns, rs));
	return 1;
}

#endif /* SOUNDING_BELIEVE_H */
