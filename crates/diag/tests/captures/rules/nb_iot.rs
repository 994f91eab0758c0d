//! 0xB244, 0xB245, 0xB246, 0xB24B, 0xB24C.

use serde_json::{Map, Value as Json, json};

use super::{ACK, PASS, TRUE, Texts, differently, list, record, same, text, theirs};
use crate::agree::Rule;
use crate::tree::Item;

const MODE: Texts =
    &[(0, "inband-DifferentPCI"), (1, "inband-SamePCI"), (2, "GUARDBAND"), (3, "STANDALONE")];

fn time() -> Vec<Rule> {
    vec![
        same("hyperframe", "NPDCCH Timing HSFN"),
        same("frame", "NPDCCH Timing SFN"),
        same("subframe", "NPDCCH Timing Sub FN"),
        theirs("Reserved"),
        theirs("Reserved2"),
    ]
}

fn records(own: Vec<Rule>, rules: Vec<Rule>) -> Vec<Rule> {
    let mut all = vec![same("count", "Num of Records"), list("records", "Records", rules)];
    all.extend(own);
    record(all)
}

pub(super) fn dci() -> Vec<Rule> {
    let mut rules = time();
    rules.extend([
        same("rnti_data", "RNTI Type Data"),
        text("rnti", "RNTI Type", &[(0, "C-RNTI"), (2, "TC-RNTI")]),
        text("ul_grant", "UL Grant Present", TRUE),
        text("dl_grant", "DL Grant Present", TRUE),
        text("pdcch_order", "PDCCH Order Present", TRUE),
        same("ndi", "NDI"),
        same("subcarrier", "SC Index"),
        same("rv", "Redundancy Version"),
        same("resources", "Resource Assignment"),
        same("delay", "Scheduling Delay"),
        same("mcs", "MCS"),
        same("repetition", "Repetition Number"),
        same("dci_repetition", "DCI Repetition Number"),
        same("harq_resource", "HARQ Resource"),
    ]);
    records(Vec::new(), rules)
}

pub(super) fn transmissions() -> Vec<Rule> {
    let mut rules = time();
    rules.extend([
        text("npusch_format", "NPUSCH Format", &[(0, "Format 1"), (1, "Format 2")]),
        text("msg3", "Is MSG3", TRUE),
        same("tbs_index", "ITBS"),
        same("repetitions", "Repetition Number"),
        same("resource_units", "Num RU"),
        same("rv", "RV Index"),
        same("tones", "Num Tone"),
        same("start_tone", "Start Tone"),
        same("power_dbm", "TX Power"),
        text("tx_type", "NPUSCH format 1 TX Type", &[(0, ""), (1, "New Transmission")]),
        text("answer", "ACK NACK", ACK),
        same("rflm", "RFLM"),
        same("prach_collision", "PRACH Collision Valid"),
        same("prach_collision_7680_ms", "PRACH Collision 7680ms"),
        same("scrambling_mask", "Scrambling Mask"),
    ]);
    let spacing = text("subcarrier_spacing", "Subcarrier Space", &[(4, "15 kHz")]);
    records(vec![spacing], rules)
}

pub(super) fn blocks() -> Vec<Rule> {
    let rnti: Texts = &[(1, "C-RNTI"), (3, "RA-RNTI"), (4, "TC-RNTI")];
    let rules = vec![
        same("frame", "SFN"),
        same("subframe", "Sub FN"),
        text("rnti", "RNTI Type", rnti),
        text("crc", "CRC", PASS),
        same("tb_bits", "TB Size"),
        same("hyperframe", "Hyper SFN Data"),
        same("mcs", "MCS"),
        same("subframes", "Isf"),
        text("auto_ack", "Auto ACK", TRUE),
        same("ndi", "NDI"),
    ];
    records(Vec::new(), rules)
}

pub(super) fn system() -> Vec<Rule> {
    record(vec![
        text("operation_mode", "OP Mode", MODE),
        text("measured_bandwidth", "Meas BW", &[(0, "mbw6 RBs")]),
        same("pci", "Cell Id"),
        same("earfcn", "Frequency"),
        same("rsrp_dbm", "Inst Meas RSRP"),
        same("srxlev_db", "Srxlev"),
    ])
}

/// The reference writes the head of the last layer into the record, and the cells of all into one
/// list.
pub(super) fn reselection(mine: &mut Item, reference: &mut Map<String, Json>) -> Vec<Rule> {
    mine.inline("layers", |layers| layers.into_iter().next_back());
    let cells = reference.remove("layers");
    let cells = cells.iter().filter_map(Json::as_array).flatten();
    let cells: Vec<Json> = cells.filter_map(|cell| cell.get("Ignored").cloned()).collect();
    reference.insert("cells".into(), json!(cells));
    record(vec![
        same("layer_count", "Num Layers"),
        same("cell_count", "Num Cells"),
        same("earfcn", "Frequency"),
        list(
            "cells",
            "cells",
            vec![
                same("pci", "PCI"),
                differently("rank", "RANK", |item| json!(item.number("rank"))),
                same("t_reselection", "Tresel Value"),
            ],
        ),
    ])
}
