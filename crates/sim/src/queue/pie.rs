//! PIE, Proportional Integral controller Enhanced (RFC 8033 §4 and Appendix A, basic PIE).
//!
//! The delay is measured by the time that packets waited (§4.3). While the head of the queue waits
//! longer than the last packet that left, its age counts: the RFC is silent about a link that
//! stands still, and without that an outage would be no delay.

use core::time::Duration;

use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use sounding_units::{Bytes, HostInstant};

use crate::opportunity::OPPORTUNITY;

/// The time between updates of the probability (RFC 8033 §4.2: 15 ms).
const UPDATE: Duration = Duration::from_millis(15);

/// Weights of the delay's distance to the reference, and of its change, per second (§4.2).
const ALPHA: f64 = 0.125;
const BETA: f64 = 1.25;

/// Auto-tuning (§4.2): below a probability, the factor by which its change is smaller.
const TUNING: [(f64, f64); 6] = [
    (0.000_001, 1.0 / 2048.0),
    (0.000_01, 1.0 / 512.0),
    (0.000_1, 1.0 / 128.0),
    (0.001, 1.0 / 32.0),
    (0.01, 1.0 / 8.0),
    (0.1, 1.0 / 2.0),
];

/// From this probability on, an update raises it by so much at most (§5.5).
const CAPPED_FROM: f64 = 0.1;
const CAP: f64 = 0.02;

/// A short delay leaves this of the probability at each update (§4.2).
const DECAY: f64 = 0.98;

/// Below this probability a short queue is spared (§4.1).
const SMALL: f64 = 0.2;

/// A queue of two packets is always allowed (§4.1).
const ALWAYS_ALLOWED: Bytes = Bytes::new(2 * OPPORTUNITY.count());

/// The state of PIE.
#[derive(Debug)]
pub(super) struct Pie {
    reference: Duration,
    max_burst: Duration,
    probability: f64,
    /// The delay at the last update.
    old_delay: Duration,
    /// The time that a burst has left.
    burst: Duration,
    /// The time that the last packet waited.
    waited: Duration,
    next_update: HostInstant,
    rng: ChaCha8Rng,
}

impl Pie {
    pub(super) fn new(reference: Duration, max_burst: Duration) -> Self {
        Self {
            reference,
            max_burst,
            probability: 0.0,
            old_delay: Duration::ZERO,
            burst: Duration::ZERO,
            waited: Duration::ZERO,
            next_update: HostInstant::default() + UPDATE,
            rng: ChaCha8Rng::seed_from_u64(0),
        }
    }

    pub(super) fn seed(&mut self, seed: u64) {
        self.rng = ChaCha8Rng::seed_from_u64(seed);
    }

    /// Whether a packet is dropped that arrives now, at a queue of so many bytes whose head came
    /// at `head` (Appendix A, enque).
    pub(super) fn drops(
        &mut self,
        now: HostInstant,
        head: Option<HostInstant>,
        queued: Bytes,
    ) -> bool {
        self.advance(now, head);
        let half = self.reference / 2;
        if self.probability == 0.0 && self.delay(now, head) < half && self.old_delay < half {
            self.burst = self.max_burst;
        }
        self.burst.is_zero() && self.drops_early(queued)
    }

    /// Appendix A, drop_early.
    fn drops_early(&mut self, queued: Bytes) -> bool {
        let is_short = self.old_delay < self.reference / 2 && self.probability < SMALL;
        if is_short || queued <= ALWAYS_ALLOWED {
            return false;
        }
        self.rng.random::<f64>() < self.probability
    }

    /// The packet that came at `head` leaves now.
    pub(super) fn handle_departure(&mut self, now: HostInstant, head: HostInstant) {
        self.advance(now, Some(head));
        self.waited = now.saturating_since(head);
    }

    fn delay(&self, at: HostInstant, head: Option<HostInstant>) -> Duration {
        head.map_or(Duration::ZERO, |head| self.waited.max(at.saturating_since(head)))
    }

    /// Makes all updates that were due: the queue has not changed since the last call.
    fn advance(&mut self, now: HostInstant, head: Option<HostInstant>) {
        while self.next_update <= now {
            if head.is_none() && self.old_delay.is_zero() && self.probability == 0.0 {
                self.rest(now);
                return;
            }
            self.update(self.delay(self.next_update, head));
            let next = self.next_update + UPDATE;
            // At the end of time there is no later moment.
            if next == self.next_update {
                return;
            }
            self.next_update = next;
        }
    }

