//! Bits, and the lengths that X.691 puts before content without a fixed length.

use crate::error::{DecodeError, Fault};

/// A place in a run of bits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reader<'a> {
    data: &'a [u8],
    at: usize,
    end: usize,
}

impl<'a> Reader<'a> {
    pub(crate) fn new(data: &'a [u8]) -> Self {
        Self { data, at: 0, end: data.len() * 8 }
    }

    pub(crate) fn left(&self) -> usize {
        self.end - self.at
    }

    pub(crate) fn fail(&self, fault: Fault) -> DecodeError {
        DecodeError { fault, bit: self.at }
    }

    /// The next `count` bits, at most 64, as a number.
    pub(crate) fn bits(&mut self, count: u32) -> Result<u64, DecodeError> {
        let mut number = 0;
        let end = self.at + count as usize;
        if end > self.end {
            return Err(self.fail(Fault::Truncated));
        }
        while self.at < end {
            let byte = self.data.get(self.at / 8).copied().unwrap_or_default();
            let within = 8 - self.at % 8;
            let take = within.min(end - self.at);
            let part = (u32::from(byte) >> (within - take)) & ((1 << take) - 1);
            number = number << take | u64::from(part);
            self.at += take;
        }
        Ok(number)
    }

    pub(crate) fn flag(&mut self) -> Result<bool, DecodeError> {
        self.bits(1).map(|bit| bit != 0)
    }

    /// The next `count` bits, as a separate run.
    pub(crate) fn run(&mut self, count: usize) -> Result<Self, DecodeError> {
        if count > self.left() {
            return Err(self.fail(Fault::Truncated));
        }
        let run = Self { data: self.data, at: self.at, end: self.at + count };
        self.at += count;
        Ok(run)
    }

    /// A number of a range of `span + 1` numbers, from 0. X.691 §11.5.6.
    pub(crate) fn constrained(&mut self, span: u64) -> Result<u64, DecodeError> {
        let number = self.bits(u64::BITS - span.leading_zeros())?;
        if number > span { Err(self.fail(Fault::OutOfRange)) } else { Ok(number) }
    }

    /// The length of content without an effective upper bound. X.691 §11.9.
    pub(crate) fn length(&mut self) -> Result<u32, DecodeError> {
        if !self.flag()? {
            return self.bits(7).map(|length| length as u32);
        }
        if !self.flag()? {
            return self.bits(14).map(|length| length as u32);
        }
        Err(self.fail(Fault::Fragmented))
    }

    /// A number that is small as a rule: which addition was chosen. X.691 §11.6.
    pub(crate) fn small(&mut self) -> Result<u64, DecodeError> {
        if !self.flag()? {
            return self.bits(6);
        }
        match self.length()? {
            bytes @ 0..=8 => self.bits(bytes * 8),
            _ => Err(self.fail(Fault::OutOfRange)),
        }
    }

    /// The number of additions in a sequence. X.691 §11.9.3.4.
    pub(crate) fn small_length(&mut self) -> Result<u32, DecodeError> {
        if !self.flag()? {
            return self.bits(6).map(|length| length as u32 + 1);
        }
        self.length()
    }
}

/// A string of bits within a message, which need not start at a byte.
#[derive(Clone, Copy)]
pub struct BitStr<'a>(Reader<'a>);

impl<'a> BitStr<'a> {
    /// All bits of these bytes.
    pub fn of(bytes: &'a [u8]) -> Self {
        Self(Reader::new(bytes))
    }

    /// The first `count` bits of these bytes; `None` if there are fewer.
    pub fn first(bytes: &'a [u8], count: usize) -> Option<Self> {
        Reader::new(bytes).run(count).ok().map(Self)
    }

    pub(crate) fn new(run: Reader<'a>) -> Self {
        Self(run)
    }

    /// The number of bits.
    pub fn len(&self) -> usize {
        self.0.left()
    }

    /// Whether there are no bits.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The bits as one number, the first the highest; `None` if there are more than 64.
    pub fn number(&self) -> Option<u64> {
        let len = u32::try_from(self.len()).ok().filter(|&len| len <= u64::BITS)?;
        let mut run = self.0;
        run.bits(len).ok()
    }

    /// The bits one by one.
    pub fn bits(&self) -> impl Iterator<Item = bool> + use<'a> {
        let mut run = self.0;
        core::iter::from_fn(move || run.flag().ok())
    }

    /// The bits in eights, the last filled with zeroes.
    pub fn bytes(&self) -> impl Iterator<Item = u8> + use<'a> {
        let mut run = self.0;
        core::iter::from_fn(move || match run.left().min(8) as u32 {
            0 => None,
            count => run.bits(count).ok().map(|byte| (byte << (8 - count)) as u8),
        })
    }
}

impl PartialEq for BitStr<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.len() == other.len() && self.bytes().eq(other.bytes())
    }
}

impl core::fmt::Debug for BitStr<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        self.bits().try_for_each(|bit| f.write_str(if bit { "1" } else { "0" }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    #[test]
    fn bits_run_from_the_highest_of_each_byte() {
        let mut reader = Reader::new(&[0b1010_0110, 0xF0]);
        assert_eq!(reader.bits(3), Ok(0b101));
        assert_eq!(reader.bits(7), Ok(0b00_1101 << 1 | 1));
        assert_eq!(reader.left(), 6);
        assert_eq!(reader.bits(7), Err(DecodeError { fault: Fault::Truncated, bit: 10 }));
        assert_eq!(Reader::new(&[0xFF; 8]).bits(64), Ok(u64::MAX));
    }

    #[test]
    fn a_range_takes_the_bits_of_its_span() {
        assert_eq!(Reader::new(&[0]).constrained(0), Ok(0));
        assert_eq!(Reader::new(&[0b1010_0000]).constrained(5), Ok(5));
        let fault = Reader::new(&[0b1100_0000]).constrained(5).map_err(|error| error.fault);
        assert_eq!(fault, Err(Fault::OutOfRange));
    }

    /// X.691 §11.9.3.5 to §11.9.3.8.
    #[test]
    fn a_length_takes_one_byte_or_two() {
        assert_eq!(Reader::new(&[0x7F]).length(), Ok(127));
        assert_eq!(Reader::new(&[0x80, 0x80]).length(), Ok(128));
        let fault = Reader::new(&[0xC1, 0]).length().map_err(|error| error.fault);
        assert_eq!(fault, Err(Fault::Fragmented));
    }

    #[test]
    fn small_numbers_may_be_large() {
        assert_eq!(Reader::new(&[0b0000_0110]).small(), Ok(3));
        assert_eq!(Reader::new(&[0x80, 0xC0, 0x80]).small(), Ok(0x81));
        assert_eq!(Reader::new(&[0b0000_0110]).small_length(), Ok(4));
    }

    #[test]
    fn a_string_within_bytes_reads_as_bytes() {
        let mut reader = Reader::new(&[0x0A, 0xBC, 0xD0]);
        reader.bits(4).unwrap();
        let string = BitStr::new(reader.run(12).unwrap());
        assert_eq!(string.number(), Some(0xABC));
        assert_eq!(string.bytes().collect::<Vec<_>>(), [0xAB, 0xC0]);
        assert_eq!(string.bits().filter(|bit| *bit).count(), 7);
    }
}
