//! 0xB126, 0xB132, 0xB173.

use serde_json::{Map, Value as Json, json};

use super::{
    CARRIER, CELL, ENABLED, ORDINAL, PASS, RNTI, Texts, YES, differently, error, list, ours,
    record, same, text, theirs,
};
use crate::agree::Rule;
use crate::tree::Item;

const RANK: Texts = &[(0, "Rank 1"), (1, "Rank 2"), (2, "Rank 3"), (3, "Rank 4")];
const ANTENNAS: Texts =
    &[(0, "1 antenna"), (1, "2 antennas"), (2, "4 antennas"), (3, "4 antennas")];
const MODULATION: Texts = &[(0, "QPSK"), (1, "16QAM"), (2, "64QAM"), (3, "256QAM")];
const MODULATION_BITS: Texts = &[(2, "QPSK"), (4, "16QAM"), (6, "64QAM"), (8, "256QAM")];
const WIDEBAND: Texts = &[(0, "WideBand")];
const TWO_CARRIERS: Texts = &[(0, "PCC"), (1, "SCC")];
const SKIP: Texts = &[(0, "NO_SKIP"), (1, "SW_DISABLE")];
const SCHEME: Texts = &[
    (1, "Single Antenna Port (SISO or SIMO)"),
    (2, "Transmit diversity"),
    (3, "Open-loop spatial multiplexing"),
    (4, "Closed-loop spatial multiplexing"),
    (5, "Multi-User MIMO"),
    (6, "Closed-loop rank-1 spatial multiplexing"),
    (7, "Single Antenna Port Beamforming"),
    (8, "Dual-Layer Beamforming"),
];

pub(super) fn demapper(version: u8) -> Vec<Rule> {
    let mut rules = vec![
        same("pci", "Serving Cell ID"),
        same("subframe", "Subframe Number"),
        same("frame", "System Frame Number"),
        same("rnti_value", "PDSCH RNTIl ID"),
        text("rnti", "PDSCH RNTI Type", RNTI),
        same("rbs_slot_0_low", "RB Allocation Slot 0[0]"),
        same("rbs_slot_0_high", "RB Allocation Slot 0[1]"),
        same("rbs_slot_1_low", "RB Allocation Slot 1[0]"),
        same("rbs_slot_1_high", "RB Allocation Slot 1[1]"),
        same("tb_bits_0", "TBS 0"),
        same("tb_bits_1", "TBS 1"),
        text("rank", "Spatial Rank", RANK),
        text("frequency_selective_pmi", "Frequency Selective PMI", WIDEBAND),
        same("pmi", "PMI Index"),
        text("scheme", "Transmission Scheme", SCHEME),
        text("modulation_0", "MCS 0", MODULATION),
        text("modulation_1", "MCS 1", MODULATION),
        same("traffic_to_pilot", "Traffic to Pilot Ratio"),
        text("carrier", "Carrier Index", TWO_CARRIERS),
    ];
    rules.extend(if version < 122 {
        vec![
            differently("tx_antennas", "Number of Tx Antennas(M)", |item| {
                power(item, "tx_antennas")
            }),
            differently("rx_antennas", "Number of Rx Antennas(N)", |item| {
                power(item, "rx_antennas")
            }),
        ]
    } else {
        vec![
            text("tx_antennas", "Number of Tx Antennas(M)", ANTENNAS),
            text("rx_antennas", "Number of Rx Antennas(N)", ANTENNAS),
            same("bmod_fd_symbol", "BMOD FD Sym Index"),
            same("pb", "PB"),
            same("csi_rs", "CSI-RS Exist"),
            same("zp_csi_rs", "ZP CSI-RS Exist"),
            same("csi_rs_symbol_skipped", "CSI-RS Symbol Skipped"),
            error("operating_mode", "Op Mode", operating_mode),
            same("strong_interferer_pci", "Strong ICell ID"),
            text("joint_demod_skip_reason", "Joint Demod Skip Reason", SKIP),
        ]
    });
    record(rules)
}

fn power(item: &Item, name: &str) -> Json {
    json!(item.number(name).map(|exponent| 1 << exponent))
}

fn operating_mode(item: &Item) -> Json {
    let word = item.number("operating_mode").zip(item.number("strong_interferer_pci"));
    match word.map(|(mode, pci)| (mode | pci << 4) & 0x15) {
        Some(1) => json!("TILE0_4RX"),
        _ => json!("(MI)Unknown"),
    }
}

