//! A page in a browser behind a recorded LTE link, and the same load in virtual time.
//!
//! Two ends of one load are compared, both from the start of the navigation on:
//!
//! * the measured one is `loadEventEnd` of the page's navigation timing, by the browser's clock;
//! * the replay's is the moment at which the simulator's link has carried the last byte that the
//!   load waited for. The link gets the arrivals that the emulator logged, and has the same trace,
//!   the same start of it, and the same infinite queue.
//!
//! The start of the navigation is the browser's, in Unix time. The log tells when its link began in
//! the same time. So the emulator's lateness, the browser's own work and errors of the log are all
//! in the difference.
//!
//! The last packet of the load is found in the logs: the page reports after its load event with
//! the only request of 1000 bytes or more. The last packet with data that left the downlink before
//! this request came to the uplink is the load's last.
//!
//! The replay cannot move the sender: arrivals are as they were, and no end can be before the last
//! of them. Three controls show what the link adds: the same arrivals meet the trace a second
//! later, another operator's trace, and a link that is no bottleneck. Where the queue is short at
//! the end, a control may end at a similar time. Its departures still differ, so they are counted.

mod experiment;
mod inside;
mod load;
mod replay;
mod server;
mod site;
mod table;

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::time::Duration;

use serde::Serialize;
use sounding_experiment::catalogue;
use sounding_experiment::provenance::{Begun, Provenance, load};
use sounding_trace::Schedule;
use sounding_units::Rate;

use crate::experiment::Failed;
use crate::fidelity::mahimahi::TRACES;

pub(crate) use experiment::PageExperiment;
use load::Load;
use replay::Departure;
use server::Loaded;
use site::Site;

/// One way, as for the other rows over these traces.
const DELAY: Duration = Duration::from_millis(20);

/// The aim for the difference of both ends.
const AIM: f64 = 0.05;

/// How much later the trace of a control begins. Chosen: a load takes some seconds, and the traces
/// change within one.
const LATER: Duration = Duration::from_secs(1);

/// The rate of the control without a bottleneck, as that of `sounding emu` without a link.
const NO_BOTTLENECK: Rate = Rate::from_bits_per_sec(1_000_000_000);

/// The command.
#[derive(Clone, Debug)]
struct Plan {
    program: PathBuf,
    /// Folder of the shared data.
    data: PathBuf,
    /// Only traces whose name contains this.
    filter: Option<String>,
    reps: u32,
    /// How much later in its trace each repetition begins.
    apart: Duration,
    seed: u64,
}

/// The result.
#[derive(Clone, Debug, Serialize)]
pub struct Pages {
    /// Where it comes from.
    pub provenance: Provenance,
    /// The congestion control of the page's server: this machine's default.
    pub congestion: String,
    /// Whether all loads were made.
    pub complete: bool,
    /// A row for each load.
    pub rows: Vec<Row>,
}

/// One load.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// Name of the trace, as `vz-short`.
    pub trace: &'static str,
    /// When the navigation started, in the trace.
    pub started_ms: f64,
    /// The load time by the browser.
    pub measured_ms: f64,
    /// The end of the replay, from the same start on.
    pub replayed_ms: f64,
    /// The ends of the controls.
    pub controls: Vec<Control>,
    /// Departures of the uplink and of the downlink that the replay repeats, and all in the log.
    pub repeated: [[usize; 2]; 2],
    /// How late the downlink's packets were.
    pub lateness: Lateness,
    /// Load average over a minute when it began.
    pub machine_load: f64,
}

/// The same arrivals over another link.
#[derive(Clone, Debug, Serialize)]
pub struct Control {
    /// Which link.
    pub name: String,
    /// The end of the load over it.
    pub end_ms: f64,
    /// How many of the log's departures it repeats.
    pub repeated: usize,
}

/// How late packets were, in microseconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Lateness {
    /// Median.
    pub p50_us: f64,
    /// The 99th percentile.
    pub p99_us: f64,
    /// The latest.
    pub max_us: f64,
}

