//! The same cell, seed and flow twice: this kernel's controllers in real time, and this project's
//! in virtual time.
//!
//! Both have the same measurements: received bytes of IP between the warm-up and the end, and
//! one-way delay from the packet's entry into the network to its exit. The sender differs: the
//! kernel's own code, its buffers and the machine.

pub(crate) mod experiment;

use std::fmt;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use serde::Serialize;
use serde_json::Value as Json;
use sounding_experiment::observe::{Observation, Setup};
use sounding_experiment::plan::{Run, Text};
use sounding_experiment::provenance::{Begun, Provenance};
use sounding_laws::Phase;
use sounding_sim::world::Report;
use sounding_testbed::emulate::{self, EmulateError, PUNCTUALITY_PERCENT};
use sounding_units::HostInstant;

use crate::experiment::Failed;
use crate::table::{Table, slashed};

/// Cells by name.
const CELLS: [(&str, &str); 2] = [
    ("LTE 10 MHz", "prb = 50\n"),
    ("NR 20 MHz", "rat = \"nr\"\nnumerology = 1\nprb = 51\ntdd = \"DDDSU\"\n"),
];

/// The senders.
const CONTROLLERS: [&str; 4] = ["reno", "cubic", "bbr", "biscay"];

/// This kernel's controllers in real time, compared with this project's in virtual time, over the
/// same modelled cells
#[derive(Clone, Debug, clap::Args)]
pub struct Plan {
    /// Duration of each flow; the first fifth is not measured
    #[arg(long, value_name = "TIME", default_value = "20s", value_parser = humantime::parse_duration)]
    pub duration: Duration,

    /// Seeds of each cell, counted from 1
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    pub seeds: u32,

    /// This program, which has the daemon.
    #[arg(skip)]
    pub program: PathBuf,
}

/// Both runs of one flow.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// The cell.
    pub cell: &'static str,
    /// Its seed.
    pub seed: u32,
    /// `up` or `down`.
    pub way: &'static str,
    /// The sender's controller.
    pub controller: &'static str,
    /// In real time.
    pub kernel: Side,
    /// In virtual time.
    pub virtual_time: Side,
    /// The part of the measured time in which BISCAY's flow was on its fallback in the kernel, in
    /// percent. The law changes to it after 60 ms in which a busy machine does not run the
    /// daemon.
    pub fallback_percent: Option<f64>,
    /// Times that the real-time run fell behind the clock; if any, the row is unreliable.
    pub times_behind: u64,
    /// The 99th percentile of the lateness of the network's steps, in microseconds.
    pub step_lateness_p99_us: f64,
}

/// The figures of one run.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Side {
    /// Bytes of IP that came out.
    pub throughput_mbit_per_sec: f64,
    /// One-way delay, median.
    pub p50_ms: f64,
    /// 95th percentile.
    pub p95_ms: f64,
    /// Dropped packets ÷ (received or dropped packets), in percent.
    pub loss_percent: f64,
}

/// The result.
#[derive(Clone, Debug, Serialize)]
pub struct Agreement {
    /// Origin of the figures.
    pub provenance: Provenance,
    /// One row for each flow.
    pub rows: Vec<Row>,
}

/// Runs everything; `progress` is called for each pair.
pub fn run(plan: &Plan, mut progress: impl FnMut(&Row)) -> Result<Agreement, Failed> {
    let begun = Begun::now();
    let mut rows = Vec::new();
    for (cell, carrier) in CELLS {
        for seed in 1..=plan.seeds {
            for way in ["up", "down"] {
                // Without a backlog, grants of a downlink are only a floor, so they cannot set a
                // window.
                let runners =
                    CONTROLLERS.into_iter().filter(|name| *name != "biscay" || way == "up");
                for controller in runners {
                    let runs = text(carrier, way, controller, seed, plan.duration).runs()?;
                    let fail = |error| Failed::at(format_args!("{cell}, {controller}"), error);
                    let Real { kernel, fallback_percent, times_behind, step_lateness_p99_us } =
                        real(plan, &runs[0]).map_err(fail)?;
                    let virtual_time = unreal(&runs[0]).map_err(fail)?;
                    let row = Row {
                        cell,
                        seed,
                        way,
                        controller,
                        kernel,
                        virtual_time,
                        fallback_percent,
                        times_behind,
                        step_lateness_p99_us,
                    };
                    progress(&row);
                    rows.push(row);
                }
            }
        }
    }
    Ok(Agreement { provenance: begun.end(), rows })
}

/// A phone at rest in a street, with 20 ms of wire behind its base station.
fn text(carrier: &str, way: &str, controller: &str, seed: u32, duration: Duration) -> Text {
    let text = format!(
        "duration = \"{}ms\"\nwarmup = \"{}ms\"\nseeds = [{seed}]\nwire = {{ delay = \"20ms\" }}\n\
         [[cell.carriers]]\n{carrier}[[cell.devices]]\nmodem = {{}}\n\
         channel = {{ kind = \"script\", levels = [{{ at_s = 0.0, sinr_db = 15.0 }}], fading = {{}} }}\n\
         [[flows]]\ndirection = \"{way}\"\ncontroller = \"{controller}\"\n",
        duration.as_millis(),
        duration.as_millis() / 5,
    );
    Text::new("agreement", text, PathBuf::new())
}

