//! Links that the papers' authors would have measured over: a device on the move in a cell that
//! others use too.

use std::time::Duration;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use sounding_cell::config::{CarrierConfig, DeviceConfig, Rat};
use sounding_cell::radio::{
    FadingConfig, InterferenceConfig, ModelConfig, Position, PropagationConfig, TrajectoryConfig,
};
use sounding_kpi::Direction;

/// Others of the cell.
const OTHERS: usize = 6;

/// Distance of devices from the site: from this up to half of the 500 m between macro sites (TR
/// 36.814 Table A.2.1.1-1), and the corners.
const NEAREST_M: f64 = 35.0;
const FARTHEST_M: f64 = 290.0;

/// One link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scenario {
    /// LTE or NR.
    pub rat: Rat,
    /// Direction of the flow.
    pub direction: Direction,
    /// Speed of the device.
    pub pace: Pace,
    /// Whether the cell has no other users.
    pub alone: bool,
    /// When the flow ends, if it does within the run.
    pub ends: Option<Duration>,
}

/// The speed of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pace {
    /// At rest.
    Static,
    /// On foot.
    Walk,
    /// In a car.
    Drive,
}

impl Pace {
    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Static => "static",
            Self::Walk => "walk",
            Self::Drive => "drive",
        }
    }

    /// Metres per second, slowest and fastest.
    const fn speeds(self) -> Option<(f64, f64)> {
        match self {
            Self::Static => None,
            Self::Walk => Some((0.8, 2.0)),
            Self::Drive => Some((5.0, 14.0)),
        }
    }
}

impl Scenario {
    /// With other users, and a flow that does not end.
    pub const fn new(rat: Rat, direction: Direction, pace: Pace) -> Self {
        Self { rat, direction, pace, alone: false, ends: None }
    }

    /// Every link: both RATs, both ways, each pace.
    pub fn all() -> Vec<Self> {
        let mut all = Vec::new();
        for rat in [Rat::Lte, Rat::Nr] {
            for direction in [Direction::Downlink, Direction::Uplink] {
                for pace in [Pace::Static, Pace::Walk, Pace::Drive] {
                    all.push(Self::new(rat, direction, pace));
                }
            }
        }
        all
    }

    /// Its name.
    pub fn name(&self) -> String {
        let rat = match self.rat {
            Rat::Lte => "lte",
            Rat::Nr => "nr",
        };
        format!("{rat}.{}.{}", self.direction, self.pace.name())
    }

    /// LTE of two carriers of 10 MHz, the second downlink only, or NR of 20 MHz shared in time;
    /// with the control users of a busy cell (PBE-CC Fig. 7: 16 in 40 ms).
    pub(super) fn carriers(&self) -> Vec<CarrierConfig> {
        let control_users_per_sec = if self.alone { 0.0 } else { 300.0 };
        let busy = CarrierConfig { control_users_per_sec, ..CarrierConfig::default() };
        match self.rat {
            Rat::Lte => {
                let first = CarrierConfig { prb: 50, ..busy };
                let second = CarrierConfig {
                    uplink: false,
                    frequency_mhz: 2_655.0,
                    arfcn: 3_100,
                    pci: 2,
                    ..first.clone()
                };
                vec![first, second]
            }
            Rat::Nr => vec![CarrierConfig {
                rat: Rat::Nr,
                numerology: 1,
                prb: 51,
                tdd: Some("DDDSU".into()),
                frequency_mhz: 3_600.0,
                arfcn: 640_000,
                ..busy
            }],
        }
    }

    /// The measured device, and the others of its cell, which do not move.
    pub(super) fn devices(&self, seed: u64) -> Vec<DeviceConfig> {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let carriers = self.carriers().len();
        let mut devices = vec![DeviceConfig {
            cells: vec![(0..carriers).collect()],
            trajectory: self.trajectory(&mut rng),
            channel: channel(),
            ..DeviceConfig::default()
        }];
        let others = if self.alone { 0 } else { OTHERS };
        for user in 0..others {
            devices.push(DeviceConfig {
                cells: vec![vec![user % carriers]],
                trajectory: TrajectoryConfig::Static { at: place(&mut rng) },
                channel: channel(),
                ..DeviceConfig::default()
            });
        }
        devices
    }

    fn trajectory(&self, rng: &mut ChaCha8Rng) -> TrajectoryConfig {
        match self.pace.speeds() {
            None => TrajectoryConfig::Static { at: place(rng) },
            Some((slowest_mps, fastest_mps)) => TrajectoryConfig::RandomWaypoint {
                corner: place(rng),
                opposite: place(rng),
                slowest_mps,
                fastest_mps,
                pause_s: 5.0,
            },
        }
    }
}

/// A city: walls, cars, and neighbours that send now and then.
fn channel() -> ModelConfig {
    ModelConfig::Propagation(PropagationConfig {
        fading: FadingConfig::default(),
        interference: InterferenceConfig { over_noise_db: 10.0, ..InterferenceConfig::default() },
        further_loss_db: 15.0,
        ..PropagationConfig::default()
    })
}

/// A place in the cell, all its area alike.
fn place(rng: &mut ChaCha8Rng) -> Position {
    let area: f64 = rng.random_range(NEAREST_M * NEAREST_M..FARTHEST_M * FARTHEST_M);
    let angle: f64 = rng.random_range(0.0..core::f64::consts::TAU);
    Position::new(area.sqrt() * angle.cos(), area.sqrt() * angle.sin())
}
