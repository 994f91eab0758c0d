use std::time::Duration;

use hdrhistogram::Histogram;

/// How late something was, each time: packets handed to the receiver's kernel, against the moment that the model gave;
/// steps of the model, against the moment that they were due.
#[derive(Clone, Debug)]
pub struct Lateness(pub(crate) Histogram<u64>);

impl Default for Lateness {
    /// Nothing counted.
    fn default() -> Self {
        // A minute, to three digits: later than that is a machine that stood still, and counts as a minute.
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
