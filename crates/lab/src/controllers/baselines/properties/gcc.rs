//! Google's congestion control for WebRTC, without its frames.

use super::{NONE, Property, most, says};
use crate::controllers::baselines::rig::{
    BDP, MBIT, Rig, Watch, millis, over, steps, used, used_despite_loss,
};

/// Payload of 12 Mbit/s.
const PAYLOAD: f64 = 12.0 * 1448.0 / 1500.0;

/// After ten seconds, at each acknowledgement, in Mbit/s.
fn rates(rig: &mut Rig) -> Vec<f64> {
    let samples = rig.watch_from(Watch::of("gcc", 10 * BDP, 60), 10);
    samples.iter().map(|sample| sample.pacing_mbit).collect()
}

fn cuts(rig: &mut Rig) -> Vec<f64> {
    let rates = rates(rig);
    rates.windows(2).filter(|pair| pair[1] < 0.95 * pair[0]).map(|pair| pair[1] / PAYLOAD).collect()
}

pub(super) const GCC: &[Property] = &[
    says(
        "gcc",
        "link used at 2, 4 and 12 Mbit/s",
        "str0m's port of libwebrtc: 0.92",
        [0.85, 0.99],
        "",
        |rig| [2, 4, MBIT].map(|rate| used(&rig.alone("gcc", rate, 10 * BDP), rate)).to_vec(),
    ),
    says("gcc", "queue there, mean", "str0m's: next to none", [NONE, 15.0], "ms", |rig| {
        [2, 4, MBIT].map(|rate| millis(rig.alone("gcc", rate, 10 * BDP).queueing.mean())).to_vec()
    }),
    says(
        "gcc",
        "queue there, 95th percentile",
        "str0m's: next to none",
        [NONE, 40.0],
        "ms",
        |rig| {
            [2, 4, MBIT]
                .map(|rate| millis(rig.alone("gcc", rate, 10 * BDP).queueing.quantile(0.95)))
                .to_vec()
        },
    ),
    says("gcc", "link used from 2 to 4 s", "libwebrtc: probes", [0.75, 1.0], "", |_| {
        vec![used(&over(&steps("0s 12Mbit"), 10 * BDP, "gcc", (2, 4)), MBIT)]
    }),
    says(
        "gcc",
        "rate after overuse, of the link",
        "draft-ietf-rmcat-gcc §5.5: 0.85 of what arrives",
        [0.79, 0.865],
        "",
        cuts,
    )
    .note("of what was acknowledged in half a second, which is a little less or more"),
    says("gcc", "overuses in 50 s", "8 % a second from 0.85 on", [5.0, 30.0], "", |rig| {
        vec![cuts(rig).len() as f64]
    }),
    says(
        "gcc",
        "rate at most, of the link",
        "2.5 % more is found by 60 groups at the least threshold",
        [1.0, 1.06],
        "",
        |rig| vec![most(rates(rig).into_iter()) / PAYLOAD],
    ),
    says(
        "gcc",
        "queue 11 s after a fall from 12 to 4 Mbit/s, p95",
        "draft-ietf-rmcat-gcc §5.5",
        [NONE, 60.0],
        "ms",
        |_| vec![millis(fallen().queueing.quantile(0.95))],
    ),
    says("gcc", "link used then", "draft-ietf-rmcat-gcc §5.5", [0.8, 1.0], "", |_| {
        vec![used(&fallen(), 4)]
    }),
    says(
        "gcc",
        "link used at 1 % of loss by chance",
        "draft-ietf-rmcat-gcc §6: below 2 %",
        [0.82, 1.0],
        "",
        |_| vec![used_despite_loss("gcc", 10, (10, 50))],
    ),
    says(
        "gcc",
        "link used at 15 % of loss by chance",
        "draft-ietf-rmcat-gcc §6: above 10 %",
        [0.0, 0.21],
        "",
        |_| vec![used_despite_loss("gcc", 150, (10, 50))],
    ),
];

fn fallen() -> sounding_sim::world::Report {
    over(&steps("0s 12Mbit, 20s 4Mbit"), 10 * BDP, "gcc", (31, 61))
}
