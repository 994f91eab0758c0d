//! What other programs see of the modem, beside the feed.

use miette::Result;
use sounding_board::Publisher;
use sounding_diag::{LogCode, LogRecord};
use sounding_kpi::Subscription;
use sounding_units::HostInstant;

use crate::board;

/// The board beside the feed: other programs' view of the same records.
pub(super) struct Posts {
    subscription: Subscription,
    publisher: Publisher,
}

impl Posts {
    pub(super) fn new(name: &str, kpis: &[String]) -> Result<Self> {
        let subscription = board::subscription(kpis)?;
        let publisher = board::publisher(name, subscription.kpis())?;
        Ok(Self { subscription, publisher })
    }

    pub(super) fn handle(&mut self, now: HostInstant, record: &LogRecord<'_>) {
        // Unreadable records are counted.
        let _ = self.subscription.handle(record, |reading| self.publisher.handle(&reading, now));
    }

    /// Records that it needs.
    pub(super) fn codes(&self) -> impl Iterator<Item = LogCode> {
        self.subscription.codes()
    }

    pub(super) fn post(&mut self, now: HostInstant) {
        self.publisher.post(now);
    }

    pub(super) fn heartbeat(&mut self, now: HostInstant) {
        self.publisher.heartbeat(now);
    }
}
