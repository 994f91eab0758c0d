//! The outcome of a run.

use std::time::Duration;

use serde::{Deserialize, Deserializer, Serialize};
use sounding_cc::Choice;
use sounding_sim::world::{FlowId, Report, Segment};
use sounding_sim::{Histogram, Network, World};
use sounding_units::Bytes;

use super::gauge::Gauge;
use super::{at, way};
use crate::metrics::jain as jain_of;
use crate::plan::{Actors, Run, TrafficPlan};

/// The outcome of a run.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Outcome {
    /// Its number, counted from 1.
    pub run: usize,
    /// Its seed.
    pub seed: u64,
    /// The values of the swept keys.
    pub values: Vec<(String, String)>,
    /// A digest of all its events.
    pub digest: String,
    /// Its flows.
    pub flows: Vec<FlowOutcome>,
}

/// The outcome of a flow. A value that was not measured, for a flow from elsewhere, is `None`.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub struct FlowOutcome {
    /// Number within the run, from 0.
    pub flow: usize,
    /// Its number in the plan, from 0.
    pub plan: usize,
    /// Its name in the plan.
    pub name: String,
    /// Its device.
    pub device: String,
    /// `up` or `down`.
    pub direction: String,
    /// Its traffic.
    pub traffic: String,
    /// The controller; empty for datagrams.
    pub controller: String,
    /// Its name and its parameters by themselves, where some are stated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tuned: Option<Tuned>,
    /// Received IP bytes ÷ the measured time.
    pub throughput_mbit_per_sec: f64,
    /// New payload, over the time that was measured.
    pub goodput_mbit_per_sec: Option<f64>,
    /// The link's capacity in that time, if it is known.
    pub capacity_mbit_per_sec: Option<f64>,
    /// The ratio of throughput to that.
    pub utilisation: Option<f64>,
    /// As Pantheon has it.
    pub pantheon: Pantheon,
    /// Throughput over the 95th percentile of the one-way delay: Mbit/s for each second of it.
    pub power_mbit_per_sec_per_sec: Option<f64>,
    /// From sender to receiver.
    pub one_way_ms: Option<Delays>,
    /// Behind others in front of the bottleneck and through it.
    pub queueing_ms: Option<Delays>,
    /// As the sender measured it.
    pub rtt_ms: Option<Delays>,
    /// From asking to the last byte, of a finite flow and of each response.
    pub completion_ms: Option<Delays>,
    /// Their 99.9th percentile.
    pub completion_p999_ms: Option<f64>,
    /// Number of completions.
    pub completed: u64,
    /// From its beginning to the first of five seconds in which every window of the plan's width
    /// stays within a quarter of the fair share. `None` for a flow that never converges, and
    /// if the fair share is unknown.
    pub convergence_ms: Option<f64>,
    /// Total of a bulk flow's gaps of more than 200 ms.
    pub stalled_ms: Option<f64>,
    /// The longest gap of a bulk flow.
    pub longest_gap_ms: Option<f64>,
    /// Fairness of the bulk flows that share a network with it, itself included.
    pub jain: Option<Jain>,
    /// Distance to the oracle over the same link with the same seed, if the plan has both.
    pub oracle: Option<FromOracle>,
    /// Dropped packets ÷ (received or dropped packets).
    pub loss: f64,
    /// Data packets that entered.
    pub sent: Option<u64>,
    /// Received packets.
    pub arrived: Option<u64>,
    /// Packets that were dropped.
    pub dropped: Option<u64>,
    /// Packets that were sent again.
    pub retransmitted: Option<u64>,
    /// Times that the retransmission timer fired.
    pub timeouts: Option<u64>,
    /// All of it, for sums over flows.
    #[serde(skip)]
    pub report: Report,
}

/// A controller with stated parameters.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub struct Tuned {
    /// Its name.
    pub name: String,
    /// The given parameters: numbers as numbers, times and words as text.
    pub parameters: serde_json::Map<String, serde_json::Value>,
}

