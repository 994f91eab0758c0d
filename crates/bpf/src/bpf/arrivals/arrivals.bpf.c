// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Receive times of media without what the radio added (Gandalf 5): at a network
 * device's ingress, before any socket, the stamp of each RTP packet is set back by
 * what is known of the radio when the packet comes. Sockets read it by SIOCGSTAMP or
 * SO_TIMESTAMP, and so does libwebrtc.
 *
 * Taps such as tcpdump have seen the packet before. Stamps of other packets, those of
 * NTP among them, stay. Nothing else of a packet changes.
 */
#include "common/kernel_types.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_endian.h>
#include "arrivals/arrivals_intf.h"

char _license[] SEC("license") = "Dual MIT/GPL";

/* linux/bpf.h up to the last field that is used here; the verifier checks these offsets. */
struct __sk_buff {
	__u32 len;
	__u32 before_tstamp[37];
	__u64 tstamp;
};
_Static_assert(__builtin_offsetof(struct __sk_buff, tstamp) == 152, "tstamp");

#define NEXT			(-1)	/* TCX_NEXT, TC_ACT_UNSPEC: as if this program were not there */
#define BPF_HDR_START_NET	1
#define BPF_RB_NO_WAKEUP	1
#define PROTOCOL_UDP		17
#define UDP_HEADER		8
#define PORT_NTP		123
#define IPV4_FRAGMENT		0x3fff	/* more fragments, or an offset */

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 2);
	__type(key, __u32);
	__type(value, struct arrivals_notice);
} notices SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, ARRIVALS_RING);
} arrived SEC(".maps");

struct arrivals_counts counts;
__u32 current;
/* The last stamp that was set: no stamp is before it, unless the clock was set. */
__u64 last_given;

/* Not used: the skeleton has the types of variables alone. */
struct arrivals_packet of_packets;

static __always_inline int load(struct __sk_buff *skb, __u32 at, void *to, __u32 size)
{
	return bpf_skb_load_bytes_relative(skb, at, to, size, BPF_HDR_START_NET);
}

/*
 * Whether a packet is RTP, by its first bytes (RFC 7983, 7; RFC 5761, 4): neither
 * STUN nor DTLS nor QUIC nor RTCP begins so.
 */
static __always_inline int is_media(struct __sk_buff *skb)
{
	__u8 first, protocol, rtp[2];
	__be16 fragment, ports[2];
	__u32 header, type;

	if (load(skb, 0, &first, 1))
		return 0;
	if (first >> 4 == 4) {
		if (load(skb, 6, &fragment, 2) || load(skb, 9, &protocol, 1))
			return 0;
		if (bpf_ntohs(fragment) & IPV4_FRAGMENT)
			return 0;
		header = (first & 0xf) * 4;
	} else if (first >> 4 == 6) {
		if (load(skb, 6, &protocol, 1))
			return 0;
		header = 40;
	} else {
		return 0;
	}
	if (protocol != PROTOCOL_UDP || load(skb, header, ports, 4))
		return 0;
	if (ports[0] == bpf_htons(PORT_NTP) || ports[1] == bpf_htons(PORT_NTP))
		return 0;
	if (load(skb, header + UDP_HEADER, rtp, 2))
		return 0;
	type = rtp[1] & 0x7f;
	return rtp[0] >> 6 == 2 && (type < 64 || type > 95);
}

/* What the radio added to a packet that comes now, as far as notices say. */
static __always_inline __u64 added(__u64 now, __u32 *by_event)
{
	const struct arrivals_notice *notice;
	__u32 key = current & 1;
	__u64 most = 0;
	int i;

	notice = bpf_map_lookup_elem(&notices, &key);
	if (!notice || !notice->heard_ns || now > notice->heard_ns + ARRIVALS_SILENT_NS)
		return 0;
	for (i = 0; i < ARRIVALS_EVENTS; i++) {
		const struct arrivals_event *event = &notice->events[i];

		if (now + ARRIVALS_BEFORE_NS >= event->to_ns &&
		    now <= event->to_ns + ARRIVALS_AFTER_NS && event->amount_ns > most)
			most = event->amount_ns;
	}
	*by_event = most != 0;
	if (!most)
		most = notice->lately_ns;
	return most < ARRIVALS_MOST_NS ? most : ARRIVALS_MOST_NS;
}

/* The section is that of a link; it may also be a filter. */
SEC("tcx/ingress")
int correct_arrival(struct __sk_buff *skb)
{
	struct arrivals_packet packet = {};
	__u64 stamp = skb->tstamp, given, last;

	if (!is_media(skb))
		return NEXT;
	packet.at_ns = bpf_ktime_get_ns();
	packet.bytes = skb->len;
	__sync_fetch_and_add(&counts.packets, 1);
	if (!stamp) {
		__sync_fetch_and_add(&counts.unstamped, 1);
	} else {
		given = stamp - added(packet.at_ns, &packet.by_event);
		last = last_given;
		/* Of packets in order the stamps are, as the media's receiver expects. */
		if (given < last && last <= stamp)
			given = last;
		last_given = given;
		packet.back_ns = stamp - given;
		if (given != stamp) {
			skb->tstamp = given;
			__sync_fetch_and_add(&counts.corrected, 1);
		}
	}
	if (bpf_ringbuf_output(&arrived, &packet, sizeof(packet), BPF_RB_NO_WAKEUP))
		__sync_fetch_and_add(&counts.unnoted, 1);
	return NEXT;
}
