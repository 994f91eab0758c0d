//! K0 and K2: slots between a grant and its block, by the index in the grant (TS 38.214 §5.1.2.1,
//! §6.1.2.1).

use sounding_diag::layout::Item;
use sounding_rrc::facts::{Fact, Facts, Known, Place, TimeAllocation};

use super::fact::Give;

/// Reads every entry of every list of the first cell: the list, the entry, and its slots.
fn each(facts: &Facts, of: fn(&Facts, usize) -> Option<Slots<'_>>, give: &mut Give<'_>) {
    let lists = (0..facts.facts.len()).filter_map(|place| of(facts, place));
    for (number, list) in lists.enumerate() {
        let item = Item::default().within(number);
        for (entry, allocation) in list.entries.iter().enumerate() {
            if let Some(slots) = allocation.slots.or(list.absent) {
                give(item.within(entry), slots.into());
            }
        }
    }
}

/// A list, and the default for entries without slots.
struct Slots<'f> {
    entries: &'f [TimeAllocation],
    absent: Option<u8>,
}

fn downlink(facts: &Facts, place: usize) -> Option<Slots<'_>> {
    match facts.facts.get(place)? {
        Fact { place, known: Known::PdschTimeAllocations(entries) } if is_first(place) => {
            Some(Slots { entries, absent: Some(0) })
        }
        _ => None,
    }
}

/// The default of an absent field depends on the spacing of the bandwidth part of the list. The
/// message has it before the list, if at all; otherwise it is unknown from this message.
fn uplink(facts: &Facts, place: usize) -> Option<Slots<'_>> {
    let before = facts.facts.get(..place)?;
    let Fact { place, known: Known::PuschTimeAllocations(entries) } = facts.facts.get(place)?
    else {
        return None;
    };
    let part = before.iter().rev().filter(|fact| fact.place == *place);
    let spacing = part.map(|fact| &fact.known).find_map(|known| match known {
        Known::BandwidthPart(part) => Some(part.spacing_khz),
        _ => None,
    });
    let absent = spacing.and_then(|khz| match khz {
        15 | 30 => Some(1),
        60 => Some(2),
        120 => Some(3),
        _ => None,
    });
    is_first(place).then_some(Slots { entries, absent })
}

fn is_first(place: &Place) -> bool {
    place.nr && place.scell.is_none()
}

/// The entry of that number, of every list.
fn at(facts: &Facts, wanted: u16, of: fn(&Facts, usize) -> Option<Slots<'_>>, give: &mut Give<'_>) {
    each(facts, of, &mut |item, slots| {
        if item.levels().last() == Some(&wanted) {
            give(item, slots);
        }
    });
}

/// The least of every list, if all of its entries are known.
fn least(facts: &Facts, of: fn(&Facts, usize) -> Option<Slots<'_>>, give: &mut Give<'_>) {
    let lists = (0..facts.facts.len()).filter_map(|place| of(facts, place));
    for (number, list) in lists.enumerate() {
        let slots = list.entries.iter().map(|entry| entry.slots.or(list.absent));
        if let Some(least) = slots.min().flatten() {
            give(Item::default().within(number), least.into());
        }
    }
}

pub(super) fn k0(facts: &Facts, give: &mut Give<'_>) {
    each(facts, downlink, give);
}

pub(super) fn k2(facts: &Facts, give: &mut Give<'_>) {
    each(facts, uplink, give);
}

pub(super) fn k0_at<const ENTRY: u16>(facts: &Facts, give: &mut Give<'_>) {
    at(facts, ENTRY, downlink, give);
}

pub(super) fn k2_at<const ENTRY: u16>(facts: &Facts, give: &mut Give<'_>) {
    at(facts, ENTRY, uplink, give);
}

pub(super) fn k0_least(facts: &Facts, give: &mut Give<'_>) {
    least(facts, downlink, give);
}

pub(super) fn k2_least(facts: &Facts, give: &mut Give<'_>) {
    least(facts, uplink, give);
}

#[cfg(test)]
mod tests {
    use super::*;
    use sounding_rrc::facts::BandwidthPart;
    use std::vec;
    use std::vec::Vec;

    fn uplink_of(spacing_khz: Option<u16>, slots: &[Option<u8>]) -> Facts {
        let place = Place { nr: true, uplink: true, ..Place::default() };
        let entry = |&slots| TimeAllocation { slots, slot_based: true, start: 0, symbols: 14 };
        let entries = slots.iter().map(entry).collect();
        let part = spacing_khz.map(|spacing_khz| {
            Known::BandwidthPart(BandwidthPart { spacing_khz, start_prb: 0, bandwidth_prb: 51 })
        });
        let known = part.into_iter().chain([Known::PuschTimeAllocations(entries)]);
        let facts = known.map(|known| Fact { place, known }).collect();
        Facts { message: "rrcReconfiguration", event: None, facts }
    }

    fn given(read: fn(&Facts, &mut Give<'_>), facts: &Facts) -> Vec<(Vec<u16>, f64)> {
        let mut found = Vec::new();
        read(facts, &mut |item, value| found.push((item.levels().to_vec(), value)));
        found
    }

    /// TS 38.331 §6.3.2, PUSCH-TimeDomainResourceAllocation: 1 at 15 and 30 kHz, 2 at 60 kHz, 3 at
    /// 120 kHz.
    #[test]
    fn slots_left_out_stand_for_what_the_spacing_makes_them() {
        for (spacing, slots) in [(15, 1.0), (30, 1.0), (60, 2.0), (120, 3.0)] {
            let facts = uplink_of(Some(spacing), &[Some(4), None]);
            assert_eq!(given(k2, &facts), [(vec![0, 0], 4.0), (vec![0, 1], slots)]);
            assert_eq!(given(k2_at::<1>, &facts), [(vec![0, 1], slots)]);
            assert_eq!(given(k2_least, &facts), [(vec![0], slots)]);
        }
    }

    #[test]
    fn slots_left_out_without_a_spacing_are_not_known_and_neither_is_the_least() {
        let facts = uplink_of(None, &[Some(4), None]);
        assert_eq!(given(k2, &facts), [(vec![0, 0], 4.0)]);
        assert_eq!(given(k2_least, &facts), []);
    }
}
