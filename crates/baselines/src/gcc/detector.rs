use core::time::Duration;

use sounding_cc::part::Line;

use super::groups::Delta;

/// Groups over which the trend is taken (libwebrtc `TrendlineEstimator`, as all constants here).
const WINDOW: usize = 20;
/// Share of the old value in the smoothed delay.
const KEPT: f64 = 0.9;
/// The trend is multiplied by this and by groups so far, up to a number.
const GAIN: f64 = 4.0;
const MAX_GROUPS: u32 = 60;
/// In milliseconds: the threshold at first, and its bounds.
const THRESHOLD: f64 = 12.5;
const MIN_THRESHOLD: f64 = 6.0;
const MAX_THRESHOLD: f64 = 600.0;
/// Speed at which the threshold follows a trend above and below it, per millisecond.
const RISES: f64 = 0.0087;
const FALLS: f64 = 0.039;
/// A trend farther from the threshold is a spike and does not move it; in milliseconds, as is the
/// longest step.
const SPIKE: f64 = 15.0;
const MAX_STEP: f64 = 100.0;
/// How long the trend must be above the threshold until the link counts as overused; in
/// milliseconds.
const PATIENCE: f64 = 10.0;

/// The link's state according to a trend of delays.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Usage {
    #[default]
    Normal,
    /// The queue grows.
    Over,
    /// It drains.
    Under,
}

/// How delays changed with a group of packets, and what GCC made of it (Gandalf §5.3: d_m, d_t and
/// γ). All in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gradient {
    /// By how many milliseconds more this group came later than the one before than it left later.
    pub raw_ms: f64,
    /// The trend over the last groups, in the unit of the threshold.
    pub trend_ms: f64,
    /// What it is compared with: a larger trend for 10 ms is overuse.
    pub threshold_ms: f64,
}

/// Finds a growing queue by a linear fit to the delays of the newest groups (Carlucci et al.,
/// "Analysis and Design of the Google Congestion Control for WebRTC", MMSys 2016; the trend as in
/// libwebrtc, instead of a Kalman filter).
///
/// The threshold adapts with libwebrtc's constants. Those of the draft, 0.01 and 0.00018, belong to
/// an abandoned filter.
#[derive(Clone, Copy, Debug)]
pub(super) struct Detector {
    points: [(f64, f64); WINDOW],
    groups: u32,
    began: Option<Duration>,
    delay: f64,
    smoothed: f64,
    trend: f64,
    threshold: f64,
    moved_at: Option<Duration>,
    /// How long and how often the trend was above the threshold.
    over: Option<(f64, u32)>,
    usage: Usage,
    /// Of the last group.
    gradient: Option<Gradient>,
}

impl Detector {
    pub(super) fn new() -> Self {
        Self {
            points: [(0.0, 0.0); WINDOW],
            groups: 0,
            began: None,
            delay: 0.0,
            smoothed: 0.0,
            trend: 0.0,
            threshold: THRESHOLD,
            moved_at: None,
            over: None,
            usage: Usage::Normal,
            gradient: None,
        }
    }

    pub(super) fn usage(&self) -> Usage {
        self.usage
    }

    pub(super) fn gradient(&self) -> Option<Gradient> {
        self.gradient
    }

    pub(super) fn handle_delta(&mut self, delta: &Delta) {
        let began = *self.began.get_or_insert(delta.at);
        self.delay += delta.arrived - delta.sent;
        self.smoothed = KEPT * self.smoothed + (1.0 - KEPT) * self.delay;
        let at = (delta.at.saturating_sub(began)).as_secs_f64() * 1e3;
        self.points[self.groups as usize % WINDOW] = (at, self.smoothed);
        self.groups = self.groups.saturating_add(1);
        let before = self.trend;
        if self.groups as usize >= WINDOW {
            let mut line = Line::default();
            self.points.iter().for_each(|&(x, y)| line.add(x, y));
            self.trend = line.slope().unwrap_or(self.trend);
        }
        self.judge(delta, before);
    }

