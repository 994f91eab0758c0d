/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * What the kernel side and the Rust side agree on, and nothing else. Mirrored
 * field by field in ../intf.rs; both files assert the sizes and offsets.
 *
 * Map "feed"         one page, written by the daemon through mmap, read on
 *                    every ACK. Stale after knobs.max_age_ns (estimate) or
 *                    knobs.max_silence_ns (heartbeat).
 * Map "flows"        one struct sounding_flow a socket, written on every ACK,
 *                    read by user space with a socket's descriptor as key.
 * Map "transitions"  ring of struct sounding_transition, written at each
 *                    change of state; a full ring drops and counts.
 * Map "overstatements"
 *                    ring of struct sounding_overstatement, written once a
 *                    connection; a full ring drops, and connections_overstated
 *                    counts.
 */
#ifndef SOUNDING_INTF_H
#define SOUNDING_INTF_H

#ifndef __bpf__
#include <linux/types.h>
#endif

#define SOUNDING_MAGIC		0x53444e47	/* "SDNG" */
#define SOUNDING_VERSION	1

/*
 * Of BISCAY's law:
 *
 * STARTUP --(settled feed, RTT known)--------------> BISCAY
 * BISCAY  --(feed stale, silent, absurd, absent)---> FALLBACK
 * BISCAY  --(path narrower than the radio)---------> FALLBACK
 * FALLBACK --(feed fresh, unless the path is narrow)-> BISCAY
 * FALLBACK --(path carries the share again)--------> BISCAY
 *
 * That of sounding has FULL, PROBING, HELD, HANDOVER and ASKING in place of
 * BISCAY: ../../../cc/src/sounding/law.rs draws it.
 */
enum sounding_state {
	SOUNDING_STARTUP = 0,
	SOUNDING_BISCAY = 1,
	SOUNDING_FALLBACK = 2,
	SOUNDING_FULL = 3,	/* the radio grants all it has */
	SOUNDING_PROBING = 4,	/* all that was asked for is granted: ask for more */
	SOUNDING_HELD = 5,	/* a queue ended that */
	SOUNDING_HANDOVER = 6,	/* on the way to another cell */
	SOUNDING_ASKING = 7,	/* with less, to see whose the queue is */
};

/* Why a flow is in its state. */
enum sounding_reason {
	SOUNDING_CONNECTED = 0,	/* no estimate since the flow began */
	SOUNDING_FRESH = 1,	/* the feed is fresh */
	SOUNDING_ABSENT = 2,	/* nothing published, or withdrawn */
	SOUNDING_STALE = 3,	/* the estimate is too old */
	SOUNDING_SILENT = 4,	/* the heartbeat stopped */
	SOUNDING_ABSURD = 5,	/* the feed cannot be true */
	SOUNDING_NARROW = 6,	/* the path carries less than the radio */
	SOUNDING_WIDE = 7,	/* the path carries the radio's share again */
};

enum sounding_bound {
	SOUNDING_SERVED = 0,	/* a lower bound: probe above it */
	SOUNDING_CAPACITY = 1,	/* what the link carries */
};

/* Why there is no estimate. */
enum sounding_lull {
	SOUNDING_UNKNOWN = 0,	/* nobody knows what the link carries */
	SOUNDING_IDLE = 1,	/* nothing is granted, and nothing known to wait */
	SOUNDING_AWAY = 2,	/* on the way to another cell */
};

/* One published estimate: half of the latch. */
struct sounding_estimate {
	__u64 rate_bytes_per_sec;	/* of IP packets, whole device */
	__u64 sampled_at_ns;		/* CLOCK_MONOTONIC */
	__u64 epoch;			/* counts publications */
	__u32 bound;			/* enum sounding_bound */
	__u32 valid;			/* 0 or 1 */
	__u32 agreeing;			/* samples in a row within 30 % */
	__u32 other_flows;		/* active flows this program cannot see */
	__u32 lull;			/* enum sounding_lull; if not valid */
	__u32 reserved;
	__u64 reserved2[2];
};

