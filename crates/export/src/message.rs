//! The RRC or NAS message that a record carries: its bytes, and what says how to read them.
//!
//! Only what is needed to hand a message on; its contents are nobody's concern here.

use sounding_diag::LogRecord;
use sounding_diag::radio::Tti;
use sounding_diag::record::{LteRrc, NrRrc, Record, RrcPdu, Segment};

/// What a message is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Channel {
    /// RRC.
    Rrc(RrcPdu),
    /// LTE's NAS without protection.
    NasPlain,
    /// LTE's NAS as it goes over the air.
    NasProtected,
}

/// A message, and where it was heard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message<'a> {
    /// How to read it.
    pub channel: Channel,
    /// The device sent it.
    pub uplink: bool,
    /// Number of the carrier; 0 where the record has none.
    pub carrier: u32,
    /// When; `None` where the record does not say.
    pub tti: Option<Tti>,
    /// The message.
    pub bytes: &'a [u8],
}

impl<'a> Message<'a> {
    /// The message that `record` carries; `None` if it carries none, a part of one, or one that nobody has described.
    pub fn of(record: &LogRecord<'a>) -> Option<Self> {
        match Record::parse(record).ok()? {
            Record::LteRrc(LteRrc {
                pdu,
                earfcn,
                tti,
                segment: Some(Segment::Whole),
                message,
                ..
            }) => Some(rrc(pdu?, earfcn, tti, message)),
            Record::NrRrc(NrRrc {
                pdu, nr_arfcn, segment: Some(Segment::Whole), message, ..
            }) => Some(rrc(pdu?, nr_arfcn, None, message)),
            Record::Other(node) => {
                let (channel, uplink) = nas(record.code.number())?;
                Some(Self { channel, uplink, carrier: 0, tti: None, bytes: node.message()? })
            }
            _ => None,
        }
    }
}

fn rrc(pdu: RrcPdu, carrier: u32, tti: Option<Tti>, bytes: &[u8]) -> Message<'_> {
    let uplink = matches!(
        pdu,
        RrcPdu::LteUlCcch
            | RrcPdu::LteUlDcch
            | RrcPdu::NbUlCcch
            | RrcPdu::NbUlDcch
            | RrcPdu::NrUlCcch
            | RrcPdu::NrUlCcch1
            | RrcPdu::NrUlDcch
    );
    Message { channel: Channel::Rrc(pdu), uplink, carrier, tti, bytes }
}

/// LTE's NAS, and whether the device sent it.
const fn nas(code: u16) -> Option<(Channel, bool)> {
    match code {
        0xB0E0 | 0xB0EA => Some((Channel::NasProtected, false)),
        0xB0E1 | 0xB0EB => Some((Channel::NasProtected, true)),
        0xB0E2 | 0xB0EC => Some((Channel::NasPlain, false)),
        0xB0E3 | 0xB0ED => Some((Channel::NasPlain, true)),
        _ => None,
    }
}
