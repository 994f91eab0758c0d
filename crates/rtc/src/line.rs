//! The lines of JSON that a peer reads.

use std::net::IpAddr;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use sounding_estimate::{Confidence, DelayKind, DelayUpdate, Direction, RanDelay};
use sounding_units::HostInstant;

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
        #[serde(with = "kind")]
        kind: DelayKind,
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

/// Kinds of delays by their names.
mod kind {
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serializer};
    use sounding_estimate::DelayKind;

    pub(super) fn serialize<S: Serializer>(kind: &DelayKind, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(kind)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<DelayKind, D::Error> {
        let name = String::deserialize(from)?;
        let mut kinds = DelayKind::ALL.iter().copied();
        kinds
            .find(|kind| kind.to_string() == name)
            .ok_or_else(|| Error::custom(format!("no kind of delay is called {name:?}")))
    }
}

impl From<&RanDelay> for Line {
    fn from(event: &RanDelay) -> Self {
        Self::Wait {
            kind: event.kind,
            from_ns: event.from.as_nanos(),
            to_ns: event.to.as_nanos(),
            amount_ns: u64::try_from(event.amount.as_nanos()).unwrap_or(u64::MAX),
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

    /// The lines of a modem's news about the uplink, as text.
    pub fn of(update: &DelayUpdate) -> String {
        let up = update.events.iter().filter(|event| event.direction == Direction::Uplink);
        let report = Self::Report { until_ns: update.up_until.map(HostInstant::as_nanos) };
        up.map(Self::from).chain([report]).map(|line| line.text()).collect()
    }

    /// The delay that it reports, if it does. The radio's part is at most the whole.
    pub fn wait(&self) -> Option<RanDelay> {
        let &Self::Wait { kind, from_ns, to_ns, amount_ns } = self else { return None };
        let at = HostInstant::from_nanos;
        let delay = RanDelay::new(Direction::Uplink, kind, at(from_ns), at(to_ns));
        // A line does not say how it is known.
        Some(
            delay
                .with_amount(delay.amount.min(Duration::from_nanos(amount_ns)))
                .with_confidence(Confidence::Inferred),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_news_are_the_uplinks_delays_and_then_the_report() {
        let line = Line::Wait { kind: DelayKind::Rlc, from_ns: 5, to_ns: 9, amount_ns: 3 };
        let up = line.wait().expect("a wait");
        let down = up.with_direction(Direction::Downlink);
        let (up_until, events) = (Some(HostInstant::from_nanos(7)), vec![down, up]);
        let update = DelayUpdate::default().with_events(events).with_up_until(up_until);
        let wanted = line.text() + &Line::Report { until_ns: Some(7) }.text();
        assert_eq!(Line::of(&update), wanted);
        assert!(wanted.contains(r#""kind":"rlc""#), "{wanted}");
    }

    #[test]
    fn a_line_is_read_as_it_was_written() {
        let line = Line::Wait { kind: DelayKind::Harq, from_ns: 5, to_ns: 9, amount_ns: 3 };
        let written = r#"{"wait":{"kind":"harq","from_ns":5,"to_ns":9,"amount_ns":3}}"#;
        assert_eq!(line.text(), format!("{written}\n"));
        let read: Line = serde_json::from_str(written).expect("a line");
        assert_eq!(read, line);
        let wait = read.wait().expect("a wait");
        assert_eq!(Line::from(&wait), line);
        let unknown = r#"{"wait":{"kind":"handover","from_ns":5,"to_ns":9,"amount_ns":3}}"#;
        assert!(serde_json::from_str::<Line>(unknown).is_err());
        assert_eq!(Line::End {}.wait(), None);
        let more = Line::Wait { kind: DelayKind::Scheduling, from_ns: 5, to_ns: 9, amount_ns: 100 };
        assert_eq!(more.wait().map(|wait| wait.amount), Some(Duration::from_nanos(4)));
    }
}
