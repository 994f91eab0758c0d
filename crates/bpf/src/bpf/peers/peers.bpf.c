// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * On a server: reads the option with what a device's downlink carries, and keeps it with the socket
 * for the congestion control.
 */
#include "common/kernel_types.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_endian.h>
#include "common/input.h"
#include "common/sockops.h"
#include "peers/peers.h"

char _license[] SEC("license") = "Dual MIT/GPL";

/* Set by the loader before load. */
const volatile __u32 exid = 0;
const volatile __u64 at_most = 0;	/* bytes/s of IP packets */
const volatile __u64 netns_cookie = 0;	/* whose sockets are counted and reported; 0: all */

/* What was not believed, of all connections of that network namespace. */
__u64 segments_forged = 0;		/* with the option, that TCP drops */
__u64 segments_unreadable = 0;		/* whose option means nothing to this version */
__u64 connections_limited = 0;
__u64 connections_overstated = 0;

/* A full ring drops; counted they are before. */
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 64 * 1024);
} reports SEC(".maps");

/* Sockets that the last walk asked for callbacks; and that refused. */
__u64 walked_over = 0;
__u64 walk_refused = 0;

/* TCP's header as far as its flags. */
struct tcp_head {
	__be16 source;
	__be16 dest;
	__be32 seq;
	__be32 ack_seq;
	__u16 flags;
};

/* Whether TCP takes this segment, enum trust_segment. */
static __always_inline __u32 judge_segment(struct bpf_sock_ops *ctx)
{
	struct tcp_head *head = (void *)(long)ctx->skb_data;
	struct bpf_sock *sk = ctx->sk;
	struct tcp_sock *tp;
	int lacks_stamp;

	if (!sk || (void *)(head + 1) > (void *)(long)ctx->skb_data_end)
		return TRUST_FORGED;
	tp = bpf_skc_to_tcp_sock(sk);
	if (!tp)
		return TRUST_FORGED;
	lacks_stamp = BPF_CORE_READ_BITFIELD(tp, rx_opt.tstamp_ok) &&
		      !BPF_CORE_READ_BITFIELD(tp, rx_opt.saw_tstamp);
	return trust_segment(bpf_ntohl(head->ack_seq), tp->snd_una, tp->snd_nxt,
			     tp->max_window, lacks_stamp);
}

/*
 * A container's sockets are in the daemon's cgroup too, and its peers are its own: flows there use
 * what they hear, and it changes no figure here.
 */
static __always_inline int is_counted(struct bpf_sock_ops *ctx)
{
	return !netns_cookie || bpf_get_netns_cookie(ctx) == netns_cookie;
}

static __always_inline void report(struct bpf_sock_ops *ctx, const struct sounding_peer *peer,
				   __u32 cause)
{
	struct sounding_peer_report *r;

	r = bpf_ringbuf_reserve(&reports, sizeof(*r), 0);
	if (!r)
		return;
	r->at_ns = peer->heard_at_ns;
	r->delivered_bytes_per_sec = peer->delivered;
	r->claim = peer->claim;
	r->cause = cause;
	r->family = ctx->family;
	r->local_port = ctx->local_port;
	r->remote_port = bpf_ntohl(ctx->remote_port);
	r->remote[0] = ctx->remote_ip4;
	r->remote[1] = r->remote[2] = r->remote[3] = 0;
	if (ctx->family == AF_INET6) {
		r->remote[0] = ctx->remote_ip6[0];
		r->remote[1] = ctx->remote_ip6[1];
		r->remote[2] = ctx->remote_ip6[2];
		r->remote[3] = ctx->remote_ip6[3];
	}
	bpf_ringbuf_submit(r, 0);
}

/* Reports a connection's first option, and counts it once for each thing that was not believed. */
static __always_inline void count(struct bpf_sock_ops *ctx, struct sounding_peer *peer)
{
	if (!(peer->told & PEER_REPORTED)) {
		peer->told |= PEER_REPORTED;
		report(ctx, peer, CAUSE_FIRST);
	}
	if (peer->claim.claimed > at_most && !(peer->told & PEER_LIMITED)) {
		peer->told |= PEER_LIMITED;
		__sync_fetch_and_add(&connections_limited, 1);
	}
	if (peer->trust.overstated >= TRUST_OVERSTATED && !(peer->told & PEER_OVERSTATED)) {
		peer->told |= PEER_OVERSTATED;
		__sync_fetch_and_add(&connections_overstated, 1);
		report(ctx, peer, CAUSE_OVERSTATED);
	}
}

