use std::sync::atomic::{AtomicU64, Ordering};

use crate::{Direction, DirectionReport};

/// Packets of one direction so far, counted while they flow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Read from the sender's device.
    pub arrived: u64,
    /// Handed to the receiver's kernel.
    pub delivered: u64,
    /// Dropped by the full queue of the link.
    pub dropped: u64,
}

/// Counts that one thread writes and others read. Each is exact; the three may be a moment apart.
#[derive(Debug, Default)]
pub(crate) struct LiveCounts([[AtomicU64; 3]; 2]);

impl LiveCounts {
    pub(crate) fn write(&self, direction: Direction, report: &DirectionReport) {
        let values = [report.arrived, report.delivered, report.dropped];
        for (count, value) in self.0[direction as usize].iter().zip(values) {
            count.store(value, Ordering::Relaxed);
        }
    }

    pub(crate) fn read(&self, direction: Direction) -> Counts {
        let [arrived, delivered, dropped] =
            [0, 1, 2].map(|index| self.0[direction as usize][index].load(Ordering::Relaxed));
        Counts { arrived, delivered, dropped }
    }
}
