/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The users of a machine, each with what its flows claim and send: a link is
 * divided among them first, so that no user gains by opening more flows.
 */
#ifndef SOUNDING_USERS_H
#define SOUNDING_USERS_H

#include "common/sharing.h"

/*
 * This many users have separate parts. A user keeps its place, and cannot get another. Later users
 * share the first place, and with it one part.
 */
#define USERS_MOST	1024

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, USERS_MOST);
	__type(key, __u32);	/* uid */
	__type(value, __u32);	/* place */
} places SEC(".maps");

__u32 places_taken = 0;

/* At one modem's link. Guarded by the lock of its pool. */
struct user {
	struct share_user ours;
	__u64 others_now;	/* weights of flows that this program does not drive, in its epoch */
	__u64 others_before;
	__u32 epoch;		/* of others_now */
	__u32 counted_now;	/* this user's weight in the link's others_now */
	__u32 counted_before;
	__u32 reserved;
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, USERS_MOST * MODEMS_MOST);
	__type(key, __u32);
	__type(value, struct user);
} users SEC(".maps");

LAW_PART __u32 place_of(__u32 uid)
{
	__u32 *place = bpf_map_lookup_elem(&places, &uid), next;

	if (place)
		return *place;
	if (*(volatile __u32 *)&places_taken >= USERS_MOST - 1)
		return 0;
	next = __sync_fetch_and_add(&places_taken, 1) + 1;
	/* Another processor may have been first; this place then stays empty. */
	bpf_map_update_elem(&places, &uid, &next, BPF_NOEXIST);
	place = bpf_map_lookup_elem(&places, &uid);
	return place ? *place : 0;
}

/* What the user at this place does at the link of a modem. */
static __always_inline struct user *user_at(__u32 modem, __u32 place)
{
	__u32 at = modem * USERS_MOST + place;

	return bpf_map_lookup_elem(&users, &at);
}

/* With the lock held: what was others' this epoch is the last one's now. */
static __always_inline void turn_user(struct user *user, __u32 epoch)
{
	int is_next = user->epoch + 1 == epoch;

	if ((__s32)(epoch - user->epoch) <= 0)
		return;
	user->others_before = is_next ? user->others_now : 0;
	user->counted_before = is_next ? user->counted_now : 0;
	user->others_now = 0;
	user->counted_now = 0;
	user->epoch = epoch;
}

#endif /* SOUNDING_USERS_H */
