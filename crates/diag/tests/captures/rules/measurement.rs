//! 0xB193.

use serde_json::json;

use super::{CELL, antenna, error, list, ours, record, same, text};
use crate::agree::Rule;
use crate::tree::Item;

pub(super) fn serving(mine: &mut Item, version: u8) -> Vec<Rule> {
    for packet in mine.list_mut("sub_packets").into_iter().flatten() {
        packet.inline("cells", |cells| cells.into_iter().next());
    }
    let mut rules = vec![
        same("id", "SubPacket ID"),
        same("version", "SubPacket Version"),
        same("len_bytes", "SubPacket Size"),
        same("earfcn", "E-ARFCN"),
        same("cell_count", "Num-of-cells"),
        ours("valid_receivers"),
        same("pci", "Physical Cell ID"),
        text("cell", "Serving Cell Index", CELL),
        same("serving", "Is Serving Cell"),
        same("frame", "Current SFN"),
        same("subframe", "Current Subframe Number"),
        antenna("rsrp_rx0_dbm", "RSRP Rx[0]", "RSRP Rx[0]", -180.0),
        antenna("rsrp_rx1_dbm", "RSRP Rx[1]", "RSRP Rx[1]", -180.0),
        same("rsrp_dbm", "RSRP"),
        antenna("rsrq_rx0_db", "RSRQ Rx[0]", "RSRP Rx[0]", -30.0),
        antenna("rsrq_rx1_db", "RSRQ Rx[1]", "RSRP Rx[1]", -30.0),
    ];
    rules.extend(match version {
        // Antenna 0 may not be there.
        36 => four_antennas(error("rsrq_db", "RSRQ", |item| {
            json!(item.real("rsrq_rx0_db").unwrap_or(-30.0))
        })),
        18 => two_antennas(error("rssi_dbm", "RSSI", |item| json!(item.real("rssi_rx1_dbm")))),
        _ => two_antennas(same("rssi_dbm", "RSSI")),
    });
    rules.extend(match version {
        19 => vec![
            // The reference leaves out the fraction.
            super::differently("projected_sir_db", "Projected SIR", |item| {
                json!(item.real("projected_sir_db").map(|sir| sir.trunc() as i64))
            }),
            same("rsrq_after_cancellation_db", "Post IC RSRQ"),
        ],
        _ => vec![ours("projected_sir_db"), ours("rsrq_after_cancellation_db")],
    });
    record(vec![
        same("sub_packet_count", "Number of SubPackets"),
        list("sub_packets", "Subpackets", rules),
    ])
}

fn two_antennas(rssi: Rule) -> Vec<Rule> {
    vec![
        same("rsrq_db", "RSRQ"),
        same("rssi_rx0_dbm", "RSSI Rx[0]"),
        same("rssi_rx1_dbm", "RSSI Rx[1]"),
        rssi,
        same("snr_rx0_db", "FTL SNR Rx[0]"),
        same("snr_rx1_db", "FTL SNR Rx[1]"),
    ]
}

fn four_antennas(rsrq: Rule) -> Vec<Rule> {
    let mut rules: Vec<Rule> = [
        "rsrp_rx2_dbm",
        "rsrp_rx3_dbm",
        "rsrp_filtered_dbm",
        "rsrq_rx2_db",
        "rsrq_rx3_db",
        "rsrq_filtered_db",
        "rssi_rx0_dbm",
        "rssi_rx1_dbm",
        "rssi_rx2_dbm",
        "rssi_rx3_dbm",
        "rssi_dbm",
        "snr_rx0_db",
        "snr_rx1_db",
        "snr_rx2_db",
        "snr_rx3_db",
    ]
    .map(ours)
    .into();
    rules.push(rsrq);
    rules
}
