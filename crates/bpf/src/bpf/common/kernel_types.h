/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The part of the kernel's types that the programs touch, by name: libbpf
 * relocates every access to the running kernel, so order, padding and missing
 * members do not matter here, and the build needs no BTF of any kernel.
 */
#ifndef SOUNDING_KERNEL_TYPES_H
#define SOUNDING_KERNEL_TYPES_H

typedef unsigned char __u8;
typedef unsigned short __u16;
typedef int __s32;
typedef unsigned int __u32;
typedef long long __s64;
typedef unsigned long long __u64;
typedef __u16 __be16;
typedef __u32 __be32;
typedef __u64 __be64;
typedef __u32 __wsum;
typedef _Bool bool;

/* linux/bpf.h, which never changes what it has published. */
enum bpf_map_type {
	BPF_MAP_TYPE_HASH = 1,
	BPF_MAP_TYPE_ARRAY = 2,
	BPF_MAP_TYPE_LRU_HASH = 9,
	BPF_MAP_TYPE_LPM_TRIE = 11,
	BPF_MAP_TYPE_SK_STORAGE = 24,
	BPF_MAP_TYPE_RINGBUF = 27,
};

enum {
	BPF_NOEXIST = 1,
	BPF_F_NO_PREALLOC = 1,
	BPF_F_MMAPABLE = 1024,
	BPF_SK_STORAGE_GET_F_CREATE = 1,
};

/* net/tcp_states.h */
#define TCP_SYN_SENT		2
#define TCP_SYN_RECV		3

/* linux/tcp.h, enum tcp_ca_state */
#define TCP_CA_Open		0
#define TCP_CA_CWR		2
#define TCP_CA_Recovery		3
#define TCP_CA_Loss		4
#define TCP_CONG_NON_RESTRICTED	1	/* net/tcp.h */

/* ICSK_CA_PRIV_SIZE, the same since Linux 4.20 */
#define CA_PRIV_WORDS		13

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

enum tcp_ca_event {
	CA_EVENT_TX_START,
};

typedef struct {
	__s64 counter;
} atomic64_t;

struct net {
	__u64 net_cookie;
};

typedef struct {
	struct net *net;
} possible_net_t;

struct net_device {
	int ifindex;
};

struct dst_entry {
	struct net_device *dev;
};

struct sock_common {
	__be16 skc_dport;
	__u16 skc_num;
	unsigned short skc_family;
	unsigned char skc_state;
	possible_net_t skc_net;
	atomic64_t skc_cookie;
};

typedef struct {
	__u32 val;
} kuid_t;

struct user_namespace {
	struct user_namespace *parent;
	kuid_t owner;
};

struct cred {
	struct user_namespace *user_ns;
};

struct file {
	const struct cred *f_cred;
};

struct socket {
	struct file *file;
};

struct kernfs_node {
	__u64 id;
};

struct cgroup {
	struct kernfs_node *kn;
};

struct sock_cgroup_data {
	struct cgroup *cgroup;
};

struct sock {
	struct sock_common __sk_common;
	kuid_t sk_uid;
	struct socket *sk_socket;
	struct sock_cgroup_data sk_cgrp_data;
	unsigned long sk_pacing_rate;
	__u32 sk_pacing_status;
	unsigned long sk_max_pacing_rate;
	struct dst_entry *sk_dst_cache;
	int sk_rx_dst_ifindex;
};

struct sk_buff {
	struct sock *sk;
};

struct inet_sock {
	struct sock sk;
};

struct inet_connection_sock {
	struct inet_sock icsk_inet;
	__u8 icsk_ca_state:5;
	__u64 icsk_ca_priv[CA_PRIV_WORDS];
};

struct minmax_sample {
	__u32 t;
	__u32 v;
};

struct minmax {
	struct minmax_sample s[3];
};

struct tcp_options_received {
	__u32 rcv_tsval;
	__u32 rcv_tsecr;
	__u16 saw_tstamp:1;
	__u16 tstamp_ok:1;
};

struct tcp_sock {
	struct inet_connection_sock inet_conn;
	struct tcp_options_received rx_opt;
	__u32 mss_cache;
	__u32 snd_cwnd;
	__u32 snd_cwnd_clamp;
	__u32 snd_ssthresh;
	__u32 srtt_us;
	__u32 prr_out;
	__u32 retrans_out;
	__u32 sacked_out;
	__u32 lost_out;
	__u32 lost;
	__u32 delivered;
	__u32 delivered_ce;
	struct minmax rtt_min;
	__u16 advmss;
	__u32 window_clamp;
	__u32 data_segs_in;
	__u64 bytes_received;
	struct {
		__u32 rtt_us;
	} rcv_rtt_est;
	__u32 write_seq;
	__u32 snd_nxt;
	__u32 snd_una;
	__u32 snd_wnd;
	__u32 max_window;
	__u32 packets_out;
	__u32 max_packets_out;
	__u64 tcp_wstamp_ns;
	__u64 first_tx_mstamp;
	__u32 is_cwnd_limited:1;
	__u8 tcp_usec_ts:1;
};

struct rate_sample {
	__u32 prior_delivered;
	__s32 delivered;
	long interval_us;
	long rtt_us;
	int losses;
	__u32 acked_sacked;
	__u32 prior_in_flight;
	bool is_app_limited;
};

struct ack_sample {
	__u32 pkts_acked;
};

/* net/ipv4/tcp_bbr.c: what lies in icsk_ca_priv. */
struct bbr {
	__u32 min_rtt_us;
	__u32 min_rtt_stamp;
	__u32 probe_rtt_done_stamp;
	struct minmax bw;
	__u32 mode:3;
};

struct tcp_congestion_ops {
	__u32 (*ssthresh)(struct sock *sk);
	void (*set_state)(struct sock *sk, __u8 new_state);
	void (*cwnd_event)(struct sock *sk, enum tcp_ca_event ev);
	__u32 (*min_tso_segs)(struct sock *sk);
	void (*cong_control)(struct sock *sk, __u32 ack, int flag,
			     const struct rate_sample *rs);
	__u32 (*undo_cwnd)(struct sock *sk);
	void (*pkts_acked)(struct sock *sk, const struct ack_sample *sample);
	__u32 (*sndbuf_expand)(struct sock *sk);
	char name[16];
	__u32 flags;
	void (*init)(struct sock *sk);
	void (*release)(struct sock *sk);
};

#pragma clang attribute pop

#endif /* SOUNDING_KERNEL_TYPES_H */
