//! What is described at all: codes, versions, fields.

use serde_json::{Value as Json, json};
use sounding_diag::LogCode;
use sounding_diag::layout::{Layout, Part};
use sounding_diag::record::{self, Version};

struct Row {
    code: LogCode,
    versions: Vec<Version>,
    fields: usize,
}

/// A table of the described versions, those of one layout in one row, or the same as lines of JSON.
pub(crate) fn text(json: bool) -> String {
    let rows = rows();
    if json {
        return rows.iter().map(|row| format!("{}\n", row.json())).collect();
    }
    let mut text = format!("{:<8} {:>6}  {:<32} name\n", "code", "fields", "versions");
    for row in &rows {
        let versions: Vec<String> = row.versions.iter().map(ToString::to_string).collect();
        let versions = if versions.is_empty() { "all".into() } else { versions.join(" ") };
        let name = row.code.name().unwrap_or("-");
        text += &format!("{:<8} {:>6}  {versions:<32} {name}\n", row.code.to_string(), row.fields);
    }
    let codes = record::CODES.len();
    let versions: usize = rows.iter().map(|row| row.versions.len().max(1)).sum();
    let fields: usize = rows.iter().map(|row| row.fields * row.versions.len().max(1)).sum();
    text += &format!("{codes} codes, {versions} versions of them, {fields} fields\n");
    text
}

fn rows() -> Vec<Row> {
    let mut codes = record::CODES.to_vec();
    codes.sort_unstable();
    let rows = codes.into_iter().flat_map(|code| {
        let layouts = record::layouts(code).unwrap_or_default();
        layouts.iter().map(move |layout| Row {
            code,
            versions: layout.versions.iter().map(|&version| Version::Packet(version)).collect(),
            fields: fields_of(layout),
        })
    });
    rows.collect()
}

fn fields_of(layout: &Layout) -> usize {
    fields(layout.parts)
}

/// Fields by name; what a part finds in the bytes alone, such as MAC's control elements, has no number.
fn fields(parts: &[Part]) -> usize {
    let of = |part: &Part| match part {
        Part::Block(block) => block.fields.iter().map(|group| group.len()).sum(),
        Part::List { parts, .. } => fields(parts),
        Part::SubPackets { known, .. } => known.iter().map(|sub| fields(sub.parts)).sum(),
        _ => 0,
    };
    parts.iter().map(of).sum()
}

impl Row {
    fn json(&self) -> Json {
        let versions: Vec<String> = self.versions.iter().map(ToString::to_string).collect();
        json!({
            "code": self.code.to_string(), "name": self.code.name(), "versions": versions,
            "fields": self.fields,
        })
    }
}
