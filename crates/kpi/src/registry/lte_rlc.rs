//! LTE's RLC layer: sequence numbers and NACKs as Gandalf follows them, and statistics per bearer.

use super::table::kpis;

kpis! {
/// Received data in acknowledged mode.
DOWNLINK = 0xB082 {
    "lte.rlc.dl.sn" Index 0..=1023 "sub_packets.pdus.rlc.sn"
        "TS 36.322 §6.2.2.3; Gandalf B.3.2" "sequence number of a downlink PDU: a second time is a retransmission";
    "lte.rlc.dl.nack_sn" Index 0..=1023 "sub_packets.pdus.rlc.nacks.sn"
        "TS 36.322 §6.2.2.12; Gandalf B.3.2" "uplink PDU that the base station asks for again";
    "lte.rlc.dl.ack_sn" Index 0..=1023 "sub_packets.pdus.rlc.ack_sn"
        "TS 36.322 §6.2.2.10" "uplink PDU up to which the base station acknowledges";
    "lte.rlc.dl.poll" Flag 0..=1 "sub_packets.pdus.rlc.poll"
        "TS 36.322 §6.2.2.5" "1 if the PDU asks for a status";
    "lte.rlc.dl.framing" Index 0..=3 "sub_packets.pdus.rlc.framing"
        "TS 36.322 §6.2.2.6" "2 if the PDU begins within a packet, and 1 if it ends within one: the sum of both";
    "lte.rlc.dl.length" Bytes 0..=2047 "sub_packets.pdus.rlc.lengths.len_bytes"
        "TS 36.322 §6.2.2.5" "length of a packet or part of one in the PDU, all but the last";
    "lte.rlc.dl.segment" Flag 0..=1 "sub_packets.pdus.rlc.segment"
        "TS 36.322 §6.2.2.9; Gandalf B.3.2" "1 if it is a part of a downlink PDU that is sent again in parts";
    "lte.rlc.dl.segment_offset" Bytes 0..=32767 "sub_packets.pdus.rlc.segment_offset"
        "TS 36.322 §6.2.2.7; Gandalf B.3.2" "where this part begins in its PDU";
    "lte.rlc.dl.last_segment" Flag 0..=1 "sub_packets.pdus.rlc.last_segment"
        "TS 36.322 §6.2.2.8; Gandalf B.3.2" "1 if this part is the last of its PDU";
    "lte.rlc.dl.nack_segment_start" Bytes 0..=32767 "sub_packets.pdus.rlc.nacks.segment_start"
        "TS 36.322 §6.2.2.15; Gandalf B.3.2" "first byte that is missing of an uplink PDU that came in part";
    "lte.rlc.dl.nack_segment_end" Bytes 0..=32767 "sub_packets.pdus.rlc.nacks.segment_end"
        "TS 36.322 §6.2.2.16; Gandalf B.3.2" "last byte that is missing of it; 32767 for its end";
    "lte.rlc.dl.pdu" Bytes 0..=65535 "sub_packets.pdus.pdu_bytes"
        "TS 36.322 §6.2.1" "size of a downlink PDU";
    "lte.rlc.dl.frame" Index 0..=8191 "sub_packets.pdus.frame"
        "TS 36.211 §4; Gandalf B.3.2" "system frame of a PDU or status";
    "lte.rlc.dl.subframe" Index 0..=15 "sub_packets.pdus.subframe"
        "TS 36.211 §4; Gandalf B.3.2" "its subframe";
    "lte.rlc.dl.bearer" Index 0..=255 "sub_packets.rb_config"
        "TS 36.322 §4.2" "configuration of the radio bearer; 33 and above are signalling";
}

/// Sent data in acknowledged mode.
UPLINK = 0xB092 {
    "lte.rlc.ul.sn" Index 0..=1023 "sub_packets.pdus.rlc.sn"
        "TS 36.322 §6.2.2.3; Gandalf B.3.2" "sequence number of an uplink PDU: a second time is a retransmission";
    "lte.rlc.ul.nack_sn" Index 0..=1023 "sub_packets.pdus.rlc.nacks.sn"
        "TS 36.322 §6.2.2.12; Gandalf B.3.2" "downlink PDU that this device asks for again";
    "lte.rlc.ul.ack_sn" Index 0..=1023 "sub_packets.pdus.rlc.ack_sn"
        "TS 36.322 §6.2.2.10" "downlink PDU up to which this device acknowledges";
    "lte.rlc.ul.poll" Flag 0..=1 "sub_packets.pdus.rlc.poll"
        "TS 36.322 §6.2.2.5" "1 if the PDU asks for a status";
    "lte.rlc.ul.framing" Index 0..=3 "sub_packets.pdus.rlc.framing"
        "TS 36.322 §6.2.2.6" "2 if the PDU begins within a packet, and 1 if it ends within one: the sum of both";
    "lte.rlc.ul.length" Bytes 0..=2047 "sub_packets.pdus.rlc.lengths.len_bytes"
        "TS 36.322 §6.2.2.5" "length of a packet or part of one in the PDU, all but the last";
    "lte.rlc.ul.segment" Flag 0..=1 "sub_packets.pdus.rlc.segment"
        "TS 36.322 §6.2.2.9; Gandalf B.3.2" "1 if it is a part of an uplink PDU that is sent again in parts";
    "lte.rlc.ul.segment_offset" Bytes 0..=32767 "sub_packets.pdus.rlc.segment_offset"
        "TS 36.322 §6.2.2.7; Gandalf B.3.2" "where this part begins in its PDU";
    "lte.rlc.ul.last_segment" Flag 0..=1 "sub_packets.pdus.rlc.last_segment"
        "TS 36.322 §6.2.2.8; Gandalf B.3.2" "1 if this part is the last of its PDU";
    "lte.rlc.ul.nack_segment_start" Bytes 0..=32767 "sub_packets.pdus.rlc.nacks.segment_start"
        "TS 36.322 §6.2.2.15; Gandalf B.3.2" "first byte that is missing of a downlink PDU that came in part";
    "lte.rlc.ul.nack_segment_end" Bytes 0..=32767 "sub_packets.pdus.rlc.nacks.segment_end"
        "TS 36.322 §6.2.2.16; Gandalf B.3.2" "last byte that is missing of it; 32767 for its end";
    "lte.rlc.ul.pdu" Bytes 0..=65535 "sub_packets.pdus.pdu_bytes"
        "TS 36.322 §6.2.1" "size of an uplink PDU";
    "lte.rlc.ul.frame" Index 0..=8191 "sub_packets.pdus.frame"
        "TS 36.211 §4; Gandalf B.3.2" "system frame of a PDU or status";
    "lte.rlc.ul.subframe" Index 0..=15 "sub_packets.pdus.subframe"
        "TS 36.211 §4; Gandalf B.3.2" "its subframe";
    "lte.rlc.ul.bearer" Index 0..=255 "sub_packets.rb_config"
        "TS 36.322 §4.2" "configuration of the radio bearer; 33 and above are signalling";
}

/// Downlink statistics.
DOWNLINK_STATISTICS = 0xB087 {
    "lte.rlc.dl.pdus" Count 0..=4294967295 "sub_packets.bearers.data_pdus"
        "TS 36.322 §5.1" "downlink PDUs of a bearer since the modem started";
    "lte.rlc.dl.retx_pdus" Count 0..=4294967295 "sub_packets.bearers.retx_pdus"
        "TS 36.322 §5.2" "downlink PDUs of a bearer that came again";
    "lte.rlc.dl.nacks" Count 0..=4294967295 "sub_packets.bearers.complete_nacks"
        "TS 36.322 §5.2.3" "whole downlink PDUs of a bearer that this device asked for again";
}

/// Uplink statistics.
UPLINK_STATISTICS = 0xB097 {
    "lte.rlc.ul.pdus" Count 0..=4294967295 "sub_packets.bearers.data_pdus/new_data_pdus"
        "TS 36.322 §5.1" "uplink PDUs of a bearer since the modem started";
    "lte.rlc.ul.retx_pdus" Count 0..=4294967295 "sub_packets.bearers.retx_pdus"
        "TS 36.322 §5.2" "uplink PDUs of a bearer that went out again";
    "lte.rlc.ul.nacks" Count 0..=4294967295 "sub_packets.bearers.complete_nacks"
        "TS 36.322 §5.2.1" "whole uplink PDUs of a bearer that the base station asked for again";
}
}
