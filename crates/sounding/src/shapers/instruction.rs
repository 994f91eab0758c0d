//! The lines between the daemon and its keeper of shapers.

use std::collections::VecDeque;
use std::fmt;

use serde::{Deserialize, Serialize};
use sounding_kpi::Direction;
use sounding_qdisc::Kind;

/// More bytes than a line of either has.
pub(super) const LONGEST: usize = 4096;

/// A direction in JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Side {
    Uplink,
    Downlink,
}

impl From<Direction> for Side {
    fn from(direction: Direction) -> Self {
        match direction {
            Direction::Uplink => Self::Uplink,
            Direction::Downlink => Self::Downlink,
        }
    }
}

impl From<Side> for Direction {
    fn from(side: Side) -> Self {
        match side {
            Side::Uplink => Self::Uplink,
            Side::Downlink => Self::Downlink,
        }
    }
}

impl fmt::Display for Side {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Direction::from(*self).fmt(f)
    }
}

/// A direction that is to be shaped.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Wanted {
    pub(crate) direction: Side,
    /// The device. To adopt the shaper of a downlink, the IFB at whose root it stands.
    pub(crate) device: String,
    pub(crate) way: Way,
    pub(crate) min_bits_per_sec: u64,
    pub(crate) max_bits_per_sec: u64,
}

/// The way to a shaper.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum Way {
    /// One stands there, and gets another rate.
    Adopt,
    /// One is made, of this kind or of the best that the kernel has.
    Manage {
        /// The kind, if it is not free.
        kind: Option<Kind>,
        /// Its first rate.
        start_bits_per_sec: u64,
    },
}

/// The daemon's instructions, a line of JSON each.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(super) enum Instruction {
    /// Take or make the shaper of a direction.
    Keep(Wanted),
    /// Take no more directions, and rates from now on.
    Close,
    /// The rate of a direction.
    Rate { direction: Side, bits_per_sec: u64 },
}

/// The keeper's lines.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Answer {
    /// The shaper of the direction.
    Standing(Standing),
    /// The list is closed.
    Closed,
    /// An instruction is not carried out.
    Refused(String),
    Event(KeeperEvent),
}

/// A shaper that is kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Standing {
    pub(crate) direction: Side,
    /// The device that was named.
    pub(crate) device: String,
    /// The device at whose root the shaper stands: its queue is read there.
    pub(crate) place: String,
    pub(crate) kind: Kind,
    /// Kind, number, and the queue behind it, for people.
    pub(crate) shaper: String,
    /// The present rate; absent if CAKE has no limit.
    pub(crate) rate_bits_per_sec: Option<u64>,
    /// Whether this program has made it.
    pub(crate) is_managed: bool,
}

/// News of a shaper.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum KeeperEvent {
    /// Another program has changed it. It is left alone from now on.
    Changed { direction: Side, why: String },
    /// Its device has gone.
    Gone { direction: Side, why: String },
    /// Its device is back and shaped again.
    Back(Standing),
    /// The kernel refuses a rate, or a device that is back cannot be shaped yet.
    Failed { direction: Side, why: String },
    /// An instruction was refused.
    Refused { why: String },
    /// The process has ended.
    Ended,
}

/// Lines out of pieces. No more of a line is kept than an instruction has.
#[derive(Debug, Default)]
pub(super) struct Lines {
    whole: VecDeque<Result<Vec<u8>, TooLong>>,
    begun: Vec<u8>,
    is_too_long: bool,
}

/// A line that was passed over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TooLong;

impl Lines {
    /// A piece. Take the lines out before the next one.
    pub(super) fn handle(&mut self, piece: &[u8]) {
        for part in piece.split_inclusive(|byte| *byte == b'\n') {
            let (text, ends) = part.strip_suffix(b"\n").map_or((part, false), |text| (text, true));
            self.is_too_long |= self.begun.len() + text.len() > LONGEST;
            if self.is_too_long {
                self.begun.clear();
            } else {
                self.begun.extend(text);
            }
            if ends {
                let line = std::mem::take(&mut self.begun);
                let is_too_long = std::mem::take(&mut self.is_too_long);
                self.whole.push_back(if is_too_long { Err(TooLong) } else { Ok(line) });
            }
        }
    }

    /// The next whole line, without its end.
    pub(super) fn next(&mut self) -> Option<Result<Vec<u8>, TooLong>> {
        self.whole.pop_front()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instructions_are_the_json_that_the_reference_names() {
        let rate = Instruction::Rate { direction: Side::Uplink, bits_per_sec: 5 };
        let text = r#"{"rate":{"direction":"uplink","bits_per_sec":5}}"#;
        assert_eq!(serde_json::to_string(&rate).expect("it serialises"), text);
        let keep = r#"{"keep":{"direction":"downlink","device":"wwan0","way":{"manage":{"kind":null,"start_bits_per_sec":7}},"min_bits_per_sec":1,"max_bits_per_sec":9}}"#;
        let read: Instruction = serde_json::from_str(keep).expect("it parses");
        assert_eq!(serde_json::to_string(&read).expect("it serialises"), keep);
        assert_eq!(serde_json::to_string(&Instruction::Close).expect("it serialises"), "\"close\"");
    }

    #[test]
    fn lines_come_out_of_pieces() {
        let mut lines = Lines::default();
        for piece in ["a", "b\nc", "\n\n", "d"] {
            lines.handle(piece.as_bytes());
        }
        let whole: Vec<_> = std::iter::from_fn(|| lines.next()).collect();
        assert_eq!(whole, [Ok(b"ab".to_vec()), Ok(b"c".to_vec()), Ok(Vec::new())]);
    }

    #[test]
    fn a_line_without_an_end_takes_no_memory_and_the_next_one_is_heard() {
        let mut lines = Lines::default();
        for _ in 0..1000 {
            lines.handle(&[b'x'; 1000]);
            assert!(lines.begun.len() <= LONGEST);
        }
        lines.handle(b"x\nnext\n");
        assert_eq!(lines.next(), Some(Err(TooLong)));
        assert_eq!(lines.next(), Some(Ok(b"next".to_vec())));
    }
}
