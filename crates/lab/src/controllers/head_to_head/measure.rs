//! Measurements of both sides, by the same definitions.

use std::fmt;
use std::time::Duration;

use serde::Serialize;
use sounding_experiment::metrics::Delays;
use sounding_testbed::kernel_compare::Spread;
use sounding_units::{Bytes, HostInstant};

/// A smaller packet is no data: a handshake, or feedback of a peer that sends both ways.
pub(super) const DATA: Bytes = Bytes::new(500);

/// One flow.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Side {
    /// When its first data packet entered the link's network, from the beginning of the trace.
    pub started: Duration,
    /// IP bytes delivered over the time that is measured.
    pub throughput_mbit_per_sec: f64,
    /// From one end to the other.
    pub one_way_ms: Spread,
    /// Waiting for the link.
    pub queueing_ms: Spread,
}

/// A data packet that was delivered.
#[derive(Clone, Copy, Debug)]
pub(super) struct Passage {
    pub(super) entered: HostInstant,
    pub(super) joined: HostInstant,
    pub(super) left: HostInstant,
    pub(super) arrived: HostInstant,
    pub(super) size: Bytes,
}

impl Side {
    /// From the packets that arrived within `duration` of the first one's entry; `None` if there
    /// was none.
    pub(super) fn of(
        passages: &[Passage],
        origin: HostInstant,
        duration: Duration,
    ) -> Option<Self> {
        let from = passages.iter().map(|passage| passage.entered).min()?;
        let to = from + duration;
        let within: Vec<&Passage> =
            passages.iter().filter(|passage| passage.arrived < to).collect();
        let carried: u64 = within.iter().map(|passage| passage.size.count()).sum();
        let spread = |of: fn(&Passage) -> Duration| {
            Spread::of(Delays::of(within.iter().map(|passage| of(passage)).collect()))
        };
        Some(Self {
            started: from - origin,
            throughput_mbit_per_sec: Bytes::new(carried).per(duration).mbit_per_sec(),
            one_way_ms: spread(|passage| passage.arrived - passage.entered),
            queueing_ms: spread(|passage| passage.left - passage.joined),
        })
    }
}

impl fmt::Display for Side {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { throughput_mbit_per_sec, one_way_ms, .. } = self;
        write!(f, "{throughput_mbit_per_sec:.2} Mbit/s p95 {:.0} ms", one_way_ms.p95)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn passage(entered: u64, arrived: u64) -> Passage {
        let at = |ms: u64| HostInstant::from_nanos(ms * 1_000_000);
        let (joined, left) = (at(entered), at(arrived - 20));
        Passage { entered: at(entered), joined, left, arrived: at(arrived), size: Bytes::new(1250) }
    }

    #[test]
    fn a_flow_is_measured_from_its_first_packet_on() {
        let passages: Vec<Passage> =
            (0..200).map(|n| passage(1000 + 10 * n, 1050 + 10 * n)).collect();
        let side = Side::of(&passages, HostInstant::default(), Duration::from_secs(1)).unwrap();
        assert_eq!(side.started, Duration::from_secs(1));
        // Packets that arrive in the second from 1000 ms on: 95 packets of 10 kbit.
        assert!((side.throughput_mbit_per_sec - 0.95).abs() < 1e-9);
        assert!(
            (side.one_way_ms.p95 - 50.0).abs() < 1e-9 && (side.queueing_ms.p50 - 30.0).abs() < 1e-9
        );
    }

    #[test]
    fn nothing_that_arrived_has_no_figures() {
        assert!(Side::of(&[], HostInstant::default(), Duration::from_secs(1)).is_none());
    }
}
