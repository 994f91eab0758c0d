use alloc::vec::Vec;

use sounding_diag::record::RrcPdu;

use crate::decode::{self, Decoded};
use crate::encode::{self, EncodeError};
use crate::error::DecodeError;
use crate::schema::tables::{
    LTE_BCCH_BCH, LTE_BCCH_DL_SCH, LTE_CAPABILITY, LTE_DL_CCCH, LTE_DL_DCCH, LTE_MCCH, LTE_PCCH,
    LTE_UL_CCCH, LTE_UL_DCCH, MRDC_CAPABILITY, NB_BCCH_BCH, NB_BCCH_DL_SCH, NB_DL_CCCH, NB_DL_DCCH,
    NB_PCCH, NB_UL_CCCH, NB_UL_DCCH, NR_BCCH_BCH, NR_BCCH_DL_SCH, NR_CAPABILITY,
    NR_CELL_GROUP_CONFIG, NR_DL_CCCH, NR_DL_DCCH, NR_MCCH, NR_PCCH, NR_RADIO_BEARER_CONFIG,
    NR_RECONFIGURATION, NR_RECONFIGURATION_COMPLETE, NR_UL_CCCH, NR_UL_CCCH1, NR_UL_DCCH,
};
use crate::value::Value;

/// The decodable types: messages in Diag records, and parts that are found elsewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Pdu {
    /// The kind of message in a record.
    Record(RrcPdu),
    /// NR, the configuration of a group of cells.
    NrCellGroupConfig,
    /// LTE, capabilities of the device.
    LteCapability,
}

impl From<RrcPdu> for Pdu {
    fn from(pdu: RrcPdu) -> Self {
        Self::Record(pdu)
    }
}

impl Pdu {
    /// Every kind.
    pub const ALL: &[Self] = &[
        Self::Record(RrcPdu::LteBcchBch),
        Self::Record(RrcPdu::LteBcchDlSch),
        Self::Record(RrcPdu::LteMcch),
        Self::Record(RrcPdu::LtePcch),
        Self::Record(RrcPdu::LteDlCcch),
        Self::Record(RrcPdu::LteDlDcch),
        Self::Record(RrcPdu::LteUlCcch),
        Self::Record(RrcPdu::LteUlDcch),
        Self::Record(RrcPdu::NbBcchBch),
        Self::Record(RrcPdu::NbBcchDlSch),
        Self::Record(RrcPdu::NbPcch),
        Self::Record(RrcPdu::NbDlCcch),
        Self::Record(RrcPdu::NbDlDcch),
        Self::Record(RrcPdu::NbUlCcch),
        Self::Record(RrcPdu::NbUlDcch),
        Self::Record(RrcPdu::NrBcchBch),
        Self::Record(RrcPdu::NrBcchDlSch),
        Self::Record(RrcPdu::NrDlCcch),
        Self::Record(RrcPdu::NrDlDcch),
        Self::Record(RrcPdu::NrMcch),
        Self::Record(RrcPdu::NrPcch),
        Self::Record(RrcPdu::NrUlCcch),
        Self::Record(RrcPdu::NrUlCcch1),
        Self::Record(RrcPdu::NrUlDcch),
        Self::Record(RrcPdu::NrReconfiguration),
        Self::Record(RrcPdu::NrReconfigurationComplete),
        Self::Record(RrcPdu::NrRadioBearerConfig),
        Self::Record(RrcPdu::NrCapability),
        Self::Record(RrcPdu::MrdcCapability),
        Self::NrCellGroupConfig,
        Self::LteCapability,
    ];

    /// Whether it belongs to NR; to LTE otherwise.
    pub fn is_nr(self) -> bool {
        match self {
            Self::Record(pdu) => pdu >= RrcPdu::NrBcchBch,
            Self::NrCellGroupConfig => true,
            Self::LteCapability => false,
        }
    }

    pub(crate) const fn place(self) -> u16 {
        let pdu = match self {
            Self::Record(pdu) => pdu,
            Self::NrCellGroupConfig => return NR_CELL_GROUP_CONFIG,
            Self::LteCapability => return LTE_CAPABILITY,
        };
        match pdu {
            RrcPdu::LteBcchBch => LTE_BCCH_BCH,
            RrcPdu::LteBcchDlSch => LTE_BCCH_DL_SCH,
            RrcPdu::LteMcch => LTE_MCCH,
            RrcPdu::LtePcch => LTE_PCCH,
            RrcPdu::LteDlCcch => LTE_DL_CCCH,
            RrcPdu::LteDlDcch => LTE_DL_DCCH,
            RrcPdu::LteUlCcch => LTE_UL_CCCH,
            RrcPdu::LteUlDcch => LTE_UL_DCCH,
            RrcPdu::NbBcchBch => NB_BCCH_BCH,
            RrcPdu::NbBcchDlSch => NB_BCCH_DL_SCH,
            RrcPdu::NbPcch => NB_PCCH,
            RrcPdu::NbDlCcch => NB_DL_CCCH,
            RrcPdu::NbDlDcch => NB_DL_DCCH,
            RrcPdu::NbUlCcch => NB_UL_CCCH,
            RrcPdu::NbUlDcch => NB_UL_DCCH,
            RrcPdu::NrBcchBch => NR_BCCH_BCH,
            RrcPdu::NrBcchDlSch => NR_BCCH_DL_SCH,
            RrcPdu::NrDlCcch => NR_DL_CCCH,
            RrcPdu::NrDlDcch => NR_DL_DCCH,
            RrcPdu::NrMcch => NR_MCCH,
            RrcPdu::NrPcch => NR_PCCH,
            RrcPdu::NrUlCcch => NR_UL_CCCH,
            RrcPdu::NrUlCcch1 => NR_UL_CCCH1,
            RrcPdu::NrUlDcch => NR_UL_DCCH,
            RrcPdu::NrReconfiguration => NR_RECONFIGURATION,
            RrcPdu::NrReconfigurationComplete => NR_RECONFIGURATION_COMPLETE,
            RrcPdu::NrRadioBearerConfig => NR_RADIO_BEARER_CONFIG,
            RrcPdu::NrCapability => NR_CAPABILITY,
            RrcPdu::MrdcCapability => MRDC_CAPABILITY,
        }
    }
}

/// Decodes one message.
///
/// # Errors
///
/// [`DecodeError`] if the bytes are no message of this kind, or nest too deep.
pub fn decode(pdu: impl Into<Pdu>, message: &[u8]) -> Result<Decoded<'_>, DecodeError> {
    decode::decode(pdu.into().place(), message)
}

/// Encodes one message; decoding it gives the value back. What the tables do not know cannot be
/// encoded: additions that the decoder skipped or kept as bytes.
///
/// # Errors
///
/// [`EncodeError`] if the value is none of this kind: a member is missing, unknown, of another type
/// or out of its range.
pub fn encode(pdu: impl Into<Pdu>, value: &Value<'_>) -> Result<Vec<u8>, EncodeError> {
    encode::encode(pdu.into().place(), value)
}
