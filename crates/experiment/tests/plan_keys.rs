//! docs/reference/plans.md has every key of `[cell]`, `[[links]]` and `[wire]`, with its default.
//! The keys are those that the plan's own types name when they refuse a key.

#![allow(clippy::unwrap_used, reason = "a test whose set-up fails has to fail")]

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use sounding_experiment::plan::Text;

const PLAN: &str = r#"
duration = "1s"
[cell]
carriers = [{}]
devices = [{}]
[[flows]]
direction = "up"
"#;

/// A key that no table has.
const STRANGER: &str = "zzz";

/// A step from `[cell]` to a value in it.
#[derive(Clone, Debug)]
enum Step {
    Key(String),
    /// A list with one item.
    Item,
    /// The table has this kind.
    Kind(String),
}

/// A table of keys: the way to it.
#[derive(Clone, Debug, Default)]
struct Way(Vec<Step>);

impl Way {
    fn to(&self, steps: &[Step]) -> Self {
        Self([&self.0[..], steps].concat())
    }

    /// Its name in the document. The kind of a table is in the name of that table alone.
    fn name(&self) -> String {
        let mut name = String::from("cell");
        for (at, step) in self.0.iter().enumerate() {
            match step {
                Step::Key(key) => name += &format!(".{key}"),
                Step::Kind(kind) if at + 1 == self.0.len() => {
                    name += &format!(" = {{ kind = \"{kind}\" }}");
                }
                Step::Item | Step::Kind(_) => {}
            }
        }
        name
    }

    /// A plan in which this place has this value.
    fn plan(&self, value: &str) -> Text {
        let [Step::Key(first), inner @ ..] = &self.0[..] else { panic!("{self:?}") };
        let mut text = value.to_owned();
        for step in inner.iter().rev() {
            text = match step {
                Step::Key(key) => format!("{{ {key} = {text} }}"),
                Step::Item => format!("[{text}]"),
                Step::Kind(kind) => {
                    let rest = text.strip_prefix('{').unwrap().trim_start();
                    let comma = if rest == "}" { "" } else { "," };
                    format!("{{ kind = \"{kind}\"{comma} {rest}")
                }
            };
        }
        let mut plan = Text::new("plan.toml", PLAN, PathBuf::new());
        plan.set(&format!("cell.{first}={text}")).unwrap();
        plan
    }

    /// The error of a plan in which this place has this value; empty if it has none.
    fn refusal(&self, value: &str) -> String {
        self.plan(value).runs().err().map_or_else(String::new, |error| error.message)
    }

    fn stranger(&self) -> String {
        self.refusal(&format!("{{ {STRANGER} = 1 }}"))
    }
}

/// The words that an error offers instead of the stranger.
fn offered(message: &str, noun: &str) -> Option<Vec<String>> {
    // The words of TOML's own reader, for the table of a variant.
    let of_variant = format!("unexpected keys in table: {STRANGER}, available keys: ");
    if let (Some(keys), "field") = (message.strip_prefix(&of_variant), noun) {
        return Some(keys.split(", ").map(str::to_owned).collect());
    }
    let rest = message.strip_prefix(&format!("unknown {noun} `{STRANGER}`, expected "))?;
    Some(rest.split('`').skip(1).step_by(2).map(str::to_owned).collect())
}

/// What the types have.
#[derive(Debug, Default)]
struct Found {
    /// Keys of each table.
    tables: BTreeMap<String, BTreeSet<String>>,
    /// Words that a key takes, by the table and key.
    words: Vec<(String, String, String)>,
}

fn walk(at: &Way, keys: &[String], found: &mut Found) {
    let known: BTreeSet<String> = keys.iter().cloned().collect();
    let is_new = found.tables.insert(at.name(), known).is_none();
    assert!(is_new || at.name().contains("channel."), "{} twice", at.name());
    for key in keys {
        let here = at.to(&[Step::Key(key.clone())]);
        // A table can also be given as a list of its values, and then it is no list of tables.
        if !look(&here, at, key, found) {
            look(&here.to(&[Step::Item]), at, key, found);
        }
    }
}

/// Whether the place takes a table or words.
fn look(place: &Way, table: &Way, key: &str, found: &mut Found) -> bool {
    let refusal = place.stranger();
    if let Some(keys) = offered(&refusal, "field") {
        walk(place, &keys, found);
        return true;
    }
    if refusal.starts_with("missing field `kind`") {
        let kinds = offered(&place.refusal(&format!("{{ kind = \"{STRANGER}\" }}")), "variant");
        for kind in kinds.unwrap() {
            found.words.push((table.name(), key.into(), kind.clone()));
            let place = place.to(&[Step::Kind(kind)]);
            if let Some(keys) = offered(&place.stranger(), "field") {
                walk(&place, &keys, found);
            }
        }
        return true;
    }
    let words = offered(&refusal, "variant").unwrap_or_default();
    let has_words = !words.is_empty();
    for word in words {
        found.words.push((table.name(), key.into(), word.clone()));
        let place = place.to(&[Step::Key(word)]);
        if let Some(keys) = offered(&place.stranger(), "field") {
            walk(&place, &keys, found);
        }
    }
    has_words
}

fn found() -> Found {
    let mut found = Found::default();
    let mut plan = Text::new("plan.toml", PLAN, PathBuf::new());
    plan.set(&format!("cell.{STRANGER}=1")).unwrap();
    let keys = offered(&plan.runs().unwrap_err().message, "field").unwrap();
    walk(&Way::default(), &keys, &mut found);
    found
}

/// A row of the document.
#[derive(Clone, Debug)]
struct Row {
    default: String,
    about: String,
}