impl Tuned {
    /// `None` for a controller without parameters.
    fn of(choice: &Choice) -> Option<Self> {
        let value =
            |text: &str| text.parse().map_or_else(|_| text.into(), serde_json::Value::Number);
        let stated = choice.stated().map(|(name, text)| (name.to_owned(), value(text)));
        let name = choice.name().to_owned();
        (!choice.is_plain()).then(|| Self { name, parameters: stated.collect() })
    }
}

/// Pantheon's three figures of a flow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize, Serialize)]
pub struct Pantheon {
    /// Received IP bytes ÷ the time between the first and the last received packet.
    pub throughput_mbit_per_sec: Option<f64>,
    /// 95th percentile of the one-way delay, by nearest rank.
    pub delay_p95_ms: Option<f64>,
    /// Part of the sent bytes that were not received in the measured time, for any reason.
    pub loss: f64,
}

/// Jain's fairness index.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize)]
pub struct Jain {
    /// Over the flows' bytes in the whole measured time.
    pub whole: f64,
    /// The index, as a mean over sliding windows of the plan's width with two flows or more.
    pub mean: Option<f64>,
    /// The least of these, a ratio too.
    pub least: Option<f64>,
}

/// Distance of a flow from the oracle.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize)]
pub struct FromOracle {
    /// Its throughput over the oracle's.
    pub throughput_share: f64,
    /// The 95th percentile of its queueing delay minus the oracle's.
    pub queueing_p95_ms: f64,
}

/// A distribution, in milliseconds. An unknown value, for a flow measured elsewhere, is not a
/// number.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize)]
pub struct Delays {
    /// Mean, ms.
    #[serde(deserialize_with = "known")]
    pub mean: f64,
    /// Median, ms, by nearest rank to 0.8 %, as the next two.
    #[serde(deserialize_with = "known")]
    pub p50: f64,
    /// 95th percentile, ms.
    #[serde(deserialize_with = "known")]
    pub p95: f64,
    /// 99th percentile, ms.
    #[serde(deserialize_with = "known")]
    pub p99: f64,
    /// The longest, ms.
    #[serde(deserialize_with = "known")]
    pub max: f64,
}

/// An unknown value is null in JSON.
fn known<'de, D: Deserializer<'de>>(input: D) -> Result<f64, D::Error> {
    Ok(Option::deserialize(input)?.unwrap_or(f64::NAN))
}

impl Delays {
    /// `None` without values.
    pub(super) fn of(histogram: &Histogram) -> Option<Self> {
        Some(Self {
            mean: ms(histogram.mean()?),
            p50: ms(histogram.quantile(0.50)?),
            p95: ms(histogram.quantile(0.95)?),
            p99: ms(histogram.quantile(0.99)?),
            max: ms(histogram.most()?),
        })
    }
}

/// As plans write it.
fn shown(size: Bytes) -> String {
    match size.count() {
        count if count.is_multiple_of(1_000_000) => format!("{}MB", count / 1_000_000),
        count if count.is_multiple_of(1_000) => format!("{}kB", count / 1_000),
        count => format!("{count}"),
    }
}

fn ms(span: Duration) -> f64 {
    span.as_nanos() as f64 / 1e6
}

impl Pantheon {
    /// Its rank is that of NumPy's percentile with the interpolation "nearest", which Pantheon
    /// uses: for `n` values sorted from 0 on, `0.95 (n - 1)` rounded to the nearest, halves to
    /// the even one.
    pub(super) fn of(report: &Report) -> Self {
        let between = report.arrivals.map(|(first, last)| last - first);
        let throughput = between.filter(|between| !between.is_zero());
        let count = report.one_way.count();
        let rank = (0.95 * count.saturating_sub(1) as f64).round_ties_even() as u64 + 1;
        let (offered, carried) = (report.offered.count() as f64, report.carried.count() as f64);
        Self {
            throughput_mbit_per_sec: throughput
                .map(|between| report.carried.per(between).mbit_per_sec()),
            delay_p95_ms: report.one_way.ranked(rank).map(ms),
            // Bytes that entered before the measurement and left in it may exceed the loss.
            loss: if offered > 0.0 { (1.0 - carried / offered).max(0.0) } else { 0.0 },
        }
    }
}

