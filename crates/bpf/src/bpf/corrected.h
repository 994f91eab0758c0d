/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Copa that does not take the radio's own delays for a queue: what lies between the
 * socket's RTTs and copa.h. The same arithmetic as
 * ../../../cc/src/kernel_copa/corrected.rs, which says why.
 *
 * An RTT is shown at once, without what the radio lately added on average. What it
 * added to a packet is known later: then the exact RTT goes into Copa's minima. With
 * a silent modem Copa has RTTs as they are.
 */
#ifndef SOUNDING_CORRECTED_H
#define SOUNDING_CORRECTED_H

#include "copa.h"
#include "delays.h"

/* Samples that wait: those of 384 ms. Powers of two. */
#define CORRECTED_SAMPLES	256U
#define CORRECTED_EVERY_SLOTS	6U	/* 1.5 ms */
/* What is not known by then, slots of delays.h, stays unknown: 400 ms. */
#define CORRECTED_PATIENCE	1600U
/* So many are settled at an ACK at most. */
#define CORRECTED_BATCH		4
/* A mean is over eight buckets: of 10 ms and of 200 ms. */
#define MEAN_BUCKETS		8U
#define MEAN_SHOWN_NS		1250000ULL
#define MEAN_RECENT_NS		25000000ULL
/* The path's RTT: a tenth of exact ones is below. It moves so much each 5 ms. */
#define FLOOR_EVERY_SLOTS	20U
#define FLOOR_RISES_US		5U
#define FLOOR_FALLS_US		45U
#define FLOOR_OVER_LEAST_US	6000U
/* A floor that rose by more is a new scale. */
#define FLOOR_RAISED_US		250U

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
	struct delay_mean exact;	/* without the radio's part */
	struct delay_mean recent;	/* the radio's part */
	struct windowed least_raw;
	struct windowed least;		/* of exact means */
	__u32 floor_us;			/* below which a tenth of them is */
	__u32 floor_at;			/* slots */
	__u32 told_us;			/* the least that Copa was told */
	__u32 is_active;		/* Copa has corrected RTTs */
	__u32 burst;			/* the retransmission that was seen last */
	__u32 burst_sent;		/* when the first packet of it had left, slots */
	__u32 first;			/* samples, counted for ever */
	__u32 last;
	__u32 corrections;		/* samples that were revised */
	__u32 switches;			/* of is_active */
	struct corrected_sample samples[CORRECTED_SAMPLES];
};

