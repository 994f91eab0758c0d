//! Proteus' scavenger, "Proteus-S" (Meng et al., "PCC Proteus: Scavenger Transport And Beyond",
//! SIGCOMM 2020): Vivace, to which an RTT that varies is a cost too. A flow that comes makes it
//! vary before the queue is full.
//!
//! The constants are those of the authors' program (PCC-Uspace, the utility "Scavenger"). Of its
//! tests whether a deviation is more than noise this has two: the slope of the RTT is certain, or
//! the deviation is unusual (`usual.rs`). Its third, a trend over six intervals, is absent.

use sounding_cc::parameter::{Kind, Parameter, Values};

use super::vivace::Config;

const WEIGHT: Parameter = Parameter {
    name: "deviation_weight",
    kind: Kind::number(1500.0, 0.0, 100_000.0),
    unit: "",
    about: "weight of the RTT's deviation, in seconds, in the utility",
    source: "the paper's d",
};

/// Parameters of a scavenger.
pub(crate) const PARAMETERS: &[Parameter] = &[
    Config::EXPONENT,
    Config::RTT_WEIGHT,
    Config::LOSS_WEIGHT,
    WEIGHT,
    Config::STEP,
    Config::CONVERSION,
    Config::SURE,
];

/// Vivace with the scavenger's utility.
pub(crate) fn scavenger(values: &Values) -> Config {
    Config { deviation_weight: values.number(&WEIGHT), ..Config::of(values) }
}
