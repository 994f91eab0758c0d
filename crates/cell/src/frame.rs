//! The slots of a carrier, and the slot that carries the feedback for each slot.

use alloc::vec::Vec;
use core::time::Duration;

use sounding_phy::lte::{SubframeKind, TddConfig};

/// The directions that a slot may carry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SlotKind {
    /// Both ways at once, on two frequencies (FDD).
    Both,
    /// To the devices.
    Downlink,
    /// To the devices in its first symbols, then a guard period, then a few symbols back.
    Special,
    /// From the devices.
    Uplink,
}

impl SlotKind {
    /// Whether a PDSCH and a PDCCH fit.
    pub const fn has_downlink(self) -> bool {
        !matches!(self, Self::Uplink)
    }

    /// Whether a PUSCH fits.
    pub const fn has_uplink(self) -> bool {
        matches!(self, Self::Both | Self::Uplink)
    }
}

/// A pattern of slots that repeats, with the offsets between grant, data, feedback and repetition.
///
/// The four offsets are those of Gandalf §3.1.2: a downlink block comes again K0 + K1 + Kd after it
/// was sent, an uplink block Ku + K2 after. K0 is zero throughout, as everywhere Gandalf measured
/// (§B.3.3).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    slot: Duration,
    pattern: Vec<Slot>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Slot {
    kind: SlotKind,
    /// PDSCH to its feedback.
    k1: u8,
    /// Feedback in this slot to the earliest PDSCH that repeats.
    kd: u8,
    /// This slot's PUSCH to the grant that repeats it.
    ku: u8,
    /// And to the repeat.
    repeat: u8,
    /// PUSCH slots that a grant in this slot may give, counted from it.
    grants: Vec<u8>,
}

/// A pattern that cannot be used, and why.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PatternError {
    /// A letter other than D, S and U.
    Letter(char),
    /// No slot for one of the two directions.
    OneWay,
    /// Does not divide a frame of 10 ms, so later slots would have no defined kind.
    Length(usize),
    /// Not the number of one of LTE's uplink-downlink configurations.
    Configuration,
}

impl core::fmt::Display for PatternError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::Letter(letter) => write!(f, "slot {letter:?} is none of D, S and U"),
            Self::OneWay => f.write_str("a pattern needs a D and a U"),
            Self::Length(slots) => write!(f, "{slots} slots do not divide a frame of 10 ms"),
            Self::Configuration => {
                f.write_str("LTE's uplink-downlink configurations are 0 to 6; patterns are NR's")
            }
        }
    }
}

impl core::error::Error for PatternError {}

impl Frame {
    /// LTE FDD: every offset is four subframes (TS 36.213 §7, §8, §10.1; Gandalf §B.3.1).
    pub fn lte_fdd() -> Self {
        Self::fdd(0, 4)
    }

