//! A device's requests for the uplink, and the network's estimate of the device's buffer.

mod srsran;

use alloc::collections::VecDeque;
use alloc::vec::Vec;
use core::time::Duration;

use sounding_phy::lte::BsrTable;
use sounding_phy::nr::BsrFormat;
use sounding_units::{Bytes, HostInstant};

use self::srsran::SrsranEstimate;
use crate::config::{NetworkKind, Rat, UplinkConfig};
use crate::event::{BufferReport, ReportCause};

/// The device's side (TS 36.321 §5.4.4–5.4.5, TS 38.321 §5.4.4–5.4.5).
///
/// ```text
/// nothing ──data to an empty buffer──▶ Regular ──no grant at the next occasion──▶ request sent
///    ▲                                    │                                          │
///    └──────── a block with the report ◀──┴────────────── the first grant ◀──────────┘
/// ```
#[derive(Clone, Debug)]
pub(crate) struct BsrReporter {
    regular: bool,
    /// When the periodic report is due, once a report was sent.
    periodic: Option<HostInstant>,
    /// When the report counts as lost.
    retx: Option<HostInstant>,
}

impl BsrReporter {
    pub(crate) const fn new() -> Self {
        Self { regular: false, periodic: None, retx: None }
    }

    /// Data arrived at an empty buffer, or there is a control PDU to send.
    pub(crate) fn handle_data(&mut self) {
        self.regular = true;
    }

    /// Whether the device sends a scheduling request in a slot without a grant.
    pub(crate) fn needs_grant(&self) -> bool {
        self.regular
    }

    /// Time has reached `now`, with `waiting` bytes in the buffer.
    pub(crate) fn handle_time(&mut self, now: HostInstant, waiting: u64) {
        if self.retx.is_some_and(|at| at <= now) {
            self.retx = None;
            self.regular |= waiting > 0;
        }
    }

    /// The report for a block that leaves `waiting` bytes behind and has `spare` bytes left.
    pub(crate) fn poll_report(
        &mut self,
        now: HostInstant,
        waiting: u64,
        spare: u64,
        rat: Rat,
        config: &UplinkConfig,
    ) -> Option<BufferReport> {
        let cause = if self.regular {
            ReportCause::Regular
        } else if self.periodic.is_some_and(|at| at <= now) {
            ReportCause::Periodic
        } else if spare >= REPORT_SIZE {
            ReportCause::Padding
        } else {
            return None;
        };
        self.regular = false;
        self.periodic = Some(now + config.periodic_bsr);
        self.retx = Some(now + config.retx_bsr);
        Some(BufferReport { at: now, cause, index: report_index(rat, waiting), waiting })
    }

    /// Whether the next block carries a report even if it is full.
    pub(crate) fn is_report_due(&self, now: HostInstant) -> bool {
        self.regular || self.periodic.is_some_and(|at| at <= now)
    }

    pub(crate) fn reset(&mut self) {
        *self = Self::new();
    }
}

/// A short BSR with its subheader.
pub(crate) const REPORT_SIZE: u64 = 2;

/// The index that a report of `waiting` bytes has.
fn report_index(rat: Rat, waiting: u64) -> u8 {
    let waiting = Bytes::new(waiting);
    match rat {
        Rat::Lte => BsrTable::Normal.index(waiting),
        Rat::Nr => BsrFormat::Short.index(waiting),
    }
}

/// The buffer size that the network assumes for a report: the upper end of its range. For the open
/// range, the largest amount that it can grant.
fn report_value(rat: Rat, index: u8) -> u64 {
    /// More than any carrier can be granted within a report's period.
    const OPEN_ENDED: u64 = 600_000;
    let upper = match rat {
        Rat::Lte => BsrTable::Normal.upper(index),
        Rat::Nr => BsrFormat::Short.upper(index),
    };
    upper.map_or(OPEN_ENDED, Bytes::count)
}

