//! `background` in this kernel beside `background` in virtual time, on the same plan: the rate of a
//! download, the rate of a rival beside it, and the time of the law in each of its states.
//!
//! Kernel flows run over the modelled cell in real time. The rival is CUBIC at another device of
//! the cell, in the kernel and in virtual time. It comes after a third of a run and goes after two
//! thirds. A load is many short transfers at four other devices, the same ones in both worlds.

pub(crate) mod experiment;
mod kernel;
mod load;
mod virtual_time;

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use serde::Serialize;
use sounding_bpf::BackgroundPhase;
use sounding_experiment::metrics::sorted;
use sounding_experiment::plan::{PlanError, Run, Text};
use sounding_experiment::provenance::{Begun, Provenance};

use crate::experiment::Failed;
use crate::table::Table;
use load::Transfer;

/// Kernel and virtual time may differ by this part of the throughput, and by so many points of each
/// state.
const THROUGHPUT: f64 = 0.10;
const POINTS: f64 = 10.0;
/// Less is no throughput that could be compared, in Mbit/s: a tenth of a percent of the cell.
/// Chosen.
const NONE: f64 = 0.05;

/// So many more sets of virtual runs, of the same transfers with other draws of the law, show what
/// chance makes of a median. Chosen.
const SETS: u64 = 20;

/// Which runs.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Runs of each scene in each world.
    pub seeds: u64,
    /// Where the download is.
    pub scenes: Vec<Scene>,
    /// How long each lasts.
    pub lasts: Duration,
    /// This program, which an emulation needs.
    pub program: PathBuf,
}

/// Where the download is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scene {
    /// Alone in its cell.
    Alone,
    /// Beside a rival, during the middle third.
    Rival,
    /// Beside short transfers that take so many percent of the cell.
    Load(u32),
}

impl Scene {
    /// Loads are those of the paper's Figures 8 and 9.
    const ALL: [Self; 5] =
        [Self::Alone, Self::Rival, Self::Load(30), Self::Load(60), Self::Load(80)];

    fn name(self) -> String {
        match self {
            Self::Alone => "alone".into(),
            Self::Rival => "a rival comes and goes".into(),
            Self::Load(percent) => format!("a load of {percent} %"),
        }
    }

    /// Devices beside the one of the download.
    const fn others(self) -> u16 {
        match self {
            Self::Alone | Self::Rival => 1,
            Self::Load(_) => load::DEVICES,
        }
    }
}

/// One run, of either world.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Seen {
    /// What the download had, Mbit/s.
    pub rate: f64,
    /// The same in each third.
    pub thirds: [f64; 3],
    /// What the rival had, without its first two seconds.
    pub rival: Option<f64>,
    /// How long the short transfers of a load took: half of them, and 95 of 100, milliseconds.
    pub short: Option<[f64; 2]>,
    /// Percent of the time in each state, in the order of [`BackgroundPhase::ALL`].
    pub states: [f64; 5],
}

/// Medians of a scene.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// Where.
    pub scene: Scene,
    /// In virtual time.
    pub virtual_time: Seen,
    /// In this kernel.
    pub kernel: Seen,
    /// The lowest and the highest median of the download's throughput in other sets of as many
    /// virtual runs, Mbit/s.
    pub chance: [f64; 2],
}

impl Row {
    /// What differs by more than it may.
    pub fn misses(&self) -> Vec<String> {
        let (simulated, real) = (self.virtual_time.rate, self.kernel.rate);
        let over = |rate: f64| 100.0 * (rate / simulated - 1.0);
        let mut misses = Vec::new();
        if simulated > NONE && over(real).abs() > 100.0 * THROUGHPUT {
            let [least, most] = self.chance.map(over);
            misses.push(format!(
                "throughput {:+.0} %; by chance {least:+.0} to {most:+.0} %",
                over(real)
            ));
        }
        for (state, (real, simulated)) in
            BackgroundPhase::ALL.iter().zip(self.kernel.states.iter().zip(self.virtual_time.states))
        {
            if (real - simulated).abs() > POINTS {
                misses.push(format!("{state} {:+.0} points", real - simulated));
            }
        }
        misses
    }
}

/// All of it.
#[derive(Clone, Debug, Serialize)]
pub struct Compared {
    /// By scene.
    pub rows: Vec<Row>,
    /// Runs of each.
    pub runs: u64,
    /// Where the figures come from.
    pub provenance: Provenance,
}

/// Makes all runs; `progress` is called for each.
pub fn run(plan: &Plan, mut progress: impl FnMut(&str)) -> Result<Compared, Failed> {
    let begun = Begun::now();
    let mut rows = Vec::new();
    for &scene in &plan.scenes {
        let (mut simulated, mut real) = (Vec::new(), Vec::new());
        for seed in 1..=plan.seeds {
            simulated.push(virtual_time::run(scene, plan, seed, seed)?);
            real.push(kernel::run(scene, plan, seed)?);
            progress(&format!("{}, seed {seed}: {:?}", scene.name(), real[real.len() - 1].thirds));
        }
        progress(&format!("{}: {SETS} sets of virtual runs", scene.name()));
        let chance = chance(scene, plan)?;
        rows.push(Row { scene, virtual_time: median(&simulated), kernel: median(&real), chance });
    }
    Ok(Compared { rows, runs: plan.seeds, provenance: begun.end() })
}

