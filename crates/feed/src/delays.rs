//! The radio's own delays, in lines.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};
use sounding_estimate::delay::RanDelay;

/// Newly known events of a line's modem and direction. A later one of the same kind and begin
/// replaces an earlier one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Delays {
    /// The number of the first event. Events of a modem's direction are counted from 1, so a reader
    /// sees how many it missed.
    pub first: u64,
    /// Events in the order in which records showed them, up to [`Delays::MOST`].
    pub events: Vec<DelayEvent>,
}

impl Delays {
    /// A line has no more, so that it stays short. The next line has the others.
    pub const MOST: usize = 12;
}

/// A delay that the radio made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct DelayEvent {
    /// Its cause: `harq`, `scheduling` or `rlc`.
    pub kind: String,
    /// Its begin, by the host's CLOCK_MONOTONIC.
    pub from_ns: u64,
    /// Its end, by the same clock.
    pub to_ns: u64,
    /// The part of the time between begin and end that no queue made.
    pub amount_ns: u64,
    /// Time from the end until the record came that shows it.
    pub age_ns: u64,
    /// `decoded` or `inferred`.
    pub confidence: String,
}

impl From<&RanDelay> for DelayEvent {
    fn from(event: &RanDelay) -> Self {
        let ns = |span: std::time::Duration| u64::try_from(span.as_nanos()).unwrap_or(u64::MAX);
        Self {
            kind: event.kind.to_string(),
            from_ns: event.from.as_nanos(),
            to_ns: event.to.as_nanos(),
            amount_ns: ns(event.amount),
            age_ns: ns(event.age),
            confidence: event.confidence.to_string(),
        }
    }
}

/// Events of one direction that wait for the next lines.
#[derive(Debug, Default)]
pub struct DelayQueue {
    waiting: VecDeque<DelayEvent>,
    /// Events that came before those that wait.
    before: u64,
}

/// So many events wait at most; the oldest are dropped.
const WAITING: usize = 256;

impl DelayQueue {
    /// A new event.
    pub fn handle_event(&mut self, event: &RanDelay) {
        self.waiting.push_back(event.into());
        if self.waiting.len() > WAITING {
            self.waiting.pop_front();
            self.before += 1;
        }
    }

    /// Whether no event waits.
    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// The events for a line; `None` if none waits.
    pub fn poll(&mut self) -> Option<Delays> {
        let count = self.waiting.len().min(Delays::MOST);
        let events: Vec<_> = self.waiting.drain(..count).collect();
        let first = self.before + 1;
        self.before += events.len() as u64;
        (!events.is_empty()).then_some(Delays { first, events })
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use sounding_estimate::delay::DelayKind;
    use sounding_estimate::{Bound, Direction, LinkEstimate};
    use sounding_units::{HostInstant, Rate};

    use super::*;
    use crate::{Flow, Flows, Line};

    fn event(number: u64) -> RanDelay {
        let from = HostInstant::from_nanos(u64::MAX / 2 + number);
        let to = from + Duration::from_millis(80);
        RanDelay::new(Direction::Uplink, DelayKind::Scheduling, from, to)
    }

    #[test]
    fn numbers_show_events_that_a_reader_misses() {
        let mut queue = DelayQueue::default();
        assert_eq!(queue.poll(), None);
        (0..300).for_each(|number| queue.handle_event(&event(number)));
        // The oldest 44 of them had no room.
        let lines: Vec<_> = std::iter::from_fn(|| queue.poll()).collect();
        assert_eq!((lines[0].first, lines[0].events[0].clone()), (45, (&event(44)).into()));
        assert_eq!(lines[1].first, 45 + Delays::MOST as u64);
        assert_eq!(lines.iter().map(|line| line.events.len()).sum::<usize>(), WAITING);
        queue.handle_event(&event(300));
        assert_eq!(queue.poll().map(|delays| delays.first), Some(301));
    }

    #[test]
    fn the_longest_line_is_one_that_readers_take() {
        let mut queue = DelayQueue::default();
        (0..20).for_each(|number| queue.handle_event(&event(number)));
        let rate = Rate::from_bits_per_sec(100_000_000_000);
        let flow = || Flow::new((65_535, 65_535), Some("radio-limited"), Some(rate));
        let flows = Flows::of((0..20).map(|_| flow()).collect(), u64::MAX / 2);
        let said = LinkEstimate::new(Direction::Uplink, rate, Bound::Capacity);
        let name = "m".repeat(64);
        let line = Line::of(u64::MAX, &name, HostInstant::from_nanos(u64::MAX), &said);
        let line = line.with_flows(Some(flows)).with_delays(queue.poll());
        assert!((line.text().len() as u64) < crate::reader::LONGEST, "{}", line.text().len());
    }
}
