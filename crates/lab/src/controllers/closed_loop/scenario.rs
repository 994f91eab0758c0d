//! The world of a seed: a cell, its other users, and how its radio changes.

use std::fmt;
use std::time::Duration;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde::Serialize;
use sounding_cell::config::{CarrierConfig, DeviceConfig, HandoverConfig, InvalidConfig, Rat};
use sounding_cell::modem::ModemConfig;
use sounding_cell::radio::{Between, FadingConfig, Level, ModelConfig, ScriptConfig};
use sounding_cell::traffic::Traffic;
use sounding_kpi::Direction;
use sounding_sim::world::Segment;
use sounding_sim::{Device, PathConfig, Port, Radio, Through, Wired, World};
use sounding_units::{Bytes, HostInstant, Rate};

/// The wire's part of the path, each way; the radio adds its own.
pub(super) const WIRE: Duration = Duration::from_millis(20);

/// Situations of flows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Case {
    /// A flow alone in its cell, over a channel that never changes.
    Still,
    /// A flow alone on its device, as in all that follow in a cell with others and over a channel
    /// that fades.
    Alone,
    /// A flow that was limited to a twentieth of its link until it is released.
    Climb,
    /// A flow alone whose device goes to another cell.
    Handover,
    /// Two equal flows on a device.
    Two,
    /// Three.
    Three,
    /// A flow together with a CUBIC flow on the same device.
    BesideCubic,
}

impl Case {
    /// All situations.
    pub const ALL: [Self; 7] = [
        Self::Still,
        Self::Alone,
        Self::Climb,
        Self::Handover,
        Self::Two,
        Self::Three,
        Self::BesideCubic,
    ];

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Still => "still",
            Self::Alone => "alone",
            Self::Climb => "climb",
            Self::Handover => "handover",
            Self::Two => "two",
            Self::Three => "three",
            Self::BesideCubic => "beside-cubic",
        }
    }

    /// Its duration.
    pub(super) const fn span(self) -> Duration {
        Duration::from_secs(match self {
            Self::Climb => 4,
            Self::Handover => 7,
            Self::Still | Self::Alone | Self::Two | Self::Three => 10,
            Self::BesideCubic => 15,
        })
    }
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// When the flow of [`Case::Climb`] is let go.
pub(super) const FREED: Duration = Duration::from_secs(2);
/// When the device of [`Case::Handover`] is handed over.
pub(super) const GOES: Duration = Duration::from_secs(4);

/// LTE or NR, one way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Kind {
    /// Whether the cell has NR; it has LTE otherwise.
    pub nr: bool,
    /// Whether the device sends; it receives otherwise.
    pub up: bool,
}

impl Kind {
    /// All four.
    pub const ALL: [Self; 4] = [
        Self { nr: false, up: true },
        Self { nr: false, up: false },
        Self { nr: true, up: true },
        Self { nr: true, up: false },
    ];

    /// Where the data enters the network.
    pub(crate) fn port(self) -> Port {
        if self.up { Port::up(Device(0)) } else { Port::down(Device(0)) }
    }

    /// From an estimate's publication to the sender: over the wire, where that is behind it.
    pub(super) fn latency(self) -> Duration {
        if self.up { Duration::from_millis(1) } else { WIRE }
    }

