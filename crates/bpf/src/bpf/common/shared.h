/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* What all flows share: the feed, a page for each modem. The sharing of a link is in pool.h. */
#ifndef SOUNDING_SHARED_H
#define SOUNDING_SHARED_H

#define FEED_TRIES	4

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, MODEMS_MOST);
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

/* Fills in what the modem at a place says: nothing, if there is none. */
static __always_inline void read_feed(struct law_input *in, __u32 modem)
{
	struct sounding_feed *f = bpf_map_lookup_elem(&feed, &modem);
	struct sounding_estimate *slot;
	__u64 seq;
	int i;

	in->feed.valid = in->feed.fair_bytes_per_sec = 0;
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
	in->feed.valid = in->feed.fair_bytes_per_sec = 0;
}

/* The radio's delay of packets is known for so long after the modem's last record. */
#define FEED_DELAYS_NS		100000000ULL

/*
 * What the first modem's radio adds to packets, codes of wire.h; 0: unknown. They are the low 16
 * bits of a word that is written at once. The others are those of when the modem's last record
 * came, CLOCK_MONOTONIC in ns.
 */
static __always_inline __u32 feed_delays(__u64 now)
{
	__u32 first = 0;
	struct sounding_feed *f = bpf_map_lookup_elem(&feed, &first);
	__u64 word, heard;

	if (!f)
		return 0;
	word = *(volatile __u64 *)&f->radio_delays;
	heard = word & ~0xffffULL;
	if (heard > now || now - heard > FEED_DELAYS_NS)
		return 0;
	return word & 0xffff;
}

#endif /* SOUNDING_SHARED_H */
