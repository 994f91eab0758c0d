use core::time::Duration;

use sounding_cc::parameter::{Kind, Parameter, Values};

const TARGET: Parameter = Parameter {
    name: "target",
    kind: Kind::millis(60, 4, 400),
    unit: "",
    about: "the queueing delay at which the window shrinks most; it begins to at half of it",
    source: "draft-ietf-ccwg-rfc8298bis-screamv2-01 §4.2.2, QDELAY_TARGET_LO; at most its QDELAY_TARGET_HI",
};
const BETA_LOSS: Parameter = Parameter {
    name: "beta",
    kind: Kind::number(0.7, 0.1, 0.95),
    unit: "",
    about: "the part of the window that is left after a loss",
    source: "draft-ietf-ccwg-rfc8298bis-screamv2-01 §4.2.2, BETA_LOSS",
};
const INCREASE: Parameter = Parameter {
    name: "increase",
    kind: Kind::number(0.02, 0.0, 1.0),
    unit: "",
    about: "the part of itself by which the window may grow in a round, and a segment more",
    source: "draft-ietf-ccwg-rfc8298bis-screamv2-01 §4.2.2, MUL_INCREASE_FACTOR",
};
const HEADROOM: Parameter = Parameter {
    name: "headroom",
    kind: Kind::number(1.5, 1.0, 4.0),
    unit: "",
    about: "pacing rate ÷ target while the application sends less than the target",
    source: "draft-ietf-ccwg-rfc8298bis-screamv2-01 §4.3.2, PACKET_PACING_HEADROOM",
};
const JITTER: Parameter = Parameter {
    name: "jitter",
    kind: Kind::Word { default: "ignored", words: &["ignored", "reduced"] },
    unit: "",
    about: "`reduced`: the window grows slowly, and less is in flight, while delays vary by 10 ms or more",
    source: "draft-ietf-ccwg-rfc8298bis-screamv2-01 §4.2.1.4, REDUCE_JITTER: false",
};

/// Parameters of SCReAMv2.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Config {
    /// The queueing delay at which the window shrinks most.
    pub target: Duration,
    /// The part of the window that is left after a loss.
    pub beta_loss: f64,
    /// The part of itself by which the window may grow in a round.
    pub increase: f64,
    /// The ratio of pacing rate to target, while the application sends less than the target.
    pub headroom: f64,
    /// Whether delays that vary slow the growth.
    pub reduces_jitter: bool,
}

impl Config {
    pub(crate) const PARAMETERS: &[Parameter] = &[TARGET, BETA_LOSS, INCREASE, HEADROOM, JITTER];

    pub(crate) fn of(values: &Values) -> Self {
        Self {
            target: values.time(&TARGET),
            beta_loss: values.number(&BETA_LOSS),
            increase: values.number(&INCREASE),
            headroom: values.number(&HEADROOM),
            reduces_jitter: values.word(&JITTER) == "reduced",
        }
    }
}

impl Default for Config {
    fn default() -> Self {
        Self::of(&Values::default())
    }
}
