//! Over which times delays are smoothed, and which of them is the path's.

use core::time::Duration;

use sounding_cc::parameter::{Kind, Parameter, Values};
use sounding_estimate::Direction;

use crate::copa;

const SMOOTH: Parameter = Parameter {
    name: "smooth",
    kind: Kind::millis(40, 1, 200),
    unit: "",
    about: "RTTs of downloads are a mean over this",
    source: "chosen: only acknowledgements wait for grants, and those of one interval of reports come at once",
};
const STEADY: Parameter = Parameter {
    name: "steady",
    kind: Kind::millis(40, 1, 1_000),
    unit: "",
    about: "the path's RTT in downloads is that of means over this, without the radio's part",
    source: "as `smooth`",
};
const UP_SMOOTH: Parameter = Parameter {
    name: "up_smooth",
    kind: Kind::millis(30, 1, 200),
    unit: "",
    about: "both in uploads",
    source: "chosen: several usual intervals of buffer status reports; Gandalf §4.3.2 removes what is as fast as these",
};
const RECENT: Parameter = Parameter {
    name: "recent",
    kind: Kind::millis(100, 10, 2_000),
    unit: "",
    about: "an RTT whose radio delay is not known yet gets a mean over this",
    source: "chosen: as long as records of MAC are apart",
};
const WAITS: Parameter = Parameter {
    name: "waits",
    kind: Kind::Word { default: OFF, words: &[KEEP, OFF] },
    unit: "",
    about: "acknowledgements' waits for grants are taken off RTTs of downloads (`off`), or stay in them, and a usual one is the path's (`keep`)",
    source: "chosen: a true queue is seen sooner",
};
const UP_WAITS: Parameter = Parameter {
    name: "up_waits",
    kind: Kind::Word { default: KEEP, words: &[KEEP, OFF] },
    unit: "",
    about: "the same of the data's waits in uploads",
    source: "chosen: a mean of them is steadier than what is known of each",
};
const KEEP: &str = "keep";
const OFF: &str = "off";
const USUAL: Parameter = Parameter {
    name: "usual",
    kind: Kind::count(50, 0, 100),
    unit: "%",
    about: "with `waits` kept, so many of an acknowledgement's waits in downloads are shorter than a usual one",
    source: "chosen: the median",
};
const UP_USUAL: Parameter = Parameter {
    name: "up_usual",
    kind: Kind::count(50, 0, 100),
    unit: "%",
    about: "with `up_waits` kept, so many of the data's waits in uploads are",
    source: "chosen: the median",
};
const UNSURE: Parameter = Parameter {
    name: "unsure",
    kind: Kind::micros(500, 0, 20_000),
    unit: "",
    about: "with `waits` kept, the path's RTT in downloads counts as so much longer, because a wait is not known better",
    source: "half of a subframe, in which acknowledgements leave",
};
const UP_UNSURE: Parameter = Parameter {
    name: "up_unsure",
    kind: Kind::micros(2_500, 0, 20_000),
    unit: "",
    about: "with `up_waits` kept, the same in uploads",
    source: "half of the usual interval between buffer status reports (Gandalf §4.3.2): between two of them data enters at any time",
};
const FLOOR: Parameter = Parameter {
    name: "floor",
    kind: Kind::count(5, 0, 50),
    unit: "%",
    about: "with `waits` off, the path's RTT in downloads is that below which so many of the last ten seconds' exact RTTs are; 0: the smallest",
    source: "chosen: what is taken off is sometimes too much",
};
const UP_FLOOR: Parameter = Parameter {
    name: "up_floor",
    kind: Kind::count(10, 0, 50),
    unit: "%",
    about: "with `up_waits` off, the same in uploads",
    source: "chosen: the waits of the data itself are known better",
};
/// Copa's parameters, and those of what is taken off its RTTs.
pub(crate) const COPA: &[Parameter] = &[
    copa::DELTA,
    copa::MODE,
    SMOOTH,
    STEADY,
    UP_SMOOTH,
    RECENT,
    WAITS,
    UP_WAITS,
    USUAL,
    UP_USUAL,
    UNSURE,
    UP_UNSURE,
    FLOOR,
    UP_FLOOR,
];

/// Over which times delays are smoothed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Smoothing {
    /// Of downloads.
    pub down: Means,
    /// Of uploads.
    pub up: Means,
    /// The radio's recent part.
    pub recent: Duration,
    /// The unknown part of an RTT counts as the most that the radio added lately, not as its mean.
    pub assumes_most: bool,
}

/// The same of flows in one direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Means {
    /// RTTs.
    pub shown: Duration,
    /// RTTs without the radio's part. A small one is the path's.
    pub steady: Duration,
    /// How many hundredths of exact RTTs are below that of the path, if waits are taken off.
    pub floor_percent: u32,
    /// Whether waits for grants stay in RTTs.
    pub keeps_waits: bool,
    /// How many hundredths of waits that stay are below a usual one.
    pub usual_percent: u32,
    /// By how much the path's RTT counts as longer than is known, if waits stay.
    pub unsure: Duration,
}

impl Smoothing {
    pub(crate) fn of(values: &Values) -> Self {
        let down = Means {
            shown: values.time(&SMOOTH),
            steady: values.time(&STEADY),
            floor_percent: values.count(&FLOOR),
            keeps_waits: values.word(&WAITS) == KEEP,
            usual_percent: values.count(&USUAL),
            unsure: values.time(&UNSURE),
        };
        let up = Means {
            shown: values.time(&UP_SMOOTH),
            steady: values.time(&UP_SMOOTH),
            floor_percent: values.count(&UP_FLOOR),
            keeps_waits: values.word(&UP_WAITS) == KEEP,
            usual_percent: values.count(&UP_USUAL),
            unsure: values.time(&UP_UNSURE),
        };
        Self { down, up, recent: values.time(&RECENT), assumes_most: false }
    }

    /// The same, with all waits taken off.
    #[must_use]
    pub fn without_waits(mut self) -> Self {
        self.down.keeps_waits = false;
        self.up.keeps_waits = false;
        self
    }

    /// For a controller that asks whether RTTs rose by more than the radio explains, as HyStart does: all that the radio may have added
    /// is taken off at once, waits too. Chosen: means over 10 ms, two usual intervals of reports.
    pub fn of_rises() -> Self {
        let mut of = Self { assumes_most: true, ..Self::default().without_waits() };
        for means in [&mut of.down, &mut of.up] {
            means.shown = Duration::from_millis(10);
            means.steady = means.shown;
        }
        of
    }

    pub(super) fn means(&self, data: Direction) -> &Means {
        match data {
            Direction::Downlink => &self.down,
            Direction::Uplink => &self.up,
        }
    }
}

impl Default for Smoothing {
    fn default() -> Self {
        Self::of(&Values::default())
    }
}
