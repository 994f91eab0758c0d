//! 0xB081, 0xB091, 0xB0A0, 0xB0B0.

use serde_json::json;

use super::{MODE, Texts, differently, list, ours, record, same, text, theirs};
use crate::agree::Rule;

const REASON: Texts =
    &[(1, "Configuration"), (2, "Handover"), (4, "RB Release"), (8, "Radio Link Failure")];
const ACTION: Texts = &[(1, "Add"), (2, "Modify"), (4, "Resume")];
const KIND: Texts = &[(1, "SRB"), (2, "DRB")];
const CIPHER: Texts = &[(2, "Snow3G"), (3, "AES"), (7, "None")];
const INTEGRITY: Texts = &[(2, "AES"), (7, "None")];

fn configuration(own: Vec<Rule>, bearer: Vec<Rule>) -> Vec<Rule> {
    let mut packet = vec![
        same("id", "Subpacket ID"),
        same("version", "Subpacket Version"),
        same("len_bytes", "Subpacket Size"),
        ours("unsupported"),
        text("reason", "Reason", REASON),
        theirs("Number of Released RBs"),
        list("released", "Released RBs", vec![same("rb_config", "Released RB Cfg Index")]),
        theirs("Number of Added/Modified RBs"),
        list(
            "changed",
            "Added/Modified RBs",
            vec![
                same("rb_config", "Added/Modified RB Cfg Index"),
                text("action", "Action", ACTION),
            ],
        ),
        same("active_count", "Number of Active RBs"),
        same("active_count", "Number of active RBs"),
        list("active", "Active RBs", bearer),
    ];
    packet.extend(own);
    record(vec![
        same("sub_packet_count", "Num SubPkt"),
        same("sub_packet_count", "Num Subpkt"),
        list("sub_packets", "Subpackets", packet),
    ])
}

pub(super) fn rlc(kind: &'static str) -> Vec<Rule> {
    let bearer = vec![
        theirs(kind),
        theirs("SN Length"),
        text("mode", "RB Mode", MODE),
        same("channel", "LC ID"),
        same("bearer", "RB ID"),
        same("rb_config", "RB Cfg Idx"),
        text("kind", "RB Type", KIND),
        same("t_reordering_ms", "T Reordering (ms)"),
        same("t_status_prohibit_ms", "T Status Prohibit (ms)"),
        same("poll_bytes", "Poll Byte"),
        same("poll_pdus", "Poll PDU"),
        same("t_poll_retx_ms", "T Poll Retx (ms)"),
        same("max_retx_threshold", "Max Retx Threshold"),
    ];
    configuration(vec![same("room", "Max Size RBs")], bearer)
}

pub(super) fn pdcp() -> Vec<Rule> {
    let own = vec![
        text("srb_cipher", "SRB Cipher Algorithm", CIPHER),
        same("srb_cipher_key", "SRB Cipher Key Idx"),
        text("srb_integrity", "SRB Integrity Algorithm", INTEGRITY),
        same("srb_integrity_key", "SRB Integrity Key Idx"),
        text("drb_cipher", "DRB Cipher Algorithm", CIPHER),
        same("drb_cipher_key", "DRB Cipher Key Idx"),
        same("room", "Array size"),
    ];
    let bearer = vec![
        same("bearer", "RB ID"),
        same("rb_config", "RB-Cfg Idx"),
        same("eps_bearer", "EPS ID"),
        text("mode", "RB mode", MODE),
        text("kind", "RB type", KIND),
        same("sn_bits", "SN length"),
        text("status_report", "Status report", &[(0, "NO"), (1, "YES")]),
        same("discard_timer_ms", "Discard timer"),
        same("rohc_max_cid", "RoHC Max CID"),
        differently("rohc", "RoHC Enabled", |item| {
            json!(if item.number("rohc") == Some(0) { "false" } else { "true" })
        }),
        differently("rohc_profiles", "RoHC Mask", |item| {
            let profiles = item.number("rohc_profiles").unwrap_or_default() as u32;
            json!(format!("0x{:08x}", profiles.swap_bytes()))
        }),
        same("compression", "Compression Type"),
        same("udc_action", "UDC Cfg Action"),
        same("udc_context", "UDC Context ID"),
        same("udc_algorithm", "UDC Algo Ver"),
        same("udc_header_bytes", "UDC Header Length"),
    ];
    configuration(own, bearer)
}
