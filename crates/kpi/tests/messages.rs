//! KPIs from messages: from another encoder's messages, and from captures compared with an
//! independent reader.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;

use sounding_diag::capture::Capture;
use sounding_diag::layout::Item;
use sounding_diag::packet::Packet;
use sounding_diag::record::{LteRrc, NrRrc, RecordCounts};
use sounding_diag::{LogCode, LogRecord};
use sounding_kpi::registry::{self, NamedKpi, Source};
use sounding_kpi::{Reading, Subscription, Unread};
use sounding_rrc::facts::{Known, facts};
use sounding_testdata::{shared, shared_files};

fn told() -> impl Iterator<Item = &'static NamedKpi> {
    registry::all().filter(|kpi| matches!(kpi.source, Source::Fact { .. }))
}

fn bytes(hex: &str) -> Vec<u8> {
    let byte = |at| u8::from_str_radix(&hex[at..at + 2], 16).expect("messages are written in hex");
    (0..hex.len()).step_by(2).map(byte).collect()
}

fn log(code: LogCode, body: &[u8]) -> LogRecord<'_> {
    LogRecord { code, at: Default::default(), stamp: 0, radio: None, body }
}

/// A record of LTE's messages, version 30, which has segments.
fn lte(pdu: u8, segment: u8, message: &[u8]) -> Vec<u8> {
    let mut body = vec![0; 24];
    (body[0], body[14], body[19], body[23]) = (30, pdu, message.len() as u8, segment);
    body.extend_from_slice(message);
    body
}
const LTE_DL_DCCH: u8 = 9;

/// A record of NR's messages, version 8.
fn nr(pdu: u8, message: &[u8]) -> Vec<u8> {
    let mut body = vec![0; 24];
    (body[0], body[17], body[22]) = (8, pdu, message.len() as u8);
    body.extend_from_slice(message);
    body
}
const NR_BCCH_DL_SCH: u8 = 2;
const NR_DL_DCCH: u8 = 4;

/// A record's values, by name and item.
fn readings(code: LogCode, body: &[u8]) -> BTreeMap<(&'static str, Vec<u16>), f64> {
    let mut found = BTreeMap::new();
    let mut subscription = Subscription::of(told());
    let kpis = subscription.kpis().to_vec();
    let read = subscription.handle(&log(code, body), |Reading { slot, value, item, .. }| {
        found.insert((kpis[slot].name, item.levels().to_vec()), value);
    });
    assert_eq!(read, Ok(true));
    found
}

#[test]
fn broadcast_of_a_cell_of_nr_tells_its_slots_and_allocations() {
    let message =
        bytes("44000820020100c0de12345678984213400000008c88d6d8d1806ab62424020a80d8028c80");
    let found = readings(NrRrc::CODE, &nr(NR_BCCH_DL_SCH, &message));
    for (name, item, value) in [
        ("nr.rrc.pdsch.allocations", &[0][..], 2.0),
        ("nr.rrc.pdsch.k0", &[0, 0], 0.0),
        // It is left out, which stands for 0.
        ("nr.rrc.pdsch.k0", &[0, 1], 0.0),
        ("nr.rrc.pdsch.k0_1", &[0, 1], 0.0),
        ("nr.rrc.pdsch.k0_least", &[0], 0.0),
        ("nr.rrc.pdsch.start_symbol", &[0, 0], 2.0),
        ("nr.rrc.pdsch.start_symbol", &[0, 1], 1.0),
        ("nr.rrc.pdsch.symbols", &[0, 1], 12.0),
        ("nr.rrc.dl_carrier_scs", &[0], 30.0),
        ("nr.rrc.dl_bwp_bandwidth", &[0], 51.0),
        ("nr.rrc.tdd_scs", &[0], 30.0),
        ("nr.rrc.tdd_period", &[0], 2.5),
        ("nr.rrc.tdd_down_slots", &[0], 3.0),
        ("nr.rrc.tdd_up_symbols", &[0], 4.0),
        ("nr.rrc.tdd_second_period", &[0], 0.0),
    ] {
        assert_eq!(found.get(&(name, item.to_vec())), Some(&value), "{name} {item:?}");
    }
    assert!(!found.contains_key(&("nr.rrc.pdsch.k0_2", vec![0, 2])), "there are two entries");
}