/// The network's side: its estimate of the data in a device's buffer.
///
/// This is the estimate of [`NetworkKind::Operator`] and [`NetworkKind::Before`]; that of
/// [`NetworkKind::Srsran`] is a part of it. Grants are periodic. Once everything reported is
/// granted, the next grant for new data is one beat later. Data that arrives in one beat is
/// therefore sent in the beat after the next, with that beat's report (Gandalf §3.2.1). A device
/// that has just sent data is granted space for a report even if its last report showed an empty
/// buffer; these grants keep the interval of reports. A report counts once its block is decoded.
/// It includes bytes that were granted but not sent when it was written, and bytes that have been
/// granted since. The network corrects for that, not always correctly (§3.2.2).
#[derive(Clone, Debug, Default)]
pub(crate) struct GnbBufferEstimate {
    /// To be granted now.
    ready: u64,
    /// To be granted later.
    later: VecDeque<Expected>,
    /// Grants for blocks that are sent after the newest decoded report was written.
    granted: VecDeque<Granted>,
    /// Reports whose blocks are being decoded.
    pending: Vec<PendingReport>,
    /// When the newest decoded report was written, and its value.
    newest: Option<HostInstant>,
    newest_value: u64,
    /// All reported is granted, and the next block with new data is not sent before.
    data_from: Option<HostInstant>,
    /// And the next block for a report alone not before.
    poll_from: Option<HostInstant>,
    /// Grants for a report alone that are still to be given.
    polls: u8,
    /// Bytes of such a grant for a report.
    poll: u64,
    /// When the block of the newest grant is sent.
    last: Option<HostInstant>,
    srsran: SrsranEstimate,
}

/// A grant, by when its block is sent.
#[derive(Clone, Copy, Debug)]
struct Granted {
    sent: HostInstant,
    bytes: u64,
}

/// Bytes that a device waits to send.
#[derive(Clone, Copy, Debug)]
struct Expected {
    /// When the network knows them.
    known: HostInstant,
    /// Blocks with them are sent from then on.
    sent: HostInstant,
    bytes: u64,
}

/// A report whose block is being decoded.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PendingReport {
    /// When it was written.
    written: HostInstant,
    /// The network's estimate.
    value: u64,
    /// When the block with it was sent.
    sent: HostInstant,
    /// When it is decoded.
    known: HostInstant,
    /// This time the network takes bytes for new that an earlier report counted.
    twice: bool,
}

impl PendingReport {
    pub(crate) fn new(
        rat: Rat,
        report: &BufferReport,
        sent: HostInstant,
        known: HostInstant,
        twice: bool,
    ) -> Self {
        let value = report_value(rat, report.index);
        Self { written: report.at, value, sent, known, twice }
    }
}

impl GnbBufferEstimate {
    /// A request went out in the slot at `at`.
    pub(crate) fn handle_request(&mut self, at: HostInstant, config: &UplinkConfig) {
        if config.network == NetworkKind::Srsran {
            self.srsran.handle_request(at, config);
            return;
        }
        self.admit(at + REQUEST_ANSWERED_AFTER, config);
    }

    /// Random access is over at `from` and brings a grant.
    pub(crate) fn handle_access(&mut self, from: HostInstant, config: &UplinkConfig) {
        if config.network == NetworkKind::Srsran {
            self.srsran.handle_access(from);
            return;
        }
        self.admit(from, config);
    }

    /// The grant for a device that has more than was reported before.
    fn admit(&mut self, from: HostInstant, config: &UplinkConfig) {
        self.pending.clear();
        let bytes = config.first_grant().count();
        self.later.push_back(Expected { known: from, sent: from, bytes });
    }

    /// A report arrived; it counts once it is decoded.
    pub(crate) fn handle_report(&mut self, report: PendingReport, config: &UplinkConfig) {
        if config.network == NetworkKind::Srsran {
            self.srsran.handle_report(&report, config);
            return;
        }
        self.pending.push(report);
    }

    /// A block that was sent at `sent` arrived with data and without a report.
    pub(crate) fn handle_unreported(
        &mut self,
        sent: HostInstant,
        known: HostInstant,
        config: &UplinkConfig,
    ) {
        if config.network == NetworkKind::Srsran {
            self.srsran.handle_unreported(sent, known, config);
        }
    }

    /// Applies the reports that are decoded by `now`.
    fn apply_decoded(&mut self, now: HostInstant, config: &UplinkConfig) {
        while let Some(at) = self.pending.iter().position(|report| report.known <= now) {
            let report = self.pending.remove(at);
            self.apply(&report, config);
        }
    }

