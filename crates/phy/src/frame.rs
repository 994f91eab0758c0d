//! Frame, subframe and slot numbers, which wrap around every 10.24 s (TS 36.211 §4, TS 38.211
//! §4.3).

use core::fmt;

use crate::nr::Numerology;

/// System frame number. Range 0..=1023.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Sfn(u16);

impl Sfn {
    /// Frame numbers before they begin again.
    pub const CYCLE: u16 = 1024;

    /// The frame number, if there is such a one.
    pub const fn new(number: u16) -> Option<Self> {
        if number < Self::CYCLE { Some(Self(number)) } else { None }
    }

    /// The number itself.
    pub const fn number(self) -> u16 {
        self.0
    }

    /// The frame this many later.
    pub const fn plus(self, frames: u32) -> Self {
        Self(((self.0 as u32 + frames % Self::CYCLE as u32) % Self::CYCLE as u32) as u16)
    }

    /// Number of frames from `earlier` to this one, at most one cycle. Range 0..=1023.
    pub const fn since(self, earlier: Self) -> u16 {
        (self.0 + Self::CYCLE - earlier.0) % Self::CYCLE
    }
}

impl fmt::Display for Sfn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SFN {}", self.0)
    }
}

/// A slot within the cycle of frames. A subframe of LTE is one of numerology 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Slot {
    /// Slots since the cycle began.
    count: u32,
    numerology: Numerology,
}

impl Slot {
    /// The slot `index` of a frame, if the index is within the frame.
    pub const fn new(sfn: Sfn, index: u16, numerology: Numerology) -> Option<Self> {
        let per_frame = numerology.slots_per_frame();
        if index >= per_frame {
            return None;
        }
        Some(Self { count: sfn.0 as u32 * per_frame as u32 + index as u32, numerology })
    }

    /// The slot this many after the first of a cycle, whichever cycle.
    pub const fn at(count: u64, numerology: Numerology) -> Self {
        Self { count: (count % Self::cycle(numerology) as u64) as u32, numerology }
    }

    const fn cycle(numerology: Numerology) -> u32 {
        Sfn::CYCLE as u32 * numerology.slots_per_frame() as u32
    }

    /// Slots since the cycle began. Below 1024 frames of slots.
    pub const fn count(self) -> u32 {
        self.count
    }

    /// Its frame.
    pub const fn sfn(self) -> Sfn {
        Sfn((self.count / self.numerology.slots_per_frame() as u32) as u16)
    }

    /// Its number within the frame.
    pub const fn index(self) -> u16 {
        (self.count % self.numerology.slots_per_frame() as u32) as u16
    }

    /// The subframe it is in. Range 0..=9.
    pub const fn subframe(self) -> u8 {
        (self.index() / (self.numerology.slots_per_frame() / 10)) as u8
    }

    /// The numerology, which sets the length of slots.
    pub const fn numerology(self) -> Numerology {
        self.numerology
    }

    /// The slot this many later.
    pub const fn plus(self, slots: u32) -> Self {
        Self::at(self.count as u64 + slots as u64, self.numerology)
    }

    /// Number of slots from `earlier` to this one, at most one cycle; `None` if their lengths
    /// differ.
    pub const fn since(self, earlier: Self) -> Option<u32> {
        if self.numerology.mu() != earlier.numerology.mu() {
            return None;
        }
        let cycle = Self::cycle(self.numerology);
        Some((self.count + cycle - earlier.count) % cycle)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_round_after_1024_frames() {
        let last = Sfn::new(1023).expect("a frame");
        assert_eq!(last.plus(1), Sfn::default());
        assert_eq!(Sfn::default().since(last), 1);
        assert_eq!(last.plus(u32::MAX).number(), 1022);
        assert_eq!(Sfn::new(1024), None);
        for mu in 0..=6 {
            let numerology = Numerology::new(mu).expect("a numerology");
            let per_frame = numerology.slots_per_frame();
            let slot = Slot::new(last, per_frame - 1, numerology).expect("the last slot");
            assert_eq!(slot.plus(1).count(), 0, "mu {mu}");
            assert_eq!(slot.plus(1).since(slot), Some(1), "mu {mu}");
            assert_eq!(slot.subframe(), 9, "mu {mu}");
            assert_eq!(Slot::new(last, per_frame, numerology), None, "mu {mu}");
        }
    }

    #[test]
    fn a_slot_is_found_again_from_its_frame_and_index() {
        let numerology = Numerology::new(1).expect("a numerology");
        for count in [0, 19, 20, 12_345, 20_479] {
            let slot = Slot::at(count, numerology);
            assert_eq!(Slot::new(slot.sfn(), slot.index(), numerology), Some(slot));
            assert_eq!(u64::from(slot.count()), count);
        }
    }

    #[test]
    fn slots_of_different_lengths_have_no_distance() {
        let of = |mu| Slot::at(5, Numerology::new(mu).expect("a numerology"));
        assert_eq!(of(0).since(of(1)), None);
    }
}
