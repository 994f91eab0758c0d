//! Every number that the papers take from a modem has a KPI: Gandalf's Tables 7 and 8 with what
//! Appendix B reads of each message, and the list that BISCAY's bandwidth comes from. A name that
//! is not in the registry fails.

use std::collections::BTreeSet;

use sounding_diag::LogCode;
use sounding_kpi::Subscription;
use sounding_kpi::registry::{self, Source};

/// A message of a paper, the field that it reads of it, and the KPIs that are that field.
type Line = (&'static str, &'static str, &'static [&'static str]);

/// Gandalf Table 7 and Appendix B, of NR.
const GANDALF_NR: &[Line] = &[
    ("NR5G_MAC_PDSCH_Status", "K1", &["nr.pdsch.k1"]),
    ("NR5G_MAC_PDSCH_Status", "redundancy version", &["nr.pdsch.rv"]),
    ("NR5G_MAC_PDSCH_Status", "HARQ process id", &["nr.pdsch.harq"]),
    ("NR5G_MAC_DCI_Info", "time resource assignment", &["nr.dci.dl.time_allocation"]),
    ("NR5G_MAC_DCI_Info", "symbol allocation index", &["nr.dci.ul.time_allocation"]),
    ("NR5G_MAC_DCI_Info", "NDI", &["nr.dci.ul.ndi"]),
    ("NR5G_MAC_DCI_Info", "redundancy version", &["nr.dci.ul.rv"]),
    ("NR5G_MAC_DCI_Info", "HARQ process id", &["nr.dci.ul.harq"]),
    ("NR5G_RLC_DL_Status_PDU", "NACK SN", &["nr.rlc.dl.nack_sn"]),
    // No public layout has a PDU's kind of transmission. A sequence number that comes a second
    // time shows the same.
    ("NR5G_L2_UL_Data_PDU", "transmission type", &["nr.l2.ul.rlc_sn", "nr.l2.ul.rlc_last_sn"]),
    ("NR5G_RLC_UL_Status_PDU", "NACK SN", &["nr.rlc.ul.nack_sn"]),
    ("NR5G_L2_DL_Data_PDU", "SN", &["nr.l2.dl.rlc_sn", "nr.l2.dl.rlc_sn_short"]),
    ("NR5G_L2_UL_TB", "BSR", &["nr.mac.ul.bsr"]),
    ("NR5G_L2_UL_TB", "TTI index", &["nr.mac.ul.frame", "nr.mac.ul.slot"]),
    ("NR5G_L2_UL_BSR", "BSR", &["nr.mac.bsr", "nr.mac.bsr_group_0", "nr.mac.bsr_group_7"]),
    ("NR5G_L2_UL_BSR", "TTI index", &["nr.mac.bsr_frame", "nr.mac.bsr_slot"]),
    (
        "NR5G_SIB1",
        "subcarrierSpacing",
        &[
            "nr.rrc.dl_carrier_scs",
            "nr.rrc.ul_carrier_scs",
            "nr.rrc.dl_bwp_scs",
            "nr.rrc.ul_bwp_scs",
        ],
    ),
    ("NR5G_RRC_Setup", "message", &["nr.rrc.setup"]),
    ("NR5G_RRC_Setup", "periodic BSR timer", &["nr.rrc.periodic_bsr_timer"]),
    ("NR5G_RRC_Reconfiguration", "message", &["nr.rrc.reconfiguration"]),
    ("NR5G_RRC_Reconfiguration", "periodic BSR timer", &["nr.rrc.periodic_bsr_timer"]),
    (
        "NR5G_RRC_Reconfiguration",
        "PDSCH time domain allocation list",
        &["nr.rrc.pdsch.allocations", "nr.rrc.pdsch.k0", "nr.rrc.pdsch.k0_0", "nr.rrc.pdsch.k0_15"],
    ),
    (
        "NR5G_RRC_Reconfiguration",
        "PUSCH time domain allocation list",
        &["nr.rrc.pusch.allocations", "nr.rrc.pusch.k2", "nr.rrc.pusch.k2_0", "nr.rrc.pusch.k2_15"],
    ),
    (
        "NR5G_RRC_Reconfiguration",
        "TDD uplink-downlink configuration",
        &["nr.rrc.tdd_period", "nr.rrc.tdd_down_slots", "nr.rrc.tdd_up_slots"],
    ),
    ("NR5G_MAC_UL_PHY_Channel_Schedule_Report", "Num HARQ ACK bits", &["nr.pucch.harq_ack_bits"]),
    ("NR5G_MAC_UL_PHY_Channel_Schedule_Report", "redundancy version", &["nr.pusch.rv"]),
    ("NR5G_MAC_UL_PHY_Channel_Schedule_Report", "HARQ process id", &["nr.pusch.harq"]),
];

