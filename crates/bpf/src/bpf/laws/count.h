/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Counts flows that this program does not control: UDP, and TCP of any other
 * algorithm, as they leave by a modem's device (BISCAY A.5.2). Each counts
 * once per epoch, with what it sent in the previous epoch. So it gets what it
 * uses and an eighth more, up to its equal part and what the others do not
 * use. Flows of `background` are not counted: they take what is left.
 */
#ifndef SOUNDING_COUNT_H
#define SOUNDING_COUNT_H

#include "common/mark.h"

#define TCX_NEXT		(-1)	/* linux/bpf.h: as if we were not here */
#define BPF_HDR_START_NET	1
#define PROTOCOL_TCP		6
#define PROTOCOL_UDP		17

/* linux/bpf.h up to the last field read here; the verifier checks these offsets. */
struct bpf_sock {
	__u32 bound_dev_if;
	__u32 family;
	__u32 type;
	__u32 protocol;
	__u32 before_ports[7];
	__u32 src_port;		/* host byte order */
	__be16 dst_port;	/* network byte order */
};
_Static_assert(__builtin_offsetof(struct bpf_sock, src_port) == 44, "src_port");

struct __sk_buff {
	__u32 len;
	__u32 before_sk[41];
	struct bpf_sock *sk;
	__u32 gso_size;
};
_Static_assert(__builtin_offsetof(struct __sk_buff, sk) == 168, "sk");
_Static_assert(__builtin_offsetof(struct __sk_buff, gso_size) == 176, "gso_size");
/* Indices of ifindex and wire_len in the words of struct __sk_buff. */
#define SK_BUFF_IFINDEX		9
#define SK_BUFF_WIRE_LEN	39

struct other {
	__u64 bytes;		/* sent in its epoch, IP */
	__u64 cgroup;
	__u32 user;		/* index of its user */
	__u32 epoch;
	__u32 counted;		/* the epoch in which its application was counted */
	__u32 given;		/* its weight from the map, or 0: not looked up */
};

struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct other);
} others SEC(".maps");

/* Since Linux 6.2. Without it, the program below is not loaded either. */
extern void *bpf_cast_to_kern_ctx(void *) __ksym __weak;

/* The user of a packet's socket, which must be a full socket. */
static __always_inline __u32 sender_of(struct __sk_buff *skb)
{
	struct sk_buff *kernels = bpf_cast_to_kern_ctx(skb);
	struct sock *sk = kernels->sk;

	return sk ? owner_of(sk) : user_of(bpf_get_socket_uid(skb));
}

static __always_inline int load_net(struct __sk_buff *skb, __u32 at, void *to, __u32 size)
{
	return bpf_skb_load_bytes_relative(skb, at, to, size, BPF_HDR_START_NET);
}

/*
 * Whether a TCP packet has data: a receiver that only acknowledges takes no
 * part of this direction. Unreadable packets count as data.
 */
static __always_inline int has_data(struct __sk_buff *skb)
{
	__u8 first, words, next;
	__u32 header, whole;
	__be16 length;

	if (skb->gso_size)
		return 1;
	if (load_net(skb, 0, &first, 1))
		return 1;
	if (first >> 4 == 4) {
		header = (first & 0xf) * 4;
		if (load_net(skb, 2, &length, 2))
			return 1;
		whole = bpf_ntohs(length);
	} else {
		header = 40;
		if (load_net(skb, 4, &length, 2) || load_net(skb, 6, &next, 1))
			return 1;
		if (next != PROTOCOL_TCP)
			return 1;
		whole = 40 + bpf_ntohs(length);
	}
	if (load_net(skb, header + 12, &words, 1))
		return 1;
	return whole > header + (words >> 4) * 4;
}

/*
 * Call with the lock held. Adds a flow's claim, and its user unless flows under
 * this program's algorithm have added the user. A user weighs as much as the
 * heaviest of its flows.
 */
static __always_inline void count_claim(struct link_pool *p, struct user *user,
					const struct share_claim *claim)
{
	__u32 own = sharing.policy == SHARE_WEIGHTS ? claim->weight : SHARE_WEIGHT;

	turn_user(user, p->epoch);
	share_link_add(&p->others_now, claim);
	user->others_now += claim->weight;
	if (user->ours.flows || own <= user->counted_now)
		return;
	p->others_now.everybody += own - user->counted_now;
	user->counted_now = own;
}

/* The modem whose device this is. It may be counted on before any was named. */
static __always_inline __u32 modem_behind(__u32 device)
{
	return radios.netns_cookie ? modem_of_device(device) : radios.unnamed;
}

SEC("tcx/egress")
int count_egress(struct __sk_buff *skb)
{
	struct share_claim claim = { .kind = SHARE_LIMITED };
	struct bpf_sock *sk = skb->sk;
	__u32 modem = modem_behind(skb->before_sk[SK_BUFF_IFINDEX]);
	struct link_pool *p = pool_of(modem);
	__u32 epoch, before, size, uid;
	struct other *other;
	struct user *user;

	if (!sk || !p)
		return TCX_NEXT;
	sk = bpf_sk_fullsock(sk);
	if (!sk)
		return TCX_NEXT;
	if (sk->protocol == PROTOCOL_TCP) {
		if (bpf_sk_storage_get(&flows, sk, 0, 0) || !has_data(skb) || is_background(sk))
			return TCX_NEXT;
	} else if (sk->protocol != PROTOCOL_UDP) {
		return TCX_NEXT;
	}
	other = bpf_sk_storage_get(&others, sk, 0, BPF_SK_STORAGE_GET_F_CREATE);
	if (!other)
		return TCX_NEXT;
	epoch = epoch_of(bpf_ktime_get_ns());
	before = other->epoch;
	size = skb->before_sk[SK_BUFF_WIRE_LEN];
	if (before == epoch ||
	    __sync_val_compare_and_swap(&other->epoch, before, epoch) != before) {
		__sync_fetch_and_add(&other->bytes, size);
		return TCX_NEXT;
	}
	if (before + 1 == epoch)
		claim.rate = law_min(other->bytes * (1000000000 >> 9) >> (EPOCH_SHIFT - 9),
				     LAW_MAX_RATE);
	other->bytes = size;
	if (!other->given) {
		uid = bpf_get_socket_uid(skb);
		other->user = place_of(sender_of(skb));
		if (asks_for_cgroups())
			other->cgroup = bpf_skb_cgroup_id(skb);
		other->given = weigh(uid, other->cgroup, sk->src_port,
				     bpf_ntohs(sk->dst_port));
	}
	user = user_at(modem, other->user);
	if (!user)
		return TCX_NEXT;
	weigh_claim(&claim, other->given, other->cgroup, other->user, modem, &other->counted,
		    &other->counted, epoch);
	bpf_spin_lock(&p->lock);
	turn_epoch(p, epoch);
	count_claim(p, user, &claim);
	bpf_spin_unlock(&p->lock);
	return TCX_NEXT;
}

#endif /* SOUNDING_COUNT_H */
