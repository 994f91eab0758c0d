//! The output of a modem's records.

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use sounding_diag::record::{EmitError, Form, compose};
use sounding_diag::{LogCode, LogRecord, hdlc};
use sounding_units::{HostInstant, ModemInstant};

use super::clock::ClockConfig;
use super::{Mask, Record};

/// Written records.
#[derive(Clone, Debug)]
pub(super) struct Log {
    mask: Mask,
    clock: ClockConfig,
    origin: HostInstant,
    now: HostInstant,
    records: VecDeque<Record>,
    unwritten: u64,
}

impl Log {
    pub(super) const fn new(mask: Mask, clock: ClockConfig, origin: HostInstant) -> Self {
        Self { mask, clock, origin, now: origin, records: VecDeque::new(), unwritten: 0 }
    }

    pub(super) const fn handle_time(&mut self, now: HostInstant) {
        self.now = now;
    }

    pub(super) fn poll_record(&mut self) -> Option<Record> {
        self.records.pop_front()
    }

    pub(super) fn set_mask(&mut self, mask: Mask) {
        self.mask = mask;
    }

    pub(super) const fn unwritten(&self) -> u64 {
        self.unwritten
    }

    pub(super) const fn leave_out(&mut self) {
        self.unwritten += 1;
    }

    pub(super) const fn now(&self) -> HostInstant {
        self.now
    }

    fn stamp(&self) -> ModemInstant {
        self.clock.stamp(self.origin, self.now)
    }

    /// Whether records of a code are written. If not, their contents need not be collected.
    pub(super) fn wants(&self, code: u16) -> bool {
        self.mask.wants(LogCode::new(code))
    }

    /// Writes a record whose body `emit` appends. Items without room in its layout are left out,
    /// and counted.
    pub(super) fn write(
        &mut self,
        code: LogCode,
        emit: impl FnOnce(&mut Vec<u8>) -> Result<(), EmitError>,
    ) {
        if !self.mask.wants(code) {
            return;
        }
        let (at, mut body, mut payload) = (self.stamp(), Vec::new(), Vec::new());
        let written = emit(&mut body).is_ok_and(|()| {
            let record = LogRecord { code, at, stamp: at.to_diag(), radio: None, body: &body };
            record.emit(&mut payload).is_ok()
        });
        if !written {
            self.unwritten += 1;
            return;
        }
        let mut bytes = Vec::with_capacity(payload.len() + 8);
        hdlc::encode(&payload, &mut bytes);
        self.records.push_back(Record { made_at: self.now, code, bytes });
    }

    /// Writes a record by the names of its fields.
    pub(super) fn compose(&mut self, code: u16, version: u32, form: impl FnOnce() -> Form) {
        if self.wants(code) {
            let code = LogCode::new(code);
            self.write(code, |out| compose(code, version, &form(), out));
        }
    }
}
