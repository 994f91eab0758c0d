//! What became of a run.

use std::time::Duration;

use serde::Serialize;
use sounding_sim::world::{FlowId, Report, Segment};
use sounding_sim::{Histogram, Network, World};

use super::{SimulateError, way};
use crate::plan::{Actors, Run, given, offered};

/// What became of a run.
#[derive(Clone, Debug, Serialize)]
pub struct Outcome {
    /// Its number, counted from 1.
    pub run: usize,
    /// Its seed.
    pub seed: u64,
    /// The values of what was swept.
    pub values: Vec<(String, String)>,
    /// A number that follows from everything that happened in it.
    pub digest: String,
    /// Its flows.
    pub flows: Vec<FlowOutcome>,
}

/// What became of a flow.
#[derive(Clone, Debug, Serialize)]
pub struct FlowOutcome {
    /// Number within the run, from 0.
    pub flow: usize,
    /// Its number in the plan, from 0.
    pub plan: usize,
    /// What the plan calls it.
    pub name: String,
    /// Its device.
    pub device: String,
    /// `up` or `down`.
    pub direction: &'static str,
    /// What it sends.
    pub traffic: &'static str,
    /// Who said how fast; empty for datagrams.
    pub controller: String,
    /// IP bytes that came out, over the time that was measured.
    pub throughput_mbit_per_sec: f64,
    /// New payload, over the time that was measured.
    pub goodput_mbit_per_sec: f64,
    /// Throughput over what the link could have carried, where that is known.
    pub utilisation: Option<f64>,
    /// From sender to receiver.
    pub one_way_ms: Option<Delays>,
    /// Behind others in front of the bottleneck and through it.
    pub queueing_ms: Option<Delays>,
    /// As the sender measured it.
    pub rtt_ms: Option<Delays>,
    /// From asking to the last byte, of a finite flow and of each response.
    pub completion_ms: Option<Delays>,
    /// How many of those there were.
    pub completed: u64,
    /// Packets dropped over packets that came out or were dropped.
    pub loss: f64,
    /// Data packets that entered.
    pub sent: u64,
    /// That came out.
    pub arrived: u64,
    /// That were dropped.
    pub dropped: u64,
    /// That were sent again.
    pub retransmitted: u64,
    /// Times that the retransmission timer fired.
    pub timeouts: u64,
    /// All of it, for sums over flows.
    #[serde(skip)]
    pub report: Report,
}

/// A distribution, in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Delays {
    /// Mean.
    pub mean: f64,
    /// Median, by nearest rank to 0.8 %, as the next two.
    pub p50: f64,
    /// What 95 % stayed within.
    pub p95: f64,
    /// What 99 % stayed within.
    pub p99: f64,
    /// The longest.
    pub max: f64,
}

impl Delays {
    /// `None` of nothing.
    pub(super) fn of(histogram: &Histogram) -> Option<Self> {
        let ms = |span: Duration| span.as_nanos() as f64 / 1e6;
        Some(Self {
            mean: ms(histogram.mean()?),
            p50: ms(histogram.quantile(0.50)?),
            p95: ms(histogram.quantile(0.95)?),
            p99: ms(histogram.quantile(0.99)?),
            max: ms(histogram.most()?),
        })
    }
}

impl Outcome {
    pub(super) fn of<N: Network<Segment>>(
        run: &Run,
        actors: &Actors,
        world: &World<N>,
    ) -> Result<Self, SimulateError> {
        let plan = &run.plan;
        let mut flows = Vec::new();
        for (at, actor) in actors.flows.iter().enumerate() {
            let stated = &plan.flows[actor.plan];
            let report = world.report(FlowId(at as u32));
            let span = (plan.warmup, plan.duration);
            let capacity = offered(&given(run, actor.port)?, span);
            flows.push(FlowOutcome {
                flow: at,
                plan: actor.plan,
                name: stated.label().into(),
                device: actors.name_of(actor.port.device),
                direction: way(actor.port.direction),
                traffic: stated.traffic.name(),
                controller: stated.traffic.stream().map_or("", |_| &stated.controller).to_owned(),
                throughput_mbit_per_sec: report.throughput().mbit_per_sec(),
                goodput_mbit_per_sec: report.goodput().mbit_per_sec(),
                utilisation: capacity.map(|capacity| report.utilisation(capacity)),
                one_way_ms: Delays::of(&report.one_way),
                queueing_ms: Delays::of(&report.queueing),
                rtt_ms: Delays::of(&report.rtt),
                completion_ms: Delays::of(&report.completion),
                completed: report.completion.count(),
                loss: report.loss(),
                sent: report.sent,
                arrived: report.arrived,
                dropped: report.dropped,
                retransmitted: report.retransmitted,
                timeouts: report.timeouts,
                report: report.clone(),
            });
        }
        Ok(Self {
            run: run.number,
            seed: run.seed,
            values: run.values.clone(),
            digest: format!("{:016x}", world.digest()),
            flows,
        })
    }
}