/// Gandalf Table 8 and Appendix B, of LTE.
const GANDALF_LTE: &[Line] = &[
    ("LTE_ML1_PDSCH_Stat_Indication", "redundancy version", &["lte.pdsch.rv"]),
    ("LTE_ML1_PDSCH_Stat_Indication", "HARQ process id", &["lte.pdsch.harq"]),
    ("LTE_LL1_PUSCH_Tx_Report", "redundancy version", &["lte.pusch.rv", "lte.pusch.retx"]),
    // The report of these versions has no process.
    ("LTE_LL1_PUSCH_Tx_Report", "HARQ process id", &["lte.dci.ul.harq", "lte.tx.harq"]),
    ("LTE_ML1_DCI_Information_Report", "grant", &["lte.dci.ul.tbs_index", "lte.dci.ul.prb"]),
    ("LTE_ML1_DCI_Information_Report", "NDI", &["lte.dci.ul.ndi"]),
    ("LTE_RLC_DL_AM_Control_PDU", "NACK SN", &["lte.rlc.dl.nack_sn"]),
    ("LTE_RLC_UL_AM_All_PDU", "SN", &["lte.rlc.ul.sn"]),
    ("LTE_RLC_UL_AM_Control_PDU", "NACK SN", &["lte.rlc.ul.nack_sn"]),
    ("LTE_RLC_DL_AM_All_PDU", "SN", &["lte.rlc.dl.sn"]),
    ("LTE_ML1_UL_Transport_Block", "BSR", &["lte.mac.bsr", "lte.mac.bsr_group_0"]),
    ("LTE_ML1_UL_Transport_Block", "TTI index", &["lte.mac.ul.frame", "lte.mac.ul.subframe"]),
    ("LTE_ML1_GM_Tx_Report", "message", &["lte.tx.tbs", "lte.tx.rv", "lte.tx.harq"]),
    ("LTE_LL1_PDCCH_Decoding_Results", "message", &["lte.pdcch.format", "lte.pdcch.status"]),
    ("LTE_RRC_Connection_Setup", "message", &["lte.rrc.setup"]),
    ("LTE_RRC_Connection_Setup", "periodic BSR timer", &["lte.rrc.periodic_bsr_timer"]),
    ("LTE_RRC_Connection_Reconfiguration", "message", &["lte.rrc.reconfiguration"]),
    ("LTE_RRC_Connection_Reconfiguration", "periodic BSR timer", &["lte.rrc.periodic_bsr_timer"]),
];

/// BISCAY §3.2.2: Equation 1, the inputs of a block's size in TS 38.214 §5.1.3, and the granted
/// bytes.
const BISCAY: &[Line] = &[
    (
        "DCI",
        "PRB",
        &["lte.dci.ul.prb", "lte.pusch.prb", "lte.pdsch.prb", "nr.pusch.prb", "nr.pdsch.prb"],
    ),
    ("DCI", "TBS index", &["lte.dci.ul.tbs_index"]),
    (
        "DCI",
        "transport block size",
        &["lte.pusch.tbs", "lte.pdsch.tbs", "nr.pusch.tbs", "nr.pdsch.tbs"],
    ),
    (
        "DCI",
        "MCS",
        &["lte.dci.ul.mcs", "lte.pdsch.mcs", "nr.dci.ul.mcs", "nr.dci.dl.mcs", "nr.pusch.mcs"],
    ),
    (
        "DCI",
        "modulation order",
        &["lte.pusch.modulation", "lte.pdsch.modulation", "nr.pusch.modulation"],
    ),
    ("DCI", "coding rate", &["lte.pusch.code_rate", "nr.rrc.dl_mcs_table", "nr.rrc.ul_mcs_table"]),
    ("DCI", "redundancy version", &["lte.pusch.rv", "nr.dci.ul.rv", "nr.dci.dl.rv"]),
    ("DCI", "scheduled OFDM symbols", &["nr.pusch.symbols", "nr.rrc.pdsch.symbols"]),
    ("DCI", "MIMO layers", &["lte.pdsch.layers", "nr.pdsch.layers", "lte.tx.antennas"]),
    (
        "DCI",
        "carriers",
        &[
            "lte.pusch.carrier",
            "lte.pdsch.carrier",
            "nr.pusch.carrier",
            "lte.rrc.scell_added",
            "nr.rrc.scell_added",
        ],
    ),
    (
        "MAC",
        "granted bytes and their use",
        &["lte.mac.ul.granted", "lte.mac.ul.used", "nr.mac.ul.grant", "nr.mac.ul.built"],
    ),
    (
        "related work",
        "CQI, RI, SINR, RSRP",
        &[
            "lte.csf.cqi",
            "lte.csf.ri",
            "lte.cell.sinr_rx0",
            "lte.cell.rsrp",
            "nr.csf.cqi",
            "nr.csf.ri",
            "nr.cell.rsrp",
        ],
    ),
    ("related work", "CRC", &["lte.pdsch.crc", "nr.pdsch.crc"]),
    ("related work", "SINR of NR", &["nr.rrc.meas.serving_sinr"]),
];

