//! The estimate of a base station that answers each report by itself, as srsRAN's does.

use alloc::collections::VecDeque;
use core::time::Duration;

use sounding_units::HostInstant;

use super::{Granted, PendingReport};
use crate::config::UplinkConfig;

/// One subframe.
const TICK: Duration = Duration::from_millis(1);

/// Bytes that the network assumes to be left after a block with data and without a report.
const UNREPORTED: u64 = 256;

/// What the network grants is the last report, less all blocks on their way.
///
/// A report counts one subframe after the block that carried it stops being on its way. In that
/// subframe the network grants again what the block has already brought. A block without a report
/// keeps the last report as it is and adds to it. Both make the network grant too much: of the
/// stack's reports in a steady stream 35 to 66 % show an empty buffer.
#[derive(Clone, Debug, Default)]
pub(super) struct SrsranEstimate {
    /// The last report, and what was added to it since.
    reported: u64,
    /// A request that no grant has answered: blocks in answer are sent from then on.
    requested: Option<HostInstant>,
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
    /// The report; without one, [`UNREPORTED`] bytes more.
    report: Option<u64>,
}

impl SrsranEstimate {
    /// A request goes out in the slot at `at`.
    pub(super) fn handle_request(&mut self, at: HostInstant, config: &UplinkConfig) {
        self.handle_access(at + arrived_after(config));
    }

    /// Blocks in answer to a request are sent from `from` on.
    pub(super) fn handle_access(&mut self, from: HostInstant) {
        self.requested = Some(self.requested.map_or(from, |earlier| earlier.min(from)));
    }

    pub(super) fn handle_report(&mut self, report: &PendingReport, config: &UplinkConfig) {
        let &PendingReport { sent, known, value, .. } = report;
        let from = sent + config.answer();
        self.changes.push_back(Change { known, from, report: Some(value) });
    }

    /// A block that was sent at `sent` arrived with data and without a report.
    pub(super) fn handle_unreported(
        &mut self,
        sent: HostInstant,
        known: HostInstant,
        config: &UplinkConfig,
    ) {
        self.changes.push_back(Change { known, from: sent + config.answer(), report: None });
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
            self.reported = change.report.unwrap_or(self.reported + UNREPORTED);
            self.changes.pop_front();
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