/// The result of a run in real time.
struct Real {
    kernel: Side,
    fallback_percent: Option<f64>,
    times_behind: u64,
    step_lateness_p99_us: f64,
}

fn real(plan: &Plan, run: &Run) -> Result<Real, EmulateError> {
    let never = AtomicBool::new(false);
    let (figures, ended) = emulate::whole(run, plan.program.clone(), PUNCTUALITY_PERCENT, &never)?;
    let pace = &ended.report.pace;
    let kernel = Side {
        throughput_mbit_per_sec: figures[0].throughput_mbit_per_sec,
        p50_ms: figures[0].one_way_ms.p50,
        p95_ms: figures[0].one_way_ms.p95,
        loss_percent: 100.0 * figures[0].loss,
    };
    let started = ended.report.started;
    let measured = (started + run.plan.warmup, started + run.plan.duration);
    let fallback = |(_, said): &(String, Vec<Json>)| fallback_percent(said, measured);
    Ok(Real {
        kernel,
        fallback_percent: ended.daemons.first().map(fallback),
        times_behind: pace.times_behind,
        step_lateness_p99_us: pace.steps.quantile(0.99).as_nanos() as f64 / 1e3,
    })
}

/// The part of a span in which the law did not control a flow, from its daemon's events, in
/// percent.
pub(crate) fn fallback_percent(said: &[Json], (from, to): (HostInstant, HostInstant)) -> f64 {
    let (mut since, mut off, mut away) = (from, true, Duration::ZERO);
    for transition in said.iter().filter(|event| event["event"] == "transition") {
        let at = HostInstant::from_nanos(transition["at_ns"].as_u64().unwrap_or_default());
        let at = at.clamp(from, to);
        if off {
            away += at - since;
        }
        // A law has other words for its phases.
        (since, off) = (
            at,
            transition["to"].as_str().and_then(Phase::by_name).is_some_and(|to| !to.law_controls()),
        );
    }
    if off {
        away += to - since;
    }
    100.0 * away.as_secs_f64() / (to - from).as_secs_f64()
}

fn unreal(run: &Run) -> Result<Side, EmulateError> {
    let mut made = Observation::new(run, Setup::default(), ())?;
    made.pass_until(run.plan.warmup);
    made.world.measure_afresh();
    made.pass_until(run.plan.duration);
    Ok(Side::of(made.world.report(made.flows[0])))
}

impl Side {
    fn of(report: &Report) -> Self {
        let millis = |quantile| {
            report.one_way.quantile(quantile).unwrap_or_default().as_nanos() as f64 / 1e6
        };
        Self {
            throughput_mbit_per_sec: report.throughput().mbit_per_sec(),
            p50_ms: millis(0.5),
            p95_ms: millis(0.95),
            loss_percent: 100.0 * report.loss(),
        }
    }
}

impl fmt::Display for Agreement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut table = Table::new().left([
            "cell",
            "seed",
            "way",
            "controller",
            "Mbit/s kernel",
            "virtual",
            "delay p50 / p95 ms kernel",
            "virtual",
            "loss % kernel",
            "virtual",
            "on BBR %",
            "behind",
            "steps late p99 us",
        ]);
        for row in &self.rows {
            let sides = [&row.kernel, &row.virtual_time];
            let [rate, our_rate] = sides.map(|side| format!("{:.2}", side.throughput_mbit_per_sec));
            let [delay, our_delay] = sides.map(|side| slashed([side.p50_ms, side.p95_ms]));
            let [loss, our_loss] = sides.map(|side| format!("{:.2}", side.loss_percent));
            table.row([
                row.cell.to_string(),
                row.seed.to_string(),
                row.way.to_string(),
                row.controller.to_string(),
                rate,
                our_rate,
                delay,
                our_delay,
                loss,
                our_loss,
                row.fallback_percent.map_or(String::new(), |percent| format!("{percent:.0}")),
                row.times_behind.to_string(),
                format!("{:.0}", row.step_lateness_p99_us),
            ]);
        }
        table.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_off_the_law_is_counted_between_the_warm_up_and_the_end() {
        let at = |ms: u64| HostInstant::from_nanos(ms * 1_000_000);
        let to = |ms: u64, state: &str| serde_json::json!({ "event": "transition", "at_ns": ms * 1_000_000, "to": state });
        let said = [
            to(50, "radio-limited"),
            to(300, "no-estimate"),
            to(400, "radio-limited"),
            to(900, "no-estimate"),
        ];
        assert_eq!(fallback_percent(&said, (at(100), at(1_100))), 30.0);
        assert_eq!(fallback_percent(&[], (at(100), at(1_100))), 100.0);
        // `sounding` has more than one phase in which it controls the flow.
        let said =
            [to(50, "probing"), to(300, "radio-limited"), to(400, "no-estimate"), to(900, "hold")];
        assert_eq!(fallback_percent(&said, (at(100), at(1_100))), 50.0);
    }

    #[test]
    fn virtual_time_carries_most_of_what_a_cell_has_under_every_controller() {
        for controller in CONTROLLERS {
            let text = text(CELLS[0].1, "up", controller, 1, Duration::from_secs(4));
            let side = unreal(&text.runs().expect("a plan")[0]).expect("a network");
            assert!(side.throughput_mbit_per_sec > 5.0, "{controller}: {side:?}");
        }
    }
}
