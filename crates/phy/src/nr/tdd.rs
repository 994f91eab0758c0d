//! Time division duplex: tdd-UL-DL-ConfigurationCommon (TS 38.213 §11.1, TS 38.331).

use core::time::Duration;

use super::{Numerology, SYMBOLS_PER_SLOT, tables};

/// One period: downlink from its beginning, uplink at its end, flexible between.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Pattern {
    /// Slots of the period.
    pub slots: u16,
    /// Whole downlink slots at the beginning.
    pub downlink_slots: u16,
    /// Downlink symbols in the slot after those. Range 0..=13.
    pub downlink_symbols: u8,
    /// Whole uplink slots at the end.
    pub uplink_slots: u16,
    /// Uplink symbols at the end of the slot before those. Range 0..=13.
    pub uplink_symbols: u8,
}

impl Pattern {
    /// Whether both directions fit in the period, and in the slot that they may share.
    fn is_valid(&self) -> bool {
        let slots = |whole: u16, symbols: u8| u32::from(whole) + u32::from(symbols > 0);
        let downlink = slots(self.downlink_slots, self.downlink_symbols);
        let uplink = slots(self.uplink_slots, self.uplink_symbols);
        let both = downlink + uplink;
        let all = u32::from(self.slots);
        let partial = self.downlink_symbols > 0 && self.uplink_symbols > 0;
        let shared = partial
            && both == all + 1
            && self.downlink_symbols + self.uplink_symbols <= SYMBOLS_PER_SLOT;
        let symbols = self.downlink_symbols.max(self.uplink_symbols);
        all > 0 && symbols < SYMBOLS_PER_SLOT && (both <= all || shared)
    }

    /// The slot `at` of the period.
    fn slot(&self, at: u16) -> SlotFormat {
        let uplink_from = self.slots - self.uplink_slots;
        SlotFormat {
            downlink: match at {
                _ if at < self.downlink_slots => SYMBOLS_PER_SLOT,
                _ if at == self.downlink_slots => self.downlink_symbols,
                _ => 0,
            },
            uplink: match at {
                _ if at >= uplink_from => SYMBOLS_PER_SLOT,
                _ if at + 1 == uplink_from => self.uplink_symbols,
                _ => 0,
            },
        }
    }
}

/// The division of a slot's symbols: downlink first, uplink last, flexible between.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SlotFormat {
    /// Downlink symbols. Range 0..=14.
    pub downlink: u8,
    /// Uplink symbols. Range 0..=14.
    pub uplink: u8,
}

impl SlotFormat {
    /// The use of the whole slot.
    pub const fn kind(self) -> SlotKind {
        match (self.downlink, self.uplink) {
            (SYMBOLS_PER_SLOT, _) => SlotKind::Downlink,
            (_, SYMBOLS_PER_SLOT) => SlotKind::Uplink,
            _ => SlotKind::Mixed,
        }
    }

    /// Symbols of neither direction.
    pub const fn flexible(self) -> u8 {
        SYMBOLS_PER_SLOT.saturating_sub(self.downlink).saturating_sub(self.uplink)
    }
}

/// The use of a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SlotKind {
    /// All symbols downlink.
    Downlink,
    /// Flexible symbols, with or without some of either direction: a special slot.
    Mixed,
    /// All symbols uplink.
    Uplink,
}

/// The pattern of a cell: one period or two that alternate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TddPattern {
    first: Pattern,
    second: Option<Pattern>,
}

impl TddPattern {
    /// The pattern of a cell; `None` where directions do not fit in a period, or there is never an
    /// uplink slot.
    pub fn new(first: Pattern, second: Option<Pattern>) -> Option<Self> {
        let valid = first.is_valid() && second.is_none_or(|second| second.is_valid());
        let uplink = first.uplink_slots > 0 || second.is_some_and(|second| second.uplink_slots > 0);
        (valid && uplink).then_some(Self { first, second })
    }

    /// Slots after which all of it repeats.
    pub fn period(&self) -> u32 {
        u32::from(self.first.slots) + self.second.map_or(0, |second| second.slots.into())
    }

    /// The format of a slot, counted from the beginning of any frame with an even number.
    pub fn slot(&self, slot: u32) -> SlotFormat {
        let at = slot % self.period();
        match (at.checked_sub(self.first.slots.into()), self.second) {
            (Some(at), Some(second)) => second.slot(at as u16),
            _ => self.first.slot(at as u16),
        }
    }

    /// The first slot that is not before this one and all uplink.
    pub fn next_uplink(&self, slot: u32) -> u32 {
        let period = self.period();
        let at = slot % period;
        let uplinks = |pattern: Pattern, end: u32| (end - u32::from(pattern.uplink_slots), end);
        let first = uplinks(self.first, self.first.slots.into());
        let second = self.second.map_or((period, period), |second| uplinks(second, period));
        // The wanted slot is in this period, or among the first uplink slots of the next.
        let next = |(from, to): (u32, u32)| (from + period, to + period);
        [first, second, next(first), next(second)]
            .into_iter()
            .find(|(from, to)| at < *to && from < to)
            .map_or(slot, |(from, _)| slot.saturating_add(from.saturating_sub(at)))
    }

    /// The slot with the acknowledgement of a downlink block that may come at least `least_k1`
    /// slots later, and its K1 (TS 38.213 §9.2.3).
    pub fn feedback(&self, downlink: u32, least_k1: u8) -> (u32, u32) {
        let slot = self.next_uplink(downlink.saturating_add(least_k1.into()));
        (slot, slot - downlink)
    }
}

