/// Weight of a new deviation in the usual one.
const NEW: f64 = 0.1;
/// A deviation is unusual beyond so many usual differences.
const DIFFERENCES: f64 = 4.0;
/// A smaller one never is, in seconds.
const LEAST: f64 = 1e-3;
/// Where more deviations than this part are unusual, the usual one is another now.
const MOSTLY: f64 = 0.95;

/// The deviations of RTTs that are usual on a path, in seconds.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Usual {
    /// Mean, and mean difference between a deviation and the mean.
    known: Option<(f64, f64)>,
    /// The part of deviations that were unusual lately.
    unusual: f64,
}

impl Usual {
    /// Takes in the deviation of an interval; whether it is unusual.
    pub(super) fn handle(&mut self, deviation: f64) -> bool {
        self.unusual *= 1.0 - NEW;
        let Some((mean, difference)) = &mut self.known else {
            self.known = Some((deviation, deviation / 2.0));
            return false;
        };
        if deviation <= *mean + DIFFERENCES * *difference || deviation <= LEAST {
            *difference += NEW * ((deviation - *mean).abs() - *difference);
            *mean += NEW * (deviation - *mean);
            return false;
        }
        self.unusual += NEW;
        if self.unusual > MOSTLY {
            *self = Self::default();
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_deviation_far_beyond_the_usual_counts_until_it_is_usual() {
        let mut usual = Usual::default();
        assert!((0..20).all(|_| !usual.handle(0.002)));
        assert!(usual.handle(0.03));
        let until = (0..1_000).position(|_| !usual.handle(0.03));
        assert!(until.is_some_and(|at| at > 10), "{until:?}");
    }

    #[test]
    fn less_than_a_millisecond_is_noise() {
        let mut usual = Usual::default();
        assert!((0..20).all(|_| !usual.handle(1e-5)));
        assert!(!usual.handle(9e-4));
    }
}
