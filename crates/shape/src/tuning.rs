use core::time::Duration;

use sounding_estimate::{Direction, Radio};

/// CAKE's interval (tc-cake(8): `rtt`) under the law. In uplinks it is twice the default: the law
/// keeps the modem's queue short, so that a more patient CAKE costs others little and carries more.
/// Downlinks keep the default: their queue is at the base station, where the law cannot see it.
pub const fn cake_interval(direction: Direction) -> Duration {
    Duration::from_millis(match direction {
        Direction::Uplink => 200,
        Direction::Downlink => 100,
    })
}

/// The law's constants. Those of [`Tuning::of`] were chosen on other seeds than those that judge
/// them: `sounding lab run router/simulated`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tuning {
    /// The span of time that estimates look back.
    pub span: Duration,
    /// Part of the capacity that the shaper sends when the modem holds its aim, in thousandths.
    pub share: u32,
    /// What waits in the modem on purpose, as time at the capacity. Without it the network would
    /// grant all that was asked for, and its grants would no longer show the capacity.
    pub aim: Duration,
    /// Time in which more or less than the aim is made up for.
    pub drain: Duration,
    /// Growth at each estimate while the shaper holds data and the radio has none, in thousandths.
    pub climb: u32,
    /// The most that the rate falls at one estimate, in thousandths.
    pub fall: u32,
    /// Estimates in a row that must show the capacity before the rate falls.
    pub sure: u8,
    /// An idle link's rate moves to the base after this.
    pub idle: Duration,
}

impl Tuning {
    /// For a direction over a radio. NR's uplinks lose little by a short wait in the modem, and
    /// LTE's lose much.
    pub const fn over(direction: Direction, radio: Radio) -> Self {
        match (direction, radio) {
            (Direction::Uplink, Radio::Nr) => {
                Self { aim: Duration::from_millis(20), climb: 50, ..Self::of(direction) }
            }
            _ => Self::of(direction),
        }
    }

    /// For a direction whose radio is not known.
    pub const fn of(direction: Direction) -> Self {
        match direction {
            Direction::Uplink => Self {
                span: Duration::from_millis(50),
                share: 1_000,
                aim: Duration::from_millis(45),
                drain: Duration::from_millis(100),
                climb: 200,
                fall: 300,
                sure: 2,
                idle: Duration::from_secs(10),
            },
            Direction::Downlink => Self {
                span: Duration::from_millis(100),
                share: 1_000,
                aim: Duration::ZERO,
                drain: Duration::from_millis(100),
                climb: 150,
                fall: 60,
                sure: 2,
                idle: Duration::from_secs(10),
            },
        }
    }
}
