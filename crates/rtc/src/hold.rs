use std::collections::VecDeque;
use std::time::Duration;

use sounding_units::HostInstant;

use crate::{Corrected, Corrections, Way};

/// A packet is never held for longer.
const PATIENCE: Duration = Duration::from_millis(150);
/// While something waits, the source is asked this often: feedback goes out every 50 ms.
const ASKED_EVERY: Duration = Duration::from_millis(5);
/// Packets that wait: those of 150 ms at 20 000 a second. Of more, the first waits no longer.
const WAITING: usize = 3_072;

/// Packets that wait until their corrected arrival is known, in order of arrival.
///
/// Each goes on after at most 150 ms. The arrivals that it gives never run backwards: a group of
/// packets keeps its order.
#[derive(Debug)]
pub struct Hold<C, T> {
    corrections: C,
    waiting: VecDeque<(Way, T)>,
    /// The latest arrival that it gave.
    last: Option<HostInstant>,
    counts: HoldCounts,
}

/// Packets by what became of their arrivals.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HoldCounts {
    /// Packets whose arrival was given as the source corrected it.
    pub corrected: u64,
    /// Packets that the source does not know, such as with a silent modem.
    pub unknown: u64,
    /// The correction came too late, or too many packets waited.
    pub expired: u64,
}

impl<C: Corrections, T> Hold<C, T> {
    /// With a source of corrections.
    pub fn new(corrections: C) -> Self {
        Self { corrections, waiting: VecDeque::new(), last: None, counts: HoldCounts::default() }
    }

    /// The source of corrections.
    pub fn corrections_mut(&mut self) -> &mut C {
        &mut self.corrections
    }

    /// What became of the packets so far.
    pub fn counts(&self) -> HoldCounts {
        self.counts
    }

    /// A packet arrived.
    pub fn handle_packet(&mut self, way: Way, packet: T) {
        self.waiting.push_back((way, packet));
    }

    /// The next packet that goes on, with its way and the arrival that counts for it.
    pub fn poll(&mut self, now: HostInstant) -> Option<(HostInstant, Way, T)> {
        let (way, _) = self.waiting.front()?;
        let is_expired = now - way.arrived >= PATIENCE || self.waiting.len() > WAITING;
        let (at, count) = match self.corrections.corrected(now, way) {
            Corrected::At(at) => (at, &mut self.counts.corrected),
            Corrected::Unknown => (way.arrived, &mut self.counts.unknown),
            Corrected::NotYet if is_expired => (way.arrived, &mut self.counts.expired),
            Corrected::NotYet => return None,
        };
        *count += 1;
        let at = self.last.map_or(at, |last| at.max(last));
        self.last = Some(at);
        let (way, packet) = self.waiting.pop_front()?;
        Some((at, way, packet))
    }

    /// When [`poll`](Self::poll) is due again, if a packet waits.
    pub fn wakeup(&self, now: HostInstant) -> Option<HostInstant> {
        let (way, _) = self.waiting.front()?;
        Some((way.arrived + PATIENCE).min(now + ASKED_EVERY))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Stock;

    /// Takes off what it knows.
    #[derive(Debug, Default)]
    struct Script(Vec<(u64, Corrected)>);

    impl Corrections for Script {
        fn corrected(&mut self, _: HostInstant, way: &Way) -> Corrected {
            let known = self.0.iter().find(|(arrived, _)| at(*arrived) == way.arrived);
            known.map_or(Corrected::NotYet, |(_, corrected)| *corrected)
        }
    }

    fn at(ms: u64) -> HostInstant {
        HostInstant::from_nanos(ms * 1_000_000)
    }

    fn way(arrived: u64) -> Way {
        Way { sent: None, arrived: at(arrived) }
    }

    fn polled<C: Corrections>(hold: &mut Hold<C, u64>, now: u64) -> Vec<(u64, u64)> {
        std::iter::from_fn(|| hold.poll(at(now)))
            .map(|(at, _, packet)| (packet, at.as_nanos() / 1_000_000))
            .collect()
    }

    #[test]
    fn packets_leave_in_order_once_their_arrivals_are_known() {
        let mut hold = Hold::new(Script::default());
        for packet in [30, 31, 32, 40] {
            hold.handle_packet(way(packet), packet);
        }
        hold.corrections_mut().0 = vec![(31, Corrected::At(at(22))), (30, Corrected::NotYet)];
        assert_eq!(polled(&mut hold, 40), []);
        hold.corrections_mut().0[1].1 = Corrected::At(at(25));
        assert_eq!(polled(&mut hold, 41), [(30, 25), (31, 25)]);
        hold.corrections_mut().0 = vec![(32, Corrected::Unknown)];
        assert_eq!(polled(&mut hold, 42), [(32, 32)]);
        assert_eq!(hold.wakeup(at(42)), Some(at(47)));
        assert_eq!(polled(&mut hold, 189), []);
        assert_eq!(hold.wakeup(at(189)), Some(at(190)));
        assert_eq!(polled(&mut hold, 190), [(40, 40)]);
        assert_eq!(hold.wakeup(at(190)), None);
        assert_eq!(hold.counts(), HoldCounts { corrected: 2, unknown: 1, expired: 1 });
    }

    #[test]
    fn a_stock_peer_holds_nothing() {
        let mut hold = Hold::new(Stock);
        hold.handle_packet(way(5), 5);
        hold.handle_packet(way(6), 6);
        assert_eq!(polled(&mut hold, 6), [(5, 5), (6, 6)]);
    }

    #[test]
    fn no_number_of_packets_waits() {
        let mut hold = Hold::new(Script::default());
        for packet in 0..5_000 {
            hold.handle_packet(way(100), packet);
            polled(&mut hold, 100);
        }
        assert_eq!(hold.waiting.len(), WAITING);
    }
}
