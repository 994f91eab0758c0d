/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * A law for tests as a pure function of integers: it paces at exactly the
 * estimated rate, with a window of two round trips of it.
 * crates/laws/src/steady.rs is the same arithmetic in Rust.
 */
#ifndef SOUNDING_STEADY_H
#define SOUNDING_STEADY_H

#include "common/input.h"

/* The memory of the law of one flow. */
struct steady_state {
	struct flow_status status;
};

LAW_INLINE void steady_init(struct steady_state *st, __u64 now_ns)
{
	__builtin_memset(st, 0, sizeof(*st));
	st->status.since_ns = now_ns;
	st->status.phase = PHASE_NO_ESTIMATE;
	st->status.reason = REASON_CONNECTED;
}

/* Whether there is a rate to go by; a change of that is published. */
LAW_INLINE int steady_usable(const volatile struct law_config *k, struct steady_state *st,
			     const struct law_input *in, struct law_output *out)
{
	__u32 verdict = law_verdict(k, in);
	int usable = verdict == REASON_FRESH && in->rtt_min_us;
	__u32 phase = usable ? PHASE_RADIO_LIMITED : PHASE_NO_ESTIMATE;

	if (phase != st->status.phase) {
		st->status.phase = phase;
		st->status.reason = verdict;
		st->status.since_ns = in->now_ns;
		st->status.transitions++;
		out->changed = 1;
	}
	return usable;
}

/* One ACK, or a restart from idle. */
LAW_INLINE void steady_step(const volatile struct law_config *k, struct steady_state *st,
			    const struct law_input *in, struct law_output *out)
{
	__u64 rtt_us = law_min(in->rtt_min_us, LAW_MAX_RTT_US), share, cwnd, packet;
	__u32 mss = law_mss(in->mss);

	if (!steady_usable(k, st, in, out)) {
		st->status.cwnd = law_max(in->shadow_cwnd, LAW_FLOOR_CWND);
		st->status.pacing_bytes_per_sec = in->shadow_pacing;
		return;
	}
	share = share_part(&in->pool, in->weight, in->hunger, in->feed.rate_bytes_per_sec);
	packet = mss + LAW_HEADERS;
	cwnd = (2 * share * rtt_us / 1000000 + packet - 1) / packet;
	st->status.share_bytes_per_sec = share;
	st->status.cwnd = law_max(law_min(cwnd, LAW_MAX_SEGS), LAW_FLOOR_CWND);
	st->status.pacing_bytes_per_sec = law_max(law_payload(share, mss), LAW_MIN_PACING);
}

#endif /* SOUNDING_STEADY_H */