impl Row {
    /// How far another end is from the measured one, as a share of that.
    fn off(&self, end_ms: f64) -> f64 {
        end_ms / self.measured_ms - 1.0
    }

    /// Whether such an end is within the aim.
    fn meets(&self, end_ms: f64) -> bool {
        self.off(end_ms).abs() <= AIM
    }
}

struct Links {
    name: &'static str,
    up: Link,
    down: Link,
}

struct Link {
    path: PathBuf,
    schedule: Schedule,
}

impl Link {
    fn read(path: PathBuf) -> Result<Self, Failed> {
        let schedule = catalogue::trace(&path)?.into();
        Ok(Self { path, schedule })
    }
}

/// Makes all loads, one after the other.
fn run(plan: &Plan, stop: &AtomicBool, progress: impl Fn(&str)) -> Result<Pages, Failed> {
    load::find_browser()?;
    let folder = plan.data.join("traces/mahimahi/traces");
    let read = |(name, up, down): (&'static str, &str, &str)| -> Result<Links, Failed> {
        let [up, down] = [up, down].map(|file| Link::read(folder.join(file)));
        Ok(Links { name, up: up?, down: down? })
    };
    let all = TRACES.into_iter().map(read).collect::<Result<Vec<_>, _>>()?;
    let wanted = |links: &Links| plan.filter.as_ref().is_none_or(|text| links.name.contains(text));
    let chosen: Vec<usize> = (0..all.len()).filter(|&index| wanted(&all[index])).collect();
    if chosen.is_empty() {
        let names: Vec<_> = all.iter().map(|links| links.name).collect();
        return Err(format!("no trace has such a name; there are {}", names.join(", ")).into());
    }
    let begun = Begun::now();
    let site = Site::new(plan.seed);
    let mut rows = Vec::new();
    'all: for rep in 0..plan.reps {
        for &index in &chosen {
            if stop.load(Ordering::Relaxed) {
                break 'all;
            }
            let (links, other) = (&all[index], &all[(index + 1) % all.len()]);
            let machine_load = load();
            let wait = plan.apart * rep;
            let Some(load) = one(plan, &site, links, wait, stop)? else { break 'all };
            let row = row(&load, links, other, machine_load)?;
            let (name, measured, off) =
                (links.name, row.measured_ms, 100.0 * row.off(row.replayed_ms));
            progress(&format!(
                "{name} {}/{}: {measured:.0} ms, the replay {off:+.1} %",
                rep + 1,
                plan.reps
            ));
            rows.push(row);
        }
    }
    let complete = rows.len() == chosen.len() * usize::try_from(plan.reps)?;
    let congestion = std::fs::read_to_string("/proc/sys/net/ipv4/tcp_congestion_control")?;
    Ok(Pages { provenance: begun.end(), congestion: congestion.trim().into(), complete, rows })
}

/// A load; `None` if it was interrupted.
fn one(
    plan: &Plan,
    site: &Site,
    links: &Links,
    wait: Duration,
    stop: &AtomicBool,
) -> Result<Option<Load>, Failed> {
    let (reports, reported) = mpsc::channel();
    server::serve(site, &reports, |port| {
        let [up, down] = [&links.up, &links.down].map(|link| link.path.as_path());
        load::emulate(&plan.program, [up, down], port, wait, &reported, stop)
    })
}

