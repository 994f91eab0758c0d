/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* How much may be in flight: what the link holds with its queue target, as window.rs has it. */
#ifndef SOUNDING_WINDOW_H
#define SOUNDING_WINDOW_H

#include "laws/sounding/path.h"
#include "laws/sounding/queue_target.h"

#define SOUNDING_MAX_STEP	64U
#define SOUNDING_PACING_PERMILLE	1250U
#define SOUNDING_MIN_CWND	4U
#define SOUNDING_MAX_CWND	(1U << 30)
#define SOUNDING_MIN_RTT_US	1000U
#define SOUNDING_RIVAL_AFTER_NS	1000000000ULL
#define SOUNDING_RIVAL_QUEUE_US	32000U
#define SOUNDING_CROWDED_RTTS	3U
/* part/pacing.rs */
#define SOUNDING_MAX_BURST	64000U

enum sounding_rival {
	SOUNDING_NO_RIVAL = 0,
	SOUNDING_SUSPECTED = 1,
	SOUNDING_KNOWN = 2,
};

struct sounding_window {
	__u64 pipe;			/* mean of what was told over an RTT; 0: nothing */
	__u64 rival_since_ns;
	__u32 cwnd;			/* bytes */
	__u32 part;			/* of all who want any of the link, SHARE_WHOLE: all */
	__u32 ramp;			/* cap while restarting after an RTO, or 0 */
	__u32 rival;			/* enum sounding_rival */
};

/* A flow's usable part of a rate, and the whole of it. */
struct sounding_share {
	__u64 sure;
	__u64 link;
};

LAW_INLINE int sounding_starved(__u64 rate, __u64 share)
{
	return rate && rate * 4 < share * 3;
}

/* The least window: a flow's part of that of a link, bytes. */
LAW_INLINE __u64 sounding_window_least(const struct sounding_window *w, __u32 mss)
{
	__u64 segs = (SOUNDING_MIN_CWND * (__u64)w->part + SHARE_WHOLE - 1) / SHARE_WHOLE;

	return law_max(segs, LAW_FLOOR_CWND) * mss;
}

LAW_INLINE void sounding_window_set(struct sounding_window *w, __u64 cwnd, __u32 mss)
{
	w->cwnd = law_max(law_min(cwnd, SOUNDING_MAX_CWND), sounding_window_least(w, mss));
}

/* The link has had this rate since so long ago; window.rs says why the window follows. */
LAW_INLINE void sounding_window_follow(struct sounding_window *w, __u64 share, __u64 elapsed_ns,
				       __u32 least_us)
{
	__u64 us = law_min(elapsed_ns / 1000, least_us);

	if (w->pipe)
		share = (w->pipe * (least_us - us) + share * us) / law_max(least_us, 1);
	w->pipe = share;
}

/* The window on a link: a flow with its usable part of a rate has the same part of a burst. */
LAW_PART __u64 sounding_window_held(const struct sounding_window *w,
				    const struct sounding_share *share,
				    const struct sounding_path_rtt *path,
				    const struct sounding_queue_target *target, __u32 mss)
{
	__u64 payload, least, span, burst;

	if (!w || !share || !path || !target)
		return 0;
	mss = law_mss(mss);
	payload = law_payload(share->sure, mss);
	least = sounding_path_least(path);
	burst = law_burst(law_payload(share->link, mss), mss, SOUNDING_MAX_BURST) * mss;
	span = sounding_queue_target_span(target);
	/* As long as a rival makes the RTT, less a tenth. */
	if (w->rival == SOUNDING_KNOWN)
		span = law_max(span, law_since((least + path->queue_us) * 9 / 10, least));
	return (law_payload(w->pipe, mss) * least + payload * span) / 1000000 +
	       burst * share->sure / law_max(share->link, 1);
}

/* The bytes in flight at this rate of payload on a path of this RTT. */
LAW_INLINE void sounding_window_hold(struct sounding_window *w, __u64 rate, __u32 rtt_us, __u32 mss)
{
	sounding_window_set(w, law_max(rate * rtt_us / 1000000, LAW_RESTART_CWND * mss), mss);
}

/* A window that leaves no more than the smallest queue that counts as one. */
LAW_INLINE void sounding_window_without_queue(struct sounding_window *w,
					      const struct sounding_path_rtt *path,
					      const struct sounding_seen *seen, __u32 mss)
{
	__u64 least = sounding_path_least(path);
	__u64 wanted = least + SOUNDING_QUEUE_US;
	__u64 found = least + (seen->known ? seen->queue_us : SOUNDING_QUEUE_US);

	sounding_window_set(w, w->cwnd * law_min(wanted, found) / law_max(found, 1), mss);
}

/* Three quarters of what was under way while the RTT was that long; @rate is 0 if unknown. */
LAW_INLINE void sounding_window_begin_queue_test(struct sounding_window *w, __u64 rate,
						 __u32 rtt_us, __u32 mss)
{
	__u64 cwnd = w->cwnd;

	if (rate)
		cwnd = law_min(cwnd, rate * rtt_us / 1000000);
	sounding_window_set(w, cwnd * 3 / 4, mss);
}

LAW_INLINE void sounding_window_rescale(struct sounding_window *w, __u64 from, __u64 to, __u32 mss)
{
	sounding_window_set(w, w->cwnd * to / law_max(from, 1), mss);
	w->pipe = 0;
}

/* After an RTO the cap grows until it caps nothing. */
LAW_INLINE void sounding_window_handle_ack(struct sounding_window *w, __u64 acked)
{
	if (!w->ramp)
		return;
	w->ramp = law_min(w->ramp + acked, ~0U);
	if (w->ramp >= w->cwnd)
		w->ramp = 0;
}

/* A flow on the same device that fills the queue, whatever we do. */
LAW_INLINE void sounding_window_handle_rivals(struct sounding_window *w, __u64 now, __u64 share,
					      __u64 rate, const struct sounding_path_rtt *path,
					      __u32 mss)
{
	__u64 floors = sounding_window_least(w, mss) * 1000000 / law_max(share, 1);
	int queues = path->queue_us > path->jitter_us * 4 + SOUNDING_RIVAL_QUEUE_US + floors;
	int starved = sounding_starved(rate, share);

	if (w->part == SHARE_WHOLE || !queues) {
		w->rival = SOUNDING_NO_RIVAL;
	} else if (w->rival == SOUNDING_NO_RIVAL) {
		if (!starved)
			return;
		w->rival = SOUNDING_SUSPECTED;
		w->rival_since_ns = now;
	} else if (w->rival == SOUNDING_SUSPECTED) {
		if (!starved)
			w->rival = SOUNDING_NO_RIVAL;
		else if (law_since(now, w->rival_since_ns) >= SOUNDING_RIVAL_AFTER_NS)
			w->rival = SOUNDING_KNOWN;
	}
}

/* Whether a rival fills the queue until something is lost. */
LAW_INLINE int sounding_window_is_crowded(const struct sounding_window *w,
					  const struct sounding_path_rtt *path)
{
	__u32 least = sounding_path_least(path);

	return w->rival == SOUNDING_KNOWN && least &&
	       path->queue_us / SOUNDING_CROWDED_RTTS >= least;
}

#endif /* SOUNDING_WINDOW_H */
