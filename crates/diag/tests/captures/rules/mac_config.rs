//! 0xB060.

use serde_json::{Map, Value as Json, json};

use super::{Texts, differently, error, list, ours, record, same, text, theirs};
use crate::agree::Rule;
use crate::tree::Item;

const KINDS: Texts = &[
    (0, "Config Type Subpacket"),
    (1, "DL Config SubPacket"),
    (2, "UL Config SubPacket"),
    (3, "RACH Config SubPacket"),
    (4, "LC Config SubPacket"),
    (13, "eMBMS Config SubPacket"),
    (14, "All Rach Config SubPacket"),
    (18, "ELS SubPacket"),
];

/// The independent decoder writes infinity as a word.
fn timer(item: &Item, name: &str) -> Json {
    match item.number(name) {
        Some(0xFFFF) => json!("Infinity"),
        number => json!(number),
    }
}

pub(super) fn rules(mine: &mut Item, reference: &mut Map<String, Json>, body: &[u8]) -> Vec<Rule> {
    keep_what_is_read(mine, reference);
    check_reason(mine, reference, body);
    let group = vec![
        same("group", "STAG Id"),
        same("scells", "Scell Id Mask"),
        same("ta_timer_present", "Ta Timer Present"),
        differently("ta_timer_ms", "TA Timer", |item| timer(item, "ta_timer_ms")),
    ];
    let mut packet = vec![
        text("id", "SubPacket ID", KINDS),
        same("version", "Version"),
        same("len_bytes", "SubPacket Size"),
        same("subscription", "Sub Id"),
        ours("config_mask"),
        differently("ta_timer_ms", "TA Timer", |item| timer(item, "ta_timer_ms")),
        theirs("Num Active Stag"),
        list("groups", "Scell Tag Info", group),
        same("sr_present", "SR resource present"),
        same("sr_period_ms", "SR periodicity"),
        differently("bsr_timer_ms", "BSR timer", |item| timer(item, "bsr_timer_ms")),
        same("sps_releases", "SPS Number of Tx released"),
        same("retx_bsr_timer_ms", "Retx BSR timer"),
        same("deleted_count", "Number of deleted LC"),
        ours("deleted_channels"),
        same("channel_count", "Number of added/modified LC"),
        same("channel", "LC ID"),
        same("prioritised_kbytes_per_sec", "PBR(KBytes/s)"),
        same("priority", "Priority"),
        same("group", "LC group"),
        same("bucket_bytes", "Token bucket size (bytes)"),
        same("active_channels", "Num eMBMS Active LCs"),
        same("valid_cells", "Valid Cell Cfg Mask"),
        same("new_cells", "New Cell Cfg Mask"),
        list("cells", "Cells", super::rach::configuration("Scell Id")),
        same("ul_channel", "ELS UL LC Id"),
        same("dl_channel", "ELS DL LC Id"),
        same("retx_timer", "ELS MCE ReTx TMR Length"),
        error("preamble_power_dbm", "Preamble initial power", |item| {
            json!(item.number("preamble_power_dbm").map(|dbm| dbm & 0xFFFF))
        }),
    ];
    packet.extend(super::rach::configuration("Cell Id"));
    record(vec![same("sub_packet_count", "Num SubPkt"), list("sub_packets", "Subpackets", packet)])
}

/// The independent decoder stops at the first unknown sub-packet, and keeps only the last logical
/// channel.
fn keep_what_is_read(mine: &mut Item, reference: &mut Map<String, Json>) {
    let theirs = reference["Subpackets"].as_array_mut().expect("it is a list");
    let packets = mine.list_mut("sub_packets").expect("it has sub-packets");
    if let Some(unread) = packets.get(theirs.len()) {
        assert_eq!(unread.number("unsupported"), Some(1), "both decoders read this sub-packet");
    }
    packets.truncate(theirs.len());
    for (packet, theirs) in packets.iter_mut().zip(theirs) {
        packet.inline("channels", |channels| channels.into_iter().next_back());
        packet.0.retain(|(name, _)| *name != "group_count");
        let theirs = theirs.as_object_mut().expect("it is an object");
        if let Some(Json::Object(channel)) = theirs.remove("added/modified LC") {
            theirs.extend(channel);
        }
    }
}

/// The independent decoder reads reason, mask and two unused bytes as one number, and names only
/// one of its values.
fn check_reason(mine: &mut Item, reference: &mut Map<String, Json>, body: &[u8]) {
    let theirs = reference["Subpackets"].as_array_mut().into_iter().flatten();
    let packets = mine.list_mut("sub_packets").into_iter().flatten();
    let mut at = 4;
    for (packet, theirs) in packets.zip(theirs) {
        if packet.number("id") == Some(0) {
            assert_eq!(packet.number("version"), Some(1), "there is no other in captures");
            let wanted = match body[at + 4..at + 8] {
                [2, 8, 0, 0] => "CONNECTION RELEASE",
                _ => "NORMAL",
            };
            let found = theirs.as_object_mut().and_then(|theirs| theirs.remove("Config reason"));
            assert_eq!(found, Some(json!(wanted)));
            assert!(matches!(packet.number("reason"), Some(0 | 2)), "{packet:?}");
            packet.0.retain(|(name, _)| *name != "reason");
        }
        at += packet.number("len_bytes").expect("it has a length") as usize;
    }
}
