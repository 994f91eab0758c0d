//! Log records, by code and version.
//!
//! One file per record, each in the same order: what it is and which versions are known, its field tables, its typed
//! view, tests. A record can be read in two ways: [`decode`] hands every field of it by name to a [`Sink`];
//! [`Record::parse`] gives a typed view whose iterators read only what they are asked for and allocate nothing. Both
//! read through the same tables.

mod bearer_config;
mod cell_levels;
mod common;
mod compose;
mod csf;
mod dci;
mod emit;
mod evidence;
mod gm_tx;
mod mac_config;
mod mac_downlink;
mod mac_uplink;
mod ml1_events;
mod nas;
mod nb_iot;
mod neighbour;
mod nr;
mod pdcch_decoding;
mod pdcch_phich;
mod pdcp_cipher;
mod pdcp_data;
mod pdcp_dl_stats;
mod pdcp_pdu;
mod pdcp_ul_stats;
mod pdsch_decoding;
mod pdsch_demapper;
mod pdsch_stat;
mod power_control;
mod pucch_tx;
mod pusch_tx;
mod rach;
mod rlc_pdu;
mod rlc_stats;
mod rrc;
mod rrc_cell;
mod rrc_lte;
mod rrc_nr;
mod serving_cell;
mod sub;
mod ul_buffer;
mod ul_stats;
mod umts;
mod umts_gsm;

pub use compose::{Form, compose};
pub use emit::EmitError;
pub use evidence::{Evidence, evidence};
pub use mac_downlink::{DownlinkBlock, MacDownlink};
pub use mac_uplink::{BsrEvent, BsrTrigger, MacUplink, UplinkBlock};
pub use nr::csf::{NrCsf, NrCsi};
pub use nr::dci::{NrControlMessage, NrDci};
pub use nr::pdsch_stats::{NrPdschCounters, NrPdschStats};
pub use nr::pdsch_status::{NrPdschBlock, NrPdschStatus};
pub use nr::searcher::{NrCell, NrLayerRepr, NrSearcher};
pub use nr::ul_block::{NrUplink, NrUplinkBlock};
pub use nr::ul_bsr::{NrBsr, NrUplinkBsr};
pub use nr::ul_schedule::{NrPusch, NrUplinkSchedule};
pub use nr::ul_tb_stats::{NrUplinkStats, NrUplinkSums};
pub use pdcch_decoding::{ControlMessage, PdcchDecoding};
pub use pdcch_phich::{Answer, ControlIndication, IndicationSubframe, PdcchPhich};
pub use pdsch_decoding::{DecodedBlock, PdschDecoding};
pub use pdsch_demapper::{Demapped, PdschDemapper};
pub use pdsch_stat::{PdschBlock, PdschStat, PdschSubframe, PdschSubframeRepr};
pub use pusch_tx::{PuschTx, PuschTxReport};
pub use rrc::{MessageSegments, RrcPdu, Segment};
pub use rrc_lte::LteRrc;
pub use rrc_nr::NrRrc;
pub use serving_cell::{CellMeasurement, ServingCells};
pub use ul_buffer::{BufferSample, BufferSampleRepr, ChannelBacklog, UplinkBuffer};
pub use ul_stats::{MacUplinkStats, UplinkStatistics};

use core::fmt;

use nr::csf as nr_csf;
use nr::dci as nr_dci;
use nr::pdsch_stats as nr_pdsch_stats;
use nr::pdsch_status as nr_pdsch_status;
use nr::searcher as nr_searcher;
use nr::ul_block as nr_ul_block;
use nr::ul_bsr as nr_ul_bsr;
use nr::ul_schedule as nr_ul_schedule;
use nr::ul_tb_stats as nr_ul_tb_stats;

use crate::layout::{Layout, Node, Short, Sink};
use crate::{LogCode, LogRecord};

/// Which layout a record, or one of its sub-packets, says it has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Version {
    /// The version of the whole record: a number, or in NR's records a major and a minor one as high and low half.
    Packet(u32),
    /// The version of a sub-packet.
    Sub {
        /// Version of the record around it.
        packet: u32,
        /// Kind of sub-packet.
        id: u8,
        /// Version of the sub-packet.
        version: u8,
    },
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Packet(version @ ..=0xFFFF) => write!(f, "{version}"),
            Self::Packet(version) => write!(f, "{}.{}", version >> 16, version & 0xFFFF),
            Self::Sub { packet, id, version } => write!(f, "{packet} sub-packet {id} v{version}"),
        }
    }
}

