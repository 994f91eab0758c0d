//! 0xB082, 0xB092.

use serde_json::{Value as Json, json};

use super::{MODE, differently, list, ours, record, same, text, theirs};
use crate::agree::Rule;
use crate::tree::{Item, Node};

fn binary(item: &Item, name: &str, width: usize) -> Json {
    json!(item.number(name).map(|number| format!("{number:0width$b}")))
}

pub(super) fn pdus(mine: &mut Item, direction: &str) -> Vec<Rule> {
    drop_empty_lists(mine);
    let (kind, pdus) = match direction {
        "RLCDL" => (differently("control", "PDU TYPE", |item| kind(item, "RLCDL")), "RLCDL PDUs"),
        _ => (differently("control", "PDU TYPE", |item| kind(item, "RLCUL")), "RLCUL PDUs"),
    };
    let pdu = vec![
        kind,
        theirs("rb_cfg_idx"),
        theirs("Status"),
        theirs("D/C LookAhead"),
        theirs("cpt"),
        theirs("E"),
        ours("status"),
        ours("control_type"),
        same("subframe", "sub_fn"),
        same("frame", "sys_fn"),
        same("pdu_bytes", "pdu_bytes"),
        same("logged_bytes", "logged_bytes"),
        differently("segment", "RF", |item| binary(item, "segment", 1)),
        differently("poll", "P", |item| binary(item, "poll", 1)),
        differently("framing", "FI", |item| binary(item, "framing", 2)),
        same("sn", "SN"),
        differently("ack_sn", "SN", |item| {
            json!(item.number("ack_sn").map(|sn| format!("ACK_SN = {sn}")))
        }),
        same("last_segment", "LSF"),
        same("segment_offset", "SO"),
        list("lengths", "RLC DATA LI", vec![same("len_bytes", "LI")]),
        list(
            "nacks",
            "RLC CTRL NACK",
            vec![same("sn", "NACK_SN"), ours("segment_start"), ours("segment_end")],
        ),
    ];
    let packet = vec![
        same("id", "Subpacket ID"),
        same("version", "Subpacket Version"),
        same("len_bytes", "Subpacket Size"),
        same("rb_config", "RB Cfg Idx"),
        text("mode", "RB Mode", MODE),
        same("sn_bits", "SN Length"),
        ours("enabled_logs"),
        theirs("Enabled PDU Log Packets"),
        same("vr_r", "VR(R)"),
        same("vr_x", "VR(X)"),
        same("vr_ms", "VR(MS)"),
        same("vr_h", "VR(H)"),
        same("vt_a", "VT(A)"),
        same("vt_s", "VT(S)"),
        same("pdus_without_poll", "PDU Without Poll"),
        same("bytes_without_poll", "Byte Without Poll"),
        same("poll_sn", "Poll SN"),
        same("pdu_count", "Number of PDUs"),
        list("pdus", pdus, pdu),
    ];
    record(vec![
        same("sub_packet_count", "Number of Subpackets"),
        list("sub_packets", "Subpackets", packet),
    ])
}

fn kind(item: &Item, direction: &str) -> Json {
    let kind = if item.number("control") == Some(1) { "CTRL" } else { "DATA" };
    json!(format!("{direction} {kind}"))
}

/// The reference has no list where there is no item.
fn drop_empty_lists(mine: &mut Item) {
    let empty = |node: &Node| matches!(node, Node::List(items) if items.is_empty());
    mine.0.retain(|(name, node)| *name == "pdus" || !empty(node));
    for (_, node) in &mut mine.0 {
        if let Node::List(items) = node {
            items.iter_mut().for_each(drop_empty_lists);
        }
    }
}
