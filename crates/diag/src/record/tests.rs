use super::*;
use crate::layout::{Block, Count, Part};
use std::vec::Vec;

/// Every block of a layout, with those of its lists and sub-packets.
fn blocks(parts: &'static [Part]) -> Vec<&'static Block> {
    let nested = |part: &'static Part| match part {
        Part::Block(block) => Vec::from([block]),
        Part::List { parts, .. } | Part::Counted { parts, .. } => blocks(parts),
        Part::SubPackets { known, .. } => known.iter().flat_map(|sub| blocks(sub.parts)).collect(),
        _ => Vec::new(),
    };
    parts.iter().flat_map(nested).collect()
}

fn every_layout() -> impl Iterator<Item = (LogCode, &'static Layout)> {
    CODES
        .iter()
        .flat_map(|&code| layouts(code).into_iter().flatten().map(move |layout| (code, layout)))
}

#[test]
fn every_field_lies_within_its_block() {
    for (code, layout) in every_layout() {
        for block in blocks(layout.parts) {
            for field in block.fields.iter().copied().flatten() {
                let (end, size) = (field.end(), usize::from(block.size));
                assert!(end <= size, "{code}: {} ends at {end} of {size}", field.name);
            }
        }
    }
}

/// A count of four thousand million then ends with the body, and not with patience.
#[test]
fn every_item_of_a_list_takes_bytes() {
    fn takes_bytes(parts: &'static [Part]) -> bool {
        parts.iter().any(|part| match part {
            Part::Block(block) => block.size > 0,
            Part::NrControl | Part::Chain => true,
            Part::List { count: Count::Fixed(1..), parts, .. } => takes_bytes(parts),
            _ => false,
        })
    }
    fn holds(parts: &'static [Part]) -> bool {
        parts.iter().all(|part| match part {
            Part::List { parts, .. } => takes_bytes(parts) && holds(parts),
            Part::SubPackets { known, .. } => known.iter().all(|sub| holds(sub.parts)),
            _ => true,
        })
    }
    for (code, layout) in every_layout() {
        assert!(holds(layout.parts), "{code} {:?}", layout.versions);
    }
}

#[test]
fn no_name_stands_for_two_fields_of_a_block() {
    for (code, layout) in every_layout() {
        for block in blocks(layout.parts) {
            let mut names: Vec<_> =
                block.fields.iter().copied().flatten().map(|field| field.name).collect();
            let count = names.len();
            names.sort_unstable();
            names.dedup();
            assert_eq!(names.len(), count, "{code} {:?}: {names:?}", layout.versions);
        }
    }
}

#[test]
fn no_version_has_two_layouts() {
    for &code in CODES {
        let mut versions: Vec<u32> = layouts(code)
            .into_iter()
            .flatten()
            .flat_map(|layout| layout.versions)
            .copied()
            .collect();
        let count = versions.len();
        versions.sort_unstable();
        versions.dedup();
        assert_eq!(versions.len(), count, "{code}");
    }
}

#[test]
fn errors_say_what_to_look_for() {
    let corrupt = RecordError::Corrupt {
        code: LogCode::new(0xB139),
        version: Version::Packet(124),
        need: 84,
        at: 8,
        have: 60,
    };
    let text = std::format!("{corrupt}");
    assert_eq!(text, "log 0xB139 v124: needs 84 bytes at offset 8, has 60");
    let version = Version::Sub { packet: 1, id: 8, version: 9 };
    let unsupported = RecordError::Unsupported { code: LogCode::new(0xB064), version, len: 100 };
    let text = std::format!("{unsupported}");
    assert_eq!(text, "log 0xB064 v1 sub-packet 8 v9: not described, 100 bytes");
    let version = Version::Message { packet: 15, number: 47 };
    let unsupported = RecordError::Unsupported { code: LteRrc::CODE, version, len: 29 };
    let text = std::format!("{unsupported}");
    assert_eq!(text, "log 0xB0C0 v15 message of kind 47: not described, 29 bytes");
}
