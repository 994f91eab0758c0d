//! The RRC or NAS message in a record: its bytes and its kind.
//!
//! This module only finds the message; it does not read its contents.

use std::fmt;

use sounding_diag::LogRecord;
use sounding_diag::layout::{Node, Sink, Value};
use sounding_diag::radio::Tti;
use sounding_diag::record::{LteRrc, NrRrc, Record, RecordError, RrcPdu, Segment};

/// The kind of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Channel {
    /// RRC.
    Rrc(RrcPdu),
    /// LTE's NAS without protection.
    NasPlain,
    /// LTE's NAS as it goes over the air.
    NasProtected,
    /// NR's NAS, with or without protection. The message itself says which.
    NasNr,
    /// RRC of UMTS, by the logical channel as its record names it.
    UmtsRrc(&'static str),
    /// NAS of UMTS and GSM.
    UmtsNas,
    /// Radio resources of GSM, by the logical channel as its record names it.
    GsmRr(&'static str),
    /// RLC/MAC control of GPRS, without the header of its block.
    GprsMac,
}

/// Its name, as records and lines of JSON spell kinds of messages.
impl fmt::Display for Channel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rrc(pdu) => f.write_str(pdu.name()),
            Self::NasPlain | Self::NasProtected => f.write_str("lte_nas"),
            Self::NasNr => f.write_str("nr_nas"),
            Self::UmtsRrc(channel) => write!(f, "umts_{channel}"),
            Self::UmtsNas => f.write_str("umts_nas"),
            Self::GsmRr(channel) => write!(f, "gsm_{channel}"),
            Self::GprsMac => f.write_str("gprs_mac"),
        }
    }
}

/// A message, and the cell that it was received from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message<'a> {
    /// The channel, which tells how to decode it.
    pub channel: Channel,
    /// The device sent it.
    pub uplink: bool,
    /// Number of the carrier; 0 where the record has none.
    pub carrier: u32,
    /// The physical cell, if the record has one.
    pub cell: Option<u16>,
    /// The time of the message; `None` if the record has none.
    pub tti: Option<Tti>,
    /// The message.
    pub bytes: &'a [u8],
}

/// Why a record gives no message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Without {
    /// Records of its code carry none.
    Message,
    /// It carries a part of one.
    Part,
    /// It carries only what is around a message of this kind: a block of UMTS's system information,
    /// or a modem's request for a channel.
    Around(Channel),
    /// It is not read, or its kind of message is unknown.
    Unread(RecordError),
}

impl<'a> Message<'a> {
    /// The message in `record`; `None` if it has none, a part of one, or one of an unknown kind.
    pub fn of(record: &LogRecord<'a>) -> Option<Self> {
        Self::find(record).ok()
    }

    /// The message that `record` carries, or the reason why it has none.
    ///
    /// # Errors
    ///
    /// [`Without`] with the reason: no message, a part of one, only what is around one, or a record
    /// that is not read.
    pub fn find(record: &LogRecord<'a>) -> Result<Self, Without> {
        let code = record.code.number();
        let is_rrc = [LteRrc::CODE, NrRrc::CODE].contains(&record.code);
        if !is_rrc && !OLDER.contains(&code) && nas(code).is_none() {
            return Err(Without::Message);
        }
        match Record::parse(record).map_err(Without::Unread)? {
            Record::LteRrc(own) => {
                let pdu = whole(own.described(record))?;
                let message = rrc(pdu, own.earfcn, own.message);
                Ok(Self { cell: Some(own.pci), tti: own.tti, ..message })
            }
            Record::NrRrc(own) => {
                let pdu = whole(own.described(record))?;
                // A message within one of LTE has neither.
                let cell = (own.nr_arfcn > 0).then_some(own.pci);
                Ok(Self { cell, ..rrc(pdu, own.nr_arfcn, own.message) })
            }
            Record::Other(node) => {
                let head = Head::of(&node);
                let is_up = head.direction == Some("up");
                let (channel, uplink, carrier) = match code {
                    UMTS_RRC => {
                        let channel = head.channel.unwrap_or("unknown");
                        if !UMTS_CHANNELS.contains(&channel) {
                            return Err(Without::Around(Channel::UmtsRrc(channel)));
                        }
                        (Channel::UmtsRrc(channel), channel.starts_with("ul"), head.uarfcn)
                    }
                    0x713A | 0x7B3A | 0x5230 => (Channel::UmtsNas, is_up, 0),
                    0x512F | 0x5B2F => {
                        (Channel::GsmRr(head.channel.unwrap_or("unknown")), is_up, 0)
                    }
                    // A request for a channel is the modem's own, not what it sends.
                    GPRS_MAC if head.channel.is_none() || head.message_kind == Some(0x20) => {
                        return Err(Without::Around(Channel::GprsMac));
                    }
                    GPRS_MAC => (Channel::GprsMac, is_up, 0),
                    code => {
                        let (channel, uplink) = nas(code).ok_or(Without::Message)?;
                        (channel, uplink, 0)
                    }
                };
                let bytes = node.message().ok_or(Without::Message)?;
                Ok(Self { channel, uplink, carrier, cell: None, tti: None, bytes })
            }
            _ => Err(Without::Message),
        }
    }
}

