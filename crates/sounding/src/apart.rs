//! Processes of this program that outlast it, and then restore what it changed.

use std::io;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// A restoration is over by then. Chosen: it takes milliseconds.
const PATIENCE: Duration = Duration::from_secs(5);
const LOOK: Duration = Duration::from_millis(2);

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

/// Waits until a process has restored the machine. One that hangs must not stop its user.
pub(crate) fn wait(child: &mut Child, name: &str) {
    let until = Instant::now() + PATIENCE;
    while matches!(child.try_wait(), Ok(None)) {
        if Instant::now() > until {
            let id = child.id();
            eprintln!(
                "sounding: {name} (process {id}) hangs and has not restored the machine: it does so when it goes on; \
                 after `kill -9 {id}` the next start does"
            );
            return;
        }
        sleep(LOOK);
    }
}
