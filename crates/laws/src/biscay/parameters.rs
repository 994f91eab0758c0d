//! Parameters of the law that plans may set. Interpretations are in docs/interpretations/biscay.md,
//! reasons in [`Config`].

use sounding_cc::parameter::{Kind, Parameter, Values};

use super::Config;

const MAX_AGE: Parameter = Parameter {
    name: "max_age",
    kind: Kind::millis(200, 1, 10_000),
    unit: "",
    about: "the oldest estimate that is used",
    source: "interpretation 8",
};
const MAX_SILENCE: Parameter = Parameter {
    name: "max_silence",
    kind: Kind::millis(60, 1, 10_000),
    unit: "",
    about: "time without estimates after which the fallback controls the flow",
    source: "chosen: twelve heartbeats of the daemon",
};
const NARROW_FOR: Parameter = Parameter {
    name: "narrow_for",
    kind: Kind::millis(400, 0, 60_000),
    unit: "",
    about: "how long the path must look narrower than the radio",
    source: "chosen",
};
const ALLOWANCE: Parameter = Parameter {
    name: "allowance",
    kind: Kind::millis(15, 0, 1_000),
    unit: "",
    about: "the queue that the window allows above the path's RTT",
    source: "chosen over recorded links",
};
const PACING_GAIN: Parameter = Parameter {
    name: "pacing_gain_permille",
    kind: Kind::count(1_250, 500, 4_000),
    unit: "thousandths",
    about: "pacing rate ÷ share of the link",
    source: "interpretation 6",
};
const NARROW: Parameter = Parameter {
    name: "narrow_permille",
    kind: Kind::count(150, 1, 1_000),
    unit: "thousandths",
    about: "how far the share must exceed the delivery for the path to be narrow",
    source: "interpretation 1",
};
const WIDE: Parameter = Parameter {
    name: "wide_permille",
    kind: Kind::count(100, 1, 1_000),
    unit: "thousandths",
    about: "how far the delivery may stay below the share for the path to be wide again",
    source: "interpretation 1",
};
const NARROW_ROUNDS: Parameter = Parameter {
    name: "narrow_rounds",
    kind: Kind::count(3, 1, 1_000),
    unit: "rounds",
    about: "number of rounds in a row after which the path counts as narrow",
    source: "chosen",
};
const WIDE_ROUNDS: Parameter = Parameter {
    name: "wide_rounds",
    kind: Kind::count(4, 1, 1_000),
    unit: "rounds",
    about: "number of rounds in a row after which the path counts as wide again",
    source: "chosen",
};
const NARROW_LOSS: Parameter = Parameter {
    name: "narrow_loss_permille",
    kind: Kind::count(100, 1, 1_000),
    unit: "thousandths",
    about: "the lost part of a round above which the path counts as narrow",
    source: "interpretation 10",
};
const MIN_CWND: Parameter = Parameter {
    name: "min_cwnd",
    kind: Kind::count(4, 2, 1_000),
    unit: "segments",
    about: "the smallest window on a link with a rate above zero",
    source: "as BBR",
};
const MAX_CWND: Parameter = Parameter {
    name: "max_cwnd",
    kind: Kind::count(1 << 16, 1_000, 1 << 20),
    unit: "segments",
    about: "the largest window",
    source: "chosen: 1 Gbit/s over 700 ms",
};
const SETTLED_AFTER: Parameter = Parameter {
    name: "settled_after",
    kind: Kind::count(2, 1, 1_000),
    unit: "samples",
    about: "number of samples within 30 % of each other that are needed before the first is used",
    source: "interpretation 8",
};

impl Config {
    pub(crate) const PARAMETERS: &[Parameter] = &[
        MAX_AGE,
        MAX_SILENCE,
        NARROW_FOR,
        ALLOWANCE,
        PACING_GAIN,
        NARROW,
        WIDE,
        NARROW_ROUNDS,
        WIDE_ROUNDS,
        NARROW_LOSS,
        MIN_CWND,
        MAX_CWND,
        SETTLED_AFTER,
    ];

    pub(crate) fn of(values: &Values) -> Self {
        Self {
            max_age: values.time(&MAX_AGE),
            max_silence: values.time(&MAX_SILENCE),
            narrow_for: values.time(&NARROW_FOR),
            allowance: values.time(&ALLOWANCE),
            pacing_gain_permille: values.count(&PACING_GAIN),
            narrow_permille: values.count(&NARROW),
            wide_permille: values.count(&WIDE),
            narrow_rounds: values.count(&NARROW_ROUNDS),
            wide_rounds: values.count(&WIDE_ROUNDS),
            narrow_loss_permille: values.count(&NARROW_LOSS),
            min_cwnd: values.count(&MIN_CWND),
            max_cwnd: values.count(&MAX_CWND),
            settled_after: values.count(&SETTLED_AFTER),
        }
    }
}
