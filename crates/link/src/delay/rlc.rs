use alloc::collections::{BTreeMap, VecDeque};
use alloc::vec::Vec;
use core::time::Duration;

use sounding_kpi::{Direction, RlcPart, RlcPdu};
use sounding_units::ModemInstant;

use super::Event;
use super::harq::delivery;

/// Bearers that are followed, in both directions. Further ones are ignored.
const BEARERS: usize = 32;
/// Sequence numbers that are kept of a bearer: more than LTE's window (TS 36.322 §7.2). In NR as
/// many of the newest.
const NUMBERS: usize = 1_024;
/// Requests for a repeat, and repeats without one, that are kept.
const KEPT: usize = 1_024;
/// Parts of a PDU that are kept apart.
const PARTS: usize = 32;
/// A repeat that comes later has another cause: its number was used anew, and records are missing.
const LATEST: Duration = Duration::from_secs(2);
/// Parts of a repeat follow each other so closely. Chosen: they go into the next blocks.
const CLOSE: Duration = Duration::from_millis(20);
/// No status comes back sooner. Only the rest of a packet does, which in NR has the same number.
const SOONEST: Duration = Duration::from_millis(2);

/// RLC's own repeats, by bearer (Gandalf §B.3.2).
///
/// A number that comes a second time was repeated if a status asked for it in between; otherwise it
/// is a part that was cut off, a copy that crossed a status, or in the downlink one that HARQ
/// delivered out of order. Data and status come in different records, and in either order.
///
/// In the downlink a PDU that does not arrive has no time. The gap holds data. It begins when the
/// next one arrives (interpretation 12 of docs/interpretations/gandalf.md).
#[derive(Clone, Debug, Default)]
pub(super) struct Rlc {
    bearers: Vec<Bearer>,
    asked: VecDeque<Asked>,
    again: VecDeque<Again>,
    ready: VecDeque<(Direction, Event)>,
    /// The last event. PDUs of one block are repeated in one block.
    told: Option<(Direction, Event)>,
}

/// A direction of a bearer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Key {
    direction: Direction,
    is_nr: bool,
    id: Option<u8>,
}

impl Key {
    /// Some status reports name no bearer.
    fn matches(self, other: Self) -> bool {
        (self.direction, self.is_nr) == (other.direction, other.is_nr)
            && (self.id == other.id || self.id.is_none() || other.id.is_none())
    }
}

#[derive(Clone, Debug)]
struct Bearer {
    key: Key,
    numbers: Numbers,
    /// In the uplink PDUs that were sent, in the downlink those that are missing whole or in part.
    places: BTreeMap<i64, Place>,
}

#[derive(Clone, Debug)]
struct Place {
    /// The first transmission, or the begin of the gap.
    first: ModemInstant,
    /// The last one, and the one before the repeat that it belongs to.
    last: ModemInstant,
    before: ModemInstant,
    parts: Parts,
}

impl Place {
    fn new(at: ModemInstant) -> Self {
        Self { first: at, last: at, before: at, parts: Parts::default() }
    }
}

/// A status asked for a PDU.
#[derive(Clone, Copy, Debug)]
struct Asked {
    key: Key,
    sn: u32,
    at: ModemInstant,
}

/// A number came again; a repeat if it was asked for after `since`.
#[derive(Clone, Copy, Debug)]
struct Again {
    key: Key,
    sn: u32,
    from: ModemInstant,
    since: ModemInstant,
    to: ModemInstant,
}

impl Again {
    fn is_answer_to(&self, asked: &Asked) -> bool {
        self.sn == asked.sn
            && self.key.matches(asked.key)
            && self.since <= asked.at
            && asked.at <= self.to
    }
}

fn push<T>(into: &mut VecDeque<T>, value: T) {
    if into.len() == KEPT {
        into.pop_front();
    }
    into.push_back(value);
}

