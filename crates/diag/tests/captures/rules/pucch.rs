//! 0xB13C, 0xB14D, 0xB14E.

use serde_json::{Value as Json, json};

use super::{
    CARRIER, ON, PUCCH_FORMAT, Texts, differently, error, list, ours, record, same, text, theirs,
};
use crate::agree::Rule;
use crate::tree::Item;

fn binary(item: &Item, name: &str, width: usize) -> Json {
    json!(item.number(name).map(|number| format!("{number:0width$b}")))
}

pub(super) fn report() -> Vec<Rule> {
    let transmission = vec![
        same("tti", "Current SFN SF"),
        differently("cqi_payload", "CQI Payload", |item| binary(item, "cqi_payload", 16)),
        text("carrier", "Carrier Index", CARRIER),
        text("format", "Format", PUCCH_FORMAT),
        same("start_rb_slot_0", "Start RB Slot 0"),
        same("start_rb_slot_1", "Start RB Slot 1"),
        text(
            "second_slot_shortened",
            "SRS Shorting for 2nd Slot",
            &[(0, "Normal"), (1, "Shorten 2nd")],
        ),
        text("ue_srs", "UE SRS", ON),
        same("dmrs_sequence_slot_0", "DMRS Seq Slot 0"),
        same("dmrs_sequence_slot_1", "DMRS Seq Slot 1"),
        differently("cyclic_shifts", "Cyclic Shift Seq", |item| {
            let shift = |shift: &u8| json!({ "Cyclic Shift Seq per Symbol": shift });
            json!(item.bytes("cyclic_shifts").map(|all| all.iter().map(shift).collect::<Vec<_>>()))
        }),
        same("digital_gain", "PUCCH Digital Gain (dB)"),
        error("power_dbm", "PUCCH Tx Power (dBm)", |item| {
            json!(item.number("power_dbm").map(|power| power & 63))
        }),
        differently("ack_payload", "ACK Payload", |item| binary(item, "ack_payload", 20)),
        same("ack_len", "ACK Payload Length"),
        same("scheduling_request", "SR Bit FMT3"),
        same("dl_carriers", "Num DL Carriers"),
        text("dl_carrier", "DL Carrier Index", CARRIER),
        same("n1_pucch", "n_1_pucch"),
        same("ack_index", "Ack Nak Index"),
        same("ack_late", "Ack Nak Late"),
        same("csf_late", "Csf Late"),
        same("dropped", "Dropped Pucch"),
        same("resampler", "Tx Resampler"),
    ];
    record(vec![
        same("pci", "Serving Cell ID"),
        same("count", "Number of Records"),
        same("dispatch_tti", "Dispatch SFN SF"),
        list("transmissions", "Records", transmission),
    ])
}

const RANK: Texts = &[(0, "Rank 1"), (1, "Rank 2"), (2, "Rank 3"), (3, "Rank 4")];
const MODE: Texts = &[
    (0, "TM_Invalid"),
    (1, "TM_Single_Ant_Port_0"),
    (2, "TM_TD_Rank_1"),
    (3, "TM_OL_SM"),
    (4, "TM_CL_SM"),
    (5, "TM_MU_MIMO"),
    (6, "TM_CL_Rank_1_PC"),
    (7, "TM_Single_Ant_Port_5"),
];

fn feedback() -> Vec<Rule> {
    vec![
        same("subframe", "Start System Sub-frame Number"),
        same("frame", "Start System Frame Number"),
        same("subbands", "Number of Subbands"),
        text("transmission_mode", "CSF Tx Mode", MODE),
        text("carrier", "Carrier Index", CARRIER),
        text("rank", "Rank Index", RANK),
    ]
}

pub(super) fn periodic(version: u8) -> Vec<Rule> {
    let mut rules = feedback();
    rules.extend([
        text("mode", "PUCCH Reporting Mode", &[(2, "MODE_1_1")]),
        text(
            "report_type",
            "PUCCH Report Type",
            &[(2, "Type 2, Wideband CQI, PMI Feedback"), (3, "Type 3, RI Feedback")],
        ),
        ours("subband_label"),
        same("cqi_0", "CQI CW0"),
        same("cqi_1", "CQI CW1"),
        same("wideband_pmi", "Wideband PMI"),
    ]);
    if version == 102 {
        rules.extend([
            same("alternative_cqi_table", "Alt Cqi Table Data"),
            same("csi_rs_ports", "Num Csirs Ports"),
            same("csi_set", "Csi Meas Set Index"),
        ]);
    }
    record(rules)
}

pub(super) fn aperiodic(version: u8) -> Vec<Rule> {
    let mut rules = feedback();
    rules.extend([
        text(
            "mode",
            "PUSCH Reporting Mode",
            &[
                (0, "MODE_APERIODIC_RM12"),
                (1, "MODE_APERIODIC_RM20"),
                (2, "MODE_APERIODIC_RM22"),
                (3, "MODE_APERIODIC_RM30"),
                (4, "MODE_APERIODIC_RM31"),
            ],
        ),
        match version {
            42 => text("csi_set", "Csi Meas Set Index", &[(0, "CSI0")]),
            _ => same("csi_set", "Csi Meas Set Index"),
        },
        same("wideband_cqi_0", "WideBand CQI CW0"),
        same("wideband_cqi_1", "WideBand CQI CW1"),
        same("subband_size", "SubBand Size (k)"),
        same("wideband_pmi", "Single WB PMI"),
        same("multiband_pmi", "Single MB PMI"),
        ours("subband_feedback"),
        same("csi_rs_ports", "Num CSIrs Ports"),
        theirs("Forced Max RI"),
    ]);
    record(rules)
}
