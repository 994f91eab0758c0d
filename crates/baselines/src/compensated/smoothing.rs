//! Over which times delays are smoothed, and which of them is the path's.

use core::time::Duration;

use sounding_estimate::Direction;
use sounding_estimate::delay::{in_intervals, whole_intervals};

/// Over which times delays are smoothed, where reports of the buffer's status are 5 ms apart. Times
/// that a report makes follow the interval that is known (interpretation 30).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Smoothing {
    /// Of downloads.
    pub down: Means,
    /// Of uploads.
    pub up: Means,
    /// The radio's recent part.
    pub recent: Duration,
    /// The unknown part of an RTT counts as the most that the radio added lately, not as its mean.
    pub assumes_most: bool,
}

/// The same of flows in one direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Means {
    /// RTTs.
    pub shown: Duration,
    /// RTTs without the radio's part. A small one is the path's.
    pub steady: Duration,
    /// How many hundredths of exact RTTs are below that of the path, if waits are taken off.
    pub floor_percent: u32,
    /// Whether waits for grants stay in RTTs.
    pub keeps_waits: bool,
    /// How many hundredths of waits that stay are below a usual one.
    pub usual_percent: u32,
    /// By how much the path's RTT counts as longer than is known, if waits stay.
    pub unsure: Duration,
}

impl Means {
    /// The same where reports are so far apart.
    pub(super) fn at(mut self, interval: Duration) -> Self {
        for span in [&mut self.shown, &mut self.steady] {
            *span = whole_intervals(*span, interval);
        }
        self.unsure = in_intervals(self.unsure, interval);
        self
    }
}

impl Smoothing {
    /// The same, with all waits taken off.
    #[must_use]
    pub fn without_waits(mut self) -> Self {
        self.down.keeps_waits = false;
        self.up.keeps_waits = false;
        self
    }

    /// For a controller that asks whether RTTs rose by more than the radio explains, as HyStart
    /// does: all that the radio may have added is taken off at once, waits too. Chosen: means
    /// over 10 ms, two usual intervals of reports.
    pub fn of_rises() -> Self {
        let mut of = Self { assumes_most: true, ..Self::default().without_waits() };
        for means in [&mut of.down, &mut of.up] {
            means.shown = Duration::from_millis(10);
            means.steady = means.shown;
        }
        of
    }

    pub(super) fn means(&self, data: Direction) -> &Means {
        match data {
            Direction::Downlink => &self.down,
            Direction::Uplink => &self.up,
        }
    }
}

impl Default for Smoothing {
    fn default() -> Self {
        let means = |shown, floor_percent, keeps_waits, unsure_us| Means {
            shown: Duration::from_millis(shown),
            steady: Duration::from_millis(shown),
            floor_percent,
            keeps_waits,
            usual_percent: 50,
            unsure: Duration::from_micros(unsure_us),
        };
        // Those of an interval of reports come at once, so that downloads need the longer mean. An
        // upload's own waits are steadier as a mean than each is known.
        let (down, up) = (means(40, 5, false, 500), means(30, 10, true, 2_500));
        // Records of MAC are as long apart.
        Self { down, up, recent: Duration::from_millis(100), assumes_most: false }
    }
}
