/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * What all laws have in common: the kernel's own BBR runs upon
 * every ACK on a window of its own (the shadow), the law is asked what this
 * flow's share of the radio allows, and whichever of the two it names is set.
 * An instance may have CUBIC in BBR's place (cubic.h).
 */
#ifndef SOUNDING_TCP_FLOW_H
#define SOUNDING_TCP_FLOW_H

#include "common/input.h"
#include "common/shared.h"
#include "peers/peers.h"
#include "laws/pool.h"
#include "laws/cubic.h"

/* Set by the loader before load; the verifier then sees constants. */
const volatile struct law_config config;

#include "laws/believe.h"

/* One period of the feed: asked again within it, the law would say the same. */
#define RESTART_NS	10000000ULL
#define JIFFIES_MASK	0xffffffffULL

/* tcp_bbr.c: its mode while it looks for the RTT, and how long it keeps one. */
#define BBR_PROBE_RTT		3
#define BBR_MIN_RTT_SECS	10
/* Longer than that at any CONFIG_HZ; far from where 32 bits of jiffies wrap. */
#define BBR_MIN_RTT_JIFFIES	((BBR_MIN_RTT_SECS + 1) * 1000)

/* transitions that found the ring full */
__u64 transitions_dropped = 0;
/* The network namespace whose flows report transitions; 0: all. */
__u64 reported_netns = 0;

struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct sounding_flow);
} flows SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 64 * 1024);
} transitions SEC(".maps");

#include "laws/count.h"

extern void bbr_init(struct sock *sk) __ksym;
/*
 * Linux 6.10 gave cong_control, and so bbr_main, two more arguments. A kernel
 * has one of these; libbpf looks for both by the name before the underscores,
 * leaves alone the weak one whose arguments differ, and the loader takes the
 * program that calls the other.
 */
extern void bbr_main(struct sock *sk, __u32 ack, int flag,
		     const struct rate_sample *rs) __ksym __weak;
extern void bbr_main___before_6_10(struct sock *sk,
				   const struct rate_sample *rs) __ksym __weak;
extern __u32 bbr_sndbuf_expand(struct sock *sk) __ksym;
extern __u32 bbr_undo_cwnd(struct sock *sk) __ksym;
extern void bbr_cwnd_event(struct sock *sk, enum tcp_ca_event event) __ksym;
extern __u32 bbr_ssthresh(struct sock *sk) __ksym;
extern __u32 bbr_min_tso_segs(struct sock *sk) __ksym;
extern void bbr_set_state(struct sock *sk, __u8 new_state) __ksym;

static __always_inline struct tcp_sock *tcp_sk(struct sock *sk)
{
	return (struct tcp_sock *)sk;
}

static __always_inline struct bbr *bbr_of(struct sock *sk)
{
	return (struct bbr *)((struct inet_connection_sock *)sk)->icsk_ca_priv;
}

static __always_inline struct sounding_flow *flow_of(struct sock *sk)
{
	return bpf_sk_storage_get(&flows, sk, 0, 0);
}

/*
 * The paper's rtt = min(rtt, last) begins with the flow; a flow moved here in
 * mid-life would take the queue it finds for the path, and keep it. The
 * kernel's own minimum saw the last five minutes of the flow's life, and what
 * a window of ours made of it since is not believed (biscay.h). 0: unknown.
 */
static __always_inline __u32 least_rtt(struct tcp_sock *tp)
{
	__u32 us = tp->rtt_min.s[0].v;

	return us == ~0U ? 0 : us;
}

static __always_inline __u64 bandwidth_of(struct bbr *bbr, __u32 mss)
{
	/* packets/us << 24 to bytes/s; the shift is split so as not to overflow */
	return ((__u64)bbr->bw.s[0].v * mss >> 4) * 1000000 >> 20;
}

static __always_inline void cut_bandwidth(struct bbr *bbr, __u64 rate, __u32 mss)
{
	__u32 bw = (rate << 24) / ((__u64)mss * 1000000 | 1);
	int i;

	for (i = 0; i < 3; i++)
		if (bbr->bw.s[i].v > bw)
			bbr->bw.s[i].v = bw;
}

