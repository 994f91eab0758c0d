// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * On the device: limits its senders to what the downlink carries, by the receive window or by an
 * option. Runs before every segment that a socket of the cgroup sends, pure ACKs included, because
 * that is when the window and the options of the segment are made.
 */
#include "common/kernel_types.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_endian.h>
#include "common/input.h"
#include "common/shared.h"
#include "common/epoch.h"
#include "common/owner.h"
#include "common/radio.h"
#include "common/sockops.h"
#include "downlink/downlink.h"

char _license[] SEC("license") = "Dual MIT/GPL";

/* Set by the loader before load; the verifier then sees constants. */
const volatile struct downlink_settings settings;

/* Sockets in which the last walk enabled callbacks or restored the window; and those that refused.
 * */
__u64 walked_over = 0;
__u64 walk_refused = 0;

/* Users that receive, see count_in(). */
__u64 active_users = 0;

/* What a user receives by. */
struct receiver {
	__u64 flows;		/* that receive, see count_in() */
	__u32 counted_epoch;	/* in which this user was counted */
	__u32 reserved;
};

/* By uid, the least recently seen first to be forgotten. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1024);
	__type(key, __u32);
	__type(value, struct receiver);
} receivers SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct downlink_flow);
} downlinks SEC(".maps");

/*
 * A socket that has received nothing yet has not got a number. Where no device
 * was named, whatever is not loopback is the modem's.
 */
static __always_inline int over_the_radio(struct tcp_sock *tp)
{
	__u32 number = ((struct sock *)tp)->sk_rx_dst_ifindex;

	if (!number || !radios.netns_cookie)
		return number && number != LOOPBACK_IFINDEX;
	return modem_of_device(number) != NO_MODEM;
}

/* Only there can a walk put sockets back that have nothing to send. */
static __always_inline int is_of_our_namespace(struct bpf_sock_ops *ctx)
{
	return bpf_get_netns_cookie(ctx) == settings.netns_cookie;
}

/*
 * The shortest round trip that either side of this socket saw. The handshake
 * measured one; but an uplink that had to be asked for was in it, which ACKs of
 * running data need not wait for, and so the receiver's own estimate counts
 * where it is shorter.
 */
static __always_inline __u32 least_rtt(struct downlink_flow *flow, struct tcp_sock *tp)
{
	__u32 sent = tp->rtt_min.s[0].v;
	__u32 received = tp->rcv_rtt_est.rtt_us >> 3;

	if (received && (!flow->rtt_us || received < flow->rtt_us))
		flow->rtt_us = received;
	if (sent && sent != ~0U && (!flow->rtt_us || sent < flow->rtt_us))
		flow->rtt_us = sent;
	return flow->rtt_us;
}

static __always_inline void set_clamp(struct bpf_sock_ops *ctx, __u32 clamp)
{
	int value = clamp;

	bpf_setsockopt(ctx, SOL_TCP, TCP_WINDOW_CLAMP, &value, sizeof(value));
}

/* Brings the clamp to @wanted; 0 is what it is without us. */
static __always_inline void clamp(struct bpf_sock_ops *ctx, struct tcp_sock *tp,
				  struct downlink_flow *flow, __u32 wanted)
{
	__u32 now = tp->window_clamp;

	if (!wanted) {
		if (!flow->window)
			return;
		set_clamp(ctx, flow->theirs);
		flow->window = 0;
		flow->releases++;
		return;
	}
	if (now == flow->window && !downlink_noticeable(now, wanted))
		return;
	set_clamp(ctx, wanted);
	/* As the kernel took it: it has a minimum clamp. */
	flow->window = tp->window_clamp;
	flow->clamps++;
}

/* Version 1's 32 bits. */
static __always_inline __u32 option_of(const struct wire_payload *says)
{
	__u32 kbit = law_min(says->rate / 125, OPTION_MOST);

	return says->bound == BOUND_FLOOR ? kbit | OPTION_FLOOR : kbit;
}

/* What the next segment says, in as many bytes as there is room for. */
static __always_inline void prepare(struct bpf_sock_ops *ctx, struct downlink_flow *flow,
				    const struct wire_payload *says)
{
	if (!bpf_reserve_hdr_opt(ctx, OPTION_LENGTH_2, 0)) {
		flow->told = wire_emit(says);
		flow->option_length = OPTION_LENGTH_2;
	} else if (says->rate && !bpf_reserve_hdr_opt(ctx, OPTION_LENGTH_1, 0)) {
		flow->told = option_of(says);
		flow->option_length = OPTION_LENGTH_1;
	}
}