/// Compares both ends of a load.
fn row(load: &Load, links: &Links, other: &Links, machine_load: f64) -> Result<Row, Failed> {
    let Load { loaded, up, down, lateness } = load;
    let Loaded { load_ms, started_unix_ms, parts, bytes } = *loaded;
    if (parts, bytes) != (site::PARTS, site::BYTES) {
        let fetched =
            format!("the browser fetched {parts} parts of {bytes} bytes, not all of the page");
        return Err(fetched.into());
    }
    let without = |what: &str| Failed::from(format!("the link's log has {what}"));
    let began_unix_ms = down.began_unix_ms.ok_or_else(|| without("no init timestamp"))?;
    let started_ms = started_unix_ms - began_unix_ms;
    let report_ms = up.report_ms().ok_or_else(|| without("no report of the page"))?;
    let last = down.last_by(report_ms).ok_or_else(|| without("no data before the report"))?;
    let end = |replayed: &[Departure]| -> Result<f64, Failed> {
        let departure =
            replayed.get(last).ok_or_else(|| without("fewer packets than departures"))?;
        Ok(departure.at_ms as f64 - started_ms)
    };
    let links_of_controls = [
        ("1 s later".to_owned(), &links.down.schedule, LATER),
        (format!("on {}", other.name), &other.down.schedule, Duration::ZERO),
        ("no bottleneck".to_owned(), &Schedule::from(NO_BOTTLENECK), Duration::ZERO),
    ];
    let mut controls = Vec::new();
    for (name, schedule, later) in links_of_controls {
        let replayed = down.replay(schedule, later);
        let [repeated, _] = down.repeated(&replayed);
        controls.push(Control { name, end_ms: end(&replayed)?, repeated });
    }
    let [upwards, downwards] = [(up, &links.up), (down, &links.down)]
        .map(|(log, link)| log.replay(&link.schedule, Duration::ZERO));
    Ok(Row {
        trace: links.name,
        started_ms,
        measured_ms: load_ms,
        replayed_ms: end(&downwards)?,
        controls,
        repeated: [up.repeated(&upwards), down.repeated(&downwards)],
        lateness: *lateness,
        machine_load,
    })
}

#[cfg(test)]
mod tests {
    use sounding_trace::mahimahi;

    use super::replay::Log;
    use super::*;

    fn links(name: &'static str, trace: &str) -> Links {
        let link = || {
            let schedule = mahimahi::parse(trace.as_bytes()).expect("a trace").into();
            Link { path: name.into(), schedule }
        };
        Links { name, up: link(), down: link() }
    }

    /// A navigation that starts 100 ms after its link, whose last packet leaves 900 ms later.
    fn load(parts: usize, load_ms: f64) -> Load {
        let log = |text: &str| Log::parse(text).expect("a log");
        Load {
            loaded: Loaded { load_ms, started_unix_ms: 5100.0, parts, bytes: site::BYTES },
            up: log("110 + 64\n200 - 64 90\n1005 + 1204\n"),
            down: log(
                "# init timestamp: 5000\n250 + 1504\n300 - 1504 50\n870 + 1504\n1000 - 1504 130\n1010 + 1504\n",
            ),
            lateness: Lateness { p50_us: 1.0, p99_us: 2.0, max_us: 3.0 },
        }
    }

    #[test]
    fn both_ends_count_from_the_start_of_the_navigation() {
        let (own, other) = (links("own", "100\n"), links("other", "700\n"));
        let row = row(&load(site::PARTS, 920.0), &own, &other, 0.5).expect("a row");
        assert_eq!((row.started_ms, row.replayed_ms), (100.0, 800.0));
        // The log comes from another link: its packet left 100 ms later.
        assert_eq!(row.repeated, [[1, 1], [1, 2]]);
        let ends = row.controls.iter().map(|it| (it.name.as_str(), it.end_ms, it.repeated));
        let expected =
            [("1 s later", 1100.0, 0), ("on other", 1300.0, 0), ("no bottleneck", 770.0, 0)];
        assert_eq!(ends.collect::<Vec<_>>(), expected);
    }

    #[test]
    fn an_end_within_a_twentieth_meets_the_aim() {
        let (own, other) = (links("own", "100\n"), links("other", "700\n"));
        let of = |load_ms| row(&load(site::PARTS, load_ms), &own, &other, 0.5).expect("a row");
        let verdicts =
            [700.0, 765.0, 800.0, 840.0, 850.0].map(|ms| of(ms).meets(of(ms).replayed_ms));
        assert_eq!(verdicts, [false, true, true, true, false]);
    }

    #[test]
    fn a_page_without_some_of_its_parts_is_no_load() {
        let own = links("own", "100\n");
        row(&load(39, 920.0), &own, &own, 0.5).expect_err("39 parts");
    }
}
