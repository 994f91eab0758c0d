/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * What the kernel side and the Rust side agree on, and nothing else. Mirrored
 * field by field in ../../intf.rs; both files assert the sizes and offsets.
 *
 * Map "feed"         one page for each modem, written by the daemon through mmap,
 *                    read on every ACK. Stale after config.max_age_ns (estimate)
 *                    or config.max_silence_ns (heartbeat), each on its own.
 * Map "flows"        one struct sounding_flow a socket, written on every ACK,
 *                    read by user space with a socket's descriptor as key.
 * Map "transitions"  ring of struct sounding_transition, written at each
 *                    change of state; a full ring drops and counts.
 * Map "reports"      ring of struct sounding_peer_report, written when a
 *                    connection's peer first says something, and when it is
 *                    found to overstate; a full ring drops, and
 *                    connections_overstated counts.
 */
#ifndef SOUNDING_INTF_H
#define SOUNDING_INTF_H

#ifndef __bpf__
#include <linux/types.h>
#endif

#define SOUNDING_MAGIC		0x53444e47	/* "SDNG" */
#define SOUNDING_VERSION	1

/* So many modems may feed a machine's flows. Each has a place, from 0. */
#define MODEMS_MOST		4U
/* The place of none: a flow that leaves by no modem. */
#define NO_MODEM		MODEMS_MOST

/*
 * Where a law believes the bottleneck to be, and what it does; the names are
 * those of crates/laws/src/phase.rs. In NO_ESTIMATE, BOTTLENECK_ELSEWHERE and
 * ESTIMATE_TOO_HIGH the stock algorithm controls the flow. BISCAY:
 *
 * NO_ESTIMATE   --(feed fresh, RTT known)-------------> RADIO_LIMITED
 * RADIO_LIMITED --(feed stale, silent, absurd, absent)-> NO_ESTIMATE
 * RADIO_LIMITED --(path narrower than the radio)-------> BOTTLENECK_ELSEWHERE
 * BOTTLENECK_ELSEWHERE --(path carries the share)------> RADIO_LIMITED
 *
 * `sounding` has all of them: crates/laws/src/sounding/law.rs draws it.
 */
enum flow_phase {
	PHASE_NO_ESTIMATE = 0,		/* no usable estimate */
	PHASE_RADIO_LIMITED = 1,	/* the radio grants all it has */
	PHASE_PROBING = 2,		/* every request is granted: ask for more */
	PHASE_HOLD = 3,			/* a queue, a loss or a mark ended that */
	PHASE_QUEUE_TEST = 4,		/* a smaller window: does the RTT shrink? */
	PHASE_HANDOVER = 5,		/* on the way to another cell */
	PHASE_BOTTLENECK_ELSEWHERE = 6,	/* the queue is not at the radio */
	PHASE_ESTIMATE_TOO_HIGH = 7,	/* the path drops what the estimate allows */
	PHASE_RAMP = 8,			/* in a line to the fair share */
	PHASE_DRAIN = 9,		/* half of what the path carries */
};

/* Why a flow is in its phase. */
enum phase_reason {
	REASON_CONNECTED = 0,	/* no estimate since the flow began */
	REASON_FRESH = 1,	/* the feed is fresh */
	REASON_ABSENT = 2,	/* nothing published, or withdrawn */
	REASON_STALE = 3,	/* the estimate is too old */
	REASON_SILENT = 4,	/* the heartbeat stopped */
	REASON_ABSURD = 5,	/* the feed cannot be true */
	REASON_NARROW = 6,	/* the path carries less than the radio */
	REASON_WIDE = 7,	/* the path carries the radio's share again */
};

enum estimate_bound {
	BOUND_FLOOR = 0,	/* a lower bound: probe above it */
	BOUND_CAPACITY = 1,	/* what the link carries */
};

/* Why there is no estimate. */
enum feed_lull {
	LULL_UNKNOWN = 0,	/* what the link carries is unknown */
	LULL_IDLE = 1,	/* nothing is granted, and nothing known to wait */
	LULL_HANDOVER = 2,	/* on the way to another cell */
};

/* One published estimate: half of the latch. */
struct sounding_estimate {
	__u64 rate_bytes_per_sec;	/* of IP packets, whole device */
	__u64 sampled_at_ns;		/* CLOCK_MONOTONIC */
	__u64 epoch;			/* counts publications */
	__u32 bound;			/* enum estimate_bound */
	__u32 valid;			/* a flag: 0 or 1 */
	__u32 agreeing;			/* samples in a row within 30 % */
	__u32 other_flows;		/* active flows this program cannot see */
	__u32 lull;			/* enum feed_lull; if not valid */
	__u32 state;			/* place in State::ALL of crates/estimate/src/lib.rs */
	__u64 fair_bytes_per_sec;	/* of IP packets, an equal division; 0: unknown */
	__u32 users;			/* with data, this device included; 0: unknown */
	__u32 carriers;			/* active for this device; 0: unknown */
};

/*
 * A modem's page of the feed. Latch: the writer makes seq odd, writes slot[0], makes seq
 * even, writes slot[1]; a reader takes slot[seq & 1], the one not being
 * written, and retries only if seq moved meanwhile, so a writer that loses its
 * CPU in mid-write holds up no reader.
 */