static __always_inline struct receiver *receiver_of(__u32 uid)
{
	struct receiver *receiver = bpf_map_lookup_elem(&receivers, &uid);
	struct receiver none = {};

	if (receiver)
		return receiver;
	bpf_map_update_elem(&receivers, &uid, &none, BPF_NOEXIST);
	return bpf_map_lookup_elem(&receivers, &uid);
}

/* How many users receive; this one does if @received. */
static __always_inline __u32 users_beside(struct receiver *user, int received, __u32 epoch)
{
	__u32 before = user->counted_epoch, counted = epoch;

	/* Another processor may be at the same user. */
	if (received && before != epoch &&
	    __sync_val_compare_and_swap(&user->counted_epoch, before, epoch) == before)
		counted = before;
	return count_in(&active_users, &counted, epoch);
}

/*
 * The number of equal parts of the link, one of them this flow's, if it received data in this
 * epoch or the one before, in order or not; else 0. Users have equal parts, and so have the flows
 * of a user in its part: more flows gain a user nothing.
 */
static __always_inline __u32 sharers(struct downlink_flow *flow, struct tcp_sock *tp,
				     __u64 now)
{
	__u32 epoch = epoch_of(now), counted = epoch, flows, users;
	struct receiver *user = receiver_of(owner_of((struct sock *)tp));
	int received = tp->data_segs_in != flow->received;

	if (!user)
		return 0;
	if (received)
		counted = flow->counted_epoch;
	users = users_beside(user, received, epoch);
	flows = count_in(&user->flows, &counted, epoch);
	if (received)
		flow->counted_epoch = counted;
	flow->received = tp->data_segs_in;
	/* Either is below 2^16. */
	return epoch - flow->counted_epoch <= 1 ? flows * users : 0;
}

static __always_inline void attend(struct bpf_sock_ops *ctx)
{
	struct law_config limits = {
		.max_age_ns = settings.max_age_ns,
		.max_silence_ns = settings.max_silence_ns,
	};
	struct law_input feed_in = {};
	struct downlink_input in = {};
	struct wire_payload says = {};
	struct bpf_sock *sk = ctx->sk;
	struct downlink_flow *flow;
	struct tcp_sock *tp;
	int has_rate, is_fresh;
	__u32 wanted;

	if (!sk || !is_of_our_namespace(ctx))
		return;
	tp = bpf_skc_to_tcp_sock(sk);
	flow = bpf_sk_storage_get(&downlinks, sk, 0, 0);
	if (!tp || !flow)
		return;

	/* A clamp that is not ours is the kernel's or the program's. */
	if (!flow->window || tp->window_clamp != flow->window)
		flow->theirs = tp->window_clamp;
	in.now_ns = bpf_ktime_get_ns();
	feed_in.now_ns = in.now_ns;
	read_feed(&feed_in, 0);
	/* A socket that receives nothing takes no share, and is not throttled. */
	if (over_the_radio(tp))
		in.n_flows = sharers(flow, tp, in.now_ns);
	/* An idle link may have a fair share without a rate. */
	has_rate = feed_in.feed.valid;
	feed_in.feed.valid |= feed_in.feed.fair_bytes_per_sec > 0;
	is_fresh = law_verdict(&limits, &feed_in) == REASON_FRESH;
	in.usable = in.n_flows && has_rate && is_fresh;
	if (in.usable) {
		in.rate = feed_in.feed.rate_bytes_per_sec;
		in.bound = feed_in.feed.bound;
		in.n_flows = law_min((__u64)in.n_flows + feed_in.feed.other_flows, ~0U);
		in.rtt_us = least_rtt(flow, tp);
		in.mss = tp->advmss;
	}

	wanted = downlink_step(&settings, flow, &in);
	if (settings.signals & DOWNLINK_WINDOW)
		clamp(ctx, tp, flow, wanted);
	flow->option_length = 0;
	if (!(settings.signals & DOWNLINK_OPTION) || !in.n_flows || !is_fresh ||
	    law_since(in.now_ns, feed_in.heartbeat_at_ns) > DOWNLINK_OPTION_SILENCE_NS)
		return;
	/* A known rate is never the unknown one. */
	if (in.usable && in.rtt_us)
		says.rate = law_max(flow->share_bytes_per_sec, 1);
	if (feed_in.feed.fair_bytes_per_sec)
		says.fair = law_max(feed_in.feed.fair_bytes_per_sec / in.n_flows, 1);
	says.users = feed_in.feed.users;
	says.carriers = feed_in.feed.carriers;
	says.state = feed_in.feed.state;
	says.bound = feed_in.feed.bound;
	says.age_ms = law_min(law_since(in.now_ns, feed_in.feed.sampled_at_ns) / 1000000, ~0U);
	says.delays = feed_delays(in.now_ns);
	if (says.rate || says.fair)
		prepare(ctx, flow, &says);
}