/// Why a log record is not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RecordError {
    /// No version of this code is described here.
    #[error("log {code}: not described, {len} bytes")]
    Undescribed {
        /// What it logs.
        code: LogCode,
        /// Bytes of body.
        len: usize,
    },
    /// Other versions of this code are described, this one is not.
    #[error("log {code} v{version}: version not described, {len} bytes")]
    Unsupported {
        /// What it logs.
        code: LogCode,
        /// The version it says it has.
        version: Version,
        /// Bytes of body.
        len: usize,
    },
    /// The version is described, and the bytes do not fit the description.
    #[error("log {code} v{version}: needs {need} bytes at offset {at}, has {have}")]
    Corrupt {
        /// What it logs.
        code: LogCode,
        /// The version it says it has.
        version: Version,
        /// Bytes needed from `at` on.
        need: usize,
        /// Where in the body.
        at: usize,
        /// Bytes there are from `at` on.
        have: usize,
    },
}

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
            /// Reads a log record as what its code says it is.
            pub fn parse(log: &LogRecord<'a>) -> Result<Self, RecordError> {
                Ok(match log.code {
                    $($view::CODE => Self::$variant($view::parse(log.body)?),)*
                    _ => Self::Other(other(log)?),
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

        /// The codes of which at least one version is described.
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
    0xB857 = nr::l2_data::DOWNLINK;
    0xB860 = nr::pdcp::UL_STATS;
    0xB861 = nr::pdcp::UL_CONTROL;
    0xB868 = nr::rlc::UL_STATS;
    0xB869 = nr::rlc::UL_STATUS;
    0xB870 = nr::l2_data::UPLINK;
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
    0x4127 = umts_gsm::WCDMA_CELL_LAYOUTS;
    0x5071 = umts_gsm::SURROUNDING_LAYOUTS;
    0x507A = umts_gsm::SERVING_POWER_LAYOUTS;
    0x507B = umts_gsm::NEIGHBOUR_POWER_LAYOUTS;
    0x5134 = umts_gsm::GSM_CELL_LAYOUTS;
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
    0xB116 = cell_levels::LL1_LAYOUTS;
    0xB12A = ml1_events::PCFICH_LAYOUTS;
    0xB13C = pucch_tx::LAYOUTS;
    0xB144 = ml1_events::RACH_TX_LAYOUTS;
    0xB14D = csf::PERIODIC_LAYOUTS;
    0xB14E = csf::APERIODIC_LAYOUTS;
    0xB16A = ml1_events::CONTENTION_LAYOUTS;
    0xB16C = dci::LAYOUTS;
    0xB16D = gm_tx::LAYOUTS;
    0xB16E = power_control::PUSCH_LAYOUTS;
    0xB16F = power_control::PUCCH_LAYOUTS;
    0xB179 = neighbour::INTRA_FREQUENCY_LAYOUTS;
    0xB17F = cell_levels::EVALUATION_LAYOUTS;
    0xB180 = cell_levels::NEIGHBOUR_LAYOUTS;
    0xB184 = ml1_events::AGGREGATION_LAYOUTS;
    0xB18A = ml1_events::LINK_MONITORING_LAYOUTS;
    0xB192 = neighbour::IDLE_LAYOUTS;
    0xB195 = neighbour::CONNECTED_LAYOUTS;
    0xB196 = cell_levels::RESULT_LAYOUTS;
    0xB197 = cell_levels::INFORMATION_LAYOUTS;
    0xB198 = ml1_events::DRX_LAYOUTS;
    0xB1B2 = ml1_events::DC_OFFSET_LAYOUTS;
    0xB244 = nb_iot::DCI_LAYOUTS;
    0xB245 = nb_iot::TX_LAYOUTS;
    0xB246 = nb_iot::PDSCH_LAYOUTS;
    0xB24B = nb_iot::SYSTEM_LAYOUTS;
    0xB24C = nb_iot::RESELECTION_LAYOUTS;
    0xB250 = nb_iot::PBCH_LAYOUTS;
    0x412F = umts::RRC;
    0x512F = umts::GSM_RR;
    0x7130 = umts::GMM_STATE;
    0x7131 = umts::MM_STATE;
    0x7135 = umts::REGISTRATION;
    0x713A = umts::NAS;
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
    }
}

/// Hands every field of a record to `sink`, in the order of its table.
///
/// The record is checked as a whole first: on an error nothing has been handed over. Sub-packets that nobody has
/// described appear with their id, version and length, and `unsupported`.
pub fn decode(log: &LogRecord<'_>, sink: &mut impl Sink) -> Result<(), RecordError> {
    node(log)?.visit(sink);
    Ok(())
}

/// A record checked as a whole, as a tree of its fields.
fn node<'a>(log: &LogRecord<'a>) -> Result<Node<'a>, RecordError> {
    checked(log.code, described(log)?, log.body).map(|(node, _)| node)
}

/// As [`node`]; a record of nothing but unknown sub-packets is an error.
fn other<'a>(log: &LogRecord<'a>) -> Result<Node<'a>, RecordError> {
    checked_sub_packets(log.code, described(log)?, log.body)
}