/*
 * The feed's page. Latch: the writer makes seq odd, writes slot[0], makes seq
 * even, writes slot[1]; a reader takes slot[seq & 1], the one not being
 * written, and retries only if seq moved meanwhile, so a writer that loses its
 * CPU in mid-write holds up no reader.
 */
struct sounding_feed {
	__u32 magic;
	__u32 version;
	__u64 heartbeat_at_ns;		/* CLOCK_MONOTONIC */
	__u64 seq;
	__u64 reserved[5];
	struct sounding_estimate slot[2];
};

/* Load-time settings; ../../../cc/src/biscay.rs documents each of them. */
struct sounding_knobs {
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
	__u32 min_cwnd;
	__u32 max_cwnd;
	__u32 settled_after;
};

/* What either law says of a flow: how it is to send, and why. */
struct sounding_said {
	__u64 since_ns;			/* when the state began */
	__u64 share_bytes_per_sec;	/* of IP packets, this flow's part */
	__u64 pacing_bytes_per_sec;	/* of payload */
	__u64 delivery_bytes_per_sec;	/* of payload, last judged round */
	__u32 state;			/* enum sounding_state */
	__u32 reason;			/* enum sounding_reason */
	__u32 cwnd;			/* segments */
	__u32 transitions;		/* changes of state that were told */
	__u32 n_flows;			/* that shared the link at the last ACK */
	__u32 reserved;
};

/* The memory of BISCAY's law of one flow. */
struct sounding_law {
	struct sounding_said said;
	__u64 narrow_since_ns;		/* 0: the last round was not narrow */
	__u64 round_share;		/* smallest share in this round */
	__u64 prior_share;		/* smallest share in the round before */
	__u64 longer_until_ns;		/* how long longer_us holds */
	__u32 ramp;			/* cap while restarting after an RTO, or 0 */
	__u32 next_delivered;		/* ends this round */
	__u32 round_rtt_us;		/* smallest in this round; 0: none */
	__u32 round_inflight;		/* largest in this round, segments */
	__u32 round_acked;
	__u32 round_lost;
	__u32 round_limited;		/* the application was the limit */
	__u32 narrow_rounds;
	__u32 wide_rounds;
	__u32 asking;			/* rounds of a lowered window, from 1; or 0 */
	__u32 asked_rtt_us;		/* what its RTT is compared with */
	__u32 longer_us;		/* RTT of a path that got longer, or 0 */
	__u32 least_us;			/* RTT without queue; 0: unknown */
	__u32 reserved;
};

/* The memory of sounding's law of one flow; bytes and bytes a second. */
struct sounding_probe {
	struct sounding_said said;
	__u64 least_at_ns[3];		/* the RTT without queue, windowed */
	__u64 sum_us;			/* RTTs of this round */
	__u64 round_acked;
	__u64 round_lost;
	__u64 capacity;			/* what the radio last had, whole device, IP */
	__u64 capacity_share;		/* this flow's part of it */
	__u64 capacity_at_ns;		/* 0: nothing is known */
	__u64 usual_rate;		/* its mean, and mean deviation */
	__u64 usual_deviation;
	__u64 pipe;			/* mean of what was told over an RTT; 0: nothing */
	__u64 epoch;			/* of the feed, when it was last heard */
	__u64 heard_at_ns;
	__u64 backlog_since_ns;		/* while the queue is elsewhere; 0: none */
	__u64 carried;			/* through the queue that may be elsewhere; 0: unknown */
	__u64 rise_since_ns;		/* when a queue began to grow, if it does */
	__u64 rise_acked;		/* since then, or since it is asked whose it is */
	__u64 slot_since_ns;
	__u64 rival_since_ns;
	__u64 proven_round;		/* most delivered in this round; 0: held back */
	__u64 proven_most;		/* in the rounds counted */
	__u64 proven_before;		/* in as many before */
	__u32 least_us[3];		/* 0: unknown */
	__u32 smallest_us;		/* RTT of this round; 0: none */
	__u32 samples;
	__u32 last_us;			/* smallest RTT of the round before */
	__u32 jitter_us;
	__u32 queue_us;
	__u32 rise_slots;		/* in which it grew */
	__u32 rise_us;			/* smallest RTT of the last slot; 0: none */
	__u32 slot_us;			/* and of this */
	__u32 slot_samples;
	__u32 room_us;
	__u32 round_ends_at;		/* segments */
	__u32 cwnd;
	__u32 ramp;			/* cap while restarting after an RTO, or 0 */
	__u32 state;			/* enum probe_state */
	__u32 step;			/* of a climb, 64ths */
	__u32 rounds;			/* held, or asking */
	__u32 asked_us;			/* RTT that the answer is compared with */
	__u32 rival;			/* enum probe_rival */
	__u32 part;			/* of all who want any of the link, SHARE_WHOLE: all */
	__u32 usual_known;
	__u32 proven_rounds;
};

