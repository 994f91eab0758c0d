//! A commit's subject names its area and has at most 72 characters.

use std::path::Path;
use std::process::Command;

use cargo_metadata::Metadata;

const LONGEST: usize = 72;

/// The rule holds for commits that are no ancestors of this one.
const BASE: &str = "bace062e490e2efede545de81deba594068434ff";

pub(crate) fn violations(metadata: &Metadata) -> Vec<String> {
    let root = metadata.workspace_root.as_std_path();
    // A shallow clone and an archive lack the base, and with it the history that could be judged.
    if git(root, &["cat-file", "-e", &format!("{BASE}^{{commit}}")]).is_none() {
        return Vec::new();
    }
    let range = format!("{BASE}..HEAD");
    let Some(log) = git(root, &["log", "--no-merges", "--format=%h %s", &range]) else {
        return vec!["git log does not run".into()];
    };
    log.lines()
        .filter_map(|line| {
            let (commit, subject) = line.split_once(' ')?;
            let old = BEFORE.iter().any(|before| commit.starts_with(before));
            let fault = fault(subject).filter(|_| !old)?;
            Some(format!("{commit}: {fault}: {subject}"))
        })
        .collect()
}

/// Subjects that were written while the rule was not checked yet.
const BEFORE: &[&str] = &["a2129f50", "757dd3cd"];

fn git(root: &Path, arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).current_dir(root).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}

fn fault(subject: &str) -> Option<String> {
    let count = subject.chars().count();
    if count > LONGEST {
        return Some(format!("a subject of {count} characters"));
    }
    let area = subject.split_once(": ").map(|(area, _)| area);
    (!area.is_some_and(is_area)).then(|| "a subject without its area, as `link: `".to_owned())
}

/// One or several names of crates, folders or documents.
fn is_area(text: &str) -> bool {
    let is_name = |name: &str| {
        let mut marks = name.chars();
        !name.is_empty() && marks.all(|mark| mark.is_ascii_alphanumeric() || "-_./&".contains(mark))
    };
    let mut names = text.split([',', ' ']).filter(|word| !word.is_empty()).peekable();
    names.peek().is_some() && names.all(is_name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_subject_has_an_area_and_72_characters() {
        for fine in
            ["link: a reason", "cc, bpf: a reason", "docs/results: a reason", "README: words"]
        {
            assert_eq!(fault(fine), None, "{fine}");
        }
        let (at_most, over) =
            (format!("link: {}", "a".repeat(66)), format!("link: {}", "a".repeat(67)));
        assert_eq!(fault(&at_most), None);
        for wrong in ["A reason alone", ": no area", over.as_str()] {
            assert!(fault(wrong).is_some(), "{wrong}");
        }
    }
}