fn described(log: &LogRecord<'_>) -> Result<&'static [Layout], RecordError> {
    layouts(log.code).ok_or(RecordError::Undescribed { code: log.code, len: log.body.len() })
}

/// A body checked against the layout of the version it begins with, and the index of that layout.
fn checked<'a>(
    code: LogCode,
    layouts: &'static [Layout],
    body: &'a [u8],
) -> Result<(Node<'a>, usize), RecordError> {
    let number = code.version_of(body);
    let version = Version::Packet(number.unwrap_or_default());
    let corrupt = |Short { at, need, have }| RecordError::Corrupt { code, version, need, at, have };
    let short = Short { at: 0, need: code.version_size(), have: body.len() };
    let number = number.ok_or(corrupt(short))?;
    let found = layouts.iter().position(|layout| layout.describes(number));
    let Some(index) = found else {
        return Err(RecordError::Unsupported { code, version, len: body.len() });
    };
    let node = layouts[index].node(body).map_err(corrupt)?;
    Ok((node, index))
}

/// As [`checked`], for records made of sub-packets: it is an error if there are some and none of them is described.
fn checked_sub_packets<'a>(
    code: LogCode,
    layouts: &'static [Layout],
    body: &'a [u8],
) -> Result<Node<'a>, RecordError> {
    let (node, _) = checked(code, layouts, body)?;
    let packet = code.version_of(body).unwrap_or_default();
    let mut unknown = None;
    for sub in node.sub_packets() {
        match sub.node {
            Some(_) => return Ok(node),
            None => unknown = Some(Version::Sub { packet, id: sub.id, version: sub.version }),
        }
    }
    match unknown {
        Some(version) => Err(RecordError::Unsupported { code, version, len: body.len() }),
        None => Ok(node),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::{Block, Part};
    use std::vec::Vec;

    /// Every block of a layout, with those of its lists and sub-packets.
    fn blocks(parts: &'static [Part]) -> Vec<&'static Block> {
        let nested = |part: &'static Part| match part {
            Part::Block(block) => Vec::from([block]),
            Part::List { parts, .. } | Part::Counted { parts, .. } => blocks(parts),
            Part::SubPackets { known, .. } => {
                known.iter().flat_map(|sub| blocks(sub.parts)).collect()
            }
            _ => Vec::new(),
        };
        parts.iter().flat_map(nested).collect()
    }

    fn every_layout() -> impl Iterator<Item = (LogCode, &'static Layout)> {
        CODES
            .iter()
            .flat_map(|&code| layouts(code).into_iter().flatten().map(move |layout| (code, layout)))
    }

    #[test]
    fn every_field_lies_within_its_block() {
        for (code, layout) in every_layout() {
            for block in blocks(layout.parts) {
                for field in block.fields.iter().copied().flatten() {
                    let (end, size) = (field.end(), usize::from(block.size));
                    assert!(end <= size, "{code}: {} ends at {end} of {size}", field.name);
                }
            }
        }
    }

    /// A count of four thousand million then ends with the body, and not with patience.
    #[test]
    fn every_item_of_a_list_takes_bytes() {
        fn takes_bytes(parts: &'static [Part]) -> bool {
            parts.iter().any(|part| match part {
                Part::Block(block) => block.size > 0,
                Part::NrControl | Part::Chain => true,
                _ => false,
            })
        }
        fn holds(parts: &'static [Part]) -> bool {
            parts.iter().all(|part| match part {
                Part::List { parts, .. } => takes_bytes(parts) && holds(parts),
                Part::SubPackets { known, .. } => known.iter().all(|sub| holds(sub.parts)),
                _ => true,
            })
        }
        for (code, layout) in every_layout() {
            assert!(holds(layout.parts), "{code} {:?}", layout.versions);
        }
    }

    #[test]
    fn no_name_stands_for_two_fields_of_a_block() {
        for (code, layout) in every_layout() {
            for block in blocks(layout.parts) {
                let mut names: Vec<_> =
                    block.fields.iter().copied().flatten().map(|field| field.name).collect();
                let count = names.len();
                names.sort_unstable();
                names.dedup();
                assert_eq!(names.len(), count, "{code} {:?}: {names:?}", layout.versions);
            }
        }
    }

    #[test]
    fn no_version_has_two_layouts() {
        for &code in CODES {
            let mut versions: Vec<u32> = layouts(code)
                .into_iter()
                .flatten()
                .flat_map(|layout| layout.versions)
                .copied()
                .collect();
            let count = versions.len();
            versions.sort_unstable();
            versions.dedup();
            assert_eq!(versions.len(), count, "{code}");
        }
    }

    #[test]
    fn errors_say_what_to_look_for() {
        let corrupt = RecordError::Corrupt {
            code: LogCode::new(0xB139),
            version: Version::Packet(124),
            need: 84,
            at: 8,
            have: 60,
        };
        let text = std::format!("{corrupt}");
        assert_eq!(text, "log 0xB139 v124: needs 84 bytes at offset 8, has 60");
        let version = Version::Sub { packet: 1, id: 8, version: 9 };
        let unsupported =
            RecordError::Unsupported { code: LogCode::new(0xB064), version, len: 100 };
        let text = std::format!("{unsupported}");
        assert_eq!(text, "log 0xB064 v1 sub-packet 8 v9: version not described, 100 bytes");
    }
}
