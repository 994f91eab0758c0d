//! Captures that are composed record by record.

use std::path::PathBuf;
use std::time::Duration;

use sounding_diag::capture::{Located, Reader};
use sounding_diag::mac::MacPdu;
use sounding_diag::packet::Packet;
use sounding_diag::radio::{Rnti, Tti};
use sounding_diag::record::{BsrEvent, BsrTrigger, MacUplink, UplinkBlock};
use sounding_diag::{LogCode, LogRecord, hdlc};
use sounding_units::{Bytes, ModemInstant};

/// A moment when modems are on the air: 2021.
pub(crate) const BEGIN: ModemInstant = ModemInstant::from_nanos(1_324_000_000_000_000_000);

/// A code that holds nothing for an estimate: the modem is alive, no more.
pub(crate) const OTHER: LogCode = LogCode::new(0x1FFB);

/// A capture in a separate folder.
#[derive(Debug)]
pub(crate) struct Capture {
    folder: tempfile::TempDir,
    bytes: Vec<u8>,
}

impl Capture {
    pub(crate) fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap(), bytes: Vec::new() }
    }

    pub(crate) fn file(&self) -> PathBuf {
        let path = self.folder.path().join("capture.qmdl");
        std::fs::write(&path, &self.bytes).unwrap();
        path
    }

    pub(crate) fn record(&mut self, at: ModemInstant, code: LogCode, body: &[u8]) {
        let mut payload = Vec::new();
        LogRecord { code, at, stamp: at.to_diag(), radio: None, body }.emit(&mut payload).unwrap();
        hdlc::encode(&payload, &mut self.bytes);
    }

    /// A MAC record of LTE's uplink with blocks of these ages and sizes, and how many bytes that
    /// is.
    pub(crate) fn mac_uplink(&mut self, at: ModemInstant, blocks: &[(Duration, u64)]) -> u64 {
        let of = |(age, size): &(Duration, u64)| {
            let ms = at.saturating_before(*age).as_nanos() / 1_000_000;
            UplinkBlock {
                tti: Tti::from_count(ms % u64::from(Tti::CYCLE)),
                cell: 0,
                harq: (ms % 8) as u8,
                rnti: Rnti::Cell,
                grant: Bytes::new(*size),
                padding: Bytes::ZERO,
                rlc_pdus: 1,
                event: BsrEvent::None,
                trigger: BsrTrigger::None,
                pdu: MacPdu::new(&[], Rnti::Cell, true),
            }
        };
        let listed: Vec<_> = blocks.iter().map(of).collect();
        let mut body = Vec::new();
        MacUplink::emit(&listed, &mut body).unwrap();
        self.record(at, MacUplink::CODE, &body);
        blocks.iter().map(|(_, size)| size).sum()
    }
}

/// The capture without the records that were stamped in a stretch of time after its first one.
pub(crate) fn with_a_hole(capture: &[u8], from: Duration, to: Duration) -> Capture {
    let mut cut = Capture::new();
    let mut begin = None;
    let mut input = capture;
    let mut reader = Reader::new();
    while let Some(packet) = reader.poll_packet(&mut input) {
        let Ok(Located { packet: Packet::Log(record), .. }) = packet else { continue };
        let since = record.at - *begin.get_or_insert(record.at);
        if since < from || since >= to {
            cut.record(record.at, record.code, record.body);
        }
    }
    cut
}
