/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Which flows leave over which modem, where network devices were named: what a
 * modem says is nothing to a flow over loopback or another network.
 */
#ifndef SOUNDING_RADIO_H
#define SOUNDING_RADIO_H

#include "common/input.h"

/* Devices of one modem. */
#define RADIOS_MOST	8U

/* By their numbers, which the daemon updates when a device comes back. */
struct sounding_radios {
	__u64 netns_cookie;		/* where the numbers count; 0: none was named */
	__u32 unnamed;			/* whose flows are that leave by a device without a name */
	__u32 reserved;
	/* A row for each modem. 0: none, or not there now. */
	__u32 numbers[MODEMS_MOST * RADIOS_MOST];
} radios = {};

/* Loopback's number in every namespace. */
#define LOOPBACK_IFINDEX	1

/* The place of the modem whose device was named by this number. */
LAW_PART __u32 modem_of_device(__u32 number)
{
	__u32 i;

	for (i = 0; i < MODEMS_MOST * RADIOS_MOST; i++)
		if (radios.numbers[i] == number)
			return i / RADIOS_MOST;
	return NO_MODEM;
}

/*
 * The place of the modem that a socket's packets leave by. Loopback of any namespace is no modem's,
 * unless it was named. With one modem, any other device may be its if none was named, and in
 * another namespace, whose packets may be forwarded. With several it is not known by which of them,
 * and the answer is none. @last keeps the answer while a socket has no route: a program can drop
 * the route of its own socket at any time.
 */
static __always_inline __u32 modem_of(struct sock *sk, __u32 *last)
{
	struct dst_entry *route = sk->sk_dst_cache;
	__u64 named = radios.netns_cookie;
	__u32 number;

	if (!route)
		return *last;
	number = route->dev->ifindex;
	if (number != LOOPBACK_IFINDEX &&
	    (!named || sk->__sk_common.skc_net.net->net_cookie != named))
		*last = radios.unnamed;
	else
		*last = modem_of_device(number);
	return *last;
}

#endif /* SOUNDING_RADIO_H */
