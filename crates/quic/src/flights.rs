use std::collections::VecDeque;
use std::time::Duration;

use sounding_cc::Departure;
use sounding_units::HostInstant;

/// Maximum number of remembered send times. Chosen: stacks send groups of packets a millisecond or
/// two apart, so this covers several seconds.
const MOST: usize = 8192;

/// Packets that left this long before the newest acknowledged one are forgotten. Chosen: longer
/// than any stack takes to declare a packet lost.
const HORIZON: Duration = Duration::from_secs(3);

/// The flow's state at each time at which packets left.
///
/// Packets that left at the same time share a [`Departure`], because a stack sends them together.
#[derive(Debug, Default)]
pub(crate) struct Flights {
    /// In order of time and of number.
    queue: VecDeque<Flight>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Flight {
    /// Send time, as the stack reports it. Acknowledgements refer to packets by this time.
    pub(crate) left: HostInstant,
    /// The packet numbers that left then.
    first: u64,
    last: u64,
    pub(crate) departure: Departure,
}

impl Flights {
    /// Packets up to number `last` left.
    pub(crate) fn push(&mut self, left: HostInstant, last: u64, departure: Departure) {
        let mut first = 0;
        if let Some(back) = self.queue.back_mut() {
            first = back.last.saturating_add(1);
            if last <= back.last {
                // The handshake has begun another packet number space. Its packets need not be
                // distinguished.
                self.queue.clear();
                first = 0;
            } else if left <= back.left {
                back.last = last;
                back.departure.in_flight = departure.in_flight;
                return;
            }
        }
        if self.queue.len() == MOST {
            self.queue.pop_front();
        }
        self.queue.push_back(Flight { left, first, last, departure });
    }

    /// The flight that left at this time, or the last one before it.
    pub(crate) fn at(&self, left: HostInstant) -> Option<Flight> {
        let after = self.queue.partition_point(|flight| flight.left <= left);
        self.queue.get(after.checked_sub(1)?).copied()
    }

    /// The numbers of the packets that left at exactly this time.
    pub(crate) fn numbers(&self, left: HostInstant) -> Option<(u64, u64)> {
        let flight = self.at(left).filter(|flight| flight.left == left)?;
        Some((flight.first, flight.last))
    }

    /// The flight of this packet.
    pub(crate) fn of(&self, number: u64) -> Option<Flight> {
        let first = self.queue.partition_point(|flight| flight.last < number);
        self.queue.get(first).copied()
    }

    /// Forgets old flights, after the flight of `newest` was acknowledged.
    pub(crate) fn forget(&mut self, newest: HostInstant) {
        while self.queue.front().is_some_and(|flight| newest - flight.left > HORIZON) {
            self.queue.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use sounding_units::Bytes;

    use super::*;

    fn at(ms: u64) -> HostInstant {
        HostInstant::from_nanos(ms * 1_000_000)
    }

    fn departure(ms: u64) -> Departure {
        Departure { at: at(ms), delivered: Bytes::new(ms), ..Departure::default() }
    }

    #[test]
    fn a_flight_is_found_by_its_moment_and_by_each_of_its_packets() {
        let mut flights = Flights::default();
        flights.push(at(10), 4, departure(10));
        flights.push(at(20), 9, departure(20));
        assert_eq!(flights.at(at(10)).unwrap().departure, departure(10));
        assert_eq!(flights.at(at(25)).unwrap().departure, departure(20));
        assert!(flights.at(at(9)).is_none());
        for (number, ms) in [(0, 10), (4, 10), (5, 20), (9, 20)] {
            assert_eq!(flights.of(number).unwrap().left, at(ms), "{number}");
        }
        assert!(flights.of(10).is_none());
    }

    #[test]
    fn packets_of_one_moment_are_one_flight_with_all_that_is_under_way() {
        let mut flights = Flights::default();
        for number in 0..3 {
            let in_flight = Bytes::new(1200 * (number + 1));
            flights.push(at(10), number, Departure { in_flight, ..departure(10) });
        }
        let flight = flights.at(at(10)).unwrap();
        assert_eq!((flight.last, flight.departure.in_flight), (2, Bytes::new(3600)));
    }

    #[test]
    fn numbers_that_begin_anew_are_those_of_another_space() {
        let mut flights = Flights::default();
        flights.push(at(10), 1, departure(10));
        flights.push(at(11), 0, departure(11));
        assert!(flights.at(at(10)).is_none());
        assert_eq!(flights.of(0).unwrap().left, at(11));
    }

    #[test]
    fn what_is_never_acknowledged_is_forgotten() {
        let mut flights = Flights::default();
        for ms in 0..20_000 {
            flights.push(at(ms), ms, departure(ms));
        }
        assert_eq!(flights.queue.len(), MOST);
        flights.forget(at(19_999));
        assert_eq!(flights.queue.front().unwrap().left, at(19_999 - 3000));
    }
}
