//! The log masks of a modem: how they were found, and how a session has set them.

use alloc::collections::{BTreeMap, VecDeque};
use alloc::vec::Vec;

use super::note::{Note, Noted};
use super::step::Mask;
use crate::LogCode;
use crate::command::{EQUIPMENTS, LogMask};

/// If a modem does not report how many codes an equipment has, all that 12 bits can number are
/// assumed.
const ALL_ITEMS: u32 = 1 << 12;

/// Masks under way to a modem that does not answer. It is given up long before there are more.
const MAX_BEFORE: usize = 64;

#[derive(Clone, Debug, Default)]
pub(super) struct Masks {
    /// Number of codes of each equipment.
    items: BTreeMap<u8, u32>,
    /// As they were before this session.
    found: BTreeMap<u8, Mask>,
    /// As this session has set them; at its end, as it puts them back.
    ours: BTreeMap<u8, Mask>,
    /// Earlier ones of this session, until the modem confirms the newest: it may have any of them.
    before: BTreeMap<u8, VecDeque<Mask>>,
    /// Masks that an earlier session may have left, until the modem reports its masks.
    left: BTreeMap<u8, Noted>,
}

impl Masks {
    /// The modem reports how many codes each equipment has.
    pub(super) fn handle_ranges(&mut self, ranges: &[u32; EQUIPMENTS]) {
        let known = (0..).zip(ranges).filter(|(_, items)| **items > 0);
        self.items = known.map(|(equipment, items)| (equipment, (*items).min(ALL_ITEMS))).collect();
    }

    /// The modem does not report it: assumes space for the requested codes.
    pub(super) fn handle_no_ranges(&mut self, wanted: &[LogCode]) {
        self.items = wanted.iter().map(|code| (code.equipment(), ALL_ITEMS)).collect();
    }

    /// The modem reports its mask. It is saved as found unless this session has set it. If a killed
    /// session set it, that session's saved mask is the one found.
    pub(super) fn handle_read(&mut self, mask: &LogMask<'_>) -> bool {
        let (equipment, mask) = (mask.equipment, Mask::of(mask));
        // The mask itself knows best how many codes it has.
        self.items.insert(equipment, mask.items);
        let left = self.left.remove(&equipment).filter(|left| left.is(&mask));
        if let Some(left) = left {
            self.found.insert(equipment, Mask { items: mask.items, bits: left.found });
            self.ours.insert(equipment, mask);
            return true;
        }
        let before = self.before.remove(&equipment).unwrap_or_default();
        if before.contains(&mask) {
            self.ours.insert(equipment, mask);
        } else if self.ours.get(&equipment) != Some(&mask) {
            self.ours.remove(&equipment);
            self.found.insert(equipment, mask);
        }
        false
    }

    /// The modem confirms the mask of an equipment.
    pub(super) fn handle_set(&mut self, equipment: u8) {
        self.before.remove(&equipment);
    }

    /// An earlier session was killed, and may have left these masks behind.
    pub(super) fn recall(&mut self, note: Note) {
        self.left = note.masks.into_iter().map(|left| (left.equipment, left)).collect();
    }

    /// Everything that a later session needs to restore the masks if this one cannot.
    pub(super) fn note(&self) -> Note {
        let ours = self.ours.iter().filter_map(|(&equipment, ours)| {
            let found = self.found.get(&equipment).filter(|found| found.items == ours.items)?;
            let (found, ours) = (found.bits.clone(), ours.clone());
            Some(Noted { equipment, items: ours.items, found, ours: ours.bits })
        });
        let left = self.left.values().filter(|left| !self.ours.contains_key(&left.equipment));
        Note { masks: ours.chain(left.cloned()).collect() }
    }

    /// The masks of an earlier session that may still be set, because the modem has not reported
    /// its masks.
    pub(super) fn left(&self) -> Note {
        Note { masks: self.left.values().cloned().collect() }
    }

    /// Equipments there are.
    pub(super) fn equipments(&self) -> impl Iterator<Item = u8> {
        self.items.keys().copied()
    }

    /// Whether the modem has told the mask of an equipment.
    pub(super) fn is_told(&self, equipment: u8) -> bool {
        self.found.contains_key(&equipment)
    }

    /// Decides on the mask of an equipment; whether it has to be set, because the modem has
    /// another. One that the modem does not tell can never be restored, and is set only if
    /// `even_untold`.
    pub(super) fn decide(&mut self, equipment: u8, on: &[LogCode], even_untold: bool) -> bool {
        let Some(&items) = self.items.get(&equipment) else { return false };
        if !self.is_told(equipment) && !even_untold {
            return false;
        }
        let bits = LogMask::bits_of(equipment, items, on);
        let mask = Mask { items, bits };
        let there = self.ours.get(&equipment).or(self.found.get(&equipment));
        let unwanted = there.is_none() && mask.is_empty();
        let differs = there != Some(&mask) && !unwanted;
        if differs && let Some(old) = self.ours.insert(equipment, mask) {
            let before = self.before.entry(equipment).or_default();
            before.push_back(old);
            if before.len() > MAX_BEFORE {
                before.pop_front();
            }
        }
        differs
    }

    /// The mask that is to be set.
    pub(super) fn to_set(&self, equipment: u8) -> Option<&Mask> {
        self.ours.get(&equipment)
    }

    /// Equipments whose masks this session has set.
    pub(super) fn set(&self) -> Vec<u8> {
        self.ours.keys().copied().collect()
    }

    /// Equipments that may still have the mask of an earlier session.
    pub(super) fn unread(&self) -> Vec<u8> {
        self.left.keys().copied().collect()
    }

    /// From now on the old mask is to be restored. Returns whether a mask must be set.
    pub(super) fn put_back(&mut self, equipment: u8) -> bool {
        let Some(mask) = self.ours.get_mut(&equipment) else { return false };
        let Some(found) = self.found.get(&equipment) else { return false };
        *mask = found.clone();
        true
    }

    /// Whether the modem has a mask that differs from the one found.
    pub(super) fn is_set(&self) -> bool {
        self.ours.keys().any(|equipment| self.is_told(*equipment))
    }

    /// Whether a code is on because this session has set a mask that it cannot restore.
    pub(super) fn stays(&self, code: LogCode) -> bool {
        let ours = self.ours.get(&code.equipment());
        let on = ours.is_some_and(|ours| ours.has(code));
        on && !self.is_told(code.equipment())
    }

    /// Whether the modem has room for a code.
    pub(super) fn has(&self, code: LogCode) -> bool {
        let items = self.items.get(&code.equipment()).copied().unwrap_or_default();
        u32::from(code.item()) < items
    }
}