/// The kind of a message that is all in one record.
fn whole(described: Result<(RrcPdu, Segment), RecordError>) -> Result<RrcPdu, Without> {
    match described.map_err(Without::Unread)? {
        (pdu, Segment::Whole) => Ok(pdu),
        _ => Err(Without::Part),
    }
}

fn rrc(pdu: RrcPdu, carrier: u32, bytes: &[u8]) -> Message<'_> {
    let uplink = matches!(
        pdu,
        RrcPdu::LteUlCcch
            | RrcPdu::LteUlDcch
            | RrcPdu::NbUlCcch
            | RrcPdu::NbUlDcch
            | RrcPdu::NrUlCcch
            | RrcPdu::NrUlCcch1
            | RrcPdu::NrUlDcch
            | RrcPdu::NrReconfigurationComplete
            | RrcPdu::NrCapability
            | RrcPdu::MrdcCapability
    );
    Message { channel: Channel::Rrc(pdu), uplink, carrier, cell: None, tti: None, bytes }
}

/// UMTS's channels that have messages, and no blocks alone.
const UMTS_CHANNELS: &[&str] =
    &["ul_ccch", "ul_dcch", "dl_ccch", "dl_dcch", "bcch_bch", "bcch_fach", "pcch", "mcch", "msch"];

const UMTS_RRC: u16 = 0x412F;
const GPRS_MAC: u16 = 0x5226;

/// Codes of UMTS and GSM; 0x5B2F and 0x7B3A are those of devices with two subscriptions.
const OLDER: &[u16] = &[UMTS_RRC, 0x713A, 0x7B3A, 0x512F, 0x5B2F, GPRS_MAC, 0x5230];

/// The header before a message of UMTS or GSM.
#[derive(Default)]
struct Head {
    channel: Option<&'static str>,
    direction: Option<&'static str>,
    message_kind: Option<u64>,
    uarfcn: u32,
}

impl Head {
    fn of(node: &Node<'_>) -> Self {
        let mut head = Self::default();
        node.visit(&mut head);
        head
    }
}

impl Sink for Head {
    fn field(&mut self, name: &'static str, value: Value<'_>) {
        match (name, value) {
            ("channel", Value::Name(_, named)) => self.channel = named,
            ("direction", Value::Name(_, named)) => self.direction = named,
            ("message_kind", Value::Uint(kind)) => self.message_kind = Some(kind),
            ("uarfcn", Value::Uint(number)) => self.uarfcn = u32::try_from(number).unwrap_or(0),
            _ => {}
        }
    }
    fn begin_list(&mut self, _: &'static str) {}
    fn begin_item(&mut self) {}
    fn end_item(&mut self) {}
    fn end_list(&mut self) {}
}

/// NAS of LTE and NR, and whether the device sent it.
pub(crate) const fn nas(code: u16) -> Option<(Channel, bool)> {
    match code {
        0xB0E0 | 0xB0EA => Some((Channel::NasProtected, false)),
        0xB0E1 | 0xB0EB => Some((Channel::NasProtected, true)),
        0xB0E2 | 0xB0EC => Some((Channel::NasPlain, false)),
        0xB0E3 | 0xB0ED => Some((Channel::NasPlain, true)),
        0xB800 | 0xB808 | 0xB80A => Some((Channel::NasNr, false)),
        0xB801 | 0xB809 | 0xB80B => Some((Channel::NasNr, true)),
        _ => None,
    }
}
