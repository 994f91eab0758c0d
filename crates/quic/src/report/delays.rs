//! The radio's own delays behind a report.
//!
//! ```text
//!  0                   1                   2                   3
//!  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//! +---------------+---------------+-------------------------------+
//! |  version = 1  | events, to 64 | interval, ms  | zero, ignored |
//! +---------------+---------------+-------------------------------+
//! |  since the modem's newest record, when the report was sent, us|
//! +---------------------------------------------------------------+
//! |                                                               |
//! +            when it was sent, the reporter's clock, us         +
//! |                                                               |
//! +---------------------------------------------------------------+
//! |      events of the uplink are known up to so long before, us  |
//! +---------------------------------------------------------------+
//! |      the same of the downlink; all ones: nothing is known     |
//! +---------------------------------------------------------------+
//! |            an event's begin, so long before, us               |
//! +---------------------------------------------------------------+
//! |            its end, us                                        |
//! +---------------------------------------------------------------+
//! |            the radio's part of it, us                         |
//! +---------------+---------------+---------------+---------------+
//! |   direction   |      kind     |   confidence  |    age, ms    |
//! +---------------+---------------+---------------+---------------+
//! ```
//!
//! It begins with byte 44 of a report. The interval is that between two reports of the buffer's
//! status; zero, which earlier versions write, is an unknown one, and 255 is that or more. The last
//! sixteen bytes are there for each event. The clock is that of the same end's receive times. Of
//! another version, or cut off, nothing of it is used, and the report is read without it.

use std::collections::VecDeque;
use std::time::Duration;

use sounding_estimate::{Confidence, DelayKind, DelayUpdate, RanDelay};
use sounding_kpi::Direction;
use sounding_units::HostInstant;

use super::{Report, code, micros, number};
use crate::EstimateHandle;

const VERSION: u8 = 1;
const HEADER: usize = 24;
const EVENT: usize = 16;
/// New events of a report: each is in two, so that the loss of one costs nothing.
const NEW: usize = 32;
/// Events that wait for a report; of more, the oldest are dropped.
const WAITING: usize = 512;
const UNKNOWN: u32 = u32::MAX;

/// Events as they are sent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Delays {
    /// On the reporter's clock. When its modem was heard is only in `age`.
    update: DelayUpdate,
    /// Since the modem's newest record.
    age: Duration,
}

impl Delays {
    fn emit(&self, now: HostInstant, into: &mut Vec<u8>) {
        let before = |at: HostInstant| micros(now - at).to_be_bytes();
        let until = |at: Option<HostInstant>| at.map_or(UNKNOWN.to_be_bytes(), before);
        let DelayUpdate { events, up_until, down_until, report_interval, .. } = &self.update;
        let interval = report_interval.unwrap_or_default().as_millis();
        let interval = u8::try_from(interval).unwrap_or(u8::MAX);
        into.extend([VERSION, events.len() as u8, interval, 0]);
        into.extend(micros(self.age).to_be_bytes());
        into.extend((now.as_nanos() / 1000).to_be_bytes());
        into.extend(until(*up_until));
        into.extend(until(*down_until));
        for event in events {
            into.extend(before(event.from));
            into.extend(before(event.to));
            into.extend(micros(event.amount).to_be_bytes());
            into.extend([
                code(Direction::ALL, event.direction),
                code(DelayKind::ALL, event.kind),
                code(Confidence::ALL, event.confidence),
                u8::try_from(event.age.as_millis()).unwrap_or(u8::MAX),
            ]);
        }
    }

