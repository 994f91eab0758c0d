/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The pool of a link: what this program's flows claim of it, put in and taken
 * out as they do, and what all others were seen to send (count.h). No flow
 * looks at another, and nothing waits for a timer.
 */
#ifndef SOUNDING_POOL_H
#define SOUNDING_POOL_H

#include "epoch.h"
#include "radio.h"
#include "sharing.h"

/* Whose a flow is, where applications share. */
#define BY_UID		0
#define BY_CGROUP	1

/* What a weight is given to. */
#define WEIGHT_OF_UID	0
#define WEIGHT_OF_CGROUP 1
#define WEIGHT_OF_PORT	2

/* Set by the loader before load; the verifier then sees constants. */
struct sounding_sharing {
	__u32 policy;		/* enum share_policy */
	__u32 application;	/* BY_UID or BY_CGROUP */
	__u32 has_weights;	/* the map of weights is not empty */
	__u32 reserved;
};
const volatile struct sounding_sharing sharing;

struct weight_key {
	__u32 kind;		/* WEIGHT_OF_… */
	__u32 reserved;
	__u64 id;
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1024);
	__type(key, struct weight_key);
	__type(value, __u32);
} weights SEC(".maps");

/* Of an application, see count_in(). */
struct alike {
	__u64 flows;		/* that want anything */
	__u64 hungry;
};

/* Applications that come and go, the least recently seen first to be forgotten. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 4096);
	__type(key, __u64);
	__type(value, struct alike);
} applications SEC(".maps");

/* linux/bpf.h; the kernel finds it in the types of a map by its name. */
struct bpf_spin_lock {
	__u32 val;
};

struct link_pool {
	struct bpf_spin_lock lock;
	__u32 epoch;			/* of others_now */
	struct share_pool ours;
	struct share_pool others_now;
	struct share_pool others_before;
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct link_pool);
} pool SEC(".maps");

/* What a socket of ours has in the pool. */
struct member {
	struct share_claim claim;
	__u64 application;
	__u64 used;		/* how fast it was last delivered, IP, bytes/s */
	__u32 given;		/* its weight by the map, or 0: not looked up */
	__u32 epoch;		/* in which its application counted it */
	__u32 hungry_epoch;	/* among its hungry flows */
	__u32 reserved;
};

struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct member);
} members SEC(".maps");

static __always_inline struct link_pool *the_pool(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&pool, &zero);
}

/* With the lock held: what was others' this epoch is the last one's now. */
static __always_inline void turn_epoch(struct link_pool *p, __u32 epoch)
{
	/* Another processor may have been later to look at the clock, and earlier here. */
	if ((__s32)(epoch - p->epoch) <= 0)
		return;
	if (p->epoch + 1 == epoch)
		p->others_before = p->others_now;
	else
		__builtin_memset(&p->others_before, 0, sizeof(p->others_before));
	__builtin_memset(&p->others_now, 0, sizeof(p->others_now));
	p->epoch = epoch;
}

/* What is known of an application; 0 where there is no memory for it. */
static __always_inline struct alike *alike_of(__u64 application)
{
	struct alike *alike = bpf_map_lookup_elem(&applications, &application);
	struct alike none = {};

	if (alike)
		return alike;
	bpf_map_update_elem(&applications, &application, &none, BPF_NOEXIST);
	return bpf_map_lookup_elem(&applications, &application);
}

/* Weighs a claim of a socket that was given @given and belongs to an application. */
static __always_inline void weigh_claim(struct share_claim *claim, __u32 given,
					__u64 application, __u32 *counted,
					__u32 *hungry_counted, __u32 epoch)
{
	int is_hungry = claim->kind == SHARE_HUNGRY;
	__u32 flows = 1, hungry = 1, seen = epoch;
	struct alike *alike;

	if (sharing.policy == SHARE_APPLICATIONS) {
		alike = alike_of(application);
		if (alike) {
			flows = count_in(&alike->flows, counted, epoch);
			/* One that is not would be one more. */
			hungry = count_in(&alike->hungry, is_hungry ? hungry_counted : &seen,
					  epoch) + !is_hungry;
		}
	}
	claim->weight = share_weight(sharing.policy, given, flows);
	claim->hunger = share_weight(sharing.policy, given, hungry);
}

static __always_inline __u32 given_weight(__u32 kind, __u64 id)
{
	struct weight_key key = { .kind = kind, .id = id };
	__u32 *weight = bpf_map_lookup_elem(&weights, &key);

	return weight ? *weight : 0;
}

/* The weight a flow was given: by port, else by cgroup, else by user. */
static __always_inline __u32 weigh(__u32 uid, __u64 cgroup, __u32 local_port,
				   __u32 remote_port)
{
	__u32 weight;

	if (!sharing.has_weights)
		return SHARE_WEIGHT;
	weight = given_weight(WEIGHT_OF_PORT, remote_port);
	if (!weight)
		weight = given_weight(WEIGHT_OF_PORT, local_port);
	if (!weight)
		weight = given_weight(WEIGHT_OF_CGROUP, cgroup);
	if (!weight)
		weight = given_weight(WEIGHT_OF_UID, uid);
	return weight ? weight : SHARE_WEIGHT;
}

/* Kernels without cgroups of sockets run this as long as nobody asks. */
static __always_inline int asks_for_cgroups(void)
{
	return sharing.application == BY_CGROUP || sharing.has_weights;
}

