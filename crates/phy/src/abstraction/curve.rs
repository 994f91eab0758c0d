use super::tables;

/// Odds against an error, as natural logarithm, at error rates of 50, 10 and 1 %.
pub(super) const AGAINST: [f32; 3] = [0.0, 2.197_224_6, 4.595_12];

/// Error rate by SINR: in logarithms of the odds a line through given points, bent smoothly at
/// them, and straight beyond.
///
/// Between points it is the cubic whose slope at each point is the harmonic mean of the slopes to
/// both sides, which keeps it rising (Fritsch and Butland, 1984); so the error rate falls strictly,
/// and meets the points exactly.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Curve {
    /// SINR of the points, dB.
    points: [f32; 3],
    /// Value at the points.
    values: [f32; 3],
    /// Slope up to the first point and from the last on.
    slopes: [f32; 2],
    /// Coefficients of the first to third power between the points.
    cubics: [[f32; 3]; 2],
}

impl Curve {
    /// A curve through the SINR in dB at error rates of 50, 10 and 1 %; `None` if they do not rise.
    pub const fn new(points: [f32; 3]) -> Option<Self> {
        if points[0] < points[1] && points[1] < points[2] {
            Some(Self::through(points, AGAINST))
        } else {
            None
        }
    }

    pub(super) const fn through(points: [f32; 3], values: [f32; 3]) -> Self {
        assert!(points[0] < points[1] && points[1] < points[2]);
        let width = [points[1] - points[0], points[2] - points[1]];
        let slope = [(values[1] - values[0]) / width[0], (values[2] - values[1]) / width[1]];
        let middle = 2.0 * slope[0] * slope[1] / (slope[0] + slope[1]);
        Self {
            points,
            values,
            slopes: slope,
            cubics: [
                hermite(slope[0], slope[0], middle, width[0]),
                hermite(slope[1], middle, slope[1], width[1]),
            ],
        }
    }

    /// Logarithm of the odds against an error.
    #[inline]
    pub(super) fn against(&self, sinr_db: f32) -> f32 {
        let [first, second, third] = self.points;
        let cubic = |from: usize| {
            let [a, b, c] = self.cubics[from];
            let x = sinr_db - self.points[from];
            self.values[from] + x * (a + x * (b + x * c))
        };
        if sinr_db < first {
            self.values[0] + (sinr_db - first) * self.slopes[0]
        } else if sinr_db < second {
            cubic(0)
        } else if sinr_db < third {
            cubic(1)
        } else {
            self.values[2] + (sinr_db - third) * self.slopes[1]
        }
    }

    /// Error rate at a SINR. Range 0..=1.
    #[inline]
    pub fn error_rate(&self, sinr_db: f32) -> f32 {
        rate(self.against(sinr_db))
    }
}

/// Cubic over a width with a mean slope and slopes at both ends, without its constant.
const fn hermite(mean: f32, begin: f32, end: f32, width: f32) -> [f32; 3] {
    [begin, (3.0 * mean - 2.0 * begin - end) / width, (begin + end - 2.0 * mean) / (width * width)]
}

/// The error rate with these odds against it: 1 / (1 + e^x), by straight lines between 1280 points.
/// Beyond e^20 : 1 it is certain.
#[inline]
pub(super) fn rate(against: f32) -> f32 {
    const POINTS_PER_UNIT: f32 = 32.0;
    let table = &tables::FALLING;
    let at = against.abs() * POINTS_PER_UNIT;
    let index = at as usize;
    let falling = match (table.get(index), table.get(index.saturating_add(1))) {
        (Some(low), Some(high)) => low + (high - low) * (at - index as f32),
        _ => 0.0,
    };
    if against < 0.0 { 1.0 - falling } else { falling }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::{Strategy, prop_assert, proptest};

    #[test]
    fn curves_meet_their_points() {
        let curve = Curve::new([1.0, 1.5, 2.5]).expect("they rise");
        assert_eq!(Curve::new([1.0, 1.0, 2.5]), None);
        assert_eq!(Curve::new([f32::NAN, 1.0, 2.5]), None);
        for (sinr, wanted) in [(1.0, 0.5), (1.5, 0.1), (2.5, 0.01)] {
            let found = curve.error_rate(sinr);
            assert!((found - wanted).abs() < wanted * 1e-3, "{sinr} dB: {found}");
        }
        assert_eq!((curve.error_rate(-1000.0), curve.error_rate(1000.0)), (1.0, 0.0));
        assert_eq!((curve.error_rate(f32::MIN), curve.error_rate(f32::MAX)), (1.0, 0.0));
    }

    #[test]
    fn the_table_is_the_function_to_one_part_in_5000() {
        for i in -19_990..19_990i16 {
            let against = f32::from(i) / 1000.0;
            let exact = 1.0 / (1.0 + f64::from(against).exp());
            let found = f64::from(rate(against));
            assert!((found - exact).abs() < exact * 2e-4, "{against}: {found} {exact}");
        }
    }

    fn curves() -> impl Strategy<Value = Curve> {
        (-10.0..30.0f32, 0.05..5.0f32, 0.05..5.0f32)
            .prop_filter_map("too near", |(half, tenth, hundredth)| {
                Curve::new([half, half + tenth, half + tenth + hundredth])
            })
    }

    proptest! {
        #[test]
        fn more_signal_never_means_more_errors(curve in curves(), at in -20.0..40.0f32, more in 0.0..3.0f32) {
            prop_assert!(curve.error_rate(at + more) <= curve.error_rate(at));
            prop_assert!(curve.against(at + more) >= curve.against(at) - 1e-4);
        }

        #[test]
        fn slopes_do_not_jump(curve in curves()) {
            let end = |from: usize| {
                let [a, b, c] = curve.cubics[from];
                let x = curve.points[from + 1] - curve.points[from];
                a + x * (2.0 * b + 3.0 * x * c)
            };
            let begin = |from: usize| curve.cubics[from][0];
            for (before, after) in
                [(curve.slopes[0], begin(0)), (end(0), begin(1)), (end(1), curve.slopes[1])]
            {
                // The rounding loss of narrow curves is measured by their steepest slope.
                let rounding = 1e-3 * curve.slopes[0].max(curve.slopes[1]);
                prop_assert!((before - after).abs() <= rounding, "{before} {after}");
            }
        }
    }
}
