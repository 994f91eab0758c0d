//! The evidence that the library claims for each version exists in the captures and vectors.

use std::collections::{BTreeMap, BTreeSet};

use sounding_diag::capture::Capture;
use sounding_diag::packet::Packet;
use sounding_diag::record::{self, Evidence, Version};
use sounding_diag::{LogCode, LogRecord};
use sounding_testdata::{Need, shared, skip};
use sounding_units::ModemInstant;

use crate::all::known;
use crate::found::Pair;
use crate::handed::each_of;
use crate::vectors::bodies;

type Held = BTreeSet<(LogCode, Version)>;

/// The described versions in a record, if the record is readable.
fn versions(log: &LogRecord<'_>) -> Vec<Version> {
    let Some(version) = log.code.version_of(log.body) else { return Vec::new() };
    let layouts = record::layouts(log.code).into_iter().flatten();
    let Some(layout) = layouts.into_iter().find(|layout| layout.describes(version)) else {
        return Vec::new();
    };
    let Ok(node) = layout.node(log.body) else { return Vec::new() };
    let mut subs = node.sub_packets().peekable();
    if subs.peek().is_none() {
        return vec![Version::Packet(if layout.versions.is_empty() { 0 } else { version })];
    }
    let described = subs.filter(|sub| sub.node.is_some());
    described
        .map(|sub| Version::Sub { packet: version, id: sub.id, version: sub.version })
        .collect()
}

/// Single records that were read independently: of captures, and published payloads.
const HANDED: &[&str] = &["b16b_v25.qmdl", "b14d.qmdl", "nr17.qmdl", "rrc16.qmdl"];
const PUBLISHED: &[&str] =
    &["b193_v41.qmdl", "b193_v57.qmdl", "b193_v59_one_cell.qmdl", "b197_v3.qmdl"];

fn in_files(names: &[&str], held: &mut Held) {
    for name in names {
        each_of(name, |log, _| {
            held.extend(versions(log).into_iter().map(|version| (log.code, version)));
        });
    }
}

/// In the captures that are known, in one that no other reader has read, and in single records.
fn in_captures(known: Vec<&Pair>) -> Held {
    let mut held = Held::new();
    in_files(HANDED, &mut held);
    let unread = shared("captures/HandyMenny__uecapabilityparser/scat.qmdl");
    for path in known.into_iter().map(|pair| pair.capture.clone()).chain(unread) {
        let bytes = std::fs::read(path).expect("the capture can be read");
        let mut capture = Capture::new(&bytes).expect("it is a capture");
        while let Some(found) = capture.poll_packet() {
            if let Ok(located) = found
                && let Packet::Log(log) = located.packet
            {
                held.extend(versions(&log).into_iter().map(|version| (log.code, version)));
            }
        }
    }
    held
}

fn in_vectors() -> Held {
    let mut held = Held::new();
    in_files(PUBLISHED, &mut held);
    for (code, body) in bodies() {
        let at = ModemInstant::default();
        let log = LogRecord { code, at, stamp: 0, radio: None, body: &body };
        held.extend(versions(&log).into_iter().map(|version| (code, version)));
    }
    held
}

/// Every described version of every record and sub-packet.
fn described() -> Held {
    let mut described = Held::new();
    for &code in record::CODES {
        for layout in record::layouts(code).into_iter().flatten() {
            let known: Vec<_> = layout.sub_layouts().collect();
            let packets = if layout.versions.is_empty() { &[0][..] } else { layout.versions };
            for &packet in packets {
                if known.is_empty() {
                    described.insert((code, Version::Packet(packet)));
                }
                for sub in &known {
                    let versions = sub.versions.iter();
                    let own = versions.map(|&version| Version::Sub { packet, id: sub.id, version });
                    described.extend(own.map(|version| (code, version)));
                    if sub.versions.is_empty() {
                        described.insert((code, Version::Kind { packet, id: sub.id }));
                    }
                }
            }
        }
    }
    described
}

#[test]
fn evidence_is_what_captures_and_vectors_hold() {
    let Some(known) = known() else {
        skip(Need::Data, "not all known captures are here, which vouch for what is described");
        return;
    };
    if shared("captures/fgsect__scat-tests/vectors.jsonl").is_none() {
        return;
    }
    let (captures, vectors) = (in_captures(known), in_vectors());
    let mut wrong = BTreeMap::new();
    for (code, version) in described() {
        let wanted = match (captures.contains(&(code, version)), vectors.contains(&(code, version)))
        {
            (true, _) => Evidence::Capture,
            (false, true) => Evidence::Vector,
            (false, false) => Evidence::Synthetic,
        };
        if record::evidence(code, version) != wanted {
            wrong.insert((code, version), wanted);
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
