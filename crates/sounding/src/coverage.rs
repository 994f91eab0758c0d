//! The described records: codes, versions, fields, and their evidence.

use std::collections::BTreeMap;
use std::fmt;

use serde_json::{Value as Json, json};
use sounding_diag::LogCode;
use sounding_diag::layout::{Layout, Part};
use sounding_diag::record::{self, Evidence, Version};

/// One version of a record, or of one of its sub-packets.
struct Row {
    code: LogCode,
    /// `None` for a record that has no version and is always laid out so.
    version: Option<Version>,
    fields: usize,
    evidence: Evidence,
}

/// A table of the described versions, or the same as lines of JSON.
pub(crate) fn text(json: bool) -> String {
    let rows = rows();
    if json {
        return rows.iter().map(|row| format!("{}\n", row.json())).collect();
    }
    let mut text =
        format!("{:<6}  {:<22} {:>6}  {:<9}  name\n", "code", "version", "fields", "evidence");
    rows.iter().for_each(|row| text += &format!("{row}\n"));
    let fields: usize = rows.iter().map(|row| row.fields).sum();
    let codes = record::CODES.len();
    text += &format!("{codes} codes, {} versions of them, {fields} fields\n", rows.len());
    for (evidence, what) in [
        (Evidence::Capture, "a real capture holds it, and agrees with an independent reader"),
        (Evidence::Vector, "a published payload holds it"),
        (Evidence::Synthetic, "its public description alone"),
    ] {
        let count = rows.iter().filter(|row| row.evidence == evidence).count();
        text += &format!("{count:>5} {:<9}  {what}\n", word(evidence));
    }
    text + "\n" + &totals(&rows)
}

/// Message types, that is codes, of each system, by the best evidence for their versions.
fn totals(rows: &[Row]) -> String {
    let mut best = BTreeMap::<&str, BTreeMap<LogCode, Evidence>>::new();
    for row in rows {
        let of_code = best.entry(system(row.code)).or_default().entry(row.code);
        let evidence = of_code.or_insert(row.evidence);
        *evidence = row.evidence.min(*evidence);
    }
    let mut text = format!("{:<9} {:>13}  capture  vector  documents\n", "system", "message types");
    for (system, codes) in best {
        let count = |wanted| codes.values().filter(|evidence| **evidence == wanted).count();
        text += &format!(
            "{system:<9} {:>13}  {:>7}  {:>6}  {:>9}\n",
            codes.len(),
            count(Evidence::Capture),
            count(Evidence::Vector),
            count(Evidence::Synthetic)
        );
    }
    text
}

const fn system(code: LogCode) -> &'static str {
    match (code.equipment(), code.item()) {
        (0xB, 0x800..) => "NR",
        (0xB, _) => "LTE",
        (1, _) => "CDMA2000",
        (4, _) => "WCDMA",
        (5, _) => "GSM",
        (7, _) => "UMTS NAS",
        _ => "others",
    }
}

fn rows() -> Vec<Row> {
    let mut codes = record::CODES.to_vec();
    codes.sort_unstable();
    let layouts = |code| record::layouts(code).unwrap_or_default().iter();
    codes
        .into_iter()
        .flat_map(|code| layouts(code).flat_map(move |one| rows_of(code, one)))
        .collect()
}

fn rows_of(code: LogCode, layout: &'static Layout) -> Vec<Row> {
    let row = |version: Version, fields| Row {
        code,
        version: (!layout.versions.is_empty()).then_some(version),
        fields,
        evidence: record::evidence(code, version),
    };
    let versions = if layout.versions.is_empty() { &[0][..] } else { layout.versions };
    let mut rows = Vec::new();
    for &packet in versions {
        let known = rows.len();
        for sub in layout.sub_layouts() {
            let of = |&version| Version::Sub { packet, id: sub.id, version };
            rows.extend(sub.versions.iter().map(of).map(|version| row(version, fields(sub.parts))));
            if sub.versions.is_empty() {
                rows.push(row(Version::Kind { packet, id: sub.id }, fields(sub.parts)));
            }
        }
        if rows.len() == known {
            rows.push(row(Version::Packet(packet), fields(layout.parts)));
        }
    }
    rows
}

/// Counts the fields with a name. Parts without described fields, such as MAC's control elements,
/// are not counted.
fn fields(parts: &[Part]) -> usize {
    let of = |part: &Part| match part {
        Part::Block(block) => block.fields.iter().map(|group| group.len()).sum(),
        Part::List { parts, .. } | Part::Counted { parts, .. } => fields(parts),
        Part::SubPackets { known, .. } => known.iter().map(|sub| fields(sub.parts)).sum(),
        _ => 0,
    };
    parts.iter().map(of).sum()
}

const fn word(evidence: Evidence) -> &'static str {
    match evidence {
        Evidence::Capture => "capture",
        Evidence::Vector => "vector",
        Evidence::Synthetic => "documents",
    }
}

impl Row {
    fn json(&self) -> Json {
        json!({
            "code": self.code.to_string(),
            "name": self.code.name(),
            "version": self.version.map(|version| version.to_string()),
            "fields": self.fields,
            "evidence": word(self.evidence),
        })
    }
}

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let version = self.version.map_or("all".into(), |version| version.to_string());
        let (code, name) = (self.code.to_string(), self.code.name().unwrap_or("-"));
        let evidence = word(self.evidence);
        write!(f, "{code:<6}  {version:<22} {:>6}  {evidence:<9}  {name}", self.fields)
    }
}
