use core::time::Duration;

use crate::part::{Slot, Windowed};

/// The unit of judgement: so much time in which data was waiting.
const PIECE: Duration = Duration::from_millis(20);
/// The first pieces of a burst after silence: a proportional-fair cell serves a newcomer first.
const HEAD: u32 = 4;
/// Pieces of a sample of the share: longer than a fade of a walking user, and than HARQ's holes.
const LONG: u32 = 10;
/// Pieces that suffice where the share is small.
const SHORT: u32 = 5;
/// The highest rate over [`LONG`] pieces is remembered for so long.
const REMEMBERED: Duration = Duration::from_secs(10);
/// In thousandths of the cell: below, others use it; above, it is free. In between the verdict stays.
const BUSY: u64 = 650;
const FREE: u64 = 720;
/// Over [`SHORT`] pieces.
const SURELY_BUSY: u64 = 380;
/// Weight of a new sample, one of so many.
const WEIGHT: u64 = 3;

/// Whether others use the cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    Busy,
    Free,
    /// Not enough is known yet.
    Open,
}

/// The flow's share of its cell while it had data waiting: its rate beside what the cell gives a flow that is alone.
///
/// The latter is the highest of three figures: the rate over 200 ms in the last ten seconds, the mean of the best 20 ms at
/// the head of each burst, and the median of what one reading of the receiver's clock brings. The first is true where the
/// flow was alone lately, the second beside one or two rivals, the third beside many of them.
///
/// All in whole numbers, as the kernel has them. Rates are bytes a second.
#[derive(Clone, Copy, Debug)]
pub(super) struct Share {
    /// Of the current piece.
    bytes: u64,
    nanos: u64,
    /// Pieces since the burst began.
    count: u32,
    best_of_head: u64,
    /// Of the sample in hand.
    pieces: u32,
    sum: u64,
    /// Over [`LONG`] pieces.
    most: Option<Windowed<u64>>,
    heads: Option<u64>,
    reading: Option<u64>,
    /// In thousandths.
    share: Option<u64>,
    is_free: bool,
}

impl Share {
    pub(super) fn new() -> Self {
        Self {
            bytes: 0,
            nanos: 0,
            count: 0,
            best_of_head: 0,
            pieces: 0,
            sum: 0,
            most: None,
            heads: None,
            reading: None,
            share: None,
            is_free: false,
        }
    }

    /// A burst begins after silence.
    pub(super) fn begin(&mut self) {
        (self.bytes, self.nanos, self.count, self.best_of_head) = (0, 0, 0, 0);
        (self.pieces, self.sum) = (0, 0);
    }

    /// Takes in what one reading of the receiver's clock brought.
    pub(super) fn handle_slot(&mut self, now: u64, slot: &Slot) -> Verdict {
        let Some(gap) = slot.before.filter(|gap| gap.backlogged) else { return Verdict::Open };
        let tick = (slot.tick.as_nanos() as u64).max(1);
        self.learn_reading(slot.bytes.count().saturating_mul(1_000_000_000) / tick);
        self.bytes += slot.bytes.count();
        self.nanos += u64::from(gap.ticks) * tick;
        if self.nanos < PIECE.as_nanos() as u64 {
            return Verdict::Open;
        }
        let rate = self.bytes.saturating_mul(1_000_000_000) / self.nanos;
        // A hole of HARQ can be longer than a piece.
        let pieces = (self.nanos / PIECE.as_nanos() as u64).clamp(1, LONG.into()) as u32;
        (self.bytes, self.nanos) = (0, 0);
        self.handle_piece(now, rate, pieces)
    }

    fn handle_piece(&mut self, now: u64, rate: u64, pieces: u32) -> Verdict {
        self.count = self.count.saturating_add(pieces);
        if self.count <= HEAD {
            self.best_of_head = self.best_of_head.max(rate);
            if self.count == HEAD {
                let best = self.best_of_head;
                self.heads = Some(self.heads.map_or(best, |heads| (3 * heads + best) / 4));
            }
            return Verdict::Open;
        }
        self.pieces += pieces;
        self.sum += rate * u64::from(pieces);
        let mean = self.sum / u64::from(self.pieces);
        if self.pieces >= LONG {
            (self.pieces, self.sum) = (0, 0);
            match &mut self.most {
                Some(most) => most.update(now, mean),
                None => self.most = Some(Windowed::max(REMEMBERED.as_nanos() as u64, now, mean)),
            }
            return self.handle_sample(self.of_cell(mean));
        }
        if self.pieces >= SHORT && self.of_cell(mean) < SURELY_BUSY {
            (self.pieces, self.sum) = (0, 0);
            return self.handle_sample(self.of_cell(mean));
        }
        Verdict::Open
    }

    fn handle_sample(&mut self, share: u64) -> Verdict {
        let mean = self.share.map_or(share, |mean| ((WEIGHT - 1) * mean + share) / WEIGHT);
        self.share = Some(mean);
        self.is_free = share >= SURELY_BUSY && mean >= if self.is_free { BUSY } else { FREE };
        if self.is_free { Verdict::Free } else { Verdict::Busy }
    }

    /// A median that follows: what most readings bring.
    fn learn_reading(&mut self, rate: u64) {
        self.reading = Some(self.reading.map_or(rate, |median| {
            let step = (median / 32).max(1);
            if rate > median { median + step } else { median.saturating_sub(step) }
        }));
    }

    /// What the cell gives this flow when it is alone; `None` while that is unknown.
    pub(super) fn capacity(&self) -> Option<u64> {
        self.most.map(|most| most.best()).max(self.heads).max(self.reading)
    }

    fn of_cell(&self, rate: u64) -> u64 {
        rate.saturating_mul(1000) / self.capacity().unwrap_or(0).max(1)
    }
}
