//! Code is in the same plain words as the documents: comments, strings, help and the names of tests.

use std::collections::BTreeMap;
use std::fs;
use std::process::Command;

use cargo_metadata::Metadata;

use crate::prose::{PHRASES, has};

/// What `git ls-files` lists as text that a person reads beside code.
const FILES: &[&str] = &[
    "*.rs",
    "*.c",
    "*.cc",
    "*.h",
    "*.py",
    "*.pyi",
    "*.sh",
    "*.toml",
    "*.js",
    "*.html",
    "*.service",
    "Makefile",
    "scripts/*",
    "dist/*",
    ".ci/*",
    ".gitignore",
];

/// Where a phrase has to stand: the file, and words of the line.
const ALLOWED: &[(&str, &str)] = &[("xtask/src/prose.rs", "told apart")];

/// Parts that still have so many lines in other words. No more are let in, and a part that has fewer has its number lowered here.
const REMAINING: &[(&str, usize)] = &[
    ("crates/board", 15),
    ("crates/bpf", 55),
    ("crates/cc", 45),
    ("crates/diag", 45),
    ("crates/emu", 4),
    ("crates/experiment", 30),
    ("crates/export", 12),
    ("crates/host", 1),
    ("crates/kpi", 3),
    ("crates/lab", 63),
    ("crates/libod", 7),
    ("crates/modem", 31),
    ("crates/nas", 4),
    ("crates/phy", 1),
    ("crates/quic", 26),
    ("crates/report", 26),
    ("crates/rrc", 6),
    ("crates/sounding", 118),
    ("crates/testbed", 12),
    ("crates/testdata", 3),
    ("crates/trace", 2),
    ("examples", 2),
    ("fuzz", 1),
    ("papers", 3),
    ("python", 19),
    ("scripts", 2),
];

pub(crate) fn violations(metadata: &Metadata) -> Vec<String> {
    let root = &metadata.workspace_root;
    let listed = Command::new("git").arg("ls-files").args(FILES).current_dir(root).output();
    let Ok(listed) = listed else {
        return vec!["git ls-files does not run".into()];
    };
    let mut found = Vec::new();
    let mut counts = BTreeMap::new();
    for path in String::from_utf8_lossy(&listed.stdout).lines() {
        let Ok(text) = fs::read_to_string(root.join(path)) else { continue };
        let faults = faults(path, &text);
        if !faults.is_empty() {
            *counts.entry(part(path)).or_insert(0) += faults.len();
        }
        found.extend(faults);
    }
    let excused = |fault: &String| REMAINING.iter().any(|(of, _)| part(fault) == *of);
    found.retain(|fault| !excused(fault));
    for &(of, remaining) in REMAINING {
        let count = counts.get(of).copied().unwrap_or(0);
        if count != remaining {
            found
                .push(format!("{of}: {count} lines in other words, and REMAINING has {remaining}"));
        }
    }
    found
}

/// The crate, or the folder, that a file belongs to.
fn part(path: &str) -> String {
    let folders = if path.starts_with("crates/") { 2 } else { 1 };
    path.split('/').take(folders).collect::<Vec<_>>().join("/")
}

fn faults(path: &str, text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let lines: Vec<String> = text.lines().map(|line| plain(path, line)).collect();
    for (at, line) in lines.iter().enumerate() {
        let allowed = |(of, part): &(&str, &str)| *of == path && line.contains(part);
        if ALLOWED.iter().any(allowed) {
            continue;
        }
        // A phrase may begin at the end of a line.
        let next = lines.get(at + 1).and_then(|line| line.split_whitespace().next()).unwrap_or("");
        let joined = format!("{line} {next}");
        for (head, tail) in PHRASES {
            let phrase = format!("{head}{tail}");
            if has(&joined, &phrase) && !has(next, &phrase) {
                found.push(format!("{path}:{}: says {phrase:?}", at + 1));
            }
        }
    }
    found
}

/// A line in lower case without the marks of comments; the words of a test's name are apart.
fn plain(path: &str, line: &str) -> String {
    let line = line.trim().trim_end_matches('\\').trim_end().to_lowercase();
    let text = line.trim_start_matches(['/', '!', '*', '#', '"']).trim_start();
    let is_name = text.starts_with("fn ") || path.ends_with(".py") && text.starts_with("def ");
    if is_name { text.replace('_', " ") } else { text.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn phrase(index: usize) -> String {
        let (head, tail) = PHRASES[index];
        format!("{head}{tail}")
    }

    #[test]
    fn comments_strings_and_names_are_read_with_their_line() {
        let (word, other) = (phrase(1), phrase(3));
        let text = format!(
            "/// For {word}.\nlet a = 1;\nsay(\"{word}\");\nfn it_{}() {{\n",
            other.replace(' ', "_")
        );
        let found = faults("a.rs", &text);
        let lines: Vec<_> = found.iter().filter_map(|fault| fault.split(':').nth(1)).collect();
        assert_eq!(lines, ["1", "3", "4"], "{found:?}");
    }

    #[test]
    fn a_phrase_over_two_lines_is_found_once_where_it_begins() {
        let [first, second] = [phrase(3), phrase(1)].map(|phrase| phrase.replace(' ', "\n/// "));
        let text = format!("/// It {first} so.\n/// Then\n/// {second} reads.\n");
        let found = faults("a.rs", &text);
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(found[0].starts_with("a.rs:1:") && found[1].starts_with("a.rs:4:"), "{found:?}");
    }

    #[test]
    fn a_longer_word_is_another_word() {
        assert_eq!(
            faults("a.rs", &format!("// {}s, {}ing\n", phrase(1), phrase(3))),
            Vec::<String>::new()
        );
    }
}