    /// LTE TDD by the number of an uplink-downlink configuration. The feedback is k subframes after
    /// a PDSCH, and its repeat at least four subframes later (TS 36.213 Table 10.1.3.1-1, TS
    /// 36.321 §7.7). A PUSCH is k after its grant and the answer k_PHICH later, where its
    /// repeat is granted (TS 36.213 Tables 8-2, 9.1.2-1). In configuration 0 a grant can also
    /// refer to the seventh subframe after it (TS 36.213 §8).
    ///
    /// # Errors
    ///
    /// [`PatternError::Configuration`] if the text is no number from 0 to 6.
    pub fn lte_tdd(configuration: &str) -> Result<Self, PatternError> {
        let config = lte_configuration(configuration).ok_or(PatternError::Configuration)?;
        let repeats_from = |slot: u32| {
            let later =
                (4..14).find(|&later| config.subframe(slot + later) != SubframeKind::Uplink);
            later.unwrap_or(4) as u8
        };
        let pattern = (0..10_u32).map(|slot| {
            let kind = match config.subframe(slot) {
                SubframeKind::Downlink => SlotKind::Downlink,
                SubframeKind::Special => SlotKind::Special,
                SubframeKind::Uplink => SlotKind::Uplink,
            };
            let mut grants: Vec<u8> = config.grant_delay(slot).into_iter().collect();
            if config.number() == 0 && !grants.is_empty() {
                grants.push(7);
            }
            grants.sort_unstable();
            grants.dedup();
            let answered = config.phich_delay(slot).unwrap_or(0);
            let granting = slot + u32::from(answered);
            let k = config.grant_delay(granting).unwrap_or(0);
            // In configuration 0 a grant can refer to two subframes. For answers in subframes 1 and
            // 6, and for answers to subframes 4 and 9, it is the later one (TS 36.213
            // §8).
            let later =
                config.number() == 0 && (matches!(granting % 10, 1 | 6) || matches!(slot, 4 | 9));
            Slot {
                kind,
                k1: config.feedback_delay(slot).unwrap_or(0),
                kd: repeats_from(slot),
                ku: answered,
                repeat: answered + if later { 7 } else { k },
                grants,
            }
        });
        Ok(Self { slot: slot_length(0), pattern: pattern.collect() })
    }

    /// NR FDD of a numerology. K1 is at least N1 and K2 at least N2; both are under a slot at 15
    /// kHz and under three at 120 kHz (TS 38.214 Tables 5.3-1, 6.4-1). Four slots include the
    /// usual margin of networks. Chosen.
    pub fn nr_fdd(numerology: u8) -> Self {
        Self::fdd(numerology, 4)
    }

    fn fdd(numerology: u8, offset: u8) -> Self {
        let slot = Slot {
            kind: SlotKind::Both,
            k1: offset,
            kd: offset,
            ku: offset,
            repeat: offset * 2,
            grants: Vec::from([offset]),
        };
        Self { slot: slot_length(numerology), pattern: Vec::from([slot]) }
    }

    /// NR TDD by a pattern of D, S and U at a numerology.
    ///
    /// Two patterns have the offsets that Gandalf measured (§B.3.3, Tables 4 to 6): DDDSUDDSUU,
    /// whose uplink slot 8 never carried data there, and DDDDDDDSUU. Other patterns follow the
    /// same rule: feedback at least four slots later, a repeated PDSCH six slots after it, a
    /// grant three slots before its PUSCH, and six slots from a PUSCH to the grant that repeats
    /// it.
    ///
    /// # Errors
    ///
    /// [`PatternError`] if a letter is none of D, S and U, one direction has no slot, or the
    /// pattern does not divide 10 ms.
    pub fn nr_tdd(numerology: u8, pattern: &str) -> Result<Self, PatternError> {
        let kinds = pattern
            .chars()
            .map(|letter| match letter {
                'D' => Ok(SlotKind::Downlink),
                'S' => Ok(SlotKind::Special),
                'U' => Ok(SlotKind::Uplink),
                other => Err(PatternError::Letter(other)),
            })
            .collect::<Result<Vec<_>, _>>()?;
        let downlink = kinds.contains(&SlotKind::Downlink);
        if !downlink || !kinds.contains(&SlotKind::Uplink) {
            return Err(PatternError::OneWay);
        }
        if !(10_usize << numerology.min(6)).is_multiple_of(kinds.len()) {
            return Err(PatternError::Length(kinds.len()));
        }
        let offsets = match pattern {
            "DDDSUDDSUU" => Offsets::DDDSUDDSUU,
            "DDDDDDDSUU" => Offsets::DDDDDDDSUU,
            _ => Offsets::BY_RULE,
        };
        Ok(Self { slot: slot_length(numerology), pattern: offsets.apply(&kinds) })
    }

    /// Duration of a slot.
    pub const fn slot(&self) -> Duration {
        self.slot
    }

    /// Slots until the pattern begins again.
    pub fn period(&self) -> u64 {
        self.pattern.len() as u64
    }

