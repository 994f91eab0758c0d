use core::time::Duration;

use sounding_cc::parameter::{Kind, Parameter, Values};

const GAIN: Parameter = Parameter {
    name: "gain",
    kind: Kind::number(2.0, 1.0, 4.0),
    unit: "× B · RTTmin",
    about: "the window, to two digits",
    source: "§4.1",
};
const MAX_AGE: Parameter = Parameter {
    name: "max_age",
    kind: Kind::millis(1_000, 1, 10_000),
    unit: "",
    about: "how old the last report may be until CUBIC controls the flow",
    source: "interpretation 9",
};
const MIN_CWND: Parameter = Parameter {
    name: "min_cwnd",
    kind: Kind::count(4, 2, 1_000),
    unit: "segments",
    about: "the least window",
    source: "as BBR",
};

/// Parameters of the law.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Config {
    /// Window over rate times RTTmin, in hundredths. Default 200 (§4.1).
    pub gain_percent: u32,
    /// Age at which the last report says nothing any more. Default 1 s (interpretation 9).
    pub max_age: Duration,
    /// Least window, in segments. Default 4, as BBR.
    pub min_cwnd: u32,
}

impl Config {
    pub(crate) const PARAMETERS: &[Parameter] = &[GAIN, MAX_AGE, MIN_CWND];

    pub(crate) fn of(values: &Values) -> Self {
        Self {
            gain_percent: libm::round(values.number(&GAIN) * 100.0) as u32,
            max_age: values.time(&MAX_AGE),
            min_cwnd: values.count(&MIN_CWND),
        }
    }
}

impl Default for Config {
    fn default() -> Self {
        Self::of(&Values::default())
    }
}
