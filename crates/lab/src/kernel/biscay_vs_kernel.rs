//! The laws compared with BBR and CUBIC over many links, several runs each: the table and its
//! conclusions.

pub(crate) mod experiment;

use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use serde::Serialize;
use sounding_experiment::provenance::{Begun, Provenance};
use sounding_host::jobs::{self, Job, Told};
use sounding_kpi::Direction;
use sounding_laws::RadioController;
use sounding_report::distinct;
use sounding_testbed::kernel_compare::{self, Figures};
use sounding_testbed::kernel_run::FlowSetup;
use sounding_testbed::radio::RadioLink;
use sounding_trace::mahimahi;

use crate::experiment::Failed;
use crate::table::Table;

/// The comparison's settings.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The folder of shared data.
    pub data: std::path::PathBuf,
    /// Only links whose name contains this.
    pub filter: Option<String>,
    /// The senders: `biscay`, `sounding`, either of them with CUBIC as fallback, or a congestion
    /// control of this kernel.
    pub senders: Vec<String>,
    /// Runs of each algorithm over each link.
    pub reps: u32,
    /// The longest a flow sends; links from captures may be shorter.
    pub duration: Duration,
    /// Number of parallel runs.
    pub jobs: usize,
    /// Propagation delay each way.
    pub delay: Duration,
    /// Flags for the daemon, e.g. `--allowance 20ms`.
    pub flags: Vec<String>,
    /// The program that is run as daemon.
    pub program: std::path::PathBuf,
}

/// The traces of the reference measurements, and uploads of a phone.
const TRACES: [&str; 6] = [
    "Verizon-LTE-short.down",
    "Verizon-LTE-short.up",
    "TMobile-LTE-driving.down",
    "TMobile-LTE-short.up",
    "ATT-LTE-driving.down",
    "ATT-LTE-driving.up",
];
const CAPTURES: [&str; 4] = [
    "diag_log_20211220_004448.mi2log",
    "diag_log_20211220_004729.mi2log",
    "diag_log_20211220_080503.mi2log",
    "diag_log_20211220_111534.mi2log",
];

/// The links of a plan.
pub fn links(plan: &Plan) -> Result<Vec<RadioLink>, Failed> {
    let wanted = |name: &str| plan.filter.as_deref().is_none_or(|filter| name.contains(filter));
    let mut links = Vec::new();
    for name in TRACES.into_iter().filter(|name| wanted(name)) {
        let path = plan.data.join("traces/mahimahi/traces").join(name);
        let Some(bytes) = read(&path)? else { continue };
        let trace = mahimahi::parse(&bytes).map_err(|error| Failed::at(path.display(), error))?;
        // The modem is needed as long as a flow runs and a little more.
        links.push(RadioLink::of_trace(name, trace, plan.duration + Duration::from_secs(2)));
    }
    for name in CAPTURES.into_iter().filter(|name| wanted(name)) {
        let path = plan.data.join("captures/lgs96__mobileinsight_core").join(name);
        let Some(bytes) = read(&path)? else { continue };
        let link = RadioLink::of_capture(name, bytes, Direction::Uplink);
        links.push(link.map_err(|error| Failed::at(path.display(), error))?);
    }
    if links.is_empty() {
        let folder = plan.data.display().to_string();
        let filter = plan.filter.as_deref().unwrap_or_default();
        return Err(format!(
            "no link to race over: {folder} has none of the traces and captures, or none is called {filter:?}"
        )
        .into());
    }
    Ok(links)
}

fn read(path: &Path) -> Result<Option<Vec<u8>>, Failed> {
    match sounding_host::read_at_most(path, sounding_host::MAX_TRACE) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Failed::at(path.display(), error)),
    }
}

/// All runs of a plan.
#[derive(Clone, Debug, Serialize)]
pub struct Comparison {
    /// Origin of the results.
    pub provenance: Provenance,
    /// Flags that the daemon was given.
    pub flags: Vec<String>,
    /// One entry a link and algorithm, in the order of the plan.
    pub entries: Vec<Entry>,
}

/// One algorithm over one link.
#[derive(Clone, Debug, Serialize)]
pub struct Entry {
    /// The link.
    pub link: String,
    /// Duration of each flow.
    pub duration_s: f64,
    /// The algorithm.
    pub name: String,
    /// Each run's figures.
    pub runs: Vec<Figures>,
}

/// Runs the plan; `progress` is called when a run ends.
pub fn run(plan: &Plan, mut progress: impl FnMut(&str)) -> Result<Comparison, Failed> {
    let links = links(plan)?;
    let begun = Begun::now();
    let mut turns = Vec::new();
    // Algorithms take turns, so that a noisy minute of the machine does not fall on one of them.
    for link in 0..links.len() {
        for _ in 0..plan.reps {
            turns.extend(plan.senders.iter().map(|name| (link, name.as_str())));
        }
    }
    let work = |&(link, name): &(usize, &str), job: &Job<'_, (), Figures, Failed>| {
        let link = &links[link];
        let measured = kernel_compare::run(link, name, &setup(plan, link, job.worker));
        let measured =
            measured.map_err(|error| Failed::at(format_args!("{} {name}", link.name), error))?;
        Ok(Some(measured.figures))
    };
    let mut count = 0;
    let told = |message: Told<'_, (usize, &str), (), Figures>| {
        if let Told::Done(&(link, name), _) = message {
            count += 1;
            progress(&format!("{count}/{} {} {name}", turns.len(), links[link].name));
        }
    };
    let never = AtomicBool::new(false);
    let done = jobs::until(&turns, plan.jobs, &never, work, told).map_err(|(_, error)| error)?;
    let done: Vec<_> = turns.iter().zip(done.into_iter().flatten()).collect();
    let mut entries = Vec::new();
    for (i, link) in links.iter().enumerate() {
        let duration_s = setup(plan, link, 0).duration.as_secs_f64();
        for name in &plan.senders {
            let runs = done.iter().filter(|((link, own), _)| (*link, *own) == (i, name.as_str()));
            entries.push(Entry {
                link: link.name.clone(),
                duration_s,
                name: name.clone(),
                runs: runs.map(|(_, figures)| figures.clone()).collect(),
            });
        }
        let oracle = kernel_compare::oracle(link, &setup(plan, link, 0)).figures;
        entries.push(Entry {
            link: link.name.clone(),
            duration_s,
            name: "oracle".into(),
            runs: vec![oracle],
        });
    }
    Ok(Comparison { provenance: begun.end(), flags: plan.flags.clone(), entries })
}

