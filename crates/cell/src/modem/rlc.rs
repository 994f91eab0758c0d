//! RLC as a modem logs it: headers and status PDUs, bit by bit.

use alloc::vec::Vec;
use core::time::Duration;

use sounding_units::HostInstant;

use crate::bearer::{Pdu, Status};

/// The modem's state of one direction of its bearer.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Window {
    /// One past the highest sequence number that was sent (uplink) or that arrived (downlink).
    pub(super) next: u32,
    /// One past the highest that arrived.
    pub(super) arrived: u32,
}

impl Window {
    pub(super) fn handle_sent(&mut self, pdu: &Pdu) {
        self.next = self.next.max(pdu.sn + 1);
    }

    pub(super) fn handle_arrived(&mut self, pdu: &Pdu) {
        self.handle_sent(pdu);
        self.arrived = self.arrived.max(pdu.sn + 1);
    }
}

/// Bits, the highest of each byte first.
#[derive(Debug, Default)]
struct Bits {
    bytes: Vec<u8>,
    used: u32,
}

impl Bits {
    fn put(&mut self, number: u32, count: u32) {
        for at in (0..count).rev() {
            if self.used.is_multiple_of(8) {
                self.bytes.push(0);
            }
            if let Some(last) = self.bytes.last_mut() {
                *last |= ((number >> at & 1) as u8) << (7 - self.used % 8);
            }
            self.used += 1;
        }
    }
}

/// The header of an LTE data PDU with a ten-bit number, or of a part of one (TS 36.322 §6.2.1.4,
/// §6.2.1.5). Lengths are those of packets with their share of the headers that the bearer counts.
/// Of more than 22 the rest is left out, as by modems.
pub(super) fn lte_header(pdu: &Pdu) -> Vec<u8> {
    /// A length has eleven bits. A longer part of a packet can only be the last.
    const LONGEST: u16 = 2_047;
    let framing = &pdu.framing;
    let lengths = || framing.lengths().iter().take_while(|length| **length <= LONGEST);
    let count = lengths().count();
    let mut bits = Bits::default();
    bits.put(1, 1);
    bits.put(framing.part.is_some().into(), 1);
    bits.put(pdu.poll.into(), 1);
    bits.put(framing.begins_within.into(), 1);
    bits.put(framing.ends_within.into(), 1);
    bits.put((count > 0).into(), 1);
    bits.put(pdu.sn % 1024, 10);
    if let Some((offset, is_last)) = framing.part {
        bits.put(is_last.into(), 1);
        bits.put(u32::from(offset) & 0x7FFF, 15);
    }
    for (at, length) in lengths().enumerate() {
        bits.put((at + 1 < count).into(), 1);
        bits.put((*length).into(), 11);
    }
    bits.bytes
}

/// An LTE status PDU (TS 36.322 §6.2.1.6).
pub(super) fn lte_status(window: &Window, status: &Status) -> Vec<u8> {
    let mut bits = Bits::default();
    let nacks = &status.nack_sns;
    bits.put(0, 4);
    bits.put(window.arrived % 1024, 10);
    bits.put((!nacks.is_empty()).into(), 1);
    for (at, sn) in nacks.iter().enumerate() {
        bits.put(sn % 1024, 10);
        bits.put((at + 1 < nacks.len()).into(), 1);
        bits.put(0, 1);
    }
    bits.bytes
}

/// An NR status PDU with 18-bit numbers (TS 38.322 §6.2.2.5).
pub(super) fn nr_status(window: &Window, status: &Status) -> Vec<u8> {
    let mut bits = Bits::default();
    let nacks = &status.nack_sns;
    bits.put(0, 4);
    bits.put(window.arrived % (1 << 18), 18);
    bits.put((!nacks.is_empty()).into(), 1);
    bits.put(0, 1);
    for (at, sn) in nacks.iter().enumerate() {
        bits.put(sn % (1 << 18), 18);
        bits.put((at + 1 < nacks.len()).into(), 1);
        bits.put(0, 5);
    }
    bits.bytes
}

/// The uplink backlog, as known from buffer status reports and blocks.
#[derive(Clone, Debug, Default)]
pub(super) struct Waiting {
    now: u64,
    /// Its changes since the last record: time and new value.
    changes: Vec<(HostInstant, u64)>,
}

impl Waiting {
    pub(super) fn handle_report(&mut self, at: HostInstant, waiting: u64) {
        self.change(at, waiting);
    }

    pub(super) fn handle_sent(&mut self, at: HostInstant, bytes: u64) {
        self.change(at, self.now.saturating_sub(bytes));
    }

    fn change(&mut self, at: HostInstant, waiting: u64) {
        if self.now != waiting {
            self.changes.push((at, self.now));
            self.now = waiting;
        }
    }

    /// The backlog at each of the `count` milliseconds before `end`. Deletes the changes.
    pub(super) fn samples(&mut self, end: HostInstant, count: u32) -> Vec<(HostInstant, u64)> {
        let changes = core::mem::take(&mut self.changes);
        let at = |back: u32| {
            let at = HostInstant::from_nanos(
                end.as_nanos().saturating_sub(Duration::from_millis(back.into()).as_nanos() as u64),
            );
            let later = changes.iter().find(|(from, _)| *from > at);
            (at, later.map_or(self.now, |(_, before)| *before))
        };
        (1..=count).rev().map(at).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::byte_range::ByteRange;
    use sounding_diag::rlc_nr::StatusPdu;

    #[test]
    fn a_status_says_what_arrived_and_what_did_not() {
        let nacks =
            [ByteRange { from: 0, to: 9 }, ByteRange { from: 20, to: 30 }].into_iter().collect();
        let status = Status { edge: 0, nacks, nack_sns: [1026, 1030].into_iter().collect() };
        let window = Window { next: 1040, arrived: 1033 };
        // D/C 0, CPT 000, ACK_SN 9, E1; 2, E1, E2; 6, E1, E2.
        let bits: u64 = 9 << 50 | 1 << 49 | 2 << 39 | 1 << 38 | 6 << 27;
        assert_eq!(lte_status(&window, &status), bits.to_be_bytes()[..5]);
        let bytes = nr_status(&window, &status);
        let read = StatusPdu::new(&bytes, true);
        assert_eq!(read.ack_sn(), Some(1033));
        assert_eq!(read.nacks().map(|nack| nack.sn).collect::<Vec<_>>(), [1026, 1030]);
    }

    #[test]
    fn what_waited_is_known_for_every_millisecond() {
        let at = |ms| HostInstant::from_nanos(0) + Duration::from_millis(ms);
        let mut waiting = Waiting::default();
        waiting.handle_report(at(2), 500);
        waiting.handle_sent(at(4), 200);
        let found: Vec<u64> =
            waiting.samples(at(6), 5).into_iter().map(|(_, bytes)| bytes).collect();
        assert_eq!(found, [0, 500, 500, 300, 300]);
        assert_eq!(waiting.samples(at(8), 1), [(at(7), 300)]);
    }
}
