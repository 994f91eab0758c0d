//! PDUs of RLC and the status reports about them: 0xB082, 0xB083, 0xB092 of LTE, 0xB84E, 0xB857,
//! 0xB869, 0xB870 of NR (Gandalf §B.3.2).

use alloc::vec::Vec;

use sounding_diag::layout::{Sink, Value};
use sounding_diag::radio::{Slot, Tti};
use sounding_diag::record::{self, RecordError};
use sounding_diag::{LogCode, LogRecord};
use sounding_units::ModemInstant;

use super::air::Air;
use super::{Dates, nr};
use crate::{Direction, RlcPart, RlcPdu};

/// Log codes with PDUs of RLC, and of each the direction of its data PDUs.
const CODES: [(u16, Direction); 7] = [
    (0xB082, Direction::Downlink),
    (0xB083, Direction::Downlink),
    (0xB092, Direction::Uplink),
    (0xB84E, Direction::Downlink),
    (0xB857, Direction::Downlink),
    (0xB869, Direction::Uplink),
    (0xB870, Direction::Uplink),
];
/// The first log code of NR.
const NR: u16 = 0xB800;
/// LTE's configurations of bearers from this number on are those of signalling, whose PDUs hold no
/// packets. Records 0xB091 of captures name 33 and 34 the first two signalling bearers, and 1 to 3
/// data bearers.
const SIGNALLING: u64 = 33;
/// NR's logical channels of data and signalling bearers (TS 38.321 Table 6.2.1-1); the first three
/// are signalling's.
const CHANNELS: core::ops::RangeInclusive<u64> = 4..=32;
/// The end of a PDU in a status: all ones (TS 36.322 §6.2.2.16, TS 38.322 §6.2.3.16).
const LTE_END: u64 = 0x7FFF;
const NR_END: u64 = 0xFFFF;
/// Half of the subframes after which frame numbers begin anew.
const HALF_A_TURN: u16 = 5_120;
/// Data, not control (TS 38.322 §6.2.3.3); and the two bits of the segmentation info.
const IS_DATA: u64 = 1 << 5;
const SEGMENTATION: u64 = 0b1100;

/// Whether records of this code have PDUs.
pub(super) fn is_read(code: LogCode) -> bool {
    CODES.iter().any(|(known, _)| *known == code.number())
}

/// Reads the PDUs of a record; whether its code is one that has any.
pub(super) fn pdus(
    log: &LogRecord<'_>,
    lte: &mut Air,
    frames: &mut nr::Frames,
    sink: &mut impl FnMut(RlcPdu),
) -> Result<bool, RecordError> {
    let code = log.code.number();
    let Some((_, direction)) = CODES.into_iter().find(|(known, _)| *known == code) else {
        return Ok(false);
    };
    let is_nr = code >= NR;
    // Records that do not say how long numbers are: NR's downlink data is read with 18 bits.
    let mut found = Found { is_nr, sn_bits: if is_nr { 18 } else { 10 }, ..Found::default() };
    record::decode(log, &mut found)?;
    let other = match direction {
        Direction::Downlink => Direction::Uplink,
        Direction::Uplink => Direction::Downlink,
    };
    let dates = if found.is_nr { found.slots(log, frames) } else { found.subframes(log, lte) };
    for (fact, at) in found.facts.iter().zip(dates) {
        sink(RlcPdu {
            at,
            direction: if fact.is_asked { other } else { direction },
            nr: found.is_nr,
            bearer: fact.bearer,
            sn: fact.sn,
            sn_bits: fact.sn_bits,
            part: fact.part,
            is_asked: fact.is_asked,
        });
    }
    Ok(true)
}

/// A PDU, dated by its frame and its subframe or slot.
#[derive(Clone, Copy, Debug)]
struct Fact {
    frame: u16,
    slot: u16,
    bearer: Option<u8>,
    sn: u32,
    sn_bits: u8,
    part: RlcPart,
    is_asked: bool,
}

