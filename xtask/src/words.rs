//! Text that has no place in a project that describes only itself: paths of one machine, hosts of
//! package registries, and marks of unfinished work.

use std::fs;
use std::process::Command;

use cargo_metadata::Metadata;

/// Spelt in two halves, so that this file does not find itself.
const UNWANTED: &[(&str, &str)] = &[
    ("/wo", "rk/"),
    ("/ro", "ot/"),
    ("crates", ".io/"),
    ("static.crates", ".io"),
    ("pypi", ".org"),
    ("registry.npmjs", ".org"),
    ("deb.debian", ".org"),
    ("TO", "DO"),
    ("FIX", "ME"),
    ("todo", "!("),
];

pub(crate) fn violations(metadata: &Metadata) -> Vec<String> {
    let root = &metadata.workspace_root;
    let listed = Command::new("git").args(["ls-files"]).current_dir(root).output();
    let Ok(listed) = listed else {
        return vec!["git ls-files does not run".into()];
    };
    let mut found = Vec::new();
    for path in String::from_utf8_lossy(&listed.stdout).lines() {
        if path.ends_with("Cargo.lock") {
            continue;
        }
        let Ok(text) = fs::read_to_string(root.join(path)) else { continue };
        for (number, line) in text.lines().enumerate() {
            for (head, tail) in UNWANTED {
                let word = format!("{head}{tail}");
                if line.contains(&word) {
                    found.push(format!("{path}:{}: says {word}", number + 1));
                }
            }
        }
    }
    found
}
