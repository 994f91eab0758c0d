//! Finds the processes that have a device open.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};

use serde::Serialize;

use super::limits;
use crate::screen;

/// A process that has a device open.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Holder {
    pub(crate) pid: u32,
    /// As the kernel knows it, up to 15 characters.
    pub(crate) name: String,
}

/// A program that is ending lets go of its port within this. Chosen.
const ENDING: Duration = Duration::from_millis(200);

/// A copy of a process that is about to become another program does so within this, also where
/// every processor is busy. Chosen.
const STARTING: Duration = Duration::from_secs(2);

/// Between two looks. Chosen.
const STEP: Duration = Duration::from_millis(20);

/// Linux's PF_FORKNOEXEC: a copy of its parent that has become no other program yet.
const FORKED: u64 = 0x40;

/// Every other process that has the device open and keeps it so, as far as this process may look. A
/// process that is ending, or that is about to become another program, is waited for.
pub(crate) fn holders(device: &Path) -> io::Result<Vec<Holder>> {
    let begin = Instant::now();
    let mut first_seen: BTreeMap<u32, Instant> = BTreeMap::new();
    loop {
        let found = openers(device)?;
        let now = Instant::now();
        first_seen.retain(|pid, _| found.iter().any(|opener| opener.holder.pid == *pid));
        let stays = |opener: &Opener| {
            let since = *first_seen.entry(opener.holder.pid).or_insert(now);
            now - since >= if opener.is_starting { STARTING } else { ENDING }
        };
        let (staying, passing): (Vec<_>, Vec<_>) = found.into_iter().partition(stays);
        // Others may come and go for as long as one may take to start.
        let is_over = now - begin >= STARTING;
        if is_over || !staying.is_empty() || passing.is_empty() {
            let named = if staying.is_empty() { passing } else { staying };
            return Ok(named.into_iter().map(|opener| opener.holder).collect());
        }
        sleep(STEP);
    }
}

/// A process that has a device open at this moment.
struct Opener {
    holder: Holder,
    /// It will have it no more once it becomes another program, which it may be about to.
    is_starting: bool,
}

fn openers(device: &Path) -> io::Result<Vec<Opener>> {
    let Some(device) = Device::at(device) else { return Ok(Vec::new()) };
    let mut found = Vec::new();
    for entry in fs::read_dir("/proc")? {
        let Some(pid) = entry?.file_name().to_str().and_then(|name| name.parse().ok()) else {
            continue;
        };
        if pid == std::process::id() {
            continue;
        }
        let open = descriptors(pid, device)?;
        if !open.is_empty() {
            let is_starting = is_forked(pid) && open.iter().all(|fd| closes_on_exec(pid, fd));
            found.push(Opener { holder: Holder { pid, name: name(pid) }, is_starting });
        }
    }
    found.sort_by_key(|opener| opener.holder.pid);
    Ok(found)
}

/// A device, independent of the name that opened it.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Device {
    number: u64,
    /// For a pty, its devpts instance. Each instance has its own numbers.
    devpts: Option<u64>,
}

impl Device {
    fn at(path: &Path) -> Option<Self> {
        // linux/major.h: UNIX98_PTY_SLAVE_MAJOR and the seven after it.
        const PTYS: std::ops::Range<u64> = 136..144;
        let about = fs::metadata(path).ok()?;
        let number = about.rdev();
        let is_pty = PTYS.contains(&nix::sys::stat::major(number));
        let devpts = is_pty.then(|| about.dev());
        about.file_type().is_char_device().then_some(Self { number, devpts })
    }
}

/// The descriptors by which a process has the device open. An error if this process may not look;
/// another may still have it.
fn descriptors(pid: u32, device: Device) -> io::Result<Vec<OsString>> {
    let files = match fs::read_dir(format!("/proc/{pid}/fd")) {
        Ok(files) => files.flatten(),
        Err(error) if limits::is_one(&error) => return Err(error),
        // It has ended, or is another user's.
        Err(_) => return Ok(Vec::new()),
    };
    // `stat` on the link of a descriptor reads the open file's metadata, and opens nothing.
    let open = files.filter(|file| Device::at(&file.path()) == Some(device));
    Ok(open.map(|file| file.file_name()).collect())
}

fn is_forked(pid: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    // The name may contain spaces and brackets; the flags are the seventh word after it (proc(5)).
    let words = stat.rsplit_once(')').map_or("", |(_, words)| words);
    let flags = words.split_whitespace().nth(6).and_then(|flags| flags.parse::<u64>().ok());
    flags.is_some_and(|flags| flags & FORKED != 0)
}

fn closes_on_exec(pid: u32, descriptor: &OsStr) -> bool {
    let path = Path::new("/proc").join(pid.to_string()).join("fdinfo").join(descriptor);
    let about = fs::read_to_string(path).unwrap_or_default();
    let flags = about.lines().find_map(|line| line.strip_prefix("flags:"));
    let flags = flags.and_then(|flags| i32::from_str_radix(flags.trim(), 8).ok());
    flags.is_some_and(|flags| flags & libc::O_CLOEXEC != 0)
}

fn name(pid: u32) -> String {
    let name = fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
    // A process can choose any name for itself.
    screen::inline(name.trim()).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use sounding_modem::Pty;
    use sounding_testdata::steadily;
    use std::fs::File;
    use std::os::unix::process::CommandExt;
    use std::process::{Command, Stdio};

    #[test]
    fn the_process_that_has_a_tty_open_is_named() {
        // One test at a time. A process that the other test starts is briefly a copy of this one,
        // with the same open files.
        steadily(|| {
            let pty = Pty::create(None).expect("a pty");
            let holders = |path: &Path| holders(path).expect("it may look");
            assert_eq!(holders(pty.path()), []);
            let tty = File::options().read(true).write(true).open(pty.path()).expect("opens");
            assert_eq!(holders(pty.path()), [], "this process is not meant");
            let mut child = Command::new("sleep")
                .arg("60")
                .stdin(tty)
                .stdout(Stdio::null())
                .spawn()
                .expect("starts");
            let found = holders(pty.path());
            child.kill().expect("it runs");
            child.wait().expect("it ends");
            assert_eq!(found.len(), 1, "{found:?}");
            assert_eq!(found[0].pid, child.id());
        });
    }

    #[test]
    fn a_process_that_is_about_to_become_another_program_is_waited_for() {
        steadily(|| {
            let pty = Pty::create(None).expect("a pty");
            // Closed on exec, as all that Rust opens.
            let tty = File::options().read(true).write(true).open(pty.path()).expect("opens");
            let mut command = Command::new("sleep");
            command.arg("60").stdin(Stdio::null()).stdout(Stdio::null());
            // SAFETY: these calls are async-signal-safe and touch nothing but the child.
            unsafe {
                command.pre_exec(|| {
                    sleep(3 * ENDING);
                    Ok(())
                });
            }
            let starting = std::thread::spawn(move || command.spawn().expect("starts"));
            let is_forked = || !openers(pty.path()).expect("it may look").is_empty();
            while !is_forked() {
                assert!(!starting.is_finished(), "it was never seen");
                sleep(STEP / 4);
            }
            assert_eq!(holders(pty.path()).expect("it may look"), []);
            let mut child = starting.join().expect("it starts");
            child.kill().expect("it runs");
            child.wait().expect("it ends");
            drop(tty);
        });
    }

    #[test]
    fn what_is_no_device_has_no_holder() {
        for path in ["/nowhere", "/tmp"] {
            assert_eq!(holders(Path::new(path)).expect("there is nothing to look for"), []);
        }
    }
}
