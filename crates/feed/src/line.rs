//! The lines of the feed: JSON, one object a line.

use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use sounding_estimate::{Direction, LinkEstimate};
use sounding_units::{Bytes, HostInstant, Rate};

use crate::{Advice, Delays};

/// The version of the lines. A reader of a version reads all later lines of it: fields are only
/// added.
pub const VERSION: u32 = 1;

/// What a greeting calls the feed.
pub(crate) const RATE: &str = "rate";

/// The first line that a reader gets.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Greeting {
    /// Always `rate`.
    pub feed: String,
    /// The version of the lines.
    pub version: u32,
    /// The longest time between two lines of a modem's direction, in ms. Longer silence means that
    /// the daemon is dead.
    pub longest_gap_ms: u64,
}

impl Greeting {
    /// What a daemon says whose lines come at least this often.
    pub fn new(longest_gap: Duration) -> Self {
        let longest_gap_ms = longest_gap.as_millis() as u64;
        Self { feed: RATE.into(), version: VERSION, longest_gap_ms }
    }
}

/// One direction of one modem at one time. An unknown value is absent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Line {
    /// Counts the lines of this modem and direction, from 1. A reader that misses a number was too
    /// slow.
    pub number: u64,
    /// The modem's name in the configuration.
    pub modem: String,
    /// `uplink` or `downlink`, seen from the device.
    pub direction: String,
    /// When the line was made, by the host's CLOCK_MONOTONIC.
    pub made_at_ns: u64,
    /// What a sender should take now, in bits of IP packets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub advice_bits_per_sec: Option<u64>,
    /// Why: a word of [`Cause`](crate::Cause).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub advice_cause: Option<String>,
    /// The rate that the radio granted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate_bits_per_sec: Option<u64>,
    /// `capacity` if that was all that the radio had, `floor` if it was all that was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bound: Option<String>,
    /// The state of the link: `active`, `idle`, `handover`, `silent` or `stale`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<String>,
    /// The method behind the rate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// Time since the newest record behind the rate came.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub age_ms: Option<f64>,
    /// The age up to which the rate and the advice may be used.
    pub valid_for_ms: f64,
    /// What waits in the modem.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub backlog_bytes: Option<u64>,
    /// Users of the cell with data, this device included.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub users: Option<u32>,
    /// The flows of the daemon's laws that leave by this modem, about once a second, and only in
    /// lines of the uplink.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flows: Option<Flows>,
    /// The delays that the radio itself made, where the daemon is asked for them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delays: Option<Delays>,
}

/// Flows of this machine under a daemon's laws.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Flows {
    /// The fastest ones, up to [`Flows::MOST`].
    pub fastest: Vec<Flow>,
    /// The count of the others.
    pub more: u64,
}

/// A flow.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Flow {
    /// Its local port.
    pub local_port: u16,
    /// Its remote port.
    pub remote_port: u16,
    /// The phase of its law; absent if it is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phase: Option<String>,
    /// The pacing rate that its law has set, of payload.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate_bits_per_sec: Option<u64>,
}

impl Flows {
    /// A line names no more, so that it stays short.
    pub const MOST: usize = 16;

    /// These, the fastest first, and the count of those that are left out.
    pub fn of(mut all: Vec<Flow>, more: u64) -> Self {
        all.sort_by_key(|flow| std::cmp::Reverse(flow.rate_bits_per_sec));
        let left_out = all.len().saturating_sub(Self::MOST) as u64;
        all.truncate(Self::MOST);
        Self { fastest: all, more: more + left_out }
    }
}

impl Flow {
    /// A flow with this phase and rate, as far as they are known.
    pub fn new(ports: (u16, u16), phase: Option<&str>, rate: Option<Rate>) -> Self {
        let (local_port, remote_port) = ports;
        let rate_bits_per_sec = rate.map(Rate::bits_per_sec);
        Self { local_port, remote_port, phase: phase.map(str::to_owned), rate_bits_per_sec }
    }
}

impl Line {
    /// The line of an estimate that was made at this time.
    pub fn of(number: u64, modem: &str, now: HostInstant, said: &LinkEstimate) -> Self {
        let rate = said.known_rate();
        let age = Some(said.age).filter(|age| *age != Duration::MAX);
        Self {
            number,
            modem: modem.into(),
            direction: said.direction.to_string(),
            made_at_ns: now.as_nanos(),
            advice_bits_per_sec: None,
            advice_cause: None,
            rate_bits_per_sec: rate.map(Rate::bits_per_sec),
            bound: said.known_bound().map(|bound| bound.to_string()),
            state: said.known_state().map(|state| state.to_string()),
            source: rate.map(|_| said.source.to_string()),
            age_ms: age.map(ms),
            valid_for_ms: ms(said.valid_for),
            backlog_bytes: said.backlog.filter(|_| rate.is_some()).map(Bytes::count),
            users: said.known_fair().map(|fair| fair.users),
            flows: None,
            delays: None,
        }
    }

    /// The same with this advice.
    #[must_use]
    pub fn advising(mut self, advice: Option<Advice>) -> Self {
        self.advice_bits_per_sec = advice.map(|advice| advice.rate.bits_per_sec());
        self.advice_cause = advice.map(|advice| advice.cause.to_string());
        self
    }