    /// The same for an idle queue, whose updates change the allowance of bursts alone: a time
    /// without packets may be long.
    fn rest(&mut self, now: HostInstant) {
        let since = now.saturating_since(self.next_update).as_nanos();
        let updates =
            u64::try_from(since / UPDATE.as_nanos()).unwrap_or(u64::MAX).saturating_add(1);
        let nanos = updates.saturating_mul(UPDATE.as_nanos() as u64);
        let span = Duration::from_nanos(nanos);
        self.burst = self.burst.saturating_sub(span);
        self.next_update = self.next_update + span;
    }

    /// Appendix A, calculate_drop_prob.
    fn update(&mut self, delay: Duration) {
        let [delay_s, old_s, reference_s] =
            [delay, self.old_delay, self.reference].map(|time| time.as_secs_f64());
        let change = ALPHA * (delay_s - reference_s) + BETA * (delay_s - old_s);
        let tuning = TUNING.iter().find(|(below, _)| self.probability < *below);
        let change = change * tuning.map_or(1.0, |(_, factor)| *factor);
        let is_capped = self.probability >= CAPPED_FROM;
        self.probability += if is_capped { change.min(CAP) } else { change };
        let half = self.reference / 2;
        if delay < half && self.old_delay < half {
            self.probability *= DECAY;
        }
        self.probability = self.probability.clamp(0.0, 1.0);
        self.old_delay = delay;
        self.burst = self.burst.saturating_sub(UPDATE);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FULL: Bytes = Bytes::new(100_000);

    fn millis(millis: u64) -> HostInstant {
        HostInstant::from_nanos(millis * 1_000_000)
    }

    fn pie() -> Pie {
        Pie::new(Duration::from_millis(15), Duration::from_millis(150))
    }

    /// A packet arrives and one leaves each millisecond, and each has waited for `waited`. Returns
    /// the number of drops.
    fn drops(pie: &mut Pie, from: u64, to: u64, waited: u64) -> usize {
        let passes = |now: &u64| {
            let head = millis(now.saturating_sub(waited));
            pie.handle_departure(millis(*now), head);
            pie.drops(millis(*now), Some(head), FULL)
        };
        (from..to).filter(passes).count()
    }

    #[test]
    fn the_change_of_the_probability_follows_the_tuning_of_the_rfc() {
        // §4.2: p = alpha * (delay - reference) + beta * (delay - old delay), then the table.
        let change = 0.125 * (0.035 - 0.015) + 1.25 * (0.035 - 0.025);
        for (probability, divisor) in [
            (0.0, 2048.0),
            (0.000_000_9, 2048.0),
            (0.000_001, 512.0),
            (0.000_009, 512.0),
            (0.000_01, 128.0),
            (0.000_09, 128.0),
            (0.000_1, 32.0),
            (0.000_9, 32.0),
            (0.001, 8.0),
            (0.009, 8.0),
            (0.01, 2.0),
            (0.09, 2.0),
            (0.1, 1.0),
            (0.5, 1.0),
        ] {
            let mut pie = Pie { probability, old_delay: Duration::from_millis(25), ..pie() };
            pie.update(Duration::from_millis(35));
            let got = pie.probability - probability;
            let wanted = change / divisor;
            assert!((got - wanted).abs() < 1e-12, "{probability}: {got} and not {wanted}");
        }
    }

    #[test]
    fn the_probability_stays_between_zero_and_one() {
        let mut pie = Pie { probability: 0.99, ..pie() };
        pie.update(Duration::from_secs(100));
        assert_eq!(pie.probability, 1.0);
        let mut pie = Pie { probability: 0.001, old_delay: Duration::from_secs(100), ..pie };
        pie.update(Duration::ZERO);
        assert_eq!(pie.probability, 0.0);
    }

    #[test]
    fn a_short_delay_takes_the_probability_down_by_two_percent_an_update() {
        let after = |delay_us: u64| {
            let delay = Duration::from_micros(delay_us);
            let mut pie = Pie { probability: 0.5, old_delay: delay, ..pie() };
            pie.update(delay);
            pie.probability
        };
        assert!((after(0) - 0.98 * (0.5 - 0.125 * 0.015)).abs() < 1e-12);
        // Half of the reference is the limit.
        assert!((after(7_499) - 0.98 * (0.5 - 0.125 * 0.007_501)).abs() < 1e-12);
        assert!((after(7_500) - (0.5 - 0.125 * 0.007_5)).abs() < 1e-12);
    }

    #[test]
    fn a_high_probability_rises_by_two_percent_at_most() {
        let after = |probability: f64| {
            let mut pie = Pie { probability, ..pie() };
            pie.update(Duration::from_millis(100));
            pie.probability
        };
        assert!((after(0.1) - 0.12).abs() < 1e-12);
        let change = 0.125 * 0.085 + 1.25 * 0.1;
        assert!((after(0.099) - (0.099 + change / 2.0)).abs() < 1e-12);
    }

    #[test]
    fn a_burst_is_spared_for_its_allowance_and_no_longer() {
        let mut spared = pie();
        assert!(!spared.drops(HostInstant::default(), None, Bytes::ZERO));
        assert_eq!(spared.burst, Duration::from_millis(150));
        // The probability is raised at once, and still nothing is dropped for ten updates.
        spared.probability = 1.0;
        assert_eq!(drops(&mut spared, 1, 150, 100), 0);
        assert_eq!(spared.burst, Duration::from_millis(15));
        assert_eq!(drops(&mut spared, 150, 160, 100), 10);
        let mut never = Pie { probability: 1.0, ..Pie::new(pie().reference, Duration::ZERO) };
        assert!(drops(&mut never, 16, 30, 100) > 0);
    }

    #[test]
    fn the_allowance_comes_back_when_the_queue_is_short_and_nothing_is_dropped() {
        let mut pie = pie();
        drops(&mut pie, 0, 1_000, 100);
        assert_eq!(pie.burst, Duration::ZERO);
        drops(&mut pie, 1_000, 1_030, 7);
        assert_eq!(pie.burst, Duration::ZERO, "the probability is not zero yet");
        pie.probability = 0.0;
        drops(&mut pie, 1_030, 1_031, 7);
        assert_eq!(pie.burst, Duration::from_millis(150));
        // Half of the reference is the limit.
        let mut long = Pie { burst: Duration::ZERO, ..pie };
        long.probability = 0.0;
        long.old_delay = Duration::from_millis(8);
        drops(&mut long, 1_031, 1_032, 8);
        assert_eq!(long.burst, Duration::ZERO);
    }

    #[test]
    fn a_queue_of_two_packets_is_never_dropped_from() {
        let mut pie = Pie { probability: 1.0, ..pie() };
        pie.old_delay = Duration::from_secs(1);
        assert!(!pie.drops_early(Bytes::new(2 * 1504)));
        assert!(pie.drops_early(Bytes::new(2 * 1504 + 1)));
    }

    #[test]
    fn a_short_delay_is_spared_below_a_probability_of_a_fifth() {
        let (short, long) = (Duration::from_micros(7_499), Duration::from_micros(7_500));
        for (probability, old_delay, may_drop) in
            [(0.19, short, false), (0.2, short, true), (0.19, long, true)]
        {
            let mut pie = Pie { probability, old_delay, ..pie() };
            let any = (0..1_000).any(|_| pie.drops_early(FULL));
            assert_eq!(any, may_drop, "{probability} {old_delay:?}");
        }
    }

    #[test]
    fn drops_have_the_probability_as_their_share() {
        let mut pie = Pie { probability: 0.3, old_delay: Duration::from_secs(1), ..pie() };
        let count = (0..10_000).filter(|_| pie.drops_early(FULL)).count();
        assert!((2_850..3_150).contains(&count), "{count}");
    }

    #[test]
    fn a_head_that_stands_still_is_a_delay() {
        let mut pie = pie();
        for now in 0..2_000 {
            pie.drops(millis(now), Some(HostInstant::default()), FULL);
        }
        assert_eq!(pie.old_delay, Duration::from_millis(1_995));
        assert!(pie.probability > 0.5, "{}", pie.probability);
    }

    #[test]
    fn a_long_rest_is_the_same_as_its_updates() {
        let mut at_once = pie();
        at_once.burst = Duration::from_secs(3);
        let mut by_step = pie();
        by_step.burst = Duration::from_secs(3);
        at_once.advance(millis(1_234), None);
        (0..=1_234).for_each(|now| by_step.advance(millis(now), None));
        assert_eq!((at_once.burst, at_once.next_update), (by_step.burst, by_step.next_update));
        assert_eq!(at_once.next_update, millis(1_245));
        // A rest of centuries costs no more.
        at_once.advance(HostInstant::from_nanos(u64::MAX), None);
        assert_eq!(at_once.burst, Duration::ZERO);
    }
}
