"""0xB126, 0xB132, 0xB173."""

from __future__ import annotations

from ..rules import Record, Rule, Table, chosen, each, hexadecimal, made, same, text
from .words import ACK, CARRIER, CELL, ENABLED, ORDINAL, PASS, RNTI, YES

RANK = {0: "Rank 1", 1: "Rank 2", 2: "Rank 3", 3: "Rank 4"}
ANTENNAS = {0: "1 antenna", 1: "2 antennas", 2: "4 antennas", 3: "4 antennas"}
MODULATION = {0: "QPSK", 1: "16QAM", 2: "64QAM", 3: "256QAM"}
MODULATION_BITS = {2: "QPSK", 4: "16QAM", 6: "64QAM", 8: "256QAM"}
WIDEBAND = {0: "WideBand"}
TWO_CARRIERS = {0: "PCC", 1: "SCC"}
SKIP = {0: "NO_SKIP", 1: "SW_DISABLE"}
OPERATING_MODE = {1: "TILE0_4RX"}
PRESENT = {0: "None", 1: "Present"}
DISCARDED = {0: "NO_DISCARD", 1: "DISCARD_AND_ACK"}
COMPANDING = {0: "3 bit LLR", 1: "4 bit LLR", 2: "6 bit LLR"}
SCHEME = {
    1: "Single Antenna Port (SISO or SIMO)",
    2: "Transmit diversity",
    3: "Open-loop spatial multiplexing",
    4: "Closed-loop spatial multiplexing",
    5: "Multi-User MIMO",
    6: "Closed-loop rank-1 spatial multiplexing",
    7: "Single Antenna Port Beamforming",
    8: "Dual-Layer Beamforming",
}

WHERE = (
    same("Version", "version"),
    same("Serving Cell ID", "pci"),
    same("System Frame Number", "frame"),
    same("Subframe Number", "subframe"),
    same("PDSCH RNTIl ID", "rnti_value"),
)
BLOCKS = (
    hexadecimal("RB Allocation Slot 0[0]", "rbs_slot_0_low", 16),
    hexadecimal("RB Allocation Slot 0[1]", "rbs_slot_0_high", 16),
    hexadecimal("RB Allocation Slot 1[0]", "rbs_slot_1_low", 16),
    hexadecimal("RB Allocation Slot 1[1]", "rbs_slot_1_high", 16),
)
FREQUENCY = text("Frequency Selective PMI", "frequency_selective_pmi", WIDEBAND)
PMI = (same("PMI Index", "pmi"), text("Transmission Scheme", "scheme", SCHEME))
STREAMS = (
    same("TBS 0", "tb_bits_0"),
    text("MCS 0", "modulation_0", MODULATION),
    same("Traffic to Pilot Ratio", "traffic_to_pilot"),
    same("TBS 1", "tb_bits_1"),
    text("MCS 1", "modulation_1", MODULATION),
)


def _count(theirs: str, ours: str) -> Rule:
    """A power of two."""
    return made(theirs, ours, lambda item: 1 << item[ours])


DEMAPPER = Table(
    WHERE,
    text("PDSCH RNTI Type", "rnti", RNTI),
    _count("Number of Tx Antennas(M)", "tx_antennas"),
    _count("Number of Rx Antennas(N)", "rx_antennas"),
    text("Spatial Rank", "rank", RANK),
    BLOCKS,
    FREQUENCY,
    PMI,
    STREAMS,
    text("Carrier Index", "carrier", TWO_CARRIERS),
)

DEMAPPER_122 = Table(
    WHERE,
    text("Number of Tx Antennas(M)", "tx_antennas", ANTENNAS),
    text("PDSCH RNTI Type", "rnti", RNTI),
    text("Number of Rx Antennas(N)", "rx_antennas", ANTENNAS),
    text("Spatial Rank", "rank", RANK),
    FREQUENCY,
    BLOCKS,
    PMI,
    same("BMOD FD Sym Index", "bmod_fd_symbol"),
    STREAMS,
    same("PB", "pb"),
    text("Carrier Index", "carrier", TWO_CARRIERS),
    same("CSI-RS Exist", "csi_rs"),
    same("ZP CSI-RS Exist", "zp_csi_rs"),
    same("CSI-RS Symbol Skipped", "csi_rs_symbol_skipped"),
    text("Op Mode", "operating_mode", OPERATING_MODE),
    same("Strong ICell ID", "strong_interferer_pci"),
    text("Joint Demod Skip Reason", "joint_demod_skip_reason", SKIP),
)


def _part(theirs: str, shift: int, bits: int) -> Rule:
    """Some bits of the word on demodulation, which no other decoder splits."""
    return made(theirs, "demodulation", lambda item: item["demodulation"] >> shift & (1 << bits) - 1)