/* Keeps what an option says, in either version; -1 if that is nothing known. */
static __always_inline int keep(struct sounding_peer *peer, const struct capacity_option *option,
				__u64 now)
{
	__u64 word = bpf_ntohl(option->words[0]);

	if (option->len == OPTION_LENGTH_1) {
		trust_read(word, at_most, &peer->claim);
	} else {
		word = word << 32 | bpf_ntohl(option->words[1]);
		if (trust_read_2(word, at_most, &peer->claim))
			return -1;
		peer->delays = word & WIRE_DELAYS;
		peer->stated_at_ns = now;
	}
	peer->heard_at_ns = now;
	return 0;
}

static __always_inline void read_option(struct bpf_sock_ops *ctx)
{
	/* The searched option: its kind, and the part that is the ExID. */
	struct capacity_option option = {
		.kind = OPTION_KIND,
		.len = 4,
		.exid = bpf_htons(exid),
	};
	struct bpf_sock *sk = ctx->sk;
	struct sounding_peer *peer;
	__u32 segment;
	int counted;
	long read;

	if (!sk)
		return;
	read = bpf_load_hdr_opt(ctx, &option, sizeof(option), 0);
	/* Of a longer one as much as there is room for was read. */
	if (read < 0 && read != -ENOSPC)
		return;
	if (option.len != OPTION_LENGTH_1 && option.len < OPTION_LENGTH_2)
		return;
	segment = judge_segment(ctx);
	counted = is_counted(ctx);
	if (segment == TRUST_FORGED && counted)
		__sync_fetch_and_add(&segments_forged, 1);
	if (segment != TRUST_HEARD)
		return;
	peer = bpf_sk_storage_get(&peers, sk, 0, BPF_SK_STORAGE_GET_F_CREATE);
	if (!peer)
		return;
	if (keep(peer, &option, bpf_ktime_get_ns())) {
		if (counted)
			__sync_fetch_and_add(&segments_unreadable, 1);
		return;
	}
	peer->heard++;
	if (counted)
		count(ctx, peer);
}

/*
 * Sockets ask for callbacks for as long as they live: others may have asked too,
 * and where no program is attached it costs nothing.
 */
static __always_inline void greet(struct bpf_sock_ops *ctx)
{
	struct bpf_sock *sk = ctx->sk;
	struct sounding_peer *peer;

	if (!sk)
		return;
	peer = bpf_sk_storage_get(&peers, sk, 0, BPF_SK_STORAGE_GET_F_CREATE);
	if (!peer)
		return;
	/* A connection begins; its socket may have had another before. */
	__builtin_memset(peer, 0, sizeof(*peer));
	bpf_sock_ops_cb_flags_set(ctx, ctx->bpf_sock_ops_cb_flags |
					       BPF_SOCK_OPS_PARSE_UNKNOWN_HDR_OPT_CB_FLAG);
}

SEC("sockops")
int listen(struct bpf_sock_ops *ctx)
{
	switch (ctx->op) {
	case BPF_SOCK_OPS_ACTIVE_ESTABLISHED_CB:
	case BPF_SOCK_OPS_PASSIVE_ESTABLISHED_CB:
		greet(ctx);
		break;
	case BPF_SOCK_OPS_PARSE_HDR_OPT_CB:
		read_option(ctx);
		break;
	}
	return 1;
}

/* Asks sockets for callbacks that were connected before we came. */
SEC("iter/tcp")
int adopt(struct bpf_iter__tcp *ctx)
{
	struct tcp_sock *tp = walked(ctx);

	if (!tp)
		return 0;
	if (!bpf_sk_storage_get(&peers, tp, 0, BPF_SK_STORAGE_GET_F_CREATE) ||
	    ask(tp, BPF_SOCK_OPS_PARSE_UNKNOWN_HDR_OPT_CB_FLAG))
		walk_refused++;
	else
		walked_over++;
	return 0;
}
