//! The cells in which labels are judged, and one run of a law in one.

use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use serde::Serialize;
use sounding_baselines::Registry;
use sounding_cc::Controller;
use sounding_experiment::plan::{Text, Wrong};
use sounding_units::HostInstant;

use super::Counts;
use crate::noted::{Noted, On};
use sounding_experiment::observe::windows::{self as rig, WINDOW};

/// A window is the flow's own if others had less than this part of it. Chosen: acknowledgements and
/// control traffic are below.
const OTHERS: f64 = 0.05;
/// A rival for which data waited in so many of a window's slots is backlogged. Chosen: a carrier of
/// TDD has slots without a downlink, and a rival's last repetition leaves a few.
const BACKLOGGED: f64 = 0.9;
/// Windows before are not judged: 5 s.
const FIRST: usize = 50;

/// A cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Network {
    /// One carrier of 20 MHz, 20 dB.
    Lte20,
    /// One of 10 MHz, 16 dB: the paper's width.
    Lte10,
    /// 106 resource blocks of 30 kHz, DDDSU.
    NrTdd,
    /// 20 MHz and 10 MHz together.
    Aggregated,
}

/// Who is served next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scheduler {
    /// Proportional fair over so many slots.
    Fair(u32),
    /// Who was served longest ago.
    RoundRobin,
}

/// How a receiver stamps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Receiver {
    /// At each arrival, with ticks of so many milliseconds.
    Tick(u32),
    /// With ticks of 1 ms, arrivals of so many milliseconds together.
    Batch(u32),
}

/// Where a label is judged.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Scene {
    /// The cell.
    pub network: Network,
    /// Its scheduler.
    pub scheduler: Scheduler,
    /// The receiver of the judged flow.
    pub receiver: Receiver,
    /// How fast the surroundings move; zero for a channel that does not fade.
    pub speed_mps: f64,
    /// Devices beside it that download under CUBIC without end.
    pub rivals: u32,
}

impl Default for Scene {
    fn default() -> Self {
        Self {
            network: Network::Lte20,
            scheduler: Scheduler::Fair(100),
            receiver: Receiver::Tick(1),
            speed_mps: 0.0,
            rivals: 0,
        }
    }
}

impl Scene {
    const NETWORKS: [Network; 4] =
        [Network::Lte20, Network::Lte10, Network::NrTdd, Network::Aggregated];
    const SCHEDULERS: [Scheduler; 4] =
        [Scheduler::Fair(100), Scheduler::Fair(20), Scheduler::Fair(1000), Scheduler::RoundRobin];
    const RECEIVERS: [Receiver; 4] =
        [Receiver::Tick(1), Receiver::Tick(4), Receiver::Tick(10), Receiver::Batch(2)];
    const SPEEDS: [f64; 3] = [0.0, 0.75, 4.5];

    /// Whether a label in it has to be right.
    pub fn is_required(&self) -> bool {
        let Self { network, scheduler, receiver, .. } = *self;
        (network, scheduler, receiver) == (Network::Lte20, Scheduler::Fair(100), Receiver::Tick(1))
    }

    /// Every cell with every scheduler, receiver, speed and number of rivals.
    pub fn all() -> Vec<Self> {
        let mut all = Vec::new();
        for network in Self::NETWORKS {
            for scheduler in Self::SCHEDULERS {
                for receiver in Self::RECEIVERS {
                    for speed_mps in Self::SPEEDS {
                        let of = |rivals| Self { network, scheduler, receiver, speed_mps, rivals };
                        all.extend((0..=4).map(of));
                    }
                }
            }
        }
        all
    }

    /// Those that differ from the usual one in their cell, scheduler or receiver alone, at every
    /// speed; with all numbers of rivals where only the cell differs, and with none, one and
    /// four elsewhere.
    pub fn one_by_one() -> Vec<Self> {
        let usual = Self::default();
        let differs = |scene: &Self| {
            usize::from(scene.network != usual.network)
                + usize::from(scene.scheduler != usual.scheduler)
                + usize::from(scene.receiver != usual.receiver)
        };
        let is_cell =
            |scene: &Self| scene.scheduler == usual.scheduler && scene.receiver == usual.receiver;
        let wanted = |scene: &Self| {
            differs(scene) <= 1 && (is_cell(scene) || [0, 1, 4].contains(&scene.rivals))
        };
        Self::all().into_iter().filter(wanted).collect()
    }