    /// The kind of slot number `slot`.
    pub fn kind(&self, slot: u64) -> SlotKind {
        self.at(slot).kind
    }

    /// When the device answers a PDSCH of `slot`.
    pub fn feedback(&self, slot: u64) -> u64 {
        slot + u64::from(self.at(slot).k1)
    }

    /// The earliest slot that repeats a PDSCH which was refused in `slot`.
    pub fn downlink_again(&self, slot: u64) -> u64 {
        slot + u64::from(self.at(slot).kd)
    }

    /// When a PUSCH of `slot` that did not arrive is granted again.
    pub fn uplink_again(&self, slot: u64) -> u64 {
        slot + u64::from(self.at(slot).ku)
    }

    /// The earliest slot for the repeat of a PUSCH of `slot`.
    pub fn uplink_repeat(&self, slot: u64) -> u64 {
        slot + u64::from(self.at(slot).repeat)
    }

    /// The uplink slot before `slot`.
    pub fn uplink_before(&self, slot: u64) -> Option<u64> {
        let before = (1..=self.period()).filter_map(|back| slot.checked_sub(back));
        before.into_iter().find(|&slot| self.kind(slot).has_uplink())
    }

    /// The PUSCH slots that a grant in `slot` may give.
    pub fn grants(&self, slot: u64) -> impl Iterator<Item = u64> + '_ {
        self.at(slot).grants.iter().map(move |&k2| slot + u64::from(k2))
    }

    /// Part of all slots that carry the downlink; special slots count for ten of fourteen symbols.
    pub fn downlink_share(&self) -> f64 {
        let share = |slot: &Slot| match slot.kind {
            SlotKind::Both | SlotKind::Downlink => 1.0,
            SlotKind::Special => 10.0 / 14.0,
            SlotKind::Uplink => 0.0,
        };
        self.pattern.iter().map(share).sum::<f64>() / self.pattern.len() as f64
    }

    fn at(&self, slot: u64) -> &Slot {
        &self.pattern[(slot % self.pattern.len() as u64) as usize]
    }
}

/// An uplink-downlink configuration by its number.
pub(crate) fn lte_configuration(number: &str) -> Option<TddConfig> {
    TddConfig::new(number.parse().ok()?)
}

const fn slot_length(numerology: u8) -> Duration {
    Duration::from_nanos(1_000_000 >> numerology)
}

/// Offsets of a TDD pattern; the rule defines missing ones.
struct Offsets {
    /// Downlink slot, K1.
    k1: &'static [(usize, u8)],
    /// Feedback to repeated PDSCH.
    kd: u8,
    /// Uplink slot, K2, Ku.
    uplink: &'static [(usize, u8, u8)],
}

impl Offsets {
    const BY_RULE: Self = Self { k1: &[], kd: 6, uplink: &[] };

    /// Gandalf Tables 4 and 6(a).
    const DDDSUDDSUU: Self = Self {
        k1: &[(0, 4), (1, 8), (2, 7), (3, 6), (5, 4), (6, 8), (7, 7)],
        kd: 6,
        uplink: &[(4, 4, 6), (9, 3, 7)],
    };

    /// Gandalf Tables 5 and 6(b).
    const DDDDDDDSUU: Self = Self {
        k1: &[(0, 8), (1, 7), (2, 7), (3, 6), (4, 5), (5, 4), (6, 12), (7, 11)],
        kd: 5,
        uplink: &[(8, 3, 7), (9, 3, 6)],
    };