/// From another encoder, pycrate: a secondary group whose uplink has four K1, and a K2 of 4 and one
/// that is left out.
#[test]
fn a_cell_group_of_nr_tells_when_answers_and_blocks_go_up() {
    let message = bytes("024098a2202604020040c40021a43b4020063106c360");
    let found = readings(NrRrc::CODE, &nr(NR_DL_DCCH, &message));
    let expected = [
        ("nr.rrc.periodic_bsr_timer", vec![0], 5.0),
        ("nr.rrc.pucch.k1", vec![0, 0], 4.0),
        ("nr.rrc.pucch.k1", vec![0, 1], 8.0),
        ("nr.rrc.pucch.k1", vec![0, 2], 7.0),
        ("nr.rrc.pucch.k1", vec![0, 3], 6.0),
        ("nr.rrc.pucch.k1_1", vec![0], 8.0),
        ("nr.rrc.pucch.k1_3", vec![0], 6.0),
        ("nr.rrc.pucch.k1_least", vec![0], 4.0),
        ("nr.rrc.pusch.k2", vec![0, 0], 4.0),
    ];
    for (name, item, value) in expected {
        assert_eq!(found.get(&(name, item.clone())), Some(&value), "{name} {item:?}");
    }
    // There is no fifth, and without a spacing a K2 that is left out is unknown.
    assert!(!found.contains_key(&("nr.rrc.pucch.k1_4", vec![0])), "{found:?}");
    assert!(!found.contains_key(&("nr.rrc.pusch.k2_1", vec![0, 1])), "{found:?}");
}

#[test]
fn secondary_cells_and_sleep_come_and_go() {
    let message = bytes("020c00a8988004260009a925d7800984b8fc00001349e00800");
    let found = readings(NrRrc::CODE, &nr(NR_DL_DCCH, &message));
    let expected = [
        ("nr.rrc.drx_cycle", vec![0], 0.0),
        ("nr.rrc.drx_short_cycle", vec![0], 0.0),
        ("nr.rrc.reconfiguration", vec![], 1.0),
        ("nr.rrc.scell_added", vec![0], 3.0),
        ("nr.rrc.scell_arfcn", vec![0], 620_000.0),
        ("nr.rrc.scell_band", vec![0], 77.0),
        ("nr.rrc.scell_bandwidth", vec![0], 106.0),
        ("nr.rrc.scell_pci", vec![0], 77.0),
        ("nr.rrc.scell_released", vec![0], 5.0),
    ];
    let expected = expected.map(|(name, item, value)| ((name, item), value));
    assert_eq!(found, BTreeMap::from(expected));
}

#[test]
fn a_release_that_suspends_leaves_the_device_inactive() {
    let found = readings(NrRrc::CODE, &nr(NR_DL_DCCH, &bytes("122055e6f091a2d5e6f7ac")));
    let expected = [(("nr.rrc.state", vec![]), 2.0), (("nr.rrc.suspend", vec![]), 1.0)];
    assert_eq!(found, BTreeMap::from(expected));
}

#[test]
fn a_segmented_handover_is_read_with_its_last_segment() {
    let file = "rrc/lte_DL-DCCH_RRCConnectionReconfiguration_hampi_103B.hex";
    let Some(path) = shared(file) else { return };
    let message = bytes(std::fs::read_to_string(path).expect("it can be read").trim());
    let (first, last) = message.split_at(60);
    let names = ["lte.rrc.handover", "lte.rrc.handover_pci", "lte.rrc.sr_period", "lte.rrc.state"];
    let mut subscription = Subscription::new(names).expect("all are registered");
    let begun = lte(LTE_DL_DCCH, 1, first);
    let read = subscription.handle(&log(LteRrc::CODE, &begun), |reading| panic!("{reading:?}"));
    assert_eq!(read, Ok(true));
    let mut values = BTreeMap::new();
    let ended = lte(LTE_DL_DCCH, 7, last);
    let read = subscription.handle(&log(LteRrc::CODE, &ended), |reading| {
        values.insert(names[reading.slot], reading.value);
    });
    assert_eq!(read, Ok(true));
    let expected = [1.0, 215.0, 10.0, 1.0];
    assert_eq!(values, names.into_iter().zip(expected).collect());
}

