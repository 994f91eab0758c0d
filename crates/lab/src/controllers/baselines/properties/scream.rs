//! SCReAMv2: draft-ietf-ccwg-rfc8298bis-screamv2-01.

use super::{ANY, NONE, Property, apart, entered, says};
use crate::controllers::baselines::rig::{
    BDP, MBIT, Rig, Sample, Watch, at_secs, millis, over, steps, used, used_despite_loss,
};

const TARGET: &str = "draft §4.2.1.4: reacts from 30 ms on, most at 60 ms";
const DRAIN: &str = "draft §4.5.1";
/// Three reference windows may be in flight, and the window of the trait is that limit.
const OVERHEAD: f64 = 3.0;

/// The reference window before each loss in a buffer of 20 ms, where no delay is a queue, and right
/// after it.
fn cuts(rig: &mut Rig) -> Vec<(Sample, Sample)> {
    super::cuts(&rig.watch_from(Watch::of("scream", BDP / 2, 120), 20))
}

fn drains(rig: &mut Rig) -> Vec<Sample> {
    let samples = rig.watch_from(Watch::of("scream", 10 * BDP, 120), 5);
    entered(&samples, "draining").map(|(_, drain)| drain).collect()
}

/// Queue of the last acknowledgement of each drain, in ms.
fn drained(rig: &mut Rig) -> Vec<f64> {
    let samples = rig.watch_from(Watch::of("scream", 10 * BDP, 120), 5);
    let pairs = samples.windows(2).map(|pair| (pair[0], pair[1]));
    let ends = pairs.filter(|(last, after)| last.state == "draining" && after.state != "draining");
    ends.map(|(last, _)| last.rtt_ms - 41.0).collect()
}

/// The reference window, in segments, after one second.
fn after_a_second(rig: &mut Rig) -> Vec<f64> {
    let samples = rig.watch(Watch::of("scream", 10 * BDP, 120));
    let last = samples.iter().rfind(|sample| sample.at <= at_secs(1));
    last.map(|sample| sample.cwnd / OVERHEAD).into_iter().collect()
}

fn fallen() -> sounding_sim::world::Report {
    over(&steps("0s 12Mbit, 20s 4Mbit"), 10 * BDP, "scream", (31, 61))
}

pub(super) const SCREAM: &[Property] = &[
    says("scream", "queue at 2, 4 and 12 Mbit/s, mean", TARGET, [25.0, 45.0], "ms", |rig| {
        [2, 4, MBIT]
            .map(|rate| millis(rig.alone("scream", rate, 10 * BDP).queueing.mean()))
            .to_vec()
    }),
    says("scream", "queue there, 95th percentile", TARGET, [30.0, 60.0], "ms", |rig| {
        [2, 4, MBIT]
            .map(|rate| millis(rig.alone("scream", rate, 10 * BDP).queueing.quantile(0.95)))
            .to_vec()
    }),
    says(
        "scream",
        "link used there",
        "draft §4.2.1.4: a queue stands, but for drains",
        [0.97, 1.0],
        "",
        |rig| [2, 4, MBIT].map(|rate| used(&rig.alone("scream", rate, 10 * BDP), rate)).to_vec(),
    ),
    says("scream", "packets lost there", TARGET, [0.0, 0.0], "", |rig| {
        [2, 4, MBIT].map(|rate| rig.alone("scream", rate, 10 * BDP).lost as f64).to_vec()
    }),
    says(
        "scream",
        "window after one second, segments",
        "draft §4.2.2.2: a segment and 2 % for each window sent",
        [22.0, 29.0],
        "",
        after_a_second,
    )
    .note("from 3 on, and by §4.4 0.66 to 0.82 of a window leaves in a round"),
    says(
        "scream",
        "window after a cut over before, buffer of 20 ms",
        "draft §4.2.2: BETA_LOSS 0.7",
        [0.68, 0.72],
        "",
        |rig| cuts(rig).iter().map(|(before, after)| after.cwnd / before.cwnd).collect(),
    ),
    says("scream", "between cuts there", "draft §4.2.1: an RTT", [0.05, ANY], "s", |rig| {
        apart(cuts(rig).into_iter().map(|(before, _)| before))
    }),
    says(
        "scream",
        "between drains, 12 Mbit/s",
        "draft §4.5.1: 256 ln(31 ÷ 16) rounds of 72 ms: 12 s",
        [10.0, 15.0],
        "s",
        |rig| apart(drains(rig).into_iter()),
    ),
    says("scream", "queue at the end of a drain", DRAIN, [NONE, 5.0], "ms", drained),
    says(
        "scream",
        "queue 11 s after a fall from 12 to 4 Mbit/s, p95",
        TARGET,
        [NONE, 60.0],
        "ms",
        |_| vec![millis(fallen().queueing.quantile(0.95))],
    ),
    says("scream", "link used then", TARGET, [0.95, 1.0], "", |_| vec![used(&fallen(), 4)]),
    says(
        "scream",
        "two flows share (Jain)",
        "draft §6: drains correct a base that another's queue is part of",
        [0.9, 1.0],
        "",
        |rig| vec![rig.rivals(&["scream", "scream"], 10 * BDP, 60, 240).jain()],
    ),
    says(
        "scream",
        "queue of two, mean",
        "two queues of 30 to 60 ms, one upon the other, at most",
        [30.0, 120.0],
        "ms",
        |rig| vec![rig.rivals(&["scream", "scream"], 10 * BDP, 60, 240).queueing_ms],
    )
    .note("one flow's drain leaves the other's queue, which it takes for path"),
    says(
        "scream",
        "share beside CUBIC in a deep buffer",
        "draft §4.5.4: basically zero without compensation",
        [NONE, 0.1],
        "",
        |rig| {
            let before = rig.rivals(&["scream", "cubic"], 5 * BDP, 60, 120).share_of_first();
            let after = rig.rivals(&["cubic", "scream"], 5 * BDP, 60, 120).share_of_first();
            vec![before, 1.0 - after]
        },
    )
    .note("whichever came first"),
    says(
        "scream",
        "link used at 1 % of loss by chance",
        "AIMD of 0.7 and a segment: 15 of 49 segments",
        [0.2, 0.4],
        "",
        |_| vec![used_despite_loss("scream", 10, (10, 50))],
    ),
];
