//! What an LTE device tells its base station about the channel, and how loud: CQI, RI, PMI, power.

use super::table::kpis;

kpis! {
/// PUCCH transmit report.
PUCCH = 0xB13C {
    "lte.pucch.power" Dbm -64..=63 "transmissions.power_dbm"
        "TS 36.213 §5.1.2" "transmit power of control";
    "lte.pucch.format" Index 0..=15 "transmissions.format"
        "TS 36.211 §5.4" "format of control, as the modem numbers it";
    "lte.pucch.scheduling_request" Flag 0..=1 "transmissions.scheduling_request"
        "TS 36.321 §5.4.4" "1 if the device asked for a grant";
    "lte.pucch.carrier" Index 0..=4 "transmissions.carrier"
        "TS 36.300 §5.5" "uplink carrier, 0 for the primary";
}

/// Periodic channel state feedback.
PERIODIC_CSF = 0xB14D {
    "lte.csf.cqi" Index 0..=15 "cqi_0@report_type=wideband_cqi_pmi"
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
