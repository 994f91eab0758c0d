//! What `sounding run` changes on the machine, and how it is undone whatever becomes of the daemon.
//!
//! A second process, the guard, holds the list of changes and undoes them when the pipe from the daemon closes. That
//! happens when the daemon ends, is killed or crashes, so there is one way of restoring and it is always taken.

use std::fs;
use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use sounding_bpf::Instance;
use sounding_host::tool;
use thiserror::Error;

use crate::before;

/// The hidden verb under which this program is its own guard.
pub(crate) const VERB: &str = "guard-restore";

/// One change, and what undoes it. An undo leaves alone what somebody else has changed since.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Change {
    /// A file below /proc/sys.
    Sysctl { path: String, ours: String, was: String },
    /// A route, as words of `ip route`.
    Route { ours: Vec<String>, was: Vec<String> },
    /// Programs in the kernel that outlive the daemon, and what they changed in sockets.
    Pins { path: PathBuf },
    /// A congestion control's name that outlasts the daemon, and the map that keeps it.
    Name { name: String, map: u32 },
}

/// Why a change was not made.
#[derive(Debug, Error)]
pub(crate) enum GuardError {
    /// The guard process does not start or is gone.
    #[error("guard process: {0}")]
    Process(#[source] io::Error),
    /// A setting cannot be read or written.
    #[error("{path}: {error}: changing it takes root or CAP_NET_ADMIN")]
    Sysctl { path: String, error: io::Error },
    /// The tool that knows routes does not run.
    #[error("ip route: {0}: install iproute2")]
    NoTool(#[source] io::Error),
    /// What is pinned stays, or the sockets that it held do.
    #[error("{path}: {error}: releasing it takes root")]
    Pins { path: PathBuf, error: io::Error },
    /// The name stays, and no daemon behind it.
    #[error(
        "congestion control {name}: {error}: `bpftool struct_ops unregister id {map}` takes it out"
    )]
    Name { name: String, map: u32, error: io::Error },
    /// There is not exactly one such route.
    #[error(
        "route {prefix}: {count} routes to exactly that prefix, not one: `ip route show` lists them"
    )]
    NotOne { prefix: String, count: usize },
    /// The tool refused.
    #[error("ip {words}: {message}")]
    Refused { words: String, message: String },
}

const DEFAULT_CC: &str = "/proc/sys/net/ipv4/tcp_congestion_control";
const REGISTERED: &str = "/proc/sys/net/ipv4/tcp_available_congestion_control";

/// The daemon's end of the pipe.
pub(crate) struct Guard {
    child: Child,
    pipe: Option<ChildStdin>,
}

impl Guard {
    /// Starts the guard process, in a session of its own so that Ctrl-C reaches the daemon alone.
    pub(crate) fn start() -> Result<Self, GuardError> {
        let program = std::env::current_exe().map_err(GuardError::Process)?;
        let mut command = Command::new(program);
        command.arg(VERB).stdin(Stdio::piped()).stdout(Stdio::null());
        // SAFETY: setsid is async-signal-safe and touches nothing of this process.
        unsafe {
            command.pre_exec(|| nix::unistd::setsid().map(drop).map_err(io::Error::from));
        }
        let mut child = command.spawn().map_err(GuardError::Process)?;
        let pipe = child.stdin.take();
        Ok(Self { child, pipe })
    }

    /// Makes `name` the default congestion control of this network namespace.
    pub(crate) fn set_default(&mut self, name: &str) -> Result<(), GuardError> {
        let fail = |error| GuardError::Sysctl { path: DEFAULT_CC.into(), error };
        let read = || fs::read_to_string(DEFAULT_CC).map(|read| read.trim().to_string());
        let present = once_put_back(|| read().map_err(fail), |was| was == name)?;
        // One whose daemon was killed together with its guard is no default to go back to.
        let was = match before::living(present, name, is_registered) {
            Some(was) => was,
            None => stock()?,
        };
        if let Err(error) = before::keep(name, &was) {
            eprintln!(
                "sounding: that {was} was the default cannot be kept ({error}): if this daemon and its guard are both killed, \
                 the next one does not know it"
            );
        }
        self.tell(&Change::Sysctl { path: DEFAULT_CC.into(), ours: name.into(), was })?;
        fs::write(DEFAULT_CC, name).map_err(fail)
    }

