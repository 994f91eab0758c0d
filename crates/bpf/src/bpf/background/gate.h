/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Between the law of `background` and the kernel's socket: what an ACK says, the
 * window, and the gate that holds everything back during a wait.
 *
 * A congestion control has no timer. The pacing of TCP has one: at a rate of one
 * segment in the rest of the wait, the segment that leaves first is the last, and
 * the timer that then fires asks min_tso_segs. That segment goes at the beginning
 * of the silence. Where it left too early, as credit for idle time halves a wait,
 * the same is done again for the rest. The kernel does not pace the first ten
 * segments of a connection.
 */
#ifndef SOUNDING_GATE_H
#define SOUNDING_GATE_H

#include "background/background_intf.h"
#include "background/own.h"

#define SK_PACING_NEEDED	1U
#define NOT_PACED		(~0UL)
/* Even with no memory for its state a flow shall harm none. */
#define WITHOUT_MEMORY_CWND	2U
/* A wait is at most 16 s. */
#define MAX_WAIT_NS		20000000000ULL
#define MIN_WAIT_NS		1000ULL

static __always_inline __u32 in_flight(struct tcp_sock *tp)
{
	return tp->packets_out - tp->sacked_out - tp->lost_out + tp->retrans_out;
}

static __always_inline __u32 window_of(struct tcp_sock *tp, struct background_flow *flow,
				       __u64 now)
{
	struct own_others *others;
	__u64 segments;

	if (flow->law.phase == BACKGROUND_WAITING && now < flow->law.at_ns)
		return in_flight(tp) + 1;
	segments = background_cwnd(&flow->law) / law_mss(flow->law.mss);
	others = flow->was_accepted ? 0 : own_beside((struct sock *)tp, now);
	if (others)
		segments = law_min(segments, own_window(&flow->law, others, now));
	return law_min(law_max(segments, 1), LAW_MAX_SEGS);
}

/* Sets the window, and the gate. */
static __always_inline void set_window(struct sock *sk, struct background_flow *flow, __u64 now)
{
	struct tcp_sock *tp = (struct tcp_sock *)sk;
	__u32 cwnd = window_of(tp, flow, now);
	__u64 left;

	tp->snd_cwnd = law_min(cwnd, law_max(tp->snd_cwnd_clamp, 1));
	/* sch_fq sets another status for each flow that it has forgotten. */
	sk->sk_pacing_status = SK_PACING_NEEDED;
	if (flow->law.phase != BACKGROUND_WAITING || now >= flow->law.at_ns ||
	    tp->tcp_wstamp_ns > now) {
		/* Not waiting, or the timer is set: what it lets go shall not set it again. */
		sk->sk_pacing_rate = NOT_PACED;
		return;
	}
	left = law_min(law_max(flow->law.at_ns - now, MIN_WAIT_NS), MAX_WAIT_NS);
	sk->sk_pacing_rate = law_max((__u64)law_mss(tp->mss_cache) * 1000000000ULL / left, 1);
}

static __always_inline __u32 recovery_of(struct tcp_sock *tp)
{
	__u8 state = BPF_CORE_READ_BITFIELD(&tp->inet_conn, icsk_ca_state);

	if (state == TCP_CA_Recovery)
		return BACKGROUND_FAST;
	return state == TCP_CA_Loss ? BACKGROUND_TIMEOUT : BACKGROUND_NONE;
}

/* tcp_is_cwnd_limited(): in slow start also where half of the window is used. */
static __always_inline int is_limited(struct tcp_sock *tp, struct background_flow *flow)
{
	const struct aimd *window = &flow->law.window;

	if (BPF_CORE_READ_BITFIELD(tp, is_cwnd_limited))
		return 1;
	return window->cwnd < window->ssthresh && tp->snd_cwnd < 2 * tp->max_packets_out;
}

/* What an ACK says to the law; @ack->now_ns is set. */
static __always_inline void read_ack(struct tcp_sock *tp, struct background_flow *flow,
				     const struct rate_sample *rs, struct background_ack *ack)
{
	__u32 ce = tp->delivered_ce;

	ack->acked = (__u64)rs->acked_sacked * law_mss(tp->mss_cache);
	/* When the newest packet left that is delivered, us of the same clock. */
	ack->sent_ns = tp->first_tx_mstamp * 1000;
	ack->rtt_us = rs->rtt_us > 0 ? law_min(rs->rtt_us, LAW_MAX_RTT_US) : 0;
	ack->recovery = recovery_of(tp);
	ack->limited = is_limited(tp, flow);
	ack->marked = ce != flow->marked;
	flow->marked = ce;
	ack->sent_delivered = rs->prior_delivered;
	ack->delivered = tp->delivered;
	ack->random = bpf_get_prandom_u32();
	if (BPF_CORE_READ_BITFIELD(tp, rx_opt.tstamp_ok))
		ack->tick_ns = peer_clock_read(&flow->clock, ack->now_ns, tp->rx_opt.rcv_tsval,
					       &ack->stamp);
}

#endif /* SOUNDING_GATE_H */
