//! The situations of a router: a cell, how its radio changes, and the traffic behind the router.

use std::fmt;
use std::ops::Range;
use std::time::Duration;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde::Serialize;
use sounding_cell::config::{CarrierConfig, DeviceConfig, HandoverConfig, InvalidConfig, Rat};
use sounding_cell::modem::ModemConfig;
use sounding_cell::radio::{Between, FadingConfig, Level, ModelConfig, ScriptConfig};
use sounding_cell::traffic::Traffic as Others;
use sounding_kpi::Direction;
use sounding_sim::shaper::{Behind, Shaped, ShapedBy};
use sounding_sim::world::{Flow, Segment, Traffic};
use sounding_sim::{Device, PathConfig, Port, QueueLimit, Radio, Through, Wired, World};
use sounding_units::{Bytes, HostInstant, Rate};

use crate::controllers::closed_loop::Kind;

/// A situation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Case {
    /// The router and its surroundings stand still; a bulk flow, as in all that follow.
    Still,
    /// The channel fades as at walking speed, and its mean changes within seconds.
    Walking,
    /// The same at 14 m/s, with larger changes.
    Driving,
    /// Walking, with a handover every five seconds.
    Handovers,
    /// Walking, with a second without a channel, twice.
    Silence,
    /// Three seconds of bulk after four of silence of the sender, again and again.
    Bursts,
    /// The bottleneck is a wire behind the radio.
    WiredBottleneck,
    /// The sender has a fifth of the radio's rate to send.
    AppLimited,
    /// A bulk flow in each direction.
    Both,
    /// A call of 10 kB/s and web pages of 100 kB beside the bulk flow.
    Household,
    /// Three devices behind the router, each with a bulk flow.
    ThreeDevices,
}

impl Case {
    /// All of them.
    pub const ALL: [Self; 11] = [
        Self::Still,
        Self::Walking,
        Self::Driving,
        Self::Handovers,
        Self::Silence,
        Self::Bursts,
        Self::WiredBottleneck,
        Self::AppLimited,
        Self::Both,
        Self::Household,
        Self::ThreeDevices,
    ];

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Still => "still",
            Self::Walking => "walking",
            Self::Driving => "driving",
            Self::Handovers => "handovers",
            Self::Silence => "silence",
            Self::Bursts => "bursts",
            Self::WiredBottleneck => "wired-bottleneck",
            Self::AppLimited => "app-limited",
            Self::Both => "both",
            Self::Household => "household",
            Self::ThreeDevices => "three-devices",
        }
    }
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// The wire's part of the path, each way.
const WIRE: Duration = Duration::from_millis(20);
/// The wire's rate where it is the bottleneck.
const NARROW: Rate = Rate::from_bits_per_sec(3_000_000);
/// When the channel of a silence goes, for a second.
const SILENCES: [Duration; 2] = [Duration::from_secs(7), Duration::from_secs(14)];
/// The duration of a run.
pub(super) const SPAN: Duration = Duration::from_secs(20);
/// A hundred small packets a second, as `ping` sends them.
const PROBE: (Rate, Bytes) = (Rate::from_bits_per_sec(67_200), Bytes::new(84));

/// A cell, and what is sent over it.
#[derive(Clone, Debug)]
pub(super) struct Scene {
    /// Where the bulk goes.
    pub kind: Kind,
    case: Case,
    carriers: Vec<CarrierConfig>,
    device: DeviceConfig,
    others: Vec<DeviceConfig>,
    seed: u64,
    /// Whether the wire behind the radio has its rate of this case.
    is_wired: bool,
}

type Behinds = Behind<Segment>;

/// A world with shapers at its first device.
pub(super) type ShapedWorld = World<Shaped<Wired<Radio<Through<Behinds>>, Behinds>, Segment>>;

impl Scene {
    /// A random scene with chosen ranges: a carrier of 10 MHz, or 20 in NR, a channel of 6 to 24 dB
    /// (4 to 26 while driving), and up to two other users that send or fetch objects.
    pub(super) fn of(kind: Kind, case: Case, seed: u64) -> Self {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let cells: u16 = if case == Case::Handovers { 2 } else { 1 };
        let carriers = (0..cells).map(|at| carrier(kind, at)).collect();
        let is_still = matches!(case, Case::Still | Case::WiredBottleneck | Case::AppLimited);
        let script = if is_still { still(&mut rng) } else { moving(case, &mut rng) };
        let at = match case {
            Case::Handovers => (1..4).map(|at| Duration::from_secs(5 * at)).collect(),
            _ => Vec::new(),
        };
        let device = DeviceConfig {
            cells: (0..cells).map(|cell| vec![usize::from(cell)]).collect(),
            channel: ModelConfig::Script(script),
            handover: HandoverConfig { at, ..HandoverConfig::default() },
            ..DeviceConfig::default()
        };
        let objects =
            Others::Objects { per_sec: 3.0, mean: Bytes::new(40_000), most: Bytes::new(1_000_000) };
        let others = (0..rng.random_range(0..3_u32)).map(|_| DeviceConfig {
            channel: ModelConfig::Script(still(&mut rng)),
            traffic: Some(objects),
            ..DeviceConfig::default()
        });
        let others = if case == Case::Still { Vec::new() } else { others.collect() };
        Self { kind, case, carriers, device, others, seed, is_wired: true }
    }

