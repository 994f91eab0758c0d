//! Queues as text: `infinite`, `droptail:packets=100`, `codel:target=5ms,interval=100ms`.

use alloc::string::String;
use core::fmt;
use core::str::FromStr;
use core::time::Duration;

use sounding_trace::parse_time;
use sounding_units::Bytes;

use super::{Aqm, DropFrom, QueueLimit};

/// Why a text is no queue.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ParseQueueError {
    /// There is no such kind.
    #[error("{0:?} is no queue; a queue is infinite, droptail, drophead, codel or pie")]
    Kind(String),
    /// A queue that drops when it is full has no size.
    #[error("{0} needs packets=N, bytes=N or both, as `{0}:packets=100`")]
    Unlimited(&'static str),
    /// A word is no value of this kind.
    #[error("{kind} has no value {word:?}; {takes}")]
    Word {
        /// The kind.
        kind: &'static str,
        /// The word.
        word: String,
        /// What the kind takes.
        takes: &'static str,
    },
    /// A key has no such value.
    #[error("{key}: {value:?} is no {noun}")]
    Value {
        /// The key.
        key: &'static str,
        /// The text.
        value: String,
        /// What the key takes.
        noun: &'static str,
    },
}

const KINDS: [&str; 5] = ["infinite", "droptail", "drophead", "codel", "pie"];

/// What each kind takes, for errors.
const TAKES: [&str; 5] = [
    "it has none",
    "it takes packets=N and bytes=N",
    "it takes packets=N and bytes=N",
    "it takes target=TIME, interval=TIME, packets=N and bytes=N",
    "it takes qdelay_ref=TIME, max_burst=TIME, packets=N and bytes=N",
];

fn quoted(text: &str) -> String {
    text.chars().take(40).collect()
}

impl FromStr for QueueLimit {
    type Err = ParseQueueError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (name, values) = text.split_once(':').unwrap_or((text, ""));
        let found = KINDS.iter().position(|kind| *kind == name.trim());
        let at = found.ok_or_else(|| ParseQueueError::Kind(quoted(name)))?;
        let mut queue = Self::INFINITE;
        match KINDS[at] {
            "drophead" => queue.drop = DropFrom::Head,
            "codel" => queue.aqm = Aqm::CODEL,
            "pie" => queue.aqm = Aqm::PIE,
            _ => {}
        }
        for word in values.split(',').map(str::trim).filter(|word| !word.is_empty()) {
            queue.set(at, word)?;
        }
        let has_limit = queue.packets.is_some() || queue.bytes.is_some();
        if ["droptail", "drophead"].contains(&KINDS[at]) && !has_limit {
            return Err(ParseQueueError::Unlimited(KINDS[at]));
        }
        Ok(queue)
    }
}

impl QueueLimit {
    /// Sets a value of the kind at this place of [`KINDS`].
    fn set(&mut self, at: usize, word: &str) -> Result<(), ParseQueueError> {
        let stranger =
            || ParseQueueError::Word { kind: KINDS[at], word: quoted(word), takes: TAKES[at] };
        let (key, value) = word.split_once('=').ok_or_else(stranger)?;
        let value = value.trim();
        match (key.trim(), &mut self.aqm) {
            _ if KINDS[at] == "infinite" => return Err(stranger()),
            ("packets", _) => self.packets = Some(number("packets", value)?),
            ("bytes", _) => self.bytes = Some(Bytes::new(size("bytes", value)?)),
            ("target", Aqm::CoDel { target, .. }) => *target = time("target", value)?,
            ("interval", Aqm::CoDel { interval, .. }) => *interval = time("interval", value)?,
            ("qdelay_ref", Aqm::Pie { reference, .. }) => *reference = time("qdelay_ref", value)?,
            ("max_burst", Aqm::Pie { max_burst, .. }) => *max_burst = time("max_burst", value)?,
            _ => return Err(stranger()),
        }
        Ok(())
    }
}

fn number(key: &'static str, value: &str) -> Result<u64, ParseQueueError> {
    let error =
        || ParseQueueError::Value { key, value: quoted(value), noun: "whole number, as 100" };
    value.parse().map_err(|_| error())
}

fn size(key: &'static str, value: &str) -> Result<u64, ParseQueueError> {
    let (digits, scale) = match value {
        _ if value.ends_with("kB") => (value.trim_end_matches("kB"), 1_000),
        _ if value.ends_with("MB") => (value.trim_end_matches("MB"), 1_000_000),
        _ => (value, 1),
    };
    let scaled = digits.trim().parse::<u64>().ok().and_then(|count| count.checked_mul(scale));
    let error =
        || ParseQueueError::Value { key, value: quoted(value), noun: "size, as 30000 or 30kB" };
    scaled.ok_or_else(error)
}

