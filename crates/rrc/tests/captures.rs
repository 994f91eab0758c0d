//! Every RRC message of the real captures decodes, whole.

use std::collections::BTreeMap;

use sounding_diag::capture::Capture;
use sounding_diag::packet::Packet;
use sounding_diag::record::{LteRrc, MessageSegments, NrRrc, RrcPdu};
use sounding_diag::{LogCode, LogRecord};
use sounding_rrc::{MAX_DEPTH, MAX_VALUES, Value, decode};
use sounding_testdata::{shared, shared_files};

/// Calls `check` with every RRC message of every capture.
fn for_each_message(mut check: impl FnMut(Option<RrcPdu>, &[u8])) {
    for file in shared_files("captures") {
        let bytes = std::fs::read(&file).expect("a capture can be read");
        // Beside the captures are indexes, and files of other formats.
        let Ok(mut capture) = Capture::new(&bytes) else { continue };
        let mut segments: BTreeMap<(LogCode, Option<u32>), MessageSegments> = BTreeMap::new();
        while let Some(found) = capture.poll_packet() {
            let Ok(located) = found else { continue };
            let Packet::Log(log) = located.packet else { continue };
            let Some((pdu, segment, message)) = message(&log) else { continue };
            let segment = segment.unwrap_or_else(|| panic!("{file:?}: an unknown segment"));
            let parts = segments.entry((log.code, log.radio)).or_default();
            if let Some(message) = parts.handle_segment(segment, message) {
                check(pdu, message);
            }
        }
    }
}

type Found<'a> = (Option<RrcPdu>, Option<sounding_diag::record::Segment>, &'a [u8]);

fn message<'a>(log: &LogRecord<'a>) -> Option<Found<'a>> {
    match log.code {
        LteRrc::CODE => {
            LteRrc::parse(log.body).ok().map(|found| (found.pdu, found.segment, found.message))
        }
        NrRrc::CODE => {
            NrRrc::parse(log.body).ok().map(|found| (found.pdu, found.segment, found.message))
        }
        _ => None,
    }
}

fn depth(value: &Value<'_>) -> u32 {
    let within = match value {
        Value::Sequence(members) => members.iter().map(|(_, value)| depth(value)).max(),
        Value::List(items) => items.iter().map(depth).max(),
        Value::Choice(_, value) | Value::Contains(value) => Some(depth(value)),
        _ => None,
    };
    1 + within.unwrap_or(0)
}

fn count(value: &Value<'_>) -> u32 {
    let within: u32 = match value {
        Value::Sequence(members) => members.iter().map(|(_, value)| count(value)).sum(),
        Value::List(items) => items.iter().map(count).sum(),
        Value::Choice(_, value) | Value::Contains(value) => count(value),
        _ => 0,
    };
    1 + within
}

/// Broadcast is padded to the size of its transport block, paging and one record of it in a thousand to more.
fn is_padded(pdu: RrcPdu) -> bool {
    use RrcPdu::{LteBcchDlSch, LtePcch, NbBcchDlSch, NrBcchBch};
    matches!(pdu, LteBcchDlSch | LtePcch | NbBcchDlSch | NrBcchBch)
}

#[test]
fn every_message_of_the_captures_decodes() {
    let mut counts: BTreeMap<RrcPdu, u64> = BTreeMap::new();
    let (mut undescribed, mut deepest, mut most) = (0, 0, 0);
    for_each_message(|pdu, message| {
        let Some(pdu) = pdu else {
            undescribed += 1;
            return;
        };
        let decoded = decode(pdu, message).unwrap_or_else(|error| panic!("{pdu:?}: {error}"));
        assert_eq!(decoded.unread, 0, "{pdu:?}: {:?}", decoded.value);
        assert!(decoded.left_bits < 8 || is_padded(pdu), "{pdu:?}: {}", decoded.left_bits);
        *counts.entry(pdu).or_default() += 1;
        deepest = deepest.max(depth(&decoded.value));
        most = most.max(count(&decoded.value));
    });
    if shared("captures").is_none() {
        return;
    }
    let counts: Vec<(&str, u64)> = counts.iter().map(|(pdu, n)| (pdu.name(), *n)).collect();
    assert_eq!(
        counts,
        [
            ("lte_bcch_dl_sch", 9980),
            ("lte_pcch", 46478),
            ("lte_dl_ccch", 1394),
            ("lte_dl_dcch", 9905),
            ("lte_ul_ccch", 1396),
            ("lte_ul_dcch", 18880),
            ("nb_bcch_dl_sch", 1),
            ("nb_dl_ccch", 1),
            ("nb_dl_dcch", 6),
            ("nb_ul_ccch", 1),
            ("nb_ul_dcch", 6),
            ("nr_bcch_bch", 256),
            ("nr_ul_dcch", 643),
            ("nr_reconfiguration", 356),
            ("nr_reconfiguration_complete", 353),
            ("nr_radio_bearer_config", 450),
        ]
    );
    assert_eq!(undescribed, 4, "a number that nobody has described, in NR's records of version 8");
    assert!(deepest < MAX_DEPTH / 2 && most < MAX_VALUES / 10, "{deepest} deep, {most} values");
}
