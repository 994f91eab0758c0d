/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Which flows leave over the modem, where its network devices were named: what
 * the modem says is nothing to a flow over loopback or another network.
 */
#ifndef SOUNDING_RADIO_H
#define SOUNDING_RADIO_H

#include "common/input.h"

#define RADIOS_MOST	8

/* By their numbers, which the daemon updates when a device comes back. */
struct sounding_radios {
	__u64 netns_cookie;		/* where the numbers count; 0: none was named */
	__u32 numbers[RADIOS_MOST];	/* 0: none, or not there now */
} radios = {};

/* Loopback's number in every namespace. */
#define LOOPBACK_IFINDEX	1

LAW_PART int is_named(__u32 number)
{
	int i;

	for (i = 0; i < RADIOS_MOST; i++)
		if (radios.numbers[i] == number)
			return 1;
	return 0;
}

/*
 * Whether a socket's packets leave by another device than the modem's. Loopback of any namespace is
 * another, unless it was named. Any other device may be the modem's if none was named, and in
 * another namespace, whose packets may be forwarded. @last keeps the answer while a socket has no
 * route: a program can drop the route of its own socket at any time.
 */
static __always_inline int leaves_elsewhere(struct sock *sk, __u32 *last)
{
	struct dst_entry *route = sk->sk_dst_cache;
	__u64 named = radios.netns_cookie;
	__u32 number;

	if (!route)
		return *last;
	number = route->dev->ifindex;
	if (number != LOOPBACK_IFINDEX &&
	    (!named || sk->__sk_common.skc_net.net->net_cookie != named))
		*last = 0;
	else
		*last = !is_named(number);
	return *last;
}

#endif /* SOUNDING_RADIO_H */
