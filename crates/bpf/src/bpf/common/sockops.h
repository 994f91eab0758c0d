/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The context of programs that are attached to a cgroup's TCP sockets, or that walk over all of
 * them. linux/bpf.h fixes these once published; the kernel maps accesses to the context itself, so
 * nothing is relocated.
 */
#ifndef SOUNDING_SOCKOPS_H
#define SOUNDING_SOCKOPS_H

#include "common/trust.h"

enum {
	BPF_SOCK_OPS_TCP_CONNECT_CB = 3,
	BPF_SOCK_OPS_ACTIVE_ESTABLISHED_CB = 4,
	BPF_SOCK_OPS_PASSIVE_ESTABLISHED_CB = 5,
	BPF_SOCK_OPS_PARSE_HDR_OPT_CB = 13,
	BPF_SOCK_OPS_HDR_OPT_LEN_CB = 14,
	BPF_SOCK_OPS_WRITE_HDR_OPT_CB = 15,
};

/* Callbacks that a socket asks for. */
enum {
	BPF_SOCK_OPS_PARSE_UNKNOWN_HDR_OPT_CB_FLAG = 1 << 5,
	BPF_SOCK_OPS_WRITE_HDR_OPT_CB_FLAG = 1 << 6,
};

#define SOL_TCP				6
#define TCP_WINDOW_CLAMP		10
#define TCP_CONGESTION			13
/* Since Linux 6.12: the flags above, of a socket that is not at a callback. */
#define TCP_BPF_SOCK_OPS_CB_FLAGS	1008

/* net/tcp_states.h: those in which data may still come or go. */
#define TCP_ESTABLISHED			1
#define TCP_FIN_WAIT1			4
#define TCP_FIN_WAIT2			5
#define TCP_CLOSE_WAIT			8

#define AF_INET				2	/* linux/socket.h */
#define AF_INET6			10
#define ENOSPC				28	/* asm-generic/errno-base.h */

struct bpf_sock;

struct bpf_sock_ops {
	__u32 op;
	__u32 args[4];
	__u32 family;
	__u32 remote_ip4;
	__u32 local_ip4;
	__u32 remote_ip6[4];
	__u32 local_ip6[4];
	__u32 remote_port;
	__u32 local_port;
	__u32 is_fullsock;
	__u32 snd_cwnd;
	__u32 srtt_us;
	__u32 bpf_sock_ops_cb_flags;
	__u32 state;
	__u32 rtt_min;
	__u32 snd_ssthresh;
	__u32 rcv_nxt;
	__u32 snd_nxt;
	__u32 snd_una;
	__u32 mss_cache;
	__u32 ecn_flags;
	__u32 rate_delivered;
	__u32 rate_interval_us;
	__u32 packets_out;
	__u32 retrans_out;
	__u32 total_retrans;
	__u32 segs_in;
	__u32 data_segs_in;
	__u32 segs_out;
	__u32 data_segs_out;
	__u32 lost_out;
	__u32 sacked_out;
	__u32 sk_txhash;
	__u64 bytes_received;
	__u64 bytes_acked;
	struct bpf_sock *sk;
	/* Pointers; the kernel has them in 64 bits wherever it runs. */
	__u64 skb_data __attribute__((aligned(8)));
	__u64 skb_data_end __attribute__((aligned(8)));
};

struct seq_file;

struct bpf_iter_meta {
	struct seq_file *seq;
	__u64 session_id;
	__u64 seq_num;
};

struct bpf_iter__tcp {
	struct bpf_iter_meta *meta;
	struct sock_common *sk_common;
	__u32 uid;
};

/* The socket of one step of a walk, if TCP may send or receive on it. */
static __always_inline struct tcp_sock *walked(struct bpf_iter__tcp *ctx)
{
	struct sock_common *common = ctx->sk_common;
	__u8 state;

	if (!common)
		return 0;
	state = common->skc_state;
	if (state != TCP_ESTABLISHED && state != TCP_FIN_WAIT1 &&
	    state != TCP_FIN_WAIT2 && state != TCP_CLOSE_WAIT)
		return 0;
	return bpf_skc_to_tcp_sock(common);
}

/* Asks for callbacks besides those that are asked for. */
static __always_inline int ask(struct tcp_sock *tp, int flags)
{
	int now = 0;

	if (bpf_getsockopt(tp, SOL_TCP, TCP_BPF_SOCK_OPS_CB_FLAGS, &now, sizeof(now)))
		return -1;
	now |= flags;
	return bpf_setsockopt(tp, SOL_TCP, TCP_BPF_SOCK_OPS_CB_FLAGS, &now, sizeof(now));
}

/* As trust.h reads it; version 1 ends after the first of the words. */
struct capacity_option {
	__u8 kind;
	__u8 len;
	__be16 exid;
	__be32 words[2];
};
_Static_assert(sizeof(struct capacity_option) == OPTION_LENGTH_2, "as on the wire");

#endif /* SOUNDING_SOCKOPS_H */
