/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* What ACKs show of a path: its RTT without queue, and the queue on top, as path.rs has it. */
#ifndef SOUNDING_PATH_H
#define SOUNDING_PATH_H

#include "common/input.h"
#include "common/windowed.h"

#define SOUNDING_MIN_LASTS_NS	10000000000ULL
#define SOUNDING_SAMPLES	8U
#define SOUNDING_QUEUE_US	25000U
#define SOUNDING_MAX_JITTER_US	20000U

struct sounding_path_rtt {
	struct windowed least;		/* without queue; unknown before the first RTT */
	__u64 sum_us;			/* RTTs of this round */
	__u32 samples;
	__u32 smallest_us;		/* RTT of this round; 0: none */
	__u32 round_ends_at;		/* segments */
	__u32 jitter_us;
	__u32 queue_us;
	__u32 last_us;			/* smallest RTT of the round before */
};

/* What an ACK came to. */
struct sounding_seen {
	__u32 over;		/* it ended a round */
	__u32 known;		/* enough of the round is seen to say */
	__u64 queue_us;		/* the queue that stands */
};

/* The RTT without queue; 0: unknown. */
LAW_INLINE __u32 sounding_path_least(const struct sounding_path_rtt *path)
{
	return path->least.best[0];
}

/* The path is longer now: older RTTs do not count. */
LAW_INLINE void sounding_path_handle_longer(struct sounding_path_rtt *path, __u64 now, __u32 rtt_us)
{
	windowed_begin(&path->least, now, rtt_us);
}

/* The RTT without queue is believed for as long again. */
LAW_INLINE void sounding_path_keep_least(struct sounding_path_rtt *path, __u64 now)
{
	sounding_path_handle_longer(path, now, sounding_path_least(path));
}

/* A round begins with what leaves from here on. */
LAW_INLINE void sounding_path_begin_round(struct sounding_path_rtt *path, __u32 delivered)
{
	path->round_ends_at = delivered;
	path->smallest_us = 0;
	path->sum_us = 0;
	path->samples = 0;
}

LAW_PART int sounding_path_handle_ack(struct sounding_path_rtt *path, const struct law_input *in,
				      struct sounding_seen *seen)
{
	__u32 rtt_us;
	__u64 mean;

	if (!path || !in || !seen)
		return 0;
	rtt_us = law_min(in->rtt_us, LAW_MAX_RTT_US);
	if (rtt_us) {
		windowed_update(&path->least, SOUNDING_MIN_LASTS_NS, in->now_ns, rtt_us);
		if (!path->smallest_us || rtt_us < path->smallest_us)
			path->smallest_us = rtt_us;
		path->sum_us += rtt_us;
		if (path->samples != ~0U)
			path->samples++;
	}
	seen->over = law_reached(in->prior_delivered, path->round_ends_at);
	seen->known = path->smallest_us && (seen->over || path->samples >= SOUNDING_SAMPLES);
	seen->queue_us = seen->known ? law_since(path->smallest_us, sounding_path_least(path)) : 0;
	if (!seen->over)
		return 0;
	if (path->smallest_us) {
		mean = path->sum_us / law_max(path->samples, 1);
		path->jitter_us = (path->jitter_us * 7 +
				   law_min(law_since(mean, path->smallest_us),
					   SOUNDING_MAX_JITTER_US)) / 8;
		path->queue_us = seen->queue_us;
		path->last_us = path->smallest_us;
	}
	sounding_path_begin_round(path, in->delivered);
	return 0;
}

#endif /* SOUNDING_PATH_H */
