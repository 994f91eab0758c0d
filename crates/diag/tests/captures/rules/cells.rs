//! 0x4127, 0xB0C1, 0xB0C2, 0xB179, 0xB195.

use serde_json::{Value as Json, json};

use super::{CELL, differently, error, list, ours, record, same, text};
use crate::agree::Rule;
use crate::tree::Item;

pub(super) fn wcdma() -> Vec<Rule> {
    record(vec![
        same("ul_uarfcn", "Uplink RF channel number"),
        same("dl_uarfcn", "Download RF channel number"),
        same("cell_identity", "Cell ID"),
        same("registration_area", "UTRA registration area (overlapping URAs)"),
        same("allowed_access", "Allowed call access"),
        error("psc", "PSC", |item| json!(item.number("psc").map(|psc| psc << 4))),
        differently("plmn", "PLMN", |item| json!(item.plmn("plmn"))),
        same("lac", "LAC"),
        same("rac", "RAC"),
    ])
}

/// The reference has the nominal bandwidth.
fn megahertz(item: &Item, name: &str) -> Json {
    let bandwidths =
        [(0, "0"), (6, "1.4"), (15, "3"), (25, "5"), (50, "10"), (75, "15"), (100, "20")];
    let found = bandwidths.iter().find(|(prb, _)| item.number(name) == Some(*prb));
    json!(found.map_or("(MI)Unknown".into(), |(_, text)| format!("{text} MHz")))
}

pub(super) fn mib() -> Vec<Rule> {
    record(vec![
        same("pci", "Physical Cell ID"),
        same("earfcn", "Freq"),
        same("frame", "SFN"),
        same("tx_antennas", "Number of Antenna"),
        differently("dl_bandwidth_prb", "DL BW", |item| megahertz(item, "dl_bandwidth_prb")),
    ])
}

pub(super) fn serving() -> Vec<Rule> {
    record(vec![
        same("pci", "Cell ID"),
        same("dl_earfcn", "Downlink frequency"),
        same("ul_earfcn", "Uplink frequency"),
        differently("dl_bandwidth_prb", "Downlink bandwidth", |item| {
            megahertz(item, "dl_bandwidth_prb")
        }),
        differently("ul_bandwidth_prb", "Uplink bandwidth", |item| {
            megahertz(item, "ul_bandwidth_prb")
        }),
        same("cell_identity", "Cell Identity"),
        same("tac", "TAC"),
        same("band", "Band Indicator"),
        same("mcc", "MCC"),
        same("mnc_digits", "MNC Digit"),
        same("mnc", "MNC"),
        same("allowed_access", "Allowed Access"),
    ])
}

pub(super) fn intra_frequency() -> Vec<Rule> {
    let level = || vec![same("rsrp_dbm", "RSRP(dBm)"), same("rsrq_db", "RSRQ(dB)")];
    let mut neighbour = level();
    neighbour.push(same("pci", "Physical Cell ID"));
    let detected = vec![
        same("pci", "Physical Cell ID"),
        same("sss_correlation", "SSS Corr Value"),
        same("reference_time", "Reference Time"),
    ];
    let mut rules = level();
    rules.extend([
        text("cell", "Serving Cell Index", CELL),
        same("earfcn", "E-ARFCN"),
        same("pci", "Serving Physical Cell ID"),
        same("tti", "Sub-frame Number"),
        same("neighbour_count", "Number of Neighbor Cells"),
        same("detected_count", "Number of Detected Cells"),
        list("neighbours", "Neighbor Cells", neighbour),
        list("detected", "Detected Cells", detected),
    ]);
    record(rules)
}

/// The reference has the combined levels only.
pub(super) fn neighbours(mine: &Item) -> Result<Vec<Rule>, String> {
    check_combined(mine)?;
    let cell = vec![
        same("pci", "Physical Cell ID"),
        differently("frequency_offset", "FTL Cumulative Freq Offset", |item| {
            json!(item.number("frequency_offset").map(|offset| offset & 0xFFFF))
        }),
        ours("rsrp_rx0_dbm"),
        ours("rsrp_rx1_dbm"),
        same("rsrp_dbm", "Inst Measured RSRP"),
        ours("rsrq_rx0_db"),
        ours("rsrq_rx1_db"),
        same("rsrq_db", "Inst Measured RSRQ"),
        ours("rssi_rx0_dbm"),
        ours("rssi_rx1_dbm"),
        same("rssi_dbm", "Inst Measured RSSI"),
    ];
    let packet = vec![
        same("id", "SubPacket ID"),
        same("version", "Version"),
        same("len_bytes", "SubPacket Size"),
        ours("unsupported"),
        same("earfcn", "E-ARFCN"),
        same("cell_count", "Num Cells"),
        text("duplex_mode", "Deplexing Mode", &[(0, "FDD"), (1, "TDD")]),
        text("cell", "Serving Cell Index", CELL),
        list("cells", "Neighbor Cells", cell),
    ];
    Ok(record(vec![
        same("sub_packet_count", "Number of SubPackets"),
        list("sub_packets", "SubPackets", packet),
    ]))
}

/// Checks that each combined level is the better of two antennas.
fn check_combined(mine: &Item) -> Result<(), String> {
    for cell in mine.list("sub_packets").iter().flat_map(|packet| packet.list("cells")) {
        for (kind, unit) in [("rsrp", "dbm"), ("rsrq", "db"), ("rssi", "dbm")] {
            let level = |of: &str| cell.real(&format!("{kind}{of}_{unit}"));
            let better = level("_rx0").zip(level("_rx1")).map(|(rx0, rx1)| rx0.max(rx1));
            if level("") != better {
                return Err(format!("{kind} is {:?}, of {better:?}", level("")));
            }
        }
    }
    Ok(())
}
