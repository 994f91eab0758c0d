/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Which user a socket is to be put down to.
 */
#ifndef SOUNDING_OWNER_H
#define SOUNDING_OWNER_H

/* So many user namespaces lie within each other at most (linux/user_namespace.c). */
#define NAMESPACES_DEEP	33

/*
 * The user that opened a socket. In a user namespace one user may have thousands
 * of numbers (/etc/subuid), so there it is the user that made the outermost one.
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
