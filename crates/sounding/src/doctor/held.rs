//! Ports that other processes hold.

use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use miette::miette;
use sounding_modem::Source;

use super::holders::{Holder, holders};
use super::{limits, manager};
use crate::screen;

/// Where the kernel shows its devices.
const SYS: &str = "/sys";

/// The processes that have a port open, as far as this one may see that.
pub(crate) fn held_by(source: &Source) -> miette::Result<Vec<Holder>> {
    let Source::Path(path) = source.place() else { return Ok(Vec::new()) };
    if is_memory(path) {
        return Ok(Vec::new());
    }
    holders(path).map_err(|error| {
        let cure = limits::cure(&error, "run as root");
        miette!(help = cure, "{}: {}", screen::path(path), unseen(&error))
    })
}

/// An error where another program has the port open: it would get half of the bytes, and its
/// requests would meet the other's answers.
pub(crate) fn refuse_held(source: &Source) -> miette::Result<()> {
    refuse(source, &held_by(source)?)
}

/// The same with the processes that have it open.
pub(super) fn refuse(source: &Source, held_by: &[Holder]) -> miette::Result<()> {
    let Source::Path(path) = source.place() else { return Ok(()) };
    match held_by.first() {
        None => Ok(()),
        Some(holder) => Err(miette!(
            help = manager::release(Path::new(SYS), path, holder),
            "{}: {}, and two readers of one port get half of the bytes each",
            screen::path(path),
            held(holder)
        )),
    }
}

/// Whether it is /dev/null or similar, which every process has open. Opening it reports that it is
/// no port.
pub(super) fn is_memory(path: &Path) -> bool {
    const MEMORY: u64 = 1;
    path.metadata().is_ok_and(|about| nix::sys::stat::major(about.rdev()) == MEMORY)
}

pub(super) fn unseen(error: &io::Error) -> String {
    format!("whether another program has it open cannot be seen: {error}")
}

pub(super) fn held(holder: &Holder) -> String {
    format!("held by {} (process {})", holder.name, holder.pid)
}
