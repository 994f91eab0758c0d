//! Code uses the same plain words as the documents: comments, strings, help and the names of tests.

use std::collections::BTreeMap;
use std::fs;
use std::process::Command;

use cargo_metadata::Metadata;

use crate::prose::{CLAUSE, PHRASES, Paragraph, has, sentences};

/// Patterns for `git ls-files` of code and of scripts; documents have their own check.
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

/// Where a phrase may stay: the file, and a part of the line in lower case.
pub(crate) const ALLOWED: &[(&str, &str)] = &[
    // A public variant.
    ("crates/lab/src/papers/biscay/wire.rs", "body {"),
    // That check's list of allowed places.
    ("xtask/src/prose.rs", "apart\""),
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
        let mut faults = faults(path, &text);
        faults.extend(clauses(path, &text));
        if !faults.is_empty() {
            *counts.entry(part(path)).or_insert(0) += faults.len();
        }
        found.extend(faults);
    }
    found.extend(counts.iter().map(|(part, count)| format!("{part}: {count} in all")));
    found
}

/// The crate or the folder of a file, for the count of finds.
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
        // A phrase may begin at the end of a line, and has up to three words.
        let next: Vec<_> = lines
            .get(at + 1)
            .into_iter()
            .flat_map(|line| line.split_whitespace())
            .take(2)
            .collect();
        let next = next.join(" ");
        let joined = format!("{line} {next}");
        for (head, tail) in PHRASES {
            let phrase = format!("{head}{tail}");
            if has(line, &phrase) || has(&joined, &phrase) && !has(&next, &phrase) {
                found.push(format!("{path}:{}: says {phrase:?}", at + 1));
            }
        }
    }
    found
}

/// A clause in the place of a noun, within a text. Spelt in two halves.
const CLAUSES: &[(&str, &str)] = &[(", wh", "at"), (". Wh", "at")];

/// Sentences of comments that have a clause in the place of a noun. A clause alone may describe the
/// item below: the first sentence of a doc comment, or of a comment at the margin.
fn clauses(path: &str, text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (line, number) in text.lines().zip(1..) {
        if mark(line).is_none() && is_string_with_clause(line) {
            found.push(format!("{path}:{number}: {CLAUSE}: {}", line.trim()));
        }
    }
    for comment in comments(text) {
        for sentence in sentences(&comment.text) {
            if comment.has_clause(sentence) {
                found.push(format!("{path}:{}: {CLAUSE}: {}", comment.line, sentence.trim()));
            }
        }
    }
    found
}

/// A line that is no comment may have words in a string.
fn is_string_with_clause(line: &str) -> bool {
    let (_, tail) = CLAUSES[1];
    let is_first = line.trim_start().starts_with(&format!("Wh{tail} ")) && !line.contains('?');
    is_first
        || CLAUSES.iter().any(|(head, tail)| {
            let clause = format!("{head}{tail} ");
            let mut rest = line.match_indices(&clause).map(|(at, _)| &line[at + clause.len()..]);
            rest.any(|rest| rest.starts_with(char::is_lowercase))
        })
}

/// Lines of comments that follow each other, without their marks. An empty one begins another.
fn mark(line: &str) -> Option<&'static str> {
    const MARKS: [&str; 7] = ["///", "//!", "//", "/*", "*/", "* ", "# "];
    MARKS.into_iter().find(|mark| line.trim_start().starts_with(mark))
}

fn comments(text: &str) -> Vec<Paragraph> {
    let mut all: Vec<Paragraph> = Vec::new();
    let mut open = false;
    for (line, number) in text.lines().zip(1..) {
        let trimmed = line.trim();
        let mark = mark(line);
        let body = mark.map_or("", |mark| &trimmed[mark.len()..]);
        let body = body.trim_end_matches("*/").trim();
        let Some(mark) = mark.filter(|_| !body.is_empty()) else {
            open = false;
            continue;
        };
        match all.last_mut().filter(|_| open) {
            Some(comment) => {
                comment.text.push(' ');
                comment.text.push_str(body);
            }
            None => all.push(Paragraph {
                line: number,
                is_label: matches!(mark, "///" | "//!")
                    || !line.starts_with(['\t', ' '])
                    || mark == "* ",
                text: body.into(),
            }),
        }
        open = true;
    }
    all
}

/// A line in lower case without the marks of comments; the words of a name that is a sentence are
/// apart.
fn plain(path: &str, line: &str) -> String {
    let line = line.trim().trim_end_matches('\\').trim_end().to_lowercase();
    let text = line.trim_start_matches(['/', '!', '*', '#', '"']).trim_start();
    let is_name = text.starts_with("fn ") || path.ends_with(".py") && text.starts_with("def ");
    if is_name && text.matches('_').count() > 1 { text.replace('_', " ") } else { text.to_owned() }
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
    fn a_clause_may_describe_an_item_and_is_no_subject() {
        let clause = "What lies beyond is unread.";
        assert_eq!(clauses("a.rs", &format!("/// {clause}\nx: u8,\n")), Vec::<String>::new());
        for text in [
            format!("    // {clause}\n"),
            format!("/// It ends here. {clause}\n"),
            format!("/// It ends here.\n/// {clause}\n"),
            format!("\t/* {clause} */\n"),
        ] {
            assert_eq!(clauses("a.rs", &text).len(), 1, "{text}");
        }
    }

    #[test]
    fn a_longer_word_is_another_word() {
        assert_eq!(
            faults("a.rs", &format!("// {}s, {}ing\n", phrase(1), phrase(3))),
            Vec::<String>::new()
        );
    }
}
