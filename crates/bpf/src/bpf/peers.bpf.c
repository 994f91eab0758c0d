// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * On a server: hears the option in which a device says what its downlink
 * carries, and keeps it with the socket for the congestion control.
 */
#include "mini.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_endian.h>
#include "input.h"
#include "sockops.h"
#include "peers.h"

char _license[] SEC("license") = "Dual MIT/GPL";

/* Set by the loader before load. */
const volatile __u32 exid = 0;

/* Sockets that the last walk asked for callbacks; and that refused. */
__u64 walked_over = 0;
__u64 walk_refused = 0;

static __always_inline void hear(struct bpf_sock_ops *ctx)
{
	/* What is looked for: the kind, and as much of it as the ExID makes. */
	struct capacity_option option = {
		.kind = OPTION_KIND,
		.len = 4,
		.exid = bpf_htons(exid),
	};
	struct bpf_sock *sk = ctx->sk;
	struct sounding_peer *peer;
	__u32 said;

	if (!sk || bpf_load_hdr_opt(ctx, &option, sizeof(option), 0) != (long)sizeof(option))
		return;
	if (option.len != sizeof(option))
		return;
	peer = bpf_sk_storage_get(&peers, sk, 0, BPF_SK_STORAGE_GET_F_CREATE);
	if (!peer)
		return;
	said = bpf_ntohl(option.kbit_per_sec);
	peer->rate_bytes_per_sec = (__u64)(said & OPTION_MOST) * 125;
	peer->bound = said & OPTION_FLOOR ? SOUNDING_SERVED : SOUNDING_CAPACITY;
	peer->heard_at_ns = bpf_ktime_get_ns();
	peer->heard++;
}

/*
 * Sockets ask for callbacks for as long as they live: others may have asked too,
 * and where no program is attached it costs nothing.
 */
static __always_inline void greet(struct bpf_sock_ops *ctx)
{
	struct bpf_sock *sk = ctx->sk;

	if (sk && bpf_sk_storage_get(&peers, sk, 0, BPF_SK_STORAGE_GET_F_CREATE))
		bpf_sock_ops_cb_flags_set(ctx, ctx->bpf_sock_ops_cb_flags |
						       BPF_SOCK_OPS_PARSE_UNKNOWN_HDR_OPT_CB_FLAG);
}

SEC("sockops")
int listen(struct bpf_sock_ops *ctx)
{
	switch (ctx->op) {
	case BPF_SOCK_OPS_ACTIVE_ESTABLISHED_CB:
	case BPF_SOCK_OPS_PASSIVE_ESTABLISHED_CB:
		greet(ctx);
		break;
	case BPF_SOCK_OPS_PARSE_HDR_OPT_CB:
		hear(ctx);
		break;
	}
	return 1;
}

/* Asks sockets for callbacks that were connected before we came. */
SEC("iter/tcp")
int adopt(struct bpf_iter__tcp *ctx)
{
	struct tcp_sock *tp = walked(ctx);

	if (!tp)
		return 0;
	if (!bpf_sk_storage_get(&peers, tp, 0, BPF_SK_STORAGE_GET_F_CREATE) ||
	    ask(tp, BPF_SOCK_OPS_PARSE_UNKNOWN_HDR_OPT_CB_FLAG))
		walk_refused++;
	else
		walked_over++;
	return 0;
}
