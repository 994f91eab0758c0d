//! 0xB063, 0xB064, 0xB066, 0xB067.

use serde_json::{Map, Value as Json, json};

use super::{RNTI, Texts, error, list, ours, same, sub_packets, text, theirs};
use crate::agree::Rule;
use crate::tree::Item;

const KINDS: Texts = &[
    (7, "DL Transport Block"),
    (8, "UL Transport Block"),
    (10, "UL Buffer Status SubPacket"),
    (11, "UL Tx Statistics SubPacket"),
];

const DOWN_CHANNELS: Texts = &[
    (0, "CCCH"),
    (1, "1"),
    (2, "2"),
    (3, "3"),
    (4, "4"),
    (5, "5"),
    (6, "6"),
    (7, "7"),
    (8, "8"),
    (9, "9"),
    (10, "10"),
    (26, "Long DRX Command"),
    (27, "Activation/Deactivation (1 octet)"),
    (28, "CRID"),
    (29, "TA"),
    (30, "DRX Command"),
    (31, "Padding"),
];

const UP_CHANNELS: Texts = &[
    (0, "CCCH"),
    (1, "1"),
    (2, "2"),
    (3, "3"),
    (4, "4"),
    (5, "5"),
    (6, "6"),
    (7, "7"),
    (8, "8"),
    (9, "9"),
    (10, "10"),
    (26, "PHR"),
    (27, "C-RNTI"),
    (28, "T-BSR"),
    (29, "S-BSR"),
    (30, "L-BSR"),
    (31, "Padding"),
];

pub(super) fn downlink(mine: &mut Item, reference: &Map<String, Json>) -> Vec<Rule> {
    drop_unread_headers(mine, reference);
    let header = vec![
        text("channel", "LC ID", DOWN_CHANNELS),
        theirs("Header Field"),
        same("len_bytes", "Len"),
        theirs("Len"),
        theirs("TA Field"),
        same("timing_advance_group", "TAG Id"),
        same("timing_advance_command", "TA Command"),
    ];
    let sample = vec![
        same("subscription", "Sub Id"),
        same("cell", "Cell Id"),
        same("subframe", "Sub-FN"),
        same("frame", "SFN"),
        text("rnti", "RNTI Type", RNTI),
        same("harq", "HARQ ID"),
        same("area", "Area ID"),
        same("pmch", "PMCH ID"),
        same("tb_bytes", "DL TBS (bytes)"),
        same("rlc_pdus", "RLC PDUs"),
        same("padding_bytes", "Padding (bytes)"),
        same("header_len_bytes", "HDR LEN"),
        list("mac", "Mac Hdr + CE", header),
    ];
    sub_packets("Num SubPkt", KINDS, vec![list("samples", "Samples", sample)])
}

pub(super) fn uplink(mine: &mut Item, reference: &Map<String, Json>) -> Vec<Rule> {
    drop_unread_headers(mine, reference);
    separate_groups(mine);
    let header = vec![
        text("channel", "LC ID", UP_CHANNELS),
        theirs("Header Field"),
        same("len_bytes", "Len"),
        theirs("Len"),
        theirs("L-BSR Field 1"),
        theirs("L-BSR Field 2"),
        theirs("L-BSR Field 3"),
        theirs("S/T-BSR Field"),
        theirs("PHR Field"),
        ours("bsr_group"),
        same("short_0", "BSR LCG 0"),
        same("short_1", "BSR LCG 1"),
        same("short_2", "BSR LCG 2"),
        same("short_3", "BSR LCG 3"),
        same("bsr_index_group_0", "BSR LCG 0"),
        error("bsr_index_group_1", "BSR LCG 1", |item| {
            let [g0, g1, g2, _] = groups(item);
            let (x, y) = (g0 << 2 | g1 >> 4, (g1 & 15) << 4 | g2 >> 2);
            json!((x << 4) & (0x30 + (y >> 4)))
        }),
        error("bsr_index_group_2", "BSR LCG 2", |item| {
            let [_, g1, g2, g3] = groups(item);
            let (x, y) = ((g1 & 15) << 4 | g2 >> 2, (g2 & 3) << 6 | g3);
            json!((x << 2) & (0x3C + (y >> 6)))
        }),
        same("bsr_index_group_3", "BSR LCG 3"),
        theirs("BSR LCG 0 (bytes)"),
        theirs("BSR LCG 1 (bytes)"),
        theirs("BSR LCG 2 (bytes)"),
        theirs("BSR LCG 3 (bytes)"),
        same("power_headroom_index", "PHR Ind"),
    ];
    let sample = vec![
        same("subscription", "Sub Id"),
        same("cell", "Cell Id"),
        same("harq", "HARQ ID"),
        text("rnti", "RNTI Type", RNTI),
        same("subframe", "Sub-FN"),
        same("frame", "SFN"),
        same("grant_bytes", "Grant (bytes)"),
        same("rlc_pdus", "RLC PDUs"),
        same("padding_bytes", "Padding (bytes)"),
        text("bsr_event", "BSR event", EVENTS),
        text("bsr_trigger", "BSR trig", TRIGGERS),
        same("header_len_bytes", "HDR LEN"),
        list("mac", "Mac Hdr + CE", header),
    ];
    sub_packets("Num SubPkt", KINDS, vec![list("samples", "Samples", sample)])
}

