//! The tables of all codes: the only list of all records.

use nr::csf as nr_csf;
use nr::dci as nr_dci;
use nr::dl_data as nr_dl_data;
use nr::pdsch_stats as nr_pdsch_stats;
use nr::pdsch_status as nr_pdsch_status;
use nr::searcher as nr_searcher;
use nr::ul_block as nr_ul_block;
use nr::ul_bsr as nr_ul_bsr;
use nr::ul_schedule as nr_ul_schedule;
use nr::ul_tb_stats as nr_ul_tb_stats;

use super::*;

/// Everything that lists the described records, so that none can be left out of one place.
macro_rules! records {
    (
        views { $($doc:literal $variant:ident($view:ident) = $module:ident;)* }
        tables { $($code:literal = $table:path;)* }
    ) => {
        /// A record, read.
        #[derive(Clone, Copy, Debug)]
        pub enum Record<'a> {
            $(#[doc = $doc] $variant($view<'a>),)*
            /// Any other record: its fields by name.
            Other(Node<'a>),
        }

        impl<'a> Record<'a> {
            /// Parses a log record by its code.
            ///
            /// # Errors
            ///
            /// [`RecordError::Undescribed`] or [`RecordError::Unsupported`] if the code, its
            /// version or every sub-packet is not described; [`RecordError::Corrupt`] if the body
            /// is too short.
            pub fn parse(log: &LogRecord<'a>) -> Result<Self, RecordError> {
                Ok(match log.code {
                    $($view::CODE => Self::$variant($view::parse(log.body)?),)*
                    _ => Self::Other(super::other(log)?),
                })
            }
        }

        /// The layouts of `code`, if any version of it is described.
        pub fn layouts(code: LogCode) -> Option<&'static [Layout]> {
            match code {
                $($view::CODE => Some($module::LAYOUTS),)*
                $(LogCode($code) => Some($table),)*
                _ => None,
            }
        }

        /// The codes with at least one described version.
        pub const CODES: &[LogCode] = &[$($view::CODE,)* $(LogCode::new($code),)*];
    };
}

