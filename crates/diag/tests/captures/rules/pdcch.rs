//! 0xB130, 0xB16B.

use serde_json::{Value as Json, json};

use super::{
    ACK, AGGREGATION, CARRIER, RNTI, SEARCH_SPACE, TRUE, Texts, YES, differently, list, record,
    same, text, theirs,
};
use crate::agree::Rule;
use crate::tree::Item;

const STRUCTURE: Texts = &[(0, "FDD"), (1, "TDD")];
const ANTENNAS: Texts = &[(0, "1 or 2"), (1, "2 antennas"), (2, "4 antennas")];
const NORMAL: Texts = &[(0, "Normal")];
const MATCH: Texts = &[(0, "Mismatch"), (1, "Match")];
const FORMATS: Texts = &[
    (0, "Format 0"),
    (1, "Format 1"),
    (2, "Format 1A"),
    (3, "Format 1B"),
    (4, "Format 1C"),
    (5, "Format 1D"),
    (6, "Format 2"),
    (7, "Format 2A"),
    (8, "Format 3"),
    (9, "Format 3A"),
    (12, "Format 60A"),
    (13, "Format 61A"),
    (14, "Format 62"),
    (15, "Reserved"),
];
const PRUNE: Texts = &[
    (1, "SUCCESS_DCI0"),
    (3, "SUCCESS_DCI1A"),
    (4, "SUCCESS_DCI1C"),
    (6, "SUCCESS_DCI2_2A_2B"),
    (8, "TAIL_MISMATCH"),
    (9, "FAIL_SURVIVOR_SELECT"),
    (10, "PADDING_ERROR"),
    (13, "RB_ALLOC_SET_NUM_ERROR_TYPE1"),
    (17, "DUPLICATE_HARQ_ID_ERROR"),
    (19, "UNEXPECTED_PAYLOAD_SIZE"),
    (24, "BAD_RIV_DCI0"),
    (25, "RB_ALLOC_ERROR_DCI0"),
    (26, "INVALID_RB_NUM_DCI0"),
    (32, "BAD_RIV_DCI1A"),
    (33, "RB_ALLOC_ERROR_DCI1A"),
    (34, "INVALID_RB_NUM_DCI1A"),
    (36, "RETURN_DL_DATA_ARRIVAL_DCI1A"),
    (44, "RB_ALLOC_ERROR_DCI1C"),
    (48, "PMI_ERROR_DCI2_2A"),
    (50, "NUM_LAYERS_ERROR_DCI2_2A_TB1"),
    (64, "FAIL_SER_ENGYMTRC_CHECK"),
    (70, "NUM_LAYERS_EXCEED_NUM_RX"),
    (200, "PDCCH_DEBUG_SUCCESS_DCI60A"),
    (201, "PDCCH_DEBUG_SUCCESS_DCI61A"),
    (202, "PDCCH_DEBUG_SUCCESS_DCI62"),
    (216, "PDCCH_DEBUG_SUCCESS_DCI62_EARLY_TERMINATION"),
];

pub(super) fn decoding() -> Vec<Rule> {
    let group = vec![
        same("subframe_offset", "Subframe Offset"),
        text("cif", "CIF Configured", TRUE),
        text("two_bit_csi", "Two bits CSI Configured", TRUE),
        text("aperiodic_srs", "Aperiodic SRS Configured", TRUE),
        same("count", "Number of Hypothesis"),
        list("hypotheses", "Hypothesis", hypothesis()),
    ];
    record(vec![
        same("subframe", "Subframe Number"),
        same("frame", "System Frame Number"),
        differently("bandwidth_mhz", "Band Width (MHz)", |item| {
            json!(item.real("bandwidth_mhz").map(|mhz| mhz as i64))
        }),
        text("cif", "CIF Configured", TRUE),
        text("two_bit_csi", "Two bits CSI Configured", TRUE),
        text("aperiodic_srs", "Aperiodic SRS Configured", TRUE),
        text("structure", "Frame Structure", STRUCTURE),
        text("antennas", "Num eNB Antennas", ANTENNAS),
        text("dl_cyclic_prefix", "DL CP", NORMAL),
        same("special_subframe", "SSC"),
        same("ca_fdd_tdd", "CA FDD TDD"),
        theirs("__pad"),
        same("demback_mode", "Demback Mode Select"),
        text("carrier", "Carrier Index", CARRIER),
        same("count", "Number of Hypothesis"),
        same("group_count", "Num Records"),
        list("hypotheses", "Hypothesis", hypothesis()),
        list("groups", "SF", group),
    ])
}

