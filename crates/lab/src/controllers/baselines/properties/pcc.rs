//! PCC: Allegro (NSDI 2015), Vivace (NSDI 2018) and Proteus' scavenger (SIGCOMM 2020).

use super::{ANY, NONE, Property, says};
use crate::controllers::baselines::rig::{
    BDP, MBIT, Rig, millis, over, steps, used, used_despite_loss,
};

const CLIFF: &str = "Allegro: a cliff at 5 % of loss";
const GRADIENT: &str = "Vivace: b 900, a growing RTT is worth less than none";
const WINDOW: (u64, u64) = (20, 60);

fn at_loss(controller: &'static str, per_mille: &[u64]) -> Vec<f64> {
    per_mille.iter().map(|&lost| used_despite_loss(controller, lost, WINDOW)).collect()
}

const BUFFERS: [u64; 3] = [BDP / 4, BDP, 5 * BDP];

fn vivace(rig: &mut Rig, of: fn(&sounding_sim::world::Report) -> f64) -> Vec<f64> {
    [BDP, 5 * BDP].map(|buffer| of(&rig.alone("vivace", MBIT, buffer))).to_vec()
}

fn fallen() -> sounding_sim::world::Report {
    over(&steps("0s 12Mbit, 20s 4Mbit"), 10 * BDP, "vivace", (50, 80))
}

pub(super) const ALLEGRO: &[Property] = &[
    says("allegro", "link used at 0 to 4 % of loss by chance", CLIFF, [0.95, 1.0], "", |_| {
        at_loss("allegro", &[0, 10, 20, 30, 40])
    }),
    says("allegro", "link used at 6 to 9 %", CLIFF, [0.0, 0.6], "", |_| {
        at_loss("allegro", &[60, 70, 90])
    }),
    says(
        "allegro",
        "CUBIC at 2 %",
        "a window that is cut for each is gone long before",
        [0.0, 0.25],
        "",
        |_| at_loss("cubic", &[20]),
    ),
    says("allegro", "link used, buffers of ¼, 1 and 5 BDP", CLIFF, [0.99, 1.0], "", |rig| {
        BUFFERS.map(|buffer| rig.used("allegro", buffer)).to_vec()
    }),
    says("allegro", "loss there", CLIFF, [0.0001, 0.05], "", |rig| {
        BUFFERS.map(|buffer| rig.alone("allegro", MBIT, buffer).loss()).to_vec()
    })
    .note("it looks for the end of the buffer, and goes back before the cliff"),
    says("allegro", "two flows share (Jain)", "Allegro", [0.95, 1.0], "", |rig| {
        vec![rig.rivals(&["allegro", "allegro"], BDP, 60, 120).jain()]
    }),
];

pub(super) const VIVACE: &[Property] = &[
    says("vivace", "link used, buffers of 1 and 5 BDP", GRADIENT, [0.85, 1.0], "", |rig| {
        vivace(rig, |report| used(report, MBIT))
    }),
    says("vivace", "queue there, median", GRADIENT, [NONE, 4.0], "ms", |rig| {
        vivace(rig, |report| millis(report.queueing.quantile(0.5)))
    }),
    says("vivace", "queue there, mean", GRADIENT, [NONE, 8.0], "ms", |rig| {
        vivace(rig, |report| millis(report.queueing.mean()))
    }),
    says("vivace", "packets dropped there", GRADIENT, [0.0, 0.0], "", |rig| {
        vivace(rig, |report| report.dropped as f64)
    }),
    says("vivace", "link used at 0.5 % of loss by chance", "Vivace: c 11.35", [0.75, 1.0], "", |_| {
        at_loss("vivace", &[5])
    }),
    says("vivace", "link used at 10 %", "Vivace: c 11.35, 5 % and no more", [0.0, 0.3], "", |_| {
        // Two rates must differ in their random losses, so the rate takes a minute to fall.
        vec![used_despite_loss("vivace", 100, (60, 120))]
    }),
    says("vivace", "link used from 30 s after a fall to a third on", "Vivace", [0.8, 1.0], "", |_| {
        vec![used(&fallen(), 4)]
    })
    .note("the slope tells that a queue grows and nothing of one that stands: it is there for seconds, as in the authors' program"),
    says("vivace", "loss then", "Vivace", [0.0, 0.05], "", |_| vec![fallen().loss()]),
    says("vivace", "two flows share, 5 BDP of buffer (Jain)", "Vivace", [0.9, 1.0], "", |rig| {
        vec![rig.rivals(&["vivace", "vivace"], 5 * BDP, 60, 240).jain()]
    }),
    says("vivace", "two flows share, a BDP of buffer (Jain)", "Vivace", [0.9, 1.0], "", |rig| {
        vec![rig.rivals(&["vivace", "vivace"], BDP, 60, 240).jain()]
    })
    .note("the authors' program (PCC-Uspace) over the same link: 5.7 and 5.9 Mbit/s; with one pair a step, as in the paper, 0.76 here"),
];

const SCAVENGER: &str = "Meng et al.: a scavenger uses what primary flows leave";

/// CUBIC's part of the link, where CUBIC came first and where it came last.
fn beside_cubic(rig: &mut Rig, buffer: u64) -> Vec<f64> {
    let first = rig.rivals(&["cubic", "proteus-s"], buffer, 60, 60).share_of_first();
    let last = rig.rivals(&["proteus-s", "cubic"], buffer, 60, 60).share_of_first();
    vec![first, 1.0 - last]
}

pub(super) const PROTEUS_S: &[Property] = &[
    says("proteus-s", "link used, buffers of 1 and 5 BDP", SCAVENGER, [0.85, 1.0], "", |rig| {
        [BDP, 5 * BDP].map(|buffer| rig.used("proteus-s", buffer)).to_vec()
    }),
    says(
        "proteus-s",
        "CUBIC's share beside it, buffer of 5 BDP",
        SCAVENGER,
        [0.85, ANY],
        "",
        |rig| beside_cubic(rig, 5 * BDP),
    )
    .note("whichever came first"),
    says("proteus-s", "the same, buffer of 1 BDP", SCAVENGER, [0.7, ANY], "", |rig| {
        beside_cubic(rig, BDP)
    })
    .note("as 5 BDP, but losses come before RTTs vary; the bound is chosen"),
    says("proteus-s", "two flows share (Jain)", SCAVENGER, [0.9, 1.0], "", |rig| {
        vec![rig.rivals(&["proteus-s", "proteus-s"], 5 * BDP, 60, 240).jain()]
    }),
];
