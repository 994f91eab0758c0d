/// A run of bits within little-endian bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bits {
    at: u16,
    shift: u8,
    width: u8,
}

/// Bits `hi..=lo` of the little-endian number that starts at byte `at`; the notes write it
/// `@at[hi:lo]`.
pub(crate) const fn bits(at: u16, hi: u8, lo: u8) -> Bits {
    assert!(hi >= lo && hi < 64, "bit range is upside down or past 64 bits");
    Bits { at: at + (lo / 8) as u16, shift: lo % 8, width: hi - lo + 1 }.within_a_word()
}

pub(crate) const fn u8(at: u16) -> Bits {
    bits(at, 7, 0)
}

pub(crate) const fn u16(at: u16) -> Bits {
    bits(at, 15, 0)
}

pub(crate) const fn u32(at: u16) -> Bits {
    bits(at, 31, 0)
}

pub(crate) const fn u64(at: u16) -> Bits {
    bits(at, 63, 0)
}

impl Bits {
    const fn within_a_word(self) -> Self {
        assert!(self.shift + self.width <= 64, "a field may not span nine bytes");
        self
    }

    /// How many bits, 1..=64.
    pub const fn width(self) -> u8 {
        self.width
    }

    /// The byte it starts in, from the start of its block.
    pub const fn start(self) -> usize {
        self.at as usize
    }

    /// The byte after its last.
    pub const fn end(self) -> usize {
        self.at as usize + (self.shift + self.width).div_ceil(8) as usize
    }

    /// The number in `block`. Missing bytes count as zero, so that a mistake in a table gives a
    /// wrong number in a test and not a panic in use.
    #[inline]
    pub fn read(self, block: &[u8]) -> u64 {
        let rest = block.get(self.start()..).unwrap_or_default();
        let word = match rest.first_chunk::<8>() {
            Some(word) => u64::from_le_bytes(*word),
            None => rest.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte)),
        };
        (word >> self.shift) & (u64::MAX >> (64 - self.width))
    }

    /// The bits as a two's complement number.
    #[inline]
    pub fn read_signed(self, block: &[u8]) -> i64 {
        let unused = 64 - self.width;
        (self.read(block) << unused).cast_signed() >> unused
    }

    /// Writes `value` into the bits, without changing other bits. Returns false, and writes
    /// nothing, if it does not fit or the bytes are missing.
    pub fn write(self, value: u64, block: &mut [u8]) -> bool {
        if value > u64::MAX >> (64 - self.width) {
            return false;
        }
        let Some(place) = block.get_mut(self.start()..self.end()) else { return false };
        let mask = (u64::MAX >> (64 - self.width)) << self.shift;
        let value = value << self.shift;
        for (i, byte) in place.iter_mut().enumerate() {
            let (mask, value) = ((mask >> (8 * i)) as u8, (value >> (8 * i)) as u8);
            *byte = *byte & !mask | value;
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_is_the_bits_the_notes_name() {
        let block = 0x1234_5678_9ABC_DEF0u64.to_le_bytes();
        assert_eq!(u16(0).read(&block), 0xDEF0);
        assert_eq!(bits(0, 15, 4).read(&block), 0xDEF);
        assert_eq!(bits(4, 31, 20).read(&block), 0x123);
        assert_eq!(u64(0).read(&block), 0x1234_5678_9ABC_DEF0);
    }

    #[test]
    fn the_sign_is_the_top_bit_of_the_field() {
        assert_eq!(bits(0, 6, 0).read_signed(&[0xFF]), -1);
        assert_eq!(bits(0, 6, 0).read_signed(&[0x3F]), 63);
    }

    #[test]
    fn bytes_past_the_end_read_as_zero() {
        assert_eq!(u32(2).read(&[1, 2, 3]), 3);
        assert_eq!(u32(9).read(&[1, 2, 3]), 0);
    }

    #[test]
    fn writing_leaves_the_neighbours_alone() {
        let mut block = [0xFF; 4];
        assert!(bits(1, 11, 3).write(0, &mut block));
        assert_eq!(block, [0xFF, 0x07, 0xF0, 0xFF]);
        assert!(bits(1, 11, 3).write(0x1A5, &mut block));
        assert_eq!(bits(1, 11, 3).read(&block), 0x1A5);
        assert!(!bits(1, 11, 3).write(0x200, &mut block));
        assert!(!u32(1).write(0, &mut block));
    }
}