LAW_INLINE void corrected_init(struct corrected_state *s, __u32 delivered)
{
	copa_init(&s->copa, delivered);
	__builtin_memset(&s->raw, 0, sizeof(s->raw));
	__builtin_memset(&s->exact, 0, sizeof(s->exact));
	__builtin_memset(&s->recent, 0, sizeof(s->recent));
	__builtin_memset(&s->least_raw, 0, sizeof(s->least_raw));
	__builtin_memset(&s->least, 0, sizeof(s->least));
	s->floor_us = s->floor_at = s->told_us = s->is_active = 0;
	s->burst = s->burst_sent = s->first = s->last = 0;
	s->corrections = s->switches = 0;
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

/* The path's RTT without a queue; only if least is known. */
LAW_INLINE __u32 corrected_floor(const struct corrected_state *s)
{
	return law_max(law_min(s->floor_us, s->least.best[0] + FLOOR_OVER_LEAST_US),
		       s->least.best[0]);
}

LAW_INLINE void corrected_floor_push(struct corrected_state *s, __u64 at_ns, __u32 at, __u32 value)
{
	if (s->least.known && at - s->floor_at < FLOOR_EVERY_SLOTS)
		return;
	if (!s->least.known)
		s->floor_us = value;
	else if (value > s->floor_us)
		s->floor_us += law_min(value - s->floor_us, FLOOR_RISES_US);
	else
		s->floor_us -= law_min(s->floor_us - value, FLOOR_FALLS_US);
	s->floor_at = at;
	windowed_update(&s->least, COPA_LEAST_LASTS_NS, at_ns, value);
}

/* Copa learns when RTTs change their meaning. */
LAW_PART int corrected_switch(struct corrected_state *s, __u64 now, int is_heard)
{
	int wanted;

	if (!s)
		return 0;
	wanted = is_heard && s->least.known;
	if (wanted == (int)s->is_active)
		return 0;
	s->is_active = wanted;
	s->switches++;
	s->told_us = wanted ? corrected_floor(s) : s->least_raw.best[0];
	if (!wanted) {
		__builtin_memset(&s->raw, 0, sizeof(s->raw));
		__builtin_memset(&s->exact, 0, sizeof(s->exact));
		__builtin_memset(&s->recent, 0, sizeof(s->recent));
		s->least.known = 0;
		s->floor_us = 0;
		s->first = s->last;
	}
	copa_rebase(&s->copa, now, s->told_us);
	return 0;
}

/* What the radio added to a packet that reached this host, and that had left its sender then. */
LAW_INLINE __u32 corrected_down(struct corrected_state *s, __u64 word, __u32 sent)
{
	__u32 late_us, added = delay_us(word);

	if (!added)
		return 0;
	if (s->burst != delay_burst(word)) {
		s->burst = delay_burst(word);
		s->burst_sent = sent;
	}
	late_us = law_min(sent - s->burst_sent, DELAY_SLOTS) * (DELAY_SLOT_NS / 1000);
	return law_since(added, late_us);
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
	added = law_min(delay_us(up_word) + corrected_down(s, down_word, sample->sent),
			sample->rtt_us);
	without = sample->rtt_us - added;
	/* The beginning of its slot. */
	at_ns = law_since(now / DELAY_SLOT_NS, age) * DELAY_SLOT_NS;
	mean_push(&s->recent, at_ns / MEAN_RECENT_NS, added);
	mean_push(&s->exact, at_ns / MEAN_SHOWN_NS, without);
	without = mean_of(&s->exact);
	corrected_floor_push(s, at_ns, sample->at, without);
	if (s->is_active) {
		s->corrections++;
		copa_revise(&s->copa, now, at_ns, law_max(without, corrected_floor(s)));
	}
	return 1;
}

/* What Copa is to believe of an RTT whose parts are not known yet. */
LAW_INLINE __u32 corrected_show(struct corrected_state *s, const struct copa_ack *ack)
{
	__u32 at = delay_slot(ack->now_ns), mean, newest = s->last - 1;
	struct corrected_sample *sample;

	mean_push(&s->raw, ack->now_ns / MEAN_SHOWN_NS, ack->rtt_us);
	sample = &s->samples[newest & (CORRECTED_SAMPLES - 1)];
	if (s->first == s->last || at - sample->at >= CORRECTED_EVERY_SLOTS) {
		if (s->last - s->first >= CORRECTED_SAMPLES)
			s->first++;
		sample = &s->samples[s->last & (CORRECTED_SAMPLES - 1)];
		sample->at = at;
		sample->sent = delay_slot(ack->sent_ns);
		sample->rtt_us = ack->rtt_us;
		s->last++;
	}
	if (!s->is_active)
		return ack->rtt_us;
	mean = law_since(mean_of(&s->raw), mean_of(&s->recent));
	return law_max(mean, corrected_floor(s));
}

/*
 * An ACK with the RTT as measured; @table is absent for a flow that does not leave over
 * the modem.
 */
LAW_PART int corrected_ack(struct corrected_state *s, const struct delay_table *table,
			   const struct copa_ack *ack)
{
	struct copa_ack shown;
	int is_heard, i;

	if (!s || !ack)
		return 0;
	shown = *ack;
	shown.rtt_us = law_min(ack->rtt_us, LAW_MAX_RTT_US);
	if (shown.rtt_us)
		windowed_update(&s->least_raw, COPA_LEAST_LASTS_NS, ack->now_ns, shown.rtt_us);
	is_heard = table && delay_is_heard(table, ack->now_ns);
	corrected_switch(s, ack->now_ns, is_heard);
	if (is_heard) {
		for (i = 0; i < CORRECTED_BATCH; i++)
			if (!corrected_settle(s, table, ack->now_ns))
				break;
		corrected_switch(s, ack->now_ns, is_heard);
		if (s->is_active && corrected_floor(s) > s->told_us + FLOOR_RAISED_US) {
			s->told_us = corrected_floor(s);
			copa_rebase(&s->copa, ack->now_ns, s->told_us);
		}
		if (s->is_active)
			s->told_us = law_min(s->told_us, corrected_floor(s));
		if (shown.rtt_us)
			shown.rtt_us = corrected_show(s, &shown);
	} else {
		s->first = s->last;
	}
	copa_ack(&s->copa, &shown);
	return 0;
}

#endif /* SOUNDING_CORRECTED_H */
