/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * What else this machine sends by a network device goes first: a call and a backup
 * of one phone wait in one queue at its radio, which serves them in order.
 *
 * Without a modem the queue is not seen. But a window of five eighths of what the
 * cell carries in the least round trip leaves none. A rival that takes more than the
 * rest makes one again, and shows in the flow's share as it would otherwise. With
 * seven eighths a call's 95th percentile is 15 ms more, with six 8 to 11.
 */
#ifndef SOUNDING_OWN_H
#define SOUNDING_OWN_H

#include "background_intf.h"

#define BPF_ALLOW		1	/* what a program at a cgroup answers */

/* Silent for so long, nothing else is there. Chosen: longer than any gap of a call. */
#define OWN_FOR_NS		500000000ULL
/* What a flow may have in flight beside it, in eighths of what the cell carries in a round trip. */
#define OWN_EIGHTHS		5ULL
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

/* When anything else last left by a device. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 256);
	__type(key, struct own_device);
	__type(value, __u64);
} owns SEC(".maps");

static __always_inline void own_left(struct own_device *by, __u64 now)
{
	__u64 *at = bpf_map_lookup_elem(&owns, by);

	if (at)
		*at = now;
	else
		bpf_map_update_elem(&owns, by, &now, BPF_NOEXIST);
}

/* Whether anything else leaves by this socket's device. */
static __always_inline int own_is_beside(struct sock *sk, __u64 now)
{
	struct dst_entry *route = sk->sk_dst_cache;
	struct own_device by = {};
	__u64 *at;

	if (!route)
		return 0;
	by.ifindex = route->dev->ifindex;
	by.netns_cookie = sk->__sk_common.skc_net.net->net_cookie;
	at = bpf_map_lookup_elem(&owns, &by);
	return at && law_since(now, *at) < OWN_FOR_NS;
}

/* The window that leaves no queue, in segments. */
static __always_inline __u64 own_window(const struct background_state *law)
{
	int known;
	__u64 capacity = share_capacity(&law->share, &known);
	__u64 carried;

	if (!known || !law->least_rtt_us)
		return OWN_FIRST_SEGMENTS;
	carried = share_times(capacity, law->least_rtt_us) / 1000000;
	return law_max(carried / 8 * OWN_EIGHTHS / law_mss(law->mss), OWN_LEAST_SEGMENTS);
}

#endif /* SOUNDING_OWN_H */
