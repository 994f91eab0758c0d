use std::time::Duration;

use sounding_units::HostInstant;

use crate::Lateness;

/// How well a network's time kept up with the clock.
///
/// A step is the work of a network at one time: a slot of a modelled cell, or a packet that leaves
/// a link. All steps are computed in order, however late. So a network that fell behind gives the
/// same packets, only later.
#[derive(Clone, Debug)]
pub struct ClockLag {
    /// How late each step was done.
    pub steps: Lateness,
    /// Times that the network fell behind the clock by [`BEHIND`] or more.
    pub times_behind: u64,
    /// Total time behind. Packets of that time left in bursts that the model did not make.
    pub behind_for: Duration,
}

/// A network that is later than this has fallen behind. It has caught up when a step is late by
/// less than a tenth of this. Chosen: ten subframes of LTE, which to a congestion controller look
/// like a handover or a retransmission.
pub const BEHIND: Duration = Duration::from_millis(10);

/// Watches the pace.
///
/// ```text
/// Keeping up ──a step ≥ BEHIND late──▶ Behind
///     ▲────a step < BEHIND/10 late───────┘
/// ```
#[derive(Debug)]
pub(crate) struct ClockWatch {
    steps: Lateness,
    times_behind: u64,
    behind_for: Duration,
    /// Due time of the step since which it is behind.
    behind_since: Option<HostInstant>,
    lag: Duration,
}

impl ClockWatch {
    pub(crate) fn new() -> Self {
        Self {
            steps: Lateness::default(),
            times_behind: 0,
            behind_for: Duration::ZERO,
            behind_since: None,
            lag: Duration::ZERO,
        }
    }

    /// A step that was due at `due` is done.
    pub(crate) fn handle_step(&mut self, due: HostInstant, now: HostInstant) {
        self.lag = now - due;
        self.steps.record(self.lag);
        match self.behind_since {
            None if self.lag >= BEHIND => {
                self.times_behind += 1;
                self.behind_since = Some(due);
            }
            Some(since) if self.lag < BEHIND / 10 => {
                self.behind_for += now - since;
                self.behind_since = None;
            }
            _ => {}
        }
    }

    /// How late the last step was.
    pub(crate) fn lag(&self) -> Duration {
        self.lag
    }

    pub(crate) fn times_behind(&self) -> u64 {
        self.times_behind
    }

    pub(crate) fn into_pace(self, ended: HostInstant) -> ClockLag {
        let still = self.behind_since.map_or(Duration::ZERO, |since| ended - since);
        let Self { steps, times_behind, behind_for, .. } = self;
        ClockLag { steps, times_behind, behind_for: behind_for + still }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: u64) -> HostInstant {
        HostInstant::from_nanos(millis * 1_000_000)
    }

    #[test]
    fn a_network_that_falls_behind_and_catches_up_was_behind_once() {
        let mut pacer = ClockWatch::new();
        // (due, done): on time, then ever later, then catching up.
        for (due, done) in [(1, 1), (2, 9), (3, 20), (4, 21), (5, 22), (23, 23), (24, 24)] {
            pacer.handle_step(at(due), at(done));
        }
        let pace = pacer.into_pace(at(30));
        assert_eq!((pace.times_behind, pace.behind_for), (1, Duration::from_millis(20)));
        assert_eq!(pace.steps.count(), 7);
    }

    #[test]
    fn a_network_that_never_catches_up_is_behind_to_the_end() {
        let mut pacer = ClockWatch::new();
        for step in 1..100 {
            pacer.handle_step(at(step), at(10 * step));
        }
        let pace = pacer.into_pace(at(1000));
        // The second step is done 18 ms late.
        assert_eq!((pace.times_behind, pace.behind_for), (1, Duration::from_millis(998)));
    }
}
