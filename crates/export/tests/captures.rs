//! Compares messages and pcaps of real captures with an independent reader's.

#![allow(clippy::unwrap_used, reason = "a test whose set-up fails has to fail")]

use std::collections::BTreeMap;
use std::io::Read;

use serde_json::Value as Json;
use sounding_diag::capture::{Capture, Located};
use sounding_diag::packet::Packet;
use sounding_diag::radio::Tti;
use sounding_diag::record::RrcPdu;
use sounding_diag::{LogCode, LogRecord};
use sounding_export::message::{Channel, Message};
use sounding_export::pcap::{Became, Gsmtap, Messages};
use sounding_export::privacy;
use sounding_testdata::shared;

fn for_each(bytes: &[u8], mut each: impl FnMut(u64, &LogRecord<'_>)) {
    let mut capture = Capture::new(bytes).unwrap();
    while let Some(found) = capture.poll_packet() {
        if let Ok(Located { offset, packet: Packet::Log(record) }) = found {
            each(offset, &record);
        }
    }
}

fn capture(folder: &str, file: &str) -> Option<Vec<u8>> {
    Some(std::fs::read(shared(&format!("captures/{folder}/{file}"))?).unwrap())
}

const MI: &str = "mobile-insight__mobileinsight-core";

/// The independent reader's name for a channel, without its prefix.
fn their_name(channel: Channel) -> &'static str {
    match channel {
        Channel::Rrc(RrcPdu::LteBcchBch) => "BCCH_BCH",
        Channel::Rrc(RrcPdu::LteBcchDlSch) => "BCCH_DL_SCH",
        Channel::Rrc(RrcPdu::LteMcch) => "MCCH",
        Channel::Rrc(RrcPdu::LtePcch) => "PCCH",
        Channel::Rrc(RrcPdu::LteDlCcch) => "DL_CCCH",
        Channel::Rrc(RrcPdu::LteDlDcch) => "DL_DCCH",
        Channel::Rrc(RrcPdu::LteUlCcch) => "UL_CCCH",
        Channel::Rrc(RrcPdu::LteUlDcch) => "UL_DCCH",
        Channel::Rrc(RrcPdu::NbBcchBch) => "BCCH_BCH_NB",
        Channel::Rrc(RrcPdu::NbBcchDlSch) => "BCCH_DL_SCH_NB",
        Channel::Rrc(RrcPdu::NbPcch) => "PCCH_NB",
        Channel::Rrc(RrcPdu::NbDlCcch) => "DL_CCCH_NB",
        Channel::Rrc(RrcPdu::NbDlDcch) => "DL_DCCH_NB",
        Channel::Rrc(RrcPdu::NbUlCcch) => "UL_CCCH_NB",
        Channel::Rrc(RrcPdu::NbUlDcch) => "UL_DCCH_NB",
        Channel::Rrc(RrcPdu::NrBcchBch) => "nr-rrc.bcch.bch",
        Channel::Rrc(RrcPdu::NrReconfiguration) => "nr-rrc.rrc_reconf",
        Channel::Rrc(RrcPdu::NrRadioBearerConfig) => "nr-rrc.radio_bearer_conf",
        Channel::Rrc(RrcPdu::NrUlDcch) => "nr-rrc.ul.dcch",
        Channel::Rrc(other) => other.name(),
        Channel::NasPlain => "LTE-NAS_EPS_PLAIN",
        Channel::NasProtected => "LTE-NAS_EPS",
        Channel::NasNr => "nas-5gs",
        Channel::UmtsNas => "NAS",
        Channel::UmtsRrc(other) | Channel::GsmRr(other) => other,
        Channel::GprsMac => "RLC/MAC",
    }
}

