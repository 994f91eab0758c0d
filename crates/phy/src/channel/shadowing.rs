use libm::{exp, sqrt};

use super::Scenario;

mod tables {
    include!(concat!(env!("OUT_DIR"), "/channel.rs"));
}

/// Shadowing: a normal deviation of the path loss that changes with place (TR 38.901 Tables
/// 7.4.1-1, 7.5-6).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shadowing {
    /// Standard deviation, dB.
    pub sigma_db: f64,
    /// Distance at which its correlation has fallen to 1/e, m.
    pub correlation_m: f64,
}

impl Shadowing {
    /// The shadowing of a scenario. For rural lines of sight the deviation is 6 dB beyond the
    /// breakpoint; this is the value before it.
    pub fn of(scenario: Scenario, line_of_sight: bool) -> Self {
        let states = match scenario {
            Scenario::Umi => &tables::SHADOWING_UMI,
            Scenario::Uma => &tables::SHADOWING_UMA,
            Scenario::Rma => &tables::SHADOWING_RMA,
            Scenario::Inh => &tables::SHADOWING_INH,
        };
        Self::of_row(states[usize::from(!line_of_sight)])
    }

    /// Additional shadowing of walls with low loss.
    pub fn of_walls() -> Self {
        Self::of_row(tables::SHADOWING_O2I[0])
    }

    const fn of_row((sigma_db, correlation_m): (f64, f64)) -> Self {
        Self { sigma_db, correlation_m }
    }

    /// Correlation between two places this far apart. Range 0..=1.
    pub fn correlation(&self, moved_m: f64) -> f64 {
        exp(-moved_m / self.correlation_m)
    }

    /// The deviation at a place `moved_m` away, in dB, from the deviation here and a standard
    /// normal random number. The standard deviation stays constant over repeated moves.
    pub fn moved(&self, here_db: f64, moved_m: f64, normal: f64) -> f64 {
        let kept = self.correlation(moved_m);
        kept * here_db + sqrt(1.0 - kept * kept) * self.sigma_db * normal
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_movement_the_deviation_stays_and_far_away_it_is_independent() {
        let shadowing = Shadowing::of(Scenario::Uma, false);
        assert_eq!(shadowing.moved(3.0, 0.0, 1.0), 3.0);
        assert!((shadowing.moved(3.0, 1e6, 1.0) - 6.0).abs() < 1e-9);
        let apart = shadowing.correlation(50.0);
        assert!((apart - (-1.0f64).exp()).abs() < 1e-12, "{apart}");
    }

    #[test]
    fn obstacles_make_levels_deviate_more() {
        for scenario in [Scenario::Umi, Scenario::Uma, Scenario::Rma, Scenario::Inh] {
            let sigma = |los| Shadowing::of(scenario, los).sigma_db;
            assert!(sigma(true) < sigma(false), "{scenario:?}");
        }
        assert!(Shadowing::of_walls().sigma_db > 0.0);
    }
}
