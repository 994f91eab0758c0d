//! The same cell, seed and flow twice: this kernel's controllers in real time, ours in virtual time.
//!
//! Both measure alike: bytes of IP that came out between the warm-up and the end, and one-way delay from where the packet
//! enters the network to where it leaves it. What differs is the sender: the kernel's own code, its buffers and the
//! machine that it runs on.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use serde::Serialize;
use sounding_sim::World;
use sounding_sim::world::{Report, Segment};
use sounding_units::HostInstant;

use crate::emulate::{self, EmulateError};
use crate::plan::{self, Actors, Built, PlanError, Run, Text};
use crate::provenance::{Begun, Provenance};
use crate::simulate::populate;

/// Cells by name.
const CELLS: [(&str, &str); 2] = [
    ("LTE 10 MHz", "prb = 50\n"),
    ("NR 20 MHz", "rat = \"nr\"\nnumerology = 1\nprb = 51\ntdd = \"DDDSU\"\n"),
];

/// Who sends.
const CONTROLLERS: [&str; 4] = ["reno", "cubic", "bbr", "biscay"];

/// What to run.
#[derive(Clone, Debug)]
pub struct Plan {
    /// How long each flow sends; the first fifth is not measured.
    pub duration: Duration,
    /// Seeds of the cells.
    pub seeds: u32,
    /// This program, which has the daemon.
    pub program: PathBuf,
}

/// Why it did not run.
#[derive(Debug, thiserror::Error)]
pub enum AgreementError {
    /// A plan of this file is wrong.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// A real-time run failed.
    #[error("{cell}, {controller}: {source}")]
    Emulate {
        /// Where.
        cell: &'static str,
        /// Who.
        controller: &'static str,
        /// Why.
        source: EmulateError,
    },
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
    /// Who sent.
    pub controller: &'static str,
    /// In real time.
    pub kernel: Side,
    /// In virtual time.
    pub virtual_time: Side,
    /// Times that the real-time run fell behind the clock; if any, it says little.
    pub times_behind: u64,
    /// How late the network's steps were at the worst of a hundred, in microseconds.
    pub step_lateness_p99_us: f64,
}

/// One of both.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Side {
    /// Bytes of IP that came out.
    pub throughput_mbit_per_sec: f64,
    /// One-way delay, median.
    pub p50_ms: f64,
    /// 95th percentile.
    pub p95_ms: f64,
    /// Packets that the network dropped over packets that came out or were dropped, in percent.
    pub loss_percent: f64,
}

/// The result.
#[derive(Clone, Debug, Serialize)]
pub struct Agreement {
    /// Where the figures come from.
    pub provenance: Provenance,
    /// One a flow.
    pub rows: Vec<Row>,
}

/// Runs everything; `progress` is told of each pair.
pub fn run(plan: &Plan, mut progress: impl FnMut(&Row)) -> Result<Agreement, AgreementError> {
    let begun = Begun::now();
    let mut rows = Vec::new();
    for (cell, carrier) in CELLS {
        for seed in 1..=plan.seeds {
            for way in ["up", "down"] {
                // Grants of a downlink say what was asked for: nothing to set a window by.
                let runners =
                    CONTROLLERS.into_iter().filter(|name| *name != "biscay" || way == "up");
                for controller in runners {
                    let runs = text(carrier, way, controller, seed, plan.duration).runs()?;
                    let fail = |source| AgreementError::Emulate { cell, controller, source };
                    let (kernel, times_behind, step_lateness_p99_us) =
                        real(plan, &runs[0]).map_err(fail)?;
                    let virtual_time = unreal(&runs[0]).map_err(fail)?;
                    let row = Row {
                        cell,
                        seed,
                        way,
                        controller,
                        kernel,
                        virtual_time,
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

/// A phone that stands in a street, 20 ms of wire behind its base station.
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

/// With how often the network fell behind, and how late its steps were.
fn real(plan: &Plan, run: &Run) -> Result<(Side, u64, f64), EmulateError> {
    let (figures, ended) = emulate::whole(run, plan.program.clone())?;
    let pace = &ended.report.pace;
    let side = Side {
        throughput_mbit_per_sec: figures[0].throughput_mbit_per_sec,
        p50_ms: figures[0].one_way_ms.p50,
        p95_ms: figures[0].one_way_ms.p95,
        loss_percent: 100.0 * figures[0].loss,
    };
    Ok((side, pace.times_behind, pace.steps.quantile(0.99).as_nanos() as f64 / 1e3))
}

fn unreal(run: &Run) -> Result<Side, EmulateError> {
    let network: Built<Segment> = plan::network(&run.plan, &run.folder, run.seed)?;
    let mut world = World::new(network, run.seed);
    let flows = populate(&mut world, run, &Actors::new(&run.plan)?);
    world.run_until(HostInstant::default() + run.plan.warmup);
    world.measure_afresh();
    world.run_until(HostInstant::default() + run.plan.duration);
    Ok(Side::of(world.report(flows[0])))
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

impl Agreement {
    /// A page for the documentation.
    pub fn to_markdown(&self) -> String {
        format!("# The kernel and virtual time over the same cells\n\n{}\n{self}", self.provenance)
    }
}

impl fmt::Display for Agreement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "| cell | seed | way | controller | Mbit/s kernel | virtual | delay p50 / p95 ms kernel | virtual | loss % kernel | virtual | behind | steps late p99 us |"
        )?;
        writeln!(f, "|---|---|---|---|---|---|---|---|---|---|---|---|")?;
        for row in &self.rows {
            let Row { kernel, virtual_time, .. } = row;
            writeln!(
                f,
                "| {} | {} | {} | {} | {:.2} | {:.2} | {:.0} / {:.0} | {:.0} / {:.0} | {:.2} | {:.2} | {} | {:.0} |",
                row.cell,
                row.seed,
                row.way,
                row.controller,
                kernel.throughput_mbit_per_sec,
                virtual_time.throughput_mbit_per_sec,
                kernel.p50_ms,
                kernel.p95_ms,
                virtual_time.p50_ms,
                virtual_time.p95_ms,
                kernel.loss_percent,
                virtual_time.loss_percent,
                row.times_behind,
                row.step_lateness_p99_us
            )?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn virtual_time_carries_most_of_what_a_cell_has_under_every_controller() {
        for controller in CONTROLLERS {
            let text = text(CELLS[0].1, "up", controller, 1, Duration::from_secs(4));
            let side = unreal(&text.runs().expect("a plan")[0]).expect("a network");
            assert!(side.throughput_mbit_per_sec > 5.0, "{controller}: {side:?}");
        }
    }
}
