//! The last minute and the last hour of a modem's direction, as rings of bounded size.

use std::collections::VecDeque;

use serde_json::{Value as Json, json};
use sounding_feed::{Cause, Line};

/// Points of a ring.
const POINTS: usize = 300;

/// The words of lines. A point has their indices.
pub(crate) const BOUNDS: [&str; 2] = ["capacity", "floor"];
pub(crate) const STATES: [&str; 5] = ["active", "idle", "handover", "silent", "stale"];

/// How far back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Span {
    Minute,
    Hour,
}

impl Span {
    pub(crate) fn named(name: &str) -> Option<Self> {
        [Self::Minute, Self::Hour].into_iter().find(|span| span.name() == name)
    }

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Minute => "minute",
            Self::Hour => "hour",
        }
    }

    /// The time between two points.
    pub(crate) const fn step_ms(self) -> u64 {
        match self {
            Self::Minute => 200,
            Self::Hour => 12_000,
        }
    }
}

/// A line of the feed, and what was set and carried then.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Point {
    number: u64,
    made_at_ms: u64,
    rate: Option<u64>,
    advice: Option<u64>,
    backlog: Option<u64>,
    age_ms: Option<f64>,
    set: Option<u64>,
    sent: Option<u64>,
    bound: Option<u8>,
    state: Option<u8>,
    cause: Option<u8>,
}

fn index(words: impl IntoIterator<Item = &'static str>, word: Option<&str>) -> Option<u8> {
    let at = words.into_iter().position(|known| Some(known) == word)?;
    u8::try_from(at).ok()
}

impl Point {
    fn of(line: &Line, set: Option<u64>, sent: Option<u64>) -> Self {
        Self {
            number: line.number,
            made_at_ms: line.made_at_ns / 1_000_000,
            rate: line.rate_bits_per_sec,
            advice: line.advice_bits_per_sec,
            backlog: line.backlog_bytes,
            age_ms: line.age_ms,
            set,
            sent,
            bound: index(BOUNDS, line.bound.as_deref()),
            state: index(STATES, line.state.as_deref()),
            cause: index(Cause::ALL.map(Cause::name), line.advice_cause.as_deref()),
        }
    }
}

/// Points at equal steps. Each is the last line of its step.
#[derive(Debug)]
pub(crate) struct Ring {
    span: Span,
    points: VecDeque<Point>,
}

impl Ring {
    pub(crate) const fn new(span: Span) -> Self {
        Self { span, points: VecDeque::new() }
    }

    pub(crate) fn push(&mut self, line: &Line, set: Option<u64>, sent: Option<u64>) {
        let point = Point::of(line, set, sent);
        let step = |point: &Point| point.made_at_ms / self.span.step_ms();
        match self.points.back_mut() {
            Some(last) if step(last) == step(&point) => *last = point,
            _ => {
                if self.points.len() == POINTS {
                    self.points.pop_front();
                }
                self.points.push_back(point);
            }
        }
    }

    /// Its columns. An unknown value is null.
    pub(crate) fn columns(&self) -> Json {
        fn column<T: Into<Json>>(ring: &Ring, of: impl Fn(&Point) -> T) -> Json {
            ring.points.iter().map(|point| of(point).into()).collect()
        }
        json!({
            "number": column(self, |point| point.number),
            "made_at_ms": column(self, |point| point.made_at_ms),
            "rate_bits_per_sec": column(self, |point| point.rate),
            "advice_bits_per_sec": column(self, |point| point.advice),
            "backlog_bytes": column(self, |point| point.backlog),
            "age_ms": column(self, |point| point.age_ms),
            "set_bits_per_sec": column(self, |point| point.set),
            "carried_bits_per_sec": column(self, |point| point.sent),
            "bound": column(self, |point| point.bound),
            "state": column(self, |point| point.state),
            "advice_cause": column(self, |point| point.cause),
        })
    }
}

/// The words that columns have indices of.
pub(crate) fn words() -> Json {
    json!({ "bound": BOUNDS, "state": STATES, "advice_cause": Cause::ALL.map(Cause::name) })
}

#[cfg(test)]
pub(crate) mod tests {
    use sounding_estimate::{Bound, Direction, LinkEstimate, State};
    use sounding_units::{HostInstant, Rate};

    use super::*;

    pub(crate) fn line(number: u64, at_ms: u64) -> Line {
        let rate = Rate::from_bits_per_sec(1_000_000 + number);
        let said = LinkEstimate::new(Direction::Uplink, rate, Bound::Floor);
        Line::of(number, "wan", HostInstant::from_nanos(at_ms * 1_000_000), &said)
    }

    #[test]
    fn a_ring_has_the_last_line_of_each_step_and_bounded_size() {
        let mut ring = Ring::new(Span::Minute);
        for number in 1..=100_000 {
            ring.push(&line(number, number * 100), None, Some(7));
        }
        let columns = ring.columns();
        let numbers: Vec<u64> = serde_json::from_value(columns["number"].clone()).unwrap();
        assert_eq!(numbers.len(), POINTS);
        assert!(numbers.windows(2).all(|pair| pair[1] - pair[0] <= 2), "{numbers:?}");
        assert_eq!(numbers.last(), Some(&100_000));
        assert_eq!(columns["rate_bits_per_sec"][POINTS - 1], 1_100_000);
        assert_eq!(columns["set_bits_per_sec"][0], Json::Null);
        assert_eq!(columns["bound"][0], 1);
        assert!(columns.to_string().len() < 30 * 1024, "{}", columns.to_string().len());
    }

    #[test]
    fn the_words_are_those_of_estimates() {
        let states = State::ALL.iter().map(ToString::to_string).collect::<Vec<_>>();
        assert_eq!(states, STATES);
        let bounds = Bound::ALL.iter().map(ToString::to_string).collect::<Vec<_>>();
        assert_eq!(bounds, BOUNDS);
    }
}