    /// Time from leaving the sender until a block of the radio can carry it, including the time for
    /// a grant.
    pub(super) fn lead(self) -> Duration {
        match self.port().direction {
            Direction::Uplink => Duration::from_millis(15),
            Direction::Downlink => WIRE + Duration::from_millis(2),
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rat = if self.nr { "NR" } else { "LTE" };
        f.pad(&format!("{rat} {}", if self.up { "up" } else { "down" }))
    }
}

/// A cell, or two where the device changes it, and the devices in it.
#[derive(Clone, Debug)]
pub(super) struct Scenario {
    pub(super) kind: Kind,
    carriers: Vec<CarrierConfig>,
    device: DeviceConfig,
    others: Vec<DeviceConfig>,
    seed: u64,
}

pub(super) type CellWorld = World<Wired<Radio<Through<Segment>>, Segment>>;

impl Scenario {
    /// A random scene with chosen ranges: carriers of 5 to 40 MHz, a channel of 6 to 24 dB that
    /// fades by surroundings at 0.3 to 3 m/s, and up to two other users that fetch or send
    /// objects.
    pub(super) fn of(kind: Kind, case: Case, seed: u64) -> Self {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let (handover, still) = (case == Case::Handover, case == Case::Still);
        let cells: u16 = if handover { 2 } else { 1 };
        let carriers = (0..cells).map(|at| carrier(kind, at, &mut rng)).collect();
        let fading = |rng: &mut ChaCha8Rng| FadingConfig {
            surroundings_mps: 0.3 * 10.0_f64.powf(rng.random::<f64>()),
            ..FadingConfig::default()
        };
        let levels = (0..5)
            .map(|at| Level { at_s: f64::from(at) * 3.0, sinr_db: rng.random_range(6.0..24.0) });
        let levels = levels.collect();
        let fades = fading(&mut rng);
        let script = if still {
            ScriptConfig::constant(rng.random_range(6.0..24.0))
        } else {
            let between = Between::Linear;
            ScriptConfig { levels, between, fading: fades, ..ScriptConfig::constant(0.0) }
        };
        let at = if handover { vec![GOES] } else { Vec::new() };
        let device = DeviceConfig {
            cells: (0..cells).map(|cell| vec![usize::from(cell)]).collect(),
            channel: ModelConfig::Script(script),
            handover: HandoverConfig { at, ..HandoverConfig::default() },
            ..DeviceConfig::default()
        };
        let objects = Traffic::Objects {
            per_sec: 5.0,
            mean: Bytes::new(40_000),
            most: Bytes::new(1_000_000),
        };
        let others = (0..rng.random_range(0..3_u32)).map(|_| {
            let level = rng.random_range(6.0..24.0);
            let fading = fading(&mut rng);
            DeviceConfig {
                channel: ModelConfig::Script(ScriptConfig {
                    fading,
                    ..ScriptConfig::constant(level)
                }),
                traffic: Some(objects),
                ..DeviceConfig::default()
            }
        });
        let others = if still { Vec::new() } else { others.collect() };
        Self { kind, carriers, device, others, seed }
    }

    /// The same with levels for a longer span.
    pub(super) fn over(mut self, span: Duration) -> Self {
        let mut rng = ChaCha8Rng::seed_from_u64(!self.seed);
        if let ModelConfig::Script(ScriptConfig { levels, .. }) = &mut self.device.channel
            && levels.len() > 1
        {
            while let Some(last) = levels.last().filter(|last| last.at_s < span.as_secs_f64()) {
                let at_s = last.at_s + 3.0;
                levels.push(Level { at_s, sinr_db: rng.random_range(6.0..24.0) });
            }
        }
        self
    }

    /// The level of a channel that never changes, dB.
    pub(super) fn level_db(&self) -> f32 {
        match &self.device.channel {
            ModelConfig::Script(script) => script.levels.first().map_or(0.0, |level| level.sinr_db),
            _ => 0.0,
        }
    }

    /// The same with another channel.
    pub(super) fn with_channel(&self, script: ScriptConfig) -> Self {
        let device = DeviceConfig { channel: ModelConfig::Script(script), ..self.device.clone() };
        Self { device, ..self.clone() }
    }

    /// The network at time zero, the modem of its first device listened to.
    pub(super) fn world(&self) -> Result<CellWorld, InvalidConfig> {
        let mut radio = Radio::new(self.carriers.clone(), self.seed)?;
        let drain = Duration::from_millis(1);
        radio.add_listened(self.device.clone(), ModemConfig::default(), drain)?;
        for other in &self.others {
            radio.add_device(other.clone())?;
        }
        let mut wire = PathConfig::new(Rate::from_bits_per_sec(1_000_000_000));
        wire.delay = WIRE;
        let wired = Wired::new(radio, &wire, &wire, HostInstant::default());
        Ok(World::new(wired, self.seed))
    }
}

fn carrier(kind: Kind, at: u16, rng: &mut ChaCha8Rng) -> CarrierConfig {
    let pci = 10 + at;
    if !kind.nr {
        let prb = [25, 50, 100][rng.random_range(0..3_usize)];
        return CarrierConfig { prb, pci, ..CarrierConfig::default() };
    }
    let tdd = ["DDDSU", "DDDDDDDSUU"][rng.random_range(0..2_usize)];
    CarrierConfig {
        rat: Rat::Nr,
        numerology: 1,
        prb: [24, 51, 106][rng.random_range(0..3_usize)],
        tdd: Some(tdd.into()),
        pci,
        arfcn: 636_666,
        ..CarrierConfig::default()
    }
}