fn time(key: &'static str, value: &str) -> Result<Duration, ParseQueueError> {
    let noun = "time above zero, as 5ms";
    let error = || ParseQueueError::Value { key, value: quoted(value), noun };
    parse_time(value).filter(|time| !time.is_zero()).ok_or_else(error)
}

impl fmt::Display for QueueLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let has_limit = self.packets.is_some() || self.bytes.is_some();
        f.write_str(match (self.aqm, self.drop) {
            (Aqm::CoDel { .. }, _) => "codel",
            (Aqm::Pie { .. }, _) => "pie",
            (Aqm::None, _) if !has_limit => "infinite",
            (Aqm::None, DropFrom::Tail) => "droptail",
            (Aqm::None, DropFrom::Head) => "drophead",
        })?;
        let times = match self.aqm {
            Aqm::None => None,
            Aqm::CoDel { target, interval } => Some([("target", target), ("interval", interval)]),
            Aqm::Pie { reference, max_burst } => {
                Some([("qdelay_ref", reference), ("max_burst", max_burst)])
            }
        };
        let mut separator = ":";
        for (key, time) in times.into_iter().flatten() {
            write!(f, "{separator}{key}={}us", time.as_micros())?;
            separator = ",";
        }
        let bytes = self.bytes.map(Bytes::count);
        for (key, limit) in [("packets", self.packets), ("bytes", bytes)] {
            if let Some(limit) = limit {
                write!(f, "{separator}{key}={limit}")?;
                separator = ",";
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::string::ToString as _;

    use super::*;

    #[test]
    fn queues_are_read_as_they_are_written() {
        let millis = Duration::from_millis;
        let (packets, bytes) = (QueueLimit::packets(2), Some(Bytes::new(3000)));
        let codel = Aqm::CoDel { target: millis(50), interval: millis(200) };
        let pie = Aqm::Pie { reference: millis(20), max_burst: millis(75) };
        for (text, queue) in [
            ("infinite", QueueLimit::INFINITE),
            ("droptail:packets=2", packets),
            ("droptail: bytes=3kB , packets=2", QueueLimit { bytes, ..packets }),
            (
                "drophead:bytes=3000,packets=2",
                QueueLimit { bytes, drop: DropFrom::Head, ..packets },
            ),
            ("codel", QueueLimit::managed(Aqm::CODEL)),
            ("codel:target=5ms,interval=0.1s", QueueLimit::managed(Aqm::CODEL)),
            ("codel:target=50ms, interval=200ms", QueueLimit::managed(codel)),
            ("codel:packets=2", QueueLimit { aqm: Aqm::CODEL, ..packets }),
            ("pie", QueueLimit::managed(Aqm::PIE)),
            ("pie:qdelay_ref=20ms,max_burst=75ms", QueueLimit::managed(pie)),
        ] {
            assert_eq!(text.parse(), Ok(queue), "{text}");
            assert_eq!(queue.to_string().parse(), Ok(queue), "{text}");
        }
    }

    #[test]
    fn what_is_no_queue_is_refused_with_its_fault() {
        for (text, error) in [
            ("red", "\"red\" is no queue; a queue is infinite, droptail, drophead, codel or pie"),
            ("droptail", "droptail needs packets=N, bytes=N or both, as `droptail:packets=100`"),
            ("droptail:7", "droptail has no value \"7\"; it takes packets=N and bytes=N"),
            ("droptail:packets=-1", "packets: \"-1\" is no whole number, as 100"),
            ("droptail:bytes=1.5", "bytes: \"1.5\" is no size, as 30000 or 30kB"),
            ("infinite:packets=1", "infinite has no value \"packets=1\"; it has none"),
            ("codel:target=5", "target: \"5\" is no time above zero, as 5ms"),
            ("codel:target=0ms", "target: \"0ms\" is no time above zero, as 5ms"),
        ] {
            assert_eq!(text.parse::<QueueLimit>().unwrap_err().to_string(), error, "{text}");
        }
        let foreign = "codel:max_burst=5ms".parse::<QueueLimit>().unwrap_err().to_string();
        assert!(foreign.contains("it takes target=TIME"), "{foreign}");
    }
}