/// What a controller needs besides numbers: the state of the connection, and its interruptions.
const EVENTS: &[Line] = &[
    ("RRC", "state", &["lte.rrc.state", "nr.rrc.state"]),
    ("RRC", "handover", &["lte.rrc.handover", "nr.rrc.handover", "nr.rrc.handover_pci"]),
    ("RRC", "release", &["lte.rrc.release", "nr.rrc.release"]),
    ("RRC", "re-establishment", &["lte.rrc.reestablishment", "nr.rrc.reestablishment"]),
    ("RRC", "measurement report", &["lte.rrc.measurement_report", "nr.rrc.measurement_report"]),
    ("RRC", "security mode", &["lte.rrc.security_mode", "nr.rrc.security_mode"]),
    ("RRC", "secondary cells", &["lte.rrc.scell_released", "nr.rrc.scell_released"]),
];

#[test]
fn every_field_that_a_paper_reads_is_a_kpi() {
    for &(message, field, kpis) in [GANDALF_NR, GANDALF_LTE, BISCAY, EVENTS].into_iter().flatten() {
        assert!(!kpis.is_empty(), "{message}: {field}");
        for kpi in kpis {
            assert!(registry::find(kpi).is_some(), "{message}: {field}: no KPI is called {kpi}");
        }
    }
}

/// The log codes of both tables, under the names that vendors give them.
const CODES: &[(&str, u16)] = &[
    ("NR5G_MAC_PDSCH_Status", 0xB887),
    ("NR5G_MAC_DCI_Info", 0xB885),
    ("NR5G_RLC_DL_Status_PDU", 0xB84E),
    ("NR5G_L2_UL_Data_PDU", 0xB870),
    ("NR5G_RLC_UL_Status_PDU", 0xB869),
    ("NR5G_L2_DL_Data_PDU", 0xB857),
    ("NR5G_L2_UL_TB", 0xB872),
    ("NR5G_L2_UL_BSR", 0xB873),
    ("NR5G_SIB1", 0xB821),
    ("NR5G_RRC_Setup", 0xB821),
    ("NR5G_RRC_Reconfiguration", 0xB821),
    ("NR5G_MAC_UL_PHY_Channel_Schedule_Report", 0xB883),
    ("LTE_ML1_PDSCH_Stat_Indication", 0xB173),
    ("LTE_ML1_DCI_Information_Report", 0xB16C),
    ("LTE_RLC_DL_AM_Control_PDU", 0xB082),
    ("LTE_RLC_UL_AM_All_PDU", 0xB092),
    ("LTE_RLC_UL_AM_Control_PDU", 0xB092),
    ("LTE_RLC_DL_AM_All_PDU", 0xB082),
    ("LTE_ML1_UL_Transport_Block", 0xB064),
    ("LTE_ML1_GM_Tx_Report", 0xB16D),
    ("LTE_LL1_PDCCH_Decoding_Results", 0xB130),
    ("LTE_RRC_Connection_Setup", 0xB0C0),
    ("LTE_RRC_Connection_Reconfiguration", 0xB0C0),
];

#[test]
fn every_message_of_gandalfs_tables_is_where_its_kpis_are_read() {
    for &(message, field, kpis) in [GANDALF_NR, GANDALF_LTE].into_iter().flatten() {
        // One field of the transmit report comes from elsewhere.
        let Some((_, code)) = CODES.iter().find(|(named, _)| *named == message) else { continue };
        for kpi in kpis {
            let found = registry::find(kpi).map(|kpi| kpi.code.number());
            assert_eq!(found, Some(*code), "{message}: {field}: {kpi}");
        }
    }
    let messages: BTreeSet<_> =
        [GANDALF_NR, GANDALF_LTE].into_iter().flatten().map(|(message, ..)| *message).collect();
    assert_eq!(messages.len(), 24, "Tables 7 and 8 have twelve lines each");
}

#[test]
fn a_subscription_of_what_gandalf_reads_asks_for_its_messages_and_no_others() {
    let names = [GANDALF_NR, GANDALF_LTE].into_iter().flatten().flat_map(|(.., kpis)| *kpis);
    let subscription = Subscription::new(names.copied()).expect("all are registered");
    let codes: BTreeSet<_> = subscription.codes().map(LogCode::number).collect();
    let expected = CODES.iter().map(|(_, code)| *code).chain([0xB139]);
    assert_eq!(codes, expected.collect());
    let told = subscription.kpis().iter().filter(|kpi| matches!(kpi.source, Source::Fact { .. }));
    assert!(told.count() > 10);
}
