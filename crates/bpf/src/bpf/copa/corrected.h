/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Copa that does not take the radio's own delays for a queue: what lies between the
 * socket's RTTs and copa.h. The same arithmetic as
 * crates/laws/src/copa_gandalf/corrected.rs, which says why.
 *
 * An RTT is shown at once, as a mean without what retransmissions lately added on
 * average. What they added to a packet is known later: then the exact mean goes into
 * Copa's minima. Waits for grants stay in RTTs, and a usual one is the path's. With a
 * silent modem Copa has RTTs as they are.
 *
 * A server has no modem. There a device at the other end says both averages, in codes of
 * wire.h, and is believed up to a part of the smallest RTT.
 */
#ifndef SOUNDING_CORRECTED_H
#define SOUNDING_CORRECTED_H

#include "copa/copa.h"
#include "copa/delays.h"
#include "common/wire.h"

/* Samples that wait: those of 384 ms. Powers of two. */
#define CORRECTED_SAMPLES	256U
#define CORRECTED_EVERY_SLOTS	6U	/* 1.5 ms */
/* A delay that is not known by then, slots of delays.h, stays unknown: 400 ms. */
#define CORRECTED_PATIENCE	1600U
/* So many are settled at an ACK at most. */
#define CORRECTED_BATCH		4
/* A mean is over eight buckets: of 30 ms or more, in whole intervals of reports, and of 200 ms. */
#define MEAN_BUCKETS		8U
#define MEAN_SHOWN_US		30000U
#define MEAN_RECENT_NS		25000000ULL
/* A usual wait: half of them are shorter. It moves so much each 5 ms. */
#define USUAL_EVERY_SLOTS	20U
#define USUAL_STEP_US		20U
#define USUAL_OVER_SHORTEST_US	1000U	/* and an interval of reports */
/* Uncertainty of a wait, with the usual interval of reports. */
#define UNSURE_US		2500U
/* A floor that rose by more is a new scale. */
#define FLOOR_RAISED_US		250U
/*
 * A device's report makes an RTT shorter by this part of the smallest one at most, and the path's
 * RTT longer by as much. So a lying device can hide at most a quarter of the smallest RTT of queue.
 * A lie of ten seconds raises the least RTT of ten seconds: then the device is doubted for as long.
 */
#define CORRECTED_PEER_PART	8U

/* A device that fell silent is not heard again for so long: Copa would take a queue that comes and
 * goes for another flow's. */
#define CORRECTED_PEER_PAUSE_NS	1000000000ULL

/* Which side says what the radio added. */
enum corrected_by {
	CORRECTED_NOT = 0,
	CORRECTED_BY_MODEM = 1,		/* this host's, for its uploads */
	CORRECTED_BY_PEER = 2,		/* the device at the other end, for its downloads */
};

struct delay_mean {
	__u64 sum[MEAN_BUCKETS];
	__u32 count[MEAN_BUCKETS];
	__u32 of[MEAN_BUCKETS];		/* which bucket of all time */
	__u32 newest;
	__u32 reserved;
};

/* An RTT whose parts are not known yet. */
struct corrected_sample {
	__u32 at;			/* slots, as delays.h counts them */
	__u32 sent;
	__u32 rtt_us;
};

struct corrected_state {
	struct copa_state copa;
	struct delay_mean raw;		/* RTTs as measured */
	struct delay_mean exact;	/* without retransmissions */
	struct delay_mean kept;		/* waits that are in both */
	struct delay_mean recent;	/* retransmissions */
	struct windowed least_raw;
	struct windowed least;		/* of exact means */
	struct windowed shortest;	/* of means of waits */
	__u32 usual_us;			/* half of them are shorter */
	__u32 usual_at;			/* slots; by a device, when RTTs were last sampled */
	__u32 shown_us;			/* the mean of RTTs without recent retransmissions */
	__u32 told_us;			/* the least that Copa was told */
	__u32 is_active;		/* enum corrected_by: Copa has corrected RTTs */
	__u32 burst;			/* the retransmission that was seen last */
	__u32 burst_sent;		/* when the first packet of it had left, slots */
	__u32 first;			/* samples, counted for ever */
	__u32 last;
	__u32 corrections;		/* samples that were revised */
	__u32 switches;			/* of is_active */
	__u32 least_ever_us;		/* RTT, since the last doubt; 0: none was measured */
	__u32 interval_us;		/* between reports of the buffer's status */
	__u32 reserved;
	__u64 doubted_until_ns;		/* a device is not believed before; 0: it is */
	__u64 again_at_ns;		/* one that fell silent is not heard before */
	struct corrected_sample samples[CORRECTED_SAMPLES];
};

