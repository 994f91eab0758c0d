use alloc::collections::VecDeque;
use core::time::Duration;

use sounding_units::HostInstant;

/// Values that are kept at most; of more, the oldest are left out.
const KEPT: usize = 4_096;

/// The mean of a sliding window of delays.
#[derive(Clone, Debug)]
pub struct Boxcar {
    window: Duration,
    values: VecDeque<(HostInstant, Duration)>,
    sum: Duration,
}

impl Boxcar {
    /// Without values.
    pub fn new(window: Duration) -> Self {
        Self { window, values: VecDeque::with_capacity(KEPT), sum: Duration::ZERO }
    }

    /// Means are over this from the next value on.
    pub fn set_window(&mut self, window: Duration) {
        self.window = window;
    }

    /// The mean with another value.
    #[inline]
    pub fn push(&mut self, at: HostInstant, value: Duration) -> Duration {
        if self.values.len() == KEPT {
            self.drop_oldest();
        }
        self.values.push_back((at, value));
        self.sum += value;
        while self.values.front().is_some_and(|(of, _)| at - *of > self.window) {
            self.drop_oldest();
        }
        self.mean().unwrap_or(value)
    }

    fn drop_oldest(&mut self) {
        if let Some((_, value)) = self.values.pop_front() {
            self.sum = self.sum.saturating_sub(value);
        }
    }

    /// The mean; `None` without values.
    #[inline]
    pub fn mean(&self) -> Option<Duration> {
        self.sum.checked_div(u32::try_from(self.values.len()).ok()?)
    }

    /// Forgets every value.
    pub fn clear(&mut self) {
        self.values.clear();
        self.sum = Duration::ZERO;
    }
}
