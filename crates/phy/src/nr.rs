//! NR buffer sizes (TS 38.321 §6.1.3.1).

use sounding_units::Bytes;

mod tables {
    include!(concat!(env!("OUT_DIR"), "/tables_nr.rs"));
}

/// Largest amount of buffered data the five-bit index of a short report stands for; `None` for index 31, which is
/// open-ended, and above (Table 6.1.3.1-1).
pub fn bsr_upper_short(index: u8) -> Option<Bytes> {
    upper(&tables::BSR_UPPER_SHORT, index)
}

/// Largest amount of buffered data the eight-bit index of a long report stands for; `None` for index 254, which is
/// open-ended, and 255, which is reserved (Table 6.1.3.1-2).
pub fn bsr_upper_long(index: u8) -> Option<Bytes> {
    upper(&tables::BSR_UPPER_LONG, index)
}

fn upper(table: &[u32], index: u8) -> Option<Bytes> {
    match table.get(usize::from(index)) {
        None | Some(&u32::MAX) => None,
        Some(&bytes) => Some(Bytes::new(u64::from(bytes))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffer_sizes_grow_and_the_last_is_open_ended() {
        for (upper, last, most) in [
            (bsr_upper_short as fn(u8) -> Option<Bytes>, 31, 150_000),
            (bsr_upper_long, 254, 81_338_368),
        ] {
            assert_eq!(upper(0), Some(Bytes::ZERO));
            assert_eq!(upper(1), Some(Bytes::new(10)));
            assert_eq!(upper(last - 1), Some(Bytes::new(most)));
            assert_eq!((upper(last), upper(255)), (None, None));
            assert!((0..last - 1).all(|i| upper(i) < upper(i + 1)));
        }
    }
}