LAW_INLINE void corrected_init(struct corrected_state *s, __u32 delivered)
{
	copa_init(&s->copa, delivered);
	__builtin_memset(&s->raw, 0, sizeof(s->raw));
	__builtin_memset(&s->exact, 0, sizeof(s->exact));
	__builtin_memset(&s->kept, 0, sizeof(s->kept));
	__builtin_memset(&s->recent, 0, sizeof(s->recent));
	__builtin_memset(&s->least_raw, 0, sizeof(s->least_raw));
	__builtin_memset(&s->least, 0, sizeof(s->least));
	__builtin_memset(&s->shortest, 0, sizeof(s->shortest));
	s->usual_us = s->usual_at = s->shown_us = s->told_us = s->is_active = 0;
	s->burst = s->burst_sent = s->first = s->last = 0;
	s->corrections = s->switches = s->least_ever_us = s->reserved = 0;
	s->interval_us = DELAY_USUAL_INTERVAL_US;
	s->doubted_until_ns = s->again_at_ns = 0;
}

/* The mean of what the last eight buckets hold. */
LAW_PART __u32 mean_of(const struct delay_mean *m)
{
	__u64 sum = 0, count = 0;
	int i;

	if (!m)
		return 0;
	for (i = 0; i < (int)MEAN_BUCKETS; i++) {
		if (m->newest - m->of[i] >= MEAN_BUCKETS)
			continue;
		sum += m->sum[i];
		count += m->count[i];
	}
	return count ? sum / count : 0;
}

LAW_PART int mean_push(struct delay_mean *m, __u32 bucket, __u32 value)
{
	__u32 i = bucket & (MEAN_BUCKETS - 1);

	if (!m)
		return 0;
	if (m->of[i] != bucket) {
		m->of[i] = bucket;
		m->sum[i] = 0;
		m->count[i] = 0;
	}
	m->sum[i] += value;
	m->count[i]++;
	m->newest = bucket;
	return 0;
}

/*
 * The path's RTT without a queue; only if least is known. Most packets are sent once, so
 * that the smallest RTT that was measured has no retransmission.
 */
LAW_INLINE __u32 corrected_floor(const struct corrected_state *s)
{
	__u32 least = law_max(s->least.best[0], s->least_raw.best[0]);
	__u32 longer = law_min(law_since(s->usual_us, s->shortest.best[0]),
			       s->interval_us + USUAL_OVER_SHORTEST_US);
	__u32 ever = s->least_ever_us;

	if (s->is_active == CORRECTED_BY_PEER)
		return ever + law_min(law_since(least, ever) + longer, ever / CORRECTED_PEER_PART);
	return least + longer + UNSURE_US * s->interval_us / DELAY_USUAL_INTERVAL_US;
}

/*
 * A bucket of means that have no period of reports in them. Those of another interval are
 * outdated.
 */
LAW_INLINE __u32 corrected_bucket(const struct corrected_state *s, __u64 at_ns)
{
	__u32 intervals = (MEAN_SHOWN_US + s->interval_us - 1) / s->interval_us;

	return at_ns / (intervals * s->interval_us * 1000ULL / MEAN_BUCKETS);
}

/* A mean of RTTs, and that of the waits in it. */
LAW_INLINE void corrected_floor_push(struct corrected_state *s, __u64 at_ns, __u32 at,
				     __u32 rtt_us, __u32 wait_us)
{
	int is_due = !windowed_known(&s->least) || at - s->usual_at >= USUAL_EVERY_SLOTS;

	if (!is_due && rtt_us >= s->least.best[0])
		return;
	if (!windowed_known(&s->least))
		s->usual_us = wait_us;
	windowed_update(&s->least, COPA_LEAST_LASTS_NS, at_ns, rtt_us);
	windowed_update(&s->shortest, COPA_LEAST_LASTS_NS, at_ns, wait_us);
	if (!is_due)
		return;
	if (wait_us > s->usual_us)
		s->usual_us += law_min(wait_us - s->usual_us, USUAL_STEP_US);
	else
		s->usual_us -= law_min(s->usual_us - wait_us, USUAL_STEP_US);
	s->usual_at = at;
}

