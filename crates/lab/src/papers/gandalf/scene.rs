//! The scenes of Table 1, and how a run of one is set up.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde::Serialize;
use sounding_baselines::{
    Compensated, Registry, Smoothed, Vivace, copa::Copa, gcc::Gcc, pcc::VivaceConfig,
};
use sounding_cc::Needs;
use sounding_experiment::plan::{Run, Wrong};
use sounding_laws::CopaGandalf;

use super::controls::{
    Beside, Constant, Graded, Only, PARTS, Part, Record, Recorded, Truth, Truthful,
};
use crate::paper::PaperItem;

/// A network, a direction and a motion.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Scene {
    /// NR; LTE otherwise.
    pub(super) nr: bool,
    /// The phone sends; it receives otherwise.
    pub(super) up: bool,
    /// The phone is walked; it stands otherwise.
    pub(super) walks: bool,
}

impl Scene {
    /// The eight cells of Table 1.
    pub(super) fn all() -> impl Iterator<Item = Self> {
        let walks = [false, true].into_iter();
        walks.flat_map(|walks| {
            [(true, false), (true, true), (false, false), (false, true)]
                .into_iter()
                .map(move |(nr, up)| Self { nr, up, walks })
        })
    }

    pub(super) fn name(self) -> String {
        let rat = if self.nr { "5G" } else { "LTE" };
        let way = if self.up { "UL" } else { "DL" };
        format!("{rat} {way}, {}", if self.walks { "mobile" } else { "static" })
    }

    /// What is set in the plan.
    pub(super) fn sets(self) -> Vec<String> {
        let mut sets = Vec::new();
        if !self.nr {
            sets.push("cell.carriers=[{ prb = 100, qam256 = true }]".to_owned());
        }
        if self.up {
            sets.push("flows.flow.direction=up".to_owned());
            sets.push("cell.devices.phone.modem.latency=1ms".to_owned());
        }
        if self.walks {
            sets.push("cell.devices.phone.channel.fading.surroundings_mps=1.4".to_owned());
        }
        sets
    }
}

/// What a run's controllers share with who judges it.
#[derive(Clone, Debug, Default)]
pub(super) struct Shared {
    pub(super) truth: Arc<Mutex<Truth>>,
    pub(super) record: Arc<Mutex<Record>>,
}

/// Means over so many milliseconds of delays without all that the radio added.
pub(super) const TRUTHS: [u64; 3] = [10, 30, 60];

/// The most that the control subtracts, whatever delayed a packet.
pub(super) const CONSTANT: Duration = Duration::from_millis(20);

/// Stock Copa believes each RTT that it measures.
fn measured(_: &Copa, rtt: Duration) -> Duration {
    rtt
}

/// A run of a plan, whose controllers also are the truth's, the constant's and those that note what
/// they receive.
pub(super) fn run(
    files: PaperItem,
    sets: impl IntoIterator<Item = String>,
) -> Result<(Run, Shared), Wrong> {
    let shared = Shared::default();
    let mut registry = Registry::default();
    let published = || VivaceConfig { sure: 0.0, ..VivaceConfig::default() };
    let (truth, record) = (&shared.truth, &shared.record);
    let corrected = Some(Needs::DELAYS);
    let of = Arc::clone(truth);
    registry.add("copa-truth", move |start| Box::new(Truthful::new(Copa::new(start), &of)))?;
    for window in TRUTHS {
        let (of, mean) = (Arc::clone(truth), Duration::from_millis(window));
        registry.add(format!("copa-truth-{window}"), move |start| {
            Box::new(Truthful::new(Smoothed::new(Copa::new(start), mean), &of))
        })?;
    }
    let of = Arc::clone(truth);
    registry.add("vivace-truth", move |start| {
        Box::new(Truthful::new(Vivace::with(start, published()), &of))
    })?;
    let of = Arc::clone(truth);
    registry.add("gcc-truth", move |start| Box::new(Truthful::new(Gcc::new(start), &of)))?;
    let of = Arc::clone(record);
    registry.add("copa-constant", move |start| {
        Box::new(Constant::new(Recorded::new(Copa::new(start), &of, measured), CONSTANT))
    })?;
    let of = Arc::clone(record);
    registry.add_needing("recorded-copa-gandalf", corrected, move |start| {
        let believed = |copa: &CopaGandalf, rtt| copa.believed().unwrap_or(rtt);
        let inner = Recorded::new(CopaGandalf::new(start), &of, believed);
        Box::new(Beside::new(inner, start, &of))
    })?;
    let of = Arc::clone(record);
    registry.add("recorded-copa", move |start| {
        Box::new(Recorded::new(Copa::new(start), &of, measured))
    })?;
    let of = Arc::clone(record);
    registry.add("graded-gcc", move |start| Box::new(Graded::new(Gcc::new(start), &of)))?;
    let of = Arc::clone(record);
    registry.add_needing("graded-gcc-gandalf", corrected, move |start| {
        Box::new(Compensated::holding(Graded::new(Gcc::new(start), &of)))
    })?;
    for Part { word, keep, .. } in PARTS {
        registry.add_needing(format!("copa-{word}-gandalf"), corrected, move |start| {
            Box::new(Only::new(CopaGandalf::new(start), keep))
        })?;
        registry.add_needing(format!("vivace-{word}-gandalf"), corrected, move |start| {
            let inner = Vivace::with(start, published());
            Box::new(Only::new(Compensated::holding(inner), keep))
        })?;
    }
    let mut text = files.text().with_controllers(registry);
    for set in sets {
        text.set(&set)?;
    }
    let run = text.runs()?.into_iter().next();
    run.map(|run| (run, shared)).ok_or_else(|| Wrong::new("seeds", "there is no run"))
}
