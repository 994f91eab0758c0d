use super::tables;

/// A pattern whose retransmission timing was measured in commercial networks, at 30 kHz (Gandalf
/// §B.3.3, Figure 27).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MeasuredPattern {
    /// Figure 27(a). Its feedback slots are those of DDDSUDDSUU with acknowledgements in slots 4
    /// and 9.
    A,
    /// Figure 27(b). Its feedback slots are those of DDDDDDDSUU.
    B,
}

/// Time from a block to its retransmission, in slots.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Retransmission {
    /// Slots from the downlink block to its acknowledgement (K1), or from the grant to the uplink
    /// block (K2).
    pub first: u8,
    /// Slots from there to the grant of the repeat (Kd, Ku).
    pub then: u8,
}

impl Retransmission {
    /// T_M: all of it, K0 being zero (Gandalf Equations 1 and 2).
    pub const fn total(self) -> u8 {
        self.first + self.then
    }

    fn of_row(&(first, then): &(u8, u8)) -> Option<Self> {
        (first > 0).then_some(Self { first, then })
    }
}

impl MeasuredPattern {
    /// Time from a downlink block of a slot to its repeat; `None` in slots where none was seen. Two
    /// frames of ten slots are alike (Gandalf Tables 4 and 5).
    pub fn downlink(self, slot: u32) -> Option<Retransmission> {
        let table = match self {
            Self::A => &tables::RETRANSMISSION_DL_A,
            Self::B => &tables::RETRANSMISSION_DL_B,
        };
        Retransmission::of_row(&table[(slot % 20) as usize])
    }

    /// Time from an uplink block of a slot to its repeat; `None` in slots where none was seen
    /// (Gandalf Table 6).
    pub fn uplink(self, slot: u32) -> Option<Retransmission> {
        let table = match self {
            Self::A => &tables::RETRANSMISSION_UL_A,
            Self::B => &tables::RETRANSMISSION_UL_B,
        };
        Retransmission::of_row(&table[(slot % 20) as usize])
    }
}

#[cfg(test)]
mod tests {
    use super::super::{SlotKind, named_patterns};
    use super::*;

    #[test]
    fn blocks_are_acknowledged_in_uplink_slots_of_the_pattern() {
        for (measured, name) in
            [(MeasuredPattern::A, "DDDSUDDSUU"), (MeasuredPattern::B, "DDDDDDDSUU")]
        {
            let named = named_patterns().find(|named| named.name == name).expect("it is known");
            for slot in 0..20 {
                let kind = named.pattern.slot(slot).kind();
                let downlink = measured.downlink(slot);
                assert_eq!(downlink.is_some(), kind != SlotKind::Uplink, "{name} slot {slot}");
                if let Some(timing) = downlink {
                    let feedback = named.pattern.slot(slot + u32::from(timing.first));
                    assert_eq!(feedback.kind(), SlotKind::Uplink, "{name} slot {slot}");
                }
            }
        }
    }

    #[test]
    fn totals_are_those_of_the_paper() {
        let total = |timing: Option<Retransmission>| timing.map(Retransmission::total);
        assert_eq!(total(MeasuredPattern::A.downlink(11)), Some(14));
        assert_eq!(total(MeasuredPattern::B.downlink(6)), Some(17));
        assert_eq!(total(MeasuredPattern::A.uplink(9)), Some(10));
        assert_eq!(total(MeasuredPattern::B.uplink(0)), None);
    }
}
