//! Path loss and the probability of a line of sight (TR 38.901 Tables 7.4.1-1, 7.4.2-1, 7.4.3).

use core::f64::consts::PI;

use libm::{exp, log10, pow, sqrt};

/// The surroundings of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scenario {
    /// Rural, antennas above the roofs.
    Rma,
    /// Urban, antennas above the roofs.
    Uma,
    /// Urban street canyon, antennas below the roofs.
    Umi,
    /// Office of mixed layout.
    Inh,
}

/// The positions of both ends of a link.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Geometry {
    /// Distance on the ground, d_2D. The models hold from 10 m (1 m in offices).
    pub ground_m: f64,
    /// Height of the base station's antenna.
    pub base_m: f64,
    /// Height of the device.
    pub device_m: f64,
}

impl Geometry {
    /// Distance in space, d_3D.
    pub fn space_m(&self) -> f64 {
        let height = self.base_m - self.device_m;
        sqrt(self.ground_m * self.ground_m + height * height)
    }
}

const LIGHT_M_PER_S: f64 = 3.0e8;
/// Height of the surroundings of the device in urban scenarios, h_E. TR 38.901 draws other values
/// for devices above 13 m.
const EFFECTIVE_M: f64 = 1.0;
/// Average height of buildings and width of streets in the rural scenario.
const BUILDING_M: f64 = 5.0;
const STREET_M: f64 = 20.0;

/// Path loss in dB, without shadowing, at a carrier frequency in GHz (TR 38.901 Table 7.4.1-1).
pub fn path_loss_db(scenario: Scenario, at: &Geometry, line_of_sight: bool, ghz: f64) -> f64 {
    let clear = line_of_sight_db(scenario, at, ghz);
    if line_of_sight { clear } else { clear.max(obstructed_db(scenario, at, ghz)) }
}

fn line_of_sight_db(scenario: Scenario, at: &Geometry, ghz: f64) -> f64 {
    let space = log10(at.space_m());
    let frequency = 20.0 * log10(ghz);
    let heights = at.base_m - at.device_m;
    match scenario {
        Scenario::Inh => 32.4 + 17.3 * space + frequency,
        Scenario::Umi | Scenario::Uma => {
            let (constant, near, far) = match scenario {
                Scenario::Umi => (32.4, 21.0, 9.5),
                _ => (28.0, 22.0, 9.0),
            };
            let base = at.base_m - EFFECTIVE_M;
            let breakpoint = 4.0 * base * (at.device_m - EFFECTIVE_M) * ghz * 1e9 / LIGHT_M_PER_S;
            if at.ground_m <= breakpoint {
                constant + near * space + frequency
            } else {
                let bend = log10(breakpoint * breakpoint + heights * heights);
                constant + 40.0 * space + frequency - far * bend
            }
        }
        Scenario::Rma => {
            let breakpoint = 2.0 * PI * at.base_m * at.device_m * ghz * 1e9 / LIGHT_M_PER_S;
            if at.ground_m <= breakpoint {
                rural_db(at.space_m(), ghz)
            } else {
                let there = sqrt(breakpoint * breakpoint + heights * heights);
                rural_db(there, ghz) + 40.0 * log10(at.space_m() / there)
            }
        }
    }
}

/// Rural path loss before the breakpoint.
fn rural_db(space_m: f64, ghz: f64) -> f64 {
    let height = pow(BUILDING_M, 1.72);
    20.0 * log10(40.0 * PI * space_m * ghz / 3.0) + (0.03 * height).min(10.0) * log10(space_m)
        - (0.044 * height).min(14.77)
        + 0.002 * log10(BUILDING_M) * space_m
}

fn obstructed_db(scenario: Scenario, at: &Geometry, ghz: f64) -> f64 {
    let space = log10(at.space_m());
    let frequency = log10(ghz);
    let device = at.device_m - 1.5;
    match scenario {
        Scenario::Umi => 35.3 * space + 22.4 + 21.3 * frequency - 0.3 * device,
        Scenario::Uma => 13.54 + 39.08 * space + 20.0 * frequency - 0.6 * device,
        Scenario::Inh => 38.3 * space + 17.3 + 24.9 * frequency,
        Scenario::Rma => {
            let base = log10(at.base_m);
            let ratio = BUILDING_M / at.base_m;
            let ground = log10(11.75 * at.device_m);
            161.04 - 7.1 * log10(STREET_M) + 7.5 * log10(BUILDING_M)
                - (24.37 - 3.7 * ratio * ratio) * base
                + (43.42 - 3.1 * base) * (space - 3.0)
                + 20.0 * frequency
                - (3.2 * ground * ground - 4.97)
        }
    }
}

