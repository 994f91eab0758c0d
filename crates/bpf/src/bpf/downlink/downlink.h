/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * How a device limits its senders: the interface between the kernel side and the Rust side of the
 * downlink (mirrored in ../../downlink/flow.rs), and the arithmetic, as pure functions of integers.
 */
#ifndef SOUNDING_DOWNLINK_H
#define SOUNDING_DOWNLINK_H

#include "common/wire.h"

/* How a sender is limited. */
#define DOWNLINK_WINDOW	1	/* by the receive window; every sender applies it */
#define DOWNLINK_OPTION	2	/* by a TCP option; senders that know it do */

/* Load-time settings; ../../downlink.rs documents each of them. */
struct downlink_settings {
	__u64 max_age_ns;
	__u64 max_silence_ns;
	__u64 netns_cookie;	/* where the radio's number counts */
	__u32 slack_us;
	__u32 signals;
	__u32 exid;
	__u32 reserved;
};

/*
 * FREE    --(fresh capacity)-----------------> HELD
 * HELD    --(only served: the radio has more)-> OPENING
 * OPENING --(fresh capacity)-----------------> HELD
 * OPENING --(as wide as without us)----------> FREE
 * any     --(estimate stale, silent, absent)-> FREE
 */
enum downlink_state {
	DOWNLINK_FREE = 0,
	DOWNLINK_HELD = 1,
	DOWNLINK_OPENING = 2,
};

/* A socket's storage. */
struct downlink_flow {
	__u64 share_bytes_per_sec;	/* of IP packets, this flow's part */
	__u64 stepped_at_ns;		/* when the window last opened a step */
	__u64 told;			/* what the next option says */
	__u32 state;			/* enum downlink_state */
	__u32 window;			/* the clamp we set; 0: none */
	__u32 theirs;			/* the clamp without us */
	__u32 rtt_us;			/* least that the receiving side saw; 0: none */
	__u32 counted_epoch;		/* in which this flow was counted */
	__u32 received;			/* segments with data when it was last looked at */
	__u32 n_flows;			/* of how many parts of the link its own was one then */
	__u32 clamps;			/* times that a clamp was set */
	__u32 releases;			/* times that it was taken back */
	__u32 options;			/* options written */
	__u32 version_2;		/* and of them those that had room for all */
	__u32 option_length;		/* of the next; 0: none */
	__u32 adopted;			/* asked for by a walk, not at its beginning */
};

SOUNDING_ASSERT(sizeof(struct downlink_settings) == 40);
SOUNDING_ASSERT(sizeof(struct downlink_flow) == 80);

struct downlink_input {
	__u64 now_ns;
	__u64 rate;		/* of IP packets, whole device, bytes/s */
	__u32 usable;		/* the estimate can be believed */
	__u32 bound;		/* enum estimate_bound */
	__u32 n_flows;		/* of how many parts of the link this flow's is one */
	__u32 rtt_us;		/* without queue; 0: unknown */
	__u32 mss;		/* payload bytes a segment */
};

/*
 * A window opens by an eighth each round trip once the radio has served everything. That is slow
 * enough that the queue at its limit stays below a round trip until reports of it arrive, and an
 * unneeded window is gone after some twenty. Chosen.
 */
#define DOWNLINK_OPEN_SHIFT	3
/* A clamp moves when it is off by this part of it, a 32nd. Chosen. */
#define DOWNLINK_NOTICE_SHIFT	5
/*
 * An option is written while the daemon lives: four of its heartbeats may be missing. The sender
 * then waits as long again (peers.h). Chosen.
 */
#define DOWNLINK_OPTION_SILENCE_NS 20000000ULL
/* No TCP window is larger (RFC 7323 2.3). */
#define DOWNLINK_MAX_WINDOW	(1U << 30)

/* The payload bytes that the share carries in a round trip plus the slack. */
LAW_INLINE __u64 downlink_carries(__u64 share, __u32 rtt_us, __u32 slack_us,
				  __u32 mss)
{
	__u64 span_us = law_min(rtt_us, LAW_MAX_RTT_US) +
			law_min(slack_us, LAW_MAX_RTT_US);

	return law_payload(share * span_us / 1000000, mss);
}

/*
 * The clamp this flow should have now, or 0 for none of ours. Never below two
 * segments: with less, every other segment waits for a delayed ACK.
 */
LAW_INLINE __u32 downlink_step(const volatile struct downlink_settings *k,
			       struct downlink_flow *st,
			       const struct downlink_input *in)
{
	__u32 mss = law_mss(in->mss);
	__u64 window;

	st->n_flows = law_max(in->n_flows, 1);
	if (!in->usable || !in->rtt_us) {
		st->share_bytes_per_sec = 0;
		st->state = DOWNLINK_FREE;
		return 0;
	}
	st->share_bytes_per_sec = in->rate / st->n_flows;
	window = downlink_carries(st->share_bytes_per_sec, in->rtt_us,
				  k->slack_us, mss);
	if (in->bound == BOUND_CAPACITY) {
		st->state = DOWNLINK_HELD;
		st->stepped_at_ns = in->now_ns;
	} else if (st->state == DOWNLINK_FREE) {
		return 0;
	} else {
		__u64 open = st->window;

		if (law_since(in->now_ns, st->stepped_at_ns) >=
		    (__u64)in->rtt_us * 1000) {
			/* At least a segment, or a small window never opens. */
			open += law_max(open >> DOWNLINK_OPEN_SHIFT, mss);
			st->stepped_at_ns = in->now_ns;
		}
		window = law_max(window, open);
		st->state = DOWNLINK_OPENING;
		if (window >= st->theirs) {
			st->state = DOWNLINK_FREE;
			return 0;
		}
	}
	window = law_max(window, 2 * mss);
	return law_min(law_min(window, st->theirs), DOWNLINK_MAX_WINDOW);
}

/* Whether a change of the clamp is worth a call. */
LAW_INLINE int downlink_noticeable(__u32 from, __u32 to)
{
	__u32 by = from > to ? from - to : to - from;

	return !from || by > from >> DOWNLINK_NOTICE_SHIFT;
}

#endif /* SOUNDING_DOWNLINK_H */