const EVENTS: Texts =
    &[(0, "None"), (1, "Periodic"), (2, "High Data Arrival"), (3, "Robustness BSR")];
const TRIGGERS: Texts = &[
    (0, "No BSR"),
    (1, "Cancelled"),
    (2, "L-BSR"),
    (3, "S-BSR"),
    (4, "Pad L-BSR"),
    (5, "Pad S-BSR"),
    (6, "Pad T-BSR"),
];

fn groups(item: &Item) -> [i64; 4] {
    ["bsr_index_group_0", "bsr_index_group_1", "bsr_index_group_2", "bsr_index_group_3"]
        .map(|name| item.number(name).expect("a long report has all groups"))
}

/// The reference reads MAC headers of blocks to the device's own identity only.
fn drop_unread_headers(mine: &mut Item, reference: &Map<String, Json>) {
    let packets = mine.list_mut("sub_packets").into_iter().flatten();
    let read = reference["Subpackets"].as_array().into_iter().flatten();
    for (packet, read) in packets.zip(read) {
        let samples = packet.list_mut("samples").into_iter().flatten();
        let read = read["Samples"].as_array().into_iter().flatten();
        for (sample, read) in samples.zip(read) {
            if read.get("Mac Hdr + CE").is_none() {
                assert_ne!(sample.number("rnti"), Some(0), "its own blocks it reads");
                sample.0.retain(|(name, _)| !["mac", "header"].contains(name));
            }
        }
    }
}

/// The reference names the index of a short report after its group.
fn separate_groups(mine: &mut Item) {
    for packet in mine.list_mut("sub_packets").into_iter().flatten() {
        for sample in packet.list_mut("samples").into_iter().flatten() {
            for header in sample.list_mut("mac").into_iter().flatten() {
                let group = header.number("bsr_group");
                for (name, _) in header.0.iter_mut().filter(|(name, _)| *name == "bsr_index") {
                    *name = match group {
                        Some(0) => "short_0",
                        Some(1) => "short_1",
                        Some(2) => "short_2",
                        _ => "short_3",
                    };
                }
            }
        }
    }
}

pub(super) fn buffer() -> Vec<Rule> {
    let channel = vec![
        same("channel", "Ld Id"),
        same("priority", "Priority"),
        same("new_uncompressed_bytes", "New Uncompressed Bytes"),
        same("new_bytes", "New Compressed Bytes"),
        same("new_bytes", "New bytes"),
        same("retx_bytes", "Retx bytes"),
        same("control_bytes", "Ctrl bytes"),
        theirs("Total Bytes"),
    ];
    let sample = vec![
        same("subscription", "Sub Id"),
        same("subframe", "Sub FN"),
        same("frame", "Sys FN"),
        same("channel_count", "Number of active LCID"),
        list("channels", "LCIDs", channel),
    ];
    sub_packets("Num SubPkt", KINDS, vec![list("samples", "Samples", sample)])
}

pub(super) fn statistics(reference: &mut Map<String, Json>) -> Vec<Rule> {
    for packet in reference["Subpackets"].as_array_mut().into_iter().flatten() {
        let packet = packet.as_object_mut().expect("a sub-packet is an object");
        if let Some(Json::Object(sample)) = packet.remove("Sample") {
            packet.extend(sample);
        }
    }
    let own = vec![
        same("subscription", "Sub Id"),
        same("sample_count", "Number of samples"),
        same("padding_bsrs", "Number of padding BSR"),
        same("regular_bsrs", "Number of regular BSR"),
        same("periodic_bsrs", "Number of periodic BSR"),
        same("cancelled_bsrs", "Number of cancel BSR"),
        same("granted_bytes", "Grant received"),
        same("used_bytes", "Grant utilized"),
    ];
    let mut rules = vec![
        text("id", "SubPacket ID", KINDS),
        same("version", "Version"),
        same("len_bytes", "SubPacket Size"),
    ];
    rules.extend(own);
    super::record(vec![
        same("sub_packet_count", "Num SubPkt"),
        list("sub_packets", "Subpackets", rules),
    ])
}