fn setup(plan: &Plan, link: &RadioLink, worker: usize) -> FlowSetup {
    FlowSetup {
        delay: plan.delay,
        duration: plan
            .duration
            .min(link.duration.saturating_sub(sounding_testbed::kernel_run::HEAD_START)),
        flags: plan.flags.clone(),
        program: plan.program.clone(),
        tag: format!("_{}_{worker}", std::process::id() % 100_000),
    }
}

/// Mean and half the range over the runs: with three runs, an honest spread.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Across {
    mean: f64,
    half_range: f64,
}

impl Across {
    fn of(values: impl Iterator<Item = f64>) -> Self {
        let values: Vec<f64> = values.collect();
        let mean = values.iter().sum::<f64>() / values.len().max(1) as f64;
        let largest = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let smallest = values.iter().copied().fold(f64::INFINITY, f64::min);
        Self { mean, half_range: if values.is_empty() { 0.0 } else { (largest - smallest) / 2.0 } }
    }
}

impl Entry {
    fn across(&self, value: impl Fn(&Figures) -> f64) -> Across {
        Across::of(self.runs.iter().map(value))
    }
}

impl Comparison {
    fn find(&self, link: &str, name: &str) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.link == link && entry.name == name)
    }

    /// The laws with a feed, in the order in which they ran.
    fn fed(&self) -> Vec<&str> {
        let names = self.entries.iter().map(|entry| entry.name.as_str());
        distinct(names.filter(|name| RadioController::by_name(name).is_some()))
    }

    /// Throughput of one of them over BBR's, and p95 queueing delay over BBR's and CUBIC's.
    fn ratios(&self, link: &str, name: &str) -> Option<[f64; 3]> {
        let throughput = |entry: &Entry| entry.across(|f| f.throughput_mbit_per_sec).mean;
        let p95 = |entry: &Entry| entry.across(|f| f.queueing_ms.p95).mean;
        let (fed, bbr) = (self.find(link, name)?, self.find(link, "bbr")?);
        let cubic = self.find(link, "cubic")?;
        Some([throughput(fed) / throughput(bbr), p95(fed) / p95(bbr), p95(fed) / p95(cubic)])
    }

    fn links(&self) -> Vec<&str> {
        let mut links: Vec<&str> = self.entries.iter().map(|entry| entry.link.as_str()).collect();
        links.dedup();
        links
    }

    /// The tables as Markdown.
    pub fn markdown(&self) -> String {
        let mut runs = Table::new()
            .left(["link", ""])
            .right(["Mbit/s", "utilisation", "one-way mean", "p95", "p99 ms"])
            .right(["queueing mean", "p95", "p99 ms", "retransmitted"]);
        for entry in &self.entries {
            let cell = |digits: usize, value: fn(&Figures) -> f64| {
                let Across { mean, half_range } = entry.across(value);
                if entry.runs.len() > 1 {
                    format!("{mean:.digits$} ± {half_range:.digits$}")
                } else {
                    format!("{mean:.digits$}")
                }
            };
            runs.row([
                entry.link.clone(),
                entry.name.clone(),
                cell(2, |f| f.throughput_mbit_per_sec),
                format!("{} %", cell(1, |f| f.utilisation * 100.0)),
                cell(0, |f| f.one_way_ms.mean),
                cell(0, |f| f.one_way_ms.p95),
                cell(0, |f| f.one_way_ms.p99),
                cell(0, |f| f.queueing_ms.mean),
                cell(0, |f| f.queueing_ms.p95),
                cell(0, |f| f.queueing_ms.p99),
                cell(0, |f| f64::from(f.retransmitted)),
            ]);
        }
        let mut ratios = Table::new().left(["link", ""]).right([
            "throughput ÷ BBR's",
            "p95 queueing ÷ BBR's",
            "p95 queueing ÷ CUBIC's",
        ]);
        let fed = self.fed();
        let rows =
            self.links().into_iter().flat_map(|link| fed.iter().map(move |name| (link, *name)));
        for (link, name) in rows {
            let Some([throughput, bbr, cubic]) = self.ratios(link, name) else { continue };
            let mark = |holds: bool| if holds { "" } else { " (missed)" };
            ratios.row([
                link.to_owned(),
                name.to_owned(),
                format!("{throughput:.3}{}", mark(throughput >= 0.97)),
                format!("{bbr:.2}{}", mark(bbr <= 0.5)),
                format!("{cubic:.3}{}", mark(cubic <= 0.1)),
            ]);
        }
        format!("{runs}\n{ratios}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_spread_is_half_the_range() {
        let across = Across::of([1.0, 2.0, 6.0].into_iter());
        assert_eq!(across, Across { mean: 3.0, half_range: 2.5 });
    }
}
