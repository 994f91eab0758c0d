//! Which of a sniffer's users this device is: the one whose messages grant what its modem reports.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use core::time::Duration;

use sounding_units::ModemInstant;

use super::sniffed::Sniffed;

/// Grants that are compared at once: about as many as one record holds.
const BATCH: usize = 16;

/// So many of them have to be found in a row of messages to one user, and so much more than to the
/// next best.
const MATCHED_PERMILLE: usize = 600;
const BEYOND_NEXT_PERMILLE: usize = 1_400;

/// A user that has less than this of the grants is not this device any more, after so many batches.
const LOST_PERMILLE: usize = 250;
const LOST_AFTER: u32 = 3;

/// Grants that messages may be for, at most: a cell's half second has some ten thousand. A flood of
/// messages finds no user, and takes no more time.
const MAX_VOTES: usize = 1 << 15;

/// What both clocks are cut to: slots of LTE last a millisecond, and dates of a record may be off
/// by part of one.
const STEP: u64 = 500_000;

/// A device on a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Identity {
    /// The sniffer's number of the cell.
    pub(super) cell: usize,
    pub(super) rnti: u16,
}

/// Finds the identity that a device has on one of its carriers.
#[derive(Clone, Debug)]
pub(super) struct IdentitySearch {
    found: Option<Identity>,
    batch: [(u64, u32); BATCH],
    len: usize,
    misses: u32,
}

impl IdentitySearch {
    pub(super) const fn new() -> Self {
        Self { found: None, batch: [(0, 0); BATCH], len: 0, misses: 0 }
    }

    pub(super) const fn found(&self) -> Option<Identity> {
        self.found
    }

    /// The modem reports a grant on this carrier.
    pub(super) fn handle_grant(&mut self, at: ModemInstant, prb: u32, cells: &[Option<Sniffed>]) {
        if self.len > 0 && self.batch[self.len - 1].0 == at.as_nanos() {
            return;
        }
        self.batch[self.len] = (at.as_nanos(), prb);
        self.len += 1;
        if self.len == BATCH {
            self.compare(cells);
            self.len = 0;
        }
    }

    fn compare(&mut self, cells: &[Option<Sniffed>]) {
        // How many grants each user had at each distance of the two clocks.
        let mut votes: Vec<(usize, u16, i64)> = Vec::new();
        for (cell, sniffed) in cells.iter().enumerate() {
            for message in sniffed.iter().flat_map(Sniffed::messages) {
                let time = nanos(message.time) / STEP;
                for (at, prb) in &self.batch {
                    if u32::from(message.prb) == *prb && votes.len() < MAX_VOTES {
                        let distance = time as i64 - (at / STEP) as i64;
                        votes.push((cell, message.rnti, distance));
                    }
                }
            }
        }
        let mut best: BTreeMap<(usize, u16), usize> = BTreeMap::new();
        votes.sort_unstable();
        let mut equal = votes.chunk_by(|one, other| one == other).peekable();
        while let Some(alike) = equal.next() {
            let (cell, rnti, distance) = alike[0];
            // A date on the edge of a step falls to either side.
            let is_next = |next: &&&[_]| next[0] == (cell, rnti, distance + 1);
            let next = equal.peek().filter(is_next).map_or(0, |next| next.len());
            let most = best.entry((cell, rnti)).or_default();
            *most = (*most).max(alike.len() + next);
        }
        self.judge(&best);
    }

    fn judge(&mut self, best: &BTreeMap<(usize, u16), usize>) {
        if let Some(Identity { cell, rnti }) = self.found {
            let mine = best.get(&(cell, rnti)).copied().unwrap_or_default();
            self.misses = if mine * 1000 < BATCH * LOST_PERMILLE { self.misses + 1 } else { 0 };
            if self.misses >= LOST_AFTER {
                *self = Self::new();
            }
            return;
        }
        let ranked = best.iter().map(|(user, count)| (*count, *user));
        let Some(first) = ranked.clone().max() else { return };
        let second = ranked.filter(|user| user.1 != first.1).map(|user| user.0).max();
        let stands_out = first.0 * 1000 >= second.unwrap_or_default() * BEYOND_NEXT_PERMILLE;
        if first.0 * 1000 >= BATCH * MATCHED_PERMILLE && stands_out {
            self.found = Some(Identity { cell: first.1.0, rnti: first.1.1 });
        }
    }
}

fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}
