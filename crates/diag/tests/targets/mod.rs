//! The code of the fuzz targets. The test `corpus` runs it with the seeds.

use std::fmt::Write;
use std::time::Duration;

use sounding_diag::capture::{
    Beginning, Capture, Damage, Format, Kind, Located, Reader, recognise,
};
use sounding_diag::hdlc::{Deframer, encode};
use sounding_diag::layout::{Sink, Value};
use sounding_diag::packet::Packet;
use sounding_diag::record::{self, Record, RecordError};
use sounding_diag::session::{Session, Wanted};
use sounding_diag::{LogCode, LogRecord, command};
use sounding_units::{HostInstant, ModemInstant};

/// Formats every value, so that no way of reading one is left out.
#[derive(Default)]
pub(crate) struct Print(pub(crate) String);

impl Sink for Print {
    fn field(&mut self, name: &'static str, value: Value<'_>) {
        write!(self.0, "{name}={value} ").expect("a string takes everything");
    }
    fn begin_list(&mut self, _: &'static str) {}
    fn begin_item(&mut self) {}
    fn end_item(&mut self) {}
    fn end_list(&mut self) {}
}

/// Reads a record in both ways, and gives how the first ended.
pub(crate) fn read(log: &LogRecord<'_>) -> Result<(), RecordError> {
    if let Ok(record) = Record::parse(log) {
        assert!(!format!("{record:?}").is_empty());
    }
    record::decode(log, &mut Print::default())
}

/// Frames are the same however the stream is cut, and a payload written is the payload read.
#[allow(dead_code, reason = "each user of this file has its own targets")]
pub(crate) fn hdlc(data: &[u8]) {
    let Some((&size, stream)) = data.split_first() else { return };
    let whole = frames(&mut Deframer::with_limit(1000), stream, stream.len().max(1));
    let cut = frames(&mut Deframer::with_limit(1000), stream, usize::from(size).max(1));
    assert_eq!(whole, cut);
    if !stream.is_empty() && stream.len() <= 1000 {
        let mut encoded = Vec::new();
        encode(stream, &mut encoded);
        let read = frames(&mut Deframer::with_limit(1000), &encoded, encoded.len());
        assert_eq!(read, [(0, Some(stream.to_vec()))]);
    }
}

/// A session with arbitrary answers that is ended in the middle.
#[allow(dead_code, reason = "each user of this file has its own targets")]
pub(crate) fn session(data: &[u8]) {
    let wanted = Wanted {
        codes: [0xB139, 0xB064, 0x4005].map(LogCode::new).to_vec(),
        budget_bytes_per_sec: Some(1000),
    };
    let mut session = Session::new(wanted);
    let mut now = HostInstant::default();
    let mut requests = 0;
    let mut rest = data;
    let mut request = Vec::new();
    // Each answer is a length and this many bytes; every third comes late.
    while let Some((&len, tail)) = rest.split_first() {
        let (answer, tail) = tail.split_at(usize::from(len).min(tail.len()));
        rest = tail;
        request.clear();
        if session.poll_request(now, &mut request) {
            assert!(command::Request::parse(&request).is_some(), "{request:02X?}");
            requests += 1;
        }
        match Packet::parse(answer) {
            Ok(Packet::Log(log)) => session.handle_log(now, log.code, answer.len()),
            Ok(Packet::Other { command, body, .. }) => session.handle_other(now, command, body),
            Err(_) => {}
        }
        now = now + Duration::from_millis(if len % 3 == 0 { 300 } else { 1 });
        while session.poll_event().is_some() {}
    }
    session.handle_end(now);
    for _ in 0..1000 {
        if session.is_over() {
            return;
        }
        session.poll_request(now, &mut request);
        now = now + Duration::from_millis(300);
    }
    panic!("the session does not end after {requests} requests");
}

/// Every frame's offset, and its payload if it is a good one.
fn frames(deframer: &mut Deframer, stream: &[u8], size: usize) -> Vec<(u64, Option<Vec<u8>>)> {
    let mut found = Vec::new();
    for mut chunk in stream.chunks(size) {
        while let Some(frame) = deframer.poll_frame(&mut chunk) {
            found.push(match frame {
                Ok(frame) => (frame.offset, Some(frame.payload.to_vec())),
                Err(bad) => (bad.offset, None),
            });
        }
    }
    found.extend(deframer.handle_end().map(|bad| (bad.offset, None)));
    assert_eq!(deframer.counts().bytes, stream.len() as u64);
    found
}

/// A code in two bytes, and a body.
#[allow(dead_code, reason = "each user of this file has its own targets")]
pub(crate) fn records(data: &[u8]) {
    let Some((code, body)) = data.split_first_chunk::<2>() else { return };
    let code = LogCode::new(u16::from_le_bytes(*code));
    let at = ModemInstant::default();
    let _ = read(&LogRecord { code, at, stamp: 0, radio: None, body });
}

/// A whole capture; good frames, bad ones and log records, if it is one.
#[allow(dead_code, reason = "each user of this file has its own targets")]
pub(crate) fn capture(data: &[u8]) -> Option<(u64, u64, u64)> {
    grows(data);
    let Ok(mut capture) = Capture::new(data) else {
        assert!(recognise(data).is_err(), "both say the same");
        return None;
    };
    while let Some(found) = capture.poll_packet() {
        if let Ok(located) = found
            && let Packet::Log(log) = located.packet
        {
            let _ = read(&log);
        }
    }
    let counts = capture.counts();
    assert_eq!(counts.frames.bytes, data.len() as u64, "every byte is accounted for");
    assert_eq!(counts.frames.good, counts.logs + counts.others + counts.bad_packets);
    Some((counts.frames.good, counts.frames.bad, counts.logs))
}

/// The beginning of a stream that grows.
fn grows(data: &[u8]) {
    let step = 1 + usize::from(data.first().copied().unwrap_or_default());
    let mut beginning = Beginning::default();
    for len in (0..data.len()).step_by(step) {
        if let Some(Ok(kind)) = beginning.judge(&data[..len]) {
            assert!(kind.preamble < len, "{kind:?} at {len}");
            return;
        }
    }
}

/// A format and a size of chunks in two bytes, and a stream: its records are the same however it is
/// cut, and every byte is accounted for.
#[allow(dead_code, reason = "each user of this file has its own targets")]
pub(crate) fn formats(data: &[u8]) {
    let Some((&[format, size], stream)) = data.split_first_chunk::<2>() else { return };
    let format = FORMATS[usize::from(format) % FORMATS.len()];
    let kind = Kind { format, preamble: usize::from(size % 3) };
    let whole = packets(kind, stream, stream.len().max(1));
    assert_eq!(whole, packets(kind, stream, usize::from(size).max(1)));
}

/// Every way in which a capture separates its records.
#[allow(dead_code, reason = "each user of this file has its own targets")]
pub(crate) const FORMATS: [Format; 4] = [Format::Hdlc, Format::NonHdlc, Format::Hdf, Format::Dlf];

/// Every packet or damage, with its offset, as text.
#[allow(dead_code, reason = "each user of this file has its own targets")]
pub(crate) fn packets(kind: Kind, stream: &[u8], size: usize) -> Vec<(u64, String)> {
    fn row(found: Result<Located<'_>, Damage>) -> (u64, String) {
        match found {
            Ok(Located { offset, packet }) => (offset, format!("{packet:?}")),
            Err(Damage::Frame(bad)) => (bad.offset, bad.to_string()),
            Err(Damage::Packet { offset, error }) => (offset, error.to_string()),
        }
    }
    let mut reader = Reader::of(kind);
    let mut found = Vec::new();
    for mut chunk in stream.chunks(size) {
        while let Some(packet) = reader.poll_packet(&mut chunk) {
            found.push(row(packet));
        }
        assert!(chunk.is_empty(), "a reader takes all it is given");
    }
    while let Some(packet) = reader.poll_end() {
        found.push(row(packet));
    }
    let counts = reader.counts();
    assert_eq!(counts.frames.bytes, stream.len() as u64);
    assert_eq!(counts.frames.good + counts.frames.bad, found.len() as u64);
    found
}