#[test]
fn messages_are_those_of_an_independent_reader() {
    for (folder, file) in [
        (MI, "attach_sample.mi2log"),
        (MI, "twilio_nb_open_3.mi2log"),
        (MI, "20201116_123302_Xiaomi-Mi10_46000.mi2log"),
        (MI, "cmcc.mi2log"),
        ("lgs96__mobileinsight_core", "diag_log_20211220_003916.mi2log"),
        ("ZeroChaos-__rayhunter-traces", "1749222138-goodsim.qmdl"),
    ] {
        let Some(bytes) = capture(folder, file) else { continue };
        let Some(expected) = shared(&format!("expected/{folder}_{file}.jsonl.zst")) else {
            continue;
        };
        let mut text = String::new();
        let packed = std::fs::File::open(expected).unwrap();
        ruzstd::decoding::StreamingDecoder::new(packed).unwrap().read_to_string(&mut text).unwrap();
        let mut theirs = BTreeMap::new();
        for line in text.lines() {
            let line: Json = serde_json::from_str(line).unwrap();
            let message = &line["mi"]["Msg"];
            if let (Some(proto), Some(hex)) = (message["proto"].as_str(), message["hex"].as_str()) {
                let proto = proto.trim_start_matches("LTE-RRC_").to_owned();
                theirs.insert(line["off"].as_u64().unwrap(), (proto, hex.to_owned()));
            }
        }
        let mut compared = 0;
        for_each(&bytes, |offset, record| {
            let Some(message) = Message::of(record) else { return };
            let Some((proto, hex)) = theirs.get(&offset) else { return };
            // Theirs puts a byte before it that makes it a message of the uplink for their
            // dissector.
            if message.channel == Channel::Rrc(RrcPdu::NrReconfigurationComplete) {
                return;
            }
            // Theirs reads GSM's by the layout of another record.
            if matches!(message.channel, Channel::GsmRr(_)) {
                return;
            }
            let ours: String = message.bytes.iter().map(|byte| format!("{byte:02x}")).collect();
            let code = record.code;
            assert_eq!(
                (their_name(message.channel), &ours),
                (proto.as_str(), hex),
                "{file}: {code}"
            );
            compared += 1;
        });
        assert!(compared > 5, "{file}: {compared}");
    }
}

#[test]
fn records_for_kpis_are_shown() {
    for code in [
        0xB064, 0xB066, 0xB067, 0xB126, 0xB130, 0xB132, 0xB139, 0xB16B, 0xB173, 0xB193, 0xB872,
        0xB873, 0xB881, 0xB883, 0xB885, 0xB887, 0xB888, 0xB8A7, 0xB97F,
    ] {
        let code = LogCode::new(code);
        let at = Default::default();
        let log = LogRecord { code, at, stamp: 0, radio: None, body: &[0; 64] };
        assert!(!privacy::identifies(&log), "{code}");
    }
}

