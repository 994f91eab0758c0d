use std::path::Path;

/// Bits of a capability set (capabilities(7)).
const NET_ADMIN: u32 = 12;
const SYS_ADMIN: u32 = 21;

/// Whether this process may make network namespaces and TUN devices; where it may not, a line on stderr says what
/// the caller skips and why.
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
    crate::say(&format!("SKIPPED: no emulation here: {why}"));
    false
}

fn effective_capabilities() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let set = status.lines().find_map(|line| line.strip_prefix("CapEff:"));
    set.and_then(|set| u64::from_str_radix(set.trim(), 16).ok()).unwrap_or(0)
}
