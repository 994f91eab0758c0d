/*
 * Lets User-Mode Linux run where the processor's extended state is larger than its buffer (AMX).
 *
 * The kernel takes the extended state of another process only whole
 * (arch/x86/kernel/fpu/regset.c, xstateregs_set). User-Mode Linux before 6.13 reads and writes
 * 2.6 KiB, and ends at the first write. Loaded into it by LD_PRELOAD, this ptrace() leaves the rest
 * of the state unchanged.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/types.h>
#include <sys/uio.h>

#define NT_X86_XSTATE 0x202
#define LARGEST (1 << 16)

typedef long (*call)(long, pid_t, void *, void *);

long ptrace(enum __ptrace_request request, ...)
{
	static call next;
	static __thread unsigned char whole[LARGEST];
	va_list arguments;
	va_start(arguments, request);
	pid_t pid = va_arg(arguments, pid_t);
	void *address = va_arg(arguments, void *);
	void *data = va_arg(arguments, void *);
	va_end(arguments);

	if (!next)
		next = (call)dlsym(RTLD_NEXT, "ptrace");
	int reads = request == PTRACE_GETREGSET;
	if ((!reads && request != PTRACE_SETREGSET) || (uintptr_t)address != NT_X86_XSTATE)
		return next(request, pid, address, data);

	struct iovec all = { whole, sizeof whole };
	long result = next(PTRACE_GETREGSET, pid, address, &all);
	if (result < 0)
		return result;
	struct iovec *part = data;
	if (part->iov_len > all.iov_len)
		part->iov_len = all.iov_len;
	if (reads) {
		memcpy(part->iov_base, whole, part->iov_len);
		return result;
	}
	memcpy(whole, part->iov_base, part->iov_len);
	return next(PTRACE_SETREGSET, pid, address, &all);
}
