//! The list of layouts that were read again from their sources holds each version that has
//! documents only, once.

use std::collections::{BTreeMap, BTreeSet};

use sounding_diag::LogCode;
use sounding_diag::layout::Layout;
use sounding_diag::record::{self, Evidence, Version};
use sounding_kpi::registry;

const PAGE: &str = include_str!("../../../docs/reference/layouts-read.md");

/// One row of the page.
struct Row {
    code: u16,
    kpi: bool,
    versions: Vec<String>,
    source: String,
    result: String,
}

fn rows() -> Vec<Row> {
    let rows = PAGE.lines().filter_map(|line| {
        let cells: Vec<_> = line.trim_matches('|').split('|').map(str::trim).collect();
        let [code, kpi, versions, source, _, result] = cells[..] else { return None };
        let code = u16::from_str_radix(code.strip_prefix("0x")?, 16).ok()?;
        assert!(["yes", "no"].contains(&kpi), "{line}");
        let versions = versions.split(", ").map(str::to_owned).collect();
        let (source, result) = (source.to_owned(), result.to_owned());
        Some(Row { code, kpi: kpi == "yes", versions, source, result })
    });
    rows.collect()
}

/// Every described version in `layout`, of the record or of its sub-packets.
fn versions(layout: &'static Layout) -> Vec<Version> {
    let packets = if layout.versions.is_empty() { &[0][..] } else { layout.versions };
    let subs: Vec<_> = layout.sub_layouts().collect();
    let mut found = Vec::new();
    for &packet in packets {
        if subs.is_empty() {
            found.push(Version::Packet(packet));
        }
        for sub in &subs {
            let own = sub.versions.iter();
            found.extend(own.map(|&version| Version::Sub { packet, id: sub.id, version }));
            if sub.versions.is_empty() {
                found.push(Version::Kind { packet, id: sub.id });
            }
        }
    }
    found
}

/// A version as the page writes it.
fn written(version: Version) -> String {
    match version {
        Version::Sub { id, version, .. } => format!("{id} v{version}"),
        Version::Kind { id, .. } => id.to_string(),
        packet => packet.to_string(),
    }
}

/// Every version that has documents only.
fn unmet() -> BTreeSet<(u16, String)> {
    let mut unmet = BTreeSet::new();
    for &code in record::CODES {
        for version in record::layouts(code).into_iter().flatten().flat_map(versions) {
            if record::evidence(code, version) == Evidence::Synthetic {
                unmet.insert((code.number(), written(version)));
            }
        }
    }
    unmet
}

#[test]
fn every_version_without_a_capture_has_one_row() {
    let mut listed: BTreeMap<(u16, String), usize> = BTreeMap::new();
    for row in rows() {
        for version in row.versions {
            *listed.entry((row.code, version)).or_default() += 1;
        }
    }
    let named = |(code, version): &(u16, String)| format!("{} v{version}", LogCode::new(*code));
    let twice: Vec<_> =
        listed.iter().filter(|(_, count)| **count > 1).map(|(key, _)| named(key)).collect();
    let listed: BTreeSet<_> = listed.into_keys().collect();
    let unmet = unmet();
    let missing: Vec<_> = unmet.difference(&listed).map(named).collect();
    let needless: Vec<_> = listed.difference(&unmet).map(named).collect();
    assert!(missing.is_empty(), "without a row: {missing:?}");
    assert!(needless.is_empty(), "have a capture or vector, or are not described: {needless:?}");
    assert!(twice.is_empty(), "with several rows: {twice:?}");
}

#[test]
fn a_row_says_whether_a_kpi_reads_the_record() {
    let read: BTreeSet<u16> = registry::all().map(|kpi| kpi.code.number()).collect();
    for row in rows() {
        assert_eq!(row.kpi, read.contains(&row.code), "0x{:04X}", row.code);
    }
}

#[test]
fn only_a_row_with_a_source_says_that_it_was_compared() {
    for row in rows() {
        let compared = !row.result.starts_with("not ");
        assert!(!row.result.is_empty(), "0x{:04X}", row.code);
        assert!(!compared || row.source.starts_with(['M', 'C', 'F', 'S']), "0x{:04X}", row.code);
    }
}
