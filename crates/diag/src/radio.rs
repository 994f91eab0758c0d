//! Small types that several records share.

use core::fmt;
use core::time::Duration;

/// An LTE subframe: one millisecond, counted within 10.24 s.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Tti {
    sfn: u16,
    subframe: u8,
}

impl Tti {
    /// Subframes after which the count starts over.
    pub const CYCLE: u16 = 10_240;

    /// Subframe 0..=9 of system frame 0..=1023; `None` for larger numbers, which records
    /// contain while the modem has no network.
    pub const fn new(sfn: u16, subframe: u8) -> Option<Self> {
        if sfn < 1024 && subframe < 10 { Some(Self { sfn, subframe }) } else { None }
    }

    /// From `sfn × 10 + subframe`, as the transmit reports count.
    pub const fn from_count(count: u64) -> Option<Self> {
        if count >= Self::CYCLE as u64 {
            return None;
        }
        Self::new((count / 10) as u16, (count % 10) as u8)
    }

    /// From subframe in bits 3..=0 and system frame above, as MAC and demapper records pack them.
    pub const fn from_packed(word: u64) -> Option<Self> {
        if word >> 4 > 1023 { None } else { Self::new((word >> 4) as u16, (word & 15) as u8) }
    }

    /// System frame number, 0..=1023.
    pub const fn sfn(self) -> u16 {
        self.sfn
    }

    /// Subframe within the frame, 0..=9.
    pub const fn subframe(self) -> u8 {
        self.subframe
    }

    /// `sfn × 10 + subframe`, 0..=10239.
    pub const fn count(self) -> u16 {
        self.sfn * 10 + self.subframe as u16
    }

    /// Subframe in bits 3..=0 and system frame above.
    pub const fn packed(self) -> u16 {
        self.sfn << 4 | self.subframe as u16
    }

    /// The subframe `count` milliseconds after this one.
    pub const fn after(self, count: u16) -> Self {
        let count = (self.count() as u32 + count as u32) % Self::CYCLE as u32;
        Self { sfn: (count / 10) as u16, subframe: (count % 10) as u8 }
    }

    /// Milliseconds from `earlier` to this one going forward, 0..=10239.
    pub const fn since(self, earlier: Self) -> u16 {
        (self.count() + Self::CYCLE - earlier.count()) % Self::CYCLE
    }
}

impl fmt::Display for Tti {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.sfn, self.subframe)
    }
}

/// An NR slot, counted within 10.24 s. A millisecond has a power of two slots (TS 38.211 §4.3.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Slot {
    frame: u16,
    slot: u8,
    numerology: Option<u8>,
}

impl Slot {
    /// A slot of frame 0..=1023, of a numerology 0..=6; some records do not have the numerology.
    /// `None` outside.
    pub const fn new(frame: u16, slot: u8, numerology: Option<u8>) -> Option<Self> {
        let slots: u16 = match numerology {
            Some(numerology @ ..=6) => 10 << numerology,
            Some(_) => return None,
            None => 640,
        };
        if frame < 1024 && (slot as u16) < slots {
            Some(Self { frame, slot, numerology })
        } else {
            None
        }
    }

    /// System frame number, 0..=1023.
    pub const fn frame(self) -> u16 {
        self.frame
    }

    /// Slot within the frame.
    pub const fn slot(self) -> u8 {
        self.slot
    }

    /// Its subcarrier spacing is 15 kHz × 2 to this power, its length a millisecond divided by
    /// that.
    pub const fn numerology(self) -> Option<u8> {
        self.numerology
    }

    /// Time from `earlier` to this one; whole frames if one of them has no numerology.
    pub const fn since(self, earlier: Self) -> Duration {
        const CYCLE: u32 = 10_240_000;
        let (to, from) = match (self.numerology, earlier.numerology) {
            (Some(a), Some(b)) => (self.within(a), earlier.within(b)),
            _ => (0, 0),
        };
        let (to, from) = (self.frame as u32 * 10_000 + to, earlier.frame as u32 * 10_000 + from);
        Duration::from_micros(((to + CYCLE - from) % CYCLE) as u64)
    }

    /// Microseconds from the beginning of its frame.
    const fn within(self, numerology: u8) -> u32 {
        (self.slot as u32 * 1000) >> numerology
    }
}

impl fmt::Display for Slot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.frame, self.slot)
    }
}

/// The modulation of a resource element (TS 36.211 §7.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Modulation {
    /// 2 bits.
    Qpsk,
    /// 4 bits.
    Qam16,
    /// 6 bits.
    Qam64,
    /// 8 bits.
    Qam256,
}

impl Modulation {
    /// From 0..=3, as most records write it.
    pub const fn from_order(order: u64) -> Option<Self> {
        match order {
            0 => Some(Self::Qpsk),
            1 => Some(Self::Qam16),
            2 => Some(Self::Qam64),
            3 => Some(Self::Qam256),
            _ => None,
        }
    }

    /// From bits per resource element, as the PDSCH statistics of newer modems write it.
    pub const fn from_bits(bits: u64) -> Option<Self> {
        match bits {
            2 => Some(Self::Qpsk),
            4 => Some(Self::Qam16),
            6 => Some(Self::Qam64),
            8 => Some(Self::Qam256),
            _ => None,
        }
    }