    /// The same with these flows.
    #[must_use]
    pub fn with_flows(self, flows: Option<Flows>) -> Self {
        Self { flows, ..self }
    }

    /// The same with these delays.
    #[must_use]
    pub fn with_delays(self, delays: Option<Delays>) -> Self {
        Self { delays, ..self }
    }

    /// Whether another line says the same, but for its number and times.
    pub fn says_as(&self, other: &Self) -> bool {
        let age_ms = self.age_ms.map(|age| other.age_ms.unwrap_or(age));
        let Self { number, made_at_ns, .. } = *other;
        Self { number, made_at_ns, age_ms, ..self.clone() } == *other
    }

    /// Its text, with the line's end.
    pub fn text(&self) -> Arc<[u8]> {
        text(self)
    }

    /// Whether its rate and advice may be used at this time: until they are older than
    /// they may be.
    pub fn is_valid(&self, now: HostInstant) -> bool {
        self.age_ms_at(now).unwrap_or_else(|| ms(self.since(now))) <= self.valid_for_ms
    }

    /// Time since the newest record behind the rate came, at this time, in milliseconds.
    pub fn age_ms_at(&self, now: HostInstant) -> Option<f64> {
        Some(self.age_ms? + ms(self.since(now)))
    }

    fn since(&self, now: HostInstant) -> Duration {
        now - HostInstant::from_nanos(self.made_at_ns)
    }

    /// The direction, if it is one.
    pub fn way(&self) -> Option<Direction> {
        Direction::ALL.iter().copied().find(|way| way.to_string() == self.direction)
    }
}

fn ms(time: Duration) -> f64 {
    time.as_micros() as f64 / 1e3
}

/// One line of JSON.
pub(crate) fn text(value: &impl Serialize) -> Arc<[u8]> {
    let mut text = serde_json::to_vec(value).unwrap_or_default();
    text.push(b'\n');
    text.into()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use sounding_estimate::{Bound, Source, State};

    use super::*;
    use crate::Cause;

    fn estimate() -> LinkEstimate {
        let rate = Rate::from_bits_per_sec(9_000_000);
        LinkEstimate::new(Direction::Uplink, rate, Bound::Capacity)
            .with_age(Duration::from_micros(12_300))
            .with_backlog(Some(Bytes::new(700)))
    }

    fn line(said: &LinkEstimate) -> String {
        let line = Line::of(7, "wan", HostInstant::from_nanos(5), said);
        serde_json::to_string(&line).unwrap()
    }

    #[test]
    fn a_line_has_what_is_known_with_its_units() {
        assert_eq!(
            line(&estimate()),
            r#"{"number":7,"modem":"wan","direction":"uplink","made_at_ns":5,"rate_bits_per_sec":9000000,"#
                .to_owned()
                + r#""bound":"capacity","state":"active","source":"grants","age_ms":12.3,"valid_for_ms":200.0,"backlog_bytes":700}"#
        );
    }

    #[test]
    fn an_unknown_rate_is_absent_and_never_zero() {
        let unknown = estimate().with_source(Source::None).with_state(State::Stale);
        let text = line(&unknown.with_age(Duration::MAX));
        assert!(!text.contains("rate_bits") && !text.contains("age_ms"), "{text}");
        assert!(!text.contains("bound") && text.contains(r#""state":"stale""#), "{text}");
    }

    #[test]
    fn a_reader_of_this_version_survives_fields_that_it_does_not_know() {
        let text = line(&estimate()).replacen('{', r#"{"new":[1],"#, 1);
        let line: Line = serde_json::from_str(&text).unwrap();
        assert_eq!((line.number, line.way()), (7, Some(Direction::Uplink)));
    }

    #[test]
    fn a_line_with_as_many_flows_as_it_may_have_is_short_enough_for_readers() {
        let flow = |port| {
            let rate = Rate::from_bits_per_sec(u64::MAX - u64::from(port));
            Flow::new((u16::MAX - port, u16::MAX), Some("bottleneck-elsewhere"), Some(rate))
        };
        let flows = Flows::of((0..100).map(flow).collect(), 7);
        assert_eq!((flows.fastest.len(), flows.more), (Flows::MOST, 91));
        assert_eq!(flows.fastest[0], flow(0), "the fastest is first");
        let now = HostInstant::from_nanos(u64::MAX);
        let line = Line::of(u64::MAX, &"w".repeat(64), now, &estimate()).with_flows(Some(flows));
        assert!(line.text().len() as u64 + 512 < crate::reader::LONGEST, "{}", line.text().len());
    }

    #[test]
    fn a_line_differs_by_its_contents_and_not_by_its_time() {
        let of = |number, at, said: &LinkEstimate| {
            Line::of(number, "wan", HostInstant::from_nanos(at), said)
        };
        let one = of(1, 5, &estimate());
        assert!(one.says_as(&of(2, 9, &estimate().with_age(Duration::from_millis(20)))));
        let advice = Advice { rate: Rate::from_bits_per_sec(1), cause: Cause::Trying };
        assert!(!one.says_as(&one.clone().advising(Some(advice))));
    }
}
