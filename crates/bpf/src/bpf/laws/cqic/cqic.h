/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The law of CQIC as pure functions of integers: no kernel header, no clock, no memory but the
 * caller's. crates/laws/src/cqic is the same arithmetic in Rust, function by function, and says
 * why; a property test runs both over the same sequences. Bytes, microseconds and bytes a second.
 */
#ifndef SOUNDING_CQIC_H
#define SOUNDING_CQIC_H

#include "common/input.h"
#include "common/windowed.h"

/* The memory of CQIC's law of one flow. */
struct cqic_state {
	struct flow_status status;
	struct windowed rtt_us;		/* RTTmin */
	__u64 rate;			/* B, payload */
	__u64 sampled_at_ns;		/* what it was read from */
	__u64 timed_out_at_ns;		/* while on hold */
	__u32 phase;			/* enum flow_phase */
	__u32 new_way;			/* the next RTT counts alone */
};

/* law.rs, and the defaults of config.rs */
#define CQIC_RTT_LASTS_NS	10000000000ULL
#define CQIC_SOME_RTT_US	100000U
#define CQIC_LEAST_RTT_US	1000U
#define CQIC_AFTER_TIMEOUT	50U
#define CQIC_GAIN_PERCENT	200U
#define CQIC_MAX_AGE_NS		1000000000ULL

/* A place in State::ALL of crates/estimate/src/lib.rs. */
#define CQIC_STATE_HANDOVER	2U

LAW_INLINE __u64 cqic_rtt_min(const struct cqic_state *st)
{
	return windowed_known(&st->rtt_us) ? st->rtt_us.best[0] : CQIC_SOME_RTT_US;
}

LAW_INLINE void cqic_handle_rtt(struct cqic_state *st, __u64 now, __u32 rtt_us)
{
	if (!rtt_us)
		return;
	if (st->new_way)
		windowed_forget(&st->rtt_us);
	st->new_way = 0;
	windowed_update(&st->rtt_us, CQIC_RTT_LASTS_NS, now, law_min(rtt_us, LAW_MAX_RTT_US));
}

LAW_INLINE void cqic_handle_report(struct cqic_state *st, const struct law_input *in, __u32 mss)
{
	__u64 rate = law_min(in->feed.rate_bytes_per_sec, LAW_MAX_RATE);

	if (st->phase == PHASE_HOLD && in->feed.sampled_at_ns <= st->timed_out_at_ns)
		return;
	rate = share_part(&in->pool, in->weight, in->hunger, rate);
	st->status.share_bytes_per_sec = rate;
	st->rate = law_payload(law_min(rate, LAW_MAX_RATE), mss);
	st->sampled_at_ns = in->feed.sampled_at_ns;
	st->phase = PHASE_RADIO_LIMITED;
}

/*
 * Whether the feed has a rate to go by. How old it is the law judges itself, with a clock of its
 * own (interpretation 9): a heartbeat that ceased only makes it older.
 */
LAW_INLINE int cqic_carries(const struct law_input *in)
{
	const struct sounding_estimate *e = &in->feed;

	return e->valid && e->rate_bytes_per_sec <= LAW_MAX_RATE && e->bound <= BOUND_CAPACITY &&
	       law_since(e->sampled_at_ns, in->now_ns) <= LAW_MAX_LEAD_NS;
}

LAW_INLINE void cqic_handle_feed(struct cqic_state *st, const struct law_input *in, __u32 mss)
{
	if (cqic_carries(in)) {
		cqic_handle_report(st, in, mss);
	} else if (!in->feed.valid && in->feed.state == CQIC_STATE_HANDOVER &&
		   phase_controls(st->phase)) {
		if (st->phase != PHASE_HANDOVER)
			st->new_way = 1;
		st->phase = PHASE_HANDOVER;
	}
}

/* A timeout fired: what is in flight is lost. */
LAW_INLINE void cqic_handle_timeout(struct cqic_state *st, __u64 now)
{
	if (!phase_controls(st->phase))
		return;
	st->rate = st->rate * CQIC_AFTER_TIMEOUT / 100;
	st->phase = PHASE_HOLD;
	st->timed_out_at_ns = now;
}

LAW_INLINE void cqic_handle_time(struct cqic_state *st, __u64 now)
{
	if (phase_controls(st->phase) && law_since(now, st->sampled_at_ns) > CQIC_MAX_AGE_NS)
		st->phase = PHASE_NO_ESTIMATE;
}

/* CW = 2 * B * RTTmin, segments. */
LAW_INLINE __u32 cqic_cwnd(const struct cqic_state *st, __u32 min_cwnd, __u32 mss)
{
	__u64 window = st->rate * cqic_rtt_min(st) / 1000000 * CQIC_GAIN_PERCENT / 100;

	return law_min(law_max(law_max(window / mss, min_cwnd), LAW_FLOOR_CWND), LAW_MAX_SEGS);
}

/* At less than this a flow would not learn that the path is back. */
LAW_INLINE __u64 cqic_pacing(const struct cqic_state *st, __u32 min_cwnd, __u32 mss)
{
	__u64 least = (__u64)law_min(min_cwnd, LAW_MAX_SEGS) * mss;

	return law_max(st->rate, least * 1000000 / law_max(cqic_rtt_min(st), CQIC_LEAST_RTT_US));
}

/* Publishes the phase, and why the flow is in it. */
LAW_INLINE void cqic_publish(struct cqic_state *st, const struct law_input *in, __u32 verdict,
			     struct law_output *out)
{
	__u32 was = st->status.phase;

	if (st->phase == was)
		return;
	if (st->phase == PHASE_NO_ESTIMATE)
		st->status.reason = verdict == REASON_FRESH ? REASON_STALE : verdict;
	else if (was == PHASE_NO_ESTIMATE)
		st->status.reason = REASON_FRESH;
	st->status.phase = st->phase;
	st->status.since_ns = in->now_ns;
	st->status.transitions++;
	out->changed = 1;
}

LAW_INLINE void cqic_init(struct cqic_state *st, __u64 now, __u32 rtt_us)
{
	__builtin_memset(st, 0, sizeof(*st));
	st->status.since_ns = now;
	st->status.phase = PHASE_NO_ESTIMATE;
	st->status.reason = REASON_CONNECTED;
	st->sampled_at_ns = now;
	cqic_handle_rtt(st, now, rtt_us);
}

/* One ACK, or a restart from idle (without LAW_ACK). */
LAW_INLINE void cqic_step(const volatile struct law_config *k, struct cqic_state *st,
			  const struct law_input *in, struct law_output *out)
{
	__u32 mss = law_mss(in->mss), verdict = law_verdict(k, in), min_cwnd = k->min_cwnd;

	if (in->flags & LAW_RTO)
		cqic_handle_timeout(st, in->now_ns);
	cqic_handle_feed(st, in, mss);
	if (in->flags & LAW_ACK)
		cqic_handle_rtt(st, in->now_ns, in->rtt_us);
	cqic_handle_time(st, in->now_ns);
	cqic_publish(st, in, verdict, out);
	if (phase_controls(st->phase)) {
		st->status.cwnd = cqic_cwnd(st, min_cwnd, mss);
		st->status.pacing_bytes_per_sec = cqic_pacing(st, min_cwnd, mss);
	} else {
		st->status.cwnd = law_max(in->shadow_cwnd, LAW_FLOOR_CWND);
		st->status.pacing_bytes_per_sec = in->shadow_pacing;
	}
}

#endif /* SOUNDING_CQIC_H */
