//! Legilimens (Chaudhry et al. 2021), and this project's own law for background traffic, on a wire
//! that all flows share.

use super::{Property, says};
use crate::controllers::baselines::rig::BDP;

const PAPER: &str = "Chaudhry et al. §III-B";
const OURS: &str = "docs/interpretations/legilimens.md";

pub(super) const LEGILIMENS: &[Property] = &[
    says(
        "legilimens",
        "link used, buffer of 10 BDP",
        "Chaudhry et al. §III-A: alone it is not busy",
        [0.9, 1.0],
        "",
        |rig| vec![rig.used("legilimens", 10 * BDP)],
    ),
    says("legilimens", "two flows share (Jain)", PAPER, [0.9, 1.0], "", |rig| {
        vec![rig.rivals(&["legilimens", "legilimens"], 5 * BDP, 60, 240).jain()]
    }),
    says(
        "legilimens-published",
        "link used, buffer of 10 BDP",
        "Chaudhry et al. §III-A: alone it is not busy",
        [0.9, 1.0],
        "",
        |rig| vec![rig.used("legilimens-published", 10 * BDP)],
    ),
    says("legilimens-published", "two flows share (Jain)", PAPER, [0.9, 1.0], "", |rig| {
        vec![rig.rivals(&["legilimens-published"; 2], 5 * BDP, 60, 240).jain()]
    }),
];

pub(super) const BACKGROUND: &[Property] =
    &[says("background", "link used, buffer of 10 BDP", OURS, [0.9, 1.0], "", |rig| {
        vec![rig.used("background", 10 * BDP)]
    })];
