//! What the radio added to packets lately, on average, once the modem's records say so.

use std::collections::VecDeque;
use std::time::Duration;

use sounding_estimate::delay::{AFTER, BEFORE, Events, RECENT};
use sounding_estimate::{DelayKind, Direction, RanDelay};
use sounding_units::HostInstant;

/// Packets that wait for records: those of 400 ms at 20 000 a second. Of more, the oldest are left
/// out.
const WAITING: usize = 8_192;

/// Packets, the events that may have held them, and the mean of what is known.
#[derive(Debug, Default)]
pub(super) struct BurstMean {
    packets: VecDeque<Packet>,
    /// Each with the number of its burst's packets whose part is known.
    events: Events<u32>,
    known: VecDeque<(HostInstant, Duration)>,
    sum: Duration,
}

#[derive(Clone, Copy, Debug)]
struct Packet {
    at: HostInstant,
    /// Its stamp is without an event's part already.
    is_corrected: bool,
}

impl BurstMean {
    /// A packet came. They are in order, or nearly.
    pub(super) fn handle_packet(&mut self, at: HostInstant, is_corrected: bool) {
        if self.packets.len() == WAITING {
            self.packets.pop_front();
        }
        self.packets.push_back(Packet { at, is_corrected });
    }

    /// An event, in any order. Only retransmissions of the downlink hold packets here.
    pub(super) fn handle_event(&mut self, event: RanDelay) {
        if event.direction == Direction::Downlink && event.kind != DelayKind::Scheduling {
            self.events.insert(event, 0);
        }
    }

    /// All events up to this time are known.
    pub(super) fn handle_until(&mut self, until: HostInstant) {
        while let Some(packet) = self.packets.front().copied()
            && packet.at + BEFORE + AFTER <= until
        {
            self.packets.pop_front();
            let added = if packet.is_corrected { Duration::ZERO } else { self.added(packet.at) };
            self.known.push_back((packet.at, added));
            self.sum += added;
        }
        while let Some((at, added)) = self.known.front().copied()
            && until - at > RECENT
        {
            self.known.pop_front();
            self.sum = self.sum.saturating_sub(added);
        }
    }

    /// What the radio added to a packet. A burst's packets count as sent evenly over the time that
    /// its block took: without their send times only the mean is known.
    fn added(&mut self, at: HostInstant) -> Duration {
        let Self { packets, events, .. } = self;
        let held = events.iter_mut().filter(|(event, _)| event.releases(at));
        let parts = held.map(|(event, taken)| {
            let before = *taken;
            *taken += 1;
            let after = packets.iter().take_while(|packet| event.releases(packet.at)).count();
            let all = before + 1 + u32::try_from(after).unwrap_or(u32::MAX - 1 - before);
            event.amount * (all - before) / all
        });
        parts.max().unwrap_or_default()
    }

    /// The mean of the last 200 ms that are known; zero without packets.
    pub(super) fn mean(&self) -> Duration {
        let count = u32::try_from(self.known.len()).unwrap_or(u32::MAX);
        self.sum.checked_div(count).unwrap_or_default()
    }

    /// Events whose packets may still come, the latest first.
    pub(super) fn coming(&self, now: HostInstant) -> impl Iterator<Item = &RanDelay> {
        let latest = self.events.iter().rev().map(|(event, _)| event);
        latest.filter(move |event| event.to + AFTER >= now)
    }
}

#[cfg(test)]
mod tests {

    use super::*;

    fn at(ms: u64) -> HostInstant {
        HostInstant::from_nanos(1_000_000_000) + Duration::from_millis(ms)
    }

    fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    fn event(from: u64, to: u64) -> RanDelay {
        RanDelay::new(Direction::Downlink, DelayKind::Harq, at(from), at(to))
    }

    #[test]
    fn the_mean_covers_known_packets_and_the_first_of_a_burst_waited_longest() {
        let mut lately = BurstMean::default();
        for packet in [0, 5, 20, 20, 40] {
            lately.handle_packet(at(packet), false);
        }
        lately.handle_event(event(12, 20));
        assert_eq!(lately.mean(), ms(0));
        // The two of the burst waited for 8 and 4 ms; the last packet is not known.
        lately.handle_until(at(40));
        assert_eq!(lately.mean(), ms(12) / 4);
        lately.handle_until(at(50));
        assert_eq!(lately.mean(), ms(12) / 5);
        lately.handle_until(at(230));
        assert_eq!(lately.mean(), Duration::ZERO);
    }

    #[test]
    fn a_repeated_report_replaces_and_a_packet_that_was_corrected_adds_nothing() {
        let mut lately = BurstMean::default();
        lately.handle_packet(at(20), true);
        lately.handle_packet(at(28), false);
        lately.handle_event(event(12, 20));
        lately.handle_event(event(12, 28));
        assert_eq!(lately.coming(at(29)).count(), 1);
        assert_eq!(lately.coming(at(30)).count(), 0);
        lately.handle_until(at(100));
        assert_eq!(lately.mean(), ms(8));
    }

    #[test]
    fn a_burst_behind_rlc_counts_and_what_the_uplink_held_does_not() {
        let mut lately = BurstMean::default();
        lately.handle_packet(at(60), false);
        lately.handle_event(event(10, 60).with_direction(Direction::Uplink));
        lately.handle_event(event(20, 60).with_kind(DelayKind::Rlc));
        lately.handle_until(at(100));
        assert_eq!(lately.mean(), ms(40));
    }

    #[test]
    fn no_number_of_packets_or_events_takes_more_memory() {
        let mut lately = BurstMean::default();
        for step in (0..20_000).rev().chain(0..20_000) {
            lately.handle_packet(at(step), false);
            lately.handle_event(event(step, step + 8));
        }
        assert!(
            lately.packets.len() <= WAITING && lately.events.iter().count() <= Events::<u32>::MOST
        );
        lately.handle_until(at(30_000));
        assert!(lately.packets.is_empty() && lately.known.is_empty());
        assert_eq!(lately.mean(), Duration::ZERO);
    }
}