    /// What follows a report, if all of it is there.
    pub(super) fn parse(datagram: &[u8]) -> Option<Self> {
        let (header, rest) = datagram.get(Report::LENGTH..)?.split_first_chunk::<HEADER>()?;
        let count = usize::from(header[1]);
        if header[0] != VERSION || count > 2 * NEW {
            return None;
        }
        let rest = rest.get(..count * EVENT)?;
        let sent = Duration::from_micros(number(header, 8..16));
        let sent = HostInstant::default() + sent;
        let before = |bytes: &[u8], at: usize| {
            sent.saturating_before(Duration::from_micros(number(bytes, at..at + 4)))
        };
        let until = |at: usize| {
            (number(header, at..at + 4) != u64::from(UNKNOWN)).then(|| before(header, at))
        };
        // One that means nothing is left out.
        let event = |bytes: &[u8]| {
            let (from, to) = (before(bytes, 0), before(bytes, 4));
            let amount = Duration::from_micros(number(bytes, 8..12));
            let direction = *Direction::ALL.get(usize::from(bytes[12]))?;
            let kind = *DelayKind::ALL.get(usize::from(bytes[13]))?;
            let event = RanDelay::new(direction, kind, from, to)
                .with_amount(amount)
                .with_age(Duration::from_millis(bytes[15].into()))
                .with_confidence(*Confidence::ALL.get(usize::from(bytes[14]))?);
            (from <= to && amount <= to - from).then_some(event)
        };
        let events = rest.chunks_exact(EVENT).filter_map(event).collect();
        let interval = Duration::from_millis(header[2].into());
        let update = DelayUpdate::default()
            .with_events(events)
            .with_up_until(until(16))
            .with_down_until(until(20))
            .with_report_interval(Some(interval).filter(|interval| !interval.is_zero()));
        Some(Self { update, age: Duration::from_micros(number(header, 4..8)) })
    }

    /// What a report that arrived at `now` says. Its way is no silence of the modem.
    pub(super) fn arrived(self, now: HostInstant) -> DelayUpdate {
        self.update.with_heard_at(now.saturating_before(self.age))
    }
}

/// Makes the reports of one connection: the estimate of a handle, and the delays of this device's
/// radio if the handle has them.
///
/// Each event is in two reports. Chosen: to be sent every 5 to 10 ms.
#[derive(Debug)]
pub struct Reporter {
    handle: EstimateHandle,
    sequence: u32,
    next: u64,
    waiting: VecDeque<RanDelay>,
    last: Vec<RanDelay>,
}

impl Reporter {
    /// Of this handle.
    pub fn new(handle: EstimateHandle) -> Self {
        Self { handle, sequence: 0, next: 0, waiting: VecDeque::new(), last: Vec::new() }
    }

    /// The next datagram, if the handle was ever set: 44 bytes, or at most 1092 with delays.
    pub fn poll_datagram(&mut self, now: HostInstant) -> Option<Vec<u8>> {
        let estimate = self.handle.estimate(now)?;
        let mut datagram = Report::new(self.sequence, estimate).emit().to_vec();
        self.sequence = self.sequence.wrapping_add(1);
        if let Some((own, next)) = self.handle.own_delays(self.next) {
            self.next = next;
            self.waiting.extend(own.events);
            let over = self.waiting.len().saturating_sub(WAITING);
            self.waiting.drain(..over);
            let new = self.waiting.len().min(NEW);
            let new: Vec<RanDelay> = self.waiting.drain(..new).collect();
            let events = [std::mem::replace(&mut self.last, new.clone()), new].concat();
            // The peer does not know the waiting events yet.
            let first = |direction| {
                let waits = self.waiting.iter().filter(|event| event.direction == direction);
                waits.map(|event| event.from).min()
            };
            let known = |until: Option<HostInstant>, direction| {
                until.map(|until| first(direction).map_or(until, |first| until.min(first)))
            };
            let update = DelayUpdate::default()
                .with_events(events)
                .with_up_until(known(own.up_until, Direction::Uplink))
                .with_down_until(known(own.down_until, Direction::Downlink))
                .with_report_interval(own.report_interval);
            Delays { update, age: now - own.heard_at }.emit(now, &mut datagram);
        }
        Some(datagram)
    }
}

#[cfg(test)]
mod tests;
