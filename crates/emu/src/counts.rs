use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use sounding_units::Bytes;

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
    /// Bytes of the delivered packets.
    pub delivered_bytes: Bytes,
    /// The times together that delivered packets waited for the network's bottleneck and were
    /// carried by it.
    pub queueing: Duration,
}

/// Counts that one thread writes and others read. Each is exact, but two of them may be read at
/// slightly different times.
#[derive(Debug, Default)]
pub(crate) struct LiveCounts {
    values: [[AtomicU64; 5]; 2],
    lag_ns: AtomicU64,
    times_behind: AtomicU64,
}

impl LiveCounts {
    pub(crate) fn write<'a>(
        &self,
        reports: impl Iterator<Item = (Direction, &'a DirectionReport)>,
    ) {
        let mut sums = [[0_u64; 5]; 2];
        for (direction, report) in reports {
            let queueing = u64::try_from(report.queueing.as_nanos()).unwrap_or(u64::MAX);
            let bytes = report.delivered_bytes.count();
            let values = [report.arrived, report.delivered, report.dropped, bytes, queueing];
            for (sum, value) in sums[direction as usize].iter_mut().zip(values) {
                *sum = sum.saturating_add(value);
            }
        }
        for (count, sum) in self.values.iter().flatten().zip(sums.iter().flatten()) {
            count.store(*sum, Ordering::Relaxed);
        }
    }

    pub(crate) fn write_pace(&self, lag: Duration, times_behind: u64) {
        self.lag_ns.store(u64::try_from(lag.as_nanos()).unwrap_or(u64::MAX), Ordering::Relaxed);
        self.times_behind.store(times_behind, Ordering::Relaxed);
    }

    pub(crate) fn read(&self, direction: Direction) -> Counts {
        let values = self.values[direction as usize].each_ref();
        let [arrived, delivered, dropped, bytes, queueing] =
            values.map(|value| value.load(Ordering::Relaxed));
        let delivered_bytes = Bytes::new(bytes);
        Counts {
            arrived,
            delivered,
            dropped,
            delivered_bytes,
            queueing: Duration::from_nanos(queueing),
        }
    }

    pub(crate) fn lag(&self) -> Duration {
        Duration::from_nanos(self.lag_ns.load(Ordering::Relaxed))
    }

    pub(crate) fn times_behind(&self) -> u64 {
        self.times_behind.load(Ordering::Relaxed)
    }
}
