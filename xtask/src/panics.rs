//! Calls of the standard library that panic where another call returns an error.

use std::fs;
use std::process::Command;

use cargo_metadata::Metadata;

/// Each with its reason and remedy.
const CALLS: [(&str, &str); 4] = [
    ("thread::spawn(", "panics where this user may start no more threads: use thread::Builder"),
    ("scope.spawn(", "panics where this user may start no more threads: use thread::Builder"),
    ("env::args()", "panics on an argument that is not UTF-8: use env::args_os"),
    ("env::vars()", "panics on a variable that is not UTF-8: use env::vars_os"),
];

pub(crate) fn violations(metadata: &Metadata) -> Vec<String> {
    let root = &metadata.workspace_root;
    let places = ["crates/*/src/*.rs", "xtask/src/*.rs"];
    let listed = Command::new("git").arg("ls-files").args(places).current_dir(root).output();
    let Ok(listed) = listed else {
        return vec!["git ls-files does not run".into()];
    };
    let paths = String::from_utf8_lossy(&listed.stdout).into_owned();
    let is_product = |path: &&str| {
        !path.ends_with("tests.rs")
            && !path.contains("/testdata/")
            && *path != "xtask/src/panics.rs"
    };
    let mut found = Vec::new();
    for path in paths.lines().filter(is_product) {
        let Ok(text) = fs::read_to_string(root.join(path)) else { continue };
        found.extend(
            faults(&text).into_iter().map(|(at, call, why)| format!("{path}:{at}: {call}…) {why}")),
        );
    }
    found
}

/// Lines before the tests of a file that have such a call.
fn faults(text: &str) -> Vec<(usize, &'static str, &'static str)> {
    let lines = text.lines().take_while(|line| !line.starts_with("#[cfg(test)]")).zip(1..);
    let lines = lines.filter(|(line, _)| !line.trim_start().starts_with("//"));
    lines
        .flat_map(|(line, at)| {
            let calls = CALLS.into_iter().filter(|(call, _)| line.contains(call));
            calls.map(move |(call, why)| (at, call, why)).collect::<Vec<_>>()
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_is_found_before_the_tests_and_a_comment_is_none() {
        let text = "fn f() {\n    std::thread::spawn(g);\n}\n// env::args()\n#[cfg(test)]\nthread::spawn(g)";
        let found: Vec<usize> = faults(text).into_iter().map(|(at, ..)| at).collect();
        assert_eq!(found, [2]);
        assert!(faults("thread::Builder::new().spawn(g)").is_empty());
    }
}