/// Wireshark's reading of a pcapng: the innermost protocol and the time of each packet. `None`,
/// with a reported skip, if it is not installed; a packet that it cannot read fails.
fn dissected(pcapng: Vec<u8>) -> Option<Vec<(String, String)>> {
    if std::process::Command::new("tshark").arg("--version").output().is_err() {
        sounding_testdata::skip(sounding_testdata::Need::Tools, "tshark is not installed");
        return None;
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("messages.pcapng");
    std::fs::write(&path, pcapng).unwrap();
    let output = std::process::Command::new("tshark")
        .arg("-r")
        .arg(&path)
        .args([
            "-T",
            "fields",
            "-e",
            "frame.protocols",
            "-e",
            "frame.time_epoch",
            "-e",
            "_ws.malformed",
        ])
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let packets = text.lines().map(|line| {
        let [protocols, time, malformed] = line.split('\t').collect::<Vec<_>>()[..] else {
            panic!("{line}")
        };
        assert!(malformed.is_empty(), "{line}");
        (protocols.to_owned(), time.to_owned())
    });
    Some(packets.collect())
}

#[test]
fn wireshark_reads_what_is_written() {
    let Some(bytes) = capture(MI, "20201116_123302_Xiaomi-Mi10_46000.mi2log") else { return };
    let mut messages = Messages::pcapng(Vec::new()).unwrap();
    let (mut expected, mut left_out) = (0, 0);
    for_each(&bytes, |_, record| {
        let Ok(message) = Message::find(record) else { return };
        match messages.handle_message(record, &message).unwrap() {
            Became::Written => expected += 1,
            Became::NoPlace => left_out += 1,
            Became::WithoutCarrier => panic!("a pcapng has every carrier"),
        }
    });
    // No dissector takes an answer to a reconfiguration that stands alone.
    assert_eq!(left_out, 13);
    let Some(packets) = dissected(messages.into_inner()) else { return };
    assert_eq!(packets.len() as u64, expected);
    // The capture's name says 16 November 2020.
    assert!(packets.iter().all(|(_, time)| time.starts_with("16055")));
    for kind in [":lte_rrc", ":nr-rrc"] {
        assert!(packets.iter().any(|(protocols, _)| protocols.ends_with(kind)), "{kind}");
    }
}

#[test]
fn wireshark_reads_messages_of_umts() {
    let captures =
        [("kaiyuhou__mobileinsight-core", "monitor-example.mi2log"), (MI, "cmcc.mi2log")];
    let mut messages = Messages::pcapng(Vec::new()).unwrap();
    let (mut rrc, mut nas) = (0, 0);
    for (folder, file) in captures {
        let Some(bytes) = capture(folder, file) else { return };
        for_each(&bytes, |_, record| {
            let Ok(message) = Message::find(record) else { return };
            match message.channel {
                Channel::UmtsRrc(_) => rrc += 1,
                Channel::UmtsNas => nas += 1,
                _ => return,
            }
            assert_eq!(messages.handle_message(record, &message).unwrap(), Became::Written);
        });
    }
    assert!(rrc > 10 && nas > 0, "{rrc} of RRC, {nas} of NAS");
    let Some(packets) = dissected(messages.into_inner()) else { return };
    let count = |of: &str| packets.iter().filter(|(protocols, _)| protocols.contains(of)).count();
    assert_eq!((count(":gsmtap:rrc"), count(":gsmtap:gsm_a.dtap")), (rrc, nas), "{packets:?}");
}

/// The record of a message of GSM: code, channel with direction, kind, message.
fn of_gsm(code: u16, channel: u8, kind: u8, message: &[u8]) -> (LogCode, Vec<u8>) {
    let len = message.len() as u8;
    let head: &[u8] = match code {
        0x5230 => &[channel, kind, len, 0],
        0x713A => &[channel, len, 0, 0, 0],
        _ => &[channel, kind, len],
    };
    (LogCode::new(code), [head, message].concat())
}

/// Paging without an identity, an immediate assignment's rejection, system information 3, a release
/// of a channel, a measurement report, an attach that is accepted, a rejected location update, and
/// a dummy block of GPRS, all padded as they are on the air, and Wireshark's last protocol and
/// direction.
fn messages_of_gsm() -> Vec<((LogCode, Vec<u8>), &'static str)> {
    let padded = |message: &[u8], len| [message, &vec![0x2B; len - message.len()]].concat();
    let common = |message: &[u8]| padded(message, 23);
    vec![
        (of_gsm(0x512F, 0x83, 0x21, &common(&[0x15, 6, 0x21, 0, 1, 0xF0])), "gsm_a.ccch"),
        (
            of_gsm(
                0x512F,
                0x81,
                0x1B,
                &common(&[0x49, 6, 0x1B, 0, 1, 0, 0xF1, 0x10, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0]),
            ),
            "gsm_a.ccch",
        ),
        (of_gsm(0x512F, 0x80, 0x0D, &[6, 0x0D, 0]), "gsm_a.dtap"),
        (
            of_gsm(0x512F, 0x04, 0x15, &[6, 0x15, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]),
            "gsm_a.dtap",
        ),
        (of_gsm(0x5230, 1, 0x02, &[8, 2, 1, 0x49, 4, 0, 0xF1, 0x10, 0, 1, 1]), "gsm_a.dtap"),
        (of_gsm(0x713A, 0, 0x04, &[5, 4, 11]), "gsm_a.dtap"),
        (of_gsm(0x5226, 0x83, 0x25, &padded(&[0x94], 22)), "gsm_rlcmac"),
    ]
}

#[test]
fn wireshark_reads_messages_of_gsm_in_either_kind_of_file() {
    let records = messages_of_gsm();
    let make = [|| Messages::pcap(Vec::new()), || Messages::pcapng(Vec::new())];
    for new in make {
        let mut messages = new().unwrap();
        for ((code, body), _) in &records {
            let record =
                LogRecord { code: *code, at: Default::default(), stamp: 0, radio: None, body };
            let message = Message::find(&record).unwrap();
            assert_eq!(messages.handle_message(&record, &message).unwrap(), Became::Written);
            assert!(privacy::identifies(&record), "{code}: it stays out unless all is shown");
        }
        let Some(packets) = dissected(messages.into_inner()) else { return };
        assert_eq!(packets.len(), records.len());
        for ((protocols, _), (_, wanted)) in packets.iter().zip(&records) {
            assert!(protocols.contains(&format!(":gsmtap:{wanted}")), "{wanted}: {protocols}");
        }
    }
}

#[test]
fn wireshark_reads_what_a_modem_says_of_gsm() {
    let Some(bytes) = capture(MI, "cmcc.mi2log") else { return };
    let mut messages = Messages::pcap(Vec::new()).unwrap();
    let mut found = 0;
    for_each(&bytes, |_, record| {
        if record.code != LogCode::new(0x512F) {
            return;
        }
        let message = Message::find(record).unwrap();
        found += usize::from(messages.handle_message(record, &message).unwrap() == Became::Written);
    });
    assert!(found > 300, "{found}");
    let Some(packets) = dissected(messages.into_inner()) else { return };
    assert_eq!(packets.len(), found);
    assert!(
        packets.iter().all(|(protocols, _)| protocols.contains(":gsmtap:gsm_a.")),
        "{packets:?}"
    );
}

/// A page on a carrier.
fn page(carrier: u32) -> Message<'static> {
    Message {
        channel: Channel::Rrc(RrcPdu::LtePcch),
        uplink: false,
        carrier,
        cell: Some(7),
        tti: Tti::new(1000, 9),
        bytes: &[0x40],
    }
}

