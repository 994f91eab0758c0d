/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Which flows leave over the modem, where its network devices were named: what
 * the modem says is nothing to a flow over loopback or another network.
 */
#ifndef SOUNDING_RADIO_H
#define SOUNDING_RADIO_H

#include "input.h"

#define RADIOS_MOST	8

/* By their numbers, which the daemon writes anew when a device comes back. */
struct sounding_radios {
	__u64 netns_cookie;		/* where the numbers count; 0: none was named */
	__u32 numbers[RADIOS_MOST];	/* 0: none, or not there now */
} radios = {};

/*
 * Whether a socket's packets leave by another device than the modem's. Nobody
 * knows of one in another namespace, whose packets may be forwarded, or of one
 * without a route.
 */
static __always_inline int leaves_elsewhere(struct sock *sk)
{
	__u64 named = radios.netns_cookie;
	struct dst_entry *route;
	__u32 number;
	int i;

	if (!named || sk->__sk_common.skc_net.net->net_cookie != named)
		return 0;
	route = sk->sk_dst_cache;
	if (!route)
		return 0;
	number = route->dev->ifindex;
	for (i = 0; i < RADIOS_MOST; i++)
		if (radios.numbers[i] == number)
			return 0;
	return 1;
}

#endif /* SOUNDING_RADIO_H */
