//! 0xB0A3, 0xB0A5, 0xB0B3, 0xB0B5.

use serde_json::{Map, Value as Json, json};

use super::{MODE, Texts, YES, differently, error, list, ours, record, same, text};
use crate::agree::Rule;
use crate::tree::Item;

const CIPHER: Texts = &[(2, "LTE SNOW-3G"), (3, "LTE AES"), (7, "None")];

pub(super) fn ciphered(pdus: &'static str) -> Vec<Rule> {
    let pdu = vec![
        same("rb_config", "Cfg Idx"),
        text("mode", "Mode", &[(0, "AM")]),
        text("sn_bits", "SN Length", &[(0, "5 bit"), (1, "7 bit"), (2, "12 bit")]),
        same("bearer", "Bearer ID"),
        text("valid", "Valid PDU", YES),
        same("pdu_bytes", "PDU Size"),
        same("logged_bytes", "Logged Bytes"),
        same("subframe", "Sub FN"),
        same("frame", "Sys FN"),
        same("sn", "SN"),
        ours("first_bytes"),
    ];
    let packet = vec![
        same("id", "Subpacket ID"),
        same("version", "Subpacket Version"),
        same("len_bytes", "Subpacket Size"),
        text("srb_cipher", "SRB Cipher Algorithm", CIPHER),
        text("drb_cipher", "DRB Cipher Algorithm", CIPHER),
        same("pdu_count", "Num PDUs"),
        list("pdus", pdus, pdu),
    ];
    record(vec![same("sub_packet_count", "Num Subpkts"), list("sub_packets", "Subpackets", packet)])
}

/// The reference reads the first PDU of the first sub-packet.
pub(super) fn signalling(mine: &mut Item, reference: &mut Map<String, Json>) -> Vec<Rule> {
    if let Some(Json::Object(mut message)) = reference.remove("Msg") {
        reference.extend(message.remove("hex").map(|hex| ("Msg".into(), hex)));
    }
    mine.inline("sub_packets", |packets| packets.into_iter().next());
    mine.inline("pdus", |pdus| pdus.into_iter().next());
    // The version of the sub-packet, under the name of the record's.
    let last = mine.0.iter().rposition(|(name, _)| *name == "version").expect("it has a version");
    mine.0.remove(last);
    mine.0.retain(|(name, _)| {
        !["id", "len_bytes", "cipher", "integrity", "pdu_count", "logged_bytes"].contains(name)
    });
    record(vec![
        same("sub_packet_count", "Num SubPkt"),
        ours("rb_config"),
        same("pdu_bytes", "PDU Size"),
        ours("subframe"),
        ours("frame"),
        ours("count"),
        ours("mac_i"),
        ours("expected_mac_i"),
        differently("pdu", "Msg", message),
    ])
}

fn message(item: &Item) -> Json {
    let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    json!(item.bytes("pdu").map(hex))
}

fn packets(pdus: &'static str, pdu: Vec<Rule>) -> Vec<Rule> {
    let packet = vec![
        same("id", "Subpacket ID"),
        same("version", "Subpacket Version"),
        same("len_bytes", "Subpacket Size"),
        same("rb_config", "RB Cfg Idx"),
        same("rb_config", "RB Cfg Index"),
        text("mode", "Mode", MODE),
        same("sn_bits", "SN Length (bit)"),
        same("pdu_count", "Num PDUs"),
        list("pdus", pdus, pdu),
    ];
    record(vec![same("sub_packet_count", "Num Subpkt"), list("sub_packets", "Subpackets", packet)])
}

/// The reference takes the first octet for a number of sixteen bits with the lowest bit first: data
/// for control, and feedback of header compression for a status report.
pub(super) fn control() -> Vec<Rule> {
    packets(
        "PDCP DL Ctrl PDU",
        vec![
            same("pdu_bytes", "PDU Size"),
            same("logged_bytes", "Logged Bytes"),
            same("subframe", "sub fn"),
            same("frame", "sys fn"),
            text("control_type", "PDU Type", &[(0, "STATUS")]),
            differently("first_bytes", "fms", |item| {
                json!(
                    item.bytes("first_bytes")
                        .map(|b| i64::from(b[1]) + (i64::from(b[0] & 15) << 8))
                )
            }),
            error("first_bytes", "DC", |item| {
                json!(item.bytes("first_bytes").map(|bytes| bytes[0] & 1))
            }),
            error("first_bytes", "type", |item| {
                let kind = item.bytes("first_bytes").map(|bytes| bytes[0] >> 1 & 7);
                json!(if kind == Some(0) { "STATUS REPORT" } else { "(MI)Unknown" })
            }),
        ],
    )
}

pub(super) fn data() -> Vec<Rule> {
    packets(
        "PDCP UL Data PDU",
        vec![
            same("pdu_bytes", "PDU Size"),
            same("logged_bytes", "Logged Bytes"),
            same("subframe", "Subframe Number"),
            same("frame", "System Frame Number"),
            differently("first_bytes", "SN", |item| {
                json!(item.bytes("first_bytes").map(|bytes| bytes[0]))
            }),
        ],
    )
}
