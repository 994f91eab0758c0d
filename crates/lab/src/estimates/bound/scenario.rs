//! The world of a seed: a cell, its other users, a device and its flow.

use std::fmt;
use std::time::Duration;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde::Serialize;
use sounding_cell::Direction;
use sounding_cell::config::{
    CarrierConfig, DeviceConfig, HandoverConfig, NetworkKind, Rat, UplinkConfig,
};
use sounding_cell::radio::{Between, FadingConfig, Level, ModelConfig, ScriptConfig};
use sounding_cell::traffic::Traffic;
use sounding_units::Bytes;

/// The shape of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Shape {
    /// A window far above the link's BDP.
    Saturated,
    /// A window from two packets to a few times the link's BDP, clocked by acknowledgements.
    Window,
    /// A constant rate.
    Paced,
    /// Saturated and silent in turns.
    OnOff,
}

impl Shape {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Saturated, Self::Window, Self::Paced, Self::OnOff];
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Saturated => "saturated",
            Self::Window => "window",
            Self::Paced => "paced",
            Self::OnOff => "on-off",
        })
    }
}

/// The kinds of runs that are counted apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Kind {
    /// Whether the cell has NR; it has LTE otherwise.
    pub nr: bool,
    /// Whether the device sends; it receives otherwise.
    pub up: bool,
    /// The shape of its flow.
    pub shape: Shape,
}

/// One run.
#[derive(Clone, Debug)]
pub(super) struct Scenario {
    pub(super) kind: Kind,
    pub(super) carriers: Vec<CarrierConfig>,
    pub(super) device: DeviceConfig,
    /// Devices that always have data to send, or to receive.
    pub(super) greedy: Vec<DeviceConfig>,
    /// Devices with their own traffic.
    pub(super) others: Vec<DeviceConfig>,
    /// Packets that may be on their way, where a window decides.
    pub(super) window: u32,
    /// From a packet's arrival until its acknowledgement is back at the sender, the radio's part
    /// left out.
    pub(super) wire: Duration,
    /// Packets per second, for shapes with a rate.
    pub(super) rate: f64,
    /// Durations of the periods of an on-off flow.
    pub(super) turns: [Duration; 2],
    pub(super) span: Duration,
}

impl Kind {
    /// The kinds take turns, seed by seed.
    pub(super) fn of(seed: u64) -> Self {
        let shape = Shape::ALL[(seed / 4 % 4) as usize];
        Self { nr: seed % 2 == 1, up: seed / 2 % 2 == 1, shape }
    }

    pub(super) fn direction(self) -> Direction {
        if self.up { Direction::Uplink } else { Direction::Downlink }
    }
}

impl Scenario {
    pub(super) fn of(seed: u64, network: NetworkKind, timer: Duration) -> Self {
        let kind = Kind::of(seed);
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let cells = if rng.random_bool(0.3) { 2 } else { 1 };
        let carriers = (0..cells).map(|at| carrier(kind, at, &mut rng)).collect();
        let fading = FadingConfig {
            surroundings_mps: between(0.3, 15.0, &mut rng),
            ..FadingConfig::default()
        };
        let levels = (0..4).map(|at| Level { at_s: f64::from(at), sinr_db: level(&mut rng) });
        let script = ScriptConfig {
            levels: levels.collect(),
            between: Between::Linear,
            fading,
            ..ScriptConfig::constant(0.0)
        };
        let at = (1..3).map(|at| Duration::from_millis(at * rng.random_range(700..1_200)));
        let handover = HandoverConfig {
            at: if cells == 2 { at.collect() } else { Vec::new() },
            ..HandoverConfig::default()
        };
        let device = DeviceConfig {
            cells: (0..cells).map(|cell| vec![usize::from(cell)]).collect(),
            channel: ModelConfig::Script(script.clone()),
            handover,
            scheduling: UplinkConfig { network, periodic_bsr: timer, ..UplinkConfig::default() },
            ..DeviceConfig::default()
        };
        let other = |traffic, rng: &mut ChaCha8Rng| DeviceConfig {
            channel: ModelConfig::Script(ScriptConfig {
                fading,
                ..ScriptConfig::constant(level(rng))
            }),
            traffic,
            ..DeviceConfig::default()
        };
        let greedy = rng.random_range(0..4_u32).saturating_sub(1);
        let busy = rng.random_range(0..3_u32);
        let objects = Traffic::Objects {
            per_sec: 5.0,
            mean: Bytes::new(40_000),
            most: Bytes::new(1_000_000),
        };
        let turn = |rng: &mut ChaCha8Rng| Duration::from_millis(rng.random_range(100..600));
        Self {
            kind,
            carriers,
            device,
            greedy: (0..greedy).map(|_| other(None, &mut rng)).collect(),
            others: (0..busy).map(|_| other(Some(objects), &mut rng)).collect(),
            window: match kind.shape {
                Shape::Window => between(2.0, 400.0, &mut rng) as u32,
                _ => 800,
            },
            wire: Duration::from_millis(rng.random_range(10..60)),
            rate: between(0.3e6, 30e6, &mut rng) / 8.0 / super::PACKET.count() as f64,
            turns: [turn(&mut rng), turn(&mut rng)],
            span: Duration::from_millis(rng.random_range(2_000..4_000)),
        }
    }
}

/// A number whose logarithm is anywhere between those of two.
fn between(least: f64, most: f64, rng: &mut ChaCha8Rng) -> f64 {
    least * (most / least).powf(rng.random::<f64>())
}

/// The level of a device in its cell, dB: from its edge to near its middle.
fn level(rng: &mut ChaCha8Rng) -> f32 {
    rng.random_range(4.0..26.0)
}

fn carrier(kind: Kind, at: u16, rng: &mut ChaCha8Rng) -> CarrierConfig {
    let pci = 10 + at;
    if !kind.nr {
        let prb = [25, 50, 100][rng.random_range(0..3_usize)];
        return CarrierConfig { prb, pci, ..CarrierConfig::default() };
    }
    let tdd = [Some("DDDSU"), Some("DDDDDDDSUU"), None][rng.random_range(0..3_usize)];
    CarrierConfig {
        rat: Rat::Nr,
        numerology: u8::from(tdd.is_some()),
        prb: [51, 106][rng.random_range(0..2_usize)],
        tdd: tdd.map(Into::into),
        pci,
        arfcn: 636_666,
        ..CarrierConfig::default()
    }
}
