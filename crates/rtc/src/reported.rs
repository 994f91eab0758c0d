use std::time::Duration;

use sounding_estimate::delay::{OBVIOUS, SAME_BLOCK, SILENT};
use sounding_estimate::{DelayUpdate, RanDelay, Timeline};
use sounding_units::HostInstant;

use crate::{Corrected, Corrections, Way};

/// The smallest delay is that of so long.
const LEAST_OF: Duration = Duration::from_secs(10);

/// Corrections of an uplink from the delays that the device's modem reported.
///
/// Without a report for 100 ms the modem is silent, and nothing is corrected.
#[derive(Clone, Debug, Default)]
pub struct Reported {
    timeline: Timeline,
    heard_at: Option<HostInstant>,
    until: Option<HostInstant>,
    least: Least,
}

/// The smallest delay of a while. The clocks may differ by anything.
#[derive(Clone, Copy, Debug, Default)]
struct Least {
    /// The smallest of this span of time and of the one before, ns, and when this one began.
    spans: Option<([i128; 2], HostInstant)>,
}

impl Least {
    /// By how much the delay of a packet is above the smallest one.
    fn above(&mut self, sent: HostInstant, arrived: HostInstant) -> Duration {
        let delay = i128::from(arrived.as_nanos()) - i128::from(sent.as_nanos());
        let ([now, before], began) = self.spans.get_or_insert(([delay; 2], arrived));
        if arrived - *began > LEAST_OF {
            (*before, *now, *began) = (*now, delay, arrived);
        }
        *now = delay.min(*now);
        let above = delay - (*now).min(*before);
        Duration::from_nanos(u64::try_from(above).unwrap_or(u64::MAX))
    }
}

impl Reported {
    /// An event of the modem, in any order. Those of the downlink are ignored.
    pub fn handle_event(&mut self, event: RanDelay) {
        self.timeline.handle_event(event);
    }

    /// News of the modem came.
    pub fn handle_update(&mut self, update: &DelayUpdate) {
        update.events.iter().for_each(|event| self.handle_event(*event));
        self.handle_report(update.heard_at, update.up_until);
    }

    /// A report of the modem came at `now`. All waits that began before `until` are known, if
    /// anything is.
    pub fn handle_report(&mut self, now: HostInstant, until: Option<HostInstant>) {
        self.heard_at = Some(now);
        self.until = until.max(self.until);
    }

    /// Whether the modem reports.
    pub fn is_heard(&self, now: HostInstant) -> bool {
        self.heard_at.is_some_and(|at| now - at <= SILENT)
    }
}

impl Corrections for Reported {
    fn corrected(&mut self, now: HostInstant, way: &Way) -> Corrected {
        let Some(sent) = way.sent.filter(|_| self.is_heard(now)) else {
            return Corrected::Unknown;
        };
        let above = self.least.above(sent, way.arrived);
        if self.until.is_none_or(|until| until < sent + SAME_BLOCK) {
            // A later packet waits in a queue, and its report does not wait for the modem's.
            return if above > OBVIOUS { Corrected::Unknown } else { Corrected::NotYet };
        }
        // Less than the whole delay, where the clocks are comparable; a wrong event cannot move an
        // arrival before its sending.
        let at = way.arrived.saturating_before(self.timeline.up(sent));
        Corrected::At(if way.arrived >= sent { at.max(sent) } else { at })
    }
}

#[cfg(test)]
mod tests {
    use sounding_estimate::{DelayKind, Direction};

    use super::*;

    fn at(ms: u64) -> HostInstant {
        HostInstant::from_nanos(ms * 1_000_000)
    }

    fn wait(kind: DelayKind, from: u64, to: u64) -> RanDelay {
        RanDelay::new(Direction::Uplink, kind, at(from), at(to))
    }

    fn way(sent: u64, arrived: u64) -> Way {
        Way { sent: Some(at(sent)), arrived: at(arrived) }
    }

    #[test]
    fn a_packet_is_corrected_by_its_own_wait_and_by_the_repetition_of_its_block() {
        let mut reported = Reported::default();
        reported.handle_event(wait(DelayKind::Scheduling, 100, 109));
        reported.handle_report(at(200), Some(at(120)));
        assert_eq!(reported.corrected(at(200), &way(100, 130)), Corrected::At(at(121)));
        // It came later into the same wait.
        assert_eq!(reported.corrected(at(200), &way(106, 130)), Corrected::At(at(127)));
        // Its block was sent again 8 ms later.
        reported.handle_event(wait(DelayKind::Harq, 109, 117));
        assert_eq!(reported.corrected(at(200), &way(106, 138)), Corrected::At(at(127)));
        // Behind both.
        assert_eq!(reported.corrected(at(200), &way(118, 140)), Corrected::At(at(140)));
    }

    #[test]
    fn a_repeat_of_rlc_corrects_a_call_as_one_of_harq_does() {
        let mut reported = Reported::default();
        reported.handle_event(wait(DelayKind::Rlc, 100, 150));
        reported.handle_report(at(200), Some(at(170)));
        assert_eq!(reported.corrected(at(200), &way(110, 180)), Corrected::At(at(140)));
    }

    #[test]
    fn what_is_not_reported_yet_waits_and_a_silent_modem_corrects_nothing() {
        let mut reported = Reported::default();
        assert_eq!(reported.corrected(at(130), &way(100, 130)), Corrected::Unknown);
        reported.handle_report(at(130), Some(at(90)));
        assert_eq!(reported.corrected(at(130), &way(100, 130)), Corrected::NotYet);
        reported.handle_report(at(140), None);
        assert_eq!(reported.corrected(at(140), &way(100, 130)), Corrected::NotYet);
        reported.handle_report(at(150), Some(at(110)));
        assert_eq!(reported.corrected(at(250), &way(100, 130)), Corrected::At(at(130)));
        assert_eq!(reported.corrected(at(251), &way(100, 130)), Corrected::Unknown);
    }

    #[test]
    fn what_is_later_than_the_radio_makes_it_does_not_wait_for_the_modem() {
        let mut reported = Reported::default();
        reported.handle_report(at(100), Some(at(50)));
        assert_eq!(reported.corrected(at(100), &way(80, 100)), Corrected::NotYet);
        assert_eq!(reported.corrected(at(170), &way(70, 170)), Corrected::NotYet);
        assert_eq!(reported.corrected(at(190), &way(80, 190)), Corrected::Unknown);
        // The smallest delay is forgotten after ten to twenty seconds.
        for second in 1..=30 {
            let now = second * 1_000;
            reported.handle_report(at(now), Some(at(now - 150)));
            reported.corrected(at(now), &way(now - 130, now));
        }
        assert_eq!(reported.corrected(at(30_000), &way(29_860, 30_000)), Corrected::NotYet);
    }

    #[test]
    fn no_arrival_moves_before_its_sending() {
        let mut reported = Reported::default();
        reported.handle_event(wait(DelayKind::Harq, 9_980, 14_980));
        reported.handle_report(at(20_000), Some(at(20_000)));
        let corrected = reported.corrected(at(20_000), &way(9_990, 10_000));
        assert_eq!(corrected, Corrected::At(at(9_990)));
    }
}
