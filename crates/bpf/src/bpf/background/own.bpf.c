// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Before every packet of this machine. A device's own flows share one queue at its
 * radio, so that whatever is not background goes first (own.h). All instances of
 * `background` share this program and its map: a cgroup takes 64 programs.
 */
#include "common/kernel_types.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_tracing.h>
#include "common/mark.h"
#include "background/own.h"

char _license[] SEC("license") = "Dual MIT/GPL";

SEC("cgroup_skb/egress")
int note_own(struct __sk_buff *skb)
{
	struct own_device by = { .ifindex = skb->ifindex };
	struct bpf_sock *sk = skb->sk;
	struct sk_buff *kernels;
	struct sock *sender;

	if (!sk)
		return BPF_ALLOW;
	sk = bpf_sk_fullsock(sk);
	if (!sk || is_background(sk))
		return BPF_ALLOW;
	kernels = bpf_cast_to_kern_ctx(skb);
	sender = kernels->sk;
	if (!sender)
		return BPF_ALLOW;
	by.netns_cookie = sender->__sk_common.skc_net.net->net_cookie;
	own_left(&by, bpf_ktime_get_ns(), skb->len);
	return BPF_ALLOW;
}
