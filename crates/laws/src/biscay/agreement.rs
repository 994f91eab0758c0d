use sounding_units::{HostInstant, Rate};

use super::FeedEstimate;

/// Counts how many estimates in a row agree, so that a single wrong one at the start has no effect.
///
/// BISCAY §A.5.1 leaves STARTUP when "a reliable KPI-based bandwidth prediction can be made" and
/// does not define this. Here two samples within 30 % are enough (interpretation 8).
#[derive(Clone, Copy, Debug, Default)]
pub struct Agreement {
    last: Option<(Rate, HostInstant)>,
    count: u32,
}

impl Agreement {
    /// Folds one estimate in; the count of agreeing ones, it included. The same sample twice counts
    /// once.
    pub fn handle_estimate(&mut self, estimate: &FeedEstimate) -> u32 {
        let (rate, at) = (estimate.rate, estimate.sampled_at);
        match self.last {
            Some((_, seen_at)) if seen_at == at => {}
            Some((seen, _)) if within_30_percent(seen, rate) => {
                self.count = self.count.saturating_add(1);
            }
            _ => self.count = 1,
        }
        self.last = Some((rate, at));
        self.count
    }

    /// Starts again, because the source was withdrawn.
    pub fn reset(&mut self) {
        *self = Self::default();
    }
}

fn within_30_percent(a: Rate, b: Rate) -> bool {
    let (less, more) = (a.min(b), a.max(b));
    less >= more.scaled(7, 10)
}
