//! `ARCHITECTURE.md` is a map: its crates and their dependencies agree with Cargo, and the places
//! it names exist.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use cargo_metadata::{DependencyKind, Metadata};

const MAP: &str = "ARCHITECTURE.md";
const PREFIX: &str = "sounding-";

type Graph = BTreeMap<String, BTreeSet<String>>;

pub(crate) fn violations(metadata: &Metadata) -> Vec<String> {
    let root = metadata.workspace_root.as_std_path();
    let text = match fs::read_to_string(root.join(MAP)) {
        Ok(text) => text,
        Err(error) => return vec![format!("{MAP}: {error}")],
    };
    let mut found = compare(&drawn(&text), &reduced(&graph(metadata)));
    let places = text.split('`').skip(1).step_by(2).filter(|place| is_place(place));
    let gone = places.filter(|place| !root.join(place).exists());
    found.extend(gone.map(|place| format!("{MAP} names {place}, which does not exist")));
    found
}

fn is_place(word: &str) -> bool {
    let folder = word.split('/').next().unwrap_or_default();
    word.contains('/')
        && ["crates", "docs", "scripts", "python", "papers", "dist", "examples"].contains(&folder)
}

/// The shipped dependencies of the workspace's crates, by their short names.
fn graph(metadata: &Metadata) -> Graph {
    let short = |name: &str| name.strip_prefix(PREFIX).unwrap_or(name).to_owned();
    let members: BTreeSet<String> =
        metadata.workspace_packages().iter().map(|package| short(&package.name)).collect();
    let ships = |package: &cargo_metadata::Package| {
        let shipped = package.dependencies.iter().filter(|one| one.kind == DependencyKind::Normal);
        let names = shipped.map(|one| short(&one.name)).filter(|name| members.contains(name));
        (short(&package.name), names.collect())
    };
    metadata.workspace_packages().into_iter().map(ships).collect()
}

fn reach(graph: &Graph, from: &str) -> BTreeSet<String> {
    let mut all = BTreeSet::new();
    let mut open = vec![from.to_owned()];
    while let Some(one) = open.pop() {
        for next in graph.get(&one).into_iter().flatten() {
            if all.insert(next.clone()) {
                open.push(next.clone());
            }
        }
    }
    all
}

/// The graph without arrows that another path already implies.
fn reduced(graph: &Graph) -> Graph {
    let direct = |all: &BTreeSet<String>| {
        let through: BTreeSet<String> = all.iter().flat_map(|one| reach(graph, one)).collect();
        all.difference(&through).cloned().collect()
    };
    graph.iter().map(|(name, all)| (name.clone(), direct(all))).collect()
}

/// The table of crates: its first column and its third.
fn drawn(text: &str) -> Graph {
    let table = text.lines().skip_while(|line| !line.starts_with("| crate |")).skip(2);
    let rows = table.take_while(|line| line.starts_with('|'));
    let names = |cell: &str| cell.split('`').skip(1).step_by(2).map(str::to_owned).collect();
    rows.filter_map(|row| {
        let cells: Vec<&str> = row.split(" | ").collect();
        let name = cells.first()?.split('`').nth(1)?.to_owned();
        Some((name, cells.get(2).map(|cell| names(cell)).unwrap_or_default()))
    })
    .collect()
}

fn compare(drawn: &Graph, real: &Graph) -> Vec<String> {
    let listed = |all: &BTreeSet<String>| all.iter().cloned().collect::<Vec<_>>().join(", ");
    let mut found = Vec::new();
    for (name, stands_on) in real {
        match drawn.get(name) {
            None => found.push(format!("{MAP} does not list {name}")),
            Some(says) if says != stands_on => found.push(format!(
                "{MAP}: {name} stands on {{{}}}, and Cargo has {{{}}}",
                listed(says),
                listed(stands_on)
            )),
            Some(_) => {}
        }
    }
    let gone = drawn.keys().filter(|name| !real.contains_key(*name));
    found.extend(gone.map(|name| format!("{MAP} lists {name}, which is no crate")));
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn graph_of(rows: &[(&str, &[&str])]) -> Graph {
        let set = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
        rows.iter().map(|(name, on)| ((*name).to_owned(), set(on))).collect()
    }

    #[test]
    fn what_is_reached_through_another_is_left_out() {
        let all = graph_of(&[("a", &[]), ("b", &["a"]), ("c", &["a", "b"])]);
        assert_eq!(reduced(&all), graph_of(&[("a", &[]), ("b", &["a"]), ("c", &["b"])]));
    }

    #[test]
    fn a_table_is_read_by_its_columns() {
        let text = "| crate | what | stands on | I/O |\n|---|---|---|---|\n| `a` | `Rate` | - | no |\n\
                    | `b` | more | `a` | no |\n\nother\n";
        assert_eq!(drawn(text), graph_of(&[("a", &[]), ("b", &["a"])]));
    }

    #[test]
    fn a_wrong_row_a_missing_one_and_one_too_many_are_named() {
        let real = graph_of(&[("a", &[]), ("b", &["a"])]);
        assert_eq!(compare(&real, &real), Vec::<String>::new());
        let wrong = graph_of(&[("a", &["b"]), ("c", &[])]);
        let found = compare(&wrong, &real).join("\n");
        for part in ["a stands on {b}", "does not list b", "lists c"] {
            assert!(found.contains(part), "{found}");
        }
    }

    #[test]
    fn places_differ_from_other_words() {
        for (word, is) in [("crates/cc/src", true), ("foo.rs", false), ("and/or", false)] {
            assert_eq!(is_place(word), is, "{word}");
        }
    }
}