static __always_inline void report(struct sock *sk, struct sounding_flow *flow,
				   __u32 from)
{
	struct member *member = member_of(sk);
	struct sounding_transition *t;

	if (reported_netns && sk->__sk_common.skc_net.net->net_cookie != reported_netns)
		return;
	t = bpf_ringbuf_reserve(&transitions, sizeof(*t), 0);
	if (!t) {
		__sync_fetch_and_add(&transitions_dropped, 1);
		return;
	}
	t->at_ns = flow->status.since_ns;
	t->cookie = sk->__sk_common.skc_cookie.counter;
	t->share_bytes_per_sec = flow->status.share_bytes_per_sec;
	t->e2e_bytes_per_sec = flow->e2e_bytes_per_sec;
	t->from = from;
	t->to = flow->status.phase;
	t->reason = flow->status.reason;
	t->n_flows = flow->status.n_flows;
	t->family = sk->__sk_common.skc_family;
	t->local_port = sk->__sk_common.skc_num;
	t->remote_port = bpf_ntohs(sk->__sk_common.skc_dport);
	t->modem = member ? member->modem : NO_MODEM;
	bpf_ringbuf_submit(t, 0);
}

/*
 * Gives BBR its own window and pacing rate. If the window is not the one that we left there, the
 * core has changed it since (timeout, undo, MTU probe), and BBR has to see that. Exception: a value
 * that no core sets, which a kernel that skipped undo_cwnd took for its answer.
 */
static __always_inline void shadow_in(struct sock *sk, struct sounding_flow *flow)
{
	struct tcp_sock *tp = tcp_sk(sk);

	if (tp->snd_cwnd == flow->set_cwnd || tp->snd_cwnd > LAW_MAX_SEGS)
		tp->snd_cwnd = flow->shadow_cwnd;
	sk->sk_pacing_rate = flow->shadow_pacing;
}

static __always_inline void shadow_out(struct sock *sk, struct sounding_flow *flow)
{
	flow->shadow_cwnd = tcp_sk(sk)->snd_cwnd;
	flow->shadow_pacing = sk->sk_pacing_rate;
}

/* State of CUBIC and the core while BBR uses its own window. */
struct aside {
	__u32 cwnd;
	__u32 ssthresh;
};

static __always_inline struct aside set_aside(struct tcp_sock *tp)
{
	return (struct aside){ .cwnd = tp->snd_cwnd, .ssthresh = tp->snd_ssthresh };
}

static __always_inline void put_back(struct sock *sk, const struct aside *aside)
{
	if (!cubic_drives(cubic_of(sk)))
		return;
	tcp_sk(sk)->snd_cwnd = aside->cwnd;
	tcp_sk(sk)->snd_ssthresh = aside->ssthresh;
}

/* Sets what the law said last, within the limits of the socket. */
static __always_inline void apply(struct sock *sk, struct sounding_flow *flow)
{
	struct tcp_sock *tp = tcp_sk(sk);
	__u64 pacing = flow->status.pacing_bytes_per_sec;
	__u32 cwnd = flow->status.cwnd;

	if (cwnd > tp->snd_cwnd_clamp)
		cwnd = tp->snd_cwnd_clamp;
	if (pacing > sk->sk_max_pacing_rate)
		pacing = sk->sk_max_pacing_rate;
	tp->snd_cwnd = cwnd;
	flow->set_cwnd = cwnd;
	sk->sk_pacing_rate = pacing;
}

static __always_inline int law_controls(const struct sounding_flow *flow)
{
	return phase_controls(flow->status.phase);
}

