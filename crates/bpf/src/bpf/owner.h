/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The user that a socket is counted for.
 */
#ifndef SOUNDING_OWNER_H
#define SOUNDING_OWNER_H

/* Maximum nesting depth of user namespaces (linux/user_namespace.c). */
#define NAMESPACES_DEEP	33

/*
 * The user that opened a socket. In a user namespace one user may have thousands
 * of user ids (/etc/subuid), so there it is the creator of the outermost
 * namespace.
 */
static __always_inline __u32 owner_of(struct sock *sk)
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

#endif /* SOUNDING_OWNER_H */
