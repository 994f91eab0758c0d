use core::time::Duration;

use sounding_units::ModemInstant;

use crate::window::Window;

/// The mean that a short one is compared with: the window of BISCAY §3.2.2.
const LONG: Duration = Duration::from_millis(100);
/// How long a rate is typically used after it is reported: a round-trip time.
///
/// The rate at that later time is a mean over the short span too. With a mean over the long span, a
/// capture with a burst of 40 ms in each 160 ms is recognised as well. But on
/// TMobile-LTE-driving.down the throughput is then 73 % of the link's capacity instead of 93 %.
const AHEAD: Duration = Duration::from_millis(50);
/// Interval at which both means are compared.
const EVERY: Duration = Duration::from_millis(10);
/// The errors are averaged over the last 2^SHIFT comparisons: a third of a second.
const SHIFT: u32 = 5;
/// A short mean is kept to unless the long one has less than this much of its error, in percent.
///
/// Chosen on recorded links and on cells of seeds 11 to 30. There the short mean is better than its
/// errors suggest, because a sender keeps getting updates. With 80, recorded links lose half a
/// percent of throughput. With 60, one of the bursty captures is not recognised.
const LESS_THAN_PERCENT: u64 = 67;

/// Decides which of two past means would have predicted better.
///
/// A mean over a short time follows a link that fades. If grants alternate between bursts and
/// pauses faster than a round-trip time, a short mean describes a burst that is already over: the
/// sender has most in flight while the link is paused. A mean over a longer time then predicts
/// better.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Foresight {
    /// Time of the next comparison.
    next: Option<ModemInstant>,
    /// Mean errors of both, bytes/s.
    short: u64,
    long: u64,
}

impl Foresight {
    /// All grants up to `newest` are known.
    pub(super) fn judged(mut self, window: &Window, short: Duration, newest: ModemInstant) -> Self {
        if short >= LONG {
            return self;
        }
        let over = |end, span| window.granted(end, span).per(span).bytes_per_sec();
        // Older rates are no longer known.
        let oldest = newest.saturating_before(LONG);
        let mut next = self.next.map_or(oldest, |next| next.max(oldest));
        while newest - next >= AHEAD {
            let came = over(next + AHEAD, short);
            let blend =
                |mean: u64, told: u64| ((mean << SHIFT) - mean + told.abs_diff(came)) >> SHIFT;
            self.short = blend(self.short, over(next, short));
            self.long = blend(self.long, over(next, LONG));
            next = next + EVERY;
        }
        self.next = Some(next);
        self
    }

    /// The span to use for a rate when `short` is configured.
    pub(super) fn span(&self, short: Duration) -> Duration {
        if self.long * 100 < self.short * LESS_THAN_PERCENT { LONG } else { short }
    }

    /// Length of history that [`judged`](Self::judged) needs with `short` configured.
    pub(super) fn history(short: Duration) -> Duration {
        short.max(LONG)
    }
}

#[cfg(test)]
mod tests {
    use sounding_units::Bytes;

    use super::*;

    const SHORT: Duration = Duration::from_millis(30);

    /// Two seconds of grants in each millisecond, reported every 10 ms in which there were any.
    fn span_after(granted: impl Fn(u64) -> u64) -> Duration {
        let mut window = Window::new(Foresight::history(SHORT));
        let mut foresight = Foresight::default();
        for record in 100..300 {
            for ms in record * 10..record * 10 + 10 {
                let size = granted(ms);
                if size > 0 {
                    window.push(ModemInstant::from_nanos(ms * 1_000_000), Bytes::new(size));
                }
            }
            if let Some(newest) = window.newest() {
                foresight = foresight.judged(&window, SHORT, newest);
            }
        }
        foresight.span(SHORT)
    }

    #[test]
    fn a_link_that_fades_or_does_not_change_is_followed() {
        assert_eq!(span_after(|_| 1_000), SHORT);
        let fading = |ms: u64| 1_000 + (ms % 1_000).abs_diff(500) * 4;
        assert_eq!(span_after(fading), SHORT);
    }

    #[test]
    fn alternating_bursts_and_pauses_use_the_long_mean() {
        for period in [100, 110] {
            let bursts = |ms: u64| if ms % period < 45 { 1_500 } else { 0 };
            assert_eq!(span_after(bursts), LONG, "{period}");
        }
    }

    #[test]
    fn a_link_that_stops_bursting_is_followed_again() {
        let then_steady = |ms: u64| if ms < 2_000 && ms % 110 >= 45 { 0 } else { 1_500 };
        assert_eq!(span_after(then_steady), SHORT);
    }

    #[test]
    fn nothing_is_judged_of_a_rate_that_is_wanted_over_a_long_time() {
        let mut window = Window::new(LONG);
        window.push(ModemInstant::from_nanos(1_000_000_000), Bytes::new(1_000));
        let newest = ModemInstant::from_nanos(1_500_000_000);
        assert_eq!(Foresight::default().judged(&window, LONG, newest).span(LONG), LONG);
    }
}