    fn apply(&self, kinds: &[SlotKind]) -> Vec<Slot> {
        let kind = |slot: usize| kinds[slot % kinds.len()];
        // The search ends within a period: a pattern has both directions.
        let next = |from: usize, fits: fn(SlotKind) -> bool| {
            (from..from + kinds.len()).find(|&slot| fits(kind(slot))).unwrap_or(from)
        };
        let mut slots: Vec<Slot> = kinds
            .iter()
            .enumerate()
            .map(|(slot, &kind)| {
                let given = self.k1.iter().find(|(found, _)| *found == slot);
                let rule = || (next(slot + 4, SlotKind::has_uplink) - slot) as u8;
                let again = next(slot + usize::from(self.kd), SlotKind::has_downlink);
                Slot {
                    kind,
                    k1: given.map_or_else(rule, |(_, k1)| *k1),
                    kd: (again - slot) as u8,
                    ku: 0,
                    repeat: 0,
                    grants: Vec::new(),
                }
            })
            .collect();
        for slot in (0..kinds.len()).filter(|&slot| kinds[slot].has_uplink()) {
            let given = self.uplink.iter().find(|(found, ..)| *found == slot);
            if given.is_none() && !self.uplink.is_empty() {
                continue;
            }
            let ahead = kinds.len() * 2 + slot;
            let rule = || {
                let granting = (3..kinds.len() + 3).find(|&k2| kind(ahead - k2).has_downlink());
                granting.unwrap_or(3) as u8
            };
            let k2 = given.map_or_else(rule, |(_, k2, _)| *k2);
            slots[(ahead - usize::from(k2)) % kinds.len()].grants.push(k2);
        }
        for slot in (0..kinds.len()).filter(|&slot| kinds[slot].has_uplink()) {
            let given = self.uplink.iter().find(|(found, ..)| *found == slot);
            let granting = |at: &usize| !slots[*at % kinds.len()].grants.is_empty();
            let rule = || (slot + 6..slot + 6 + kinds.len()).find(granting).map(|at| at - slot);
            let ku = given.map_or_else(|| rule().unwrap_or(6) as u8, |(_, _, ku)| *ku);
            slots[slot].ku = ku;
            let granting = &slots[(slot + usize::from(ku)) % kinds.len()];
            slots[slot].repeat = ku + granting.grants.first().copied().unwrap_or(0);
        }
        slots
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gandalf Tables 4 to 6: slot, and the slots until the block comes again.
    #[test]
    fn blocks_come_again_after_the_slots_that_gandalf_measured() {
        type Repeats = &'static [(u64, u64)];
        let measured: [(&str, Repeats, Repeats); 2] = [
            (
                "DDDSUDDSUU",
                &[(0, 10), (1, 14), (2, 13), (3, 12), (5, 10), (6, 14), (7, 13)],
                &[(4, 10), (9, 10)],
            ),
            (
                "DDDDDDDSUU",
                &[(0, 13), (1, 12), (2, 12), (3, 11), (4, 10), (5, 9), (6, 17), (7, 16)],
                &[(8, 10), (9, 9)],
            ),
        ];
        for (pattern, downlink, uplink) in measured {
            let frame = Frame::nr_tdd(1, pattern).unwrap();
            for half in [0, 10] {
                for &(slot, slots) in downlink {
                    let again = frame.downlink_again(frame.feedback(half + slot));
                    assert_eq!(again - half - slot, slots, "{pattern} downlink {slot}");
                    assert!(frame.kind(again).has_downlink());
                }
                for &(slot, slots) in uplink {
                    let granting = frame.uplink_again(half + slot);
                    let again = frame.grants(granting).next().unwrap();
                    assert_eq!(again - half - slot, slots, "{pattern} uplink {slot}");
                }
            }
        }
    }

    #[test]
    fn lte_repeats_after_eight_subframes_both_ways() {
        let frame = Frame::lte_fdd();
        assert_eq!(frame.downlink_again(frame.feedback(100)), 108);
        assert_eq!(frame.grants(frame.uplink_again(100)).collect::<Vec<_>>(), [108]);
    }

    /// TS 36.213 Tables 10.1.3.1-1, 8-2 and 9.1.2-1: subframe, and subframes until the block comes
    /// again.
    #[test]
    fn lte_tdd_repeats_when_its_tables_say() {
        type Repeats = &'static [(u64, u64)];
        let known: [(&str, Repeats, Repeats); 4] = [
            ("0", &[(0, 10), (1, 10), (5, 10), (6, 10)], &[(2, 11), (3, 11), (4, 13), (7, 11)]),
            (
                "1",
                &[(0, 11), (1, 10), (4, 10), (5, 11), (6, 10), (9, 10)],
                &[(2, 10), (3, 10), (7, 10), (8, 10)],
            ),
            (
                "2",
                &[(0, 11), (1, 10), (3, 8), (4, 12), (5, 11), (6, 10), (8, 8), (9, 12)],
                &[(2, 10), (7, 10)],
            ),
            ("5", &[(0, 16), (1, 15), (9, 17), (8, 8)], &[(2, 10)]),
        ];
        for (configuration, downlink, uplink) in known {
            let frame = Frame::lte_tdd(configuration).unwrap();
            for &(subframe, later) in downlink {
                let again = frame.downlink_again(frame.feedback(40 + subframe));
                assert_eq!(again - 40 - subframe, later, "{configuration} downlink {subframe}");
            }
            for &(subframe, later) in uplink {
                let granting = frame.uplink_again(40 + subframe);
                let again = frame.uplink_repeat(40 + subframe);
                assert!(frame.grants(granting).any(|at| at == again));
                assert_eq!(again - 40 - subframe, later, "{configuration} uplink {subframe}");
            }
        }
    }

    #[test]
    fn every_subframe_of_every_configuration_is_answered_and_granted() {
        for configuration in ["0", "1", "2", "3", "4", "5", "6"] {
            let frame = Frame::lte_tdd(configuration).unwrap();
            let mut granted = std::collections::BTreeSet::new();
            for subframe in 0..10 {
                granted.extend(frame.grants(subframe).map(|at| at % 10));
                if frame.kind(subframe).has_downlink() {
                    let feedback = frame.feedback(subframe);
                    assert!(frame.kind(feedback).has_uplink(), "{configuration} {subframe}");
                    assert!(frame.kind(frame.downlink_again(feedback)).has_downlink());
                }
                if frame.kind(subframe).has_uplink() {
                    let again = frame.uplink_again(subframe);
                    assert!(frame.grants(again).next().is_some(), "{configuration} {subframe}");
                }
            }
            let uplink = (0..10).filter(|&at| frame.kind(at).has_uplink()).collect();
            assert_eq!(granted, uplink, "{configuration}");
        }
        for wrong in ["7", "DSUUD", ""] {
            assert_eq!(Frame::lte_tdd(wrong), Err(PatternError::Configuration));
        }
    }

    #[test]
    fn every_pattern_answers_and_repeats_in_slots_of_the_right_direction() {
        for pattern in ["DDDSU", "DDSU", "DSUUU", "DDDDDDDDUU", "DU"] {
            let frame = Frame::nr_tdd(1, pattern).unwrap();
            for slot in 0..frame.period() {
                if frame.kind(slot).has_downlink() {
                    let feedback = frame.feedback(slot);
                    assert!(frame.kind(feedback).has_uplink(), "{pattern} {slot}");
                    assert!(frame.kind(frame.downlink_again(feedback)).has_downlink());
                }
                assert!(frame.grants(slot).all(|at| frame.kind(at).has_uplink()));
                if frame.kind(slot).has_uplink() {
                    let again = frame.uplink_again(slot);
                    assert!(frame.grants(again).next().is_some(), "{pattern} {slot}");
                }
            }
        }
    }

    #[test]
    fn a_pattern_without_valid_offsets_is_refused() {
        assert_eq!(Frame::nr_tdd(1, "DDX"), Err(PatternError::Letter('X')));
        assert_eq!(Frame::nr_tdd(1, "DDDD"), Err(PatternError::OneWay));
        assert_eq!(Frame::nr_tdd(1, "DDDDDSU"), Err(PatternError::Length(7)));
    }
}
