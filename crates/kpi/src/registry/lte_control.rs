//! LTE's grants, the device's channel reports, and its transmit power: DCI, CQI, RI, PMI,
//! power.

use super::table::kpis;

kpis! {
/// PUCCH transmit report.
PUCCH = 0xB13C {
    "lte.pucch.power" Dbm -64..=63 "transmissions.power_dbm"
        "TS 36.213 §5.1.2" "transmit power of control";
    "lte.pucch.format" Index 0..=15 "transmissions.format"
        "TS 36.211 §5.4" "format of control, as the modem numbers it";
    "lte.pucch.harq_ack_bits" Bits 0..=127 "transmissions.ack_len"
        "TS 36.213 §10.1; Gandalf B.3.1" "HARQ answers to downlink blocks that it has";
    "lte.pucch.harq_ack" Index 0..=1048575 "transmissions.ack_payload@ack_len!=0"
        "TS 36.212 §5.2.3.1; Gandalf B.3.1" "these answers, a bit each: 1 for a block that arrived";
    "lte.pucch.scheduling_request" Flag 0..=1 "transmissions.scheduling_request"
        "TS 36.321 §5.4.4" "1 if the device asked for a grant";
    "lte.pucch.tti" Index 0..=10239 "transmissions.tti"
        "TS 36.211 §4; Gandalf B.2" "when it went out: ten times the system frame, plus the subframe";
    "lte.pucch.carrier" Index 0..=4 "transmissions.carrier"
        "TS 36.300 §5.5" "uplink carrier, 0 for the primary";
}

/// Periodic channel state feedback.
PERIODIC_CSF = 0xB14D {
    "lte.csf.cqi" Index 0..=15 "cqi_0@report_type=wideband_cqi_pmi|wideband_cqi"
        "TS 36.213 Table 7.2.3-1" "channel quality of the first codeword";
    "lte.csf.cqi_1" Index 0..=15 "cqi_1@report_type=wideband_cqi_pmi"
        "TS 36.213 Table 7.2.3-1" "channel quality of the second codeword";
    "lte.csf.pmi" Index 0..=15 "wideband_pmi@report_type=wideband_cqi_pmi"
        "TS 36.213 §7.2.4" "precoding matrix";
    "lte.csf.ri" Count 1..=4 "rank@report_type=rank" [by NUMBER]
        "TS 36.213 §7.2" "rank";
    "lte.csf.carrier" Index 0..=15 "carrier"
        "TS 36.300 §5.5" "downlink carrier, 0 for the primary";
}

/// Aperiodic channel state feedback.
APERIODIC_CSF = 0xB14E {
    "lte.csf.aperiodic.cqi" Index 0..=15 "wideband_cqi_0"
        "TS 36.213 Table 7.2.3-1" "wideband channel quality of the first codeword";
    "lte.csf.aperiodic.cqi_1" Index 0..=15 "wideband_cqi_1"
        "TS 36.213 Table 7.2.3-1" "wideband channel quality of the second codeword";
    "lte.csf.aperiodic.pmi" Index 0..=15 "wideband_pmi"
        "TS 36.213 §7.2.4" "wideband precoding matrix";
    "lte.csf.aperiodic.ri" Count 1..=4 "rank" [by NUMBER]
        "TS 36.213 §7.2" "rank";
}

/// Control information as ML1 hands it on.
CONTROL_INFORMATION = 0xB16C {
    "lte.dci.ul.tbs_index" Index 0..=63 "subframes.grants.tbs_index"
        "TS 36.213 §8.6.2; BISCAY §3.2.2; Gandalf Table 8" "row of the block size table that an uplink grant gives";
    "lte.dci.ul.mcs" Index 0..=31 "subframes.grants.mcs"
        "TS 36.213 Table 8.6.1-1; BISCAY §3.2.2" "modulation and coding scheme of an uplink grant";
    "lte.dci.ul.prb" Prb 0..=127 "subframes.grants.rbs"
        "TS 36.213 §8.1; BISCAY §3.2.2" "resource blocks of an uplink grant";
    "lte.dci.ul.rv" Index 0..=3 "subframes.grants.rv"
        "TS 36.321 §5.4.2.2; Gandalf B.4" "redundancy version of an uplink grant";
    "lte.dci.ul.ndi" Flag 0..=1 "subframes.grants.ndi"
        "TS 36.321 §5.4.2.1; Gandalf B.3.1" "new data indicator of an uplink grant: unchanged is a NACK";
    "lte.dci.ul.harq" Index 0..=7 "subframes.grants.harq"
        "TS 36.321 §5.4.2; Gandalf B.4" "HARQ process of an uplink grant";
    "lte.dci.ul.modulation" Bits 2..=8 "subframes.grants.modulation" [by MODULATION]
        "TS 36.211 §5.3.2" "bits per resource element of an uplink grant";
    "lte.dci.ul.k" Count 0..=7 "subframes.grants.k"
        "TS 36.213 §8.0" "subframes from the grant to the transmission";
    "lte.dci.ul.carrier" Index 0..=4 "subframes.grants.carrier"
        "TS 36.300 §5.5" "uplink carrier, 0 for the primary";
    "lte.dci.ul.count" Count 0..=7 "subframes.grant_count"
        "TS 36.212 §5.3.3.1.1" "uplink grants of a subframe";
    "lte.dci.dl.count" Count 0..=7 "subframes.assignment_count"
        "TS 36.212 §5.3.3.1" "downlink assignments of a subframe";
    "lte.dci.dl.carrier" Index 0..=7 "subframes.assignments.cell"
        "TS 36.300 §5.5" "serving cell of a downlink assignment, 0 for the primary";
    "lte.dci.dl.harq_ack_bits" Bits 0..=3 "subframes.assignments.ack_bits"
        "TS 36.213 §10.1; Gandalf B.3.1" "HARQ answers that a downlink assignment asks for";
    "lte.dci.frame" Index 0..=1023 "subframes.frame"
        "TS 36.211 §4" "system frame";
    "lte.dci.subframe" Index 0..=15 "subframes.subframe"
        "TS 36.211 §4" "subframe in its frame";
}

/// ML1's orders to the transmitter.
TRANSMITTER = 0xB16D {
    "lte.tx.tbs" Bytes 0..=4095 "records.pusch.tb_bytes"
        "TS 36.213 §8.6.2; Gandalf Table 8" "transport block that goes out in a subframe";
    "lte.tx.prb" Prb 0..=127 "records.pusch.rbs"
        "TS 36.213 §8.1; BISCAY §3.2.2" "its resource blocks";
    "lte.tx.mcs" Index 0..=31 "records.pusch.mcs"
        "TS 36.213 Table 8.6.1-1; BISCAY §3.2.2" "its modulation and coding scheme";
    "lte.tx.modulation" Bits 2..=8 "records.pusch.modulation" [by MODULATION]
        "TS 36.211 §5.3.2" "its bits per resource element";
    "lte.tx.rv" Index 0..=3 "records.pusch.rv"
        "TS 36.321 §5.4.2.2; Gandalf B.4" "its redundancy version";
    "lte.tx.harq" Index 0..=7 "records.pusch.harq"
        "TS 36.321 §5.4.2; Gandalf B.4" "its HARQ process";
    "lte.tx.retx" Count 0..=7 "records.pusch.retx"
        "TS 36.321 §5.4.2; Gandalf B.4" "how often it went out before";
    "lte.tx.harq_ack_bits" Bits 0..=7 "records.pusch.ack_len"
        "TS 36.212 §5.2.2.6; Gandalf B.3.1" "HARQ answers to downlink blocks that go out with the block";
    "lte.tx.pucch_harq_ack_bits" Bits 0..=3 "records.pucch.ack_len"
        "TS 36.213 §10.1; Gandalf B.3.1" "HARQ answers that go out on the control channel";
    "lte.tx.antennas" Count 0..=3 "records.pusch.antennas"
        "TS 36.211 §5.2.1; BISCAY §3.2.2" "antennas, as the modem counts them";
    "lte.tx.scheduling_request" Flag 0..=1 "records.pucch.scheduling_request"
        "TS 36.321 §5.4.4" "1 if the device asks for a grant";
    "lte.tx.power" Dbm -128..=127 "records.power_dbm"
        "TS 36.213 §5.1.1" "power that it goes out with";
    "lte.tx.carrier" Index 0..=4 "records.carrier"
        "TS 36.300 §5.5" "uplink carrier, 0 for the primary";
    "lte.tx.frame" Index 0..=1023 "records.frame"
        "TS 36.211 §4" "system frame";
    "lte.tx.subframe" Index 0..=15 "records.subframe"
        "TS 36.211 §4" "subframe in its frame";
}

/// PUSCH power control.
PUSCH_POWER = 0xB16E {
    "lte.pusch.path_loss" Db 0..=255 "records.path_loss_db"
        "TS 36.213 §5.1.1.1" "path loss";
    "lte.pusch.tpc" Db -16..=15 "records.tpc_db"
        "TS 36.213 Table 5.1.1.1-2" "power control command; at the lower end there was none";
    "lte.pusch.actual_power" Dbm -128..=127 "records.actual_power_dbm"
        "TS 36.213 §5.1.1" "power as transmitted";
    "lte.pusch.max_power" Dbm -128..=127 "records.max_power_dbm"
        "TS 36.101 §6.2.5" "most that the device may send";
}

/// PUCCH power control.
PUCCH_POWER = 0xB16F {
    "lte.pucch.path_loss" Db 0..=255 "records.path_loss_db"
        "TS 36.213 §5.1.2.1" "path loss";
    "lte.pucch.actual_power" Dbm -128..=127 "records.actual_power_dbm"
        "TS 36.213 §5.1.2" "power of control as transmitted";
}
}
