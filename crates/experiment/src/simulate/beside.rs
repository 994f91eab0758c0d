//! Distance of flows to the oracle over the same link with the same seed.

use std::collections::HashMap;

use super::outcome::{FromOracle, Outcome};
use crate::plan::{ORACLE, names_controller};

/// The setting that two runs share if they differ only in the controller.
type Setting<'a> = (u64, Vec<(&'a str, &'a str)>);

fn setting(outcome: &Outcome) -> Setting<'_> {
    let values = outcome.values.iter().filter(|(key, _)| !names_controller(key));
    (outcome.seed, values.map(|(key, value)| (key.as_str(), value.as_str())).collect())
}

/// Sets the distance of every flow that has an oracle in its place in exactly one other run, or is
/// one.
pub(crate) fn compare(outcomes: &mut [Outcome]) {
    let mut oracles: HashMap<(Setting<'_>, usize), Option<(f64, f64)>> = HashMap::new();
    for outcome in outcomes.iter() {
        for flow in outcome.flows.iter().filter(|flow| flow.controller == ORACLE) {
            let figures = flow.queueing_ms.map(|delays| (flow.throughput_mbit_per_sec, delays.p95));
            // A link without capacity has no share.
            let figures = figures.filter(|(throughput, _)| *throughput > 0.0);
            oracles
                .entry((setting(outcome), flow.flow))
                // With two of them the setting is ambiguous.
                .and_modify(|figures| *figures = None)
                .or_insert(figures);
        }
    }
    let mut distances = Vec::new();
    for outcome in outcomes.iter() {
        for flow in &outcome.flows {
            let oracle = oracles.get(&(setting(outcome), flow.flow)).copied().flatten();
            distances.push(oracle.zip(flow.queueing_ms).map(|((throughput, p95), queueing)| {
                FromOracle {
                    throughput_share: flow.throughput_mbit_per_sec / throughput,
                    queueing_p95_ms: queueing.p95 - p95,
                }
            }));
        }
    }
    let flows = outcomes.iter_mut().flat_map(|outcome| &mut outcome.flows);
    for (flow, distance) in flows.zip(distances) {
        flow.oracle = distance;
    }
}
