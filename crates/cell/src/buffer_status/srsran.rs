//! The estimate of a base station that answers each report by itself, as srsRAN's does.

use alloc::collections::VecDeque;
use core::time::Duration;

use sounding_units::HostInstant;

use super::{Granted, PendingReport};
use crate::config::UplinkConfig;

/// One subframe.
const TICK: Duration = Duration::from_millis(1);

/// What a device sends is ready so long before.
const PREPARED: Duration = Duration::from_millis(4);

/// Bytes that the network assumes to be left after a block with data and without a report.
const UNREPORTED: u64 = 256;

/// What the network grants is the last report, less all blocks on their way.
///
/// A report counts one subframe after the block that carried it stops being on its way. In that
/// subframe the network grants again what the block has already brought. A block without a report
/// leaves the last report and adds to it. Both make the network grant too much: of the
/// stack's reports in a steady stream 35 to 66 % show an empty buffer.
#[derive(Clone, Debug, Default)]
pub(super) struct SrsranEstimate {
    /// The last report, and what was added to it since.
    reported: u64,
    /// A request that no grant has answered: blocks in answer are sent from then on.
    requested: Option<HostInstant>,
    /// When the newest report that counts was written.
    newest: Option<HostInstant>,
    /// Changes of `reported` to come.
    changes: VecDeque<Change>,
    /// Blocks on their way.
    on_way: VecDeque<Granted>,
}

/// A change of the estimate.
#[derive(Clone, Copy, Debug)]
struct Change {
    /// When the network knows it.
    known: HostInstant,
    /// It counts for blocks that are sent from then on.
    from: HostInstant,
    /// When the block was filled.
    written: HostInstant,
    /// Its report; without one, [`UNREPORTED`] bytes more.
    report: Option<u64>,
}

impl SrsranEstimate {
    /// A device decides on a request in the slot at `at`.
    pub(super) fn handle_request(&mut self, at: HostInstant, config: &UplinkConfig) {
        self.handle_access(at + PREPARED + arrived_after(config));
    }

    /// Blocks in answer to a request are sent from `from` on.
    pub(super) fn handle_access(&mut self, from: HostInstant) {
        self.requested = Some(self.requested.map_or(from, |earlier| earlier.min(from)));
    }

    pub(super) fn handle_report(&mut self, report: &PendingReport, config: &UplinkConfig) {
        let &PendingReport { written, sent, known, value, .. } = report;
        let from = sent + config.answer();
        self.changes.push_back(Change { known, from, written, report: Some(value) });
    }

    /// A block that was sent at `sent` arrived with data and without a report.
    pub(super) fn handle_unreported(
        &mut self,
        sent: HostInstant,
        known: HostInstant,
        config: &UplinkConfig,
    ) {
        let from = sent + config.answer();
        self.changes.push_back(Change { known, from, written: sent, report: None });
    }

    pub(super) fn handle_grant(&mut self, sent: HostInstant, bytes: u64) {
        self.requested = self.requested.filter(|from| *from > sent);
        self.handle_repeat(sent, bytes);
    }

    pub(super) fn handle_repeat(&mut self, sent: HostInstant, bytes: u64) {
        self.on_way.push_back(Granted { sent, bytes });
    }

    /// Bytes that may be granted at `now` for a block that is sent at `sent`.
    pub(super) fn ready(
        &mut self,
        now: HostInstant,
        sent: HostInstant,
        config: &UplinkConfig,
    ) -> u64 {
        while let Some(change) =
            self.changes.front().filter(|it| it.known <= now && it.from <= sent)
        {
            let change = *change;
            self.changes.pop_front();
            match change.report {
                // One in a block that had to be repeated was overtaken.
                Some(_) if self.newest.is_some_and(|newest| change.written < newest) => {}
                Some(report) => {
                    self.newest = Some(change.written);
                    self.reported = report;
                }
                None => self.reported += UNREPORTED,
            }
        }
        let arrived = arrived_after(config);
        while self.on_way.front().is_some_and(|grant| grant.sent + arrived <= sent) {
            self.on_way.pop_front();
        }
        let wanted = match self.requested {
            Some(from) if self.reported == 0 && from <= sent => config.first_grant().count(),
            _ => self.reported,
        };
        let on_way: u64 = self.on_way.iter().map(|grant| grant.bytes).sum();
        wanted.saturating_sub(on_way)
    }

    /// Whether there is nothing to grant, now or later.
    pub(super) fn is_empty(&self) -> bool {
        self.reported == 0 && self.requested.is_none() && self.changes.is_empty()
    }
}

/// From a block, or a request, to the first block that is granted once it has arrived.
fn arrived_after(config: &UplinkConfig) -> Duration {
    config.answer().saturating_sub(TICK)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::NetworkKind;

    fn at(ms: u64) -> HostInstant {
        HostInstant::from_nanos(ms * 1_000_000)
    }

    fn config() -> UplinkConfig {
        UplinkConfig { network: NetworkKind::Srsran, ..UplinkConfig::default() }
    }

    /// Of a block that is sent in `ms`.
    fn report(ms: u64, value: u64) -> PendingReport {
        PendingReport { written: at(ms - 4), value, sent: at(ms), known: at(ms + 3), twice: false }
    }

    /// What may be granted for a block in `ms`, four subframes before.
    fn ready(estimate: &mut SrsranEstimate, ms: u64) -> u64 {
        estimate.ready(at(ms - 4), at(ms), &config())
    }

    /// The stack's own numbers, TTIs 9229 to 9239 of its run with a timer of 5 ms.
    #[test]
    fn what_a_block_brought_is_granted_again_until_its_report_counts() {
        let mut estimate = SrsranEstimate::default();
        estimate.handle_report(&report(100, 3_413), &config());
        assert_eq!(ready(&mut estimate, 108), 0);
        for (ms, bytes) in [(109, 1_335), (110, 1_335), (111, 749)] {
            assert!(ready(&mut estimate, ms) > 0);
            estimate.handle_grant(at(ms), bytes);
        }
        assert_eq!(ready(&mut estimate, 112), 0);
        estimate.handle_report(&report(109, 4_667), &config());
        assert_eq!(ready(&mut estimate, 117), 3_413 - 1_335 - 749);
        estimate.handle_grant(at(117), 1_335);
        assert_eq!(ready(&mut estimate, 118), 4_667 - 749 - 1_335);
        // The block of 110 had no room for a report.
        estimate.handle_unreported(at(110), at(113), &config());
        estimate.handle_grant(at(118), 1_335);
        assert_eq!(ready(&mut estimate, 119), 4_667 + UNREPORTED - 2 * 1_335);
    }

    #[test]
    fn a_request_is_answered_once_and_only_if_nothing_is_reported() {
        let mut estimate = SrsranEstimate::default();
        estimate.handle_request(at(100), &config());
        assert!(!estimate.is_empty());
        assert_eq!(ready(&mut estimate, 111), 0);
        assert_eq!(ready(&mut estimate, 112), 512);
        estimate.handle_grant(at(112), 517);
        assert_eq!(ready(&mut estimate, 121), 0);
        assert!(estimate.is_empty());
    }

    #[test]
    fn a_report_that_was_overtaken_changes_nothing() {
        let mut estimate = SrsranEstimate::default();
        estimate.handle_report(&report(105, 0), &config());
        estimate.handle_report(&PendingReport { written: at(90), ..report(106, 900) }, &config());
        assert_eq!(ready(&mut estimate, 120), 0);
    }
}