    /// The same cell for bulk in a direction, without a bottleneck behind it.
    #[must_use]
    pub(super) fn cell_alone(&self, direction: Direction) -> Self {
        let kind = Kind { up: direction == Direction::Uplink, ..self.kind };
        Self { kind, is_wired: false, ..self.clone() }
    }

    /// The directions that have bulk.
    pub(super) fn directions(&self) -> Vec<Direction> {
        let port = self.kind.port();
        match self.case {
            Case::Both => vec![port.direction, port.reverse().direction],
            _ => vec![port.direction],
        }
    }

    /// When there is no channel.
    pub(super) fn silences(&self) -> Vec<Range<Duration>> {
        match self.case {
            Case::Silence => SILENCES.map(|at| at..at + Duration::from_secs(1)).to_vec(),
            _ => Vec::new(),
        }
    }

    /// The world at time zero, with the network's own shapers.
    ///
    /// # Errors
    ///
    /// [`InvalidConfig`] if a setting of the cell is outside its range.
    pub(super) fn world(
        &self,
        up: Option<ShapedBy>,
        down: Option<ShapedBy>,
    ) -> Result<ShapedWorld, InvalidConfig> {
        let mut radio = Radio::new(self.carriers.clone(), self.seed)?;
        let drain = Duration::from_millis(1);
        radio.add_listened(self.device.clone(), ModemConfig::default(), drain)?;
        for other in &self.others {
            radio.add_device(other.clone())?;
        }
        let is_narrow = self.is_wired && self.case == Case::WiredBottleneck;
        let rate = if is_narrow { NARROW } else { Rate::from_bits_per_sec(1_000_000_000) };
        let mut wire = PathConfig::new(rate);
        wire.delay = WIRE;
        if is_narrow {
            wire.queue = QueueLimit::bytes(Bytes::new(100_000));
        }
        let wired = Wired::new(radio, &wire, &wire, HostInstant::default());
        Ok(World::new(Shaped::new(wired, Device(0), up, down), self.seed))
    }

    /// The flows behind the router: first those whose throughput counts.
    pub(super) fn flows(&self, bulk: impl Fn(Port) -> Flow) -> Flows {
        let port = self.kind.port();
        let counted = match self.case {
            Case::Bursts => {
                let [on, off] = [3, 4].map(Duration::from_secs);
                vec![bulk(port).sends(Traffic::OnOff { on, off })]
            }
            Case::AppLimited => {
                let rate = Rate::from_bits_per_sec(2_000_000);
                vec![bulk(port).sends(Traffic::Steady(rate))]
            }
            Case::ThreeDevices => vec![bulk(port), bulk(port), bulk(port)],
            _ => vec![bulk(port)],
        };
        let others = match self.case {
            Case::Both => vec![bulk(port.reverse())],
            Case::Household => {
                let pages = Traffic::Responses {
                    size: Bytes::new(100_000),
                    think: Duration::from_millis(800),
                };
                let call = Flow::datagrams(port, Rate::from_bits_per_sec(80_000));
                vec![bulk(port).sends(pages), call.sized(Bytes::new(200))]
            }
            _ => Vec::new(),
        };
        Flows { counted, probe: Flow::datagrams(port, PROBE.0).sized(PROBE.1), others }
    }
}

/// The flows of a run.
#[derive(Debug)]
pub(super) struct Flows {
    /// Their throughput counts.
    pub counted: Vec<Flow>,
    /// Its delays count.
    pub probe: Flow,
    /// Whatever else there is.
    pub others: Vec<Flow>,
}

fn still(rng: &mut ChaCha8Rng) -> ScriptConfig {
    let fading = FadingConfig { rician_k_db: Some(13.0), ..FadingConfig::default() };
    ScriptConfig { fading, ..ScriptConfig::constant(rng.random_range(8.0..22.0)) }
}

fn moving(case: Case, rng: &mut ChaCha8Rng) -> ScriptConfig {
    let (every, range, surroundings_mps) = match case {
        Case::Driving => (1.5, 4.0..26.0_f32, 14.0),
        _ => (3.0, 6.0..24.0, 1.4),
    };
    let count = (SPAN.as_secs_f64() / every) as u32 + 1;
    let levels = (0..count)
        .map(|at| Level { at_s: f64::from(at) * every, sinr_db: rng.random_range(range.clone()) });
    let mut levels: Vec<Level> = levels.collect();
    if case == Case::Silence {
        for begins in SILENCES.map(|at| at.as_secs_f64()) {
            let level = |at_s, sinr_db| Level { at_s, sinr_db };
            levels.retain(|level| !(begins - 0.1..begins + 1.1).contains(&level.at_s));
            levels.extend([
                level(begins - 0.01, 15.0),
                level(begins, -30.0),
                level(begins + 1.0, -30.0),
                level(begins + 1.01, 15.0),
            ]);
        }
        levels.sort_by(|one, other| one.at_s.total_cmp(&other.at_s));
    }
    let fading = FadingConfig { surroundings_mps, ..FadingConfig::default() };
    ScriptConfig { levels, between: Between::Linear, fading, ..ScriptConfig::constant(0.0) }
}

fn carrier(kind: Kind, at: u16) -> CarrierConfig {
    let pci = 10 + at;
    if !kind.nr {
        return CarrierConfig { prb: 50, pci, ..CarrierConfig::default() };
    }
    CarrierConfig {
        rat: Rat::Nr,
        numerology: 1,
        prb: 51,
        tdd: Some("DDDSU".into()),
        pci,
        arfcn: 636_666,
        ..CarrierConfig::default()
    }
}
