use alloc::vec;
use alloc::vec::Vec;

use sounding_units::HostInstant;

use super::{Board, NotABoard, Sample, Word, slot};
use crate::Reading;

/// The one that posts.
///
/// Readings are taken in one by one and posted together, so that a record of thirty transmissions
/// moves a slot once and not thirty times: readers see the newest, and the sum of all.
#[derive(Debug)]
pub struct Writer {
    slots: Vec<Draft>,
    /// The changed `slots`.
    changed: Vec<usize>,
    posts: u64,
}

#[derive(Clone, Copy, Debug, Default)]
struct Draft {
    sample: Sample,
    number: u64,
    changed: bool,
}

impl Writer {
    /// The writer of a new board with `slots` slots.
    pub fn new(slots: usize) -> Self {
        let changed = Vec::with_capacity(slots);
        Self { slots: vec![Draft::default(); slots], changed, posts: 0 }
    }

    /// Makes the board of these KPIs in zeroed memory.
    ///
    /// # Errors
    ///
    /// [`NotABoard::Short`] if `words` are too few for the names.
    pub fn create<'n, W: Word>(
        words: &[W],
        names: impl ExactSizeIterator<Item = (&'n str, &'n str)>,
        pid: u32,
        now: HostInstant,
    ) -> Result<Self, NotABoard> {
        Board::create(words, names, pid, now).map(|board| Self::new(board.slots()))
    }

    /// A value of the KPI in slot [`Reading::slot`], of a record that arrived at `now`.
    #[inline]
    pub fn handle(&mut self, reading: &Reading, now: HostInstant) {
        let Some(draft) = self.slots.get_mut(reading.slot) else { return };
        let sample = &mut draft.sample;
        *sample = Sample {
            modem_at: reading.at,
            received_at: now,
            sequence: sample.sequence + 1,
            value: reading.value,
            total: sample.total + reading.value,
            item: reading.item.packed(),
        };
        if !draft.changed {
            draft.changed = true;
            self.changed.push(reading.slot);
        }
    }

    /// Posts the values since the last post. Returns whether there were any.
    pub fn post<W: Word>(&mut self, board: Board<'_, W>) -> bool {
        if self.changed.is_empty() {
            return false;
        }
        for index in self.changed.drain(..) {
            let Some(draft) = self.slots.get_mut(index) else { continue };
            draft.changed = false;
            draft.number += 1;
            slot::post(board.slot(index), draft.number, &draft.sample);
        }
        self.posts += 1;
        board.set_posts(self.posts);
        true
    }

    /// Records that the writer is alive.
    pub fn heartbeat<W: Word>(&self, board: Board<'_, W>, now: HostInstant) {
        board.set_heartbeat(now);
    }

    /// Records that the writer ends. Its posts stay.
    pub fn close<W: Word>(&self, board: Board<'_, W>) {
        board.set_closed();
    }
}
