//! TCP-LP, of the paper (Kuzmanovic and Knightly 2003).

use super::{ANY, NONE, Property, says};
use crate::controllers::baselines::rig::{BDP, MBIT, millis};

const EARLY: &str = "Kuzmanovic and Knightly: 15 % of the delays seen";

pub(super) const LP: &[Property] = &[
    says("lp", "queue, median", EARLY, [NONE, 60.0], "ms", |rig| {
        vec![millis(rig.alone("lp", MBIT, 10 * BDP).queueing.quantile(0.5))]
    })
    .note("slow start found 400 ms; Linux's tcp_lp keeps 235 to 543 ms, as its one-way delays hold a constant"),
    says("lp", "queue, 95th percentile", EARLY, [NONE, 65.0], "ms", |rig| {
        vec![millis(rig.alone("lp", MBIT, 10 * BDP).queueing.quantile(0.95))]
    }),
    says("lp", "link used, buffer of 10 BDP", EARLY, [0.99, 1.0], "", |rig| {
        vec![rig.used("lp", 10 * BDP)]
    }),
    says("lp", "packets lost, buffer of 10 BDP", EARLY, [0.0, 0.0], "", |rig| {
        vec![rig.alone("lp", MBIT, 10 * BDP).lost as f64]
    }),
    says("lp", "share of CUBIC and of Reno beside it", "Kuzmanovic and Knightly: only what is left", [0.95, ANY], "", |rig| {
        let share = |other| rig.rivals(&[other, "lp"], 5 * BDP, 60, 120).share_of_first();
        ["cubic", "reno"].map(share).to_vec()
    }),
    says("lp", "two flows share (Jain)", "Kuzmanovic and Knightly: fairly among its own", [0.95, 1.0], "", |rig| {
        vec![rig.rivals(&["lp", "lp"], 5 * BDP, 60, 120).jain()]
    }),
];
