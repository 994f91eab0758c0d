//! 0xB139.

use serde_json::json;

use super::{CARRIER, ENABLED, ON, ORDINAL, Texts, differently, error, list, record, same, text};
use crate::agree::Rule;

const EXISTS: Texts = &[(0, "None"), (1, "Exists")];
const MODULATION: Texts = &[(0, "BPSK"), (1, "QPSK"), (2, "16-QAM"), (3, "64-QAM")];

pub(super) fn report(version: u8) -> Vec<Rule> {
    let mut rules = vec![
        same("tti", "Current SFN SF"),
        text("has_ack", "ACK", EXISTS),
        text("has_cqi", "CQI", EXISTS),
        text("has_ri", "RI", EXISTS),
        text("hopping", "Frequency Hopping", ENABLED),
        same("rv", "Redund Ver"),
        same("mirror_hopping", "Mirror Hopping"),
        same("dmrs_cyclic_shift_slot_0", "Cyclic Shift of DMRS Symbols Slot 0 (Samples)"),
        same("dmrs_cyclic_shift_slot_1", "Cyclic Shift of DMRS Symbols Slot 1 (Samples)"),
        same("dmrs_root_slot_0", "DMRS Root Slot 0"),
        same("dmrs_root_slot_1", "DMRS Root Slot 1"),
        text("ue_srs", "UE SRS", ON),
        same("allocation_type", "Resource Allocation Type"),
        same("start_rb_slot_0", "Start RB Slot 0"),
        same("start_rb_slot_1", "Start RB Slot 1"),
        same("rbs", "Num of RB"),
        text("dl_carrier", "DL Carrier Index", CARRIER),
        same("tb_bytes", "PUSCH TB Size"),
        same("code_rate", if version == 43 { "Coding Rate Data" } else { "Coding Rate" }),
        same("rate_matched_ack_bits", "Rate Matched ACK Bits"),
        // The independent decoder prints the twenty bits byte by byte.
        differently("ack_payload", "ACK Payload", |item| {
            let [a, b, c, ..] = item.number("ack_payload").unwrap_or_default().to_le_bytes();
            json!(format!("0x{a:02x}{b:02x}{c:02x}"))
        }),
        same("ack_len_0", "ACK/NAK Inp Length 0"),
        same("ack_len_1", "ACK/NAK Inp Length 1"),
        same("ri_bits", "Num RI Bits NRI (bits)"),
        same("ri_payload", "RI Payload"),
        same("rate_matched_ri_bits", "Rate Matched RI Bits"),
        text("modulation", "PUSCH Mod Order", MODULATION),
        same("digital_gain", "PUSCH Digital Gain (dB)"),
        text("srs_occasion", "SRS Occasion", ON),
        text("retx", "Re-tx Index", ORDINAL),
        same("cqi_bits", "Num CQI Bits"),
        same("rate_matched_cqi_bits", "Rate Matched CQI Bits"),
        same("dl_carriers", "Num DL Carriers"),
        error("ack_index", "Ack Nack Index", |item| {
            json!(item.number("ack_late").map(|late| late * 4096))
        }),
        same("ack_late", "Ack Nack Late"),
        same("csf_late", "CSF Late"),
        same("dropped", "Drop PUSCH"),
        same("cqi_payload", "CQI Payload"),
        same("resampler", "Tx Resampler"),
        error("start_rb_cluster_1", "Start RB Cluster1", |item| {
            let borrowed = item.number("rbs_cluster_1").unwrap_or_default() & 1;
            json!(item.number("start_rb_cluster_1").map(|start| start | borrowed << 7))
        }),
        error("rbs_cluster_1", "Num RB Cluster1", |item| {
            json!(item.number("rbs_cluster_1").map(|rbs| (rbs >> 1) * 63))
        }),
    ];
    rules.push(match version {
        102 => text("carrier", "Carrier Index", CARRIER),
        _ => text("carrier", "UL Carrier Index", CARRIER),
    });
    rules.push(match version {
        102 => error("power_dbm", "PUSCH Tx Power (dBm)", |item| {
            json!(item.number("power_dbm").map(|power| (power & 127) - 128))
        }),
        _ => error("power_dbm", "PUSCH Tx Power (dBm)", |item| {
            json!(item.number("power_dbm").map(|power| power & 127))
        }),
    });
    record(vec![
        same("pci", "Serving Cell ID"),
        same("count", "Number of Records"),
        same("dispatch_tti", "Dispatch SFN SF"),
        list("transmissions", "Records", rules),
    ])
}
