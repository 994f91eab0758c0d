//! Log records, by code and version.
//!
//! Each record has a file, in the same order: purpose and known versions, field tables, typed view,
//! tests. A record can be read in two ways. [`decode`] gives every field by name to a [`Sink`].
//! [`Record::parse`] gives a typed view whose iterators read on demand and allocate no memory. Both
//! use the same tables.

mod bearer_config;
mod ca_combos;
mod catalogue;
mod cell_levels;
mod cell_search;
mod common;
mod compose;
mod coverage;
mod csf;
mod dci;
mod emit;
mod evdo;
mod evidence;
mod gm_tx;
mod gsm_cells;
mod idle_mode;
mod level;
mod lte_csi;
mod mac_config;
mod mac_downlink;
mod mac_uplink;
mod ml1_events;
mod nas;
mod nb_iot;
mod neighbour;
mod nr;
mod other_systems;
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
mod rach_reports;
mod receiver;
mod rlc_pdu;
mod rlc_stats;
mod rrc;
mod rrc_cell;
mod rrc_lte;
mod rrc_nr;
mod serving_cell;
mod sub;
#[cfg(test)]
mod tests;
mod ul_buffer;
mod ul_stats;
mod umts;
mod umts_cells;
mod umts_rlc;

pub use catalogue::{CODES, Record, layouts};
pub use compose::{Form, compose};
pub use coverage::{Coverage, RecordCounts, check, version_of};
pub use emit::EmitError;
pub use evidence::{Evidence, evidence};
pub use lte_csi::{AperiodicCsf, LteCsi, LteRank, PeriodicCsf, PeriodicReport};
pub use mac_downlink::{DownlinkBlock, MacDownlink};
pub use mac_uplink::{BsrEvent, BsrTrigger, MacUplink, UplinkBlock};
pub use nr::csf::{NrCsf, NrCsi};
pub use nr::dci::{NrControlMessage, NrDci};
pub use nr::dl_data::{NrDataBlock, NrDownlinkData};
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

use crate::layout::{Layout, Node, Short, Sink};
use crate::{LogCode, LogRecord};

/// The layout version in a record, or in one of its sub-packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Version {
    /// The version of the whole record: a number, or in NR's records a major and a minor one as
    /// high and low half.
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
    /// Every version of a kind of sub-packet, if they are not distinguished.
    Kind {
        /// Version of the record around it.
        packet: u32,
        /// Kind of sub-packet.
        id: u8,
    },
    /// A kind of message, for records whose versions number kinds of messages.
    Message {
        /// Version of the record around it.
        packet: u32,
        /// The kind's number.
        number: u8,
    },
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Packet(version @ ..=0xFFFF) => write!(f, "{version}"),
            Self::Packet(version) => write!(f, "{}.{}", version >> 16, version & 0xFFFF),
            Self::Sub { packet, id, version } => write!(f, "{packet} sub-packet {id} v{version}"),
            Self::Kind { packet, id } => write!(f, "{packet} sub-packet {id}"),
            Self::Message { packet, number } => write!(f, "{packet} message of kind {number}"),
        }
    }
}

/// Why a log record is not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RecordError {
    /// This project describes no version of this code.
    #[error("log {code}: not described, {len} bytes")]
    Undescribed {
        /// The log code.
        code: LogCode,
        /// Bytes of body.
        len: usize,
    },
    /// Other versions of this code are described, but not this one, or not all of its parts.
    #[error("log {code} v{version}: not described, {len} bytes")]
    Unsupported {
        /// The log code.
        code: LogCode,
        /// Its version.
        version: Version,
        /// Bytes of body.
        len: usize,
    },
    /// The version is described, and the bytes do not fit the description.
    #[error("log {code} v{version}: needs {need} bytes at offset {at}, has {have}")]
    Corrupt {
        /// The log code.
        code: LogCode,
        /// Its version.
        version: Version,
        /// Bytes needed from `at` on.
        need: usize,
        /// Where in the body.
        at: usize,
        /// Bytes available from `at` on.
        have: usize,
    },
}

/// Gives every field of a record to `sink`, in the order of its table.
///
/// The whole record is checked first: on an error `sink` has received no field. Unknown sub-packets
/// appear with their id, version and length, and `unsupported`.
///
/// # Errors
///
/// [`RecordError::Undescribed`] or [`RecordError::Unsupported`] if the code or its version is not
/// described; [`RecordError::Corrupt`] if the body is too short for it.
pub fn decode(log: &LogRecord<'_>, sink: &mut impl Sink) -> Result<(), RecordError> {
    node(log)?.visit(sink);
    Ok(())
}

/// A record checked as a whole, as a tree of its fields.
fn node<'a>(log: &LogRecord<'a>) -> Result<Node<'a>, RecordError> {
    checked(log.code, described(log)?, log.body).map(|(node, _)| node)
}

/// As [`node`], but a record with only unknown sub-packets is an error.
fn other<'a>(log: &LogRecord<'a>) -> Result<Node<'a>, RecordError> {
    checked_sub_packets(log.code, described(log)?, log.body)
}

fn described(log: &LogRecord<'_>) -> Result<&'static [Layout], RecordError> {
    layouts(log.code).ok_or(RecordError::Undescribed { code: log.code, len: log.body.len() })
}

/// The version that a body begins with.
fn version(code: LogCode, body: &[u8]) -> Result<(u32, Version), RecordError> {
    match code.version_of(body) {
        Some(number) => Ok((number, Version::Packet(number))),
        None => {
            let (version, need) = (Version::Packet(0), code.version_size());
            Err(RecordError::Corrupt { code, version, need, at: 0, have: body.len() })
        }
    }
}

/// A body checked against the layout of the version it begins with, and the index of that layout.
fn checked<'a>(
    code: LogCode,
    layouts: &'static [Layout],
    body: &'a [u8],
) -> Result<(Node<'a>, usize), RecordError> {
    let (number, version) = version(code, body)?;
    let corrupt = |Short { at, need, have }| RecordError::Corrupt { code, version, need, at, have };
    let found = layouts.iter().position(|layout| layout.describes(number));
    let Some(index) = found else {
        return Err(RecordError::Unsupported { code, version, len: body.len() });
    };
    let node = layouts[index].node(body).map_err(corrupt)?;
    Ok((node, index))
}

/// As [`checked`], for records made of sub-packets. Only undescribed sub-packets are an error.
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
