//! Buffer status reports (TS 36.321 §6.1.3.1).

use sounding_units::Bytes;

use super::tables;

/// The table for the six bits of a report; short, truncated and long reports share it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BsrTable {
    /// TS 36.321 Table 6.1.3.1-1.
    Normal,
    /// TS 36.321 Table 6.1.3.1-2, where extendedBSR-Sizes is configured.
    Extended,
}

impl BsrTable {
    const fn upper_ends(self) -> &'static [u32; 64] {
        match self {
            Self::Normal => &tables::BSR_UPPER,
            Self::Extended => &tables::BSR_UPPER_EXTENDED,
        }
    }

    /// The index to report for this much waiting data. Range 0..=63.
    pub fn index(self, waiting: Bytes) -> u8 {
        // The open end of the last index is larger than any number of bytes.
        self.upper_ends()[..63].partition_point(|&upper| Bytes::new(upper.into()) < waiting) as u8
    }

    /// Largest amount of an index; `None` for index 63, which is open-ended, and above.
    pub fn upper(self, index: u8) -> Option<Bytes> {
        match self.upper_ends().get(usize::from(index)) {
            None | Some(&u32::MAX) => None,
            Some(&bytes) => Some(Bytes::new(bytes.into())),
        }
    }

    /// The backlog is more than this for an index; `None` above 63. Index 0 is an empty buffer.
    pub fn lower(self, index: u8) -> Option<Bytes> {
        match index {
            0 => Some(Bytes::ZERO),
            1..=63 => self.upper(index - 1),
            _ => None,
        }
    }
}

/// Largest amount of buffered data for the index of a short, truncated or long BSR; `None` for
/// index 63, which is open-ended, and above (TS 36.321 Table 6.1.3.1-1).
pub fn bsr_upper(index: u8) -> Option<Bytes> {
    BsrTable::Normal.upper(index)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLES: [(BsrTable, u64); 2] =
        [(BsrTable::Normal, 150_000), (BsrTable::Extended, 3_000_000)];

    #[test]
    fn buffer_sizes_grow_and_the_last_is_open_ended() {
        for (table, most) in TABLES {
            assert_eq!(table.upper(0), Some(Bytes::ZERO));
            assert_eq!(table.upper(62), Some(Bytes::new(most)));
            assert_eq!((table.upper(63), table.upper(64), table.lower(64)), (None, None, None));
            assert!((0..62).all(|i| table.upper(i) < table.upper(i + 1)));
        }
        assert_eq!(bsr_upper(62), Some(Bytes::new(150_000)));
    }

    #[test]
    fn an_index_holds_what_it_was_reported_for() {
        for (table, most) in TABLES {
            for index in 0..=62 {
                let upper = table.upper(index).expect("not open-ended");
                assert_eq!(table.index(upper), index);
                assert_eq!(table.index(upper + Bytes::new(1)), index + 1);
            }
            assert_eq!(table.index(Bytes::new(most + 1)), 63);
            assert_eq!(table.index(Bytes::new(u64::MAX)), 63);
        }
    }
}
