//! Programs that are run once over all TCP sockets of a network namespace.

use std::io::{self, Read};

use libbpf_rs::{Iter, Link};

use super::DownlinkError;

/// What became of the sockets of a walk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Walked {
    /// Sockets that were reached.
    pub reached: u64,
    /// Sockets whose kernel refuses it: before Linux 6.12 callbacks are asked for only as a
    /// connection begins.
    pub refused: u64,
}

/// Runs the program of a link over the sockets of this thread's network namespace; `count` is how
/// many its object has reached so far, and how many refused.
pub(crate) fn walk(by: &Link, count: impl Fn() -> (u64, u64)) -> Result<Walked, DownlinkError> {
    let before = count();
    let mut walk = Iter::new(by).map_err(|error| DownlinkError::Walk(io::Error::other(error)))?;
    exhaust(&mut walk).map_err(DownlinkError::Walk)?;
    let after = count();
    Ok(Walked {
        reached: after.0.saturating_sub(before.0),
        refused: after.1.saturating_sub(before.1),
    })
}

/// A walk takes place while it is read; it writes nothing.
pub(super) fn exhaust(walk: &mut impl Read) -> io::Result<()> {
    io::copy(walk, &mut io::sink()).map(drop)
}
