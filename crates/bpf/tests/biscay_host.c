// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * biscay.h as a filter: one struct host_step in, one struct host_answer out, so
 * that biscay_conformance.rs can compare it with the Rust law.
 */
#include "laws/biscay/biscay.h"
#include "law_host.h"

struct host_answer {
	__u64 phase;
	__u64 reason;
	__u64 since_ns;
	__u64 share;
	__u64 delivery;
	__u64 narrow_rounds;
	__u64 narrow_since_ns;
	__u64 queue_test;
	__u64 tested_rtt_us;
	__u64 longer_us;
	__u64 wide_rounds;
	__u64 ramp;
	__u64 transitions;
	__u64 flows;
	__u64 cwnd;
	__u64 pacing;
	__u64 cuts;
	__u64 cut;
};

static struct host_answer answer_of(const struct biscay_state *st, const struct law_output *out)
{
	return (struct host_answer){
		.phase = st->status.phase,
		.reason = st->status.reason,
		.since_ns = st->status.since_ns,
		.share = st->status.share_bytes_per_sec,
		.delivery = st->status.delivery_bytes_per_sec,
		.narrow_rounds = st->narrow_rounds,
		.narrow_since_ns = st->narrow_since_ns,
		.queue_test = st->queue_test,
		.tested_rtt_us = st->tested_rtt_us,
		.longer_us = out->longer_us,
		.wide_rounds = st->wide_rounds,
		.ramp = st->ramp,
		.transitions = st->status.transitions,
		.flows = st->status.n_flows,
		.cwnd = st->status.cwnd,
		.pacing = st->status.pacing_bytes_per_sec,
		.cuts = out->cuts,
		.cut = out->cut,
	};
}

LAW_FILTER(biscay, step.in.now_ns, step.in.delivered)
