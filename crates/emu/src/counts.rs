use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::{Direction, DirectionReport};

/// Packets of one direction so far, of all devices, counted while they flow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Packets read from the senders' devices.
    pub arrived: u64,
    /// Packets handed to the receivers' kernels.
    pub delivered: u64,
    /// Packets dropped by the network.
    pub dropped: u64,
}

/// Counts that one thread writes and others read. Each is exact, but two of them may be read at
/// slightly different times.
#[derive(Debug, Default)]
pub(crate) struct LiveCounts {
    packets: [[AtomicU64; 3]; 2],
    lag_ns: AtomicU64,
    times_behind: AtomicU64,
}

impl LiveCounts {
    pub(crate) fn write<'a>(
        &self,
        reports: impl Iterator<Item = (Direction, &'a DirectionReport)>,
    ) {
        let mut sums = [[0; 3]; 2];
        for (direction, report) in reports {
            let values = [report.arrived, report.delivered, report.dropped];
            sums[direction as usize].iter_mut().zip(values).for_each(|(sum, value)| *sum += value);
        }
        for (count, sum) in self.packets.iter().flatten().zip(sums.iter().flatten()) {
            count.store(*sum, Ordering::Relaxed);
        }
    }

    pub(crate) fn write_pace(&self, lag: Duration, times_behind: u64) {
        self.lag_ns.store(u64::try_from(lag.as_nanos()).unwrap_or(u64::MAX), Ordering::Relaxed);
        self.times_behind.store(times_behind, Ordering::Relaxed);
    }

    pub(crate) fn read(&self, direction: Direction) -> Counts {
        let [arrived, delivered, dropped] =
            [0, 1, 2].map(|index| self.packets[direction as usize][index].load(Ordering::Relaxed));
        Counts { arrived, delivered, dropped }
    }

    pub(crate) fn lag(&self) -> Duration {
        Duration::from_nanos(self.lag_ns.load(Ordering::Relaxed))
    }

    pub(crate) fn times_behind(&self) -> u64 {
        self.times_behind.load(Ordering::Relaxed)
    }
}
