//! A test that its machine cannot run says so in one way, so that `SOUNDING_REQUIRE` can make a
//! failure of it.

use std::fs;
use std::process::Command;

use cargo_metadata::Metadata;

/// The place that reports skips.
const REPORTS: &str = "crates/testdata/src/skip.rs";

pub(crate) fn violations(metadata: &Metadata) -> Vec<String> {
    let root = &metadata.workspace_root;
    let listed = Command::new("git").args(["ls-files", "crates/*.rs"]).current_dir(root).output();
    let Ok(listed) = listed else {
        return vec!["git ls-files does not run".into()];
    };
    let paths = String::from_utf8_lossy(&listed.stdout).into_owned();
    let mut found = Vec::new();
    for path in paths.lines().filter(|path| *path != REPORTS) {
        let Ok(text) = fs::read_to_string(root.join(path)) else { continue };
        found.extend(faults(&text).into_iter().map(|line| {
            format!("{path}:{line}: prints a skip by itself: use sounding_testdata::skip")
        }));
    }
    found
}

/// Lines that print the word of a skip.
fn faults(text: &str) -> Vec<usize> {
    let prints = |line: &&str| line.contains("\"SKIPPED") && !line.trim_start().starts_with("//");
    text.lines().zip(1..).filter(|(line, _)| prints(line)).map(|(_, at)| at).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_printed_skip_is_found_and_a_comment_is_none() {
        let word = "SKIPPED";
        assert_eq!(faults(&format!("fn f() {{\n    eprintln!(\"{word}: no root\");\n}}")), [2]);
        assert_eq!(faults(&format!("// prints \"{word}: …\"")), [0_usize; 0]);
    }
}
