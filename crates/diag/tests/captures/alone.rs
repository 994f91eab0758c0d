//! Records in captures that no other decoder reads. Their values must agree with other records or
//! with the standard.

use std::collections::{BTreeMap, BTreeSet};

use sounding_diag::LogCode;
use sounding_diag::capture::Capture;
use sounding_diag::packet::Packet;
use sounding_diag::record::{self, Coverage};

use crate::all::{found, known};
use crate::tree::{Builder, Item};

/// The decoded records of the codes among `codes`, capture by capture.
fn records(codes: &[u16]) -> Vec<Vec<(u16, Item)>> {
    let mut all = Vec::new();
    for pair in &found().pairs {
        let bytes = std::fs::read(&pair.capture).expect("the capture can be read");
        let mut capture = Capture::new(&bytes).expect("it is a capture");
        let mut found = Vec::new();
        while let Some(packet) = capture.poll_packet() {
            let Ok(located) = packet else { continue };
            let Packet::Log(log) = located.packet else { continue };
            let mut tree = Builder::new();
            if codes.contains(&log.code.number()) && record::decode(&log, &mut tree).is_ok() {
                found.push((log.code.number(), tree.finish()));
            }
        }
        all.push(found);
    }
    all
}

/// So the described sizes, padding included, are the modem's, but for four records that are
/// described only in part.
#[test]
fn no_record_of_a_capture_is_longer_than_its_layout() {
    let mut longer = BTreeMap::<(LogCode, Option<u32>), BTreeMap<usize, usize>>::new();
    let unread = found().unread.iter().map(|(_, path)| path);
    for path in found().pairs.iter().map(|pair| &pair.capture).chain(unread) {
        let bytes = std::fs::read(path).expect("the capture can be read");
        let mut capture = Capture::new(&bytes).expect("it is a capture");
        while let Some(packet) = capture.poll_packet() {
            let Ok(located) = packet else { continue };
            let Packet::Log(log) = located.packet else { continue };
            if let Ok(Coverage::Longer(unread)) = record::check(&log) {
                let kind = longer.entry((log.code, record::version_of(&log))).or_default();
                *kind.entry(unread).or_default() += 1;
            }
        }
    }
    for known in [(0xB0CD, 41), (0xB116, 21), (0xB184, 1), (0xB1B2, 48)] {
        let found = longer.remove(&(LogCode::new(known.0), Some(known.1)));
        assert!(found.is_some() || self::known().is_none(), "{known:x?}");
    }
    assert!(longer.is_empty(), "unread bytes, and how often: {longer:#?}");
}

fn number(item: &Item, name: &str) -> i64 {
    item.number(name).unwrap_or_else(|| panic!("there is no {name}"))
}

/// TS 36.213 Table 8.6.1-1: two orders of modulation share a block size at each change.
#[test]
fn grants_have_the_block_size_index_of_their_mcs() {
    let mut grants = 0;
    for (_, report) in records(&[0xB16C]).iter().flatten() {
        for grant in report.list("subframes").iter().flat_map(|subframe| subframe.list("grants")) {
            let wanted = match number(grant, "mcs") {
                mcs @ 0..=10 => mcs,
                mcs @ 11..=20 => mcs - 1,
                mcs @ 21..=28 => mcs - 2,
                // Retransmissions keep the size they had.
                _ => continue,
            };
            assert_eq!(number(grant, "tbs_index"), wanted, "{grant:?}");
            assert!((1..=110).contains(&number(grant, "rbs")), "{grant:?}");
            grants += 1;
        }
    }
    assert!(grants > 0 || known().is_none());
}

/// The device answers four subframes after the message (TS 36.213 §7.3).
#[test]
fn contention_is_answered_four_subframes_later() {
    for (_, report) in records(&[0xB16A]).iter().flatten() {
        let at = |frame, subframe| number(report, frame) * 10 + number(report, subframe);
        let delay = at("ack_frame", "ack_subframe") - at("frame", "subframe");
        assert_eq!(delay.rem_euclid(10240), 4, "{report:?}");
    }
}

/// PCFICH announces one to four symbols; the frames that follow are consecutive.
#[test]
fn control_regions_have_a_length() {
    for (_, report) in records(&[LogCode::new(0xB12A).number()]).iter().flatten() {
        for result in report.list("results") {
            assert!((0..=3).contains(&number(result, "cfi")), "{result:?}");
        }
        assert!(number(report, "subframe") < 10, "{report:?}");
    }
}

