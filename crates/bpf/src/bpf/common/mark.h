/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * How the pool of a device, and the program that sees all traffic of this machine,
 * tell flows of `background` from all others: they are in other objects, under any
 * name. They take only what is left, so that they count as nothing there.
 */
#ifndef SOUNDING_MARK_H
#define SOUNDING_MARK_H

/*
 * In the first word of what the kernel keeps for a socket's algorithm. No other algorithm
 * has this there but by chance. Drawn once.
 */
#define BACKGROUND_MARK		0x9d5c3a17e84bf206ULL

static __always_inline int is_background(struct bpf_sock *sk)
{
	struct tcp_sock *tp = bpf_skc_to_tcp_sock(sk);

	return tp && tp->inet_conn.icsk_ca_priv[0] == BACKGROUND_MARK;
}

#endif /* SOUNDING_MARK_H */