static __always_inline __u64 cgroup_of(struct sock *sk)
{
	struct cgroup *cgroup = sk->sk_cgrp_data.cgroup;

	return cgroup ? cgroup->kn->id : 0;
}

/* Who a socket of ours belongs to, found out once. */
static __always_inline void identify(struct sock *sk, struct member *member)
{
	__u32 uid = sk->sk_uid.val;
	__u64 cgroup = asks_for_cgroups() ? cgroup_of(sk) : 0;

	member->application = sharing.application == BY_CGROUP ? cgroup : uid;
	member->given = weigh(uid, cgroup, sk->__sk_common.skc_num,
			      bpf_ntohs(sk->__sk_common.skc_dport));
}

/*
 * What a socket of ours wants now of the link. One whose application has nothing
 * more to give, or its peer no room, is known for it at once, and has gone when
 * nothing of it is under way.
 */
static __always_inline __u32 wants(struct sock *sk)
{
	struct tcp_sock *tp = (struct tcp_sock *)sk;
	__u32 mss = tp->mss_cache, unsent = tp->write_seq - tp->snd_nxt;
	int closed = tp->snd_nxt - tp->snd_una + mss > tp->snd_wnd;

	if (leaves_elsewhere(sk) || (!tp->packets_out && (!unsent || closed)))
		return SHARE_IDLE;
	if (unsent < mss || closed)
		return SHARE_LIMITED;
	return SHARE_HUNGRY;
}

/* Puts in what a socket of ours wants, for what it had in before. */
static __always_inline void claim(struct sock *sk, struct member *member,
				  struct link_pool *p, __u32 kind, __u64 now)
{
	struct share_claim before = member->claim;
	struct share_claim next = {
		.kind = kind, .weight = before.weight, .hunger = before.hunger,
	};

	if (kind != SHARE_IDLE) {
		if (!member->given)
			identify(sk, member);
		weigh_claim(&next, member->given, member->application, &member->epoch,
			    &member->hungry_epoch, epoch_of(now));
	}
	if (kind == SHARE_LIMITED)
		next.rate = member->used;
	if (next.kind == before.kind && next.weight == before.weight &&
	    next.hunger == before.hunger && next.rate == before.rate)
		return;
	member->claim = next;
	bpf_spin_lock(&p->lock);
	share_remove(&p->ours, &before);
	share_add(&p->ours, &next);
	bpf_spin_unlock(&p->lock);
}

/* Takes out what a socket of ours has in. */
static __always_inline void renounce(struct sock *sk)
{
	struct member *member = bpf_sk_storage_get(&members, sk, 0, 0);
	struct link_pool *p = the_pool();

	if (member && p)
		claim(sk, member, p, SHARE_IDLE, 0);
}

/* Claims what a socket of ours wants before it sends after a pause. */
static __always_inline void claim_again(struct sock *sk)
{
	struct member *member = bpf_sk_storage_get(&members, sk, 0, 0);
	struct link_pool *p = the_pool();

	if (member && p)
		claim(sk, member, p, wants(sk), bpf_ktime_get_ns());
}

/* How fast this ACK says that segments of so many bytes were delivered; 0: it does not. */
static __always_inline __u64 delivery_of(const struct rate_sample *rs, __u32 bytes)
{
	__u64 interval;

	if (rs->delivered <= 0 || rs->interval_us <= 0)
		return 0;
	interval = rs->interval_us;
	return law_min(law_min(rs->delivered, LAW_MAX_SEGS) * bytes * 1000000 / interval,
		       LAW_MAX_RATE);
}

/* Remembers how fast the socket was last delivered. */
static __always_inline void measure(struct member *member, const struct rate_sample *rs,
				    __u32 mss)
{
	__u64 used = rs ? delivery_of(rs, mss + LAW_HEADERS) : 0;

	if (used)
		member->used = used;
}

/*
 * Claims, and says what the socket's part of the link is of, in @in; it is what
 * the socket may have as soon as it wants all it can get, whatever it wants
 * now. Says how many share the link, this one included.
 */
static __always_inline __u32 share_link(struct sock *sk, struct law_input *in,
					const struct rate_sample *rs)
{
	struct member *member = bpf_sk_storage_get(&members, sk, 0, 0);
	struct link_pool *p = the_pool();
	struct share_pool all = {};
	struct share_claim own = {};

	if (member && p) {
		measure(member, rs, in->mss);
		claim(sk, member, p, wants(sk), in->now_ns);
		own = member->claim;
		bpf_spin_lock(&p->lock);
		turn_epoch(p, epoch_of(in->now_ns));
		all = p->ours;
		all.everybody += law_max(p->others_now.everybody, p->others_before.everybody);
		all.claimed += law_max(p->others_now.claimed, p->others_before.claimed);
		all.flows += law_max(p->others_now.flows, p->others_before.flows);
		bpf_spin_unlock(&p->lock);
		share_remove(&all, &own);
	}
	in->weight = own.weight ? own.weight : share_weight(sharing.policy, SHARE_WEIGHT, 1);
	in->hunger = own.weight ? own.hunger : in->weight;
	all.hungry += in->hunger;
	all.everybody += in->weight;
	all.flows++;
	if (in->feed.valid) {
		all.hungry += (__u64)in->feed.other_flows * SHARE_WEIGHT;
		all.everybody += (__u64)in->feed.other_flows * SHARE_WEIGHT;
		all.flows += in->feed.other_flows;
		in->feed.other_flows = 0;
	}
	in->pool = all;
	return law_min(all.flows, ~0U);
}

#endif /* SOUNDING_POOL_H */