    fn judge(&mut self, delta: &Delta, before: f64) {
        if self.groups < 2 {
            return;
        }
        let value = f64::from(self.groups.min(MAX_GROUPS)) * self.trend * GAIN;
        let raw_ms = delta.arrived - delta.sent;
        self.gradient = Some(Gradient { raw_ms, trend_ms: value, threshold_ms: self.threshold });
        if value > self.threshold {
            let (long, often) = self
                .over
                .map_or((delta.sent / 2.0, 1), |(long, often)| (long + delta.sent, often + 1));
            self.over = Some((long, often));
            if long > PATIENCE && often > 1 && self.trend >= before {
                self.over = Some((0.0, 0));
                self.usage = Usage::Over;
            }
        } else {
            self.over = None;
            self.usage = if value < -self.threshold { Usage::Under } else { Usage::Normal };
        }
        self.adapt(value.abs(), delta.at);
    }

    fn adapt(&mut self, value: f64, at: Duration) {
        let before = self.moved_at.replace(at).unwrap_or(at);
        if value > self.threshold + SPIKE {
            return;
        }
        let gain = if value < self.threshold { FALLS } else { RISES };
        let step = (at.saturating_sub(before).as_secs_f64() * 1e3).min(MAX_STEP);
        let moved = self.threshold + gain * (value - self.threshold) * step;
        self.threshold = moved.clamp(MIN_THRESHOLD, MAX_THRESHOLD);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Groups 10 ms apart whose delay grows by this many milliseconds per second, after a second
    /// without growth.
    fn usage(millis_per_sec: f64) -> Usage {
        let mut detector = Detector::new();
        let mut found = Usage::Normal;
        for group in 0..300_u64 {
            let grows = if group < 100 { 0.0 } else { millis_per_sec / 100.0 };
            let delta =
                Delta { sent: 10.0, arrived: 10.0 + grows, at: Duration::from_millis(group * 10) };
            detector.handle_delta(&delta);
            if detector.usage() != Usage::Normal {
                found = detector.usage();
            }
        }
        found
    }

    /// Sixty groups and a gain of four make 25 ms a second of the least threshold of six.
    #[test]
    fn a_queue_that_grows_by_a_tenth_is_overuse_and_one_by_a_hundredth_is_not() {
        assert_eq!([5.0, 10.0].map(usage), [Usage::Normal; 2]);
        assert_eq!([60.0, 100.0].map(usage), [Usage::Over; 2]);
    }

    #[test]
    fn the_gradient_is_what_was_compared_before_the_threshold_moved() {
        let mut detector = Detector::new();
        assert_eq!(detector.gradient(), None);
        for group in 0..40_u64 {
            let delta = Delta { sent: 10.0, arrived: 10.5, at: Duration::from_millis(group * 10) };
            detector.handle_delta(&delta);
        }
        let before = detector.threshold;
        let delta = Delta { sent: 10.0, arrived: 12.0, at: Duration::from_millis(400) };
        detector.handle_delta(&delta);
        let seen = detector.gradient().unwrap();
        assert_eq!((seen.raw_ms, seen.threshold_ms), (2.0, before));
        // Half a millisecond in each 10 ms, as 41 groups with a gain of four make of it, less what
        // is not smoothed yet.
        assert!((4.0..10.0).contains(&seen.trend_ms), "{seen:?}");
    }

    #[test]
    fn a_queue_that_drains_is_underuse() {
        assert_eq!(usage(-100.0), Usage::Under);
    }

    #[test]
    fn the_threshold_stays_within_its_bounds() {
        let mut detector = Detector::new();
        for (at, value) in (0..).zip([0.0, 0.0, 20.0, 30.0, 1e9, 0.0]) {
            detector.adapt(value, Duration::from_millis(at * 100));
            assert!((MIN_THRESHOLD..=MAX_THRESHOLD).contains(&detector.threshold));
        }
    }
}