/// The file of one message.
fn file_of(mut messages: Messages<Vec<u8>>, message: &Message<'_>) -> (Became, Vec<u8>) {
    let code = LogCode::new(0xB0C0);
    let record = LogRecord { code, at: Default::default(), stamp: 0, radio: None, body: &[] };
    let became = messages.handle_message(&record, message).unwrap();
    (became, messages.into_inner())
}

#[test]
fn the_number_of_a_carrier_is_whole_or_absent() {
    let number_of = |packet: &[u8]| u16::from_be_bytes([packet[32], packet[33]]) & 0x3FFF;
    for (carrier, in_pcap) in [
        (0x3FFF, Became::Written),
        (0x4000, Became::WithoutCarrier),
        (66_486, Became::WithoutCarrier),
        (u32::MAX, Became::WithoutCarrier),
    ] {
        let (became, file) = file_of(Messages::pcap(Vec::new()).unwrap(), &page(carrier));
        assert_eq!(became, in_pcap);
        // A header of 24 bytes, and one of 16 for the packet.
        let wanted = if became == Became::Written { carrier as u16 } else { 0 };
        assert_eq!(number_of(&file[40..]), wanted);
        let (became, file) = file_of(Messages::pcapng(Vec::new()).unwrap(), &page(carrier));
        assert_eq!(became, Became::Written);
        let text = String::from_utf8_lossy(&file).into_owned();
        let comment = text.contains(&format!("EARFCN {carrier}, PCI 7, downlink"));
        assert_eq!(comment, in_pcap == Became::WithoutCarrier);
    }
}

/// Version, type, subtype, tags with values, and message of a packet of GSMTAP version 3, as its
/// public proposal describes them.
fn read_v3(datagram: &[u8]) -> (u8, u16, u16, BTreeMap<u16, u32>, &[u8]) {
    let number = |at: usize| u16::from_be_bytes([datagram[at], datagram[at + 1]]);
    let mut tags = BTreeMap::new();
    let mut at = 8;
    while number(at) != 0xFFFE {
        let value = &datagram[at + 4..][..usize::from(number(at + 2))];
        tags.insert(number(at), value.iter().fold(0, |sum, byte| sum << 8 | u32::from(*byte)));
        at += 4 + value.len();
    }
    (datagram[0], number(4), number(6), tags, &datagram[usize::from(number(2)) * 4..])
}

#[test]
fn version_3_has_every_carrier_and_nr_in_either_kind_of_file() {
    let large = page(66_486);
    let complete = RrcPdu::NrReconfigurationComplete;
    let answer = Message {
        channel: Channel::Rrc(complete),
        uplink: true,
        cell: Some(1007),
        tti: None,
        ..page(504_990)
    };
    let detach =
        Message { channel: Channel::NasPlain, uplink: true, cell: None, tti: None, ..page(0) };
    const UPLINK: u32 = 1 << 31;
    for (message, kind, tags) in [
        (large, (0x403, 7), vec![(2, 66_486), (5, 7), (8, 1000), (9, 9)]),
        (answer, (0x503, 0x202), vec![(2, UPLINK | 504_990), (5, 1007)]),
        (detach, (0x404, 0), vec![(2, UPLINK)]),
    ] {
        let pcap = Messages::pcap(Vec::new()).unwrap().with_gsmtap(Gsmtap::V3);
        let (became, file) = file_of(pcap, &message);
        assert_eq!(became, Became::Written);
        // Headers of the file, the packet, IP and UDP.
        let datagram = &file[24 + 16 + 28..];
        let tags = tags.into_iter().collect();
        assert_eq!(read_v3(datagram), (3, kind.0, kind.1, tags, message.bytes));
        let pcapng = Messages::pcapng(Vec::new()).unwrap().with_gsmtap(Gsmtap::V3);
        let (became, file) = file_of(pcapng, &message);
        assert_eq!(became, Became::Written);
        assert!(file.windows(datagram.len()).any(|window| window == datagram));
    }
}

/// A message of a test network, TS 24.501 as others publish it, in a record as a modem would write
/// it.
#[test]
fn wireshark_reads_nas_of_nr() {
    let message = b"\x7e\x00\x41\x79\x00\x0d\x01\x02\xf8\x39\x00\x00\x00\x00\x00\x00\x00\x10\x02\x2e\x08\xa0\x20\x00\x00\x00\x00\x00\x00";
    let body = [&[1, 0, 0, 0, 15, 1, 0], &message[..]].concat();
    let code = LogCode::new(0xB80B);
    let record = LogRecord { code, at: Default::default(), stamp: 0, radio: None, body: &body };
    let mut messages = Messages::pcapng(Vec::new()).unwrap();
    let message = Message::find(&record).unwrap();
    assert_eq!(messages.handle_message(&record, &message).unwrap(), Became::Written);
    let Some(packets) = dissected(messages.into_inner()) else { return };
    assert!(packets[0].0.ends_with(":nas-5gs"), "{packets:?}");
}
