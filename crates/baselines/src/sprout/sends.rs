use core::time::Duration;

use sounding_units::HostInstant;

/// Times that are kept.
const KEPT: usize = 32;
/// Least distance of departures: packets that leave closer together count as one.
const APART: Duration = Duration::from_millis(4);

/// Departure times of packets, the newest, coarsely: for the age of the oldest packet in flight.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sends {
    at: [HostInstant; KEPT],
    next: usize,
    count: usize,
}

impl Sends {
    pub(super) fn handle_sent(&mut self, at: HostInstant) {
        let newest = self.at[(self.next + KEPT - 1) % KEPT];
        if self.count == 0 || at >= newest + APART {
            self.at[self.next] = at;
            self.next = (self.next + 1) % KEPT;
            self.count = (self.count + 1).min(KEPT);
        }
    }

    /// No packets in flight.
    pub(super) fn clear(&mut self) {
        self.count = 0;
    }

    /// The first that left after this one. If that was too long ago to be kept, the result is later
    /// than the truth.
    pub(super) fn first_after(&self, acked: HostInstant) -> Option<HostInstant> {
        let oldest = self.next + KEPT - self.count;
        (oldest..oldest + self.count).map(|at| self.at[at % KEPT]).find(|&at| at > acked)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn millis(millis: u64) -> HostInstant {
        HostInstant::from_nanos(millis * 1_000_000)
    }

    #[test]
    fn the_oldest_that_is_not_back_left_after_the_newest_that_is() {
        let mut sends = Sends::default();
        [0, 1, 10, 20, 30].iter().for_each(|&at| sends.handle_sent(millis(at)));
        assert_eq!(sends.first_after(millis(10)), Some(millis(20)));
        assert_eq!(sends.first_after(millis(30)), None);
        sends.clear();
        assert_eq!(sends.first_after(millis(0)), None);
    }

    #[test]
    fn the_newest_are_kept() {
        let mut sends = Sends::default();
        (0..100).for_each(|at| sends.handle_sent(millis(at * 10)));
        assert_eq!(sends.first_after(millis(0)), Some(millis(680)));
    }
}