ASSIGNMENT_144 = Table(
    same("Serving Cell ID", "pci"),
    same("Sub-frame Number", "subframe"),
    same("System Frame Number", "frame"),
    text("PDSCH RNTI Type", "rnti", RNTI),
    text("Number of Tx Antennas (M)", "tx_antennas", ANTENNAS),
    text("Number of Rx Antennas (N)", "rx_antennas", ANTENNAS),
    same("PDSCH RNTIl ID", "rnti_value"),
    text("Spatial Rank", "rank", RANK),
    FREQUENCY,
    same("MU Receiver Mode", "mu_receiver_mode"),
    PMI,
    same("RB Allocation Slot 0[0]", "rbs_slot_0_low"),
    same("RB Allocation Slot 0[1]", "rbs_slot_0_high"),
    same("RB Allocation Slot 1[0]", "rbs_slot_1_low"),
    same("RB Allocation Slot 1[1]", "rbs_slot_1_high"),
    same("UERS Port Enabled", "ue_rs_ports"),
    same("BMOD FD Sym Index", "bmod_fd_symbol"),
    same("Transport Block Size Stream 0", "tb_bits_0"),
    text("Modulation Stream 0", "modulation_0", MODULATION),
    same("PB", "pb"),
    same("RhoB/RhoA", "rho_b_over_rho_a"),
    same("CSI-RS Exist", "csi_rs"),
    same("ZP CSI-RS Exist", "zp_csi_rs"),
    same("CSI-RS Symbol Skipped", "csi_rs_symbol_skipped"),
    same("Traffic to Pilot Ratio Data", "traffic_to_pilot_raw"),
    same("Transport Block Size Stream 1", "tb_bits_1"),
    text("Modulation Stream 1", "modulation_1", MODULATION),
    _part("SCH0 Memory Map Mode", 2, 2),
    _part("SCH1 Memory Map Mode", 4, 2),
    _part("Strong ICell ID", 6, 9),
    _part("Qice Enable Mode", 15, 2),
    _part("Qice Skip Reason", 17, 3),
    _part("Csf Dual Rnn Sel", 20, 1),
    _part("Plq Num Enabled Rd Groups", 21, 5),
    _part("Plg Num Loaded Rb Groups", 26, 5),
    _part("Qed Mode", 31, 3),
)

#: MobileInsight writes every assignment over the one before and leaves the last, as `Ignored`. All of them are here
#: too, under the name that its other lists have.
DEMAPPER_144 = Table(
    same("Version", "version"),
    text("Carrier Index", "carrier", TWO_CARRIERS),
    same("Num of Records", "count"),
    Rule("Ignored", "assignments", lambda value, item, strange: _last(value, strange)),
    each("Records", "assignments", ASSIGNMENT_144),
)


def _last(value: list[dict[str, object]], strange: set[str]) -> dict[str, object]:
    return ASSIGNMENT_144.apply(value[-1], strange) if value else {}


STREAM = Table(
    text("Transport Block CRC", "crc", PASS),
    same("NDI", "ndi"),
    text("Retransmission Number", "retx", ORDINAL),
    same("RVID", "rv"),
    same("Code Block Size Plus", "code_block_bits"),
    same("Num Code Block Plus Data", "code_blocks_less_one"),
    made("Num Code Block Plus", "code_blocks_less_one", lambda item: item["code_blocks_less_one"] + 1),
    same("Max Half Iter Data", "half_iterations"),
    same("Num Channel Bits", "channel_bits"),
    same("CW Idx", "codeword"),
    same("Llr Buf Valid", "llr_valid"),
    same("First Decoded CB Index", "first_decoded_block"),
    same("First Decoded CB Index Qed Iter2 Data", "first_decoded_block_qed"),
    same("Last Decoded CB Index Qed Iter2 Data", "last_decoded_block_qed"),
    text("Companding Format", "companding", COMPANDING),
    made("Effective Code Rate Data", "code_rate", lambda item: int(item["code_rate"] * 1024)),
    made("Effective Code Rate", "code_rate", lambda item: f"{item['code_rate']:.3f}"),
    same("HARQ Combine Enable", "combined"),
)
DECODING = Table(
    same("Version", "version"),
    same("Serving Cell ID", "pci"),
    same("Starting Subframe Number", "subframe"),
    same("Starting System Frame Number", "frame"),
    same("UE Category", "ue_category"),
    same("Num DL HARQ", "harq_processes"),
    same("TM Mode", "transmission_mode"),
    same("C_RNTI", "c_rnti"),
    text("Carrier Index", "carrier", CARRIER),
    same("Number of Records", "count"),
    each(
        "Records",
        "assignments",
        Table(
            same("Subframe Offset", "subframe_offset"),
            same("HARQ ID", "harq"),
            text("RNTI Type", "rnti", RNTI),
            same("Codeword Swap", "codewords_swapped"),
            same("Number of Transport Blks", "block_count"),
            each("Streams", "blocks", STREAM),
        ),
    ),
)

BLOCK = Table(
    same("HARQ ID", "harq"),
    same("RV", "rv"),
    same("NDI", "ndi"),
    text("CRC Result", "crc", PASS),
    text("RNTI Type", "rnti", RNTI),
    same("TB Index", "index"),
    text("Discarded reTx Present", "discarded_retx_present", PRESENT),
    text("Discarded ReTx", "discarded_retx", DISCARDED),
    text("Did Recombining", "recombined", YES),
    same("TB Size", "tb_bytes"),
    same("MCS", "mcs"),
    same("Num RBs", "rbs"),
    text("Modulation Type", "modulation", MODULATION_BITS),
    same("QED2 Interim Status", "qed2_status"),
    same("QED Iteration", "qed_iteration"),
    # A block that arrived is acknowledged.
    text("ACK/NACK Decision", "crc", ACK),
)
STATISTICS = Table(
    same("Version", "version"),
    same("Num Records", "count"),
    each(
        "Records",
        "subframes",
        Table(
            same("Subframe Num", "subframe"),
            same("Frame Num", "frame"),
            same("Num RBs", "rbs"),
            same("Num Layers", "layers"),
            same("Num Transport Blocks Present", "transport_blocks"),
            text("Serving Cell Index", "cell", CELL),
            text("HSIC Enabled", "hsic", ENABLED),
            each("Transport Blocks", "blocks", BLOCK),
            same("PMCH ID", "pmch"),
            same("Area ID", "area"),
        ),
    ),
)

RECORDS = (
    Record(0xB126, {None: DEMAPPER, 122: DEMAPPER_122, 123: DEMAPPER_122, 144: DEMAPPER_144}),
    Record(0xB132, {None: DECODING}),
    Record(0xB173, {None: STATISTICS}),
)