fn hypothesis() -> Vec<Rule> {
    vec![
        same("payload", "Payload"),
        text("aggregation", "Aggregation Level", AGGREGATION),
        same("candidate", "Candidate"),
        text("search_space", "Search Space Type", SEARCH_SPACE),
        text("format", "DCI Format", FORMATS),
        text("rnti", "Decode States", RNTI),
        same("payload_bits", "Payload Size"),
        text("tail_match", "Tail Match", MATCH),
        same("mismatched_symbols", "Non Zero Symbol Mismatch Count"),
        same("start_cce", "Start CCE"),
        same("alternative_tbs", "Alt TBS Enabled"),
        same("nonzero_llrs", "Non Zero Llr Count"),
        same("normal", "Normal"),
        text("prune_status", "Prune Status", PRUNE),
        same("energy", "Energy Metric"),
        same("norm_energy", "Norm Energy Metric"),
        same("symbol_error_rate", "Symbol Error Rate"),
    ]
}

pub(super) fn indication(version: u8) -> Vec<Rule> {
    let phich = vec![
        same("cell", "Cell Index"),
        text("present", "PHICH Included", YES),
        text("second_present", "PHICH 1 Included", YES),
        text("answer", "PHICH Value", ACK),
        text("second_answer", "PHICH 1 Value", ACK),
    ];
    let pdcch = vec![
        same("cell", "Serv Cell Idx"),
        text("rnti", "RNTI Type", RNTI),
        same("payload_bits", "Payload Size"),
        text("aggregation", "Aggregation Level", AGGREGATION),
        text("search_space", "Search Space", SEARCH_SPACE),
        same("sps_grant", "SPS Grant Type"),
        text("new_downlink", "New DL Tx", if version == 5 { LOWER } else { TRUE }),
        same("downlink_blocks", "Num DL Trblks"),
    ];
    let subframe = vec![
        same("pdcch_count", "Num PDCCH Results"),
        same("phich_count", "Num PHICH Results"),
        same("frame", "PDCCH Timing SFN"),
        same("subframe", "PDCCH Timing Sub-FN"),
        text("phich_present", "PHICH Included", YES),
        text("phich_1_present", "PHICH 1 Included", YES),
        same("phich_frame", "PHICH Timing SFN"),
        same("phich_subframe", "PHICH Timing Sub-FN"),
        differently("phich", "PHICH Value", |item| answer(item, "phich_present", "phich")),
        differently("phich_1", "PHICH 1 Value", |item| answer(item, "phich_1_present", "phich_1")),
        list("phich", "PHICH", phich),
        list("pdcch", "PDCCH Info", pdcch),
    ];
    record(vec![
        same("duplex_mode", "Duplex Mode"),
        same("count", "Number of Records"),
        list("subframes", "Records", subframe),
    ])
}

const LOWER: Texts = &[(0, "false"), (1, "true")];

/// The reference writes a number in place of an answer that is not there.
fn answer(item: &Item, present: &str, answer: &str) -> Json {
    match (item.number(present), item.number(answer)) {
        (Some(0), Some(number)) => json!(number),
        (_, Some(1)) => json!("ACK"),
        _ => json!("NACK"),
    }
}
