//! Compares our reading of real captures with an independent reader: every frame, and every field
//! of every described record.
//!
//! Both are found by looking: `SOUNDING_DATA` may name any folder with `captures` and `expected` in
//! it.

mod agree;
mod all;
mod alone;
mod combos;
mod composed;
mod evidence;
mod expected;
mod found;
mod handed;
mod pinned;
mod rules;
#[path = "../tree/mod.rs"]
mod tree;
mod vectors;

use std::collections::BTreeMap;

use serde_json::{Map, Value as Json};
use sounding_diag::capture::{Capture, Damage};
use sounding_diag::command::Answer;
use sounding_diag::packet::Packet;
use sounding_diag::record::{self, Record, RecordError};
use sounding_diag::{LogCode, LogRecord};

use agree::Fields;
use found::Pair;

/// The result of comparing a capture with its expected reading.
#[derive(Debug, Default)]
struct Seen {
    frames: usize,
    compared: BTreeMap<LogCode, usize>,
    fields: BTreeMap<LogCode, Fields>,
    /// Records with an unexplained difference.
    unexplained: BTreeMap<LogCode, Vec<String>>,
}

/// Reads a capture beside its expected reading.
fn compared(pair: &Pair) -> Seen {
    let file = &pair.name;
    let bytes = std::fs::read(&pair.capture).expect("the capture can be read");
    let mut capture = Capture::new(&bytes).expect("it is a capture");
    let mut seen = Seen::default();
    let lines = expected::for_each_line(&pair.expected, |line| {
        let at = format!("{file}: frame {} at {}", seen.frames, line.off);
        let found = capture.poll_packet().unwrap_or_else(|| panic!("{at}: we have no such frame"));
        check_frame(&at, found, &line, &mut seen);
        seen.frames += 1;
    });
    assert!(capture.poll_packet().is_none(), "{file}: we have more than {lines} frames");
    assert_eq!(capture.counts().frames.bytes, bytes.len() as u64, "{file}");
    seen
}

fn check_frame(
    at: &str,
    found: Result<sounding_diag::capture::Located<'_>, Damage>,
    line: &expected::Line<'_>,
    seen: &mut Seen,
) {
    let located = match (found, line.err) {
        (Err(Damage::Frame(bad)), Some(_)) => {
            assert_eq!(bad.offset, line.off, "{at}");
            return;
        }
        (Ok(located), None) => located,
        (found, err) => panic!("{at}: we found {found:?}, they {err:?}"),
    };
    assert_eq!(located.offset, line.off, "{at}");
    let log = match located.packet {
        Packet::Other { command, body, .. } => {
            assert_eq!(Some(command), line.cmd, "{at}");
            if [0x00, 0x73, 0x7C].contains(&command) {
                assert!(Answer::parse(command, body).is_some(), "{at}: {body:02x?}");
            }
            return;
        }
        Packet::Log(log) => log,
    };
    assert_eq!(line.code, Some(log.code.to_string()).as_deref(), "{at}");
    assert_eq!(line.wrap.map(|[.., radio]| radio), log.radio, "{at}");
    assert_eq!(line.ver, log.body.first().copied(), "{at}");
    assert_eq!(line.ts, Some(log.stamp), "{at}");
    assert_eq!(line.body, Some(log.body.len()), "{at}");
    assert_eq!(line.len, Some(log.body.len() as u64 + 12), "{at}");
    check_record(at, &log, line, seen);
}

fn check_record(at: &str, log: &LogRecord<'_>, line: &expected::Line<'_>, seen: &mut Seen) {
    let mut tree = tree::Builder::new();
    let at = format!("{at}, log {} v{:?}", log.code, log.body.first());
    match record::decode(log, &mut tree) {
        Ok(()) => {}
        Err(RecordError::Undescribed { .. }) => return,
        // The reference has no more than the header of these either.
        Err(RecordError::Unsupported { .. }) => return,
        Err(error) => panic!("{at}: {error}"),
    }
    walk_typed(&at, log);
    let Some(theirs) = line.mi else { return };
    let theirs: Map<String, Json> =
        serde_json::from_str(theirs.get()).expect("their fields are an object");
    match rules::check(log, tree.finish(), theirs) {
        Ok(Some(fields)) => {
            *seen.compared.entry(log.code).or_default() += 1;
            *seen.fields.entry(log.code).or_default() += fields;
        }
        Ok(None) => assert!(unread(log) < 4, "{at}: {} bytes are left", unread(log)),
        Err(error) => {
            seen.unexplained.entry(log.code).or_default().push(format!("{at}: {error}"));
        }
    }
}

/// Bytes of a record that its layout does not describe. If the reference reads only the header, the
/// evidence for our layout is that it ends where the record ends, except for padding to a whole
/// word.
fn unread(log: &LogRecord<'_>) -> usize {
    let layouts = record::layouts(log.code).expect("it is described");
    let version = log.code.version_of(log.body).expect("it has a version");
    let layout = layouts.iter().find(|layout| layout.describes(version));
    layout.expect("it is described").survey(log.body).expect("it decodes").unread
}

/// The typed view of a record that decodes must be there too.
fn walk_typed(at: &str, log: &LogRecord<'_>) {
    if let Err(error) = Record::parse(log) {
        assert!(matches!(error, RecordError::Unsupported { .. }), "{at}: {error}");
    }
}
