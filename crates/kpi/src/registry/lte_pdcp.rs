//! LTE's PDCP layer: statistics per bearer.

use super::table::kpis;

kpis! {
/// Downlink statistics.
DOWNLINK = 0xB0A4 {
    "lte.pdcp.dl.pdus" Count 0..=4294967295 "sub_packets.bearers.data_pdus_rx"
        "TS 36.323 §5.1.2" "downlink PDUs of a bearer since the modem started";
    "lte.pdcp.dl.bytes" Bytes 0..=4294967295 "sub_packets.bearers.data_pdu_rx_bytes"
        "TS 36.323 §5.1.2" "bytes of them";
}

/// Uplink statistics.
UPLINK = 0xB0B4 {
    "lte.pdcp.ul.pdus" Count 0..=4294967295 "sub_packets.bearers.data_pdus_tx"
        "TS 36.323 §5.1.1" "uplink PDUs of a bearer since the modem started";
    "lte.pdcp.ul.bytes" Bytes 0..=9007199254740991 "sub_packets.bearers.data_pdu_tx_bytes"
        "TS 36.323 §5.1.1" "bytes of them";
    "lte.pdcp.ul.discarded" Count 0..=4294967295 "sub_packets.bearers.discard_sdus"
        "TS 36.323 §5.4" "packets that waited too long and were thrown away";
}
}