/* A socket's storage. Read without a lock: fields may be one ACK apart. */
struct sounding_flow {
	union {
		struct sounding_said said;
		struct sounding_law law;
		struct sounding_probe probe;
	};
	__u64 e2e_bytes_per_sec;	/* BBR's bandwidth filter, payload */
	__u64 shadow_pacing;		/* BBR's pacing rate, payload bytes/s */
	__u32 shadow_cwnd;		/* BBR's window, segments */
	__u32 set_cwnd;			/* what this program last set */
	__u32 events;			/* for the law at the next ACK */
	__u32 marked;			/* TCP's delivered_ce when it was last looked at */
	__u64 acks;
	__u64 obeyed_at_ns;		/* when the law was last asked */
	__u32 bbr_mode;			/* 0 startup, 1 drain, 2 probe bw, 3 probe rtt */
	__u32 rtt_min_us;
};

struct sounding_transition {
	__u64 at_ns;			/* CLOCK_MONOTONIC */
	__u64 cookie;			/* SO_COOKIE if somebody asked for it, or 0 */
	__u64 share_bytes_per_sec;
	__u64 e2e_bytes_per_sec;
	__u32 from;
	__u32 to;
	__u32 reason;
	__u32 n_flows;
	__u32 family;
	__u32 local_port;
	__u32 remote_port;
	__u32 reserved;
};

/* A peer that for rounds said more than three times what the path delivered. */
struct sounding_overstatement {
	__u64 at_ns;			/* CLOCK_MONOTONIC */
	__u64 said_bytes_per_sec;	/* of IP packets */
	__u64 delivered_bytes_per_sec;	/* of payload, most of the last ten rounds */
	__u32 family;
	__u32 local_port;
	__u32 remote_port;
	__u32 reserved;
	__be32 remote[4];		/* its address; of IPv4 the first */
};

#define SOUNDING_ASSERT(what) _Static_assert(what, #what)
SOUNDING_ASSERT(sizeof(struct sounding_estimate) == 64);
SOUNDING_ASSERT(sizeof(struct sounding_feed) == 192);
SOUNDING_ASSERT(__builtin_offsetof(struct sounding_feed, slot) == 64);
SOUNDING_ASSERT(sizeof(struct sounding_knobs) == 64);
SOUNDING_ASSERT(sizeof(struct sounding_said) == 56);
SOUNDING_ASSERT(sizeof(struct sounding_law) == 144);
SOUNDING_ASSERT(sizeof(struct sounding_probe) == 336);
SOUNDING_ASSERT(sizeof(struct sounding_flow) == 392);
SOUNDING_ASSERT(sizeof(struct sounding_transition) == 64);
SOUNDING_ASSERT(sizeof(struct sounding_overstatement) == 56);

#endif /* SOUNDING_INTF_H */
