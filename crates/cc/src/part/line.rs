/// A straight line through points, by least squares, in the space of its sums.
#[derive(Clone, Copy, Debug, Default)]
pub struct Line {
    count: f64,
    /// Taken off every point, so that sums of large numbers do not drown small differences.
    origin: Option<(f64, f64)>,
    x: f64,
    y: f64,
    xx: f64,
    xy: f64,
    yy: f64,
}

impl Line {
    /// Folds a point in.
    #[inline]
    pub fn add(&mut self, x: f64, y: f64) {
        let (x0, y0) = *self.origin.get_or_insert((x, y));
        let (x, y) = (x - x0, y - y0);
        self.count += 1.0;
        self.x += x;
        self.y += y;
        self.xx += x * x;
        self.xy += x * y;
        self.yy += y * y;
    }

    /// The growth of `y` with `x`; `None` with fewer than two different points.
    #[inline]
    pub fn slope(&self) -> Option<f64> {
        let spread = self.count * self.xx - self.x * self.x;
        let slope = (self.count * self.xy - self.x * self.y) / spread;
        (self.count >= 2.0 && spread > 0.0 && slope.is_finite()).then_some(slope)
    }

    /// Standard error of the slope: what points that scatter about the line leave open; `None` of
    /// fewer than three.
    #[inline]
    pub fn slope_error(&self) -> Option<f64> {
        let slope = self.slope()?;
        let spread = self.xx - self.x * self.x / self.count;
        let scatter = (self.yy - self.y * self.y / self.count - slope * slope * spread).max(0.0);
        (self.count >= 3.0).then(|| libm::sqrt(scatter / (self.count - 2.0) / spread))
    }

    /// Standard deviation of `y`; zero without a point.
    #[inline]
    pub fn deviation(&self) -> f64 {
        let count = self.count.max(1.0);
        libm::sqrt((self.yy / count - (self.y / count) * (self.y / count)).max(0.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_on_a_line_have_its_slope_however_far_away() {
        let mut line = Line::default();
        (0..20).for_each(|at| line.add(1e9 + f64::from(at), 5.0 - 0.25 * f64::from(at)));
        assert!((line.slope().unwrap() + 0.25).abs() < 1e-9);
    }

    #[test]
    fn scatter_leaves_a_slope_open() {
        let (mut exact, mut scattered) = (Line::default(), Line::default());
        for at in 0..20 {
            exact.add(f64::from(at), 2.0 * f64::from(at));
            scattered.add(f64::from(at), f64::from(at % 2));
        }
        assert!(exact.slope_error().unwrap() < 1e-6);
        assert!(scattered.slope_error().unwrap() > scattered.slope().unwrap().abs() / 2.0);
    }

    #[test]
    fn deviation_is_that_of_the_values() {
        let mut line = Line::default();
        assert_eq!(line.deviation(), 0.0);
        [3.0, 5.0, 3.0, 5.0].iter().for_each(|y| line.add(0.0, *y));
        assert!((line.deviation() - 1.0).abs() < 1e-9);
    }

    #[test]
    fn one_point_or_one_moment_has_no_slope() {
        let mut line = Line::default();
        assert_eq!(line.slope(), None);
        line.add(1.0, 1.0);
        line.add(1.0, 2.0);
        assert_eq!(line.slope(), None);
    }
}
