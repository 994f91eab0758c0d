/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * What all flows share: the feed, and the count of those that are active.
 */
#ifndef SOUNDING_SHARED_H
#define SOUNDING_SHARED_H

/*
 * A flow is active if it had data acknowledged in this or the last epoch of
 * 2^27 ns (134 ms): the paper's list of sockets without the list. Long enough
 * for a flow whose ACKs come in bursts, short enough that a finished flow gives
 * its share back within 0.27 s. Chosen.
 */
#define EPOCH_SHIFT	27
#define COUNT_TRIES	8
#define FEED_TRIES	4

/* epoch << 32 | flows counted in the epoch before << 16 | flows in this one */
__u64 active_flows = 0;

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct sounding_feed);
} feed SEC(".maps");

/*
 * Reads of the latch must not pass each other. x86 keeps loads in order;
 * elsewhere an atomic read-modify-write orders them, and every kernel and
 * compiler has it, unlike BPF's load-acquire.
 */
static __always_inline __u64 latch_seq(struct sounding_feed *f)
{
#if defined(__TARGET_ARCH_x86)
	__u64 seq = *(volatile __u64 *)&f->seq;

	barrier();
	return seq;
#else
	return __sync_fetch_and_add(&f->seq, 0);
#endif
}

static __always_inline void read_feed(struct law_input *in)
{
	__u32 zero = 0;
	struct sounding_feed *f = bpf_map_lookup_elem(&feed, &zero);
	struct sounding_estimate *slot;
	__u64 seq;
	int i;

	in->feed.valid = 0;
	if (!f || f->magic != SOUNDING_MAGIC || f->version != SOUNDING_VERSION)
		return;
	in->heartbeat_at_ns = *(volatile __u64 *)&f->heartbeat_at_ns;
	for (i = 0; i < FEED_TRIES; i++) {
		seq = latch_seq(f);
		slot = seq & 1 ? &f->slot[1] : &f->slot[0];
		in->feed = *slot;
		barrier();
		if (latch_seq(f) == seq)
			return;
	}
	/* Four publications within nanoseconds: no daemon does that. */
	in->feed.valid = 0;
}

/* Counts this flow into the epoch once, and returns how many are active. */
static __always_inline __u32 count_flow(struct sounding_flow *flow, __u64 now)
{
	__u32 epoch = now >> EPOCH_SHIFT;
	__u64 word, next;
	__u32 this, last;
	int i;

	if (flow->counted_epoch != epoch) {
		for (i = 0; i < COUNT_TRIES; i++) {
			word = *(volatile __u64 *)&active_flows;
			if (word >> 32 == epoch)
				next = word + ((word & 0xffff) != 0xffff);
			else if ((__u32)(word >> 32) + 1 == epoch)
				next = (__u64)epoch << 32 | (word & 0xffff) << 16 | 1;
			else
				next = (__u64)epoch << 32 | 1;
			if (__sync_val_compare_and_swap(&active_flows, word, next) == word)
				break;
		}
		flow->counted_epoch = epoch;
	}
	word = *(volatile __u64 *)&active_flows;
	this = word & 0xffff;
	last = word >> 16 & 0xffff;
	return this > last ? this : last;
}

#endif /* SOUNDING_SHARED_H */
