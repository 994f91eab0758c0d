//! The changes that this program makes. The guard undoes only these, and refuses any other
//! instruction.
//!
//! The guard has the rights that the daemon gave up, and reads instructions from the daemon, which
//! reads a modem's output. So an instruction contains no path and no command. It names an
//! algorithm, a prefix or a map, and each is checked.

use std::fs;
use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};
use sounding_bpf::inventory::{Object, held_by};
use sounding_bpf::pins_of;
use thiserror::Error;

use super::GuardError;
use super::route::Route;
use crate::{before, cli_types};

/// The default algorithm of this network namespace: the one setting that this program changes.
const DEFAULT: &str = "/proc/sys/net/ipv4/tcp_congestion_control";
/// All that are registered. A name that is not would have the kernel load a module.
const REGISTERED: &str = "/proc/sys/net/ipv4/tcp_available_congestion_control";
/// The algorithms that this namespace may use.
const ALLOWED: &str = "/proc/sys/net/ipv4/tcp_allowed_congestion_control";

/// Algorithms of Linux itself (net/ipv4, to 6.18). No daemon of ours uses these names.
const LINUXS_OWN: [&str; 19] = [
    "bbr",
    "bic",
    "cdg",
    "cubic",
    "dctcp",
    "dctcp-reno",
    "highspeed",
    "htcp",
    "hybla",
    "illinois",
    "lp",
    "nv",
    "prague",
    "reno",
    "scalable",
    "vegas",
    "veno",
    "westwood",
    "yeah",
];

/// One change and its undo. An undo does not touch a value that another program has changed since.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) enum Change {
    /// The default algorithm of this network namespace.
    Default { ours: String, was: String },
    /// The algorithm of the one route to exactly a prefix.
    Route { prefix: String, ours: String, was: Option<String> },
    /// Programs in the kernel that outlive the daemon of this name, and their changes in sockets.
    Pins { name: String },
    /// A congestion control's name that outlasts the daemon, and the map that keeps it.
    Name { name: String, map: u32 },
}

