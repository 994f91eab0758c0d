use core::time::Duration;

use sounding_cc::part::QueueingDelay;
use sounding_units::HostInstant;

use super::VIRTUAL_RTT;

/// Weight of a sample above the average; one below replaces it (draft §4.2.1.4, QDELAY_AVG_G).
const AVERAGE_WEIGHT: f64 = 1.0 / 4.0;
/// How fast the greatest and the least delay fall and rise to each other (draft §4.2.1.4,
/// QDELAY_MIN_MAX_AVG_G).
const RANGE_WEIGHT: f64 = 1.0 / 16.0;
/// Weight of a new distance of the two (draft §4.2.1.4, QDELAY_DEV_AVG_G).
const DISTANCE_WEIGHT: f64 = 1.0 / 32.0;
/// The distance at which the window may grow least, in seconds (draft §4.2.1.4,
/// QDELAY_DEV_THRESHOLD).
const MOST_DISTANCE: f64 = 0.01;
/// Weight of the least delay of a round (draft §4.5.1, QDELAY_MIN_AVG_ALPHA).
const LEAST_WEIGHT: f64 = 1.0 / 256.0;
/// The average of least delays at which the base delay is no longer believed, as a part of the
/// target (draft §4.5.1).
const STALE: f64 = 1.0 / 4.0;

/// The delay in the queue. Values are in seconds.
#[derive(Clone, Copy, Debug)]
pub(super) struct QueueDelay {
    target: f64,
    base: QueueingDelay,
    average: f64,
    averaged_at: HostInstant,
    range: Option<Range>,
    least: Least,
}

/// How far the delay varies: SCReAM's REDUCE_JITTER (draft §4.2.1.4).
#[derive(Clone, Copy, Debug)]
struct Range {
    most: f64,
    least: f64,
    distance: f64,
}

/// The least delay of rounds: a queue that never empties, or clocks that drift (draft §4.5.1).
#[derive(Clone, Copy, Debug)]
struct Least {
    since: HostInstant,
    in_round: f64,
    average: f64,
}

impl QueueDelay {
    pub(super) fn new(now: HostInstant, target: Duration, follows_range: bool) -> Self {
        let target = target.as_secs_f64();
        Self {
            target,
            base: QueueingDelay::new(now),
            average: 0.0,
            averaged_at: now,
            range: follows_range.then_some(Range { most: target, least: 0.0, distance: 0.0 }),
            least: Least { since: now, in_round: f64::INFINITY, average: 0.0 },
        }
    }

    /// A packet's delay. Returns whether the base delay was found to be wrong: the delays from here
    /// on have a new one.
    pub(super) fn handle_sample(
        &mut self,
        now: HostInstant,
        delay: Duration,
        round: Duration,
    ) -> bool {
        let queue = self.base.handle_sample(now, delay).as_secs_f64();
        if let Some(range) = &mut self.range {
            range.handle_sample(queue, self.target);
        }
        if now - self.averaged_at >= VIRTUAL_RTT.min(round) {
            self.averaged_at = now;
            let weight = if queue < self.average { 1.0 } else { AVERAGE_WEIGHT };
            self.average += weight * (queue - self.average);
            if let Some(range) = &mut self.range {
                range.advance();
            }
        }
        self.least.handle_sample(now, queue, round);
        let is_stale = self.least.average > STALE * self.target;
        if is_stale {
            self.forget(now);
        }
        is_stale
    }

    /// The path may be another: delays are measured from the next on.
    pub(super) fn forget(&mut self, now: HostInstant) {
        self.base = QueueingDelay::new(now);
        self.average = 0.0;
        self.least = Least { since: now, in_round: f64::INFINITY, average: 0.0 };
    }

    /// How far the average is on the way from half of the target to the target: 0 to 1, and 0 below
    /// (draft §4.2.1.4).
    pub(super) fn excess(&self) -> f64 {
        let half = self.target / 2.0;
        ((self.average - half) / half).clamp(0.0, 1.0)
    }

    /// From 1, where delays are steady, to 0, where they vary by 10 ms or more (draft §4.2.1.4,
    /// `ref_wnd_delay_scale`).
    pub(super) fn steadiness(&self) -> f64 {
        self.range.map_or(1.0, |range| (1.0 - range.distance / MOST_DISTANCE).clamp(0.0, 1.0))
    }
}

impl Range {
    fn handle_sample(&mut self, queue: f64, target: f64) {
        self.most = self.most.max(queue).min(target);
        self.least = self.least.min(queue);
    }

    fn advance(&mut self) {
        self.most *= 1.0 - RANGE_WEIGHT;
        self.least += RANGE_WEIGHT * (self.most - self.least);
        self.distance += DISTANCE_WEIGHT * (self.most - self.least - self.distance);
    }
}

impl Least {
    fn handle_sample(&mut self, now: HostInstant, queue: f64, round: Duration) {
        self.in_round = self.in_round.min(queue);
        if now - self.since >= round {
            self.average += LEAST_WEIGHT * (self.in_round - self.average);
            (self.since, self.in_round) = (now, f64::INFINITY);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROUND: Duration = Duration::from_millis(50);

    fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    /// One-way delays every 25 ms, and how often the base delay was wrong.
    fn after(delays: impl IntoIterator<Item = u64>, follows_range: bool) -> (QueueDelay, usize) {
        let mut now = HostInstant::default();
        let mut delay = QueueDelay::new(now, ms(60), follows_range);
        let mut stale = 0;
        for queue in delays {
            now = now + VIRTUAL_RTT;
            // Four samples: the least of four counts.
            for _ in 0..4 {
                stale += usize::from(delay.handle_sample(now, ms(1000 + queue), ROUND));
            }
        }
        (delay, stale)
    }

    #[test]
    fn a_queue_of_half_the_target_is_none_and_one_of_the_target_is_as_much_as_can_be() {
        let held = |queue| after([&[0][..], &[queue; 60]].concat(), false).0.excess();
        assert!(held(29) == 0.0 && held(30) < 1e-6);
        assert!((held(45) - 0.5).abs() < 1e-3, "{}", held(45));
        assert!(held(60) > 0.99 && held(100) == 1.0);
    }

    #[test]
    fn the_average_rises_by_a_quarter_and_falls_at_once() {
        // A step counts once, and before the last four samples are its own.
        let average = |delays: &[u64]| after(delays.iter().copied(), false).0.average;
        assert!((average(&[0, 40, 40]) - 0.01).abs() < 1e-6);
        assert!((average(&[0, 40, 40, 40]) - 0.0175).abs() < 1e-6);
        let (delay, _) = after([0, 40, 40, 40, 40, 0, 0], false);
        assert!(delay.average == 0.0);
    }

    #[test]
    fn a_queue_that_never_empties_becomes_the_base_in_seconds() {
        assert_eq!(after([&[0][..], &[14; 4000]].concat(), false).1, 0);
        let (delay, stale) = after([&[0][..], &[35; 400]].concat(), false);
        assert_eq!(stale, 1);
        assert!(delay.average < 0.001, "{}", delay.average);
    }

    #[test]
    fn only_delays_that_vary_make_the_window_slow() {
        let steady = [20; 400];
        let varying: std::vec::Vec<u64> = (0..400).map(|step| step % 2 * 30).collect();
        assert!(after(steady, true).0.steadiness() > 0.9);
        assert!(after(varying.clone(), true).0.steadiness() < 0.1);
        assert!(after(varying, false).0.steadiness() == 1.0);
    }
}
