/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The pool of a link: what this program's flows claim of it, put in and taken
 * out as they do, and what all others were seen to send (count.h), for the link
 * and for each user. Each modem's link has one. No flow looks at another, and
 * nothing waits for a timer.
 */
#ifndef SOUNDING_POOL_H
#define SOUNDING_POOL_H

#include "common/epoch.h"
#include "common/owner.h"
#include "common/radio.h"
#include "common/sharing.h"
#include "laws/users.h"

/* What a weight is given to. */
#define WEIGHT_OF_UID	0
#define WEIGHT_OF_CGROUP 1
#define WEIGHT_OF_PORT	2

/* Set by the loader before load; the verifier then sees constants. */
struct sounding_sharing {
	__u32 policy;		/* enum share_policy */
	__u32 has_weights;	/* the map of weights is not empty */
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

/* If applications share: a cgroup, as far as flows of one user are in it. */
struct application {
	__u64 cgroup;
	__u32 user;		/* its place */
	__u32 modem;		/* whose link they share */
};

/* For an application, see count_in(). */
struct alike {
	__u64 flows;		/* that want anything */
	__u64 hungry;
};

/* Applications that come and go, the least recently seen first to be forgotten. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 4096);
	__type(key, struct application);
	__type(value, struct alike);
} applications SEC(".maps");

/* linux/bpf.h; the kernel finds it in the types of a map by its name. */
struct bpf_spin_lock {
	__u32 val;
};

struct link_pool {
	struct bpf_spin_lock lock;
	__u32 epoch;			/* of others_now */
	struct share_pool ours;		/* its weights are users' */
	struct share_pool others_now;
	struct share_pool others_before;
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, MODEMS_MOST);
	__type(key, __u32);
	__type(value, struct link_pool);
} pool SEC(".maps");

/* What a socket of ours has in the pool. */
struct member {
	struct share_claim claim;
	__u64 cgroup;
	__u64 used;		/* how fast it was last delivered, IP, bytes/s */
	__u32 given;		/* its weight by the map, or 0: not looked up */
	__u32 user;		/* its place */
	__u32 epoch;		/* in which its application counted it */
	__u32 hungry_epoch;	/* among its hungry flows */
	__u32 modem;		/* what modem_of() last said */
	__u32 pool;		/* the modem in whose pool the claim is */
};

struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct member);
} members SEC(".maps");

static __always_inline struct member *member_of(struct sock *sk)
{
	return bpf_sk_storage_get(&members, sk, 0, 0);
}