    /// Makes `name` the congestion control of new flows over the route to exactly `prefix`.
    pub(crate) fn set_route(&mut self, prefix: &str, name: &str) -> Result<(), GuardError> {
        let pair = ["congctl".to_string(), name.to_string()];
        let is_ours = |words: &Vec<String>| words.windows(2).any(|words| *words == pair);
        let was = match once_put_back(|| only_route(prefix), is_ours)? {
            was if is_ours(&was) => without_pair(&was, "congctl"),
            // Of a daemon that was killed together with its guard: the kernel would not take it back.
            was if value_of(&was, "congctl").is_some_and(|name| !is_registered(name)) => {
                without_pair(&was, "congctl")
            }
            was => was,
        };
        let mut ours = without_pair(&was, "congctl");
        ours.extend(pair);
        self.tell(&Change::Route { ours: ours.clone(), was })?;
        replace_route(&ours)
    }

    /// Sees to it that programs pinned there let go, though the daemon be killed.
    pub(crate) fn keep_pins(&mut self, path: &Path) -> Result<(), GuardError> {
        self.tell(&Change::Pins { path: path.to_path_buf() })
    }

    /// Sees to it that the name of a killed daemon goes, where the kernel would keep it. It is there already: a kill in
    /// the moment between leaves it.
    pub(crate) fn keep_name(&mut self, instance: &Instance) -> Result<(), GuardError> {
        let Some(map) = instance.outlasting() else { return Ok(()) };
        self.tell(&Change::Name { name: instance.name().into(), map })
    }

    /// The guard hears of a change before it is made: a crash in between then undoes nothing, which is harmless.
    fn tell(&mut self, change: &Change) -> Result<(), GuardError> {
        let mut line = serde_json::to_string(change).expect("strings serialise");
        line.push('\n');
        let pipe = self.pipe.as_mut().expect("the pipe is closed only on drop");
        pipe.write_all(line.as_bytes()).map_err(GuardError::Process)
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        // Closing the pipe is the signal; waiting makes the machine whole before the daemon returns.
        drop(self.pipe.take());
        let _ = self.child.wait();
    }
}

/// The guard process: collects changes until the daemon's end of the pipe closes, then undoes them, last first.
pub(crate) fn main() -> io::Result<()> {
    use nix::sys::signal::{SigHandler, Signal, signal};
    for ignored in [Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP, Signal::SIGQUIT] {
        // SAFETY: ignoring a signal installs no handler.
        unsafe { signal(ignored, SigHandler::SigIgn) }?;
    }
    let mut changes = Vec::new();
    for line in BufReader::new(io::stdin()).lines() {
        if let Ok(change) = serde_json::from_str::<Change>(&line?) {
            changes.push(change);
        }
    }
    for change in changes.iter().rev() {
        if let Err(error) = undo(change) {
            eprintln!("sounding: not restored: {error}");
        }
    }
    Ok(())
}

fn undo(change: &Change) -> Result<(), GuardError> {
    match change {
        Change::Sysctl { path, ours, was } => {
            let fail = |error| GuardError::Sysctl { path: path.clone(), error };
            if fs::read_to_string(path).map_err(fail)?.trim() == ours {
                fs::write(path, was).map_err(fail)?;
            }
            if path == DEFAULT_CC {
                // What is left does no harm: it is asked only of a default that nobody put back.
                let _ = before::forget(ours);
            }
            Ok(())
        }
        Change::Route { ours, was } => {
            let prefix = ours.first().map(String::as_str).unwrap_or_default();
            let shown = ip(&["route", "show", "exact", prefix])?;
            let still_ours = shown.lines().any(|line| settable_words(line) == *ours);
            if still_ours { replace_route(was) } else { Ok(()) }
        }
        Change::Pins { path } => sounding_bpf::release_pinned(path)
            .map_err(|error| GuardError::Pins { path: path.clone(), error }),
        Change::Name { name, map } => sounding_bpf::unregister(name, *map)
            .map_err(|error| GuardError::Name { name: name.clone(), map: *map, error }),
    }
}

