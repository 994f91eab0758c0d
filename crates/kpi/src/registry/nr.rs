//! NR: the fields of 5G records in BISCAY's formula and in Gandalf's Appendix B. The numbering of
//! subcarrier spacing and slots is the record's own. Fields of downlink blocks are of all blocks,
//! to any address.

use sounding_phy::nr;

use super::table::kpis;

kpis! {
/// Uplink schedule.
SCHEDULE = 0xB883 {
    "nr.pusch.tbs" Bytes 0..=262143 "slots.carriers.pusch.tb_bytes"
        "TS 38.214 §6.1.4.2; BISCAY §3.2.2" "transport block of an uplink transmission";
    "nr.pusch.prb" Prb 0..=511 "slots.carriers.pusch.rbs"
        "TS 38.214 §6.1.2.2; BISCAY §3.2.2" "resource blocks of an uplink transmission";
    "nr.pusch.mcs" Index 0..=31 "slots.carriers.pusch.mcs"
        "TS 38.214 Table 6.1.4.1-1; BISCAY §3.2.2" "modulation and coding scheme";
    "nr.pusch.modulation" Bits 1..=8 "slots.carriers.pusch.modulation" [by MODULATION]
        "TS 38.211 §6.3.1.2" "bits per resource element";
    "nr.pusch.harq" Index 0..=15 "slots.carriers.pusch.harq"
        "TS 38.321 §5.4.2; Gandalf B.4" "HARQ process";
    "nr.pusch.rv" Index 0..=7 "slots.carriers.pusch.rv"
        "TS 38.214 §6.1.4; Gandalf B.3.1" "redundancy version";
    "nr.pusch.k2" Count 0..=63 "slots.carriers.pusch.k2"
        "TS 38.214 §6.1.2.1; Gandalf B.3.1" "slots from the grant to the transmission";
    "nr.pusch.symbols" Count 0..=15 "slots.carriers.pusch.symbols"
        "TS 38.214 §6.1.2.1" "symbols of the transmission";
    "nr.pusch.carrier" Index 0..=3 "slots.carriers.carrier"
        "TS 38.300 §5.4" "uplink carrier, 0 for the primary";
    "nr.pucch.harq_ack_bits" Bits 0..=63 "slots.carriers.pucch.channels.harq_ack_bits"
        "TS 38.213 §9.1; Gandalf B.3.1" "HARQ answers on a control channel";
    "nr.pucch.format" Index 0..=15 "slots.carriers.pucch.channels.format"
        "TS 38.211 §6.3.2" "format of a control channel";
}

/// Control messages.
DCI = 0xB885 {
    "nr.dci.dl.mcs" Index 0..=31 "slots?.messages?.downlink.mcs"
        "TS 38.212 §7.3.1.2; BISCAY §3.2.2" "modulation and coding scheme that a control message assigns";
    "nr.dci.dl.harq" Index 0..=255 "slots?.messages?.downlink.harq"
        "TS 38.212 §7.3.1.2" "HARQ process of a downlink assignment";
    "nr.dci.dl.ndi" Flag 0..=1 "slots?.messages?.downlink.ndi"
        "TS 38.212 §7.3.1.2" "new data indicator of a downlink assignment";
    "nr.dci.dl.harq_timing" Index 0..=7 "slots?.messages?.downlink.harq_timing"
        "TS 38.213 §9.2.3; Gandalf B.3.1" "which of the configured K1 the answer has";
    "nr.dci.dl.time_allocation" Index 0..=15 "slots?.messages?.downlink.time_allocation"
        "TS 38.212 §7.3.1.2; Gandalf B.3.1" "which entry of the list of time-domain allocations, and with it K0";
    "nr.dci.dl.rv" Index 0..=3 "slots?.messages?.downlink.rv"
        "TS 38.212 §7.3.1.2; Gandalf B.4" "redundancy version of a downlink assignment";
    "nr.dci.dl.layers" Count 0..=255 "slots?.messages?.downlink.layers"
        "TS 38.211 §7.3.1.3; BISCAY §3.2.2" "spatial layers of a downlink assignment";
    "nr.dci.ul.time_allocation" Index 0..=7 "slots?.messages?.uplink.time_allocation"
        "TS 38.212 §7.3.1.1; Gandalf B.3.1" "which entry of the list of time-domain allocations, and with it K2";
    "nr.dci.ul.mcs" Index 0..=31 "slots?.messages?.uplink.mcs"
        "TS 38.212 §7.3.1.1; BISCAY §3.2.2" "modulation and coding scheme that a control message grants";
    "nr.dci.ul.rv" Index 0..=3 "slots?.messages?.uplink.rv"
        "TS 38.212 §7.3.1.1; Gandalf B.4" "redundancy version of an uplink grant";
    "nr.dci.ul.ndi" Flag 0..=1 "slots?.messages?.uplink.ndi"
        "TS 38.212 §7.3.1.1; Gandalf B.3.1" "new data indicator of an uplink grant: unchanged is a NACK";
    "nr.dci.ul.harq" Index 0..=15 "slots?.messages?.uplink.harq"
        "TS 38.212 §7.3.1.1" "HARQ process of an uplink grant";
}

/// PDSCH status.
PDSCH = 0xB887 {
    "nr.pdsch.tbs" Bytes 0..=262143 "slots.blocks?.tb_bytes"
        "TS 38.214 §5.1.3.2; BISCAY §3.2.2" "transport block of a downlink slot";
    "nr.pdsch.mcs" Index 0..=31 "slots.blocks?.mcs"
        "TS 38.214 Table 5.1.3.1-1; BISCAY §3.2.2" "modulation and coding scheme";
    "nr.pdsch.prb" Prb 0..=511 "slots.blocks?.rbs"
        "TS 38.214 §5.1.2.2; BISCAY §3.2.2" "resource blocks";
    "nr.pdsch.layers" Count 1..=4 "slots.blocks?.layers_less_one" [plus 1]
        "TS 38.211 §7.3.1.3; BISCAY §3.2.2" "spatial layers";
    "nr.pdsch.modulation" Bits 2..=8 "slots.blocks.modulation" [by MODULATION]
        "TS 38.211 §7.3.1.2" "bits per resource element";
    "nr.pdsch.crc" Flag 0..=1 "slots.blocks?.crc"
        "TS 38.212 §7.2.1" "1 if the block was received";
    "nr.pdsch.harq" Index 0..=15 "slots.blocks?.harq"
        "TS 38.321 §5.3.2; Gandalf B.4" "HARQ process";
    "nr.pdsch.rv" Index 0..=3 "slots.blocks.rv"
        "TS 38.321 §5.3.2; Gandalf B.3.1" "redundancy version";
    "nr.pdsch.ndi" Flag 0..=1 "slots.blocks.ndi"
        "TS 38.321 §5.3.2.2" "new data indicator";
    "nr.pdsch.k1" Count 0..=15 "slots.blocks.k1"
        "TS 38.213 §9.2.3; Gandalf B.3.1" "slots from the block to its HARQ answer";
    "nr.pdsch.rnti" Index 0..=15 "slots.blocks.rnti"
        "TS 38.321 §7.1" "addressee: 0 is this device";
    "nr.pdsch.slot" Index 0..=255 "slots.slot"
        "TS 38.211 §4.3.2" "slot of the frame";
    "nr.pdsch.frame" Index 0..=1023 "slots.frame"
        "TS 38.211 §4.3.1" "system frame";
}

/// PDSCH counters.
PDSCH_STATISTICS = 0xB888 {
    "nr.pdsch.blocks_passed" Count 0..=4294967295 "carriers.blocks_passed"
        "TS 38.321 §5.3.2" "downlink blocks received on a carrier, since the record's counters began";
    "nr.pdsch.blocks_failed" Count 0..=4294967295 "carriers.blocks_failed"
        "TS 38.321 §5.3.2" "downlink blocks not received";
    "nr.pdsch.retx" Count 0..=4294967295 "carriers.retx"
        "TS 38.321 §5.3.2" "downlink blocks that came again";
}

/// Uplink sums over an interval.
UPLINK_STATISTICS = 0xB881 {
    "nr.mac.ul.new_bytes" Bytes 0..=9007199254740991 "carriers.new_bytes"
        "TS 38.321 §5.4.2; BISCAY §3.2.2" "bytes sent for the first time on a carrier, in the interval of the record";
    "nr.mac.ul.retx_bytes" Bytes 0..=9007199254740991 "carriers.retx_bytes"
        "TS 38.321 §5.4.2" "bytes sent again";
    "nr.mac.ul.new_blocks" Count 0..=4294967295 "carriers.new_blocks"
        "TS 38.321 §5.4.2" "uplink blocks sent for the first time";
    "nr.mac.ul.retx_blocks" Count 0..=4294967295 "carriers.retx_blocks"
        "TS 38.321 §5.4.2" "uplink blocks sent again";
}

/// Uplink transport blocks.
UPLINK = 0xB872 {
    "nr.mac.ul.grant" Bytes 0..=4294967295 "ttis.blocks.grant_bytes"
        "TS 38.321 §5.4.1; BISCAY §3.2.2" "size of an uplink grant";
    "nr.mac.ul.built" Bytes 0..=4294967295 "ttis.blocks.built_bytes"
        "TS 38.321 §5.4.3" "part of the grant that carried something";
    "nr.mac.ul.harq" Index 0..=15 "ttis.blocks.harq"
        "TS 38.321 §5.4.2" "HARQ process";
    "nr.mac.ul.carrier" Index 0..=3 "ttis.blocks.carrier"
        "TS 38.300 §5.4" "uplink carrier, 0 for the primary";
    "nr.mac.ul.bsr" Bytes 0..=81338368 "ttis.blocks.mac.bsr_index" [through short_bsr]
        "TS 38.321 Table 6.1.3.1-1; Gandalf B.2" "backlog that a short buffer status report in a block tells";
    "nr.mac.ul.phr" Index 0..=63 "ttis.blocks.mac.power_headroom_index"
        "TS 38.133 Table 10.1.17.1-1" "power headroom level";
    "nr.mac.ul.frame" Index 0..=1023 "ttis.frame"
        "TS 38.211 §4.3.1; Gandalf B.2" "system frame of the block";
    "nr.mac.ul.slot" Index 0..=255 "ttis.slot"
        "TS 38.211 §4.3.2; Gandalf B.2" "slot of the block";
}

/// Uplink buffer status reports.
BSR = 0xB873 {
    "nr.mac.bsr" Bytes 0..=81338368 "ttis.mac.bsr_index" [through short_bsr]
        "TS 38.321 Table 6.1.3.1-1; Gandalf B.2" "backlog that a short buffer status report tells";
    "nr.mac.bsr_group_0" Bytes 0..=81338368 "ttis.mac.bsr_index_group_0" [through long_bsr]
        "TS 38.321 Table 6.1.3.1-2" "backlog of group 0 in a long buffer status report";
    "nr.mac.bsr_group_1" Bytes 0..=81338368 "ttis.mac.bsr_index_group_1" [through long_bsr]
        "TS 38.321 Table 6.1.3.1-2" "backlog of group 1 in a long buffer status report";
    "nr.mac.bsr_group_2" Bytes 0..=81338368 "ttis.mac.bsr_index_group_2" [through long_bsr]
        "TS 38.321 Table 6.1.3.1-2" "backlog of group 2 in a long buffer status report";
    "nr.mac.bsr_group_3" Bytes 0..=81338368 "ttis.mac.bsr_index_group_3" [through long_bsr]
        "TS 38.321 Table 6.1.3.1-2" "backlog of group 3 in a long buffer status report";
    "nr.mac.bsr_group_4" Bytes 0..=81338368 "ttis.mac.bsr_index_group_4" [through long_bsr]
        "TS 38.321 Table 6.1.3.1-2" "backlog of group 4 in a long buffer status report";
    "nr.mac.bsr_group_5" Bytes 0..=81338368 "ttis.mac.bsr_index_group_5" [through long_bsr]
        "TS 38.321 Table 6.1.3.1-2" "backlog of group 5 in a long buffer status report";
    "nr.mac.bsr_group_6" Bytes 0..=81338368 "ttis.mac.bsr_index_group_6" [through long_bsr]
        "TS 38.321 Table 6.1.3.1-2" "backlog of group 6 in a long buffer status report";
    "nr.mac.bsr_group_7" Bytes 0..=81338368 "ttis.mac.bsr_index_group_7" [through long_bsr]
        "TS 38.321 Table 6.1.3.1-2" "backlog of group 7 in a long buffer status report";
    "nr.mac.bsr_reason" Index 0..=31 "ttis.bsr_reason"
        "TS 38.321 §5.4.5" "why the report was due, as the modem numbers it";
    "nr.mac.bsr_frame" Index 0..=1023 "ttis.frame"
        "TS 38.211 §4.3.1; Gandalf B.2" "system frame of the report";
    "nr.mac.bsr_slot" Index 0..=255 "ttis.slot"
        "TS 38.211 §4.3.2; Gandalf B.2" "slot of the report";
}

/// Status that came from the base station.
DOWNLINK_STATUS = 0xB84E {
    "nr.rlc.dl.nack_sn" Index 0..=262143 "pdus.rlc.nacks.sn"
        "TS 38.322 §6.2.3.12; Gandalf B.3.2" "uplink PDU that the base station asks for again";
    "nr.rlc.dl.nack_segment_start" Bytes 0..=65535 "pdus.rlc.nacks.segment_start"
        "TS 38.322 §6.2.3.15; Gandalf B.3.2" "first byte that is missing of an uplink PDU that came in part";
    "nr.rlc.dl.nack_segment_end" Bytes 0..=65535 "pdus.rlc.nacks.segment_end"
        "TS 38.322 §6.2.3.16; Gandalf B.3.2" "last byte that is missing of it; 65535 for its end";
    "nr.rlc.dl.nack_range" Count 0..=255 "pdus.rlc.nacks.range"
        "TS 38.322 §6.2.3.17; Gandalf B.3.2" "PDUs in a row that are asked for again, this one included";
    "nr.rlc.dl.ack_sn" Index 0..=262143 "pdus.rlc.ack_sn"
        "TS 38.322 §6.2.3.11" "uplink PDU up to which the base station acknowledges";
}

/// Status that this device sent.
UPLINK_STATUS = 0xB869 {
    "nr.rlc.ul.nack_sn" Index 0..=262143 "pdus.rlc.nacks.sn"
        "TS 38.322 §6.2.3.12; Gandalf B.3.2" "downlink PDU that this device asks for again";
    "nr.rlc.ul.channel" Index 0..=15 "pdus.channel"
        "TS 38.321 §6.2.1" "logical channel that a status is about";
    "nr.rlc.ul.nack_segment_start" Bytes 0..=65535 "pdus.rlc.nacks.segment_start"
        "TS 38.322 §6.2.3.15; Gandalf B.3.2" "first byte that is missing of a downlink PDU that came in part";
    "nr.rlc.ul.nack_segment_end" Bytes 0..=65535 "pdus.rlc.nacks.segment_end"
        "TS 38.322 §6.2.3.16; Gandalf B.3.2" "last byte that is missing of it; 65535 for its end";
    "nr.rlc.ul.nack_range" Count 0..=255 "pdus.rlc.nacks.range"
        "TS 38.322 §6.2.3.17; Gandalf B.3.2" "PDUs in a row that are asked for again, this one included";
    "nr.rlc.ul.ack_sn" Index 0..=262143 "pdus.rlc.ack_sn"
        "TS 38.322 §6.2.3.11" "downlink PDU up to which this device acknowledges";
}

/// Downlink data.
DOWNLINK_DATA = 0xB857 {
    "nr.l2.dl.tbs" Bytes 0..=4294967295 "blocks.tb_bytes"
        "TS 38.321 §6.1.2; Gandalf Table 7" "transport block that arrived";
    "nr.l2.dl.rlc_sn" Index 0..=262143 "blocks.subheaders.long.rlc_sn"
        "TS 38.322 §6.2.3.3; Gandalf B.3.2" "sequence number of a downlink PDU of 256 bytes or more: a second time is a retransmission";
    "nr.l2.dl.rlc_sn_short" Index 0..=262143 "blocks.subheaders.short.rlc_sn"
        "TS 38.322 §6.2.3.3; Gandalf B.3.2" "sequence number of a shorter one";
    "nr.l2.dl.rlc_segment" Index 0..=3 "blocks.subheaders.long.rlc_flags" [through segmentation]
        "TS 38.322 §6.2.3.4; Gandalf B.3.2" "part of a packet that such a PDU has: 0 all, 1 the first, 2 the last, 3 one between";
    "nr.l2.dl.rlc_segment_short" Index 0..=3 "blocks.subheaders.short.rlc_flags" [through segmentation]
        "TS 38.322 §6.2.3.4; Gandalf B.3.2" "the same of a shorter one";
    "nr.l2.dl.channel" Index 0..=63 "blocks.subheaders.channel"
        "TS 38.321 §6.2.1" "its logical channel";
    "nr.l2.dl.carrier" Index 0..=65535 "blocks.carrier"
        "TS 38.300 §5.4" "downlink carrier, 0 for the primary";
}

/// Uplink data.
UPLINK_DATA = 0xB870 {
    "nr.l2.ul.rlc_sn" Index 0..=262143 "ttis.blocks.channels.rlc_start_sn"
        "TS 38.322 §6.2.3.3; Gandalf B.3.2" "first sequence number of a logical channel in a block";
    "nr.l2.ul.rlc_pdus" Count 0..=15 "ttis.blocks.channels.pdu_count"
        "TS 38.322 §6.2.1; Gandalf B.3.2" "PDUs of the channel in the block";
    "nr.l2.ul.rlc_last_sn" Index 0..=262143 "ttis.blocks.channels.last_rlc_sn"
        "TS 38.322 §6.2.3.3; Gandalf B.3.2" "last sequence number of the channel in the block: a second time is a retransmission";
    "nr.l2.ul.channel" Index 0..=7 "ttis.blocks.channels.channel"
        "TS 38.321 §6.2.1" "the logical channel";
    "nr.l2.ul.tx_next_ack" Index 0..=262143 "channels.tx_next_ack"
        "TS 38.322 §7.1" "uplink PDU of a channel that is to be acknowledged next";
}

/// Uplink control information, as bits.
CONTROL_PAYLOADS = 0xB896 {
    "nr.uci.harq_ack_bits" Bits 0..=7 "slots.channels.harq_bits"
        "TS 38.213 §9.1; Gandalf B.3.1" "HARQ answers in what a control or data channel carries up";
    "nr.uci.harq_ack" Index 0..=4294967295 "slots.channels.harq.payload"
        "TS 38.213 §9.1; Gandalf B.3.1" "these answers in words of 32 bits: 1 for a block that arrived";
}

/// Uplink control information, by what it says.
CONTROL_CONTENTS = 0xB89B {
    "nr.uci.answer" Flag 0..=1 "slots.channels.harq.crc"
        "TS 38.213 §9.1; Gandalf B.3.1" "HARQ answer to a downlink block: 1 if it arrived";
    "nr.uci.answer_harq" Index 0..=15 "slots.channels.harq.harq"
        "TS 38.321 §5.3.2; Gandalf B.4" "HARQ process of that block";
}

/// Channel state feedback.
CSF = 0xB8A7 {
    "nr.csf.cqi" Index 0..=15 "slots.reports.csi.cqi"
        "TS 38.214 Table 5.2.2.1-2" "channel quality";
    "nr.csf.ri" Index 0..=3 "slots.reports.csi.ri"
        "TS 38.214 §5.2.1.4" "rank as sent: one less than the layers";
    "nr.csf.cri" Index 0..=7 "slots.reports.csi.cri"
        "TS 38.214 §5.2.1.4" "resource that the report is about";
}

/// Searcher measurements.
SEARCHER = 0xB97F {
    "nr.cell.rsrp" Dbm -16777216..=16777216 "layers.cells.rsrp_dbm"
        "TS 38.215 §5.1.1" "reference signal received power of a cell";
    "nr.cell.rsrq" Db -16777216..=16777216 "layers.cells.rsrq_db"
        "TS 38.215 §5.1.3" "reference signal received quality of a cell";
    "nr.cell.pci" Index 0..=65535 "layers.cells.pci"
        "TS 38.211 §7.4.2.1" "physical cell identity; numbers above 1007 are none";
    "nr.cell.serving_pci" Index 0..=65535 "layers.serving_pci"
        "TS 38.211 §7.4.2.1" "physical cell identity of the serving cell; numbers above 1007 are none";
    "nr.cell.arfcn" Index 0..=4294967295 "layers.arfcn"
        "TS 38.104 §5.4.2.1" "carrier frequency number";
}

/// Handover: the cell that a handover has found.
HANDOVER = 0xB9BF {
    "nr.handover.pci" Index 0..=65535 "pci"
        "TS 38.331 §5.3.5.5" "physical cell identity of the target";
    "nr.handover.arfcn" Index 0..=4294967295 "arfcn"
        "TS 38.104 §5.4.2.1" "carrier frequency number of the target";
}

/// Master information.
MIB = 0xB822 {
    "nr.cell.scs" Khz 15..=960 "scs_common" [by SPACING]
        "TS 38.331 §6.2.2; Gandalf B.1" "subcarrier spacing of the first messages";
}

/// Serving cell.
SERVING = 0xB823 {
    "nr.cell.dl_bandwidth" Mhz 0..=65535 "dl_bandwidth_mhz"
        "TS 38.101-1 §5.3.5" "downlink bandwidth of the serving cell";
    "nr.cell.ul_bandwidth" Mhz 0..=65535 "ul_bandwidth_mhz"
        "TS 38.101-1 §5.3.5" "uplink bandwidth of the serving cell";
    "nr.cell.band" Index 0..=65535 "band"
        "TS 38.101-1 §5.2" "operating band";
}
}

/// The two bits of the segmentation info among the six before the sequence number: D/C, P, SI, and
/// two reserved ones.
fn segmentation(flags: f64) -> Option<f64> {
    (0.0..64.0).contains(&flags).then(|| f64::from(flags as u8 >> 2 & 3))
}

/// Upper end of the range; of the open-ended last one the lower.
fn short_bsr(index: f64) -> Option<f64> {
    upper(index, 31, nr::bsr_upper_short)
}

fn long_bsr(index: f64) -> Option<f64> {
    upper(index, 254, nr::bsr_upper_long)
}

fn upper(index: f64, last: u8, table: fn(u8) -> Option<sounding_units::Bytes>) -> Option<f64> {
    let index = if (0.0..256.0).contains(&index) { index as u8 } else { return None };
    let bytes = if index == last { table(last - 1) } else { table(index) };
    bytes.map(|bytes| bytes.count() as f64)
}