    /// 0..=3.
    pub const fn order(self) -> u8 {
        self as u8
    }

    /// Bits per resource element and layer: 2, 4, 6 or 8.
    pub const fn bits(self) -> u8 {
        2 * (self as u8) + 2
    }
}

/// The identity that a downlink assignment was addressed to. All records use the same numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Rnti {
    /// This device.
    Cell,
    /// This device, semi-persistently.
    SemiPersistent,
    /// Paging.
    Paging,
    /// Random access response.
    RandomAccess,
    /// This device during random access.
    Temporary,
    /// System information.
    SystemInformation,
    /// Another number.
    Other(u8),
}

impl Rnti {
    /// From the number in a record.
    pub const fn from_number(number: u64) -> Self {
        match number {
            0 => Self::Cell,
            1 => Self::SemiPersistent,
            2 => Self::Paging,
            3 => Self::RandomAccess,
            4 => Self::Temporary,
            5 => Self::SystemInformation,
            other => Self::Other(other as u8),
        }
    }

    /// The number in a record.
    pub const fn number(self) -> u8 {
        match self {
            Self::Cell => 0,
            Self::SemiPersistent => 1,
            Self::Paging => 2,
            Self::RandomAccess => 3,
            Self::Temporary => 4,
            Self::SystemInformation => 5,
            Self::Other(other) => other,
        }
    }
}

/// A level (dBm) or a ratio (dB), kept in ten-thousandths so that a sixteenth of a decibel is
/// exact.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Decibels(i32);

impl Decibels {
    const STEPS: i32 = 10_000;

    /// From whole decibels.
    pub const fn whole(decibels: i16) -> Self {
        Self(decibels as i32 * Self::STEPS)
    }

    /// From sixteenths of a decibel.
    pub const fn sixteenths(count: i32) -> Self {
        Self(count.saturating_mul(Self::STEPS / 16))
    }

    /// From 128ths of a decibel, to the nearest ten-thousandth.
    pub const fn of_128ths(count: i32) -> Self {
        let steps = count as i64 * Self::STEPS as i64;
        let half = if count < 0 { -64 } else { 64 };
        let steps = (steps + half) / 128;
        Self(if steps > i32::MAX as i64 {
            i32::MAX
        } else if steps < i32::MIN as i64 {
            i32::MIN
        } else {
            steps as i32
        })
    }

    /// The nearest number of 128ths of a decibel.
    pub const fn as_128ths(self) -> i32 {
        let steps = self.0 as i64 * 128;
        let half = Self::STEPS as i64 / if steps < 0 { -2 } else { 2 };
        ((steps + half) / Self::STEPS as i64) as i32
    }

    /// From a floating-point number, to the nearest ten-thousandth.
    pub fn from_f64(decibels: f64) -> Self {
        let steps = decibels * f64::from(Self::STEPS);
        Self((if steps < 0.0 { steps - 0.5 } else { steps + 0.5 }) as i32)
    }

    /// The number of decibels, if it is whole.
    pub const fn as_whole(self) -> Option<i16> {
        if self.0 % Self::STEPS == 0 { Some((self.0 / Self::STEPS) as i16) } else { None }
    }

    /// As a floating-point number, for people and formulae.
    pub fn as_f64(self) -> f64 {
        f64::from(self.0) / f64::from(Self::STEPS)
    }
}

impl core::ops::Add for Decibels {
    type Output = Decibels;
    fn add(self, other: Decibels) -> Decibels {
        Decibels(self.0.saturating_add(other.0))
    }
}

impl fmt::Display for Decibels {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} dB", self.as_f64())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn subframes_outside_the_frame_structure_are_unknown() {
        assert_eq!(Tti::from_packed(1023 << 4 | 15), None);
        assert_eq!(Tti::from_packed(1024 << 4), None);
        assert_eq!(Tti::from_count(10_240), None);
        assert_eq!(Tti::from_count(10_239), Tti::new(1023, 9));
    }

    #[test]
    fn time_goes_forward_across_the_end_of_the_cycle() {
        let (late, early) = (Tti::from_count(10_238).unwrap(), Tti::from_count(3).unwrap());
        assert_eq!(early.since(late), 5);
    }

    #[test]
    fn a_slot_is_as_long_as_its_numerology_says() {
        let slot = |frame, slot, numerology| Slot::new(frame, slot, Some(numerology)).unwrap();
        assert_eq!(slot(0, 3, 1).since(slot(1023, 19, 1)), Duration::from_micros(2000));
        assert_eq!(slot(5, 79, 3).since(slot(5, 0, 3)), Duration::from_micros(9875));
        assert_eq!(Slot::new(5, 20, Some(1)), None);
        assert_eq!(Slot::new(5, 0, Some(7)), None);
        assert_eq!(Slot::new(1024, 0, None), None);
        let frames_only = Slot::new(7, 9, None).unwrap().since(slot(5, 19, 1));
        assert_eq!(frames_only, Duration::from_millis(20));
    }

    #[test]
    fn a_sixteenth_of_a_decibel_is_exact() {
        assert_eq!(Decibels::sixteenths(1).as_f64(), 0.0625);
        assert_eq!((Decibels::whole(-180) + Decibels::sixteenths(1173)).as_f64(), -106.6875);
    }
}
