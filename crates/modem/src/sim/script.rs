use std::ops::Range;
use std::time::Duration;

use sounding_diag::LogCode;
use sounding_diag::hdlc::Deframer;
use sounding_diag::packet::Packet;
use sounding_units::ModemInstant;

use crate::replay_schedule::ReplayClock;
use crate::stamps::{Stamp, believed};

/// The log records of a capture, and when each is made.
#[derive(Clone, Debug, Default)]
pub struct Script {
    payloads: Vec<u8>,
    records: Vec<Scripted>,
}

/// One record.
#[derive(Clone, Debug)]
pub(super) struct Scripted {
    pub(super) code: LogCode,
    pub(super) due: Duration,
    payload: Range<usize>,
}

impl Script {
    /// The log records of a capture. Answers to another program's requests and broken frames are
    /// left out.
    pub fn of(capture: &[u8]) -> Self {
        let mut script = Self::default();
        let mut deframer = Deframer::new();
        let mut stamps = Vec::new();
        let mut input = capture;
        while let Some(frame) = deframer.poll_frame(&mut input) {
            let Ok(frame) = frame else { continue };
            let Ok(Packet::Log(record)) = Packet::parse(frame.payload) else { continue };
            stamps.push(Stamp::of(&record));
            let begin = script.payloads.len();
            script.payloads.extend_from_slice(frame.payload);
            let payload = begin..script.payloads.len();
            script.records.push(Scripted { code: record.code, due: Duration::ZERO, payload });
        }
        let mut clock = ReplayClock::new(ModemInstant::default());
        for (record, time) in script.records.iter_mut().zip(believed(&stamps)) {
            clock.handle_time(time);
            record.due = clock.due();
        }
        script
    }

    /// Number of records.
    pub fn len(&self) -> usize {
        self.records.len()
    }

    /// True without a single record.
    pub fn is_empty(&self) -> bool {
        self.records.is_empty()
    }

    /// Time that the modem takes to make them all.
    pub fn duration(&self) -> Duration {
        self.records.last().map_or(Duration::ZERO, |record| record.due)
    }

    pub(super) fn records(&self) -> &[Scripted] {
        &self.records
    }

    /// The bytes of a record on the wire.
    pub(super) fn payload(&self, record: &Scripted) -> &[u8] {
        &self.payloads[record.payload.clone()]
    }
}
