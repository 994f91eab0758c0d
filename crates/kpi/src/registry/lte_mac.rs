//! LTE's MAC layer: grants and their use, buffer status, power headroom.

use sounding_phy::lte;

use super::table::kpis;

kpis! {
/// Uplink transport blocks.
UPLINK = 0xB064 {
    "lte.mac.ul.grant" Bytes 0..=65535 "sub_packets.samples.grant_bytes"
        "TS 36.321 §5.4.1; BISCAY §3.2.2" "size of an uplink grant";
    "lte.mac.ul.padding" Bytes 0..=65535 "sub_packets.samples.padding_bytes"
        "TS 36.321 §6.1.2" "part of the grant that carried nothing";
    "lte.mac.ul.harq" Index 0..=15 "sub_packets.samples.harq"
        "TS 36.321 §5.4.2" "HARQ process";
    "lte.mac.ul.rlc_pdus" Count 0..=255 "sub_packets.samples.rlc_pdus"
        "TS 36.321 §6.1.2" "RLC PDUs in the block";
    "lte.mac.ul.cell" Index 0..=7 "sub_packets.samples.cell"
        "TS 36.300 §5.5" "serving cell, 0 for the primary";
    "lte.mac.ul.frame" Index 0..=4095 "sub_packets.samples.frame"
        "TS 36.211 §4; Gandalf B.2" "system frame of the grant";
    "lte.mac.ul.subframe" Index 0..=15 "sub_packets.samples.subframe"
        "TS 36.211 §4; Gandalf B.2" "subframe of the grant";
    "lte.mac.bsr" Bytes 0..=150000 "sub_packets.samples.mac.bsr_index" [through bsr_bytes]
        "TS 36.321 Table 6.1.3.1-1; Gandalf B.2" "backlog that a short buffer status report tells, upper end of its range";
    "lte.mac.bsr_group" Index 0..=3 "sub_packets.samples.mac.bsr_group"
        "TS 36.321 §6.1.3.1" "logical channel group of a short buffer status report";
    "lte.mac.bsr_group_0" Bytes 0..=150000 "sub_packets.samples.mac.bsr_index_group_0" [through bsr_bytes]
        "TS 36.321 Table 6.1.3.1-1" "backlog of group 0 in a long buffer status report";
    "lte.mac.bsr_group_1" Bytes 0..=150000 "sub_packets.samples.mac.bsr_index_group_1" [through bsr_bytes]
        "TS 36.321 Table 6.1.3.1-1" "backlog of group 1 in a long buffer status report";
    "lte.mac.bsr_group_2" Bytes 0..=150000 "sub_packets.samples.mac.bsr_index_group_2" [through bsr_bytes]
        "TS 36.321 Table 6.1.3.1-1" "backlog of group 2 in a long buffer status report";
    "lte.mac.bsr_group_3" Bytes 0..=150000 "sub_packets.samples.mac.bsr_index_group_3" [through bsr_bytes]
        "TS 36.321 Table 6.1.3.1-1" "backlog of group 3 in a long buffer status report";
    "lte.mac.bsr_event" Index 0..=255 "sub_packets.samples.bsr_event"
        "TS 36.321 §5.4.5" "why a report was due: 1 periodic, 2 high data, 3 robustness";
    "lte.mac.bsr_trigger" Index 0..=255 "sub_packets.samples.bsr_trigger"
        "TS 36.321 §5.4.5" "which report went out: 2 long, 3 short, 4 to 6 in place of padding";
    "lte.mac.phr" Db -23..=40 "sub_packets.samples.mac.power_headroom_index" [plus -23]
        "TS 36.133 Table 9.1.8.4-1" "power headroom, lower end of its range";
}

/// Downlink transport blocks.
DOWNLINK = 0xB063 {
    "lte.mac.dl.tbs" Bytes 0..=65535 "sub_packets?.samples/blocks.tb_bytes@rnti=c_rnti|sps_rnti"
        "TS 36.321 §6.1.2; BISCAY §3.2.2" "transport block to this device that arrived";
    "lte.mac.dl.padding" Bytes 0..=65535 "sub_packets?.samples/blocks.padding_bytes@rnti=c_rnti|sps_rnti"
        "TS 36.321 §6.1.2" "part of the block that carried nothing";
    "lte.mac.dl.harq" Index 0..=15 "sub_packets?.samples/blocks.harq@rnti=c_rnti|sps_rnti"
        "TS 36.321 §5.3.2" "HARQ process";
    "lte.mac.dl.rnti" Index 0..=15 "sub_packets?.samples/blocks.rnti"
        "TS 36.321 §7.1" "identity that the block was addressed to";
    "lte.mac.dl.cell" Index 0..=15 "sub_packets?.samples/blocks.cell@rnti=c_rnti|sps_rnti"
        "TS 36.300 §5.5" "serving cell, 0 for the primary";
    "lte.mac.dl.frame" Index 0..=4095 "sub_packets?.samples/blocks.frame"
        "TS 36.211 §4" "system frame of the block";
    "lte.mac.dl.subframe" Index 0..=15 "sub_packets?.samples/blocks.subframe"
        "TS 36.211 §4" "subframe of the block";
    "lte.mac.dl.timing_advance" Index 0..=63 "sub_packets.samples.mac.timing_advance_command"
        "TS 36.321 §6.1.3.5" "timing advance command; 31 changes nothing";
}

/// Uplink buffer status.
BUFFER = 0xB066 {
    "lte.mac.buffer.new" Bytes 0..=4294967295 "sub_packets.samples.channels.new_bytes"
        "TS 36.322 §4.5" "data of a logical channel that has not gone out yet";
    "lte.mac.buffer.new_uncompressed" Bytes 0..=4294967295 "sub_packets.samples.channels.new_uncompressed_bytes"
        "TS 36.323 §5.5" "data of a logical channel before its headers are compressed";
    "lte.mac.buffer.retx" Bytes 0..=4294967295 "sub_packets.samples.channels.retx_bytes"
        "TS 36.322 §4.5" "data of a logical channel that waits for retransmission";
    "lte.mac.buffer.control" Bytes 0..=65535 "sub_packets.samples.channels.control_bytes"
        "TS 36.322 §4.5" "RLC status of a logical channel";
    "lte.mac.buffer.channel" Index 0..=255 "sub_packets.samples.channels.channel"
        "TS 36.321 §6.2.1" "the logical channel";
}

/// Uplink statistics: BISCAY's granted bytes and their use, every 100 ms.
STATISTICS = 0xB067 {
    "lte.mac.ul.granted" Bytes 0..=4294967295 "sub_packets.granted_bytes"
        "BISCAY §3.2.2" "bytes granted over a run of transport blocks";
    "lte.mac.ul.used" Bytes 0..=4294967295 "sub_packets.used_bytes"
        "BISCAY §3.2.2" "bytes of them that carried data";
    "lte.mac.ul.blocks" Count 0..=255 "sub_packets.sample_count"
        "BISCAY §3.2.2" "transport blocks of the run";
    "lte.mac.ul.regular_bsrs" Count 0..=255 "sub_packets.regular_bsrs"
        "TS 36.321 §5.4.5" "regular buffer status reports; wraps at 256";
    "lte.mac.ul.periodic_bsrs" Count 0..=255 "sub_packets.periodic_bsrs"
        "TS 36.321 §5.4.5" "periodic buffer status reports; wraps at 256";
    "lte.mac.ul.padding_bsrs" Count 0..=255 "sub_packets.padding_bsrs"
        "TS 36.321 §5.4.5" "buffer status reports in place of padding; wraps at 256";
}
}

/// As a scheduler reads a report: the upper end of the range, and of the open-ended last one the
/// lower.
fn bsr_bytes(index: f64) -> Option<f64> {
    const OPEN_ENDED: f64 = 150_000.0;
    if !(0.0..64.0).contains(&index) {
        return None;
    }
    Some(lte::bsr_upper(index as u8).map_or(OPEN_ENDED, |bytes| bytes.count() as f64))
}