/// The range of a median of the throughput when the law's draws and the radio's errors are others.
fn chance(scene: Scene, plan: &Plan) -> Result<[f64; 2], Failed> {
    let mut range = [f64::INFINITY, f64::NEG_INFINITY];
    for set in 1..=SETS {
        let draws = |seed: u64| set * 1_000 + seed;
        let runs = (1..=plan.seeds).map(|seed| virtual_time::run(scene, plan, seed, draws(seed)));
        let rate = median(&runs.collect::<Result<Vec<_>, _>>()?).rate;
        range = [range[0].min(rate), range[1].max(rate)];
    }
    Ok(range)
}

/// The median of each figure.
fn median(runs: &[Seen]) -> Seen {
    let of = |figure: &dyn Fn(&Seen) -> f64| {
        let all = sorted(runs.iter().map(figure));
        let middle = all.len() / 2;
        if all.len() % 2 == 1 { all[middle] } else { f64::midpoint(all[middle - 1], all[middle]) }
    };
    let has_short = runs.iter().all(|run| run.short.is_some());
    let has_rival = runs.iter().all(|run| run.rival.is_some());
    Seen {
        rate: of(&|run| run.rate),
        thirds: [0, 1, 2].map(|third| of(&|run| run.thirds[third])),
        rival: has_rival.then(|| of(&|run| run.rival.unwrap_or_default())),
        short: has_short.then(|| [0, 1].map(|at| of(&|run| run.short.unwrap_or_default()[at]))),
        states: [0, 1, 2, 3, 4].map(|state| of(&|run| run.states[state])),
    }
}

/// The plan of a scene, with this controller for the download, and these transfers beside it.
fn text(scene: Scene, lasts: Duration, controller: &str, transfers: &[Transfer]) -> String {
    const CHANNEL: &str =
        "channel = { kind = \"script\", levels = [{ at_s = 0.0, sinr_db = 20.0 }] }";
    let millis = lasts.as_millis();
    let mut text = format!(
        "duration = \"{millis}ms\"\nwire = {{ delay = \"20ms\" }}\n[[cell.carriers]]\nprb = 50\n"
    );
    for device in 0..=scene.others() {
        text += &format!("[[cell.devices]]\nname = \"device-{device}\"\n{CHANNEL}\n");
    }
    text += &format!(
        "[[flows]]\ndevice = \"device-0\"\ndirection = \"down\"\ncontroller = \"{controller}\"\n"
    );
    if scene == Scene::Rival {
        text += &format!(
            "[[flows]]\ndevice = \"device-1\"\ndirection = \"down\"\ncontroller = \"cubic\"\n\
             start = \"{}ms\"\nstop = \"{}ms\"\n",
            millis / 3,
            millis * 2 / 3
        );
    }
    for Transfer { at, device, size } in transfers {
        text += &format!(
            "[[flows]]\ndevice = \"device-{device}\"\ndirection = \"down\"\ncontroller = \"cubic\"\n\
             start = \"{}ms\"\ntraffic = {{ kind = \"finite\", size = \"{}kB\" }}\n",
            at.as_millis(),
            size.count() / 1000
        );
    }
    text
}

/// The only run of a text.
fn only(mut text: Text, seed: u64) -> Result<Run, PlanError> {
    text.set(&format!("seeds={seed}"))?;
    Ok(text.runs()?.remove(0))
}

impl Compared {
    fn table(&self) -> Table {
        let mut table = Table::new()
            .left(["scene", "world"])
            .right(["Mbit/s", "before", "beside", "after", "rival", "p50 ms", "p95 ms"])
            .right(BackgroundPhase::ALL.map(|state| format!("{state} %")))
            .left(["misses"]);
        for row in &self.rows {
            for (world, seen) in [("virtual", &row.virtual_time), ("kernel", &row.kernel)] {
                let misses =
                    if world == "kernel" { row.misses().join(", ") } else { String::new() };
                let rates = [seen.rate].into_iter().chain(seen.thirds);
                let rates = rates.map(|rate| format!("{rate:.2}"));
                let rival = seen.rival.map_or_else(String::new, |rate| format!("{rate:.2}"));
                let short = seen.short.map(|spans| spans.map(|millis| format!("{millis:.0}")));
                let short = short.unwrap_or_default();
                let states = seen.states.map(|percent| format!("{percent:.1}"));
                let cells = [row.scene.name(), world.to_owned()].into_iter();
                let cells = cells.chain(rates).chain([rival]).chain(short).chain(states);
                table.row(cells.chain([misses]));
            }
        }
        table.note(format!(
            "medians of {} runs; throughput in Mbit/s; by chance: medians of {SETS} other sets of as many virtual runs",
            self.runs
        ));
        table
    }
}

impl fmt::Display for Compared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.table().fmt(f)
    }
}
