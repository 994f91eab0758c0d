//! pantheon_perf.json: by scheme, run and flow what Pantheon measured.

use std::collections::BTreeMap;
use std::io::Read;

use serde::Deserialize;

use super::outcome;
use crate::simulate::{Delays, FlowOutcome, Outcome, Pantheon};

/// A flow of a run; `all` is all of them together.
#[derive(Deserialize)]
struct Perf {
    /// Mbit/s between the first departure and the last.
    tput: Option<f64>,
    /// 95th percentile of the one-way delay, in ms.
    delay: Option<f64>,
    /// Bytes that did not leave ÷ bytes that arrived.
    loss: Option<f64>,
}

type Schemes = BTreeMap<String, BTreeMap<u64, BTreeMap<String, Perf>>>;

/// Its runs, in the order of schemes; runs without measurements are left out.
pub(super) fn read(input: impl Read, link: &str) -> Result<Vec<Outcome>, serde_json::Error> {
    let schemes: Schemes = serde_json::from_reader(input)?;
    let mut outcomes = Vec::new();
    for (scheme, runs) in schemes {
        for (run, flows) in runs {
            // With a single flow, the total is that flow's.
            let only_all = flows.len() == 1;
            let named = flows.into_iter().filter(|(name, _)| only_all || name != "all");
            let flows = named.enumerate().filter_map(|(at, (name, perf))| {
                flow(at, &name, &perf)
                    .map(|flow| FlowOutcome { controller: scheme.clone(), ..flow })
            });
            let flows: Vec<_> = flows.collect();
            if !flows.is_empty() {
                outcomes.push(outcome(0, run, link, &scheme, flows));
            }
        }
    }
    Ok(outcomes)
}

fn flow(at: usize, name: &str, perf: &Perf) -> Option<FlowOutcome> {
    let unknown = f64::NAN;
    let delays = |p95| Delays { mean: unknown, p50: unknown, p95, p99: unknown, max: unknown };
    let pantheon =
        Pantheon { throughput_mbit_per_sec: perf.tput, delay_p95_ms: perf.delay, loss: perf.loss? };
    Some(FlowOutcome {
        flow: at,
        plan: at,
        name: if name == "all" { name.into() } else { format!("flow {name}") },
        device: "pantheon".into(),
        traffic: "logged".into(),
        throughput_mbit_per_sec: perf.tput?,
        one_way_ms: perf.delay.map(delays),
        loss: pantheon.loss,
        pantheon,
        ..FlowOutcome::default()
    })
}
