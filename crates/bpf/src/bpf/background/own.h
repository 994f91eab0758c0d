/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Other traffic of this machine over a network device goes first: a call and a backup
 * of one phone wait in one queue at its radio, which serves them in order.
 *
 * Without a modem the queue is not seen. But a window of five eighths of what the
 * cell carries in the least round trip leaves none. A rival that takes more than the
 * rest makes one again, and shows in the flow's share as it would otherwise. With
 * seven eighths a call's 95th percentile is 15 ms more, with six 8 to 11.
 *
 * Of what the machine's other traffic sends nothing is taken: the window is at most
 * what that leaves of seven eighths of the cell. Beside a flow that fills the link two
 * segments a round trip remain.
 */
#ifndef SOUNDING_OWN_H
#define SOUNDING_OWN_H

#include "background/background_intf.h"

#define BPF_ALLOW		1	/* what a program at a cgroup answers */

/* Silent for so long, nothing else is there. Chosen: longer than any gap of a call. */
#define OWN_FOR_NS		500000000ULL
/* What a flow may have in flight beside it, in eighths of what the cell carries in a round trip. */
#define OWN_EIGHTHS		5ULL
/* What flows and others may have together, in eighths: what the cell carries is known no better. */
#define OWN_TOGETHER		7ULL
/* Over so long the rate of others is taken: 134 ms, as in epoch.h. */
#define OWN_EPOCH_SHIFT		27
/* As long as the cell is not known, and at least: segments. */
#define OWN_FIRST_SEGMENTS	10ULL
#define OWN_LEAST_SEGMENTS	2ULL

/* linux/bpf.h up to the last field that is read here; the verifier checks these offsets. */
struct __sk_buff {
	__u32 len;
	__u32 before_ifindex[9];
	__u32 ifindex;
	__u32 before_sk[31];
	struct bpf_sock *sk;
};
_Static_assert(__builtin_offsetof(struct __sk_buff, ifindex) == 40, "ifindex");
_Static_assert(__builtin_offsetof(struct __sk_buff, sk) == 168, "sk");

/* Since Linux 6.2. Without it, the program that calls it is not loaded either. */
extern void *bpf_cast_to_kern_ctx(void *) __ksym __weak;

struct own_device {
	__u64 netns_cookie;
	__u32 ifindex;
	__u32 reserved;
};

/* What else leaves by a device. */
struct own_others {
	__u64 at_ns;		/* when it last did */
	__u64 epoch;
	__u64 bytes;		/* in that epoch, IP */
	__u64 rate;		/* in the one before, bytes/s */
};

/* One for all instances: the loader shares it (../../background/own.rs). */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 256);
	__type(key, struct own_device);
	__type(value, struct own_others);
} owns SEC(".maps");

static __always_inline void own_left(struct own_device *by, __u64 now, __u64 size)
{
	struct own_others *others = bpf_map_lookup_elem(&owns, by);
	__u64 epoch = now >> OWN_EPOCH_SHIFT, before;

	if (!others) {
		struct own_others first = { .at_ns = now, .epoch = epoch, .bytes = size };

		bpf_map_update_elem(&owns, by, &first, BPF_NOEXIST);
		return;
	}
	others->at_ns = now;
	before = others->epoch;
	if (before == epoch ||
	    __sync_val_compare_and_swap(&others->epoch, before, epoch) != before) {
		__sync_fetch_and_add(&others->bytes, size);
		return;
	}
	others->rate = before + 1 == epoch ?
		others->bytes * (1000000000 >> 9) >> (OWN_EPOCH_SHIFT - 9) : 0;
	others->bytes = size;
}

/* What else leaves by this socket's device; 0 if nothing does. */
static __always_inline struct own_others *own_beside(struct sock *sk, __u64 now)
{
	struct dst_entry *route = sk->sk_dst_cache;
	struct own_device by = {};
	struct own_others *others;

	if (!route)
		return 0;
	by.ifindex = route->dev->ifindex;
	by.netns_cookie = sk->__sk_common.skc_net.net->net_cookie;
	others = bpf_map_lookup_elem(&owns, &by);
	return others && law_since(now, others->at_ns) < OWN_FOR_NS ? others : 0;
}

/* The window that leaves no queue beside others, in segments. */
static __always_inline __u64 own_window(const struct background_state *law,
					const struct own_others *others, __u64 now)
{
	__u64 rate = (now >> OWN_EPOCH_SHIFT) - others->epoch > 1 ? 0 : others->rate, together;
	int known;
	__u64 capacity = share_capacity(&law->share, &known);
	__u64 carried;

	if (!known || !law->least_rtt_us)
		return OWN_FIRST_SEGMENTS;
	together = capacity / 8 * OWN_TOGETHER;
	capacity = law_min(capacity / 8 * OWN_EIGHTHS, together > rate ? together - rate : 0);
	carried = share_times(capacity, law->least_rtt_us) / 1000000;
	return law_max(carried / law_mss(law->mss), OWN_LEAST_SEGMENTS);
}

#endif /* SOUNDING_OWN_H */