/* Copa learns when RTTs change their meaning. */
LAW_PART int corrected_switch(struct corrected_state *s, __u64 now, __u32 by)
{
	__u32 wanted;

	if (!s)
		return 0;
	wanted = windowed_known(&s->least) ? by : CORRECTED_NOT;
	if (wanted == s->is_active)
		return 0;
	/* Neither source can use the other's memory. */
	if (s->is_active)
		wanted = CORRECTED_NOT;
	s->told_us = s->least_raw.best[0];
	if (s->is_active == CORRECTED_BY_PEER) {
		s->told_us = s->least_ever_us;
		s->again_at_ns = law_add(now, CORRECTED_PEER_PAUSE_NS);
	}
	s->is_active = wanted;
	s->switches++;
	if (wanted)
		s->told_us = corrected_floor(s);
	if (!wanted) {
		__builtin_memset(&s->raw, 0, sizeof(s->raw));
		__builtin_memset(&s->exact, 0, sizeof(s->exact));
		__builtin_memset(&s->kept, 0, sizeof(s->kept));
		__builtin_memset(&s->recent, 0, sizeof(s->recent));
		windowed_forget(&s->least);
		windowed_forget(&s->shortest);
		s->first = s->last;
	}
	copa_rebase(&s->copa, now, s->told_us, wanted != CORRECTED_NOT);
	return 0;
}

/* What held up a packet that reached this host, and that had left its sender then. */
LAW_INLINE __u32 corrected_down(struct corrected_state *s, __u64 word, __u32 sent)
{
	__u32 late_us, held = delay_held(word);

	if (!held)
		return 0;
	if (s->burst != delay_burst(word)) {
		s->burst = delay_burst(word);
		s->burst_sent = sent;
	}
	late_us = law_min(sent - s->burst_sent, DELAY_SLOTS) * (DELAY_SLOT_NS / 1000);
	return law_since(held, late_us);
}

/* Settles the oldest sample if all is known of it, or never will be; whether it did. */
LAW_PART int corrected_settle(struct corrected_state *s, const struct delay_table *table,
			      __u64 now)
{
	struct corrected_sample *sample;
	__u64 up_word, down_word, at_ns;
	__u32 added, without, age;

	if (!s || !table || s->first == s->last)
		return 0;
	sample = &s->samples[s->first & (CORRECTED_SAMPLES - 1)];
	up_word = delay_read(table->up, sample->sent);
	down_word = delay_read(table->down, sample->at);
	if (!delay_is_of(up_word, sample->sent))
		up_word = 0;
	if (!delay_is_of(down_word, sample->at))
		down_word = 0;
	age = delay_slot(now) - sample->at;
	if ((!up_word || !down_word) && age < CORRECTED_PATIENCE)
		return 0;
	s->first++;
	added = law_min(delay_held(up_word) + corrected_down(s, down_word, sample->sent),
			sample->rtt_us);
	without = sample->rtt_us - added;
	/* The beginning of its slot. */
	at_ns = law_since(now / DELAY_SLOT_NS, age) * DELAY_SLOT_NS;
	mean_push(&s->recent, at_ns / MEAN_RECENT_NS, added);
	mean_push(&s->exact, corrected_bucket(s, at_ns), without);
	mean_push(&s->kept, corrected_bucket(s, at_ns), delay_waited(up_word));
	without = mean_of(&s->exact);
	corrected_floor_push(s, at_ns, sample->at, without, mean_of(&s->kept));
	if (s->is_active) {
		s->corrections++;
		copa_revise(&s->copa, now, at_ns, law_max(without, corrected_floor(s)));
	}
	return 1;
}

/* What Copa is to believe of an RTT whose parts are not known yet. */
LAW_INLINE __u32 corrected_show(struct corrected_state *s, const struct copa_ack *ack)
{
	__u32 at = delay_slot(ack->now_ns), newest = s->last - 1;
	struct corrected_sample *sample;

	sample = &s->samples[newest & (CORRECTED_SAMPLES - 1)];
	if (s->first == s->last || at - sample->at >= CORRECTED_EVERY_SLOTS) {
		if (s->last - s->first >= CORRECTED_SAMPLES)
			s->first++;
		sample = &s->samples[s->last & (CORRECTED_SAMPLES - 1)];
		sample->at = at;
		sample->sent = delay_slot(ack->sent_ns);
		sample->rtt_us = ack->rtt_us;
		s->last++;
		/*
		 * The same RTTs as exact ones: all packets of a block arrive at once, and
		 * waited longer the earlier they came.
		 */
		mean_push(&s->raw, corrected_bucket(s, ack->now_ns), ack->rtt_us);
		s->shown_us = law_since(mean_of(&s->raw), mean_of(&s->recent));
	}
	if (!s->is_active)
		return ack->rtt_us;
	return law_max(s->shown_us, corrected_floor(s));
}

