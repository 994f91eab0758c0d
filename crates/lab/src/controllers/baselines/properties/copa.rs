//! Copa: Arun and Balakrishnan, NSDI 2018.

use std::rc::Rc;

use super::{NONE, Property, apart, says};
use crate::controllers::baselines::rig::{BDP, MBIT, Rig, Rivals, Sample, Watch, millis};

const TARGET: &str = "Copa §2.2, §3: 1.25 ÷ δ, from none to 2.5 ÷ δ";
const DELTA: f64 = 0.5;

fn each(rig: &mut Rig, controller: &'static str, until: u64) -> Vec<Sample> {
    let watch = Watch { each: true, ..Watch::of(controller, 5 * BDP, until) };
    rig.watch_from(watch, 30)
}

/// In each span of five rounds of 44 ms, the smallest queue: the minimum RTT minus the path's 40
/// ms, in packets.
fn emptied(samples: &[Sample]) -> Vec<f64> {
    let Some(last) = samples.last() else { return Vec::new() };
    let mut least = Vec::new();
    let mut from = samples[0].at;
    while (last.at - from).as_secs_f64() >= 0.22 {
        let within = |s: &&Sample| s.at >= from && (s.at - from).as_secs_f64() < 0.22;
        least.push(super::least(samples.iter().filter(within).map(|s| s.rtt_ms - 40.0)));
        from = from + std::time::Duration::from_millis(50);
    }
    least
}

/// Mean time between downward turns of the window, in rounds of 43 ms.
fn period(samples: &[Sample]) -> Vec<f64> {
    let peaks = samples
        .windows(3)
        .filter(|three| three[0].cwnd < three[1].cwnd && three[2].cwnd < three[1].cwnd)
        .map(|three| three[1]);
    let periods = apart(peaks);
    vec![periods.iter().sum::<f64>() / periods.len() as f64 / 0.043]
}

fn competing(samples: &[Sample]) -> f64 {
    let some = samples.iter().filter(|sample| sample.state == "competitive").count();
    some as f64 / samples.len() as f64
}

fn several(rig: &mut Rig, flows: usize) -> Rc<Rivals> {
    rig.rivals(&vec!["copa"; flows], 5 * BDP, 30, 120)
}

fn beside_cubic(rig: &mut Rig, buffer: u64) -> Rc<Rivals> {
    rig.rivals(&["cubic", "copa"], buffer, 60, 120)
}

pub(super) const DEFAULT_MODE: &[Property] = &[
    says(
        "copa-default",
        "queue, mean",
        TARGET,
        [0.8 / DELTA + 1.0, 1.6 / DELTA + 1.0],
        "ms",
        |rig| vec![millis(rig.alone("copa-default", MBIT, 5 * BDP).queueing.mean())],
    )
    .note("0.8 to 1.6 ÷ δ packets and the one on its way"),
    says("copa-default", "link used", TARGET, [0.99, 1.0], "", |rig| {
        vec![rig.used("copa-default", 5 * BDP)]
    }),
    says(
        "copa-default",
        "packets queued at the least in any five rounds",
        "Copa §2.2",
        [NONE, 2.0],
        "",
        |rig| emptied(&each(rig, "copa-default", 40)),
    )
    .note("the packet itself, or one before it"),
    says(
        "copa-default",
        "rounds from one swing to the next",
        "Copa §2.2: five",
        [3.5, 6.0],
        "",
        |rig| period(&each(rig, "copa-default", 40)),
    )
    .note("five where windows and delays are no whole packets"),
    says(
        "copa-default",
        "two and three flows share (Jain)",
        "Copa: the equilibrium is fair",
        [0.99, 1.0],
        "",
        |rig| {
            [2, 3]
                .map(|flows| rig.rivals(&vec!["copa-default"; flows], 5 * BDP, 30, 60).jain())
                .to_vec()
        },
    ),
    says(
        "copa-default",
        "queue of two and three over their number, mean",
        TARGET,
        [NONE, 4.0],
        "ms",
        |rig| {
            [2, 3]
                .map(|flows| {
                    rig.rivals(&vec!["copa-default"; flows], 5 * BDP, 30, 60).queueing_ms
                        / flows as f64
                })
                .to_vec()
        },
    ),
    says(
        "copa-default",
        "CUBIC's share beside it",
        "Copa §2.2: why there is another mode",
        [0.9, 1.0],
        "",
        |rig| vec![rig.rivals(&["cubic", "copa-default"], 5 * BDP, 60, 120).share_of_first()],
    ),
];

pub(super) const COPA: &[Property] = &[
    says("copa", "link used", TARGET, [0.97, 1.0], "", |rig| vec![rig.used("copa", 5 * BDP)]),
    says(
        "copa",
        "queue alone, mean",
        TARGET,
        [0.8 / DELTA + 1.0, 1.6 / DELTA + 1.0],
        "ms",
        |rig| vec![millis(rig.alone("copa", MBIT, 5 * BDP).queueing.mean())],
    ),
    says(
        "copa",
        "acknowledgements alone in competitive mode",
        "Copa §2.2: none",
        [0.0, 0.01],
        "",
        |rig| {
            let delayed = rig.watch_from(Watch::of("copa", 5 * BDP, 60), 30);
            vec![competing(&each(rig, "copa", 60)), competing(&delayed)]
        },
    )
    .note("of every packet, and of every second"),
    says("copa", "those of two and three flows", "Copa §2.2: none", [0.0, 0.01], "", |rig| {
        [2, 3].iter().flat_map(|&flows| several(rig, flows).competing.clone()).collect()
    }),
    says(
        "copa",
        "two and three flows share (Jain)",
        "Copa: the equilibrium is fair",
        [0.99, 1.0],
        "",
        |rig| [2, 3].map(|flows| several(rig, flows).jain()).to_vec(),
    ),
    says(
        "copa",
        "queue of two and three over their number, mean",
        TARGET,
        [NONE, 4.0],
        "ms",
        |rig| [2, 3].map(|flows| several(rig, flows).queueing_ms / flows as f64).to_vec(),
    ),
    says(
        "copa",
        "acknowledgements in competitive mode beside CUBIC",
        "Copa §2.2",
        [0.5, 1.0],
        "",
        |rig| [BDP, 5 * BDP].map(|buffer| beside_cubic(rig, buffer).competing[1]).to_vec(),
    )
    .note("Copa §2.2: at times it takes the others' sawtooth for its own; buffers of 1 and 5 BDP"),
    says("copa", "CUBIC's share then", "Copa §2.2", [0.3, 0.8], "", |rig| {
        [BDP, 5 * BDP].map(|buffer| beside_cubic(rig, buffer).share_of_first()).to_vec()
    }),
];