impl Outcome {
    pub(super) fn of<N: Network<Segment>>(
        run: &Run,
        actors: &Actors,
        world: &World<N>,
        gauge: Gauge,
    ) -> Self {
        let plan = &run.plan;
        let offered = gauge.offered((plan.warmup, plan.duration));
        let (found, groups) = gauge.finish(at(plan.duration));
        let mut flows = Vec::new();
        for (number, actor) in actors.flows.iter().enumerate() {
            let stated = &plan.flows[actor.plan];
            let controller = stated.traffic.stream().ok().map(|_| &stated.controller);
            let id = FlowId(number as u32);
            let (mut name, mut device) = (stated.label().to_owned(), None);
            let summed;
            let report = match &stated.traffic {
                TrafficPlan::Arrivals { sizes, .. } => {
                    if let Some(portion) = sizes.get(actor.number as usize) {
                        name = format!("{name} {}", shown(portion.0));
                    }
                    device = actors.group(actor.port.device).map(|group| group.name.clone());
                    summed = world.total(id);
                    &summed
                }
                _ => world.report(id),
            };
            let capacity = offered[number];
            let throughput = report.throughput().mbit_per_sec();
            let one_way_ms = Delays::of(&report.one_way);
            let jain = groups.iter().find(|(flows, _)| flows.contains(&number));
            flows.push(FlowOutcome {
                flow: number,
                plan: actor.plan,
                name,
                device: device.unwrap_or_else(|| actors.name_of(actor.port.device)),
                direction: way(actor.port.direction).into(),
                traffic: stated.traffic.name().into(),
                controller: controller.map(ToString::to_string).unwrap_or_default(),
                tuned: controller.and_then(Tuned::of),
                throughput_mbit_per_sec: throughput,
                goodput_mbit_per_sec: Some(report.goodput().mbit_per_sec()),
                capacity_mbit_per_sec: capacity
                    .map(|capacity| capacity.per(report.span()).mbit_per_sec()),
                utilisation: capacity.map(|capacity| report.utilisation(capacity)),
                pantheon: Pantheon::of(report),
                power_mbit_per_sec_per_sec: one_way_ms
                    .filter(|delays| delays.p95 > 0.0)
                    .map(|delays| throughput / (delays.p95 / 1e3)),
                one_way_ms,
                queueing_ms: Delays::of(&report.queueing),
                rtt_ms: Delays::of(&report.rtt),
                completion_ms: Delays::of(&report.completion),
                completion_p999_ms: report.completion.quantile(0.999).map(ms),
                completed: report.completion.count(),
                convergence_ms: found[number].converged.map(ms),
                stalled_ms: found[number].stalled.map(ms),
                longest_gap_ms: found[number].longest_gap.map(ms),
                jain: jain.and_then(|(flows, shares)| {
                    let carried = |&flow: &usize| world.report(FlowId(flow as u32)).carried;
                    let carried: Vec<f64> =
                        flows.iter().map(|flow| carried(flow).count() as f64).collect();
                    let (mean, least) = shares.figures().unzip();
                    Some(Jain { whole: jain_of(&carried)?, mean, least })
                }),
                oracle: None,
                loss: report.loss(),
                sent: Some(report.sent),
                arrived: Some(report.arrived),
                dropped: Some(report.dropped),
                retransmitted: Some(report.retransmitted),
                timeouts: Some(report.timeouts),
                report: report.clone(),
            });
        }
        Self {
            run: run.number,
            seed: run.seed,
            values: run.values.clone(),
            digest: format!("{:016x}", world.digest()),
            flows,
        }
    }
}
