use core::time::Duration;

use sounding_estimate::Bound;

use super::micros;

/// The queue target at the start.
const FIRST_US: u64 = 8_000;
/// More is a queue.
const MAX_US: u64 = 40_000;
/// The minimum on a link that varies, and the additional microseconds for each thousandth of
/// variation. Capacity that a link gains between two estimates is used only by a flow that has data
/// queued there. Chosen with [`MIN_PER_VARIATION`], [`MORE_PER_VARIATION`] and the span of
/// estimates, on the cells of seeds 11 to 40 and on recorded links.
const MIN_US: u64 = 13_000;
/// See [`MIN_US`].
const MIN_PER_VARIATION: u64 = 200;
/// QueueTarget goes by this much of the time in which a backlog never ended, and comes by this much
/// of the time in which it did, in thousandths: a link is full two fifths of the time at least.
const LESS_PERMILLE: u64 = 12;
/// See [`LESS_PERMILLE`].
const MORE_PERMILLE: u64 = 10;
/// Additional target for each thousandth by which the radio varies, in ten thousandths: a radio
/// exceeds its mean only for a sender with queued data.
const MORE_PER_VARIATION: u64 = 5;
/// Longest time between reports that counts: a silence shows no backlog.
const MAX_ELAPSED_US: u64 = 100_000;
/// The variation is that of the last this many estimates, as 2 to this: a third of a second at one
/// in 10 ms.
const SHIFT: u32 = 5;
/// Variation of an unknown link: that of links that fade at walking speed.
const UNKNOWN_PERMILLE: u64 = 200;
/// A probe's first step per thousandth of the variation, in 64ths of the acknowledged bytes.
const STEP_PER_MILLE: u64 = 40;
/// The smallest and the largest first step of a probe, in the same unit. Chosen like the others, on
/// the cells of seeds 1 to 6. On a constant link a step of a quarter makes a queue of a quarter of
/// an RTT. On a fading link a smaller step carries less.
const STEPS: (u64, u64) = (2, 16);

/// The backlog kept at the radio on purpose, so that it always has data although repetitions and
/// grants have their own rhythm, channels improve and estimates are some time old.
///
/// The length of all that need not be known: the modem reports when no backlog was left.
#[derive(Clone, Copy, Debug)]
pub(super) struct QueueTarget {
    /// Microseconds.
    span: u64,
    /// Mean and mean deviation of the capacity, bytes/s.
    usual: Option<(u64, u64)>,
}

impl QueueTarget {
    pub(super) const fn new() -> Self {
        Self { span: FIRST_US, usual: None }
    }

    /// For a link whose capacity is known, or was a moment ago.
    pub(super) fn handle_bound(&mut self, bound: Bound, elapsed: Duration) {
        let elapsed = micros(elapsed).map_or(0, |elapsed| elapsed.min(MAX_ELAPSED_US));
        let span = match bound {
            Bound::Capacity => self.span.saturating_sub(elapsed * LESS_PERMILLE / 1000),
            Bound::Floor => {
                let more = MORE_PERMILLE * 10 + MORE_PER_VARIATION * self.variation();
                self.span + elapsed * more / 10_000
            }
        };
        self.span = span.min(MAX_US);
    }

    /// All that the radio has, bytes/s.
    pub(super) fn handle_capacity(&mut self, rate: u64) {
        self.usual = Some(match self.usual {
            None => (rate, rate * UNKNOWN_PERMILLE / 1000),
            Some((mean, deviation)) => {
                let blend = |old: u64, new: u64| ((old << SHIFT) - old + new) >> SHIFT;
                (blend(mean, rate), blend(deviation, rate.abs_diff(mean)))
            }
        });
    }

    /// The radio's recent mean rate, bytes/s.
    pub(super) fn usual(&self) -> Option<u64> {
        self.usual.map(|(mean, _)| mean)
    }

    /// The device is in another cell, and nothing is known of that one.
    pub(super) fn forget(&mut self) {
        self.usual = None;
    }

    /// By how much the capacity varies, in thousandths of its mean.
    fn variation(&self) -> u64 {
        let known = self.usual.filter(|(mean, _)| *mean > 0);
        known.map_or(UNKNOWN_PERMILLE, |(mean, deviation)| (deviation * 1000 / mean).min(1000))
    }

    /// Microseconds.
    pub(super) fn span(&self) -> u64 {
        self.span.max((self.variation() * MIN_PER_VARIATION).min(MIN_US))
    }

    /// The first step of a probe on a link that was full a moment ago, in 64ths of the acknowledged
    /// bytes. Either the link now carries more, or the flow requested less.
    pub(super) fn first_step(&self) -> u64 {
        (self.variation() * STEP_PER_MILLE / 1000).clamp(STEPS.0, STEPS.1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const EVERY: Duration = Duration::from_millis(10);

    fn told(queue_target: &mut QueueTarget, rates: impl IntoIterator<Item = u64>) {
        for mbit in rates {
            queue_target.handle_capacity(mbit * 125_000);
        }
    }

    #[test]
    fn a_link_that_never_changes_is_probed_gently_and_one_that_fades_is_not() {
        let mut steady = QueueTarget::new();
        let mut fading = QueueTarget::new();
        told(&mut steady, [20; 300]);
        told(&mut fading, [10, 10, 10, 30, 30, 30].repeat(50));
        assert_eq!(steady.first_step(), STEPS.0);
        assert_eq!(fading.first_step(), STEPS.1);
    }

    #[test]
    fn room_is_found_by_whether_something_was_left_waiting() {
        let mut queue_target = QueueTarget::new();
        told(&mut queue_target, [20; 300]);
        for _ in 0..1000 {
            queue_target.handle_bound(Bound::Capacity, EVERY);
        }
        assert_eq!(queue_target.span(), 0);
        for _ in 0..10 {
            queue_target.handle_bound(Bound::Floor, EVERY);
        }
        assert!(queue_target.span() >= 1_000, "{queue_target:?}");
        for _ in 0..10_000 {
            queue_target.handle_bound(Bound::Floor, EVERY);
        }
        assert_eq!(queue_target.span(), MAX_US);
    }

    #[test]
    fn a_long_silence_says_no_more_than_a_short_one() {
        let mut queue_target = QueueTarget::new();
        let before = queue_target.span();
        queue_target.handle_bound(Bound::Floor, Duration::MAX);
        assert!(queue_target.span() - before <= MAX_ELAPSED_US, "{queue_target:?}");
    }
}
