//! CUBIC: RFC 9438.

use super::reno::lost_at_first;
use super::{ANY, Property, cuts, says};
use crate::controllers::baselines::rig::{BDP, MBIT, Rig, Sample, Watch, millis};

/// 400 Mbit/s over 40 ms and as much buffer again: windows of 2700 segments, where Reno's growth is
/// slower.
const FAST: Watch =
    Watch { controller: "cubic", mbit: 400, buffer: 400_000_000 / 8 / 25, each: false, until: 100 };

/// Each whole tooth on the fast link that reached its plateau: the window at its peak, after the
/// cut, and at the plateau, and how long the way there took.
fn plateaus(rig: &mut Rig) -> Vec<(f64, f64, f64, f64)> {
    let samples = rig.watch(FAST);
    let cuts = cuts(&samples);
    let tooth = |pair: &[(Sample, Sample)]| {
        let ((before, after), (next, _)) = (pair[0], pair[1]);
        let within = |sample: &&Sample| sample.at >= after.at && sample.at < next.at;
        let plateau = samples.iter().filter(within).find(|sample| sample.state == "convex")?;
        let took = (plateau.at - after.at).as_secs_f64();
        Some((before.cwnd, after.cwnd, plateau.cwnd, took))
    };
    cuts.windows(2).filter_map(tooth).collect()
}

pub(super) const CUBIC: &[Property] = &[
    says(
        "cubic",
        "window after a cut over before",
        "RFC 9438 §4.6: β 0.7",
        [0.68, 0.72],
        "",
        |rig| {
            let cuts = cuts(&rig.watch_from(Watch::of("cubic", BDP, 150), 30));
            cuts.iter().map(|(before, after)| after.cwnd / before.cwnd).collect()
        },
    ),
    says(
        "cubic",
        "time to the plateau over K, windows of 2700 segments",
        "RFC 9438 §4.2: K = ∛((W_max − cwnd) ÷ 0.4)",
        [0.95, 1.05],
        "",
        |rig| {
            let teeth = plateaus(rig).into_iter();
            teeth.map(|(_, after, top, took)| took / ((top - after) / 0.4).cbrt()).collect()
        },
    ),
    says(
        "cubic",
        "plateau over the peak before it",
        "RFC 9438 §4.7: 1, or 0.85 where the peak fell",
        [0.84, 1.01],
        "",
        |rig| plateaus(rig).into_iter().map(|(before, _, top, _)| top / before).collect(),
    ),
    says(
        "cubic",
        "link used, half a BDP of buffer",
        "0.7 of (1 + b) BDP is a BDP from b = 0.43 on",
        [0.99, 1.0],
        "",
        |rig| vec![rig.used("cubic", BDP / 2)],
    ),
    says(
        "cubic",
        "queue in a buffer of one BDP, mean",
        "¾ of it; this kernel's: 31 ms",
        [28.0, 34.0],
        "ms",
        |rig| vec![millis(rig.alone("cubic", MBIT, BDP).queueing.mean())],
    ),
    says(
        "cubic",
        "packets lost in slow start, buffer of 16 BDP",
        "RFC 9406 §1: leaves before the buffer is full",
        [0.0, 0.0],
        "",
        |rig| lost_at_first(rig, "cubic"),
    ),
    says("cubic", "two flows share (Jain)", "RFC 9438", [0.95, 1.0], "", |rig| {
        vec![rig.rivals(&["cubic", "cubic"], BDP, 60, 240).jain()]
    }),
];

pub(super) const NO_HYSTART: &[Property] = &[says(
    "cubic-no-hystart",
    "packets lost in slow start, buffer of 16 BDP",
    "as much as path and buffer hold",
    [500.0, ANY],
    "",
    |rig| lost_at_first(rig, "cubic-no-hystart"),
)];