#[test]
fn an_invalid_message_is_counted_and_reported() {
    let mut subscription = Subscription::new(["lte.rrc.setup"]).expect("it is registered");
    let cut = lte(LTE_DL_DCCH, 0, &[0x20]);
    let read = subscription.handle(&log(LteRrc::CODE, &cut), |reading| panic!("{reading:?}"));
    assert!(matches!(read, Err(Unread::Message { .. })), "{read:?}");
    let unknown = lte(200, 0, &[0x20]);
    let read = subscription.handle(&log(LteRrc::CODE, &unknown), |reading| panic!("{reading:?}"));
    assert!(matches!(read, Err(Unread::Record(_))), "{read:?}");
    let counts = subscription.counts();
    assert_eq!(
        (counts.by_coverage.corrupt, counts.by_coverage.unsupported, counts.values),
        (1, 1, 0)
    );
}

#[test]
fn a_log_mask_has_the_messages_only_if_a_kpi_of_theirs_is_wanted() {
    let codes = |names: &[&str]| -> Vec<_> {
        let subscription = Subscription::new(names.iter().copied()).expect("all are registered");
        subscription.codes().map(LogCode::number).collect()
    };
    assert_eq!(codes(&["lte.pusch.tbs"]), [0xB139]);
    assert_eq!(codes(&["lte.pusch.tbs", "lte.rrc.periodic_bsr_timer"]), [0xB0C0, 0xB139]);
    assert_eq!(codes(&["nr.rrc.pusch.k2_0", "nr.rrc.state"]), [0xB821]);
}

