use core::time::Duration;

/// Symbols of a slot with normal cyclic prefixes (TS 38.211 Table 4.3.2-1).
pub const SYMBOLS_PER_SLOT: u8 = 14;
/// The same with extended cyclic prefixes, which only numerology 2 has (TS 38.211 Table 4.3.2-2).
pub const SYMBOLS_PER_SLOT_EXTENDED: u8 = 12;

/// Subcarrier spacing configuration µ: 15 kHz times 2^µ. Range 0..=6 (TS 38.211 §4.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Numerology(u8);

impl Numerology {
    /// 15 kHz, which is also LTE's: a slot is a subframe.
    pub const KHZ_15: Self = Self(0);
    /// 30 kHz.
    pub const KHZ_30: Self = Self(1);
    /// 60 kHz.
    pub const KHZ_60: Self = Self(2);
    /// 120 kHz.
    pub const KHZ_120: Self = Self(3);

    /// The configuration with this index, if it exists.
    pub const fn new(mu: u8) -> Option<Self> {
        if mu <= 6 { Some(Self(mu)) } else { None }
    }

    /// The configuration of a subcarrier spacing.
    pub const fn of_khz(spacing: u16) -> Option<Self> {
        if spacing == 0 || !spacing.is_multiple_of(15) || !(spacing / 15).is_power_of_two() {
            return None;
        }
        Self::new((spacing / 15).ilog2() as u8)
    }

    /// µ.
    pub const fn mu(self) -> u8 {
        self.0
    }

    /// Subcarrier spacing in kHz.
    pub const fn khz(self) -> u16 {
        15 << self.0
    }

    /// Slots of a subframe, which is a millisecond.
    pub const fn slots_per_subframe(self) -> u16 {
        1 << self.0
    }

    /// Slots of a frame, which is ten milliseconds.
    pub const fn slots_per_frame(self) -> u16 {
        10 << self.0
    }

    /// Length of a slot.
    pub const fn slot(self) -> Duration {
        // Whole nanoseconds up to µ = 6: 15 625.
        Duration::from_nanos(1_000_000 >> self.0)
    }

    /// Width of a resource block in kHz.
    pub const fn prb_khz(self) -> u16 {
        12 * self.khz()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_fill_a_frame_exactly() {
        for mu in 0..=6 {
            let numerology = Numerology::new(mu).expect("a numerology");
            let frame = numerology.slot() * u32::from(numerology.slots_per_frame());
            assert_eq!(frame, Duration::from_millis(10), "mu {mu}");
            assert_eq!(Numerology::of_khz(numerology.khz()), Some(numerology));
        }
        assert_eq!(Numerology::new(7), None);
        for khz in [0, 7, 15 * 3, 1920] {
            assert_eq!(Numerology::of_khz(khz), None, "{khz}");
        }
    }
}
