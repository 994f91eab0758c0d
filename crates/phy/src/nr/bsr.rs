//! Buffer status reports (TS 38.321 §6.1.3.1).

use sounding_units::Bytes;

use super::tables;

/// The formats of a report (TS 38.321 §6.1.3.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BsrFormat {
    /// One group of channels, five bits.
    Short,
    /// The same, if more groups have data and do not fit.
    ShortTruncated,
    /// All groups with data, eight bits each.
    Long,
    /// The groups that fit, eight bits each.
    LongTruncated,
}

impl BsrFormat {
    const fn upper_ends(self) -> &'static [u32] {
        match self {
            Self::Short | Self::ShortTruncated => &tables::BSR_UPPER_SHORT,
            Self::Long | Self::LongTruncated => &tables::BSR_UPPER_LONG,
        }
    }

    /// The index to report for this much waiting data. Range 0..=31 in five bits, 0..=254 in eight.
    pub fn index(self, waiting: Bytes) -> u8 {
        let ends = self.upper_ends();
        // The open end of the last index is larger than any number of bytes.
        ends[..ends.len() - 1].partition_point(|&upper| Bytes::new(upper.into()) < waiting) as u8
    }

    /// Largest amount of an index; `None` for the last, which is open-ended, and above.
    pub fn upper(self, index: u8) -> Option<Bytes> {
        match self.upper_ends().get(usize::from(index)) {
            None | Some(&u32::MAX) => None,
            Some(&bytes) => Some(Bytes::new(bytes.into())),
        }
    }

    /// The backlog is more than this for an index; `None` above the last. Index 0 is an empty
    /// buffer.
    pub fn lower(self, index: u8) -> Option<Bytes> {
        match usize::from(index) {
            0 => Some(Bytes::ZERO),
            at if at < self.upper_ends().len() => self.upper(index - 1),
            _ => None,
        }
    }
}

/// Largest amount of buffered data for the five-bit index of a short report; `None` for index 31,
/// which is open-ended, and above (Table 6.1.3.1-1).
pub fn bsr_upper_short(index: u8) -> Option<Bytes> {
    BsrFormat::Short.upper(index)
}

/// Largest amount of buffered data for the eight-bit index of a long report; `None` for index 254,
/// which is open-ended, and 255, which is reserved (Table 6.1.3.1-2).
pub fn bsr_upper_long(index: u8) -> Option<Bytes> {
    BsrFormat::Long.upper(index)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FORMATS: [(BsrFormat, u8, u64); 4] = [
        (BsrFormat::Short, 31, 150_000),
        (BsrFormat::ShortTruncated, 31, 150_000),
        (BsrFormat::Long, 254, 81_338_368),
        (BsrFormat::LongTruncated, 254, 81_338_368),
    ];

    #[test]
    fn buffer_sizes_grow_and_the_last_is_open_ended() {
        for (format, last, most) in FORMATS {
            assert_eq!(format.upper(0), Some(Bytes::ZERO));
            assert_eq!(format.upper(1), Some(Bytes::new(10)));
            assert_eq!(format.upper(last - 1), Some(Bytes::new(most)));
            assert_eq!((format.upper(last), format.upper(255)), (None, None));
            assert_eq!((format.lower(last), format.lower(255)), (Some(Bytes::new(most)), None));
            assert!((0..last - 1).all(|i| format.upper(i) < format.upper(i + 1)));
        }
        assert_eq!(bsr_upper_short(30), Some(Bytes::new(150_000)));
        assert_eq!(bsr_upper_long(253), Some(Bytes::new(81_338_368)));
    }

    #[test]
    fn an_index_holds_what_it_was_reported_for() {
        for (format, last, _) in FORMATS {
            for index in 0..last {
                let upper = format.upper(index).expect("not open-ended");
                assert_eq!(format.index(upper), index);
                assert_eq!(format.index(upper + Bytes::new(1)), index + 1);
            }
            assert_eq!(format.index(Bytes::new(u64::MAX)), last);
        }
    }
}