/// The reason why the daemon cannot have sent this instruction.
#[derive(Debug, Error)]
pub(super) enum Refusal {
    /// It cannot be read.
    #[error("no instruction: {0}")]
    Unreadable(#[from] serde_json::Error),
    /// The name does not belong to one of our daemons.
    #[error("{0:?} is no name of a congestion control of this program")]
    NotOurs(String),
    /// Not a value that was read from the kernel.
    #[error("{0:?} is no congestion control of this kernel")]
    NoAlgorithm(String),
    /// Another choice was made than the one to be undone.
    #[error("{what} has {now:?}, neither {was:?} nor {ours:?}")]
    NotSo { what: String, now: String, was: String, ours: String },
    /// Not a prefix that `ip route` would accept.
    #[error("{0:?} is no prefix")]
    NoPrefix(String),
    /// There is nothing to release.
    #[error("nothing is pinned under the name {0:?}")]
    NoPins(String),
    /// It is another process's.
    #[error("map {0} is not the daemon's")]
    NotItsMap(u32),
    /// The current state cannot be read.
    #[error(transparent)]
    Unseen(#[from] GuardError),
    /// The list of changes was closed before a modem was read.
    #[error("the list of changes is closed")]
    Closed,
    /// More than any daemon changes.
    #[error("there are {0} changes already")]
    TooMany(usize),
    /// Longer than any instruction.
    #[error("longer than {0} bytes")]
    TooLong(u64),
}

impl Change {
    /// Whether this program makes such a change to the machine's current state. Call it before the
    /// change. `daemon` is the process that makes it.
    pub(super) fn check(&self, daemon: u32) -> Result<(), Refusal> {
        match self {
            Self::Default { ours, was } => {
                check_ours(ours)?;
                check_registered(was)?;
                check_now("the default", &default()?, was, ours)
            }
            Self::Route { prefix, ours, was } => {
                if !cli_types::is_prefix(prefix) {
                    return Err(Refusal::NoPrefix(prefix.clone()));
                }
                check_ours(ours)?;
                was.as_deref().map_or(Ok(()), check_registered)?;
                let route = Route::only(prefix)?;
                let now = route.algorithm().unwrap_or_default();
                check_now(&format!("route {prefix}"), now, was.as_deref().unwrap_or_default(), ours)
            }
            Self::Pins { name } => {
                check_name(name)?;
                let is_there = pins_of(name).is_dir();
                is_there.then_some(()).ok_or_else(|| Refusal::NoPins(name.clone()))
            }
            Self::Name { name, map } => {
                check_name(name)?;
                let is_its = held_by(daemon).contains(&Object::Map(*map));
                is_its.then_some(()).ok_or(Refusal::NotItsMap(*map))
            }
        }
    }

    pub(super) fn undo(&self) -> Result<(), GuardError> {
        match self {
            Self::Default { ours, was } => {
                let put_back = put_back_default(ours, was);
                // A file that stays is harmless: it is read only for a default that was not
                // restored.
                let _ = before::forget(ours);
                put_back
            }
            Self::Route { prefix, ours, was } => match Route::only(prefix) {
                Ok(now) if now.algorithm() == Some(ours) => now.with(was.as_deref()).set(),
                // The route has gone, or has another algorithm.
                Ok(_) | Err(GuardError::NotOne { .. }) => Ok(()),
                Err(error) => Err(error),
            },
            Self::Pins { name } => {
                let path = pins_of(name);
                sounding_bpf::release_pinned(&path)
                    .map_err(|error| GuardError::Pins { path, error })
            }
            Self::Name { name, map } => sounding_bpf::unregister(name, *map)
                .map_err(|error| GuardError::Name { name: name.clone(), map: *map, error }),
        }
    }
}

fn check_name(name: &str) -> Result<(), Refusal> {
    if sounding_bpf::is_name(name) { Ok(()) } else { Err(Refusal::NotOurs(name.into())) }
}

/// A daemon has registered its name before it changes anything.
fn check_ours(name: &str) -> Result<(), Refusal> {
    check_name(name)?;
    if LINUXS_OWN.contains(&name) {
        return Err(Refusal::NotOurs(name.into()));
    }
    check_registered(name)
}

/// Whether this kernel has an algorithm of that name.
pub(super) fn is_registered(name: &str) -> bool {
    let registered = read(REGISTERED).unwrap_or_default();
    registered.split_whitespace().any(|registered| registered == name)
}

fn check_registered(name: &str) -> Result<(), Refusal> {
    is_registered(name).then_some(()).ok_or_else(|| Refusal::NoAlgorithm(name.into()))
}

/// The current value is to be restored, unless a killed daemon has left it: of the same name, or of
/// one that the kernel no longer has.
fn check_now(what: &str, now: &str, was: &str, ours: &str) -> Result<(), Refusal> {
    if now == was || now == ours || (!now.is_empty() && !is_registered(now)) {
        return Ok(());
    }
    let [what, now, was, ours] = [what, now, was, ours].map(String::from);
    Err(Refusal::NotSo { what, now, was, ours })
}

fn read(path: &str) -> Result<String, GuardError> {
    fs::read_to_string(path).map_err(at(path))
}

fn at(path: &str) -> impl FnOnce(io::Error) -> GuardError {
    move |error| GuardError::Sysctl { path: path.into(), error }
}

/// The current default algorithm.
pub(super) fn default() -> Result<String, GuardError> {
    Ok(read(DEFAULT)?.trim().to_string())
}

pub(super) fn set_default(name: &str) -> Result<(), GuardError> {
    fs::write(Path::new(DEFAULT), name).map_err(at(DEFAULT))
}

/// Unless another has changed it since. A daemon that was there first may have ended meanwhile, and
/// its name with it.
fn put_back_default(ours: &str, was: &str) -> Result<(), GuardError> {
    if default()? != ours {
        return Ok(());
    }
    match before::back_from(ours, was, is_registered) {
        Some(back) => set_default(&back),
        None => set_default(&stock()?),
    }
}

/// The default of a machine whose own is forgotten: Linux's, unless this namespace may not have it.
pub(super) fn stock() -> Result<String, GuardError> {
    let has_cubic = read(ALLOWED)?.split_whitespace().any(|name| name == "cubic");
    Ok(if has_cubic { "cubic" } else { "reno" }.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_no_daemon_changes_is_refused() {
        let name = |name: &str| name.to_string();
        let this = std::process::id();
        for (change, said) in [
            (Change::Default { ours: name("bbr"), was: name("reno") }, "\"bbr\""),
            (Change::Default { ours: name("no_such_name"), was: name("reno") }, "no_such_name"),
            (Change::Default { ours: name("../kernel"), was: name("reno") }, "../kernel"),
            (Change::Route { prefix: name("-batch"), ours: name("x"), was: None }, "no prefix"),
            (Change::Route { prefix: name("default"), ours: name("cubic"), was: None }, "cubic"),
            (Change::Pins { name: name("../etc") }, "../etc"),
            (Change::Pins { name: name("no_such_name") }, "nothing is pinned"),
            (Change::Name { name: name("biscay"), map: u32::MAX }, "not the daemon's"),
        ] {
            let refusal = change.check(this).expect_err("no daemon does that").to_string();
            assert!(refusal.contains(said), "{change:?}: {refusal}");
        }
    }

    #[test]
    fn what_another_has_chosen_is_not_put_back() {
        check_now("x", "cubic", "cubic", "biscay").expect("it was so");
        check_now("x", "biscay", "cubic", "biscay").expect("a killed one left it");
        let refusal = check_now("x", "bbr", "cubic", "biscay").expect_err("it was not so");
        assert!(refusal.to_string().contains("\"bbr\""), "{refusal}");
    }

    #[test]
    fn only_what_is_registered_was_read_from_the_kernel() {
        check_registered("reno").expect("every kernel has it");
        for name in ["", "ren", "reno cubic", "module_to_load"] {
            check_registered(name).expect_err(name);
        }
    }
}