    fn apply(&mut self, report: &PendingReport, config: &UplinkConfig) {
        let &PendingReport { written, value, sent, known, twice } = report;
        // One in a block that had to be repeated was overtaken.
        if self.newest.is_some_and(|newest| written < newest) {
            return;
        }
        self.newest = Some(written);
        let before = core::mem::replace(&mut self.newest_value, value);
        if value > 0 {
            self.polls = POLLS;
            self.poll = config.first_grant().count();
        }
        self.granted.retain(|grant| grant.sent > written);
        let granted: u64 = self.granted.iter().map(|grant| grant.bytes).sum();
        let later: u64 = self.later.iter().map(|expected| expected.bytes).sum();
        let estimate = self.ready + later + granted;
        let wanted = value + if twice { before } else { 0 };
        if wanted > estimate {
            let sent = sent + answered_after(config);
            let bytes = wanted - estimate;
            self.later.push_back(Expected { known, sent, bytes });
            return;
        }
        // Less than estimated: the newest estimates are reduced first.
        let mut excess = estimate - wanted;
        while let Some(expected) = self.later.back_mut() {
            let cut = excess.min(expected.bytes);
            expected.bytes -= cut;
            excess -= cut;
            if expected.bytes > 0 {
                break;
            }
            self.later.pop_back();
        }
        self.ready -= excess.min(self.ready);
    }

    /// Bytes that may be granted at `now` for a block that is sent at `sent`. Called for every user
    /// in every slot.
    #[inline]
    pub(crate) fn ready(
        &mut self,
        now: HostInstant,
        sent: HostInstant,
        config: &UplinkConfig,
    ) -> u64 {
        if config.network == NetworkKind::Srsran {
            self.srsran.ready(now, sent, config)
        } else {
            self.ready_in_rhythm(now, sent, config)
        }
    }

    /// Bytes that are granted without a reason for a block that is sent at `sent`.
    #[inline]
    pub(crate) fn proactive(&self, sent: HostInstant, config: &UplinkConfig) -> u64 {
        match config.proactive {
            Some(every) if self.last.is_none_or(|last| last + every <= sent) => {
                config.first_grant().count()
            }
            _ => 0,
        }
    }

    #[inline]
    fn ready_in_rhythm(
        &mut self,
        now: HostInstant,
        sent: HostInstant,
        config: &UplinkConfig,
    ) -> u64 {
        if self.pending.iter().any(|report| report.known <= now) {
            self.apply_decoded(now, config);
        }
        if !self.later.is_empty() {
            self.take_expected(now, sent);
        }
        let waits = |from: Option<HostInstant>| from.is_some_and(|from| sent < from);
        match self.ready {
            0 if self.polls > 0 && !waits(self.poll_from) => self.poll,
            ready if !waits(self.data_from) => ready,
            _ => 0,
        }
    }

    fn take_expected(&mut self, now: HostInstant, sent: HostInstant) {
        while let Some(expected) = self.later.front() {
            if expected.known > now || expected.sent > sent {
                break;
            }
            self.ready += expected.bytes;
            self.later.pop_front();
        }
    }

    /// Whether there is data to grant, now or later.
    pub(crate) fn is_empty(&self, config: &UplinkConfig) -> bool {
        if config.network == NetworkKind::Srsran {
            return self.srsran.is_empty();
        }
        self.polls == 0 && self.is_granted()
    }

    /// Whether everything reported is granted.
    fn is_granted(&self) -> bool {
        let pending = self.pending.iter().any(|report| report.value > 0);
        self.ready == 0 && self.later.is_empty() && !pending
    }

    /// Whether a device with data requests a grant in the slot at `now`, although the network may
    /// be about to give one. A device does so by the standard. The operators' network answers
    /// sooner than that, unless its next grant is further away than an answer to the request.
    pub(crate) fn leaves_requests(&self, now: HostInstant, config: &UplinkConfig) -> bool {
        match config.network {
            NetworkKind::Srsran => true,
            NetworkKind::Before => self.is_empty(config),
            NetworkKind::Operator => {
                let answer = 2 * config.answer();
                let far = interval(config) > answer
                    && self.poll_from.is_some_and(|from| from > now + answer);
                self.is_granted() && (self.polls == 0 || far)
            }
        }
    }