/// The reference writes every assignment over the one before, and leaves the last.
pub(super) fn demapper_v144(mine: &mut Item, reference: &mut Map<String, Json>) -> Vec<Rule> {
    mine.0.retain(|(name, _)| *name != "carrier");
    mine.inline("assignments", |mut items| items.pop());
    let last = reference.remove("Ignored");
    reference.extend(last.and_then(|last| last.as_object().cloned()).into_iter().flatten());
    record(vec![
        same("count", "Num of Records"),
        theirs("Carrier Index"),
        same("pci", "Serving Cell ID"),
        same("subframe", "Sub-frame Number"),
        same("frame", "System Frame Number"),
        text("rnti", "PDSCH RNTI Type", RNTI),
        text("tx_antennas", "Number of Tx Antennas (M)", ANTENNAS),
        text("rx_antennas", "Number of Rx Antennas (N)", ANTENNAS),
        same("rnti_value", "PDSCH RNTIl ID"),
        text("rank", "Spatial Rank", RANK),
        text("frequency_selective_pmi", "Frequency Selective PMI", WIDEBAND),
        same("mu_receiver_mode", "MU Receiver Mode"),
        same("pmi", "PMI Index"),
        text("scheme", "Transmission Scheme", SCHEME),
        same("rbs_slot_0_low", "RB Allocation Slot 0[0]"),
        same("rbs_slot_0_high", "RB Allocation Slot 0[1]"),
        same("rbs_slot_1_low", "RB Allocation Slot 1[0]"),
        same("rbs_slot_1_high", "RB Allocation Slot 1[1]"),
        same("ue_rs_ports", "UERS Port Enabled"),
        same("bmod_fd_symbol", "BMOD FD Sym Index"),
        same("tb_bits_0", "Transport Block Size Stream 0"),
        text("modulation_0", "Modulation Stream 0", MODULATION),
        same("pb", "PB"),
        same("rho_b_over_rho_a", "RhoB/RhoA"),
        same("csi_rs", "CSI-RS Exist"),
        same("zp_csi_rs", "ZP CSI-RS Exist"),
        same("csi_rs_symbol_skipped", "CSI-RS Symbol Skipped"),
        same("traffic_to_pilot_raw", "Traffic to Pilot Ratio Data"),
        same("tb_bits_1", "Transport Block Size Stream 1"),
        text("modulation_1", "Modulation Stream 1", MODULATION),
        ours("demodulation"),
        theirs("SCH0 Memory Map Mode"),
        theirs("SCH1 Memory Map Mode"),
        theirs("Strong ICell ID"),
        theirs("Qice Enable Mode"),
        theirs("Qice Skip Reason"),
        theirs("Csf Dual Rnn Sel"),
        theirs("Plq Num Enabled Rd Groups"),
        theirs("Plg Num Loaded Rb Groups"),
        theirs("Qed Mode"),
    ])
}

const COMPANDING: Texts = &[(0, "3 bit LLR"), (1, "4 bit LLR"), (2, "6 bit LLR")];

pub(super) fn decoding() -> Vec<Rule> {
    let block = vec![
        text("crc", "Transport Block CRC", PASS),
        same("ndi", "NDI"),
        text("retx", "Retransmission Number", ORDINAL),
        same("rv", "RVID"),
        same("code_block_bits", "Code Block Size Plus"),
        same("code_blocks_less_one", "Num Code Block Plus Data"),
        theirs("Num Code Block Plus"),
        same("half_iterations", "Max Half Iter Data"),
        same("channel_bits", "Num Channel Bits"),
        same("codeword", "CW Idx"),
        same("llr_valid", "Llr Buf Valid"),
        same("first_decoded_block", "First Decoded CB Index"),
        same("first_decoded_block_qed", "First Decoded CB Index Qed Iter2 Data"),
        same("last_decoded_block_qed", "Last Decoded CB Index Qed Iter2 Data"),
        text("companding", "Companding Format", COMPANDING),
        differently("code_rate", "Effective Code Rate Data", |item| {
            json!(item.real("code_rate").map(|rate| (rate * 1024.0) as i64))
        }),
        theirs("Effective Code Rate"),
        same("combined", "HARQ Combine Enable"),
    ];
    let assignment = vec![
        same("subframe_offset", "Subframe Offset"),
        same("harq", "HARQ ID"),
        text("rnti", "RNTI Type", RNTI),
        same("codewords_swapped", "Codeword Swap"),
        same("block_count", "Number of Transport Blks"),
        list("blocks", "Streams", block),
    ];
    record(vec![
        same("pci", "Serving Cell ID"),
        same("subframe", "Starting Subframe Number"),
        same("frame", "Starting System Frame Number"),
        same("ue_category", "UE Category"),
        same("harq_processes", "Num DL HARQ"),
        same("transmission_mode", "TM Mode"),
        same("c_rnti", "C_RNTI"),
        text("carrier", "Carrier Index", CARRIER),
        same("count", "Number of Records"),
        list("assignments", "Records", assignment),
    ])
}

pub(super) fn statistics() -> Vec<Rule> {
    let block = vec![
        same("harq", "HARQ ID"),
        same("rv", "RV"),
        same("ndi", "NDI"),
        text("crc", "CRC Result", PASS),
        text("rnti", "RNTI Type", RNTI),
        same("index", "TB Index"),
        text("discarded_retx_present", "Discarded reTx Present", &[(0, "None"), (1, "Present")]),
        text("recombined", "Did Recombining", YES),
        same("tb_bytes", "TB Size"),
        same("mcs", "MCS"),
        same("rbs", "Num RBs"),
        text("modulation", "Modulation Type", MODULATION_BITS),
        same("qed2_status", "QED2 Interim Status"),
        error("qed_iteration", "QED Iteration", |item| {
            json!(item.number("qed_iteration").map(|iteration| iteration & 47))
        }),
        theirs("ACK/NACK Decision"),
    ];
    let subframe = vec![
        same("subframe", "Subframe Num"),
        same("frame", "Frame Num"),
        same("rbs", "Num RBs"),
        same("layers", "Num Layers"),
        same("transport_blocks", "Num Transport Blocks Present"),
        text("cell", "Serving Cell Index", CELL),
        text("hsic", "HSIC Enabled", ENABLED),
        list("blocks", "Transport Blocks", block),
        same("pmch", "PMCH ID"),
        same("area", "Area ID"),
    ];
    record(vec![same("count", "Num Records"), list("subframes", "Records", subframe)])
}
