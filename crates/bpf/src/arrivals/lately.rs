//! What the radio added to packets lately, on average, once the modem's records say so.

use std::collections::VecDeque;
use std::time::Duration;

use sounding_units::HostInstant;

use super::{AFTER, BEFORE};

/// The mean is over this, as that of `sounding_cc::Compensated` is: twice as long as records of MAC are apart.
const RECENT: Duration = Duration::from_millis(200);
/// Packets that wait for records: those of 400 ms at 20 000 a second. Of more, the oldest are left out.
const WAITING: usize = 8_192;
/// Events that are kept: those of half a second at one a millisecond.
const KEPT: usize = 512;

/// Packets, the events that may have held them, and the mean of what is known.
#[derive(Debug, Default)]
pub(super) struct Lately {
    packets: VecDeque<Packet>,
    /// In order of their begin.
    events: VecDeque<Event>,
    known: VecDeque<(HostInstant, Duration)>,
    sum: Duration,
}

#[derive(Clone, Copy, Debug)]
struct Packet {
    at: HostInstant,
    /// Its stamp is without an event's part already.
    is_corrected: bool,
}

/// A block that was sent again.
#[derive(Clone, Copy, Debug)]
pub(super) struct Event {
    from: HostInstant,
    pub(super) to: HostInstant,
    pub(super) amount: Duration,
    /// Packets of its burst whose part is known.
    taken: u32,
}

impl Event {
    fn holds(&self, at: HostInstant) -> bool {
        at + BEFORE >= self.to && at <= self.to + AFTER
    }
}

impl Lately {
    /// A packet came. They are in order, or nearly.
    pub(super) fn handle_packet(&mut self, at: HostInstant, is_corrected: bool) {
        if self.packets.len() == WAITING {
            self.packets.pop_front();
        }
        self.packets.push_back(Packet { at, is_corrected });
    }

    /// An event, in any order. One with the same begin replaces an earlier one: its block was sent once more.
    pub(super) fn handle_event(&mut self, from: HostInstant, to: HostInstant, amount: Duration) {
        let event = Event { from, to, amount, taken: 0 };
        let place = self.events.partition_point(|known| known.from < from);
        if let Some(known) = self.events.get_mut(place).filter(|known| known.from == from) {
            *known = event;
        } else if self.events.len() < KEPT {
            self.events.insert(place, event);
        } else if let Some(place) = place.checked_sub(1) {
            self.events.pop_front();
            self.events.insert(place, event);
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

    /// What the radio added to a packet. A burst's packets count as sent evenly over the time that its block took: without their send
    /// times only the mean is known.
    fn added(&mut self, at: HostInstant) -> Duration {
        let Self { packets, events, .. } = self;
        let held = events.iter_mut().filter(|event| event.holds(at));
        let parts = held.map(|event| {
            let before = event.taken;
            event.taken += 1;
            let after = packets.iter().take_while(|packet| event.holds(packet.at)).count();
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
    pub(super) fn coming(&self, now: HostInstant) -> impl Iterator<Item = &Event> {
        self.events.iter().rev().filter(move |event| event.to + AFTER >= now)
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

    #[test]
    fn the_mean_is_of_known_packets_and_of_a_burst_the_first_waited_longest() {
        let mut lately = Lately::default();
        for packet in [0, 5, 20, 20, 40] {
            lately.handle_packet(at(packet), false);
        }
        lately.handle_event(at(12), at(20), ms(8));
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
        let mut lately = Lately::default();
        lately.handle_packet(at(20), true);
        lately.handle_packet(at(28), false);
        lately.handle_event(at(12), at(20), ms(8));
        lately.handle_event(at(12), at(28), ms(16));
        assert_eq!(lately.coming(at(29)).count(), 1);
        assert_eq!(lately.coming(at(30)).count(), 0);
        lately.handle_until(at(100));
        assert_eq!(lately.mean(), ms(8));
    }

    #[test]
    fn no_number_of_packets_or_events_takes_more_memory() {
        let mut lately = Lately::default();
        for step in (0..20_000).rev().chain(0..20_000) {
            lately.handle_packet(at(step), false);
            lately.handle_event(at(step), at(step + 8), ms(8));
        }
        assert!(lately.packets.len() <= WAITING && lately.events.len() <= KEPT);
        lately.handle_until(at(30_000));
        assert!(lately.packets.is_empty() && lately.known.is_empty());
        assert_eq!(lately.mean(), Duration::ZERO);
    }
}