static __always_inline void tell(struct bpf_sock_ops *ctx)
{
	struct capacity_option option = {
		.kind = OPTION_KIND,
		.exid = bpf_htons(settings.exid),
	};
	struct bpf_sock *sk = ctx->sk;
	struct downlink_flow *flow;

	if (!sk)
		return;
	flow = bpf_sk_storage_get(&downlinks, sk, 0, 0);
	if (!flow)
		return;
	if (flow->option_length == OPTION_LENGTH_2) {
		option.len = OPTION_LENGTH_2;
		option.words[0] = bpf_htonl(flow->told >> 32);
		option.words[1] = bpf_htonl(flow->told);
		if (bpf_store_hdr_opt(ctx, &option, OPTION_LENGTH_2, 0))
			return;
		flow->version_2++;
	} else if (flow->option_length == OPTION_LENGTH_1) {
		option.len = OPTION_LENGTH_1;
		option.words[0] = bpf_htonl(flow->told);
		if (bpf_store_hdr_opt(ctx, &option, OPTION_LENGTH_1, 0))
			return;
	} else {
		return;
	}
	flow->options++;
}

/* A connection begins; its socket may have had another before. */
static __always_inline void greet(struct bpf_sock_ops *ctx)
{
	struct bpf_sock *sk = ctx->sk;
	struct downlink_flow *flow;

	if (!sk || !is_of_our_namespace(ctx))
		return;
	flow = bpf_sk_storage_get(&downlinks, sk, 0, BPF_SK_STORAGE_GET_F_CREATE);
	if (!flow)
		return;
	__builtin_memset(flow, 0, sizeof(*flow));
	bpf_sock_ops_cb_flags_set(ctx, ctx->bpf_sock_ops_cb_flags |
					       BPF_SOCK_OPS_WRITE_HDR_OPT_CB_FLAG);
}

SEC("sockops")
int downlink(struct bpf_sock_ops *ctx)
{
	switch (ctx->op) {
	case BPF_SOCK_OPS_ACTIVE_ESTABLISHED_CB:
	case BPF_SOCK_OPS_PASSIVE_ESTABLISHED_CB:
		greet(ctx);
		break;
	case BPF_SOCK_OPS_HDR_OPT_LEN_CB:
		attend(ctx);
		break;
	case BPF_SOCK_OPS_WRITE_HDR_OPT_CB:
		tell(ctx);
		break;
	}
	return 1;
}

/* Asks sockets for callbacks that were connected before we came. */
SEC("iter/tcp")
int adopt(struct bpf_iter__tcp *ctx)
{
	struct tcp_sock *tp = walked(ctx);
	struct downlink_flow *flow;

	if (!tp || !over_the_radio(tp))
		return 0;
	flow = bpf_sk_storage_get(&downlinks, tp, 0, BPF_SK_STORAGE_GET_F_CREATE);
	if (!flow || ask(tp, BPF_SOCK_OPS_WRITE_HDR_OPT_CB_FLAG)) {
		walk_refused++;
		return 0;
	}
	flow->adopted = 1;
	walked_over++;
	return 0;
}

/*
 * Puts sockets back as they are without us. Read as a file, it runs once. That
 * they ask for callbacks stays: others may have asked too, and where no program
 * is attached it costs nothing.
 */
SEC("iter/tcp")
int release(struct bpf_iter__tcp *ctx)
{
	struct tcp_sock *tp = walked(ctx);
	struct downlink_flow *flow;
	int theirs;

	if (!tp)
		return 0;
	flow = bpf_sk_storage_get(&downlinks, tp, 0, 0);
	if (!flow)
		return 0;
	theirs = flow->theirs;
	/* If it has been changed since, it is another's already. */
	if (flow->window && flow->window == tp->window_clamp) {
		bpf_setsockopt(tp, SOL_TCP, TCP_WINDOW_CLAMP, &theirs, sizeof(theirs));
		flow->releases++;
	}
	flow->window = 0;
	flow->state = DOWNLINK_FREE;
	walked_over++;
	return 0;
}