/* Input of a law at an ACK; @rs is NULL for a restart from idle. */
static __always_inline void build_law_input(struct sock *sk, struct sounding_flow *flow,
				 const struct rate_sample *rs, struct law_input *in)
{
	struct cubic_flow *cubic = cubic_of(sk);
	struct member *member = member_of(sk);
	struct tcp_sock *tp = tcp_sk(sk);
	__u32 marked = tp->delivered_ce;
	__u32 modem = member ? modem_of(sk, &member->modem) : NO_MODEM;

	in->now_ns = bpf_ktime_get_ns();
	if (!rs)
		peer_idle(sk, in->now_ns, flow->law_ran_at_ns);
	flow->law_ran_at_ns = in->now_ns;
	read_feed(in, modem);
	in->mss = tp->mss_cache;
	in->e2e = bandwidth_of(bbr_of(sk), in->mss);
	in->shadow_cwnd = flow->shadow_cwnd;
	in->shadow_pacing = flow->shadow_pacing;
	if (cubic_drives(cubic)) {
		if (rs)
			cubic_ack(sk, cubic, rs);
		in->shadow_cwnd = tp->snd_cwnd;
		in->shadow_pacing = cubic_pacing(tp);
	}
	in->rtt_min_us = least_rtt(tp);
	in->n_flows = 1;
	in->flags = flow->events;
	flow->events = 0;
	flow->status.n_flows = select_feed(sk, flow, member, modem, in, rs);
	if (!rs)
		return;
	in->flags |= LAW_ACK;
	in->delivered = tp->delivered;
	in->prior_delivered = rs->prior_delivered;
	in->acked = rs->acked_sacked;
	in->lost = rs->losses > 0 ? rs->losses : 0;
	in->inflight = rs->prior_in_flight;
	in->rtt_us = rs->rtt_us > 0 ? rs->rtt_us : 0;
	in->rate = delivery_of(rs, in->mss);
	if (rs->is_app_limited)
		in->flags |= LAW_LIMITED;
	if (BPF_CORE_READ_BITFIELD(&tp->inet_conn, icsk_ca_state) == TCP_CA_Recovery)
		in->flags |= LAW_RECOVERY;
	if (marked != flow->marked)
		in->flags |= LAW_MARKED;
	flow->marked = marked;
	flow->acks++;
}

/* If CUBIC is the fallback, it begins and ends here. */
static __always_inline void hand_over(struct sock *sk, struct sounding_flow *flow,
				      const struct law_input *in, const struct law_output *out)
{
	struct cubic_flow *cubic = cubic_of(sk);

	if (!cubic)
		return;
	if (law_controls(flow)) {
		cubic->drives = 0;
	} else if (!cubic->drives) {
		tcp_sk(sk)->snd_cwnd = cubic_take_over(sk, cubic, in, out, flow->set_cwnd);
		flow->status.cwnd = tcp_sk(sk)->snd_cwnd;
		flow->status.pacing_bytes_per_sec = cubic_pacing(tcp_sk(sk));
	}
}

/* Applies the law's verdict and reports it; @from is the state before. */
static __always_inline void apply_verdict(struct sock *sk, struct sounding_flow *flow,
				 const struct law_input *in, const struct law_output *out,
				 __u32 from)
{
	struct bbr *bbr = bbr_of(sk);

	flow->e2e_bytes_per_sec = in->e2e;
	flow->rtt_min_us = in->rtt_min_us;
	flow->bbr_mode = BPF_CORE_READ_BITFIELD(bbr, mode);
	hand_over(sk, flow, in, out);
	if (law_controls(flow) || falls_to_cubic) {
		/*
		 * Ten seconds without a lower RTT send BBR to probe for one with
		 * four segments in flight; under our window it never gets there,
		 * calls everything app-limited meanwhile, and its bandwidth
		 * filter goes blind. Our queue is empty: the minimum is fresh.
		 * Beside CUBIC it is not, and BBR only measures.
		 */
		__u32 jiffies = bpf_jiffies64() & JIFFIES_MASK;

		bbr->min_rtt_stamp = jiffies;
		if (flow->bbr_mode == BBR_PROBE_RTT)
			bbr->probe_rtt_done_stamp = (jiffies - 1) | 1;
	}
	/* A minimum below the path's RTT halves BBR's window again and again. */
	if (bbr->min_rtt_us < out->longer_us)
		bbr->min_rtt_us = out->longer_us;
	if (out->cuts) {
		cut_bandwidth(bbr, out->cut, in->mss);
		/* And let it drain our queue and look for the RTT at once. */
		if (!falls_to_cubic && !out->keeps_rtt)
			bbr->min_rtt_stamp =
				(bpf_jiffies64() & JIFFIES_MASK) - BBR_MIN_RTT_JIFFIES;
	}
	apply(sk, flow);
	if (out->changed)
		report(sk, flow, from);
}