/// Whether this kernel has a congestion control of that name.
fn is_registered(name: &str) -> bool {
    let registered = fs::read_to_string(REGISTERED).unwrap_or_default();
    registered.split_whitespace().any(|one| one == name)
}

/// How long the guard of a daemon that was killed may still be at work.
const PUT_BACK: Duration = Duration::from_secs(2);

/// What `read` finds. A name that nobody else could register a moment ago is what a daemon of that name left when it was
/// killed: its guard is about to put back what was there, and would take from this one what it sets before that. If
/// nobody puts it back, that guard was killed too.
fn once_put_back<T>(
    mut read: impl FnMut() -> Result<T, GuardError>,
    is_ours: impl Fn(&T) -> bool,
) -> Result<T, GuardError> {
    let until = Instant::now() + PUT_BACK;
    loop {
        let found = read()?;
        if !is_ours(&found) || Instant::now() >= until {
            return Ok(found);
        }
        sleep(Duration::from_millis(10));
    }
}

/// The default of a machine whose own is forgotten: Linux's, unless this namespace may not have it.
fn stock() -> Result<String, GuardError> {
    let path = "/proc/sys/net/ipv4/tcp_allowed_congestion_control";
    let fail = |error| GuardError::Sysctl { path: path.into(), error };
    let allowed = fs::read_to_string(path).map_err(fail)?;
    let has_cubic = allowed.split_whitespace().any(|name| name == "cubic");
    Ok(if has_cubic { "cubic" } else { "reno" }.into())
}

/// The words of the one route to exactly this prefix.
fn only_route(prefix: &str) -> Result<Vec<String>, GuardError> {
    let shown = ip(&["route", "show", "exact", prefix])?;
    let routes: Vec<&str> = shown.lines().filter(|line| !line.trim().is_empty()).collect();
    match routes[..] {
        [route] => Ok(settable_words(route)),
        _ => Err(GuardError::NotOne { prefix: prefix.into(), count: routes.len() }),
    }
}

fn replace_route(words: &[String]) -> Result<(), GuardError> {
    let mut all = vec!["route", "replace"];
    all.extend(words.iter().map(String::as_str));
    ip(&all).map(drop)
}

fn ip(words: &[&str]) -> Result<String, GuardError> {
    let output = Command::new(tool("ip")).args(words).output().map_err(GuardError::NoTool)?;
    if !output.status.success() {
        return Err(GuardError::Refused {
            words: words.join(" "),
            message: String::from_utf8_lossy(&output.stderr).trim().to_string(),
        });
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// The words of a shown route that describe it; `ip` also shows what the route's device is doing, and does not read
/// that back.
fn settable_words(route: &str) -> Vec<String> {
    const STATES: [&str; 3] = ["linkdown", "dead", "offload"];
    route.split_whitespace().filter(|word| !STATES.contains(word)).map(Into::into).collect()
}

fn value_of<'a>(words: &'a [String], key: &str) -> Option<&'a str> {
    words.windows(2).find(|pair| pair[0] == key).map(|pair| pair[1].as_str())
}

fn without_pair(words: &[String], key: &str) -> Vec<String> {
    let mut rest = words.iter();
    let mut kept = Vec::new();
    while let Some(word) = rest.next() {
        if word == key {
            rest.next();
        } else {
            kept.push(word.clone());
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_route_is_described_without_the_state_of_its_device() {
        let words = settable_words("10.0.0.0/24 dev veth0 proto kernel scope link linkdown");
        assert_eq!(words.join(" "), "10.0.0.0/24 dev veth0 proto kernel scope link");
    }

    #[test]
    fn an_older_choice_of_algorithm_gives_way() {
        let words = settable_words("default via 10.0.0.1 congctl cubic dev eth0");
        assert_eq!(without_pair(&words, "congctl").join(" "), "default via 10.0.0.1 dev eth0");
    }

    #[test]
    fn changes_survive_the_pipe() {
        let change =
            Change::Sysctl { path: "p".into(), ours: "biscay".into(), was: "cubic".into() };
        let line = serde_json::to_string(&change).expect("serialises");
        assert_eq!(serde_json::from_str::<Change>(&line).expect("parses"), change);
    }
}