impl Rlc {
    /// The next event, and its direction.
    pub(super) fn poll(&mut self) -> Option<(Direction, Event)> {
        self.ready.pop_front()
    }

    /// A PDU that was on the air, or that a status asks for.
    pub(super) fn handle_pdu(&mut self, pdu: &RlcPdu) {
        let key = Key { direction: pdu.direction, is_nr: pdu.nr, id: pdu.bearer };
        let long_ago = pdu.at.saturating_before(LATEST);
        while self.asked.front().is_some_and(|asked| asked.at < long_ago) {
            self.asked.pop_front();
        }
        while self.again.front().is_some_and(|again| again.to < long_ago) {
            self.again.pop_front();
        }
        if pdu.is_asked {
            let asked = Asked { key, sn: pdu.sn, at: pdu.at };
            push(&mut self.asked, asked);
            // A repeat in parts answers it more than once.
            let answers: Vec<Again> =
                self.again.iter().filter(|again| again.is_answer_to(&asked)).copied().collect();
            self.again.retain(|again| !again.is_answer_to(&asked));
            answers.iter().for_each(|again| self.tell(again));
        } else if let Some(again) = self.bearer(key, pdu.sn_bits).and_then(|of| of.handle_data(pdu))
        {
            if self.asked.iter().any(|asked| again.is_answer_to(asked)) {
                self.tell(&again);
            } else {
                push(&mut self.again, again);
            }
        }
    }

    fn bearer(&mut self, key: Key, sn_bits: u8) -> Option<&mut Bearer> {
        let place = self.bearers.iter().position(|bearer| bearer.key == key);
        if let Some(place) = place {
            return self.bearers.get_mut(place);
        }
        if self.bearers.len() == BEARERS {
            return None;
        }
        let numbers = Numbers::new(sn_bits);
        self.bearers.push(Bearer { key, numbers, places: BTreeMap::new() });
        self.bearers.last_mut()
    }

    fn tell(&mut self, again: &Again) {
        let Again { key, from, to, .. } = *again;
        let is_down = key.direction == Direction::Downlink;
        let later = if is_down { delivery(key.is_nr) } else { Duration::ZERO };
        let event =
            Event { from: from + later, to: to + later, amount: to - from, is_decoded: is_down };
        let event = (key.direction, event);
        if self.told.replace(event) != Some(event) {
            push(&mut self.ready, event);
        }
    }
}

impl Bearer {
    fn handle_data(&mut self, pdu: &RlcPdu) -> Option<Again> {
        let (number, newest) = self.numbers.place(pdu.sn, pdu.at);
        if newest.is_none() {
            self.places.clear();
        }
        let found = if self.key.direction == Direction::Uplink {
            self.handle_sent(pdu, number)
        } else {
            self.handle_received(pdu, number, newest)
        };
        while self.places.len() > NUMBERS {
            self.places.pop_first();
        }
        let (from, since) = found?;
        let is_soon = pdu.at.saturating_before(SOONEST) < since;
        let is_late = from < pdu.at.saturating_before(LATEST);
        let again = Again { key: self.key, sn: pdu.sn, from, since, to: pdu.at };
        (!is_soon && !is_late).then_some(again)
    }

    /// From when the data of a repeat waits, and since when it was not repeated.
    fn handle_sent(&mut self, pdu: &RlcPdu, number: i64) -> Option<(ModemInstant, ModemInstant)> {
        let Some(place) = self.places.get_mut(&number) else {
            self.places.insert(number, Place::new(pdu.at));
            return None;
        };
        if pdu.at <= place.last {
            return None;
        }
        if place.last < pdu.at.saturating_before(LATEST) {
            *place = Place::new(pdu.at);
            return None;
        }
        // One request is answered by all parts of the PDU. NR's records do not say which part it
        // is.
        let is_again = place.before < place.last;
        let continues = match pdu.part {
            RlcPart::Bytes { from, .. } => from > 0,
            RlcPart::Unknown => is_again && pdu.at.saturating_before(CLOSE) <= place.last,
            RlcPart::Whole => false,
        };
        if !continues {
            place.before = place.last;
        }
        place.last = pdu.at;
        Some((place.first, place.before))
    }

