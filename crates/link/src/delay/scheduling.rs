use alloc::collections::VecDeque;
use alloc::vec::Vec;
use core::time::Duration;

use sounding_kpi::Grant;
use sounding_units::{Bytes, ModemInstant};

use super::Event;
use super::handed::Handed;
use crate::entries::Entries;
use crate::report_timer::{ReportTimer, quantile};

/// Reports and blocks that are kept, and events that wait.
const KEPT: usize = 256;
/// Answers from which the usual one is taken, and the fewest.
const ANSWERS: usize = 64;
const FEWEST: usize = 8;
/// The interval of reports before it is known: what networks have (Gandalf §4.3.2).
const NOMINAL_INTERVAL: Duration = Duration::from_millis(5);
/// Where reports are rarer than this, the wait for them is longer than congestion takes to build
/// up, and it is left alone.
const LONGEST_INTERVAL: Duration = Duration::from_millis(20);
/// A packet that waits longer than this entered an empty buffer long after the one before it.
const PAUSE: Duration = Duration::from_millis(100);
/// The most that a request of an empty buffer may take (sr-Periodicity, its answer and that of the
/// report).
const REQUEST: Duration = Duration::from_millis(40);
/// Fewer bytes of padding are no sign of an empty buffer: no header of a further unit fits.
const NO_ROOM: u64 = 2;

/// How long uplink data waits until it is reported and granted, block by block (Gandalf §3.2).
///
/// A byte waits for as long as the two curves of [`Entries`] are apart at its height. Where the
/// host tells of its packets, these are in the place of the curve of entries.
///
/// The wait that no queue makes ends when the first report after the byte's arrival is answered.
/// The answer takes what it usually takes, and at most two intervals between reports (Equation 4).
/// Data that waits longer waits behind other data. By the same excess the part before is not the
/// scheduler's either, because grants came all the time. Usual answers are interpretation 17, and
/// the host's packets interpretation 16 of docs/interpretations/gandalf.md.
#[derive(Clone, Debug, Default)]
pub(super) struct Scheduling {
    newest: Option<ModemInstant>,
    entries: Entries,
    /// When reports were sent.
    reports: VecDeque<ModemInstant>,
    timer: ReportTimer,
    /// Reports without an answer: when, and the bytes that will then have left.
    open: VecDeque<(ModemInstant, u64)>,
    answers: VecDeque<Duration>,
    ready: VecDeque<Event>,
    handed: Handed,
}

fn push<T>(into: &mut VecDeque<T>, most: usize, value: T) {
    if into.len() == most {
        into.pop_front();
    }
    into.push_back(value);
}

impl Scheduling {
    /// The newest block that was reported.
    pub(super) fn newest(&self) -> Option<ModemInstant> {
        self.newest
    }

    /// The next event.
    pub(super) fn poll(&mut self) -> Option<Event> {
        self.ready.pop_front()
    }

    /// The host handed a packet to the modem.
    pub(super) fn handle_entered(&mut self, at: ModemInstant, size: Bytes) {
        self.handed.handle_entered(at, size);
    }

    /// An uplink block as MAC filled it; other records are ignored.
    pub(super) fn handle_block(&mut self, grant: &Grant) {
        let Some(padding) = grant.padding else { return };
        // Several carriers' blocks of one time come one after the other. A block that comes far too
        // late has been accounted for.
        let at = self.newest.map_or(grant.at, |newest| newest.max(grant.at));
        let first = self.newest.is_none();
        self.newest = Some(at);
        let before = self.entries.left();
        self.entries.handle_sent(grant.size.count().saturating_sub(padding.count()));
        let left = self.entries.left();
        let waiting = match grant.report {
            Some(report) => Some((report.least.count(), report.most.count())),
            None => (padding.count() > NO_ROOM).then_some((0, 0)),
        };
        self.answer(at);
        let completed = self.handed.handle_block(at, left - before, waiting);
        if !first && self.handed.is_told(at) {
            if let Some(completed) = completed {
                self.explain(at, completed.from, completed.until.map_or(at, |until| until.min(at)));
            }
        } else if !first && left > before {
            // When the last of them entered: what came later waits for the next block.
            let until = self.entries.entry(left, at).unwrap_or(at).min(at);
            if let Some(from) = self.entries.entry(before, at) {
                self.explain(at, from, until);
            }
        }
        if let Some(report) = grant.report {
            self.timer.handle_report(at, report);
        }
        if let Some((least, most)) = waiting {
            self.learn(at, least, most, grant.report.is_some());
        }
    }

    /// Reports that blocks up to now answer.
    fn answer(&mut self, at: ModemInstant) {
        while let Some(&(since, until)) = self.open.front()
            && until <= self.entries.left()
        {
            self.open.pop_front();
            push(&mut self.answers, ANSWERS, at - since);
        }
    }

    /// A block left so much behind.
    fn learn(&mut self, at: ModemInstant, least: u64, most: u64, is_report: bool) {
        if most == 0 {
            // The reading of earlier reports was too high.
            self.open.clear();
        } else if least > 0 && is_report {
            push(&mut self.open, KEPT, (at, self.entries.left() + least));
        }
        self.entries.handle_left(at, least, most, least.midpoint(most));
        if is_report {
            push(&mut self.reports, KEPT, at);
        }
    }

    /// Between two periodic reports; `None` before enough of them came.
    pub(super) fn report_interval(&self) -> Option<Duration> {
        self.timer.sure_value()
    }

    /// The usual time from a report to its answer; `None` where reports are rare.
    fn usual(&self) -> Option<Duration> {
        let interval = self.timer.interval().unwrap_or(NOMINAL_INTERVAL);
        let answer = quantile(self.answers.iter().copied(), (19, 20))
            .filter(|_| self.answers.len() >= FEWEST);
        let most = interval * 2;
        (interval <= LONGEST_INTERVAL).then(|| answer.map_or(most, |answer| answer.min(most)))
    }

    /// A block took what entered between these times.
    fn explain(&mut self, at: ModemInstant, from: ModemInstant, until: ModemInstant) {
        let Some(answer) = self.usual() else { return };
        let mut from = from.max(at.saturating_before(PAUSE)).min(at);
        let after = self.reports.partition_point(|report| *report <= from);
        let reports: Vec<ModemInstant> =
            self.reports.range(after..).copied().filter(|report| *report < at).collect();
        for report in reports.into_iter().map(Some).chain(core::iter::once(None)) {
            let waited = at - from;
            let scheduled = match report {
                Some(report) => (report - from) + answer,
                // It left before any report of it: with a request, or in room that was granted for
                // other data.
                None => waited.min(REQUEST),
            };
            let beyond = waited.saturating_sub(scheduled);
            let amount = waited.min(scheduled).saturating_sub(beyond);
            push(&mut self.ready, KEPT, Event { from, to: at, amount, is_decoded: false });
            match report.filter(|report| *report < until) {
                Some(report) => from = report + Duration::from_nanos(1),
                None => break,
            }
        }
    }
}
