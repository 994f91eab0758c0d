//! LTE's cells: identity, strength and quality.

use super::table::kpis;

kpis! {
/// Serving cell measurement.
SERVING = 0xB193 {
    "lte.cell.rsrp" Dbm -180..=116 "sub_packets.cells?.rsrp_dbm"
        "TS 36.214 §5.1.1" "reference signal received power, antennas combined";
    "lte.cell.rsrq" Db -30..=34 "sub_packets.cells?.rsrq_db"
        "TS 36.214 §5.1.3" "reference signal received quality, antennas combined";
    "lte.cell.rssi" Dbm -110..=18 "sub_packets.cells?.rssi_dbm"
        "TS 36.214 §5.1.3" "received signal strength, antennas combined";
    "lte.cell.rsrp_rx0" Dbm -180..=76 "sub_packets.cells?.rsrp_rx0_dbm"
        "TS 36.214 §5.1.1" "reference signal received power of antenna 0";
    "lte.cell.rsrp_rx1" Dbm -180..=76 "sub_packets.cells?.rsrp_rx1_dbm"
        "TS 36.214 §5.1.1" "reference signal received power of antenna 1";
    "lte.cell.sinr_rx0" Db -20..=32 "sub_packets.cells?.snr_rx0_db"
        "TS 36.214 §5.1.13" "signal to noise of antenna 0";
    "lte.cell.sinr_rx1" Db -20..=32 "sub_packets.cells?.snr_rx1_db"
        "TS 36.214 §5.1.13" "signal to noise of antenna 1";
    "lte.cell.sinr_rx2" Db -20..=32 "sub_packets.cells?.snr_rx2_db"
        "TS 36.214 §5.1.13" "signal to noise of antenna 2";
    "lte.cell.sinr_rx3" Db -20..=32 "sub_packets.cells?.snr_rx3_db"
        "TS 36.214 §5.1.13" "signal to noise of antenna 3";
    "lte.cell.projected_sir" Db -134217728..=134217728 "sub_packets.cells?.projected_sir_db"
        "TS 36.214 §5.1.13" "signal to interference that is expected after cancellation";
    "lte.cell.pci" Index 0..=511 "sub_packets.cells?.pci"
        "TS 36.211 §6.11" "physical cell identity";
    "lte.cell.index" Index 0..=7 "sub_packets.cells?.cell"
        "TS 36.300 §5.5" "serving cell, 0 for the primary";
    "lte.cell.serving" Flag 0..=1 "sub_packets.cells?.serving"
        "TS 36.304 §3.1" "1 if the measured cell serves";
    "lte.cell.earfcn" Index 0..=262143 "sub_packets.earfcn"
        "TS 36.101 §5.7.3" "carrier frequency number";
}
}