    fn plan(&self, secs: u64) -> String {
        let Self { network, scheduler, receiver, speed_mps, rivals } = *self;
        let policy = match scheduler {
            Scheduler::Fair(slots) => {
                format!("policy = {{ proportional-fair = {{ slots = {slots} }} }}")
            }
            Scheduler::RoundRobin => "policy = \"round-robin\"".into(),
        };
        let (carriers, cells, sinr_db) = match network {
            Network::Lte20 => (format!("{{ {policy} }}"), "[[0]]", 20),
            Network::Lte10 => (format!("{{ prb = 50, {policy} }}"), "[[0]]", 16),
            Network::NrTdd => {
                let nr = "rat = \"nr\", numerology = 1, prb = 106, tdd = \"DDDSU\", arfcn = 636666";
                (format!("{{ {nr}, {policy} }}"), "[[0]]", 20)
            }
            Network::Aggregated => {
                (format!("{{ {policy} }}, {{ prb = 50, pci = 2, {policy} }}"), "[[0, 1]]", 20)
            }
        };
        let fading = if speed_mps == 0.0 {
            "{ profile = \"none\" }".to_owned()
        } else {
            format!("{{ profile = \"epa\", surroundings_mps = {speed_mps:?} }}")
        };
        let receiver = match receiver {
            Receiver::Tick(ms) => format!("tick = \"{ms}ms\""),
            Receiver::Batch(ms) => format!("batch = \"{ms}ms\""),
        };
        let device = |name: &str, count: u32| {
            format!(
                "[[cell.devices]]\nname = \"{name}\"\ncount = {count}\ncells = {cells}\n\
                 channel = {{ kind = \"script\", between = \"hold\", levels = [{{ at_s = 0.0, sinr_db = {sinr_db}.0 }}], fading = {fading} }}\n"
            )
        };
        let mut plan = format!(
            "duration = \"{secs}s\"\n[cell]\ncarriers = [{carriers}]\n{}",
            device("judged", 1)
        );
        if rivals > 0 {
            plan += &device("rival", rivals);
        }
        plan += "[wire]\ndelay = \"10ms\"\n";
        plan += &format!(
            "[[flows]]\ndevice = \"judged\"\ndirection = \"down\"\ncontroller = \"labelled\"\n{receiver}\n"
        );
        if rivals > 0 {
            plan += "[[flows]]\ndevice = \"rival\"\ndirection = \"down\"\ncontroller = \"cubic\"\n";
        }
        plan
    }
}

/// Labels by window; those of windows without a departure, and without a judgement, are absent.
type Labels = Arc<Mutex<Vec<Option<bool>>>>;

/// Keeps the label of a law at a departure.
fn label(labels: &Labels, at: HostInstant, law: &dyn Controller) {
    let window = (at.as_nanos() / WINDOW.as_nanos() as u64) as usize;
    let busy = match law.state() {
        "sending" | "proving" | "normal" => Some(false),
        // It goes by delay, and judges nothing.
        "by delay" => None,
        _ => Some(true),
    };
    let mut labels = labels.lock().unwrap_or_else(PoisonError::into_inner);
    if labels.len() <= window {
        labels.resize(window + 1, None);
    }
    labels[window] = busy;
}

/// Runs a law in a scene, and counts its labels.
pub(super) fn judge(scene: &Scene, law: &str, seed: u64, secs: u64) -> Result<Counts, Wrong> {
    let labels = Labels::default();
    let kept = Arc::clone(&labels);
    let unknown = || Wrong::new("", format!("no law {law:?}"));
    let make = sounding_baselines::by_name(law).ok_or_else(unknown)?;
    let mut controllers = Registry::default();
    controllers.add("labelled", move |start| {
        let kept = Arc::clone(&kept);
        Box::new(Noted::new(make(start), move |on, now, law: &dyn Controller| {
            if on == On::Sent {
                label(&kept, now, law);
            }
        }))
    })?;
    let mut text =
        Text::new("busyness", scene.plan(secs), PathBuf::new()).with_controllers(controllers);
    text.set(&format!("seeds={seed}"))?;
    let runs = text.runs()?;
    let shown = rig::run(&runs[0], false)?;
    let labels = labels.lock().unwrap_or_else(PoisonError::into_inner);
    let mut counts = Counts::default();
    for (window, label) in labels.iter().enumerate().skip(FIRST) {
        let Some(called_busy) = label else { continue };
        let counted = if shown.account.others_waited(0, window) >= BACKLOGGED {
            &mut counts.busy
        } else if shown.account.others(0, window) < OTHERS {
            &mut counts.alone
        } else {
            &mut counts.between
        };
        counted[0] += 1;
        counted[1] += u64::from(*called_busy);
    }
    Ok(counts)
}

impl fmt::Display for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Lte20 => "LTE 20 MHz",
            Self::Lte10 => "LTE 10 MHz",
            Self::NrTdd => "NR TDD",
            Self::Aggregated => "LTE 20 + 10 MHz",
        })
    }
}

impl fmt::Display for Scheduler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fair(slots) => write!(f, "PF {slots}"),
            Self::RoundRobin => f.write_str("round robin"),
        }
    }
}

impl fmt::Display for Receiver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tick(ms) => write!(f, "tick {ms} ms"),
            Self::Batch(ms) => write!(f, "batch {ms} ms"),
        }
    }
}