struct sounding_feed {
	__u32 magic;
	__u32 version;
	__u64 heartbeat_at_ns;		/* CLOCK_MONOTONIC */
	__u64 seq;
	__u64 radio_delays;		/* see feed_delays() of shared.h */
	__u64 reserved[4];
	struct sounding_estimate slot[2];
};

/* Load-time settings; crates/laws/src/biscay.rs documents each of them. */
struct law_config {
	__u64 max_age_ns;
	__u64 max_silence_ns;
	__u64 narrow_for_ns;
	__u32 allowance_us;
	__u32 pacing_gain_permille;
	__u32 narrow_permille;
	__u32 wide_permille;
	__u32 narrow_rounds;
	__u32 wide_rounds;
	__u32 narrow_loss_permille;
	__u32 min_cwnd;			/* segments */
	__u32 max_cwnd;			/* segments */
	__u32 settled_after;		/* rounds */
};

/* What every law says of a flow: how it is to send, and why. */
struct flow_status {
	__u64 since_ns;			/* when the state began */
	__u64 share_bytes_per_sec;	/* of IP packets, this flow's part */
	__u64 pacing_bytes_per_sec;	/* of payload */
	__u64 delivery_bytes_per_sec;	/* of payload, last judged round */
	__u32 phase;			/* enum flow_phase */
	__u32 reason;			/* enum phase_reason */
	__u32 cwnd;			/* segments */
	__u32 transitions;		/* changes of state that were reported */
	__u32 n_flows;			/* that shared the link at the last ACK */
	__u32 reserved;
};

/* Room for the memory of the law that needs the most, struct <law>_state. */
#define LAW_STATE_BYTES	376

/* A socket's storage. Read without a lock: fields may be one ACK apart. */
struct sounding_flow {
	union {
		struct flow_status status;	/* the beginning of any law's memory */
		__u64 state[LAW_STATE_BYTES / 8];	/* words of 64 bits */
	};
	__u64 e2e_bytes_per_sec;	/* BBR's bandwidth filter, payload */
	__u64 shadow_pacing;		/* BBR's pacing rate, payload bytes/s */
	__u32 shadow_cwnd;		/* BBR's window, segments */
	__u32 set_cwnd;			/* what this program last set, segments */
	__u32 events;			/* for the law at the next ACK */
	__u32 marked;			/* TCP's delivered_ce when it was last looked at */
	__u64 acks;
	__u64 law_ran_at_ns;		/* when the law was last asked */
	__u32 bbr_mode;			/* 0 startup, 1 drain, 2 probe bw, 3 probe rtt */
	__u32 rtt_min_us;
};

struct sounding_transition {
	__u64 at_ns;			/* CLOCK_MONOTONIC */
	__u64 cookie;			/* SO_COOKIE if it was ever read, or 0 */
	__u64 share_bytes_per_sec;
	__u64 e2e_bytes_per_sec;
	__u32 from;			/* enum flow_phase */
	__u32 to;			/* enum flow_phase */
	__u32 reason;			/* enum phase_reason */
	__u32 n_flows;
	__u32 family;
	__u32 local_port;
	__u32 remote_port;
	__u32 modem;		/* the place of the one it leaves by, or NO_MODEM */
};

/* Why a peer is reported. */
enum report_cause {
	CAUSE_FIRST = 0,	/* its first option */
	CAUSE_OVERSTATED = 1,	/* for rounds more than three times what the path delivered */
};

/* What is known of what a peer says. */
enum claim_known {
	CLAIM_RATE = 1,		/* the last option had a rate */
	CLAIM_STATE = 2,	/* an option had state, fair share, users and carriers */
};

/* What the options of a peer come to, all of this flow's part. */
struct peer_claim {
	__u64 claimed;			/* bytes/s of IP packets */
	__u64 rate;			/* the same, within the limit, bytes/s */
	__u64 fair;			/* of an equal division, within the limit, bytes/s; 0: unknown */
	__u32 known;			/* enum claim_known */
	__u32 bound;			/* enum estimate_bound */
	__u32 state;			/* place in State::ALL */
	__u32 users;			/* 31: that or more; 0: unknown */
	__u32 carriers;			/* 7: that or more; 0: unknown */
	__u32 age_ms;			/* when it was sent; 240: that or more */
};

struct sounding_peer_report {
	__u64 at_ns;			/* CLOCK_MONOTONIC */
	__u64 delivered_bytes_per_sec;	/* of payload, most of the last ten rounds */
	struct peer_claim claim;
	__u32 cause;			/* enum report_cause */
	__u32 family;
	__u32 local_port;
	__u32 remote_port;
	__be32 remote[4];		/* words of its address; of IPv4 the first */
};

#define SOUNDING_ASSERT(what) _Static_assert(what, #what)
SOUNDING_ASSERT(sizeof(struct sounding_estimate) == 64);
SOUNDING_ASSERT(sizeof(struct sounding_feed) == 192);
SOUNDING_ASSERT(__builtin_offsetof(struct sounding_feed, slot) == 64);
SOUNDING_ASSERT(sizeof(struct law_config) == 64);
SOUNDING_ASSERT(sizeof(struct flow_status) == 56);
SOUNDING_ASSERT(sizeof(struct sounding_flow) == LAW_STATE_BYTES + 56);
SOUNDING_ASSERT(sizeof(struct sounding_transition) == 64);
SOUNDING_ASSERT(sizeof(struct peer_claim) == 48);
SOUNDING_ASSERT(sizeof(struct sounding_peer_report) == 96);

#endif /* SOUNDING_INTF_H */
