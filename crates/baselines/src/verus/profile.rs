use alloc::boxed::Box;

/// Points that are kept.
const POINTS: usize = 512;
/// Share of a window's old delay in the average when it is measured again (the paper's α).
const KEPT: f64 = 0.875;

/// The measured delay of packets at each window.
///
/// Between points the curve is a straight line, where the paper has a spline: points are a window
/// apart. Beyond the largest window it is the line from the origin through the last point: the link
/// is full there, so the delay is proportional to the window.
#[derive(Clone, Debug)]
pub(super) struct Profile {
    delays: Box<[f64; POINTS]>,
    /// As they were when the curve was last drawn.
    curve: Box<[f64; POINTS]>,
    /// Segments from one point to the next.
    width: f64,
}

impl Profile {
    pub(super) fn new() -> Self {
        let unknown = Box::new([f64::NAN; POINTS]);
        Self { curve: unknown.clone(), delays: unknown, width: 1.0 }
    }

    /// Adds a packet's delay, in seconds, and the window at its departure, in segments.
    pub(super) fn handle_sample(&mut self, window: f64, delay: f64) {
        while window / self.width >= POINTS as f64 - 0.5 {
            for points in [&mut self.delays, &mut self.curve] {
                for at in 0..POINTS {
                    let one = points.get(2 * at).copied().unwrap_or(f64::NAN);
                    let other = points.get(2 * at + 1).copied().unwrap_or(f64::NAN);
                    points[at] = if one.is_nan() { other } else { one };
                }
            }
            self.width *= 2.0;
        }
        let at = libm::round(window / self.width) as usize;
        let before = self.delays[at];
        self.delays[at] =
            if before.is_nan() { delay } else { KEPT * before + (1.0 - KEPT) * delay };
    }

    /// Computes the curve from the measurements so far.
    pub(super) fn draw(&mut self) {
        self.curve.copy_from_slice(&self.delays[..]);
    }

    fn points(&self) -> impl DoubleEndedIterator<Item = (f64, f64)> + '_ {
        let known = self.curve.iter().enumerate().filter(|(at, delay)| *at > 0 && !delay.is_nan());
        known.map(|(at, &delay)| (at as f64 * self.width, delay))
    }

    /// The delay of packets at this window; `None` before a curve is drawn.
    pub(super) fn delay(&self, window: f64) -> Option<f64> {
        let mut below: Option<(f64, f64)> = None;
        for point in self.points() {
            if point.0 >= window {
                let Some(below) = below else { return Some(point.1) };
                let part = (window - below.0) / (point.0 - below.0);
                return Some(below.1 + part * (point.1 - below.1));
            }
            below = Some(point);
        }
        below.map(|(last, longest)| longest * window / last)
    }

    /// The largest window at which packets take at most this delay; `None` before the first curve.
    pub(super) fn window(&self, delay: f64) -> Option<f64> {
        let (last, longest) = self.points().next_back()?;
        if longest <= delay {
            return Some(last * delay / longest.max(1e-6));
        }
        let mut above = (last, longest);
        for point in self.points().rev().skip(1) {
            if point.1 <= delay {
                let part = (delay - point.1) / (above.1 - point.1).max(1e-9);
                return Some(point.0 + part * (above.0 - point.0));
            }
            above = point;
        }
        Some(above.0 * delay / above.1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 40 ms up to forty segments, and a millisecond more for each more.
    fn drawn(windows: impl Iterator<Item = u32>) -> Profile {
        let mut profile = Profile::new();
        for window in windows {
            let window = f64::from(window);
            profile.handle_sample(window, 0.001 * window.max(40.0));
        }
        profile.draw();
        profile
    }

    #[test]
    fn a_delay_has_the_largest_window_that_keeps_it() {
        let profile = drawn((10..=100).step_by(3));
        for (delay, window) in [(0.0405, 40.5), (0.06, 60.0), (0.0995, 99.5)] {
            assert!((profile.window(delay).unwrap() - window).abs() < 1.1, "{delay}");
        }
    }

    #[test]
    fn a_window_has_the_delay_that_it_was_measured_with() {
        let profile = drawn((10..=100).step_by(3));
        for (window, delay) in [(5.0, 0.04), (30.0, 0.04), (60.5, 0.0605), (200.0, 0.2)] {
            assert!((profile.delay(window).unwrap() - delay).abs() < 0.002, "{window}");
        }
        assert_eq!(Profile::new().delay(10.0), None);
    }

    #[test]
    fn beyond_what_was_measured_a_full_link_goes_on() {
        let profile = drawn(10..=100);
        assert!((profile.window(0.2).unwrap() - 200.0).abs() < 1.0);
        assert!(profile.window(0.02).unwrap() < 40.0);
    }

    #[test]
    fn windows_of_any_size_find_room() {
        let profile = drawn((10..=100_000).step_by(10));
        assert!((profile.window(50.0).unwrap() / 50_000.0 - 1.0).abs() < 0.01);
    }

    #[test]
    fn nothing_is_known_before_a_curve_is_drawn() {
        let mut profile = Profile::new();
        profile.handle_sample(10.0, 0.04);
        assert_eq!(profile.window(0.04), None);
    }
}
