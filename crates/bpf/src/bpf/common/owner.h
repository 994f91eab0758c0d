/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The user that a socket is counted for.
 */
#ifndef SOUNDING_OWNER_H
#define SOUNDING_OWNER_H

/*
 * User ids that /etc/subuid gives to a user, by their prefixes, with that user. Outside of a user
 * namespace too a user can run programs under them: by a file with the set-user-id bit that was
 * made inside of one.
 */
#define SUBORDINATES_MOST	32768

struct subordinate_key {
	__u32 prefix_len;
	__be32 uid;
};

struct {
	__uint(type, BPF_MAP_TYPE_LPM_TRIE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, SUBORDINATES_MOST);
	__type(key, struct subordinate_key);
	__type(value, __u32);
} subordinates SEC(".maps");

/* The user that an id belongs to. */
static __always_inline __u32 user_of(__u32 uid)
{
	struct subordinate_key key = { .prefix_len = 32, .uid = bpf_htonl(uid) };
	__u32 *user = bpf_map_lookup_elem(&subordinates, &key);

	return user ? *user : uid;
}

/* Maximum nesting depth of user namespaces (linux/user_namespace.c). */
#define NAMESPACES_DEEP	33

/*
 * The id that a socket was opened under. In a user namespace one user may have thousands of them
 * (/etc/subuid), so there it is that of the creator of the outermost namespace.
 */
static __always_inline __u32 opener_of(struct sock *sk)
{
	struct user_namespace *ns, *parent;
	__u32 uid = sk->sk_uid.val;
	struct socket *socket = sk->sk_socket;
	struct file *file;
	int i;

	/* Not yet accepted, or closed. */
	if (!socket)
		return uid;
	file = socket->file;
	if (!file)
		return uid;
	ns = file->f_cred->user_ns;
	for (i = 0; ns && i < NAMESPACES_DEEP; i++) {
		parent = ns->parent;
		if (!parent)
			break;
		uid = ns->owner.val;
		ns = parent;
	}
	return uid;
}

/* The user that a socket is counted for. */
static __always_inline __u32 owner_of(struct sock *sk)
{
	return user_of(opener_of(sk));
}

#endif /* SOUNDING_OWNER_H */
