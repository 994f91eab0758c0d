use std::io;
use std::sync::mpsc;
use std::thread::{Builder, JoinHandle};

pub use rustix::thread::CapabilitySet as Capabilities;
use rustix::thread::{CapabilitySets, capabilities, set_capabilities, set_no_new_privs};

/// Whether this process was started with rights that its caller does not have: its file is setuid
/// or setgid, or has capabilities, or a security module raised it (`AT_SECURE` of getauxval(3)).
/// Capabilities that the caller has and passes on, the ambient ones, are no such rights.
pub fn is_raised() -> bool {
    // SAFETY: a number that the kernel gave this process when it started.
    unsafe { libc::getauxval(libc::AT_SECURE) != 0 }
}

/// Permanently drops all capabilities of the calling thread except those in `keep`. No program that
/// it runs can have more, not even a program with file capabilities or setuid root. Its later
/// threads inherit this; other threads of the process do not.
///
/// # Errors
///
/// The kernel's error, if it refuses to drop them: the thread then holds what it held.
pub fn keep_only(keep: Capabilities) -> io::Result<()> {
    set_no_new_privs(true)?;
    let CapabilitySets { permitted, inheritable, .. } = capabilities(None)?;
    let held = permitted & keep;
    // Ambient ones go with the inheritable ones.
    let sets = CapabilitySets { effective: held, permitted: held, inheritable: inheritable & held };
    Ok(set_capabilities(None, sets)?)
}

/// Starts a thread that has only the capabilities in `keep`, as by [`keep_only`]. The thread has
/// dropped the others when this returns.
///
/// # Errors
///
/// The kernel's error, if it starts no thread or refuses to drop them. Then `work` does not run.
pub fn spawn_with_only(
    keep: Capabilities,
    name: &str,
    work: impl FnOnce() + Send + 'static,
) -> io::Result<JoinHandle<()>> {
    // One instance for all: the code that starts a thread is long.
    spawn_boxed(keep, name, Box::new(work))
}

fn spawn_boxed(
    keep: Capabilities,
    name: &str,
    work: Box<dyn FnOnce() + Send>,
) -> io::Result<JoinHandle<()>> {
    let (dropped, outcome) = mpsc::sync_channel(1);
    let thread = Builder::new().name(name.into()).spawn(move || {
        let kept = keep_only(keep);
        let is_ready = kept.is_ok();
        let _ = dropped.send(kept);
        if is_ready {
            work();
        }
    })?;
    outcome.recv().map_err(io::Error::other)??;
    Ok(thread)
}

/// Whether the calling thread has all of these capabilities in effect.
pub fn holds(needed: Capabilities) -> bool {
    capabilities(None).is_ok_and(|sets| sets.effective.contains(needed))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The value of a line in the calling thread's status.
    fn status(key: &str) -> u64 {
        let text = std::fs::read_to_string("/proc/thread-self/status").expect("it has a status");
        let value = text.lines().find_map(|line| line.strip_prefix(key)).expect("such a line");
        u64::from_str_radix(value.trim(), 16).expect("a number")
    }

    #[test]
    fn a_thread_keeps_what_it_had_of_what_it_names_and_its_process_the_rest() {
        let before = status("CapPrm:");
        let keep = Capabilities::NET_ADMIN | Capabilities::DAC_OVERRIDE;
        let thread = std::thread::spawn(move || {
            keep_only(keep).expect("it may always have less");
            let child = std::thread::spawn(|| (status("CapEff:"), status("NoNewPrivs:")));
            let sets = ["CapEff:", "CapPrm:"].map(status);
            (sets, child.join().expect("it ends"))
        });
        let (sets, child) = thread.join().expect("it ends");
        let left = before & keep.bits();
        assert_eq!((sets, child), ([left; 2], (left, 1)));
        assert_eq!(status("CapPrm:"), before);
    }

    #[test]
    fn a_started_thread_has_dropped_them_before_its_starter_goes_on() {
        let keep = Capabilities::NET_ADMIN;
        let (end, wait) = mpsc::channel::<()>();
        let thread = spawn_with_only(keep, "few", move || {
            let _ = wait.recv();
        });
        let tasks = std::fs::read_dir("/proc/self/task").expect("they are listed").flatten();
        let texts =
            tasks.filter_map(|task| std::fs::read_to_string(task.path().join("status")).ok());
        let few = texts.filter(|text| text.starts_with("Name:\tfew\n")).collect::<Vec<_>>();
        let left = format!("CapPrm:\t{:016x}\n", status("CapPrm:") & keep.bits());
        assert!(matches!(&few[..], [text] if text.contains(&left)), "{left} {few:?}");
        drop(end);
        thread.expect("it starts").join().expect("it ends");
    }

    #[test]
    fn what_was_dropped_does_not_come_back() {
        let thread = std::thread::spawn(|| {
            keep_only(Capabilities::empty()).expect("it may always have less");
            keep_only(Capabilities::all()).expect("and the same");
            // Also not by running another program.
            let output = std::process::Command::new("cat").arg("/proc/self/status").output();
            (status("CapPrm:"), output.expect("cat runs").stdout)
        });
        let (left, child) = thread.join().expect("it ends");
        assert_eq!(left, 0);
        let child = String::from_utf8(child).expect("text");
        assert!(child.contains("CapEff:\t0000000000000000"), "{child}");
    }

    #[test]
    fn a_test_is_not_raised() {
        assert!(!is_raised());
    }
}
