use std::time::Duration;

use hdrhistogram::Histogram;

/// Latenesses: of packets handed to the receiver's kernel, against the model's time; of the model's
/// steps, against their due time.
#[derive(Clone, Debug)]
pub struct Lateness(pub(crate) Histogram<u64>);

impl Default for Lateness {
    /// An empty count.
    fn default() -> Self {
        // A minute, to three digits: a later one means a stalled machine, and counts as a minute.
        let histogram = Histogram::new_with_bounds(1, LONGEST, 3);
        Self(
            histogram
                .expect("the bounds are constants, and the upper one is at least twice the lower"),
        )
    }
}

impl Lateness {
    pub(crate) fn record(&mut self, lateness: Duration) {
        let nanos = u64::try_from(lateness.as_nanos()).unwrap_or(LONGEST);
        self.0.saturating_record(nanos.clamp(1, LONGEST));
    }

    pub(crate) fn add(&mut self, other: &Self) {
        self.0.add(&other.0).expect("all have the same bounds");
    }

    /// How many times.
    pub fn count(&self) -> u64 {
        self.0.len()
    }

    /// The lateness that `quantile` (0..=1) of all stayed within.
    pub fn quantile(&self, quantile: f64) -> Duration {
        Duration::from_nanos(self.0.value_at_quantile(quantile))
    }

    /// The latest of all.
    pub fn max(&self) -> Duration {
        Duration::from_nanos(self.0.max())
    }
}

/// The largest lateness that is counted exactly: a minute, in nanoseconds.
const LONGEST: u64 = 60_000_000_000;