/// Tables of the document, each under the names of its paragraph.
fn documented() -> BTreeMap<String, BTreeMap<String, Row>> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/plans.md");
    let document = std::fs::read_to_string(path).unwrap();
    let (_, section) = document.split_once("## The keys of `[cell]`\n").unwrap();
    let section = section.split("\n## ").next().unwrap();
    let mut tables = BTreeMap::new();
    let mut names = Vec::new();
    for paragraph in section.split("\n\n").map(str::trim) {
        if paragraph.starts_with("In `cell") {
            let words = paragraph.split('`').skip(1).step_by(2);
            names = words.filter(|word| word.starts_with("cell")).map(str::to_owned).collect();
        }
        if !paragraph.starts_with("| key |") {
            continue;
        }
        let rows: BTreeMap<String, Row> = paragraph.lines().skip(2).map(row).collect();
        for name in std::mem::take(&mut names) {
            assert!(tables.insert(name.clone(), rows.clone()).is_none(), "{name} stands twice");
        }
    }
    tables
}

fn row(line: &str) -> (String, Row) {
    let cells: Vec<&str> = line.trim_matches('|').split(" | ").map(str::trim).collect();
    let [key, default, about] = cells[..] else { panic!("{line}") };
    let key = key.trim_matches('`').to_owned();
    (key, Row { default: default.to_owned(), about: about.to_owned() })
}

#[test]
fn every_key_of_a_cell_is_in_the_reference_and_every_row_is_a_key() {
    let found = found();
    let documented = documented();
    let keys: BTreeMap<String, BTreeSet<String>> = documented
        .iter()
        .map(|(name, rows)| (name.clone(), rows.keys().cloned().collect()))
        .collect();
    for (name, types) in &found.tables {
        assert_eq!(keys.get(name), Some(types), "docs/reference/plans.md, table of {name}");
    }
    for name in keys.keys() {
        assert!(found.tables.contains_key(name), "no plan has the table {name}");
    }
    assert!(found.tables.len() > 35, "{:?}", found.tables.keys());
    for (table, key, word) in &found.words {
        let row = &documented[table][key];
        let is_there = [&row.default, &row.about].iter().any(|text| text.contains(word));
        assert!(is_there, "docs/reference/plans.md, {table}.{key}: it does not name `{word}`");
    }
    assert!(found.words.len() > 30, "{:?}", found.words);
}

/// The plans of a text, in full.
fn contents(plan: &Text) -> Option<String> {
    let runs = plan.runs().ok()?;
    Some(format!("{:?}", runs.iter().map(|run| &run.plan).collect::<Vec<_>>()))
}

#[test]
fn a_documented_default_makes_the_same_plan_as_its_absence() {
    let mut compared = 0;
    for (name, rows) in documented() {
        let path: Vec<Step> = name
            .split('.')
            .skip(1)
            .flat_map(|key| {
                let is_list = ["carriers", "devices"].contains(&key);
                let steps = [Step::Key(key.to_owned()), Step::Item];
                steps.into_iter().take(if is_list { 2 } else { 1 })
            })
            .collect();
        // Tables of one kind have required keys, and `[cell]` itself too.
        let Some(without) = (!path.is_empty() && !name.contains("kind"))
            .then(|| contents(&Way(path.clone()).plan("{}")))
            .flatten()
        else {
            continue;
        };
        for (key, Row { default, .. }) in rows {
            let Some(default) = default.strip_prefix('`').and_then(|text| text.strip_suffix('`'))
            else {
                continue;
            };
            let with = contents(&Way(path.clone()).plan(&format!("{{ {key} = {default} }}")));
            assert_eq!(with.as_ref(), Some(&without), "{name}.{key} = {default}");
            compared += 1;
        }
    }
    assert!(compared > 100, "{compared}");
}

const LINKS: &str = r#"
duration = "1s"
[[links]]
up = "12Mbit"
down = "12Mbit"
[wire]
[[flows]]
direction = "up"
"#;

/// The plan of links with a key of a table.
fn links_with(table: &str, key: &str, value: &str) -> Text {
    let mut plan = Text::new("plan.toml", LINKS, PathBuf::new());
    let place = if table == "links" { "links.0" } else { table };
    plan.set(&format!("{place}.{key}={value}")).unwrap();
    plan
}

/// Keys and defaults of a table in the document.
fn documented_links(table: &str) -> BTreeMap<String, Row> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/plans.md");
    let document = std::fs::read_to_string(path).unwrap();
    let (_, rest) = document.split_once(&format!("\nIn `{table}`:\n\n")).unwrap();
    rest.split("\n\n").next().unwrap().lines().skip(2).map(row).collect()
}

#[test]
fn every_key_of_links_and_of_the_wire_is_in_the_reference() {
    for table in ["links", "wire"] {
        let error = links_with(table, STRANGER, "1").runs().unwrap_err();
        let keys: BTreeSet<String> =
            offered(&error.message, "field").unwrap().into_iter().collect();
        assert!(keys.len() >= 11, "{keys:?}");
        let rows: BTreeSet<String> = documented_links(table).into_keys().collect();
        assert_eq!(rows, keys, "docs/reference/plans.md, table of {table}");
    }
}

#[test]
fn a_default_of_links_and_of_the_wire_makes_the_same_plan() {
    let mut compared = 0;
    let without = contents(&Text::new("plan.toml", LINKS, PathBuf::new()));
    for table in ["links", "wire"] {
        for (key, Row { default, .. }) in documented_links(table) {
            let Some(default) = default.strip_prefix('`').and_then(|text| text.strip_suffix('`'))
            else {
                continue;
            };
            assert_eq!(contents(&links_with(table, &key, default)), without, "{table}.{key}");
            compared += 1;
        }
    }
    assert!(compared >= 8, "{compared}");
}