/// Probability of a line of sight (TR 38.901 Table 7.4.2-1). Range 0..=1.
pub fn los_probability(scenario: Scenario, at: &Geometry) -> f64 {
    let distance = at.ground_m;
    let urban = |decay: f64| {
        let near = 18.0 / distance;
        near + exp(-distance / decay) * (1.0 - near)
    };
    match scenario {
        Scenario::Umi | Scenario::Uma if distance <= 18.0 => 1.0,
        Scenario::Umi => urban(36.0),
        Scenario::Uma => {
            let above = pow(((at.device_m - 13.0) / 10.0).max(0.0), 1.5);
            let raised = above * 1.25 * pow(distance / 100.0, 3.0) * exp(-distance / 150.0);
            urban(63.0) * (1.0 + raised)
        }
        Scenario::Rma if distance <= 10.0 => 1.0,
        Scenario::Rma => exp(-(distance - 10.0) / 1000.0),
        Scenario::Inh => match distance {
            ..=1.2 => 1.0,
            1.2..6.5 => exp(-(distance - 1.2) / 4.7),
            _ => exp(-(distance - 6.5) / 32.6) * 0.32,
        },
    }
    // The urban macro model exceeds one a little for high devices.
    .min(1.0)
}

/// Extra path loss of a low-loss building's walls and of the way within it, in dB (TR 38.901
/// §7.4.3).
pub fn wall_loss_db(indoor_m: f64, ghz: f64) -> f64 {
    let glass = 2.0 + 0.2 * ghz;
    let concrete = 5.0 + 4.0 * ghz;
    let through = 0.3 * pow(10.0, -glass / 10.0) + 0.7 * pow(10.0, -concrete / 10.0);
    5.0 - 10.0 * log10(through) + 0.5 * indoor_m
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::{Strategy, prop, prop_assert, proptest};

    const ALL: [Scenario; 4] = [Scenario::Rma, Scenario::Uma, Scenario::Umi, Scenario::Inh];

    /// Heights the evaluations of TR 38.901 begin with (Tables 7.2-1 to 7.2-3).
    fn typical(scenario: Scenario, ground_m: f64) -> Geometry {
        let base_m = match scenario {
            Scenario::Rma => 35.0,
            Scenario::Uma => 25.0,
            Scenario::Umi => 10.0,
            Scenario::Inh => 3.0,
        };
        Geometry { ground_m, base_m, device_m: 1.5 }
    }

    #[test]
    fn losses_at_100_m_and_2_ghz_are_those_of_another_reading_of_the_formulae() {
        for (scenario, clear, obstructed) in [
            (Scenario::Uma, 78.277, 98.177),
            (Scenario::Umi, 80.453, 99.467),
            (Scenario::Rma, 79.338, 87.813),
            (Scenario::Inh, 73.021, 101.398),
        ] {
            let at = typical(scenario, 100.0);
            let los = path_loss_db(scenario, &at, true, 2.0);
            let nlos = path_loss_db(scenario, &at, false, 2.0);
            assert!((los - clear).abs() < 0.001, "{scenario:?}: {los}");
            assert!((nlos - obstructed).abs() < 0.001, "{scenario:?}: {nlos}");
        }
    }

    #[test]
    fn the_two_branches_meet_at_the_breakpoint() {
        for (scenario, breakpoint) in
            [(Scenario::Uma, 320.0), (Scenario::Umi, 120.0), (Scenario::Rma, 2199.1148575)]
        {
            let loss = |ground| path_loss_db(scenario, &typical(scenario, ground), true, 2.0);
            let step = loss(breakpoint + 1e-6) - loss(breakpoint - 1e-6);
            // The constants of the urban models are rounded to half a decibel and less.
            assert!(step.abs() < 0.5, "{scenario:?}: {step}");
        }
    }

    #[test]
    fn a_line_of_sight_is_certain_close_by() {
        for scenario in ALL {
            assert_eq!(los_probability(scenario, &typical(scenario, 1.0)), 1.0);
        }
        let umi = los_probability(Scenario::Umi, &typical(Scenario::Umi, 100.0));
        assert!((umi - 0.230_985).abs() < 1e-5, "{umi}");
    }

    #[test]
    fn walls_cost_more_at_higher_frequencies_and_deeper_inside() {
        assert!(wall_loss_db(0.0, 3.5) > wall_loss_db(0.0, 0.8));
        assert!((wall_loss_db(10.0, 2.0) - wall_loss_db(0.0, 2.0) - 5.0).abs() < 1e-9);
    }

    fn links() -> impl Strategy<Value = (Scenario, Geometry, f64)> {
        let scenarios = prop::sample::select(&ALL[..]);
        (scenarios, 10.0..5000.0, 1.5..22.0, 0.5..6.0).prop_map(
            |(scenario, ground, device_m, ghz)| {
                (scenario, Geometry { device_m, ..typical(scenario, ground) }, ghz)
            },
        )
    }

    proptest! {
        #[test]
        fn obstacles_never_help((scenario, at, ghz) in links()) {
            let loss = |los| path_loss_db(scenario, &at, los, ghz);
            prop_assert!(loss(false) >= loss(true) && loss(true) > 0.0 && loss(false) < 300.0);
        }

        #[test]
        fn farther_is_never_louder((scenario, at, ghz) in links(), more in 5.0..1000.0) {
            let farther = Geometry { ground_m: at.ground_m + more, ..at };
            for los in [true, false] {
                let near = path_loss_db(scenario, &at, los, ghz);
                let far = path_loss_db(scenario, &farther, los, ghz);
                // The branches of the models differ a little where they meet.
                prop_assert!(far > near - 0.5, "{far} {near}");
            }
        }

        #[test]
        fn probabilities_are_probabilities((scenario, at, _) in links()) {
            prop_assert!((0.0..=1.0).contains(&los_probability(scenario, &at)));
        }
    }
}