    fn handle_received(
        &mut self,
        pdu: &RlcPdu,
        number: i64,
        newest: Option<i64>,
    ) -> Option<(ModemInstant, ModemInstant)> {
        let newest = newest?;
        if number > newest {
            if number - newest > NUMBERS as i64 {
                self.places.clear();
            } else {
                let missing = (newest + 1..number).map(|missing| (missing, Place::new(pdu.at)));
                self.places.extend(missing);
            }
            if pdu.part != RlcPart::Whole {
                let mut place = Place::new(pdu.at);
                place.parts.handle(pdu.part);
                self.places.insert(number, place);
            }
            return None;
        }
        let place = self.places.get_mut(&number)?;
        let first = place.first;
        match pdu.part {
            RlcPart::Whole => {
                self.places.remove(&number);
            }
            RlcPart::Unknown => {}
            RlcPart::Bytes { .. } => {
                place.parts.handle(pdu.part);
                if !place.parts.are_all() {
                    return None;
                }
                self.places.remove(&number);
            }
        }
        Some((first, first))
    }
}

/// The parts of a PDU that arrived.
#[derive(Clone, Debug, Default)]
struct Parts {
    /// In order, apart from each other.
    ranges: Vec<(u32, u32)>,
    /// Its length, from its last part on.
    end: Option<u32>,
}

impl Parts {
    fn handle(&mut self, part: RlcPart) {
        let RlcPart::Bytes { from, to } = part else { return };
        // The last part says where the PDU ends only by its own length, which is one byte at least.
        let to = to.unwrap_or(from.saturating_add(1));
        if matches!(part, RlcPart::Bytes { to: None, .. }) {
            self.end = Some(to);
        }
        let (mut low, mut high) = (from, to.max(from));
        self.ranges.retain(|(begin, end)| {
            let is_apart = *end < low || high < *begin;
            if !is_apart {
                (low, high) = (low.min(*begin), high.max(*end));
            }
            is_apart
        });
        if self.ranges.len() < PARTS {
            self.ranges.push((low, high));
        }
    }

    fn are_all(&self) -> bool {
        let end = self.end;
        end.is_some_and(|end| self.ranges.iter().any(|(low, high)| *low == 0 && *high >= end))
    }
}

/// Sequence numbers without their wrap.
#[derive(Clone, Copy, Debug)]
struct Numbers {
    count: i64,
    /// The newest, and when it came.
    newest: Option<(i64, ModemInstant)>,
}

impl Numbers {
    /// Numbers have 10 bits or 16 in LTE (TS 36.322 §6.2.2.3), 12 or 18 in NR (TS 38.322 §6.2.3.3).
    fn new(bits: u8) -> Self {
        Self { count: 1 << bits.clamp(5, 18), newest: None }
    }

    /// The place of a number among all, and the newest before it; `None` if numbers begin with it.
    ///
    /// RLC that is re-established begins with zero, and not every log has the message. Then nothing
    /// is newer for a while.
    fn place(&mut self, sn: u32, at: ModemInstant) -> (i64, Option<i64>) {
        let sn = i64::from(sn) % self.count;
        if let Some((newest, since)) = self.newest {
            let ahead = (sn - newest).rem_euclid(self.count);
            if ahead > 0 && ahead < self.count / 2 {
                self.newest = Some((newest + ahead, at.max(since)));
                return (newest + ahead, Some(newest));
            }
            if at.saturating_before(LATEST) <= since {
                let back = if ahead == 0 { 0 } else { self.count - ahead };
                return (newest - back, Some(newest));
            }
        }
        self.newest = Some((sn, at));
        (sn, None)
    }
}

#[cfg(test)]
mod tests;