records! {
    views {
    "0xB063." MacDownlink(MacDownlink) = mac_downlink;
    "0xB064." MacUplink(MacUplink) = mac_uplink;
    "0xB066." UplinkBuffer(UplinkBuffer) = ul_buffer;
    "0xB067." MacUplinkStats(MacUplinkStats) = ul_stats;
    "0xB126." PdschDemapper(PdschDemapper) = pdsch_demapper;
    "0xB130." PdcchDecoding(PdcchDecoding) = pdcch_decoding;
    "0xB132." PdschDecoding(PdschDecoding) = pdsch_decoding;
    "0xB139." PuschTx(PuschTxReport) = pusch_tx;
    "0xB16B." PdcchPhich(PdcchPhich) = pdcch_phich;
    "0xB173." PdschStat(PdschStat) = pdsch_stat;
    "0xB193." ServingCells(ServingCells) = serving_cell;
    "0xB0C0." LteRrc(LteRrc) = rrc_lte;
    "0xB821." NrRrc(NrRrc) = rrc_nr;
    "0xB857." NrDownlinkData(NrDownlinkData) = nr_dl_data;
    "0xB872." NrUplink(NrUplink) = nr_ul_block;
    "0xB873." NrUplinkBsr(NrUplinkBsr) = nr_ul_bsr;
    "0xB881." NrUplinkStats(NrUplinkStats) = nr_ul_tb_stats;
    "0xB883." NrUplinkSchedule(NrUplinkSchedule) = nr_ul_schedule;
    "0xB885." NrDci(NrDci) = nr_dci;
    "0xB887." NrPdschStatus(NrPdschStatus) = nr_pdsch_status;
    "0xB888." NrPdschStats(NrPdschStats) = nr_pdsch_stats;
    "0xB8A7." NrCsf(NrCsf) = nr_csf;
    "0xB97F." NrSearcher(NrSearcher) = nr_searcher;
    }
    tables {
    0xB822 = nr::cell::MIB;
    0xB823 = nr::cell::SERVING_CELL;
    0xB825 = nr::cell::CONFIGURATION;
    0xB826 = nr::ca_combos::LAYOUTS;
    0xB840 = nr::pdcp::DL_DATA;
    0xB842 = nr::pdcp::DL_STATS;
    0xB84B = nr::l2_config::DOWNLINK;
    0xB84D = nr::rlc::DL_STATS;
    0xB84E = nr::rlc::DL_STATUS;
    0xB860 = nr::pdcp::UL_STATS;
    0xB861 = nr::pdcp::UL_CONTROL;
    0xB868 = nr::rlc::UL_STATS;
    0xB869 = nr::rlc::UL_STATUS;
    0xB870 = nr::l2_data::LAYOUTS;
    0xB871 = nr::l2_config::UPLINK;
    0xB886 = nr::dl_tb_report::LAYOUTS;
    0xB889 = nr::rach::TRIGGER;
    0xB88A = nr::rach::ATTEMPT;
    0xB890 = nr::cdrx::LAYOUTS;
    0xB896 = nr::uci::PAYLOAD;
    0xB89B = nr::uci::INFORMATION;
    0xB89C = nr::flow_control::LAYOUTS;
    0xB8C9 = nr::ll1::AGC;
    0xB8DD = nr::ll1::FTL;
    0xB96F = nr::ml1::EVENTS;
    0xB975 = nr::ml1::BEAMS;
    0xB98F = nr::ml1::ANTENNAS;
    0xB9BF = nr::ml1::HANDOVER;
    0x106E = evdo::ATTEMPT_LAYOUTS;
    0x1071 = evdo::RELEASE_LAYOUTS;
    0x118A = evdo::SEARCH_LAYOUTS;
    0x4005 = umts_cells::RANK_LAYOUTS;
    0x4125 = umts_cells::STATE_LAYOUTS;
    0x4127 = umts_cells::IDENTITY_LAYOUTS;
    0x4135 = umts_rlc::SIGNALLING_LAYOUTS;
    0x4145 = umts_rlc::CONTROL_LAYOUTS;
    0x4146 = umts_rlc::CONTROL_LAYOUTS;
    0x4168 = umts_rlc::DOWNLINK_CIPHER_LAYOUTS;
    0x4169 = umts_rlc::UPLINK_CIPHER_LAYOUTS;
    0x5065 = gsm_cells::FREQUENCY_LAYOUTS;
    0x5066 = gsm_cells::SYNCHRONISATION_LAYOUTS;
    0x506A = gsm_cells::NEW_BURST_LAYOUTS;
    0x506C = gsm_cells::BURST_LAYOUTS;
    0x5071 = gsm_cells::SURROUNDING_LAYOUTS;
    0x507A = gsm_cells::SERVING_POWER_LAYOUTS;
    0x507B = gsm_cells::NEIGHBOUR_POWER_LAYOUTS;
    0x5130 = gsm_cells::SELECTION_LAYOUTS;
    0x5134 = gsm_cells::CELL_LAYOUTS;
    0x51FC = gsm_cells::RESELECTION_LAYOUTS;
    0x5A65 = gsm_cells::DUAL_FREQUENCY_LAYOUTS;
    0x5A66 = gsm_cells::DUAL_SYNCHRONISATION_LAYOUTS;
    0x5A6C = gsm_cells::DUAL_BURST_LAYOUTS;
    0x5A71 = gsm_cells::DUAL_SURROUNDING_LAYOUTS;
    0x5A7A = gsm_cells::DUAL_SERVING_POWER_LAYOUTS;
    0x5A7B = gsm_cells::DUAL_NEIGHBOUR_POWER_LAYOUTS;
    0x5B30 = gsm_cells::DUAL_SELECTION_LAYOUTS;
    0x5B34 = gsm_cells::DUAL_CELL_LAYOUTS;
    0xB060 = mac_config::LAYOUTS;
    0xB061 = rach::TRIGGER_LAYOUTS;
    0xB062 = rach::ATTEMPT_LAYOUTS;
    0xB081 = bearer_config::RLC_DOWNLINK_LAYOUTS;
    0xB082 = rlc_pdu::DOWNLINK_LAYOUTS;
    0xB083 = rlc_pdu::STATUS_LAYOUTS;
    0xB087 = rlc_stats::DOWNLINK_LAYOUTS;
    0xB091 = bearer_config::RLC_UPLINK_LAYOUTS;
    0xB092 = rlc_pdu::UPLINK_LAYOUTS;
    0xB097 = rlc_stats::UPLINK_LAYOUTS;
    0xB0A0 = bearer_config::PDCP_DOWNLINK_LAYOUTS;
    0xB0A1 = pdcp_data::DATA_LAYOUTS;
    0xB0A2 = pdcp_pdu::CONTROL_LAYOUTS;
    0xB0A3 = pdcp_cipher::LAYOUTS;
    0xB0A4 = pdcp_dl_stats::LAYOUTS;
    0xB0A5 = pdcp_cipher::DOWNLINK_SIGNALLING_LAYOUTS;
    0xB0B0 = bearer_config::PDCP_UPLINK_LAYOUTS;
    0xB0B1 = pdcp_pdu::DATA_LAYOUTS;
    0xB0B2 = pdcp_pdu::CONTROL_LAYOUTS;
    0xB0B3 = pdcp_cipher::LAYOUTS;
    0xB0B4 = pdcp_ul_stats::LAYOUTS;
    0xB0B5 = pdcp_cipher::UPLINK_SIGNALLING_LAYOUTS;
    0xB0B6 = pdcp_data::DELAY_LAYOUTS;
    0xB0C1 = rrc_cell::MIB_LAYOUTS;
    0xB0C2 = rrc_cell::SERVING_LAYOUTS;
    0xB0CD = ca_combos::LAYOUTS;
    0xB116 = cell_levels::LL1_LAYOUTS;
    0xB121 = receiver::CLOCK_LAYOUTS;
    0xB12A = ml1_events::PCFICH_LAYOUTS;
    0xB13C = pucch_tx::LAYOUTS;
    0xB144 = ml1_events::RACH_TX_LAYOUTS;
    0xB14D = csf::PERIODIC_LAYOUTS;
    0xB14E = csf::APERIODIC_LAYOUTS;
    0xB167 = rach_reports::REQUEST_LAYOUTS;
    0xB168 = rach_reports::RESPONSE_LAYOUTS;
    0xB169 = rach_reports::IDENTIFICATION_LAYOUTS;
    0xB16A = ml1_events::CONTENTION_LAYOUTS;
    0xB16C = dci::LAYOUTS;
    0xB16D = gm_tx::LAYOUTS;
    0xB16E = power_control::PUSCH_LAYOUTS;
    0xB16F = power_control::PUCCH_LAYOUTS;
    0xB179 = neighbour::INTRA_FREQUENCY_LAYOUTS;
    0xB17A = idle_mode::SELECTION_LAYOUTS;
    0xB17D = idle_mode::REQUEST_LAYOUTS;
    0xB17F = cell_levels::EVALUATION_LAYOUTS;
    0xB180 = cell_levels::NEIGHBOUR_LAYOUTS;
    0xB181 = idle_mode::RESELECTION_LAYOUTS;
    0xB184 = ml1_events::AGGREGATION_LAYOUTS;
    0xB185 = other_systems::CDMA_LAYOUTS;
    0xB188 = other_systems::MEASURED_LAYOUTS;
    0xB18A = ml1_events::LINK_MONITORING_LAYOUTS;
    0xB18E = cell_search::SCAN_LAYOUTS;
    0xB18F = receiver::CANCELLATION_LAYOUTS;
    0xB192 = neighbour::IDLE_LAYOUTS;
    0xB195 = neighbour::CONNECTED_LAYOUTS;
    0xB196 = cell_levels::RESULT_LAYOUTS;
    0xB197 = cell_levels::INFORMATION_LAYOUTS;
    0xB198 = ml1_events::DRX_LAYOUTS;
    0xB19E = neighbour::INTER_FREQUENCY_LAYOUTS;
    0xB1A1 = cell_search::REQUEST_LAYOUTS;
    0xB1A2 = cell_search::CONFIRM_LAYOUTS;
    0xB1B2 = ml1_events::DC_OFFSET_LAYOUTS;
    0xB244 = nb_iot::DCI_LAYOUTS;
    0xB245 = nb_iot::TX_LAYOUTS;
    0xB246 = nb_iot::PDSCH_LAYOUTS;
    0xB24B = nb_iot::SYSTEM_LAYOUTS;
    0xB24C = nb_iot::RESELECTION_LAYOUTS;
    0xB250 = nb_iot::PBCH_LAYOUTS;
    0x412F = umts::RRC;
    0x512F = umts::GSM_RR;
    0x5226 = umts::GPRS_MAC;
    0x5230 = umts::GPRS_NAS;
    0x5B2F = umts::DUAL_GSM_RR;
    0x7130 = umts::GMM_STATE;
    0x7131 = umts::MM_STATE;
    0x7135 = umts::REGISTRATION;
    0x713A = umts::NAS;
    0x7B3A = umts::DUAL_NAS;
    0xB0E0 = nas::LTE_MESSAGE;
    0xB0E1 = nas::LTE_MESSAGE;
    0xB0E2 = nas::LTE_MESSAGE;
    0xB0E3 = nas::LTE_MESSAGE;
    0xB0E5 = nas::BEARER;
    0xB0EA = nas::LTE_MESSAGE;
    0xB0EB = nas::LTE_MESSAGE;
    0xB0EC = nas::LTE_MESSAGE;
    0xB0ED = nas::LTE_MESSAGE;
    0xB0EE = nas::EMM_STATE;
    0xB800 = nas::NR_MESSAGE;
    0xB801 = nas::NR_MESSAGE;
    0xB808 = nas::NR_MESSAGE;
    0xB809 = nas::NR_MESSAGE;
    0xB80A = nas::NR_MESSAGE;
    0xB80B = nas::NR_MESSAGE;
    0xB80C = nas::MM5G_STATE;
    0xB814 = nas::NR_MESSAGE;
    0xB815 = nas::SLICES;
    }
}
