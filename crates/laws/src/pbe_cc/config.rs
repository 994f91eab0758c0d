use core::time::Duration;

use sounding_cc::parameter::{Kind, Parameter, Values};

const RAMP: Parameter = Parameter {
    name: "ramp_rtts",
    kind: Kind::count(3, 1, 100),
    unit: "RTTs",
    about: "the time in which a flow reaches its fair share",
    source: "§4.1",
};
const LATE_BY: Parameter = Parameter {
    name: "late_by",
    kind: Kind::millis(27, 0, 1_000),
    unit: "",
    about: "the delay above the least at which a packet is late",
    source: "§4.2.2: three retransmissions of HARQ and 3 ms of jitter",
};
const LATE_FOR: Parameter = Parameter {
    name: "late_for",
    kind: Kind::millis(6, 0, 1_000),
    unit: "",
    about: "how long packets must be late, or on time, to move the bottleneck",
    source: "§4.2.2, Eq. 6: six subframes",
};
const SLACK: Parameter = Parameter {
    name: "slack",
    kind: Kind::millis(40, 0, 1_000),
    unit: "",
    about: "the least room of the window above rate times RTprop",
    source: "interpretation 9",
};
const MIN_CWND: Parameter = Parameter {
    name: "min_cwnd",
    kind: Kind::count(4, 2, 1_000),
    unit: "segments",
    about: "the least window",
    source: "as BBR",
};
const MAX_AGE: Parameter = Parameter {
    name: "max_age",
    kind: Kind::millis(200, 1, 10_000),
    unit: "",
    about: "the oldest estimate that is used",
    source: "as BISCAY's law",
};
const MAX_SILENCE: Parameter = Parameter {
    name: "max_silence",
    kind: Kind::millis(60, 1, 10_000),
    unit: "",
    about: "how long estimates may stay away until BBR controls the flow",
    source: "chosen: twelve heartbeats of the daemon",
};

/// Parameters of the law.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Config {
    /// Round trips in which a flow reaches its fair share. Default 3 (§4.1).
    pub ramp_rtts: u32,
    /// How much later than the earliest packets may be, for HARQ's three repetitions and jitter.
    /// Default 27 ms (§4.2.2).
    pub late_by: Duration,
    /// Packets of so long a time in a row have to be late, or on time, until the bottleneck is
    /// believed to have moved. Default 6 ms, of six subframes (Eq. 6).
    pub late_for: Duration,
    /// Whether late packets count only where less arrives than the device reports. Default true;
    /// the paper has it false (interpretation 10).
    pub judge_by_delivery: bool,
    /// Whether a flow sends its fair share even where the device was granted less. Default true;
    /// the paper has it false (interpretation 17).
    pub keeps_fair_share: bool,
    /// Window beyond rate times RTprop: a quarter of it, and at least this. Default 40 ms
    /// (interpretation 9).
    pub slack: Duration,
    /// Least window, in segments. Default 4, as BBR.
    pub min_cwnd: u32,
    /// The oldest estimate that is used. Default 200 ms.
    pub max_age: Duration,
    /// The longest silence of a publisher that lives. Default 60 ms.
    pub max_silence: Duration,
}

impl Config {
    /// What plans can set.
    pub const PARAMETERS: &[Parameter] =
        &[RAMP, LATE_BY, LATE_FOR, SLACK, MIN_CWND, MAX_AGE, MAX_SILENCE];

    /// Its values as plans state them, the others as published.
    pub fn of(values: &Values) -> Self {
        Self {
            ramp_rtts: values.count(&RAMP),
            late_by: values.time(&LATE_BY),
            late_for: values.time(&LATE_FOR),
            judge_by_delivery: true,
            keeps_fair_share: true,
            slack: values.time(&SLACK),
            min_cwnd: values.count(&MIN_CWND),
            max_age: values.time(&MAX_AGE),
            max_silence: values.time(&MAX_SILENCE),
        }
    }

    /// As the paper has it, where it says.
    pub fn published(self) -> Self {
        Self { judge_by_delivery: false, keeps_fair_share: false, ..self }
    }
}

impl Default for Config {
    fn default() -> Self {
        Self::of(&Values::default())
    }
}
