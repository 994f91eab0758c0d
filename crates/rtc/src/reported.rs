use std::collections::VecDeque;
use std::time::Duration;

use sounding_estimate::{DelayKind, RanDelay};
use sounding_units::HostInstant;

use crate::{Corrected, Corrections, Way};

/// A modem that has reported nothing for this long is silent.
const SILENT: Duration = Duration::from_millis(100);
/// The radio's own delays of a packet are less than this together: four transmissions of a block in 32 ms, and a wait of two intervals of
/// reports, each of 20 ms at most. A packet that is later waits in a queue, and its report does not wait for the modem's.
const OBVIOUS: Duration = Duration::from_millis(80);
/// The smallest delay is that of so long.
const LEAST_OF: Duration = Duration::from_secs(10);
/// Waits of each kind that are kept: those of half a second at one a millisecond.
const KEPT: usize = 512;
/// The times of a block in the records of two layers, which are dated one by one.
const SAME_BLOCK: Duration = Duration::from_micros(300);

/// A wait that the radio made without a queue. Data that came to its point at `from` went on at `to`, and `amount` of that
/// is the radio's own. Later data went on at the same `to`, and waited less.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wait {
    /// What made it.
    pub kind: WaitKind,
    /// Its begin, on the clock of the device's host.
    pub from: HostInstant,
    /// Its end.
    pub to: HostInstant,
    /// The radio's own part.
    pub amount: Duration,
}

/// What made a wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum WaitKind {
    /// Data waited for a report to be written and granted (Gandalf §3.2).
    Scheduling,
    /// A block was sent again, and all behind it waited (Gandalf §3.1).
    Harq,
}

impl From<RanDelay> for Wait {
    fn from(event: RanDelay) -> Self {
        let kind = match event.kind {
            DelayKind::Scheduling => WaitKind::Scheduling,
            // RLC's repeats hold data in the same way.
            DelayKind::Harq | DelayKind::Rlc => WaitKind::Harq,
        };
        Self { kind, from: event.from, to: event.to, amount: event.amount }
    }
}

impl Wait {
    /// The wait of data that came to its point at `at`; `None` outside of it.
    fn of(&self, at: HostInstant) -> Option<Duration> {
        (self.from <= at && at <= self.to).then(|| self.amount.saturating_sub(at - self.from))
    }
}

/// Corrections of an uplink from the waits that the device's modem reported.
///
/// Without a report for 100 ms the modem is silent, and nothing is corrected.
#[derive(Clone, Debug, Default)]
pub struct Reported {
    scheduling: VecDeque<Wait>,
    harq: VecDeque<Wait>,
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
    /// A wait, in any order. One of the same kind and begin replaces an earlier one. Of more than 512 of a kind the earliest is
    /// forgotten.
    pub fn handle_wait(&mut self, wait: Wait) {
        let waits = match wait.kind {
            WaitKind::Scheduling => &mut self.scheduling,
            WaitKind::Harq => &mut self.harq,
        };
        let place = waits.partition_point(|known| known.from < wait.from);
        if let Some(known) = waits.get_mut(place).filter(|known| known.from == wait.from) {
            *known = wait;
        } else if waits.len() < KEPT {
            waits.insert(place, wait);
        } else if let Some(place) = place.checked_sub(1) {
            // The earliest makes room; one that is earlier still is not kept.
            waits.pop_front();
            waits.insert(place, wait);
        }
    }

    /// A report of the modem came at `now`. All waits that began before `until` are known, if anything is.
    pub fn handle_report(&mut self, now: HostInstant, until: Option<HostInstant>) {
        self.heard_at = Some(now);
        self.until = until.max(self.until);
    }

    /// Whether the modem reports.
    pub fn is_heard(&self, now: HostInstant) -> bool {
        self.heard_at.is_some_and(|at| now - at <= SILENT)
    }

    /// What the radio added to the delay of data that entered the modem at `entered`.
    fn added(&self, entered: HostInstant) -> Duration {
        let after = self.scheduling.partition_point(|wait| wait.from <= entered);
        let last = after.checked_sub(1).map(|last| self.scheduling[last]);
        let waited = last.and_then(|wait| wait.of(entered));
        // Without a wait the data was sent at once.
        let left = waited.and(last).map_or(entered, |wait| wait.to);
        let held =
            self.harq.iter().filter(|wait| wait.from <= left + SAME_BLOCK && left <= wait.to);
        let held = held.map(|wait| wait.amount.saturating_sub(left - wait.from)).max();
        waited.unwrap_or_default() + held.unwrap_or_default()
    }
}

impl Corrections for Reported {
    fn corrected(&mut self, now: HostInstant, way: &Way) -> Corrected {
        let Some(sent) = way.sent.filter(|_| self.is_heard(now)) else {
            return Corrected::Unknown;
        };
        let above = self.least.above(sent, way.arrived);
        if self.until.is_none_or(|until| until < sent + SAME_BLOCK) {
            return if above > OBVIOUS { Corrected::Unknown } else { Corrected::NotYet };
        }
        // Less than the whole delay, where the clocks are comparable; a wrong event cannot move an arrival before its sending.
        let at = way.arrived.saturating_before(self.added(sent));
        Corrected::At(if way.arrived >= sent { at.max(sent) } else { at })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> HostInstant {
        HostInstant::from_nanos(ms * 1_000_000)
    }

    fn wait(kind: WaitKind, from: u64, to: u64) -> Wait {
        Wait { kind, from: at(from), to: at(to), amount: Duration::from_millis(to - from) }
    }

    fn way(sent: u64, arrived: u64) -> Way {
        Way { sent: Some(at(sent)), arrived: at(arrived) }
    }

    #[test]
    fn a_packet_is_corrected_by_its_own_wait_and_by_the_repetition_of_its_block() {
        let mut reported = Reported::default();
        reported.handle_wait(wait(WaitKind::Scheduling, 100, 109));
        reported.handle_report(at(200), Some(at(120)));
        assert_eq!(reported.corrected(at(200), &way(100, 130)), Corrected::At(at(121)));
        // It came later into the same wait.
        assert_eq!(reported.corrected(at(200), &way(106, 130)), Corrected::At(at(127)));
        // Its block was sent again 8 ms later.
        reported.handle_wait(wait(WaitKind::Harq, 109, 117));
        assert_eq!(reported.corrected(at(200), &way(106, 138)), Corrected::At(at(127)));
        // Behind both.
        assert_eq!(reported.corrected(at(200), &way(118, 140)), Corrected::At(at(140)));
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
    fn no_arrival_moves_before_its_sending_and_no_number_of_waits_takes_more_memory() {
        let mut reported = Reported::default();
        for from in (0..10_000).rev().chain(0..10_000) {
            reported.handle_wait(wait(WaitKind::Harq, from, from + 5_000));
        }
        assert_eq!(reported.harq.len(), KEPT);
        assert!(
            reported.harq.iter().zip(reported.harq.iter().skip(1)).all(|(a, b)| a.from < b.from)
        );
        reported.handle_report(at(20_000), Some(at(20_000)));
        let corrected = reported.corrected(at(20_000), &way(9_990, 10_000));
        assert_eq!(corrected, Corrected::At(at(9_990)));
    }
}
