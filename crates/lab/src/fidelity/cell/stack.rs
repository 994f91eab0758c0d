//! A real LTE stack's uplink (srsRAN 4G, 25 resource blocks) beside the same scenes in the model: a
//! steady stream, the ACKs of a download, and pings of an idle device.

pub mod log;
pub mod scenes;

use std::time::Duration;

use sounding_cell::config::{InvalidConfig, NetworkKind};
use sounding_experiment::metrics::quantile;

use super::{FIGURES, Figure, Measured, Noted};

/// The values of periodicBSR-Timer that the stack ran with, in ms.
pub const TIMERS_MS: [u64; 2] = [5, 20];

/// What a phase of a run shows.
#[derive(Clone, Debug, Default)]
pub struct Phase {
    /// Each packet's delay in the uplink, ms.
    pub delays_ms: Vec<f64>,
    /// Reports of an empty buffer.
    pub empty: usize,
    /// All reports.
    pub reports: usize,
    /// From each scheduling request to the next grant, ms. The stack fills a block when its grant
    /// comes.
    pub answers_ms: Vec<f64>,
}

impl Phase {
    /// The part of its reports that show an empty buffer, in percent.
    fn empty_percent(&self) -> Option<f64> {
        (self.reports > 0).then(|| 100.0 * self.empty as f64 / self.reports as f64)
    }
}

/// A run: both phases under load, and the round trips while idle.
#[derive(Clone, Debug, Default)]
pub struct Run {
    /// The stream of packets of 1,250 bytes.
    pub stream: Phase,
    /// The ACKs of a download.
    pub acks: Phase,
    /// Pings of an idle device; their round trips are the delays.
    pub pings: Phase,
}

/// The figures of a run with their names: as in [`FIGURES`], after the timer.
fn figures(run: &Run) -> Vec<(&'static str, Option<f64>)> {
    let mut figures = Vec::new();
    let phases = [
        (&run.stream, ["stream.p5", "stream.p50", "stream.p95", "stream.p99"], "stream.empty"),
        (&run.acks, ["acks.p5", "acks.p50", "acks.p95", "acks.p99"], "acks.empty"),
    ];
    for (phase, names, empty) in phases {
        for (name, part) in names.into_iter().zip([0.05, 0.5, 0.95, 0.99]) {
            figures.push((name, quantile(&phase.delays_ms, part)));
        }
        figures.push((empty, phase.empty_percent()));
    }
    let answers = [run.stream.answers_ms.as_slice(), &run.acks.answers_ms].concat();
    figures.push(("answer", quantile(&answers, 0.5)));
    for (name, part) in [("pings.p50", 0.5), ("pings.p95", 0.95)] {
        figures.push((name, quantile(&run.pings.delays_ms, part)));
    }
    figures
}

/// The figures of a run with this timer that are in the table, with their values.
pub fn known(run: &Run, timer_ms: u64) -> Vec<(&'static Figure, f64)> {
    let named = figures(run).into_iter().filter_map(|(name, value)| {
        let id = format!("stack.{timer_ms}.{name}");
        Some((FIGURES.iter().find(|figure| figure.id == id)?, value?))
    });
    named.collect()
}

/// The scenes in the model, in the stack's own kind of network.
pub(super) fn measure(span: Duration, seed: u64, into: &mut Measured) -> Result<(), InvalidConfig> {
    for timer in TIMERS_MS {
        let run = scenes::run(NetworkKind::Srsran, timer, span, seed)?;
        for (figure, value) in known(&run, timer) {
            into.note(figure.id, Some(value));
        }
    }
    // The same traffic in an operator's network, beside captures of such.
    let run = scenes::run(NetworkKind::Operator, TIMERS_MS[0], span, seed)?;
    into.note("bsr.lte.zero.stream", run.stream.empty_percent());
    into.note("bsr.lte.zero.acks", run.acks.empty_percent());
    into.note("bsr.lte.zero.pings", run.pings.empty_percent());
    Ok(())
}
