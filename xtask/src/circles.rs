//! Modules of one parent must not use each other in circles, so that a reader can read each module
//! before its users.
//!
//! A child may use items of its parent, and a parent items of its children. Tests may use
//! everything.

mod graph;
mod names;
mod tokens;
mod tree;

#[cfg(test)]
mod tests;

use std::fs;
use std::path::Path;

use cargo_metadata::{Metadata, TargetKind};

use graph::{Circle, circles};
use tree::Tree;

/// A circle that is there and is to go: the crate, the parent of its modules, and their names in
/// order.
type Known<'a> = (&'a str, &'a str, &'a [&'a str]);

const KNOWN: &[Known<'_>] = &[];

/// The result of the check.
pub(crate) struct Findings {
    /// Circles that are not listed, and listed circles that no longer exist.
    pub(crate) violations: Vec<String>,
    /// Listed circles that are still there.
    pub(crate) known: Vec<String>,
}

pub(crate) fn find(metadata: &Metadata) -> Findings {
    let root = metadata.workspace_root.as_std_path();
    let load = |file: &Path| fs::read_to_string(root.join(file)).map_err(|error| error.to_string());
    let mut found = Vec::new();
    let mut unread = Vec::new();
    for package in metadata.workspace_packages() {
        let shipped = package.targets.iter().filter(|target| {
            let is = |kind| target.kind.contains(kind);
            ![TargetKind::Test, TargetKind::Bench, TargetKind::Example, TargetKind::CustomBuild]
                .iter()
                .any(is)
        });
        for target in shipped {
            let file = target.src_path.as_std_path();
            let tree = Tree::read(file.strip_prefix(root).unwrap_or(file), &load);
            found.extend(
                circles(&tree).into_iter().map(|circle| (package.name.to_string(), circle)),
            );
            unread.extend(tree.unread);
        }
    }
    let mut findings = judge(&found, KNOWN);
    findings.violations.extend(unread);
    findings
}

/// Compares the circles of all crates with the list.
fn judge(found: &[(String, Circle)], known: &[Known<'_>]) -> Findings {
    let is = |(name, circle): &(String, Circle), known: &Known<'_>| {
        (name.as_str(), circle.parent.as_str()) == (known.0, known.1) && circle.members == known.2
    };
    let mut findings = Findings { violations: Vec::new(), known: Vec::new() };
    for entry in found {
        let (name, circle) = entry;
        let title = format!("{name}: {} {{{}}}", circle.parent, circle.members.join(", "));
        if known.iter().any(|known| is(entry, known)) {
            findings.known.push(title);
            continue;
        }
        findings.violations.push(format!("{title} use each other in a circle:"));
        findings.violations.extend(
            circle
                .uses
                .iter()
                .map(|(from, to, (file, line))| format!("    {from} uses {to}: {file}:{line}")),
        );
    }
    for listed in known.iter().filter(|listed| !found.iter().any(|entry| is(entry, listed))) {
        let (name, parent, members) = listed;
        findings.violations.push(format!(
            "{name}: {parent} {{{}}} is no circle any more: take it off the list in xtask/src/circles.rs",
            members.join(", ")
        ));
    }
    findings
}
