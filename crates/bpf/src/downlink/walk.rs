//! Programs that are run once over all TCP sockets of a network namespace.

use std::io::{self, Read};

use libbpf_rs::{Iter, Link};

use super::DownlinkError;
use crate::reports::Walked;

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
