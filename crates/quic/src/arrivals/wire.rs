//! Receive times on their way.
//!
//! ```text
//!  0                   1                   2                   3
//!  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//! +---------------------------------------------------------------+
//! |                     "SNDT", to tell it apart                  |
//! +---------------+---------------+-------------------------------+
//! |  version = 1  | runs, to 120  |    zero, ignored by readers   |
//! +---------------+---------------+-------------------------------+
//! |                                                               |
//! +              when it was sent, receiver's clock, us           +
//! |                                                               |
//! +---------------------------------------------------------------+
//! |                                                               |
//! +                   lowest packet number in it                  +
//! |                                                               |
//! +-------------------------------+-------------------------------+
//! | first of a run, from lowest   |       packets of the run      |
//! +-------------------------------+-------------------------------+
//! |          how long before the sending it arrived, us           |
//! +---------------------------------------------------------------+
//! ```
//!
//! All numbers are big-endian. The last eight bytes are there for each run: packets of successive
//! numbers that arrived together. The clock begins anywhere. Bytes after the runs are left for
//! later versions and ignored.

use std::time::Duration;

use crate::error::{ReportError, VERSION};

const MAGIC: [u8; 4] = *b"SNDT";
const HEADER: usize = 24;
const RUN: usize = 8;
/// Runs of a datagram: it fits into the smallest packet of QUIC (RFC 9000 §14.1).
pub(super) const MOST_RUNS: usize = 120;

/// Packets of successive numbers that arrived together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Run {
    pub(super) first: u64,
    /// At least 1.
    pub(super) count: u16,
    /// On the receiver's clock, us.
    pub(super) at: u64,
}

impl Run {
    /// Adds a packet, if it is the next and came so soon.
    pub(super) fn takes(&mut self, number: u64, at: u64, within: Duration) -> bool {
        let is_next = number.checked_sub(self.first) == Some(self.count.into());
        let is_soon = u128::from(at.saturating_sub(self.at)) <= within.as_micros();
        if !is_next || !is_soon || self.count == u16::MAX {
            return false;
        }
        self.count += 1;
        true
    }
}

/// What a datagram says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Times {
    /// On the receiver's clock, us.
    pub(super) sent: u64,
    pub(super) runs: Vec<Run>,
}

/// Whether a datagram begins as one of receive times does.
pub(crate) fn is_times(datagram: &[u8]) -> bool {
    datagram.starts_with(&MAGIC)
}

impl Times {
    pub(super) fn emit(&self) -> Vec<u8> {
        let newest = self.runs.iter().map(|run| run.first).max().unwrap_or(0);
        // Packets so far behind are of no use any more.
        let is_near = |run: &&Run| newest - run.first <= u16::MAX.into();
        let runs: Vec<Run> = self.runs.iter().filter(is_near).take(MOST_RUNS).copied().collect();
        let lowest = runs.iter().map(|run| run.first).min().unwrap_or(0);
        let mut bytes = Vec::with_capacity(HEADER + RUN * runs.len());
        bytes.extend(MAGIC);
        bytes.extend([VERSION, runs.len() as u8, 0, 0]);
        bytes.extend(self.sent.to_be_bytes());
        bytes.extend(lowest.to_be_bytes());
        for run in &runs {
            let before = u32::try_from(self.sent.saturating_sub(run.at)).unwrap_or(u32::MAX);
            bytes.extend(((run.first - lowest) as u16).to_be_bytes());
            bytes.extend(run.count.to_be_bytes());
            bytes.extend(before.to_be_bytes());
        }
        bytes
    }

    pub(super) fn parse(datagram: &[u8]) -> Result<Self, ReportError> {
        let length = datagram.len();
        if !is_times(datagram) {
            return Err(ReportError::Other { length });
        }
        let Some((header, rest)) = datagram.split_first_chunk::<HEADER>() else {
            return Err(ReportError::Cut { length });
        };
        if header[4] != VERSION {
            return Err(ReportError::Version { version: header[4] });
        }
        let count = usize::from(header[5]);
        if count > MOST_RUNS {
            return Err(ReportError::Value { offset: 5, value: header[5] });
        }
        let Some(rest) = rest.get(..count * RUN) else {
            return Err(ReportError::Cut { length });
        };
        let number =
            |bytes: &[u8]| bytes.iter().fold(0, |number, byte| number << 8 | u64::from(*byte));
        let (sent, lowest) = (number(&header[8..16]), number(&header[16..24]));
        let run = |bytes: &[u8]| Run {
            first: lowest.saturating_add(number(&bytes[..2])),
            // Two bytes.
            count: number(&bytes[2..4]) as u16,
            at: sent.saturating_sub(number(&bytes[4..8])),
        };
        let runs = rest.chunks_exact(RUN).map(run).filter(|run| run.count > 0).collect();
        Ok(Self { sent, runs })
    }
}
