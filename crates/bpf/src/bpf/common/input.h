/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Input of the laws at an ACK, their output, and whether the feed is usable. */
#ifndef SOUNDING_INPUT_H
#define SOUNDING_INPUT_H

#include "common/arith.h"
#include "common/sharing.h"

/* Flags of struct law_input. */
#define LAW_ACK		1	/* data was acknowledged: rounds advance */
#define LAW_LIMITED	2	/* this sample was limited by the application */
#define LAW_RTO		4	/* a retransmission timeout fired since the last step */
#define LAW_UNDO	8	/* and turned out to be spurious */
#define LAW_RECOVERY	16	/* losses found by later segments are being repaired */
#define LAW_MARKED	32	/* this ACK carries a congestion mark */
#define LAW_DELAY	64	/* the delay of what this ACK acknowledges is known */

/* A feed further in the future than this was not stamped by our clock. */
#define LAW_MAX_LEAD_NS	1000000000ULL

/* Whether the law controls a flow, and not the stock algorithm. */
LAW_INLINE int phase_controls(__u32 phase)
{
	return (phase >= PHASE_RADIO_LIMITED && phase <= PHASE_HANDOVER) ||
	       phase >= PHASE_RAMP;
}

struct law_input {
	__u64 now_ns;
	struct sounding_estimate feed;
	__u64 heartbeat_at_ns;
	__u64 e2e;		/* BBR's bandwidth filter, payload bytes/s */
	__u64 shadow_pacing;	/* BBR's pacing, payload bytes/s */
	__u64 link;		/* the device's, where the feed's is a part; or 0 */
	__u64 rate;		/* delivered over about a round, payload bytes/s; 0: unknown */
	struct share_pool pool;	/* what the flows of the link claim, this one hungry */
	__u32 weight;		/* of this flow among all in it */
	__u32 hunger;		/* and among the hungry */
	__u32 shadow_cwnd;	/* BBR's window, segments */
	__u32 rtt_min_us;	/* the kernel's windowed minimum; 0: unknown */
	__u32 rtt_us;		/* of this ACK; 0: none */
	__u32 mss;		/* payload bytes a segment */
	__u32 delivered;	/* segments, ever */
	__u32 prior_delivered;	/* the same when what is now acknowledged left */
	__u32 acked;		/* segments, by this ACK */
	__u32 lost;		/* segments, found lost by this ACK */
	__u32 inflight;		/* segments, before this ACK */
	__u32 n_flows;		/* that share the rate alike, this one included */
	__u32 flags;
	__u32 delay_us;		/* of what this ACK acknowledges, from any origin; wraps */
};

struct law_output {
	__u64 cut;		/* BBR's filter is to have no more, payload bytes/s */
	__u32 cuts;		/* whether it is so */
	__u32 changed;		/* the state is another than before, and told */
	__u32 longer_us;	/* BBR's minimum of the RTT is at least this */
	__u32 keeps_rtt;	/* a cut is no reason for BBR to look for the RTT */
};

/* Whether the feed can be believed, and if not, why. */
LAW_INLINE __u32 law_verdict(const volatile struct law_config *k,
			     const struct law_input *in)
{
	const struct sounding_estimate *e = &in->feed;
	__u64 now = in->now_ns;

	if (!e->valid)
		return REASON_ABSENT;
	if (e->rate_bytes_per_sec > LAW_MAX_RATE || e->bound > BOUND_CAPACITY)
		return REASON_ABSURD;
	if (law_since(e->sampled_at_ns, now) > LAW_MAX_LEAD_NS ||
	    law_since(in->heartbeat_at_ns, now) > LAW_MAX_LEAD_NS)
		return REASON_ABSURD;
	if (law_since(now, in->heartbeat_at_ns) > k->max_silence_ns)
		return REASON_SILENT;
	if (law_since(now, e->sampled_at_ns) > k->max_age_ns)
		return REASON_STALE;
	return REASON_FRESH;
}

#endif /* SOUNDING_INPUT_H */
