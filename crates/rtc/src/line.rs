//! The lines of JSON that a peer reads.

use std::net::IpAddr;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use sounding_units::HostInstant;

#[cfg(feature = "feed")]
use crate::Notice;
use crate::{Wait, WaitKind};

/// What a line asks of a peer.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Line {
    /// A sender offers a call.
    Offer {
        /// Its session description.
        sdp: String,
        /// Where the peer is to receive.
        address: IpAddr,
    },
    /// The radio made uplink data wait.
    Wait {
        /// What made it.
        kind: Kind,
        /// Its begin, in nanoseconds of the device's CLOCK_MONOTONIC.
        from_ns: u64,
        /// Its end.
        to_ns: u64,
        /// The radio's own part.
        amount_ns: u64,
    },
    /// Records came of the device's modem.
    Report {
        /// All waits that began before are known, if anything is.
        until_ns: Option<u64>,
    },
    /// The call is over.
    End {},
}

/// As [`WaitKind`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// As [`WaitKind::Scheduling`].
    Scheduling,
    /// As [`WaitKind::Harq`].
    Harq,
}

impl From<Kind> for WaitKind {
    fn from(kind: Kind) -> Self {
        match kind {
            Kind::Scheduling => Self::Scheduling,
            Kind::Harq => Self::Harq,
        }
    }
}

impl From<Wait> for Line {
    fn from(wait: Wait) -> Self {
        Self::Wait {
            kind: match wait.kind {
                WaitKind::Scheduling => Kind::Scheduling,
                WaitKind::Harq => Kind::Harq,
            },
            from_ns: wait.from.as_nanos(),
            to_ns: wait.to.as_nanos(),
            amount_ns: u64::try_from(wait.amount.as_nanos()).unwrap_or(u64::MAX),
        }
    }
}

#[cfg(feature = "feed")]
impl From<Notice> for Line {
    fn from(notice: Notice) -> Self {
        match notice {
            Notice::Wait(wait) => wait.into(),
            Notice::Heard { until } => Self::Report { until_ns: until.map(HostInstant::as_nanos) },
        }
    }
}

impl Line {
    /// The line, with its end.
    pub fn text(&self) -> String {
        // Neither a map with other keys than text nor a failing writer is in it.
        let mut text = serde_json::to_string(self).unwrap_or_default();
        text.push('\n');
        text
    }

    /// The wait that it reports, if it does. The radio's part is at most the whole.
    pub fn wait(&self) -> Option<Wait> {
        let &Self::Wait { kind, from_ns, to_ns, amount_ns } = self else { return None };
        let at = HostInstant::from_nanos;
        let amount = Duration::from_nanos(amount_ns.min(to_ns.saturating_sub(from_ns)));
        Some(Wait { kind: kind.into(), from: at(from_ns), to: at(to_ns), amount })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_read_as_it_was_written() {
        let at = HostInstant::from_nanos;
        let amount = Duration::from_nanos(3);
        let wait = Wait { kind: WaitKind::Harq, from: at(5), to: at(9), amount };
        let line = Line::from(wait);
        let written = r#"{"wait":{"kind":"harq","from_ns":5,"to_ns":9,"amount_ns":3}}"#;
        assert_eq!(line.text(), format!("{written}\n"));
        let read: Line = serde_json::from_str(written).expect("a line");
        assert_eq!(read, line);
        assert_eq!(read.wait(), Some(wait));
        assert_eq!(Line::End {}.wait(), None);
        let more = Line::Wait { kind: Kind::Scheduling, from_ns: 5, to_ns: 9, amount_ns: 100 };
        assert_eq!(more.wait().map(|wait| wait.amount), Some(Duration::from_nanos(4)));
    }
}
