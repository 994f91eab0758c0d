use std::ops::Range;
use std::time::Duration;

use sounding_diag::LogCode;
use sounding_diag::hdlc::Deframer;
use sounding_diag::packet::{MULTI_RADIO, Packet};
use sounding_units::ModemInstant;

use crate::pacing::ReplayClock;

/// The log records of a capture, and when each is made.
#[derive(Clone, Debug, Default)]
pub struct Script {
    payloads: Vec<u8>,
    records: Vec<Scripted>,
    first: ModemInstant,
}

/// One record.
#[derive(Clone, Debug)]
pub(super) struct Scripted {
    pub(super) code: LogCode,
    pub(super) due: Duration,
    payload: Range<usize>,
}

impl Script {
    /// The log records of a capture. Its answers to somebody else's requests, and what is broken in it, stay behind.
    pub fn of(capture: &[u8]) -> Self {
        let mut script = Self::default();
        let mut deframer = Deframer::new();
        let mut clock = ReplayClock::new(ModemInstant::default());
        let mut input = capture;
        while let Some(frame) = deframer.poll_frame(&mut input) {
            let Ok(frame) = frame else { continue };
            let Ok(Packet::Log(record)) = Packet::parse(frame.payload) else { continue };
            if script.records.is_empty() {
                script.first = record.at;
            }
            clock.handle_stamp(Some(record.at));
            let begin = script.payloads.len();
            script.payloads.extend_from_slice(frame.payload);
            let payload = begin..script.payloads.len();
            script.records.push(Scripted { code: record.code, due: clock.due(), payload });
        }
        script
    }

    /// How many records there are.
    pub fn len(&self) -> usize {
        self.records.len()
    }

    /// True without a single record.
    pub fn is_empty(&self) -> bool {
        self.records.is_empty()
    }

    /// How long the modem takes to make them all.
    pub fn duration(&self) -> Duration {
        self.records.last().map_or(Duration::ZERO, |record| record.due)
    }

    /// When the first record was made, by the modem's clock.
    pub(super) fn first(&self) -> ModemInstant {
        self.first
    }

    pub(super) fn records(&self) -> &[Scripted] {
        &self.records
    }

    /// What a record is on the wire, with another time stamp if one is given.
    pub(super) fn payload(&self, record: &Scripted, stamp: Option<u64>) -> Vec<u8> {
        let mut payload = self.payloads[record.payload.clone()].to_vec();
        if let Some(stamp) = stamp {
            // Behind command, lengths and code; and behind the wrapper of a modem with several subscriptions.
            let at = if payload[0] == MULTI_RADIO { 16 } else { 8 };
            payload[at..at + 8].copy_from_slice(&stamp.to_le_bytes());
        }
        payload
    }

    /// The time stamp of a record.
    pub(super) fn stamp(&self, record: &Scripted) -> ModemInstant {
        match Packet::parse(&self.payloads[record.payload.clone()]) {
            Ok(Packet::Log(log)) => log.at,
            _ => self.first,
        }
    }
}
