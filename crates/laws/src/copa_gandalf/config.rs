use sounding_cc::parameter::{Kind, Parameter, Values};

/// A segment, in the unit of windows and of 1 ÷ δ.
pub(super) const ONE: u64 = 65_536;

/// Copa's δ. At the range's lower end competition stops, because no window is that large.
pub const DELTA: Parameter = Parameter {
    name: "delta",
    kind: Kind::number(0.5, 0.001, 10.0),
    unit: "",
    about: "a flow alone keeps about 1.25 ÷ δ packets in the queue: a smaller value gives more throughput, a larger one less delay",
    source: "the paper, §2.1 and §2.2",
};
const PACE: Parameter = Parameter {
    name: "pace",
    kind: Kind::number(2.0, 1.0, 4.0),
    unit: "",
    about: "while RTTs are corrected and slow start is over, packets leave at so many times the window ÷ RTT",
    source: "Copa's paper, §2.1; 1.1 was tried: with a phone's averages downloads carried a fraction",
};
const RISE: Parameter = Parameter {
    name: "rise",
    kind: Kind::count(16, 1, 1_024),
    unit: "",
    about: "while RTTs are corrected the window grows in a round by one part in so many at most",
    source: "chosen: a twentieth and a thirty-second were as good",
};
const UNSURE: Parameter = Parameter {
    name: "unsure",
    kind: Kind::micros(2_500, 0, 20_000),
    unit: "",
    about: "the path's RTT in uploads counts as so much longer, because a wait is not known better; with rarer reports as much longer as they are rarer",
    source: "half of the usual interval between buffer status reports (Gandalf §4.3.2): between two of them data enters at any time",
};

/// Parameters of a flow; the defaults are what the kernel runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Config {
    /// 1 ÷ δ while no other flow fills the buffer, in 65 536ths.
    pub(super) inverse_delta: u64,
    /// The rate of packets in hundredths of the window ÷ RTT, while RTTs are corrected.
    pub(super) pace: u32,
    /// The window grows in a round by one part of so many at most, while RTTs are corrected.
    pub(super) rise: u64,
    /// Uncertainty of an upload's wait, microseconds.
    pub(super) unsure_us: u32,
}

impl Config {
    /// What plans can set.
    pub const PARAMETERS: &[Parameter] = &[DELTA, PACE, RISE, UNSURE];

    /// These values of them.
    pub fn of(values: &Values) -> Self {
        let [delta, pace] = [&DELTA, &PACE].map(|parameter| values.number(parameter));
        Self {
            inverse_delta: libm::round(ONE as f64 / delta) as u64,
            pace: libm::round(pace * 100.0) as u32,
            rise: values.count(&RISE).into(),
            unsure_us: values.time(&UNSURE).as_micros() as u32,
        }
    }
}

impl Default for Config {
    fn default() -> Self {
        Self::of(&Values::default())
    }
}
