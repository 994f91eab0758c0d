use core::fmt;

use crate::layout::{Bits, bits, u8, u32};
use crate::names::NAMES;

/// The code of a Diag log record: which thing it logs.
///
/// The high four bits are the equipment id (0xB is LTE and NR), the low twelve the item within it.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LogCode(pub(crate) u16);

impl LogCode {
    /// Wraps the number on the wire.
    pub const fn new(code: u16) -> Self {
        Self(code)
    }

    /// The number on the wire.
    pub const fn number(self) -> u16 {
        self.0
    }

    /// The equipment id, 0..=15: 1 is CDMA 1x, 4 WCDMA, 5 GSM, 7 UMTS NAS, 11 LTE and NR.
    pub const fn equipment(self) -> u8 {
        (self.0 >> 12) as u8
    }

    /// Whether it is one of NR's.
    pub const fn is_nr(self) -> bool {
        matches!(self.0, 0xB800..=0xBFFF)
    }

    /// The vendor's name; `None` for a code that is not among the common ones.
    pub fn name(self) -> Option<&'static str> {
        let at = NAMES.binary_search_by_key(&self.0, |(code, _)| *code).ok()?;
        Some(NAMES[at].1)
    }

    /// Size in bytes of the version at the start of a body: NR's records have major and minor
    /// versions in a word, all others one byte.
    pub const fn version_size(self) -> usize {
        match self.0 {
            0xB800..=0xB9FF => 4,
            _ => 1,
        }
    }

    /// The bits of the version in those bytes: all of them, unless the record also has a count
    /// there.
    pub const fn version_bits(self) -> Bits {
        match self.0 {
            0x4005 => bits(0, 7, 6),
            0xB800..=0xB9FF => u32(0),
            _ => u8(0),
        }
    }

    /// The version at the beginning of a body of this code; `None` if the body is shorter than
    /// that.
    pub fn version_of(self, body: &[u8]) -> Option<u32> {
        let bytes = body.get(..self.version_size())?;
        Some(self.version_bits().read(bytes) as u32)
    }

    /// The item within its equipment, 0..=4095: its bit in the log mask of command 0x73.
    pub const fn item(self) -> u16 {
        self.0 & 0xFFF
    }
}

impl fmt::Debug for LogCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "LogCode({self})")
    }
}

impl fmt::Display for LogCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "0x{:04X}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::ToString;

    #[test]
    fn every_described_code_has_a_name() {
        for code in crate::record::CODES {
            assert!(code.name().is_some(), "{code}");
        }
    }

    #[test]
    fn names_are_in_the_order_of_their_codes() {
        assert!(NAMES.is_sorted_by(|(a, _), (b, _)| a < b));
    }

    #[test]
    fn a_code_is_an_item_of_its_equipment() {
        let code = LogCode::new(0xB139);
        assert_eq!((code.equipment(), code.item()), (0xB, 0x139));
        assert_eq!(code.to_string(), "0xB139");
        assert_eq!(LogCode::new(0xFFFF).name(), None);
    }

    #[test]
    fn the_version_is_a_byte_before_nr_and_a_word_in_it() {
        let body = [0x0B, 0x00, 0x02, 0x00, 0xFF];
        assert_eq!(LogCode::new(0xB139).version_of(&body), Some(11));
        assert_eq!(LogCode::new(0xB883).version_of(&body), Some(0x0002_000B));
        assert_eq!(LogCode::new(0xB883).version_of(&body[..3]), None);
        assert_eq!(LogCode::new(0x4005).version_of(&[0x82]), Some(2));
    }
}