/* A flow begins; NULL if there is no memory for it: it is plain BBR then. */
static __always_inline struct sounding_flow *flow_init(struct sock *sk)
{
	struct tcp_sock *tp = tcp_sk(sk);
	__u32 ssthresh = tp->snd_ssthresh;
	struct cubic_flow *cubic = 0;
	struct sounding_flow *flow;
	struct member *member;

	/* Also asks for pacing without sch_fq, which a reno default would not. */
	bbr_init(sk);
	member = bpf_sk_storage_get(&members, sk, 0, BPF_SK_STORAGE_GET_F_CREATE);
	if (!member)
		return 0;
	member->modem = radios.unnamed;
	if (falls_to_cubic) {
		cubic = bpf_sk_storage_get(&cubic_flows, sk, 0, BPF_SK_STORAGE_GET_F_CREATE);
		if (!cubic)
			return 0;
	}
	flow = bpf_sk_storage_get(&flows, sk, 0, BPF_SK_STORAGE_GET_F_CREATE);
	if (!flow)
		return 0;
	if (cubic) {
		cubic_begin(sk, cubic);
		/* BBR has no use for it; of a flow in mid-life it is where slow start ended. */
		tp->snd_ssthresh = ssthresh;
	}
	__builtin_memset(flow, 0, sizeof(*flow));
	flow->set_cwnd = tp->snd_cwnd;
	flow->marked = tp->delivered_ce;
	shadow_out(sk, flow);
	return flow;
}

/* BBR's own answer to an ACK; NULL if the flow has no memory, and that is all. */
static __always_inline struct sounding_flow *run_bbr(struct sock *sk, __u32 ack, int flag,
						     const struct rate_sample *rs)
{
	struct sounding_flow *flow = flow_of(sk);
	struct aside aside;

	if (!flow) {
		bbr_main(sk, ack, flag, rs);
		return 0;
	}
	aside = set_aside(tcp_sk(sk));
	shadow_in(sk, flow);
	bbr_main(sk, ack, flag, rs);
	shadow_out(sk, flow);
	put_back(sk, &aside);
	return flow;
}

/* The same where the kernel has the older shape. */
static __always_inline struct sounding_flow *run_bbr_before_6_10(struct sock *sk,
								 const struct rate_sample *rs)
{
	struct sounding_flow *flow = flow_of(sk);
	struct aside aside;

	if (!flow) {
		bbr_main___before_6_10(sk, rs);
		return 0;
	}
	aside = set_aside(tcp_sk(sk));
	shadow_in(sk, flow);
	bbr_main___before_6_10(sk, rs);
	shadow_out(sk, flow);
	put_back(sk, &aside);
	return flow;
}

/* BBR gets an event with its own window. Returns whether the law is to be called then. */
static __always_inline int restarts(struct sock *sk, struct sounding_flow *flow,
				    enum tcp_ca_event event)
{
	struct cubic_flow *cubic = cubic_of(sk);
	struct aside aside;

	if (cubic_drives(cubic)) {
		cubic_swap(sk, cubic);
		cubictcp_cwnd_event(sk, event);
		cubic_swap(sk, cubic);
	}
	if (event != CA_EVENT_TX_START || !flow) {
		bbr_cwnd_event(sk, event);
		return 0;
	}
	aside = set_aside(tcp_sk(sk));
	shadow_in(sk, flow);
	bbr_cwnd_event(sk, event);
	shadow_out(sk, flow);
	put_back(sk, &aside);
	/* The last ACK's estimate may be an hour old; the feed is not. */
	if (bpf_ktime_get_ns() - flow->law_ran_at_ns > RESTART_NS)
		return 1;
	claim_again(sk);
	if (law_controls(flow))
		apply(sk, flow);
	else
		flow->set_cwnd = tcp_sk(sk)->snd_cwnd;
	return 0;
}

#endif /* SOUNDING_TCP_FLOW_H */
