//! Time of a processor that a guest takes: it is many processes of this machine.

use std::fs;
use std::time::Duration;

/// Time of a processor of all processes in the process namespace of this command's first child,
/// and of their children that ended.
pub(super) fn of_namespace_below(unshare: u32) -> Option<Duration> {
    let children = fs::read_to_string(format!("/proc/{unshare}/task/{unshare}/children")).ok()?;
    let namespace = |pid: &str| fs::read_link(format!("/proc/{pid}/ns/pid")).ok();
    let own = namespace(children.split_whitespace().next()?)?;
    let mut ticks = 0;
    for entry in fs::read_dir("/proc").ok()?.flatten() {
        let name = entry.file_name().into_string().unwrap_or_default();
        if namespace(&name).is_none_or(|other| other != own) {
            continue;
        }
        let stat = fs::read_to_string(entry.path().join("stat")).unwrap_or_default();
        // After the name, which is in brackets: fields 14 to 17 of proc(5).
        let fields = stat.rsplit_once(')').map_or("", |(_, fields)| fields).split_whitespace();
        ticks += fields.skip(11).take(4).filter_map(|ticks| ticks.parse::<u64>().ok()).sum::<u64>();
    }
    // SAFETY: it reads a constant of the system.
    let per_sec = u64::try_from(unsafe { libc::sysconf(libc::_SC_CLK_TCK) }).ok()?.max(1);
    Some(Duration::from_millis(ticks * 1000 / per_sec))
}