/// TS 36.321 §5.1.4: the window of an answer opens three subframes after the preamble, and to whom
/// the answer is addressed is the preamble's subframe, counted from 1. Which preamble it was, MAC
/// knows as well.
#[test]
fn a_preamble_is_that_of_mac_and_its_answer_comes_in_the_window() {
    let mut sent = 0;
    for capture in records(&[0xB062, 0xB167]) {
        let attempts = capture.iter().filter(|(code, _)| *code == 0xB062);
        let preambles: BTreeSet<i64> = attempts
            .flat_map(|(_, record)| record.list("sub_packets"))
            .map(|attempt| number(attempt, "preamble"))
            .collect();
        for (_, request) in capture.iter().filter(|(code, _)| *code == 0xB167) {
            let at = |frame, subframe| number(request, frame) * 10 + number(request, subframe);
            let start = at("window_start_frame", "window_start_subframe");
            assert_eq!((start - at("frame", "subframe")).rem_euclid(10240), 3, "{request:?}");
            let end = at("window_end_frame", "window_end_subframe");
            assert!((2..=10).contains(&(end - start).rem_euclid(10240)), "{request:?}");
            assert_eq!(number(request, "ra_rnti"), number(request, "subframe") + 1);
            assert!(preambles.contains(&number(request, "preamble")), "{request:?}");
            assert_eq!(number(request, "power_dbm"), number(request, "sent_power_dbm"));
            sent += 1;
        }
    }
    assert!(sent > 0 || known().is_none());
}

/// TS 36.304 §5.2.3.2: a cell is fit whose level and quality are above the least it asks for, and
/// by how much is what remains; both in whole decibels, of the measurement that 0xB17F logs in the
/// same moment.
#[test]
fn a_cell_is_selected_by_what_was_measured_and_what_it_asks_for() {
    let mut selected = 0;
    for (pair, capture) in found().pairs.iter().zip(records(&[0xB17A, 0xB17F])) {
        // Of a capture that is known it is what its system information says; TS 36.331 §6.3.6
        // allows this much.
        let p_max = if pair.is_known() { 23.0..=23.0 } else { -30.0..=33.0 };
        let mut measured = None;
        for (code, record) in &capture {
            if *code == 0xB17F {
                measured = Some(record);
                continue;
            }
            let [selection, serving] = record.list("sub_packets") else {
                panic!("there are others: {record:?}")
            };
            let measured = measured.expect("the cell was measured before");
            let level = |item: &Item, name| {
                item.real(name).unwrap_or_else(|| panic!("there is no {name} in {item:?}"))
            };
            assert_eq!(number(selection, "pci"), number(measured, "pci"));
            assert_eq!(number(selection, "earfcn"), number(measured, "earfcn"));
            for (above, of, least) in [
                ("srxlev_db", "rsrp_dbm", "q_rx_lev_min_dbm"),
                ("squal_db", "rsrq_db", "q_qual_min_db"),
            ] {
                let wanted = (level(measured, of) - level(selection, least)).floor();
                assert_eq!(level(selection, above), wanted, "{selection:?}");
                assert_eq!(level(serving, above), wanted, "{serving:?}");
            }
            for of in ["rsrp_dbm", "rsrq_db", "rssi_dbm"] {
                assert_eq!(level(serving, of), level(measured, of).floor(), "{serving:?}");
            }
            assert!(p_max.contains(&level(selection, "p_max_dbm")), "{selection:?}");
            selected += 1;
        }
    }
    assert!(selected > 0 || known().is_none());
}

/// The message of a record is as long as the record says, not as long as the record: its second
/// octet is then the kind of message that the record says it is (TS 24.007 §11.2.3.1).
#[test]
fn messages_of_gprs_are_of_the_recorded_kind() {
    let mut messages = 0;
    for (_, record) in records(&[0x5230]).iter().flatten() {
        let message = record.bytes("message").expect("there is a message");
        assert_eq!(message.len() as i64, number(record, "len_bytes"));
        assert_eq!(i64::from(message[1]), number(record, "message_kind"), "{message:02x?}");
        // Mobility and sessions of GPRS, TS 24.007 §11.2.3.1.1.
        assert!(matches!(message[0] & 15, 8 | 10), "{message:02x?}");
        messages += 1;
    }
    assert!(messages > 0 || known().is_none());
}

/// The cells of these records are those that the measurements of the same capture name.
#[test]
fn cells_are_those_of_the_measurements() {
    let measured = [0xB0C1, 0xB0C2, 0xB126, 0xB139, 0xB13C, 0xB179, 0xB17F, 0xB193, 0xB195];
    let alone = [0xB116, 0xB12A, 0xB184, 0xB196];
    let codes: Vec<u16> = measured.into_iter().chain(alone).collect();
    let mut compared = 0;
    for capture in records(&codes) {
        let named: BTreeSet<i64> = capture
            .iter()
            .filter(|(code, _)| measured.contains(code))
            .flat_map(|(_, item)| cells(item))
            .collect();
        for (code, item) in capture.iter().filter(|(code, _)| alone.contains(code)) {
            if named.is_empty() {
                continue;
            }
            let own = cells(item);
            assert!(own.iter().any(|pci| named.contains(pci)), "{code:04X}: {own:?} of {named:?}");
            compared += 1;
        }
    }
    assert!(compared > 0 || known().is_none());
}

/// Every physical cell identity in a record.
fn cells(item: &Item) -> Vec<i64> {
    let lists = ["cells", "sub_packets", "neighbours", "assignments"];
    let nested = lists.iter().flat_map(|list| item.list(list)).flat_map(cells);
    item.number("pci").into_iter().chain(nested).collect()
}