/* That of a modem's link; 0 for no modem. */
static __always_inline struct link_pool *pool_of(__u32 modem)
{
	return bpf_map_lookup_elem(&pool, &modem);
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

/* The state of an application; 0 if there is no memory for it. */
static __always_inline struct alike *alike_of(__u64 cgroup, __u32 user, __u32 modem)
{
	struct application application = { .cgroup = cgroup, .user = user, .modem = modem };
	struct alike *alike = bpf_map_lookup_elem(&applications, &application);
	struct alike none = {};

	if (alike)
		return alike;
	bpf_map_update_elem(&applications, &application, &none, BPF_NOEXIST);
	return bpf_map_lookup_elem(&applications, &application);
}

/* Weighs a claim of a socket that was given @given, in the cgroup of a user, at a modem's link. */
static __always_inline void weigh_claim(struct share_claim *claim, __u32 given,
					__u64 cgroup, __u32 user, __u32 modem,
					__u32 *counted, __u32 *hungry_counted, __u32 epoch)
{
	int is_hungry = claim->kind == SHARE_HUNGRY;
	__u32 flows = 1, hungry = 1, seen = epoch;
	struct alike *alike;

	if (sharing.policy == SHARE_APPLICATIONS) {
		alike = alike_of(cgroup, user, modem);
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
LAW_PART __u32 weigh(__u32 uid, __u64 cgroup, __u32 local_port, __u32 remote_port)
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

/* Kernels without cgroups of sockets run this; it returns no. */
static __always_inline int asks_for_cgroups(void)
{
	return sharing.policy == SHARE_APPLICATIONS || sharing.has_weights;
}

static __always_inline __u64 cgroup_of(struct sock *sk)
{
	struct cgroup *cgroup = sk->sk_cgrp_data.cgroup;

	return cgroup ? cgroup->kn->id : 0;
}

/*
 * Looks up the place and the weight of a socket, once: @member->user comes as a
 * uid, that of owner_of(), and leaves as the place of that user. The weight goes
 * by @uid, the socket's own, because that is what a configuration names.
 */
LAW_PART int place(struct member *member, __u32 uid, __u32 local_port, __u32 remote_port)
{
	if (!member)
		return 0;
	member->user = place_of(member->user);
	member->given = weigh(uid, member->cgroup, local_port, remote_port);
	return 0;
}

/* Finds the owner of a socket of ours, once. */
static __always_inline void identify(struct sock *sk, struct member *member)
{
	member->cgroup = asks_for_cgroups() ? cgroup_of(sk) : 0;
	member->user = owner_of(sk);
	place(member, sk->sk_uid.val, sk->__sk_common.skc_num,
	      bpf_ntohs(sk->__sk_common.skc_dport));
}

/*
 * The current claim of a socket of ours. If its application has nothing more to send, or its peer
 * no space, that counts at once; it is gone when nothing of it is in flight.
 */
static __always_inline __u32 wants(struct sock *sk)
{
	struct tcp_sock *tp = (struct tcp_sock *)sk;
	__u32 mss = tp->mss_cache, unsent = tp->write_seq - tp->snd_nxt;
	int closed = tp->snd_nxt - tp->snd_una + mss > tp->snd_wnd;

	if (!tp->packets_out && (!unsent || closed))
		return SHARE_IDLE;
	if (unsent < mss || closed)
		return SHARE_LIMITED;
	return SHARE_HUNGRY;
}

/*
 * With the lock held: a user that begins to claim is in the link's sums for
 * that, and no longer for what else it was seen to send.
 */
static __always_inline void begin_to_claim(struct link_pool *p, struct user *user)
{
	turn_user(user, p->epoch);
	p->others_now.everybody = share_without(p->others_now.everybody, user->counted_now);
	p->others_before.everybody =
		share_without(p->others_before.everybody, user->counted_before);
	user->counted_now = 0;
	user->counted_before = 0;
}

/* Takes the claim of a socket of ours out of the pool that it is in. */
LAW_PART int withdraw(struct member *member)
{
	struct share_claim before, idle;
	struct link_pool *p;
	struct user *user;

	if (!member)
		return 0;
	p = pool_of(member->pool);
	user = user_at(member->pool, member->user);
	before = member->claim;
	idle = (struct share_claim){ .weight = before.weight, .hunger = before.hunger };
	member->claim = idle;
	if (!p || !user || before.kind == SHARE_IDLE)
		return 0;
	bpf_spin_lock(&p->lock);
	share_change(sharing.policy, &p->ours, &user->ours, &before, &idle);
	bpf_spin_unlock(&p->lock);
	return 0;
}

/* Puts in what a socket of ours wants of its modem's link, for what it had in before. */
LAW_PART int claim(struct member *member, __u32 kind, __u64 now)
{
	struct share_claim before, next;
	struct link_pool *p;
	struct user *user;

	if (!member)
		return 0;
	if (member->pool != member->modem) {
		withdraw(member);
		member->pool = member->modem;
	}
	p = pool_of(member->pool);
	user = user_at(member->pool, member->user);
	if (!p || !user)
		return 0;
	before = member->claim;
	next = (struct share_claim){
		.kind = kind, .weight = before.weight, .hunger = before.hunger,
	};
	if (kind != SHARE_IDLE)
		weigh_claim(&next, member->given, member->cgroup, member->user, member->pool,
			    &member->epoch, &member->hungry_epoch, epoch_of(now));
	if (kind == SHARE_LIMITED)
		next.rate = member->used;
	if (next.kind == before.kind && next.weight == before.weight &&
	    next.hunger == before.hunger && next.rate == before.rate)
		return 0;
	member->claim = next;
	bpf_spin_lock(&p->lock);
	if (!user->ours.flows)
		begin_to_claim(p, user);
	share_change(sharing.policy, &p->ours, &user->ours, &before, &next);
	bpf_spin_unlock(&p->lock);
	return 0;
}

/* Takes out what a socket of ours has in. */
static __always_inline void claim_release(struct member *member)
{
	withdraw(member);
}

/* Claims what a socket of ours wants before it sends after a pause. */
static __always_inline void claim_again(struct sock *sk)
{
	struct member *member = member_of(sk);

	if (!member || modem_of(sk, &member->modem) == NO_MODEM)
		return;
	if (!member->given)
		identify(sk, member);
	claim(member, wants(sk), bpf_ktime_get_ns());
}

/* This ACK's delivery rate of segments of so many bytes; 0: it has none. */
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
 * The pool that a socket of ours sees, and in @in its weights there. Its part is the
 * one that it has as soon as it wants all it can get, whatever it wants now.
 * Without @member it shares with no other.
 */
LAW_PART int see_pool(struct law_input *in, const struct member *member)
{
	struct share_user own;
	struct link_pool *p;
	struct user *user;
	__u64 beside;

	if (!in)
		return 0;
	in->weight = in->hunger = SHARE_WEIGHT;
	in->pool = (struct share_pool){
		.hungry = SHARE_WEIGHT, .everybody = SHARE_WEIGHT, .flows = 1,
	};
	if (!member)
		return 0;
	p = pool_of(member->pool);
	user = user_at(member->pool, member->user);
	if (!p || !user)
		return 0;
	in->weight = member->claim.weight;
	in->hunger = member->claim.hunger;
	if (!in->weight)
		in->weight = in->hunger = share_weight(sharing.policy, SHARE_WEIGHT, 1);
	bpf_spin_lock(&p->lock);
	turn_epoch(p, epoch_of(in->now_ns));
	turn_user(user, p->epoch);
	in->pool = p->ours;
	own = user->ours;
	beside = law_max(user->others_now, user->others_before);
	in->pool.everybody +=
		law_max(share_without(p->others_now.everybody, user->counted_now),
			share_without(p->others_before.everybody, user->counted_before));
	in->pool.claimed += law_max(p->others_now.claimed, p->others_before.claimed);
	in->pool.flows += law_max(p->others_now.flows, p->others_before.flows);
	bpf_spin_unlock(&p->lock);
	share_seen(sharing.policy, &in->pool, &own, &member->claim, in->weight, in->hunger,
		   beside);
	if (in->feed.valid) {
		in->pool.hungry += (__u64)in->feed.other_flows * SHARE_WEIGHT;
		in->pool.everybody += (__u64)in->feed.other_flows * SHARE_WEIGHT;
		in->pool.flows += in->feed.other_flows;
		in->feed.other_flows = 0;
	}
	return 0;
}

/*
 * Enters the claim of a socket of ours, and its part of its modem's link in @in; if it shares
 * nothing, it claims nothing. Returns how many share the link, this one included.
 */
static __always_inline __u32 share_link(struct sock *sk, struct member *member, int shares,
					struct law_input *in, const struct rate_sample *rs)
{
	if (member) {
		measure(member, rs, in->mss);
		if (!member->given)
			identify(sk, member);
		claim(member, shares ? wants(sk) : SHARE_IDLE, in->now_ns);
	}
	see_pool(in, shares ? member : 0);
	return law_min(in->pool.flows, ~0U);
}

#endif /* SOUNDING_POOL_H */