    /// A grant was given for a block that is sent at `sent`.
    pub(crate) fn handle_grant(&mut self, sent: HostInstant, bytes: u64, config: &UplinkConfig) {
        self.last = Some(sent);
        if config.network == NetworkKind::Srsran {
            self.srsran.handle_grant(sent, bytes);
            return;
        }
        if self.ready == 0 {
            self.polls = self.polls.saturating_sub(1);
        }
        self.ready = self.ready.saturating_sub(bytes);
        self.granted.push_back(Granted { sent, bytes });
        let all = self.ready == 0;
        let (polls, data) = (interval(config), beat(config));
        self.data_from = all.then(|| next_beat(self.data_from, sent, data));
        // Grants for data between two of its beats leave the rhythm of reports alone.
        if self.poll_from.is_none_or(|from| sent >= from) {
            self.poll_from = all.then(|| next_beat(self.poll_from, sent, polls));
        }
    }

    /// A lost block is sent again at `sent`.
    pub(crate) fn handle_repeat(&mut self, sent: HostInstant, bytes: u64, config: &UplinkConfig) {
        if config.network == NetworkKind::Srsran {
            self.srsran.handle_repeat(sent, bytes);
        }
    }

    pub(crate) fn reset(&mut self) {
        *self = Self::default();
    }
}

/// From a scheduling request to the answer of an operator's network. With the grant's own four
/// subframes the first data go 8 to 10 ms after the request.
const REQUEST_ANSWERED_AFTER: Duration = Duration::from_millis(5);

/// Reports that the network still makes room for after one of an empty buffer. Chosen: without, a
/// device that sends evenly would have to send a request whenever it was granted too much once.
const POLLS: u8 = 2;

/// The report interval that the network assumes: infrequent reports are no reason for infrequent
/// grants.
fn interval(config: &UplinkConfig) -> Duration {
    const LONGEST: Duration = Duration::from_millis(40);
    config.periodic_bsr.min(LONGEST)
}

/// From one grant for new data to the next.
fn beat(config: &UplinkConfig) -> Duration {
    match config.network {
        NetworkKind::Before => interval(config),
        _ => interval(config).min(config.answer()),
    }
}

/// From a report to the first transmission of what it reports, at least.
fn answered_after(config: &UplinkConfig) -> Duration {
    match config.network {
        NetworkKind::Before => interval(config).mul_f64(config.grant_delay),
        _ => config.answer(),
    }
}

/// The beat after a block that is sent at `sent`, where the next was due at `due`. A repeat that
/// took a beat's slot does not shift the beats after it.
fn next_beat(due: Option<HostInstant>, sent: HostInstant, every: Duration) -> HostInstant {
    let due = due.unwrap_or(sent);
    if due + every > sent { due + every } else { sent + every }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> HostInstant {
        HostInstant::from_nanos(ms * 1_000_000)
    }

    /// Written and sent in `ms`, and decoded three milliseconds later.
    fn report(ms: u64, value: u64) -> PendingReport {
        PendingReport { written: at(ms), value, sent: at(ms), known: at(ms + 3), twice: false }
    }

    #[test]
    fn a_report_counts_once_its_block_is_decoded() {
        let config = UplinkConfig::default();
        let mut estimate = GnbBufferEstimate::default();
        estimate.handle_report(report(10, 1_000), &config);
        assert!(!estimate.is_empty(&config));
        assert_eq!(estimate.ready(at(12), at(20), &config), 0);
        assert_eq!(estimate.ready(at(13), at(20), &config), 1_000);
    }

    #[test]
    fn what_was_granted_since_a_report_was_written_is_not_granted_again() {
        let config = UplinkConfig::default();
        let mut estimate = GnbBufferEstimate::default();
        estimate.handle_report(report(10, 1_000), &config);
        assert_eq!(estimate.ready(at(13), at(20), &config), 1_000);
        estimate.handle_grant(at(20), 1_000, &config);
        // The device still has them then, and reports them again.
        estimate.handle_report(report(15, 1_000), &config);
        assert_eq!(estimate.ready(at(18), at(40), &config), config.first_grant().count());
        estimate.handle_report(report(25, 1_000), &config);
        assert_eq!(estimate.ready(at(28), at(40), &config), 1_000);
    }

    #[test]
    fn a_report_that_was_overtaken_changes_nothing() {
        let config = UplinkConfig::default();
        let mut estimate = GnbBufferEstimate::default();
        estimate.handle_report(report(15, 5_000), &config);
        let late = PendingReport { written: at(10), ..report(16, 200) };
        estimate.handle_report(late, &config);
        assert_eq!(estimate.ready(at(30), at(40), &config), 5_000);
    }
}
