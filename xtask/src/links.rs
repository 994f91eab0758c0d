//! Links of documents lead somewhere: to a file that exists, and to a heading that it has. So does
//! each document that code, tests and scripts name.

use std::collections::BTreeMap;
use std::fs;
use std::process::Command;

use cargo_metadata::Metadata;

/// A name of a document that is an example, and no document.
const EXAMPLES: &[&str] = &["docs/interpretations/<paper>.md"];

pub(crate) fn violations(metadata: &Metadata) -> Vec<String> {
    let root = &metadata.workspace_root;
    let listed = Command::new("git").arg("ls-files").current_dir(root).output();
    let Ok(listed) = listed else {
        return vec!["git ls-files does not run".into()];
    };
    // A file that is not text has no links.
    let texts: BTreeMap<String, String> = String::from_utf8_lossy(&listed.stdout)
        .lines()
        .filter_map(|path| Some((path.to_owned(), fs::read_to_string(root.join(path)).ok()?)))
        .collect();
    let exists = |path: &str| root.join(path).exists();
    let mut found = Vec::new();
    for (path, text) in &texts {
        if path.ends_with(".md") {
            found.extend(broken(path, text, &texts, &exists));
        }
        let gone = named(text).filter(|name| !EXAMPLES.contains(name) && !exists(name));
        found.extend(gone.map(|name| format!("{path} names {name}, which does not exist")));
    }
    found
}

fn broken(
    path: &str,
    text: &str,
    texts: &BTreeMap<String, String>,
    exists: &dyn Fn(&str) -> bool,
) -> Vec<String> {
    let mut found = Vec::new();
    for target in targets(text) {
        if target.contains("://") || target.starts_with("mailto:") {
            continue;
        }
        let (file, anchor) = target.split_once('#').unwrap_or((target, ""));
        let file = if file.is_empty() { path.to_owned() } else { resolved(path, file) };
        if !exists(&file) {
            found.push(format!("{path}: {target} leads to no file"));
        } else if !anchor.is_empty()
            && !texts.get(&file).is_some_and(|text| headings(text).any(|one| one == anchor))
        {
            found.push(format!("{path}: {target} leads to no heading"));
        }
    }
    found
}

/// The targets of `[text](target)`, outside blocks of code.
fn targets(text: &str) -> impl Iterator<Item = &str> {
    prose(text).flat_map(|line| {
        line.split("](").skip(1).filter_map(|rest| rest.split_once(')').map(|(target, _)| target))
    })
}

fn prose(text: &str) -> impl Iterator<Item = &str> {
    let mut code = false;
    text.lines().filter(move |line| {
        let fence = line.trim_start().starts_with("```");
        code ^= fence;
        !code && !fence
    })
}

/// A heading's anchor: small letters and digits, with a dash for each blank.
fn headings(text: &str) -> impl Iterator<Item = String> + '_ {
    prose(text).filter(|line| line.starts_with('#')).map(|line| {
        let title = line.trim_start_matches('#').trim().to_lowercase();
        let kept =
            title.chars().filter(|letter| letter.is_alphanumeric() || " -_".contains(*letter));
        kept.map(|letter| if letter == ' ' { '-' } else { letter }).collect()
    })
}

/// A relative path as seen from the root.
fn resolved(from: &str, target: &str) -> String {
    let mut parts: Vec<&str> = from.split('/').collect();
    parts.pop();
    for part in target.split('/') {
        match part {
            "." | "" => {}
            ".." => drop(parts.pop()),
            other => parts.push(other),
        }
    }
    parts.join("/")
}

/// Documents that a text names by their path from the root.
fn named(text: &str) -> impl Iterator<Item = &str> {
    text.match_indices("docs/").filter_map(|(at, _)| {
        let before = text[..at].chars().next_back();
        if before.is_some_and(|letter| letter.is_alphanumeric() || "/._-".contains(letter)) {
            return None;
        }
        let path = text[at..]
            .split(|letter: char| !(letter.is_ascii_alphanumeric() || "/._-<>".contains(letter)));
        let path = path.into_iter().next()?;
        let end = path.rfind(".md")? + ".md".len();
        Some(&path[..end])
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Spelt in two halves: what is made up here exists nowhere.
    fn at(name: &str) -> String {
        format!("{}{name}", "docs/")
    }

    fn texts() -> BTreeMap<String, String> {
        let of = |path: &str, text: &str| (path.to_owned(), text.to_owned());
        [of("a.md", "# One\n"), of(&at("b.md"), "# A thing, twice\n\n```\n# no\n```\n")].into()
    }

    fn faults(path: &str, text: &str) -> Vec<String> {
        let texts = texts();
        broken(path, text, &texts, &|path| texts.contains_key(path))
    }

    #[test]
    fn a_link_is_followed_from_its_own_folder_to_file_and_heading() {
        for good in ["[x](../a.md)", "[x](b.md#a-thing-twice)", "[x](https://a.b/c)", "[x](#one)"] {
            let path = if good.contains("#one") { "a.md".to_owned() } else { at("c.md") };
            assert_eq!(faults(&path, good), Vec::<String>::new(), "{good}");
        }
        for bad in ["[x](a.md)", "[x](b.md#no)", "[x](b.md#twice)"] {
            assert_eq!(faults(&at("c.md"), bad).len(), 1, "{bad}");
        }
    }

    #[test]
    fn code_has_no_links() {
        assert_eq!(faults("a.md", "```\n[x](gone.md)\n```\n"), Vec::<String>::new());
    }

    #[test]
    fn a_document_is_named_by_its_path_alone() {
        let [one, two] = [at("a.md"), at("b/c.md")];
        let text = format!("see {one}. `{two}`, x/{} and {}", at("d.md"), at("e.png"));
        assert_eq!(named(&text).collect::<Vec<_>>(), [one.as_str(), two.as_str()]);
    }
}