/*
 * An RTT as measured; whether a device may be believed after it. If the path got longer, it is not
 * for a while. If the device lied, that while shows the path.
 */
LAW_PART int corrected_believes(struct corrected_state *s, __u64 now, __u32 rtt_us)
{
	__u32 ever;

	if (!s || !rtt_us)
		return s && !s->doubted_until_ns;
	windowed_update(&s->least_raw, COPA_LEAST_LASTS_NS, now, rtt_us);
	if (s->doubted_until_ns && now >= s->doubted_until_ns) {
		s->doubted_until_ns = 0;
		s->least_ever_us = s->least_raw.best[0];
	}
	if (!s->least_ever_us || rtt_us < s->least_ever_us)
		s->least_ever_us = rtt_us;
	ever = s->least_ever_us;
	if (!s->doubted_until_ns && s->least_raw.best[0] > ever + ever / CORRECTED_PEER_PART)
		s->doubted_until_ns = law_add(now, COPA_LEAST_LASTS_NS);
	return !s->doubted_until_ns;
}

/* An RTT, while a device says what its radio adds on average. */
LAW_PART int corrected_hear(struct corrected_state *s, __u32 delays, __u64 now, __u32 rtt_us)
{
	__u32 at = delay_slot(now), most, held;

	if (!s || !rtt_us)
		return 0;
	most = s->least_ever_us / CORRECTED_PEER_PART;
	held = law_min(wire_delay_us(delays, WIRE_RETRANSMITTED), most);
	s->usual_us = wire_delay_us(delays, WIRE_LONGER);
	if (windowed_known(&s->least) && at - s->usual_at < CORRECTED_EVERY_SLOTS)
		return 0;
	s->usual_at = at;
	mean_push(&s->raw, corrected_bucket(s, now), rtt_us);
	s->shown_us = law_since(mean_of(&s->raw), held);
	windowed_update(&s->least, COPA_LEAST_LASTS_NS, now, s->shown_us);
	/* The usual wait is said as what it is longer. */
	windowed_update(&s->shortest, COPA_LEAST_LASTS_NS, now, 0);
	return 0;
}

/*
 * An ACK with the RTT as measured; @table is absent for a flow that does not leave over
 * the modem, and @delays is what the device at the other end says in codes of wire.h, or 0.
 */
LAW_PART int corrected_ack(struct corrected_state *s, const struct delay_table *table,
			   __u32 delays, const struct copa_ack *ack)
{
	__u32 by = CORRECTED_NOT;
	struct copa_ack shown;
	int i;

	if (!s || !ack)
		return 0;
	shown = *ack;
	shown.rtt_us = law_min(ack->rtt_us, LAW_MAX_RTT_US);
	if (corrected_believes(s, ack->now_ns, shown.rtt_us) && delays &&
	    ack->now_ns >= s->again_at_ns)
		by = CORRECTED_BY_PEER;
	if (table && delay_is_heard(table, ack->now_ns))
		by = CORRECTED_BY_MODEM;
	s->interval_us = by == CORRECTED_BY_MODEM ? delay_interval(table) :
						    DELAY_USUAL_INTERVAL_US;
	corrected_switch(s, ack->now_ns, by);
	if (by == CORRECTED_BY_MODEM) {
		for (i = 0; i < CORRECTED_BATCH; i++)
			if (!corrected_settle(s, table, ack->now_ns))
				break;
	} else {
		s->first = s->last;
		if (by == CORRECTED_BY_PEER)
			corrected_hear(s, delays, ack->now_ns, shown.rtt_us);
	}
	corrected_switch(s, ack->now_ns, by);
	if (s->is_active && corrected_floor(s) > s->told_us + FLOOR_RAISED_US) {
		s->told_us = corrected_floor(s);
		copa_rebase(&s->copa, ack->now_ns, s->told_us, 1);
	}
	if (s->is_active)
		s->told_us = law_min(s->told_us, corrected_floor(s));
	if (shown.rtt_us && by == CORRECTED_BY_MODEM)
		shown.rtt_us = corrected_show(s, &shown);
	else if (shown.rtt_us && s->is_active)
		shown.rtt_us = law_max(s->shown_us, corrected_floor(s));
	if (s->is_active == CORRECTED_BY_PEER)
		copa_rise_slowly(&s->copa);
	copa_ack(&s->copa, &shown);
	return 0;
}

#endif /* SOUNDING_CORRECTED_H */
