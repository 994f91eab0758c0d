//! PDUs of RLC in records, which are written as a modem would write them.

use std::time::Duration;

use sounding_diag::record::{Form, compose};
use sounding_diag::{LogCode, LogRecord};
use sounding_kpi::{Direction, Extractor, RlcPart, RlcPdu, extract, rlc_codes};
use sounding_units::ModemInstant;

fn stamped() -> ModemInstant {
    ModemInstant::from_diag(55_000_000_000 << 16)
}

fn pdus(code: u16, version: u32, form: &Form) -> Vec<RlcPdu> {
    let code = LogCode::new(code);
    let mut body = Vec::new();
    compose(code, version, form, &mut body).expect("the form fits");
    let log = LogRecord { code, at: stamped(), stamp: 0, radio: None, body: &body };
    let mut found = Vec::new();
    let is_rlc = Extractor::default().pdus(&log, |pdu| found.push(pdu)).expect("it is described");
    assert!(is_rlc);
    // The other KPIs have none of it.
    let _ = extract(&log, |kpi| assert!(!format!("{kpi:?}").contains("Rlc")));
    found
}

/// A PDU of LTE in subframe `subframe` of frame 9, with these bytes of header.
fn lte(subframe: u8, pdu_bytes: u16, header: &[u8]) -> Form {
    Form::new()
        .number("frame", 9)
        .number("subframe", subframe)
        .number("pdu_bytes", pdu_bytes)
        .bytes("rlc", header.to_vec())
}

fn bearer(config: u8, pdus: Vec<Form>) -> Form {
    let bearer = Form::sub_packet(65, 3).number("rb_config", config).number("mode", 1);
    bearer.number("sn_bits", 10).list("pdus", pdus)
}

#[test]
fn data_parts_and_requests_of_lte_are_those_of_their_bearer() {
    // D/C, RF, P, FI, E, SN 513; then as a part, LSF 0, SO 16 with a length of 291 bytes; then a
    // status: ACK_SN 5, NACK 3.
    let whole = lte(2, 100, &[0b1000_0010, 0x01]);
    let part = lte(4, 400, &[0b1100_0110, 0x01, 0x00, 0x10, 0x12, 0x30]);
    let status = lte(6, 4, &[0x00, 0x16, 0x01, 0x80, 0x00]);
    let signalling = bearer(33, vec![lte(1, 20, &[0x80, 0x07])]);
    let data = bearer(3, vec![whole, part, status]);
    let found = pdus(0xB082, 1, &Form::new().list("sub_packets", vec![signalling, data]));
    let first = RlcPdu {
        at: stamped().saturating_before(Duration::from_millis(4)),
        direction: Direction::Downlink,
        nr: false,
        bearer: Some(3),
        sn: 513,
        sn_bits: 10,
        part: RlcPart::Whole,
        is_asked: false,
    };
    let wanted = [
        first,
        // 400 bytes less four of header and two of a length.
        RlcPdu {
            at: stamped().saturating_before(Duration::from_millis(2)),
            part: RlcPart::Bytes { from: 16, to: Some(16 + 394) },
            ..first
        },
        RlcPdu { at: stamped(), direction: Direction::Uplink, sn: 3, is_asked: true, ..first },
    ];
    assert_eq!(found, wanted);
}

#[test]
fn requests_of_nr_name_each_pdu_of_a_run() {
    let (ack, nack) = (1_000_u32 << 2 | 0b10, 990_u32 << 6 | 1 << 3);
    let status = [&ack.to_be_bytes()[1..], &nack.to_be_bytes()[1..], &[2]].concat();
    let pdu = Form::new().number("slot", 3).number("frame", 300).number("sn_len_bits", 18);
    let pdu = pdu.bytes("status", status);
    let found = pdus(0xB84E, 1, &Form::new().list("pdus", vec![pdu]));
    let said: Vec<_> = found.iter().map(|pdu| (pdu.sn, pdu.is_asked, pdu.direction)).collect();
    assert_eq!(said, [990, 991].map(|sn| (sn, true, Direction::Uplink)));
    assert!(found.iter().all(|pdu| pdu.bearer.is_none() && pdu.sn_bits == 18 && pdu.nr));
}

#[test]
fn nr_has_parts_of_packets_and_leaves_out_signalling() {
    let subheader = |channel: u8, flags: u8, sn: u32| {
        let long = Form::new().number("len_bytes", 500).number("rlc_flags", flags);
        let long = long.number("rlc_sn", sn).number("pdcp_sn", sn);
        Form::new().number("channel", channel).number("long", 1).list("long", vec![long])
    };
    // Data of the whole packet, its first part, a status, and data of signalling.
    let subheaders = vec![
        subheader(4, 0b10_0000, 7),
        subheader(4, 0b10_0100, 8),
        subheader(4, 0, 9),
        subheader(1, 0b10_0000, 10),
    ];
    let block = Form::new().number("slot", 3).number("frame", 9).number("tb_bytes", 4_000);
    let block = block.number("subheaders_in_block", 4).list("subheaders", subheaders);
    let found = pdus(0xB857, 6, &Form::new().list("blocks", vec![block]));
    let said: Vec<_> = found.iter().map(|pdu| (pdu.sn, pdu.part, pdu.bearer)).collect();
    assert_eq!(said, [(7, RlcPart::Whole, Some(4)), (8, RlcPart::Unknown, Some(4))]);
}

#[test]
fn every_code_with_pdus_is_one_that_is_read() {
    for &code in rlc_codes() {
        let log = LogRecord { code, at: stamped(), stamp: 0, radio: None, body: &[] };
        // An empty body fits no layout. For a code without PDUs the body is not read at all.
        assert_ne!(Extractor::default().pdus(&log, |_| {}), Ok(false), "{code}");
    }
}
