//! Processes of this program that outlast it, and then restore what it changed.

use std::io;
use std::os::unix::process::CommandExt as _;
use std::process::Command;

/// This program under a hidden verb, in a session of its own, so that Ctrl-C does not reach it.
pub(crate) fn under(verb: &str) -> Command {
    // Not by its path, where there may be another version by now, or no way for this user.
    let mut command = Command::new("/proc/self/exe");
    command.arg0("sounding").arg(verb);
    // A service manager gets its reports from the first process alone.
    for word in ["NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"] {
        command.env_remove(word);
    }
    // SAFETY: setsid is async-signal-safe and touches nothing of this process.
    unsafe {
        command.pre_exec(|| nix::unistd::setsid().map(drop).map_err(io::Error::from));
    }
    command
}
