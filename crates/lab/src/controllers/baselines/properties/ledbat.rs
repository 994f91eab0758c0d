//! LEDBAT: RFC 6817; LEDBAT++: draft-irtf-iccrg-ledbat-plus-plus.

use super::{ANY, NONE, Property, entered, most, says};
use crate::controllers::baselines::rig::{BDP, MBIT, Rig, Sample, Watch, at_secs, millis};

const TARGET: &str = "RFC 6817 §2.5: TARGET 100 ms";
const SLOWDOWN: &str = "draft-irtf-iccrg-ledbat-plus-plus";

fn largest(samples: &[Sample], until: u64) -> f64 {
    let until = samples.iter().filter(|sample| sample.at <= at_secs(until));
    most(until.map(|sample| sample.cwnd))
}

pub(super) const LEDBAT: &[Property] = &[
    says("ledbat", "queue, mean", TARGET, [98.0, 104.0], "ms", |rig| {
        vec![millis(rig.alone("ledbat", MBIT, 10 * BDP).queueing.mean())]
    })
    .note("and the packet itself"),
    says("ledbat", "link used", TARGET, [0.99, 1.0], "", |rig| vec![rig.used("ledbat", 10 * BDP)]),
    says("ledbat", "packets lost, buffer of 10 BDP", TARGET, [0.0, 0.0], "", |rig| {
        vec![rig.alone("ledbat", MBIT, 10 * BDP).lost as f64]
    }),
    says(
        "ledbat",
        "largest window of the first second, segments",
        "RFC 6817 §2.4.2: one a round",
        [18.0, 28.0],
        "",
        |rig| vec![largest(&rig.watch(Watch::of("ledbat", 10 * BDP, 30)), 1)],
    )
    .note("of 41 ms: at most 24"),
    says(
        "ledbat",
        "largest window of 30 s, segments",
        "41 of path and 100 of queue",
        [130.0, 143.0],
        "",
        |rig| vec![largest(&rig.watch(Watch::of("ledbat", 10 * BDP, 30)), 30)],
    )
    .note("the last segments are slow to come"),
    says("ledbat", "share beside CUBIC that comes later", "RFC 6817 §1", [NONE, 0.15], "", |rig| {
        vec![rig.rivals(&["ledbat", "cubic"], 5 * BDP, 60, 120).share_of_first()]
    }),
    says(
        "ledbat",
        "share of the first of two",
        "RFC 6817 §5: the latecomer's advantage",
        [NONE, 0.2],
        "",
        |rig| vec![rig.rivals(&["ledbat", "ledbat"], 10 * BDP, 60, 120).share_of_first()],
    )
    .note("the second takes the first's queue for path"),
    says(
        "ledbat",
        "queue of two, mean",
        "RFC 6817 §5: two targets, one upon the other",
        [110.0, 210.0],
        "ms",
        |rig| vec![rig.rivals(&["ledbat", "ledbat"], 10 * BDP, 60, 120).queueing_ms],
    ),
];

/// From slowing down to steering again, and from there to the next, one over the other.
fn spacing(rig: &mut Rig) -> Vec<f64> {
    let samples = rig.watch(Watch::of("ledbat++", 10 * BDP, 120));
    let begins: Vec<Sample> = slowdowns(&samples);
    let ratio = |pair: &[Sample]| {
        let back = samples.iter().find(|s| s.at > pair[0].at && s.state == "steering")?;
        let (slow, apart) = (back.at - pair[0].at, pair[1].at - back.at);
        Some(apart.as_secs_f64() / slow.as_secs_f64())
    };
    begins.windows(2).filter_map(ratio).collect()
}

fn slowdowns(samples: &[Sample]) -> Vec<Sample> {
    let begins = entered(samples, "slowed").filter(|(before, _)| before.state == "steering");
    begins.map(|(_, begin)| begin).collect()
}

pub(super) const PLUS_PLUS: &[Property] = &[
    says(
        "ledbat++",
        "queue while it steers, mean",
        "draft-irtf-iccrg-ledbat-plus-plus: TARGET 60 ms",
        [58.0, 62.0],
        "ms",
        |rig| {
            let samples = rig.watch_from(Watch::of("ledbat++", 10 * BDP, 120), 30);
            let steering: Vec<f64> =
                samples.iter().filter(|s| s.state == "steering").map(|s| s.rtt_ms - 41.0).collect();
            vec![steering.iter().sum::<f64>() / steering.len() as f64]
        },
    ),
    says("ledbat++", "window when it slows down, segments", SLOWDOWN, [2.0, 2.01], "", |rig| {
        let samples = rig.watch(Watch::of("ledbat++", 10 * BDP, 120));
        slowdowns(&samples).iter().map(|begin| begin.cwnd).collect()
    }),
    says("ledbat++", "time between slowdowns over theirs", SLOWDOWN, [8.8, 9.2], "", spacing)
        .note("so that they take a tenth of the time"),
    says(
        "ledbat++",
        "link used",
        "a tenth of the time slowed down, at most",
        [0.88, 1.0],
        "",
        |rig| vec![rig.used("ledbat++", 10 * BDP)],
    ),
    says(
        "ledbat++",
        "two flows share (Jain)",
        "draft-irtf-iccrg-ledbat-plus-plus",
        [0.95, 1.0],
        "",
        |rig| vec![rig.rivals(&["ledbat++", "ledbat++"], 10 * BDP, 60, 240).jain()],
    )
    .note("in either order"),
    says(
        "ledbat++",
        "queue of two, mean",
        "draft-irtf-iccrg-ledbat-plus-plus",
        [NONE, 75.0],
        "ms",
        |rig| vec![rig.rivals(&["ledbat++", "ledbat++"], 10 * BDP, 60, 240).queueing_ms],
    ),
    says(
        "ledbat++",
        "CUBIC's share beside it",
        "draft-irtf-iccrg-ledbat-plus-plus",
        [0.85, ANY],
        "",
        |rig| {
            let before = rig.rivals(&["cubic", "ledbat++"], 5 * BDP, 60, 120).share_of_first();
            let after = rig.rivals(&["ledbat++", "cubic"], 5 * BDP, 60, 120).share_of_first();
            vec![before, 1.0 - after]
        },
    )
    .note("whichever came first"),
];
