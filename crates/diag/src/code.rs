use core::fmt;

use crate::names::NAMES;

/// The code of a Diag log record: which thing it logs.
///
/// The high four bits are the equipment id (0xB is LTE and NR), the low twelve the item within it.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LogCode(u16);

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

    /// What the vendor calls it; `None` for a code that is not among the common ones.
    pub fn name(self) -> Option<&'static str> {
        let at = NAMES.binary_search_by_key(&self.0, |(code, _)| *code).ok()?;
        Some(NAMES[at].1)
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
}
