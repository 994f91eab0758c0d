//! LTE's physical layer: BISCAY's PRB, TBS, MCS and layers per carrier, and HARQ as Gandalf follows
//! it.
//!
//! Fields of downlink blocks are of those to this device; paging and system information are left
//! out.

use super::table::kpis;

kpis! {
/// PUSCH transmit report.
PUSCH = 0xB139 {
    "lte.pusch.tbs" Bytes 0..=12237 "transmissions.tb_bytes"
        "TS 36.213 §8.6.2; BISCAY §3.2.2" "transport block of an uplink transmission";
    "lte.pusch.prb" Prb 0..=110 "transmissions.rbs"
        "TS 36.213 §8.1; BISCAY §3.2.2" "resource blocks of an uplink transmission; of its first cluster, if it has two";
    "lte.pusch.prb_cluster_1" Prb 0..=110 "transmissions.rbs_cluster_1"
        "TS 36.213 §8.1.2" "resource blocks of its second cluster";
    "lte.pusch.start_prb" Index 0..=109 "transmissions.start_rb_slot_0"
        "TS 36.213 §8.1" "first resource block in the first slot";
    "lte.pusch.modulation" Bits 1..=8 "transmissions.modulation" [by MODULATION]
        "TS 36.211 §5.3.2" "bits per resource element";
    "lte.pusch.code_rate" Ratio 0..=64 "transmissions.code_rate"
        "TS 36.212 §5.2.2" "block and check over channel bits";
    "lte.pusch.retx" Count 0..=31 "transmissions.retx"
        "TS 36.321 §5.4.2; Gandalf B.4" "how often the block went out before";
    "lte.pusch.rv" Index 0..=3 "transmissions.rv"
        "TS 36.321 §5.4.2.2; Gandalf B.4" "redundancy version";
    "lte.pusch.carrier" Index 0..=4 "transmissions.carrier"
        "TS 36.300 §5.5" "uplink carrier, 0 for the primary";
    "lte.pusch.tti" Index 0..=10239 "transmissions.tti"
        "TS 36.211 §4" "subframe of the transmission: system frame × 10 + subframe";
    "lte.pusch.power" Dbm -64..=63 "transmissions.power_dbm"
        "TS 36.213 §5.1.1" "transmit power that the control loop asks for; real records go beyond what a device may send";
    "lte.pusch.dropped" Flag 0..=1 "transmissions.dropped"
        "TS 36.213 §8" "1 if the modem was too late and did not transmit";
    "lte.pusch.pci" Index 0..=503 "pci"
        "TS 36.211 §6.11" "cell that the report is about";
}

/// PDSCH statistics.
PDSCH = 0xB173 {
    "lte.pdsch.tbs" Bytes -3..=48936 "subframes.blocks.tb_bytes@rnti=c_rnti|sps_rnti" [plus -3]
        "TS 36.213 §7.1.7.2; BISCAY §3.2.2" "transport block to this device, without its check";
    "lte.pdsch.mcs" Index 0..=31 "subframes.blocks.mcs@rnti=c_rnti|sps_rnti"
        "TS 36.213 Table 7.1.7.1-1; BISCAY §3.2.2" "modulation and coding scheme; 29 and up repeat an earlier one";
    "lte.pdsch.prb" Prb 0..=110 "subframes.blocks.rbs@rnti=c_rnti|sps_rnti"
        "TS 36.213 §7.1.6; BISCAY §3.2.2" "resource blocks of the transport block";
    "lte.pdsch.modulation" Bits 2..=8 "subframes.blocks.modulation@rnti=c_rnti|sps_rnti" [by MODULATION]
        "TS 36.211 §6.3.2" "bits per resource element";
    "lte.pdsch.crc" Flag 0..=1 "subframes.blocks.crc@rnti=c_rnti|sps_rnti" [by CRC]
        "TS 36.212 §5.1.1" "1 if the block was received";
    "lte.pdsch.harq" Index 0..=15 "subframes.blocks.harq@rnti=c_rnti|sps_rnti"
        "TS 36.321 §5.3.2; Gandalf B.4" "HARQ process";
    "lte.pdsch.rv" Index 0..=3 "subframes.blocks.rv@rnti=c_rnti|sps_rnti"
        "TS 36.321 §5.3.2; Gandalf B.4" "redundancy version";
    "lte.pdsch.ndi" Flag 0..=1 "subframes.blocks.ndi@rnti=c_rnti|sps_rnti"
        "TS 36.321 §5.3.2.2" "new data indicator: it toggles for new data";
    "lte.pdsch.rnti" Index 0..=15 "subframes.blocks.rnti"
        "TS 36.321 §7.1" "addressee: 0 and 1 are this device, 2 paging, 3 random access, 5 system information";
    "lte.pdsch.block" Index 0..=1 "subframes.blocks.index"
        "TS 36.211 §6.3.3.2" "first or second block of the subframe";
    "lte.pdsch.layers" Count 0..=8 "subframes.layers"
        "TS 36.211 §6.3.3; BISCAY §3.2.2" "spatial layers of the subframe";
    "lte.pdsch.subframe_prb" Prb 0..=110 "subframes.rbs"
        "TS 36.213 §7.1.6" "resource blocks assigned in the subframe";
    "lte.pdsch.blocks" Count 0..=2 "subframes.transport_blocks"
        "TS 36.211 §6.3.3.2" "transport blocks of the subframe";
    "lte.pdsch.carrier" Index 0..=7 "subframes.cell"
        "TS 36.300 §5.5" "serving cell, 0 for the primary";
    "lte.pdsch.frame" Index 0..=4095 "subframes.frame"
        "TS 36.211 §4" "system frame";
    "lte.pdsch.subframe" Index 0..=15 "subframes.subframe"
        "TS 36.211 §4" "subframe in its frame";
}

/// PDSCH decoding results.
PDSCH_DECODING = 0xB132 {
    "lte.pdsch.decoding.crc" Flag 0..=1 "assignments.blocks.crc" [by CRC]
        "TS 36.212 §5.1.1" "1 if the block was received";
    "lte.pdsch.decoding.ndi" Flag 0..=1 "assignments.blocks.ndi"
        "TS 36.321 §5.3.2.2" "new data indicator";
    "lte.pdsch.decoding.rv" Index 0..=3 "assignments.blocks.rv"
        "TS 36.321 §5.3.2" "redundancy version";
    "lte.pdsch.decoding.retx" Count 0..=4095 "assignments.blocks.retx"
        "TS 36.321 §5.3.2" "how often the block came before";
    "lte.pdsch.decoding.harq" Index 0..=15 "assignments.harq"
        "TS 36.321 §5.3.2" "HARQ process";
    "lte.pdsch.decoding.carrier" Index 0..=15 "carrier"
        "TS 36.300 §5.5" "downlink carrier, 0 for the primary";
}

/// PDSCH demapper configuration.
PDSCH_DEMAPPER = 0xB126 {
    "lte.pdsch.assigned_bits_0" Bits 0..=391656 "assignments?.tb_bits_0"
        "TS 36.213 §7.1.7.2" "first transport block of an assignment";
    "lte.pdsch.assigned_bits_1" Bits 0..=391656 "assignments?.tb_bits_1"
        "TS 36.213 §7.1.7.2" "second transport block of an assignment";
    "lte.pdsch.rank" Count 1..=4 "assignments?.rank" [by NUMBER]
        "TS 36.211 §6.3.3" "layers of an assignment";
    "lte.pdsch.pmi" Index 0..=15 "assignments?.pmi"
        "TS 36.211 §6.3.4.2.3" "precoding matrix";
    "lte.pdsch.scheme" Index 0..=15 "assignments?.scheme"
        "TS 36.213 §7.1" "transmission scheme, as the modem numbers it: 1 single antenna, 2 diversity, 3 open and 4 closed loop";
    "lte.pdsch.tx_antennas" Count 1..=8 "assignments?.tx_antennas" [by NUMBER]
        "TS 36.211 §6.2.1" "antenna ports of the base station";
    "lte.pdsch.rx_antennas" Count 1..=8 "assignments?.rx_antennas" [by NUMBER]
        "TS 36.101 §7.2" "antennas of this device";
}

/// PDCCH decoding results.
PDCCH = 0xB130 {
    "lte.pdcch.format" Index 0..=15 "groups?.hypotheses.format"
        "TS 36.212 §5.3.3.1; Gandalf Table 8" "format of a control message: 0 grants uplink, 1 to 7 assign downlink";
    "lte.pdcch.status" Index 0..=65535 "groups?.hypotheses.prune_status"
        "Gandalf Table 8" "why a control message was kept or not, as the modem numbers it";
    "lte.pdcch.rnti" Index 0..=15 "groups?.hypotheses.rnti"
        "TS 36.321 §7.1" "identity that it was addressed to";
    "lte.pdcch.aggregation" Count 1..=24 "groups?.hypotheses.aggregation" [by NUMBER]
        "TS 36.211 §6.8.1" "control channel elements";
    "lte.pdcch.start_cce" Index 0..=255 "groups?.hypotheses.start_cce"
        "TS 36.213 §9.1.1" "first of them";
    "lte.pdcch.payload_bits" Bits 0..=255 "groups?.hypotheses.payload_bits"
        "TS 36.212 §5.3.3" "length of the message";
    "lte.pdcch.symbol_error_rate" Ratio 0..=2 "groups?.hypotheses.symbol_error_rate"
        "TS 36.212 §5.3.3" "symbols that decoding had to correct";
}

/// PDCCH and PHICH indications.
PHICH = 0xB16B {
    "lte.phich.ack" Flag 0..=1 "subframes.phich?.answer/phich" [by ACK]
        "TS 36.212 §5.3.5" "the base station's answer to an uplink block";
    "lte.dci.rnti" Index 0..=15 "subframes.pdcch.rnti"
        "TS 36.321 §7.1; Gandalf Table 8" "identity that a control message was addressed to";
    "lte.dci.payload_bits" Bits 0..=127 "subframes.pdcch.payload_bits"
        "TS 36.212 §5.3.3" "length of a control message";
    "lte.dci.aggregation" Count 1..=24 "subframes.pdcch.aggregation" [by NUMBER]
        "TS 36.211 §6.8.1" "control channel elements of a control message";
    "lte.dci.downlink_blocks" Count 0..=3 "subframes.pdcch.downlink_blocks"
        "TS 36.212 §5.3.3" "downlink transport blocks that a control message assigns";
    "lte.dci.count" Count 0..=7 "subframes.pdcch_count"
        "TS 36.213 §9.1.1" "control messages of a subframe";
}
}
