use core::time::Duration;

use sounding_cc::part::Windowed;
use sounding_units::HostInstant;

use super::nanos;

/// A queue below this part of the last rounds' largest is nearly empty.
const NEARLY_EMPTY: f64 = 0.1;
/// And one of fewer of the flow's own segments than this; chosen, pinned by the properties of
/// `copa`. Behind a pair that left at once, as pacing and delayed acknowledgements have it, no RTT
/// shows less than one. In front of a queue that others keep, the default mode settles at a rate at
/// which it is 1 ÷ δ = 2 of them: from there on none would be theirs.
const FEW_SEGMENTS: f64 = 1.5;
/// Rounds within which a queue of Copa's alone is nearly empty once.
const EMPTY_ROUNDS: u32 = 5;
/// Rounds over which the largest RTT is taken.
const MAX_ROUNDS: u32 = 4;
/// δ no smaller than 0.001: no window is so large; it bounds what follows from absurd samples.
const MAX_INVERSE_DELTA: f64 = 1000.0;

/// Whether another flow fills the buffer, and how hard to push then.
///
/// Copa's own queue drains every five rounds. One that does not is kept by another, and 1 ÷ δ then
/// grows by one a round and halves upon loss: what Reno's window would do.
#[derive(Clone, Copy, Debug)]
pub(super) struct Competition {
    most: Option<Windowed<Duration>>,
    empty_at: Option<HostInstant>,
    /// While the queue drains.
    usual: f64,
    inverse_delta: f64,
    /// The flow reacted to a loss in this round, so nothing is added.
    lost: bool,
}

impl Competition {
    /// With this 1 ÷ δ while no other flow fills the buffer.
    pub(super) fn new(usual: f64) -> Self {
        Self { most: None, empty_at: None, usual, inverse_delta: usual, lost: false }
    }

    /// An RTT, the RTT without and with the standing queue, and the time of a segment at the flow's
    /// rate, in seconds.
    pub(super) fn handle_sample(
        &mut self,
        now: HostInstant,
        rtt: Duration,
        least: Duration,
        queueing: Duration,
        smoothed: Duration,
        segment: f64,
    ) {
        let at = now.as_nanos();
        let window = nanos(smoothed * MAX_ROUNDS);
        let most = self.most.get_or_insert_with(|| Windowed::max(window, at, rtt));
        most.set_window(window);
        most.update(at, rtt);
        let swing = most.best().saturating_sub(least);
        let few = FEW_SEGMENTS * segment;
        if queueing.as_secs_f64() <= (NEARLY_EMPTY * swing.as_secs_f64()).max(few) {
            self.empty_at = Some(now);
        }
    }

    /// A round began; 1 ÷ δ from here on.
    pub(super) fn handle_round(&mut self, now: HostInstant, smoothed: Duration) -> f64 {
        let empty_at = *self.empty_at.get_or_insert(now);
        if now - empty_at <= smoothed * EMPTY_ROUNDS {
            self.inverse_delta = self.usual;
        } else if !self.lost {
            self.inverse_delta = (self.inverse_delta + 1.0).min(MAX_INVERSE_DELTA);
        }
        self.lost = false;
        self.inverse_delta
    }

    /// Something was lost; 1 ÷ δ from here on.
    pub(super) fn handle_loss(&mut self) -> f64 {
        self.lost = true;
        self.inverse_delta = (self.inverse_delta / 2.0).max(self.usual);
        self.inverse_delta
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RTT: Duration = Duration::from_millis(40);

    fn rounds(competition: &mut Competition, from: u32, count: u32, queueing: Duration) -> f64 {
        let mut inverse_delta = 0.0;
        for round in from..from + count {
            let now = HostInstant::default() + RTT * round;
            let rtt = RTT + Duration::from_millis(20);
            competition.handle_sample(now, rtt, RTT, queueing, RTT, 0.001);
            inverse_delta = competition.handle_round(now, RTT);
        }
        inverse_delta
    }

    #[test]
    fn a_queue_that_never_drains_is_somebody_elses() {
        let mut competition = Competition::new(2.0);
        let standing = Duration::from_millis(10);
        assert!((rounds(&mut competition, 0, 6, standing) - 2.0).abs() < 1e-9);
        assert!((rounds(&mut competition, 6, 4, standing) - 6.0).abs() < 1e-9);
        assert!((competition.handle_loss() - 3.0).abs() < 1e-9);
        assert!((rounds(&mut competition, 10, 1, Duration::from_millis(1)) - 2.0).abs() < 1e-9);
    }
}
