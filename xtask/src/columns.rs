//! Comments have at most 100 columns, as the code that `cargo fmt` wraps.

use std::fs;
use std::process::Command;

use cargo_metadata::Metadata;

const WIDEST: usize = 100;
/// A tab of C.
const TAB: usize = 8;
const FILES: &[&str] = &["*.rs", "*.c", "*.cc", "*.h", "*.js", "*.py", "*.pyi", "*.toml", "*.sh"];

/// Each comment's line that is too wide. A line without a blank, such as an address, cannot be
/// wrapped.
pub(crate) fn violations(metadata: &Metadata) -> Vec<String> {
    let root = &metadata.workspace_root;
    let listed = Command::new("git").arg("ls-files").args(FILES).current_dir(root).output();
    let Ok(listed) = listed else {
        return vec!["git ls-files does not run".into()];
    };
    let mut found = Vec::new();
    for path in String::from_utf8_lossy(&listed.stdout).lines() {
        let Ok(text) = fs::read_to_string(root.join(path)) else { continue };
        let faults = faults(&text).into_iter();
        found.extend(faults.map(|(line, width)| format!("{path}:{line}: {width} columns")));
    }
    found
}

fn faults(text: &str) -> Vec<(usize, usize)> {
    let lines = text.lines().zip(1..).filter(|(line, _)| is_comment(line));
    let widths = lines.map(|(line, number)| (number, width(line)));
    widths.filter(|(_, width)| *width > WIDEST).collect()
}

fn is_comment(line: &str) -> bool {
    let line = line.trim_start();
    let body = line.trim_start_matches(['/', '!', '*', '#']).trim();
    let marked = ["//", "/*", "* ", "# "].iter().any(|mark| line.starts_with(mark));
    marked && body.contains(' ') && !body.starts_with('|')
}

fn width(line: &str) -> usize {
    line.chars().fold(0, |at, mark| if mark == '\t' { at / TAB * TAB + TAB } else { at + 1 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_alone_are_measured_and_tabs_are_eight() {
        let words = |count: usize| format!("{} b", "a".repeat(count - 2));
        assert_eq!(faults(&format!("x\n/// {}\n", words(97))), [(2, 101)]);
        assert_eq!(faults(&format!("// {}\n", words(97))), []);
        assert_eq!(faults(&format!("\t/* {}\n", words(90))), [(1, 101)]);
        assert_eq!(faults(&format!("let a = \"{}\";\n", words(120))), []);
        assert_eq!(faults(&format!("// {}\n", "a".repeat(120))), []);
    }
}