/// A pattern that networks use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NamedPattern {
    /// A letter for each slot: downlink, special, uplink. If patterns differ in their special slot
    /// only, its symbols or its user.
    pub name: &'static str,
    /// Subcarrier spacing.
    pub numerology: Numerology,
    /// The pattern itself.
    pub pattern: TddPattern,
}

/// Patterns of live networks, from the literature.
pub fn named_patterns() -> impl Iterator<Item = NamedPattern> {
    tables::TDD_NAMES.iter().zip(tables::TDD_PERIODS).filter_map(
        |(&(name, khz), [first, second])| {
            let numerology = Numerology::of_khz(khz)?;
            let pattern = |[period_us, downlink_slots, downlink, uplink_slots, uplink]: [u16;
                               5]| {
                let period = Duration::from_micros(period_us.into()).as_nanos();
                Pattern {
                    slots: (period / numerology.slot().as_nanos()) as u16,
                    downlink_slots,
                    downlink_symbols: downlink as u8,
                    uplink_slots,
                    uplink_symbols: uplink as u8,
                }
            };
            let pattern = TddPattern::new(pattern(first?), second.map(pattern))?;
            Some(NamedPattern { name, numerology, pattern })
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::{Strategy, prop, prop_assert, prop_assert_eq, proptest};

    fn letters(pattern: &TddPattern) -> std::string::String {
        let letter = |slot| match pattern.slot(slot).kind() {
            SlotKind::Downlink => 'D',
            SlotKind::Mixed => 'S',
            SlotKind::Uplink => 'U',
        };
        (0..pattern.period()).map(letter).collect()
    }

    #[test]
    fn named_patterns_are_what_their_names_say() {
        let mut count = 0;
        for named in named_patterns() {
            let plain = named.name.split('_').next().expect("a name");
            assert_eq!(letters(&named.pattern), plain, "{}", named.name);
            count += 1;
        }
        assert_eq!(count, tables::TDD_NAMES.len());
    }

    #[test]
    fn two_patterns_alternate() {
        let named = named_patterns().find(|named| named.name == "DDDSUDDSUU").expect("it is known");
        let pattern = named.pattern;
        assert_eq!(pattern.period(), 10);
        assert_eq!(pattern.slot(3), SlotFormat { downlink: 10, uplink: 2 });
        assert_eq!(pattern.slot(3).flexible(), 2);
        assert_eq!(pattern.slot(13), pattern.slot(3));
        // A block received too late for slot 4 is acknowledged in slot 8.
        assert_eq!(pattern.feedback(0, 4), (4, 4));
        assert_eq!(pattern.feedback(1, 4), (8, 7));
        assert_eq!(pattern.feedback(8, 4), (14, 6));
    }

    #[test]
    fn directions_that_do_not_fit_are_no_pattern() {
        let fits = Pattern {
            slots: 5,
            downlink_slots: 3,
            downlink_symbols: 10,
            uplink_slots: 1,
            uplink_symbols: 2,
        };
        assert!(TddPattern::new(fits, None).is_some());
        for broken in [
            Pattern { slots: 0, ..fits },
            Pattern { slots: 4, ..fits },
            Pattern { downlink_symbols: 13, ..fits },
            Pattern { downlink_symbols: 14, uplink_symbols: 0, ..fits },
            Pattern { uplink_slots: 0, ..fits },
            Pattern { downlink_slots: u16::MAX, ..fits },
        ] {
            assert_eq!(TddPattern::new(broken, None), None, "{broken:?}");
            assert_eq!(TddPattern::new(fits, Some(broken)).is_some(), broken.uplink_slots == 0);
        }
    }

    #[test]
    fn the_last_slots_that_can_be_counted_have_a_next_one_too() {
        for named in named_patterns() {
            for slot in u32::MAX - 20..=u32::MAX {
                assert!(named.pattern.next_uplink(slot) >= slot);
                assert!(named.pattern.feedback(slot, 4).0 >= slot);
            }
        }
    }

    fn periods() -> impl Strategy<Value = Pattern> {
        (1..=80u16, 0..=80u16, 0..14u8, 0..=80u16, 0..14u8).prop_map(
            |(slots, downlink_slots, downlink_symbols, uplink_slots, uplink_symbols)| Pattern {
                slots,
                downlink_slots,
                downlink_symbols,
                uplink_slots,
                uplink_symbols,
            },
        )
    }

    proptest! {
        #[test]
        fn the_next_uplink_slot_is_the_one_that_a_search_finds(
            first in periods(), second in prop::option::of(periods()), slot in 0..1000u32,
        ) {
            if let Some(pattern) = TddPattern::new(first, second) {
                let is_uplink = |slot: &u32| pattern.slot(*slot).kind() == SlotKind::Uplink;
                prop_assert_eq!(Some(pattern.next_uplink(slot)), (slot..).find(is_uplink));
            }
        }

        #[test]
        fn no_symbol_has_two_directions(
            first in periods(), second in prop::option::of(periods()), slot in 0..1000u32,
        ) {
            if let Some(pattern) = TddPattern::new(first, second) {
                let format = pattern.slot(slot);
                prop_assert!(format.downlink + format.uplink <= SYMBOLS_PER_SLOT);
            }
        }
    }
}
