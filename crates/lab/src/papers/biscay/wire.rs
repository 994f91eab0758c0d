//! A wire that gets narrower than the radio and wide again: how soon a controller knows (BISCAY
//! §5.3.6, Fig. 10).
//!
//! On three grounds: a link that is given and a modelled cell, both in virtual time, and this
//! kernel over the same cell.

mod grounds;
mod table;

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde::Serialize;
use sounding_experiment::metrics::{nearest_rank, sorted};
use sounding_experiment::observe::Arrival;
use sounding_experiment::plan::Run;
use sounding_experiment::provenance::Begun;
use sounding_report::distinct;
use sounding_trace::{ParseStepsError, Steps};

use self::table::table;
use super::item::{Item, Report, controller, text};
use crate::experiment::Failed;
use grounds::{Seen, given, in_kernel, over_cell};

/// The command.
#[derive(Clone, Debug)]
pub struct Wires {
    /// Duration of each flow; default: as in the plan.
    pub duration: Option<Duration>,
    /// Seeds of the cell, counted from 1, if not as many as the plan has.
    pub seeds: Option<u32>,
    /// The senders, if not all of the plan.
    pub controllers: Vec<String>,
    /// This program, which has the daemon, if this kernel is to send in real time instead of
    /// virtual time.
    pub in_kernel: Option<PathBuf>,
}

/// What sent over what.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ground {
    /// Our controllers over a link that is given, whatever is sent.
    GivenLink,
    /// Our controllers over a cell that grants what is asked for.
    Cell,
    /// This kernel over such a cell.
    Kernel,
}

impl Ground {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::GivenLink => "given link",
            Self::Cell => "cell",
            Self::Kernel => "kernel",
        }
    }
}

/// A controller's behaviour in one stretch in which the wire was narrower.
#[derive(Clone, Debug, Serialize)]
pub struct Crossing {
    /// The controller.
    pub controller: String,
    /// Where.
    pub ground: Ground,
    /// The cell's.
    pub seed: u64,
    /// Rate of the wire, Mbit/s.
    pub wire_mbit_per_sec: f64,
    /// Until it went over to the controller for wires, ms; `None` if it never did.
    pub found_ms: Option<f64>,
    /// Whether the wire got wide again before the flow ended.
    pub widens: bool,
    /// From when the wire was wide again until it came back, ms; `None` if it never did.
    pub back_ms: Option<f64>,
    /// Throughput meanwhile over the wire's rate, without the first second.
    pub used: f64,
    /// The 95th percentile of queueing meanwhile, the first second left out, ms.
    pub queueing_p95_ms: f64,
    /// Number of changes of phase there.
    pub changes: usize,
    /// Times that the emulation fell behind the clock; if any, the run is unreliable.
    pub times_behind: u64,
}

/// The data of the rows.
#[derive(Clone, Debug, Serialize)]
pub struct Crossings {
    /// All crossings.
    pub crossings: Vec<Crossing>,
}

/// Runs the item until it is done or `stop` rises, and returns which; `progress` is called for each
/// stretch.
pub fn crossings(
    plan: &Wires,
    stop: &AtomicBool,
    mut progress: impl FnMut(&Crossing),
) -> Result<(Report<Crossings>, bool), Failed> {
    let begun = Begun::now();
    let item = Item::Fig10.files();
    let seeds = plan.seeds.map(|seeds| format!("1..{seeds}"));
    let mut runs = text(item, plan.duration, seeds)?.runs()?;
    if !plan.controllers.is_empty() {
        let all = distinct(runs.iter().map(controller));
        if let Some(name) = plan.controllers.iter().find(|name| !all.contains(&name.as_str())) {
            return Err(format!("{name:?} does not send here: one of {}", all.join(", ")).into());
        }
        runs.retain(|run| plan.controllers.iter().any(|name| name == controller(run)));
    }
    let mut all = Vec::new();
    let mut complete = true;
    for (ground, run) in turns(&runs, plan.in_kernel.is_some()) {
        let wire = wire_of(run).map_err(|error| Failed::at("the wire", error))?;
        let seen = match (ground, &plan.in_kernel) {
            (Ground::Kernel, Some(program)) => in_kernel(run, program.clone(), stop)?,
            (Ground::GivenLink, _) => given(run, &wire),
            _ => over_cell(run)?,
        };
        // An interrupted run does not count.
        if stop.load(Ordering::Relaxed) {
            complete = false;
            break;
        }
        let crossed = of(run, ground, &wire, &seen);
        crossed.iter().for_each(&mut progress);
        all.extend(crossed);
    }
    let about = runs.first().map_or("", |run| run.plan.about.as_str());
    let rows = table(&all);
    let expected = item.expected()?;
    Ok((
        Report::new(about, expected, rows, Crossings { crossings: all }.into(), begun.end()),
        complete,
    ))
}