/// Every record of a capture, with where it begins.
fn for_each(capture: &[u8], mut each: impl FnMut(u64, &LogRecord<'_>)) {
    let Ok(mut capture) = Capture::new(capture) else { return };
    while let Some(found) = capture.poll_packet() {
        let Ok(located) = found else { continue };
        if let Packet::Log(log) = located.packet {
            each(located.offset, &log);
        }
    }
}

#[test]
fn what_messages_of_the_captures_tell_lies_in_its_range() {
    let mut outside: BTreeSet<String> = BTreeSet::new();
    let mut met = BTreeSet::new();
    let mut undescribed = 0;
    for path in shared_files("captures") {
        let bytes = std::fs::read(&path).expect("a shared file is readable");
        let mut subscription = Subscription::of(told());
        let kpis = subscription.kpis().to_vec();
        for_each(&bytes, |_, log| {
            let _ = subscription.handle(log, |Reading { slot, value, .. }| {
                let kpi = kpis[slot];
                met.insert(kpi.name);
                if !(kpi.least..=kpi.most).contains(&value) {
                    outside.insert(format!("{} {value}", kpi.name));
                }
            });
        });
        let RecordCounts { corrupt, unsupported, .. } = subscription.counts().by_coverage;
        assert_eq!(corrupt, 0, "{}", path.display());
        undescribed += unsupported;
    }
    assert!(outside.is_empty(), "{outside:#?}");
    if shared("captures").is_some() {
        assert_eq!(undescribed, 4, "an undescribed number, in NR's records");
        assert!(met.len() > 110, "only {met:?}");
    }
}

/// The independent reader's names for what a KPI counts.
const EVENTS: &[(&str, &[&str])] = &[
    ("lte.rrc.request", &["rrcConnectionRequest_r8", "rrcConnectionRequest_r13"]),
    ("lte.rrc.setup", &["rrcConnectionSetup_r8", "rrcConnectionSetup_r13"]),
    ("lte.rrc.reject", &["rrcConnectionReject_r8"]),
    ("lte.rrc.reconfiguration", &["rrcConnectionReconfiguration_r8"]),
    ("lte.rrc.handover", &["mobilityControlInfo"]),
    ("lte.rrc.reestablishment_request", &["rrcConnectionReestablishmentRequest_r8"]),
    ("lte.rrc.reestablishment", &["rrcConnectionReestablishment_r8"]),
    ("lte.rrc.reestablishment_reject", &["rrcConnectionReestablishmentReject_r8"]),
    ("lte.rrc.release", &["rrcConnectionRelease_r8"]),
    ("lte.rrc.security_mode", &["securityModeCommand_r8"]),
    ("lte.rrc.measurement_report", &["measurementReport_r8"]),
];

#[test]
fn events_of_the_captures_are_those_of_an_independent_reader() {
    let mut compared: BTreeMap<&str, usize> = BTreeMap::new();
    for path in shared_files("captures") {
        let name = |path: &std::path::Path| {
            path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
        };
        let folder = path.parent().map(name).unwrap_or_default();
        let file = format!("expected/{folder}_{}.jsonl.zst", name(&path));
        // The reader has no output for some captures.
        let Some(theirs) = path.ancestors().nth(3).map(|data| data.join(&file)) else { continue };
        let Ok(packed) = std::fs::File::open(theirs) else { continue };
        let mut text = String::new();
        let mut unpacked = ruzstd::decoding::StreamingDecoder::new(packed).expect("it is packed");
        unpacked.read_to_string(&mut text).expect("it is text");
        let mut expected: BTreeMap<u64, String> = BTreeMap::new();
        for line in text.lines().filter(|line| line.contains("\"0xB0C0\"")) {
            let line: serde_json::Value = serde_json::from_str(line).expect("it is JSON");
            let parts = &line["mi"]["Msg"]["ws"];
            if parts.is_array() {
                expected.insert(line["off"].as_u64().expect("an offset"), parts.to_string());
            }
        }
        let bytes = std::fs::read(&path).expect("a shared file is readable");
        let names = EVENTS.iter().map(|(kpi, _)| *kpi);
        let mut subscription = Subscription::new(names).expect("all are registered");
        for_each(&bytes, |offset, log| {
            let Some(parts) = expected.get(&offset) else { return };
            // A message that it cannot read it does not name.
            if parts.contains("MALFORMED") {
                return;
            }
            let mut ours = BTreeSet::new();
            let read = subscription.handle(log, |reading| {
                assert_eq!((reading.value, reading.item), (1.0, Item::default()));
                ours.insert(EVENTS[reading.slot].0);
            });
            assert_eq!(read, Ok(true), "{file} at {offset}");
            let is_in = |label: &str| parts.contains(&format!("\"lte-rrc.{label}\""));
            let theirs: BTreeSet<_> = EVENTS
                .iter()
                .filter(|(_, labels)| labels.iter().any(|label| is_in(label)))
                .map(|(kpi, _)| *kpi)
                .collect();
            assert_eq!(ours, theirs, "{file} at {offset}: {parts}");
            ours.into_iter().for_each(|kpi| *compared.entry(kpi).or_default() += 1);
        });
    }
    if shared("expected").is_some() {
        let missing: Vec<_> =
            EVENTS.iter().filter(|(kpi, _)| !compared.contains_key(kpi)).collect();
        assert!(missing.is_empty(), "never met: {missing:?}");
        println!("{compared:#?}");
    }
}

/// NR's timers within LTE's messages: nearly all are in a record of NR's as well, so that those
/// alone are read.
#[test]
fn nr_parts_of_lte_messages_are_logged_as_nr_too_but_for_one_in_fifty() {
    let (mut met, mut missing) = (0usize, 0usize);
    for path in shared_files("captures") {
        let bytes = std::fs::read(&path).expect("a shared file is readable");
        let (mut within, mut own) = (0usize, 0);
        let mut messages = sounding_rrc::Messages::default();
        for_each(&bytes, |_, log| {
            let Ok(Some(message)) = messages.handle_record(log) else { return };
            let decoded = sounding_rrc::decode(message.pdu, message.bytes).expect("it decodes");
            let facts = facts(message.pdu.into(), &decoded.value).facts.into_iter();
            let count = facts
                .filter(|fact| fact.place.nr && matches!(fact.known, Known::PeriodicBsrTimer(_)))
                .count();
            *if log.code == LteRrc::CODE { &mut within } else { &mut own } += count;
        });
        met += within;
        missing += within.saturating_sub(own);
    }
    if shared("captures").is_some() {
        assert!(met > 100 && missing * 50 <= met, "{missing} of {met}");
    }
}
