//! Single signalling records with a second decoder's reading of them: packets of GSMTAP, a header before the message.

use sounding_diag::record::{LteRrc, RrcPdu, Segment};

use crate::vectors::{Vector, decode, hex, number, vectors};

/// Header of GSMTAP version 2, in bytes.
const HEADER: usize = 16;

fn packet(vector: &Vector) -> Vec<u8> {
    let packet = hex(&vector.result["cp"][0]);
    assert_eq!(packet[..2], [2, 4], "version 2, four words of header");
    packet
}

/// GSMTAP's number for a channel of LTE.
fn gsmtap_channel(pdu: RrcPdu) -> u8 {
    match pdu {
        RrcPdu::LteDlCcch => 0,
        RrcPdu::LteDlDcch => 1,
        RrcPdu::LteUlCcch => 2,
        RrcPdu::LteUlDcch => 3,
        RrcPdu::LteBcchBch => 4,
        RrcPdu::LteBcchDlSch => 5,
        RrcPdu::LtePcch => 6,
        RrcPdu::LteMcch => 7,
        RrcPdu::NbUlCcch => 16,
        other => panic!("no vector has {other:?}"),
    }
}

#[test]
fn lte_rrc_messages_are_those_of_a_second_decoder() {
    for vector in vectors("parse_lte_rrc") {
        let found = LteRrc::parse(&vector.body).unwrap();
        let packet = packet(&vector);
        let version = vector.body[0];
        assert_eq!(found.message, &packet[HEADER..], "version {version}");
        let earfcn = u32::from(u16::from_be_bytes([packet[4], packet[5]]));
        assert_eq!(found.earfcn, earfcn, "version {version}");
        assert_eq!(found.pdu.map(gsmtap_channel), Some(packet[12]), "version {version}");
        assert_eq!(found.segment, Some(Segment::Whole), "version {version}");
    }
}

#[test]
fn wcdma_and_gsm_messages_are_those_of_a_second_decoder() {
    for (code, function) in [(0x412F, "parse_wcdma_rrc"), (0x512F, "parse_gsm_rr")] {
        for vector in vectors(function) {
            let tree = decode(code, &vector.body);
            let packet = packet(&vector);
            assert_eq!(tree.bytes("message"), Some(&packet[HEADER..]), "{function}");
            if let Some(uarfcn) = tree.number("uarfcn") {
                assert_eq!(uarfcn, i64::from(u16::from_be_bytes([packet[4], packet[5]])));
            }
        }
    }
}

#[test]
fn nr_registration_is_that_of_a_second_decoder() {
    for vector in vectors("parse_nr_mm_state") {
        let tree = decode(0xB80C, &vector.body);
        let state = |name| number(&tree, name);
        let tac =
            tree.bytes("tac").unwrap().iter().fold(0, |tac, byte| tac << 8 | u32::from(*byte));
        let start = format!(
            "5GMM State: {}/{}/{}, MCC/MNC: ",
            state("mm5g_state"),
            state("mm5g_substate"),
            state("update_status"),
        );
        let end = format!(
            "-{:02x}-{:03x}-{:02x}-{:08x}",
            state("guti_amf_region"),
            state("guti_amf_set"),
            state("guti_amf_pointer"),
            state("guti_5g_tmsi"),
        );
        let text = vector.result["stdout"].as_str().unwrap();
        assert!(text.starts_with(&start) && text.ends_with(&end), "{start} {end}: {text}");
        assert!(text.contains(&format!("TAC: {tac:6x},")), "{tac:x}: {text}");
    }
}
