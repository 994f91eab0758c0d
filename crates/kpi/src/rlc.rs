use sounding_units::ModemInstant;

use crate::Direction;

/// Data of RLC in acknowledged mode that a modem sent or received, or that a receiver asked for
/// again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RlcPdu {
    /// The subframe or slot of its block, on the modem's clock.
    pub at: ModemInstant,
    /// The direction of the data; a status goes the other way.
    pub direction: Direction,
    /// Whether it is NR's; LTE's otherwise.
    pub nr: bool,
    /// The bearer as the record numbers it: the configuration in LTE, the logical channel in NR.
    /// `None` if the record has none.
    pub bearer: Option<u8>,
    /// Sequence number as on the air.
    pub sn: u32,
    /// Its length in bits: 10 or 16 in LTE, 12 or 18 in NR.
    pub sn_bits: u8,
    /// The part of the PDU.
    pub part: RlcPart,
    /// Whether a status asks for it; otherwise it went over the air.
    pub is_asked: bool,
}

/// A part of a PDU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RlcPart {
    /// All of it.
    Whole,
    /// These bytes of its data.
    Bytes {
        /// The first.
        from: u32,
        /// One past the last; `None` for the end of the PDU.
        to: Option<u32>,
    },
    /// A part, and the record does not say which.
    Unknown,
}
