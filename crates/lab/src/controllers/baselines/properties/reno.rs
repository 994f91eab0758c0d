//! Reno: RFC 5681, and the saw-tooth that follows from it.

use super::{ANY, Property, apart, cuts, says};
use crate::controllers::baselines::rig::{BDP, MBIT, Rig, Watch, millis};

const SAW_TOOTH: &str = "RFC 5681 §3.1: half upon loss, a segment a round";

fn teeth(
    rig: &mut Rig,
) -> Vec<(crate::controllers::baselines::rig::Sample, crate::controllers::baselines::rig::Sample)> {
    cuts(&rig.watch_from(Watch::of("reno", BDP, 150), 30))
}

pub(super) const RENO: &[Property] = &[
    says("reno", "window after a cut over before", SAW_TOOTH, [0.48, 0.52], "", |rig| {
        teeth(rig).iter().map(|(before, after)| after.cwnd / before.cwnd).collect()
    }),
    says(
        "reno",
        "between cuts, buffer of one BDP: 40 rounds of 40 to 80 ms",
        SAW_TOOTH,
        [2.2, 2.8],
        "s",
        |rig| apart(teeth(rig).into_iter().map(|(before, _)| before)),
    ),
    says("reno", "link used, buffer of one BDP", "from 2 BDP to one", [0.99, 1.0], "", |rig| {
        vec![rig.used("reno", BDP)]
    }),
    says(
        "reno",
        "link used, half a BDP of buffer",
        "from 1½ BDP to ¾: 0.964 in rounds of the RTT",
        [0.92, 0.97],
        "",
        |rig| vec![rig.used("reno", BDP / 2)],
    )
    .note("less what the pause of recovery takes"),
    says(
        "reno",
        "queue in a buffer of one BDP, mean",
        "half of it; this kernel's: 22 ms",
        [19.0, 25.0],
        "ms",
        |rig| vec![millis(rig.alone("reno", MBIT, BDP).queueing.mean())],
    ),
    says("reno", "two flows share (Jain)", "AIMD: Chiu and Jain 1989", [0.95, 1.0], "", |rig| {
        vec![rig.rivals(&["reno", "reno"], BDP, 60, 240).jain()]
    }),
];

/// Packets that the first four seconds lose in a buffer of 16 BDP. From 170 segments on a queue
/// raises the RTT, and five rounds make three times as many of them.
pub(super) fn lost_at_first(rig: &mut Rig, controller: &'static str) -> Vec<f64> {
    vec![rig.lost_at_first(controller, 16 * BDP) as f64]
}

pub(super) const HYSTART: &[Property] = &[
    says(
        "reno-hystart",
        "packets lost in slow start, buffer of 16 BDP",
        "RFC 9406 §1: leaves before the buffer is full",
        [0.0, 0.0],
        "",
        |rig| lost_at_first(rig, "reno-hystart"),
    ),
    says(
        "reno-hystart",
        "packets that Reno without it loses there",
        "as much as path and buffer hold",
        [500.0, ANY],
        "",
        |rig| lost_at_first(rig, "reno"),
    ),
];