/// The order of the runs, with their ground.
fn turns(runs: &[Run], in_kernel: bool) -> Vec<(Ground, &Run)> {
    if in_kernel {
        let mut turns: Vec<_> = runs.iter().map(|run| (Ground::Kernel, run)).collect();
        // In each cell all of them, so that a noisy minute of the machine affects all of them.
        turns.sort_by_key(|(_, run)| run.seed);
        return turns;
    }
    let of_one = runs.chunk_by(|one, other| controller(one) == controller(other));
    let turns = of_one.flat_map(|runs| {
        // A given link has no random choices.
        let given = runs.first().map(|run| (Ground::GivenLink, run));
        given.into_iter().chain(runs.iter().map(|run| (Ground::Cell, run)))
    });
    turns.collect()
}

/// The rates of the wire over time.
fn wire_of(run: &Run) -> Result<Steps, ParseStepsError> {
    run.plan.wire.as_ref().map_or("", |wire| wire.up.as_str()).parse()
}

fn of(run: &Run, ground: Ground, wire: &Steps, seen: &Seen) -> Vec<Crossing> {
    const WIDE_FROM: f64 = 100.0;
    const SETTLED: Duration = Duration::from_secs(1);
    let (steps, until) = (wire.steps(), run.plan.duration);
    let ms = |span: Duration| span.as_secs_f64() * 1e3;
    let mut crossings = Vec::new();
    for (at, step) in steps.iter().enumerate() {
        let rate = step.rate.mbit_per_sec();
        if rate >= WIDE_FROM {
            continue;
        }
        let wide = steps.get(at + 1).map_or(until, |next| next.at.min(until));
        let ends = steps.get(at + 2).map_or(until, |next| next.at);
        let within = |from: Duration, to: Duration| {
            seen.changes.iter().filter(move |(at, _)| (from..to).contains(at))
        };
        let found = within(step.at, wide).find(|(_, wired)| *wired);
        let was = seen.changes.iter().rev().find(|(at, _)| *at < wide);
        let back = was
            .filter(|(_, wired)| *wired)
            .and_then(|_| within(wide, ends).find(|(_, wired)| !*wired));
        let from = step.at + SETTLED;
        let packets = seen.arrivals.iter().filter(|packet| (from..wide).contains(&packet.at()));
        let queueing = sorted(packets.clone().map(|packet| ms(packet.queueing())));
        if queueing.is_empty() {
            continue;
        }
        let bytes: u64 = packets.map(Arrival::size).sum();
        crossings.push(Crossing {
            controller: controller(run).into(),
            ground,
            seed: run.seed,
            wire_mbit_per_sec: rate,
            found_ms: found.map(|(at, _)| ms(*at - step.at)),
            widens: wide < until,
            back_ms: back.map(|(at, _)| ms(*at - wide)),
            used: bytes as f64 * 8e-6 / (wide - from).as_secs_f64() / rate,
            queueing_p95_ms: nearest_rank(&queueing, 0.95),
            changes: within(step.at, wide).filter(|(_, wired)| *wired).count(),
            times_behind: seen.times_behind,
        });
    }
    crossings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sounding_finds_a_wire_within_a_second_and_returns_within_one() {
        let mut text = Item::Fig10.files().text();
        let sets = [
            "wire.up=0s 1000Mbit, 5s 5Mbit, 11s 1000Mbit, 14s 10Mbit, 20s 1000Mbit",
            "duration=23s",
            "seeds=1..3",
        ];
        sets.iter().for_each(|set| text.set(set).unwrap());
        let mut runs = text.runs().unwrap();
        runs.retain(|run| controller(run) == "sounding");
        assert_eq!(runs.len(), 3);
        for run in runs {
            let seen = over_cell(&run).unwrap();
            let crossings = of(&run, Ground::Cell, &wire_of(&run).unwrap(), &seen);
            assert_eq!(crossings.len(), 2);
            for crossing in crossings {
                assert!(crossing.found_ms.is_some_and(|ms| ms <= 1_000.0), "{crossing:?}");
                assert!(crossing.back_ms.is_some_and(|ms| ms <= 1_000.0), "{crossing:?}");
                assert!(crossing.used >= 0.9 && crossing.changes <= 2, "{crossing:?}");
            }
        }
    }

    #[test]
    fn a_daemons_word_on_a_narrow_wire_is_the_one_that_counts() {
        let at = |ms: u64| sounding_units::HostInstant::from_nanos(ms * 1_000_000);
        let to = |ms: u64, to: &str, reason: &str| serde_json::json!({ "event": "transition", "at_ns": ms * 1_000_000, "to": to, "reason": reason });
        let said = [
            to(1_050, "probing", "fresh"),
            to(2_300, "no-estimate", "silent"),
            to(2_400, "radio-limited", "fresh"),
            to(6_500, "bottleneck-elsewhere", "narrow"),
            to(9_000, "probing", "wide"),
        ];
        let wired: Vec<u128> = grounds::changes(&said, at(1_000))
            .filter(|(_, wired)| *wired)
            .map(|(at, _)| at.as_millis())
            .collect();
        assert_eq!(wired, [5_500]);
    }
}