/// Fields of the item that is open, until it ends.
#[derive(Clone, Copy, Debug, Default)]
struct Open {
    sn: Option<u64>,
    is_segment: bool,
    is_last: bool,
    begin: u64,
    end: Option<u64>,
    lengths: u64,
    pdu_bytes: u64,
    flags: u64,
    range: u64,
    /// Of NR's uplink: the number of PDUs, and the last one's number as on the air.
    count: u64,
    last_sn: u64,
}

/// Picks PDUs out of a record, by the names of lists and fields.
#[derive(Debug, Default)]
struct Found {
    is_nr: bool,
    lists: Vec<&'static str>,
    frame: u16,
    slot: u16,
    bearer: Option<u64>,
    sn_bits: u64,
    /// The PDU or its NACK.
    open: Open,
    facts: Vec<Fact>,
}

impl Found {
    fn subframes(&self, log: &LogRecord<'_>, air: &mut Air) -> Vec<ModemInstant> {
        let tti = |fact: &Fact| Tti::new(fact.frame, u8::try_from(fact.slot).unwrap_or(u8::MAX));
        // Sub-packets of several bearers come one after the other, each in order of time.
        let newest = self
            .facts
            .iter()
            .filter_map(tti)
            .reduce(|newest, tti| if tti.since(newest) < HALF_A_TURN { tti } else { newest });
        let dates = Dates::new(log.at, newest, air);
        self.facts.iter().map(|fact| dates.of(tti(fact))).collect()
    }

    fn slots(&self, log: &LogRecord<'_>, frames: &mut nr::Frames) -> Vec<ModemInstant> {
        let last = self.facts.iter().map(|fact| fact.slot).max().unwrap_or(0);
        let numerology = frames.numerology_for(last);
        let slot = |fact: &Fact| Slot::new(fact.frame, u8::try_from(fact.slot).ok()?, numerology);
        let newest = self.facts.iter().filter_map(slot).reduce(|newest, slot| {
            if slot.since(newest) < nr::HALF_A_CYCLE { slot } else { newest }
        });
        let dates = nr::Dates::new(log.at, newest, frames);
        self.facts.iter().map(|fact| dates.of(slot(fact))).collect()
    }

    fn say(&mut self, sn: u64, part: RlcPart, is_asked: bool) {
        self.facts.push(Fact {
            frame: self.frame,
            slot: self.slot,
            bearer: self.bearer.and_then(|bearer| u8::try_from(bearer).ok()),
            sn: sn as u32,
            sn_bits: self.sn_bits as u8,
            part,
            is_asked,
        });
    }

    fn carries_packets(&self) -> bool {
        match self.bearer {
            Some(bearer) if self.is_nr => CHANNELS.contains(&bearer),
            Some(bearer) => bearer < SIGNALLING,
            None => true,
        }
    }

    /// LTE's data PDU, or a part of one.
    fn end_lte_data(&mut self) {
        let Open { sn, is_segment, is_last, begin, lengths, pdu_bytes, .. } = self.open;
        let Some(sn) = sn else { return };
        let part = if is_segment {
            // Two octets of fixed header, two of the segment's, and twelve bits for each length (TS
            // 36.322 §6.2.1.5).
            let header = 4 + (lengths * 12).div_ceil(8);
            let to = begin + pdu_bytes.saturating_sub(header);
            RlcPart::Bytes { from: begin as u32, to: (!is_last).then_some(to as u32) }
        } else {
            RlcPart::Whole
        };
        self.say(sn, part, false);
    }

    fn end_nack(&mut self) {
        let Open { sn, is_segment, begin, end, range, .. } = self.open;
        let Some(sn) = sn else { return };
        let part = if is_segment {
            let last = if self.is_nr { NR_END } else { LTE_END };
            let to = end.filter(|end| *end != last).map(|end| end as u32 + 1);
            RlcPart::Bytes { from: begin as u32, to }
        } else {
            RlcPart::Whole
        };
        let count = 1u64 << self.sn_bits;
        for number in 0..range.max(1) {
            self.say((sn + number) % count, part, true);
        }
    }

