use std::path::Path;

use super::graph::{Circle, circles};
use super::tree::Tree;
use super::{Known, judge};

/// The circles of a crate of these files.
fn circles_of(files: &[(&str, &str)]) -> Vec<Circle> {
    let load = |path: &Path| {
        let file = files.iter().find(|(name, _)| Path::new(name) == path);
        file.map(|(_, text)| (*text).to_owned()).ok_or_else(|| "no such file".to_owned())
    };
    let tree = Tree::read(Path::new("src/lib.rs"), &load);
    assert_eq!(tree.unread, Vec::<String>::new());
    circles(&tree)
}

/// The members of each circle, by parent.
fn members_of(files: &[(&str, &str)]) -> Vec<(String, String)> {
    let named = |circle: Circle| (circle.parent, circle.members.join(" "));
    circles_of(files).into_iter().map(named).collect()
}

fn one(parent: &str, members: &str) -> Vec<(String, String)> {
    vec![(parent.to_owned(), members.to_owned())]
}

#[test]
fn two_modules_that_use_each_other_are_a_circle_with_its_files_and_lines() {
    let found = circles_of(&[
        ("src/lib.rs", "mod a;\nmod b;\nmod c;"),
        ("src/a.rs", "\nuse crate::b::B;\npub struct A(B);"),
        ("src/b.rs", "pub struct B;\n\npub fn b(a: &super::a::A) {}"),
        ("src/c.rs", "use crate::a::A;\nuse crate::b::B;"),
    ]);
    let uses = |from: &str, to: &str, file: &str, line| {
        (from.to_owned(), to.to_owned(), (file.to_owned(), line))
    };
    assert_eq!(
        found,
        [Circle {
            parent: "crate".into(),
            members: vec!["a".into(), "b".into()],
            uses: vec![uses("a", "b", "src/a.rs", 2), uses("b", "a", "src/b.rs", 3)],
        }]
    );
}

#[test]
fn longer_circles_are_found_below_any_parent() {
    let found = members_of(&[
        ("src/lib.rs", "mod top;"),
        ("src/top.rs", "mod a; mod b; mod c; mod d;"),
        ("src/top/a.rs", "use super::b::B; pub struct A;"),
        ("src/top/b.rs", "use crate::top::c; pub struct B;"),
        ("src/top/c.rs", "pub fn c(a: super::a::A, d: super::d::D) {}"),
        ("src/top/d.rs", "pub struct D;"),
    ]);
    assert_eq!(found, one("crate::top", "a b c"));
}

#[test]
fn a_parent_and_its_children_may_use_each_other() {
    let found = members_of(&[
        ("src/lib.rs", "mod top; use top::Top;"),
        ("src/top.rs", "mod a; use a::A; pub struct Top(A);"),
        ("src/top/a.rs", "use super::Top; use crate::top; pub struct A;"),
    ]);
    assert_eq!(found, []);
}

#[test]
fn children_count_for_their_parents() {
    let found = members_of(&[
        ("src/lib.rs", "mod a; mod b;"),
        ("src/a/mod.rs", "mod deep; pub struct A;"),
        ("src/a/deep.rs", "use crate::b::inner::B;"),
        ("src/b.rs", "pub mod inner { use crate::a::A; pub struct B; }"),
    ]);
    assert_eq!(found, one("crate", "a b"));
}

#[test]
fn tests_may_use_everything() {
    let found = members_of(&[
        ("src/lib.rs", "mod a; mod b;"),
        (
            "src/a.rs",
            "pub struct A; #[cfg(test)] mod tests; #[cfg(test)] use crate::b::B;
             impl A { #[cfg(test)] fn b() -> crate::b::B { crate::b::B } }",
        ),
        ("src/a/tests.rs", "use crate::b::B;"),
        ("src/b.rs", "use crate::a::A; pub struct B;"),
    ]);
    assert_eq!(found, []);
}

#[test]
fn a_name_counts_where_it_is_defined_and_not_where_it_is_exported() {
    let through_root = members_of(&[
        ("src/lib.rs", "mod a; mod b; pub use a::A; pub use b::*;"),
        ("src/a.rs", "use crate::B; pub struct A;"),
        ("src/b.rs", "pub struct B; fn b() -> Option<crate::A> { None }"),
    ]);
    assert_eq!(through_root, one("crate", "a b"));
    let through_glob = members_of(&[
        ("src/lib.rs", "mod a; mod b; use b::B;"),
        ("src/a.rs", "use super::*; pub struct A(B);"),
        ("src/b.rs", "pub struct B(crate::a::A);"),
    ]);
    assert_eq!(through_glob, one("crate", "a b"));
}

#[test]
fn paths_in_macros_and_attributes_count() {
    let found = members_of(&[
        ("src/lib.rs", "mod a; mod b;"),
        (
            "src/a.rs",
            "pub fn read() {}
             struct S { #[serde(deserialize_with = \"crate::b::read\")] field: u8 }",
        ),
        ("src/b.rs", "pub fn read() { assert!(super::a::read() == (), \"{}\", 1); }"),
    ]);
    assert_eq!(found, one("crate", "a b"));
}

#[test]
fn an_expression_in_any_attribute_counts() {
    for attribute in [
        "#[error(\"{most} at most\", most = super::b::MOST)]",
        "#[other(when(crate::b::MOST > 1))]",
        "#[other(with(\"crate::b::read\"))]",
    ] {
        let a = format!("pub const A: u8 = 1; enum E {{ {attribute} Long }}");
        let found = members_of(&[
            ("src/lib.rs", "mod a; mod b;"),
            ("src/a.rs", &a),
            ("src/b.rs", "pub const MOST: u8 = super::a::A; pub fn read() {}"),
        ]);
        assert_eq!(found, one("crate", "a b"), "{attribute}");
    }
}

#[test]
fn other_crates_and_local_names_are_no_modules() {
    let found = members_of(&[
        ("src/lib.rs", "mod a; mod b;"),
        ("src/a.rs", "use ::b::B; use core::fmt; pub fn a(b: u8) -> u8 { b }"),
        ("src/b.rs", "use crate::a; fn b() -> u8 { a::a(1) }"),
    ]);
    assert_eq!(found, []);
}

#[test]
fn a_file_elsewhere_is_found_by_its_path() {
    let found = members_of(&[
        ("src/lib.rs", "#[path = \"other/a.rs\"] mod a; mod b;"),
        ("src/other/a.rs", "use crate::b::B; pub struct A;"),
        ("src/b.rs", "use crate::a::A; pub struct B;"),
    ]);
    assert_eq!(found, one("crate", "a b"));
}

#[test]
fn circles_that_are_new_and_listed_ones_that_are_gone_are_violations() {
    let circle = |members: &[&str]| Circle {
        parent: "crate".into(),
        members: members.iter().map(|name| (*name).to_owned()).collect(),
        uses: vec![("a".into(), "b".into(), ("src/a.rs".into(), 2))],
    };
    let found = [("one".to_owned(), circle(&["a", "b"])), ("two".to_owned(), circle(&["a", "c"]))];
    let known: [Known<'_>; 2] = [("one", "crate", &["a", "b"]), ("one", "crate", &["c", "d"])];
    let findings = judge(&found, &known);
    assert_eq!(findings.known, ["one: crate {a, b}"]);
    assert_eq!(
        findings.violations,
        [
            "two: crate {a, c} use each other in a circle:",
            "    a uses b: src/a.rs:2",
            "one: crate {c, d} is no circle any more: take it off the list in xtask/src/circles.rs",
        ]
    );
}
