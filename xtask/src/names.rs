//! A test's name is a sentence of at most 80 characters that a reader of a log understands.

use std::fs;
use std::process::Command;

use cargo_metadata::Metadata;

const LONGEST: usize = 80;

/// A name that begins so has no thing of the program as its subject.
const RIDDLES: &[&str] = &["who_", "somebody_", "one_who_"];

pub(crate) fn violations(metadata: &Metadata) -> Vec<String> {
    let root = &metadata.workspace_root;
    let listed = Command::new("git").args(["ls-files", "*.rs", "*.py"]).current_dir(root).output();
    let Ok(listed) = listed else {
        return vec!["git ls-files does not run".into()];
    };
    let mut found = Vec::new();
    for path in String::from_utf8_lossy(&listed.stdout).lines() {
        let Ok(text) = fs::read_to_string(root.join(path)) else { continue };
        let faults = faults(path, &text);
        found.extend(faults.into_iter().map(|(line, fault)| format!("{path}:{line}: {fault}")));
    }
    found
}

fn faults(path: &str, text: &str) -> Vec<(usize, String)> {
    let names = if path.ends_with(".py") { python(text) } else { rust(text) };
    let mut found = Vec::new();
    for (line, name) in names {
        if name.len() > LONGEST {
            found.push((line, format!("a name of {} characters: {name}", name.len())));
        }
        if RIDDLES.iter().any(|begin| name.starts_with(begin)) {
            found.push((line, format!("a name without a thing as its subject: {name}")));
        }
    }
    found
}

/// The functions that follow the attribute of a test, with their lines.
fn rust(text: &str) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    let mut is_test = false;
    for (line, number) in text.lines().zip(1..) {
        let line = line.trim();
        is_test |= line == "#[test]" || line.starts_with("#[") && line.contains("::test");
        let function = line.strip_prefix("async ").unwrap_or(line).strip_prefix("fn ");
        if let Some(function) = function.filter(|_| is_test) {
            found.push((number, name(function)));
            is_test = false;
        }
    }
    found
}

fn python(text: &str) -> Vec<(usize, &str)> {
    let tests = |line: &str| line.trim_start().starts_with("def test_");
    let lines = text.lines().zip(1..).filter(|(line, _)| tests(line));
    lines.map(|(line, number)| (number, name(&line.trim_start()["def ".len()..]))).collect()
}

fn name(function: &str) -> &str {
    function.split('(').next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_tests_alone_are_measured() {
        let (long, fine) = ("a".repeat(81), "a".repeat(80));
        let test = |name: &str| format!("    #[test]\n    #[ignore]\n    fn {name}() {{}}\n");
        assert_eq!(faults("a.rs", &test(&long))[0].0, 3);
        assert_eq!(faults("a.rs", &test(&fine)), []);
        assert_eq!(faults("a.rs", &format!("fn {long}() {{}}\n")), []);
        assert_eq!(faults("a.py", &format!("def test_{long}() -> None:\n"))[0].0, 1);
    }

    #[test]
    fn a_riddle_is_refused_by_its_first_word() {
        let text = format!("#[test]\nfn {}_waits() {{}}\n", "who");
        assert_eq!(faults("a.rs", &text).len(), 1);
        assert_eq!(faults("a.rs", "#[test]\nfn whole_blocks_count() {}\n"), []);
    }
}