    /// A subheader of NR's downlink.
    fn end_nr_down(&mut self) {
        let Open { sn: Some(sn), flags, .. } = self.open else { return };
        if flags & IS_DATA != 0 && self.carries_packets() {
            let is_whole = flags & SEGMENTATION == 0;
            let part = if is_whole { RlcPart::Whole } else { RlcPart::Unknown };
            self.say(sn, part, false);
        }
    }

    /// The PDUs of a channel in a block of NR's uplink. A part of a packet has the packet's number,
    /// so none is known to be whole.
    fn end_nr_up(&mut self) {
        let Open { sn: Some(first), count, last_sn, .. } = self.open else { return };
        if count == 0 || !self.carries_packets() {
            return;
        }
        let all = 1u64 << self.sn_bits;
        // A repeat is followed by numbers that are not the next.
        let is_run = self.sn_bits != 18 || (last_sn + all - first) % all == count - 1;
        if is_run {
            (0..count).for_each(|number| self.say((first + number) % all, RlcPart::Unknown, false));
        } else {
            self.say(first, RlcPart::Unknown, false);
            self.say(last_sn, RlcPart::Unknown, false);
        }
    }
}

impl Sink for Found {
    fn field(&mut self, name: &'static str, value: Value<'_>) {
        let number = match value {
            Value::Uint(number) | Value::Hex(number, _) => number,
            Value::Flag(set) => u64::from(set),
            // The length of sequence numbers is a choice of 12 and 18.
            Value::Name(0, Some("12")) => 12,
            Value::Name(1, Some("18")) => 18,
            Value::Name(number, _) => number,
            _ => return,
        };
        match name {
            "frame" => self.frame = number as u16,
            "subframe" | "slot" => self.slot = number as u16,
            "rb_config" | "channel" => self.bearer = Some(number),
            "sn_bits" | "sn_len_bits" | "rlc_sn_len_bits" if (10..=18).contains(&number) => {
                self.sn_bits = number;
            }
            "sn" | "rlc_sn" | "rlc_start_sn" => self.open.sn = Some(number),
            "segment" => self.open.is_segment = number != 0,
            "last_segment" => self.open.is_last = number != 0,
            "segment_offset" => self.open.begin = number,
            "segment_start" => (self.open.is_segment, self.open.begin) = (true, number),
            "segment_end" => self.open.end = Some(number),
            "len_bytes" if self.lists.last() == Some(&"lengths") => self.open.lengths += 1,
            "pdu_bytes" => self.open.pdu_bytes = number,
            "rlc_flags" => self.open.flags = number,
            "range" => self.open.range = number,
            "pdu_count" => self.open.count = number,
            "last_rlc_sn" => self.open.last_sn = number,
            _ => {}
        }
    }

    fn begin_list(&mut self, name: &'static str) {
        self.lists.push(name);
    }

    fn begin_item(&mut self) {
        match self.lists.last().copied().unwrap_or_default() {
            "lengths" => {}
            "sub_packets" | "blocks" => self.bearer = None,
            // Within a channel of NR's uplink, which is open.
            "pdus" if self.lists.contains(&"channels") => {}
            _ => self.open = Open::default(),
        }
    }

    fn end_item(&mut self) {
        let depth = self.lists.len();
        match self.lists.last().copied().unwrap_or_default() {
            "pdus" if !self.is_nr && self.carries_packets() => self.end_lte_data(),
            "nacks" if self.carries_packets() => self.end_nack(),
            "short" | "long" => self.end_nr_down(),
            "channels" if depth == 3 => self.end_nr_up(),
            _ => {}
        }
    }

    fn end_list(&mut self) {
        // The status around it has no number.
        if self.lists.pop() == Some("nacks") {
            self.open.sn = None;
        }
    }
}
