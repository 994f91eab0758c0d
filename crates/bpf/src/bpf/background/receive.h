/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * What a socket receives, as background: the law runs at the receiver, over what
 * arrives, and its window is the receive window. The sender needs no change.
 *
 * The receiver's clock is this machine's own. When a segment left is known by the
 * sender's time stamp, on a clock of the sender's. A silence is a window of two
 * segments, since the first of them to arrive is the only timer here. Losses are not
 * seen, so that a full buffer on a wire does not show.
 */
#ifndef SOUNDING_RECEIVE_H
#define SOUNDING_RECEIVE_H

#include "background/background_intf.h"
#include "common/sockops.h"

#define RECEIVE_TICK_NS		1000000ULL
/* With less, every other segment waits for a delayed ACK. */
#define RECEIVE_LEAST_SEGMENTS	2ULL
/* A clamp moves when it is off by a 32nd of it. */
#define RECEIVE_NOTICE_SHIFT	5
#define RECEIVE_MOST		(1U << 30)	/* RFC 7323 2.3 */

struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct background_receiver);
} receivers SEC(".maps");

static __always_inline __u32 receive_rtt(struct tcp_sock *tp)
{
	__u32 received = tp->rcv_rtt_est.rtt_us >> 3, sent = tp->rtt_min.s[0].v;

	if (received)
		return law_min(received, LAW_MAX_RTT_US);
	return sent && sent != ~0U ? law_min(sent, LAW_MAX_RTT_US) : 0;
}

/* When the newest segment left, on the sender's clock; the tick of that clock, 0: it has none. */
static __always_inline __u64 receive_sent(struct tcp_sock *tp, struct background_receiver *r,
					  __u64 now)
{
	__u32 reading = 0, more;
	__u64 tick;

	if (!BPF_CORE_READ_BITFIELD(tp, rx_opt.tstamp_ok))
		return 0;
	tick = peer_clock_read(&r->clock, now, tp->rx_opt.rcv_tsval, &reading);
	if (!r->has_sent) {
		r->has_sent = 1;
		r->sent_ns = now;
	} else {
		more = reading - r->sent;
		if (more <= ~0U / 2)
			r->sent_ns += more * tick;
	}
	r->sent = reading;
	return tick;
}

static __always_inline void receive_ack(struct tcp_sock *tp, struct background_receiver *r,
					__u64 now, __u64 bytes)
{
	struct background_ack ack = {
		.now_ns = now,
		.acked = bytes,
		.rtt_us = receive_rtt(tp),
		.limited = 1,
		.random = bpf_get_prandom_u32(),
	};

	if (receive_sent(tp, r, now)) {
		ack.tick_ns = RECEIVE_TICK_NS;
		ack.stamp = now / RECEIVE_TICK_NS;
	}
	ack.sent_ns = r->sent_ns;
	background_ack(&r->law, &ack);
}

/* The receive window that the law has now. */
static __always_inline __u32 receive_window(const struct background_receiver *r, __u64 now)
{
	__u64 least = RECEIVE_LEAST_SEGMENTS * law_mss(r->law.mss);

	if (r->law.phase == BACKGROUND_WAITING && now < r->law.at_ns)
		return least;
	return law_min(law_max(background_cwnd(&r->law), least), RECEIVE_MOST);
}

static __always_inline void receive_note(struct background_receiver *r, __u64 now)
{
	__u32 phase = r->law.phase;

	if (phase == r->noted_phase)
		return;
	if (r->noted_phase < BACKGROUND_PHASES)
		r->in_phase_ns[r->noted_phase] += law_since(now, r->since_ns);
	r->noted_phase = phase;
	r->since_ns = now;
	r->transitions++;
}

/* Before each segment that the socket sends, which carries the window. */
static __always_inline void receive_attend(struct bpf_sock_ops *ctx)
{
	__u64 now = bpf_ktime_get_ns();
	struct background_receiver *r;
	struct bpf_sock *sk = ctx->sk;
	struct tcp_sock *tp;
	__u64 received;
	__u32 wanted, by;
	int value;

	if (!sk)
		return;
	tp = bpf_skc_to_tcp_sock(sk);
	r = bpf_sk_storage_get(&receivers, sk, 0, 0);
	if (!tp || !r)
		return;
	received = tp->bytes_received;
	if (!r->begun) {
		r->begun = 1;
		r->bytes = received;
		r->since_ns = now;
		background_init(&r->law, now, tp->advmss, 0);
	}
	background_waits(&r->law, now);
	if (received != r->bytes) {
		r->law.mss = law_mss(tp->advmss);
		receive_ack(tp, r, now, received - r->bytes);
		r->bytes = received;
	}
	receive_note(r, now);
	/* A clamp that is not ours is the kernel's or the program's. */
	if (!r->window || tp->window_clamp != r->window)
		r->theirs = tp->window_clamp;
	wanted = law_min(receive_window(r, now), r->theirs);
	by = wanted > r->window ? wanted - r->window : r->window - wanted;
	if (tp->window_clamp == r->window && by <= r->window >> RECEIVE_NOTICE_SHIFT)
		return;
	value = wanted;
	bpf_setsockopt(ctx, SOL_TCP, TCP_WINDOW_CLAMP, &value, sizeof(value));
	r->window = tp->window_clamp;
}

/* A connection begins; its socket may have had another before. */
static __always_inline void receive_begin(struct bpf_sock_ops *ctx)
{
	struct background_receiver *r;
	struct bpf_sock *sk = ctx->sk;

	if (!sk)
		return;
	r = bpf_sk_storage_get(&receivers, sk, 0, BPF_SK_STORAGE_GET_F_CREATE);
	if (!r)
		return;
	__builtin_memset(r, 0, sizeof(*r));
	bpf_sock_ops_cb_flags_set(ctx, ctx->bpf_sock_ops_cb_flags |
					       BPF_SOCK_OPS_WRITE_HDR_OPT_CB_FLAG);
}

#endif /* SOUNDING_RECEIVE_H */
