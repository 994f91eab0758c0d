use std::path::Path;

/// Bits of a capability set (capabilities(7)).
const NET_ADMIN: u32 = 12;
const SYS_ADMIN: u32 = 21;

/// Whether this process may make network namespaces and TUN devices. If not, a line on stderr names
/// the skipped test and the reason.
pub fn may_emulate() -> bool {
    let capabilities = effective_capabilities();
    let why = if capabilities >> NET_ADMIN & 1 == 0 {
        "CAP_NET_ADMIN is missing, run as root"
    } else if capabilities >> SYS_ADMIN & 1 == 0 {
        "CAP_SYS_ADMIN is missing, run as root"
    } else if !Path::new("/dev/net/tun").exists() {
        "/dev/net/tun is absent"
    } else if !Path::new("/proc/self/ns/net").exists() {
        "the kernel has no network namespaces"
    } else {
        return true;
    };
    crate::skip(crate::Need::Root, format_args!("no emulation here: {why}"));
    false
}

fn effective_capabilities() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let set = status.lines().find_map(|line| line.strip_prefix("CapEff:"));
    set.and_then(|set| u64::from_str_radix(set.trim(), 16).ok()).unwrap_or(0)
}

/// A user and a group that no machine has assigned.
pub const STRANGER: u32 = 4_242_421;

/// Runs `work` as another user of this machine: on a thread that is [`STRANGER`], without groups
/// and capabilities. `None`, with a reported skip, if this process may not change its user.
pub fn as_stranger<T: Send>(work: impl FnOnce() -> T + Send) -> Option<T> {
    let done = std::thread::scope(|scope| {
        let thread = scope.spawn(|| {
            let id = libc::c_long::from(STRANGER);
            let none: libc::c_long = 0;
            // The C library would change every thread of this process. The system calls change only
            // this thread, which ends. SAFETY: the arguments are numbers, and with zero
            // groups no pointer is read.
            let became = unsafe {
                libc::syscall(libc::SYS_setgroups, none, none) == 0
                    && libc::syscall(libc::SYS_setresgid, id, id, id) == 0
                    && libc::syscall(libc::SYS_setresuid, id, id, id) == 0
            };
            became.then(work)
        });
        thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    });
    if done.is_none() {
        crate::skip(crate::Need::Root, "this process may not act as another user: run as root");
    }
    done
}
