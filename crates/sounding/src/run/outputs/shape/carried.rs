//! The rate that a link carries.

use sounding_shape::{Decision, Reason};
use sounding_units::Rate;

/// The rate that a link carries: an average of its shaper's while that is the radio's capacity.
///
/// It is a base for the link: a rate that it nearly always carries is close to one that it carried.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Carried {
    rate: Rate,
    /// Estimates that count, up to [`SLOW`].
    estimates: u32,
}

/// The most estimates that an average counts: a minute of load. Chosen.
const SLOW: u32 = 6_000;
/// An earlier run's average counts as so many: ten seconds of load weigh the same. Chosen.
const EARLIER: u32 = 1_000;
/// Fewer estimates, a second's, show no average. Chosen.
const SURE: u32 = 100;

impl Carried {
    /// Begins with the average of an earlier run, if there is one.
    pub(super) fn new(earlier: Option<Rate>) -> Self {
        earlier.map_or_else(Self::default, |rate| Self { rate, estimates: EARLIER })
    }

    /// The decision after an estimate, every 10 ms.
    pub(super) fn handle(&mut self, decision: Decision) {
        if decision.reason != Reason::Capacity {
            return;
        }
        self.estimates = (self.estimates + 1).min(SLOW);
        let (now, before) = (decision.rate.bits_per_sec(), self.rate.bits_per_sec());
        let step = now.abs_diff(before) / u64::from(self.estimates);
        let rate = if now > before { before + step } else { before - step };
        self.rate = Rate::from_bits_per_sec(rate);
    }

    /// The average, once there is one.
    pub(super) fn rate(self) -> Option<Rate> {
        (self.estimates >= SURE).then_some(self.rate)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(mut carried: Carried, count: u32, mbit: u64, reason: Reason) -> Carried {
        let rate = Rate::from_bits_per_sec(mbit * 1_000_000);
        (0..count).for_each(|_| carried.handle(Decision { rate, reason }));
        carried
    }

    fn mbit(carried: Carried) -> Option<u64> {
        carried.rate().map(|rate| (rate.bits_per_sec() + 500_000) / 1_000_000)
    }

    #[test]
    fn only_capacity_counts_and_a_second_of_it_shows_an_average() {
        let fresh = Carried::new(None);
        let carried = after(fresh, 1_000, 9, Reason::Demand);
        assert_eq!(mbit(carried), None);
        let carried = after(after(carried, 60, 4, Reason::Capacity), 39, 8, Reason::Capacity);
        assert_eq!(mbit(carried), None);
        let carried = after(carried, 21, 8, Reason::Capacity);
        assert_eq!(mbit(after(carried, 500, 50, Reason::Base)), Some(6), "the mean of both");
    }

    #[test]
    fn an_earlier_run_counts_until_the_link_shows_another_rate_for_long() {
        let earlier = Carried::new(Some(Rate::from_bits_per_sec(10_000_000)));
        assert_eq!(mbit(earlier), Some(10));
        let soon = after(earlier, 100, 40, Reason::Capacity);
        assert!((12..14).contains(&mbit(soon).expect("an average")), "{soon:?}");
        let later = after(soon, 30_000, 40, Reason::Capacity);
        assert!(mbit(later) >= Some(39), "{later:?}");
    }

    #[test]
    fn no_rates_make_it_overflow() {
        let mut carried = Carried::new(Some(Rate::from_bits_per_sec(u64::MAX)));
        for bits in [0, u64::MAX, 1, u64::MAX] {
            let rate = Rate::from_bits_per_sec(bits);
            carried.handle(Decision { rate, reason: Reason::Capacity });
        }
        assert!(carried.rate().is_some());
    }
}
