//! Documents are in plain words: no phrase of the list, no sentence over 40 words, and none that
//! begins with "What".

use std::fs;
use std::process::Command;

use cargo_metadata::Metadata;

const MAX_WORDS: usize = 40;

/// Software is "it", and data is reported, received and applied. Spelt in two halves, as in
/// `words.rs`.
pub(crate) const PHRASES: &[(&str, &str)] = &[
    ("who", "ever"),
    ("no", "body"),
    ("of one's", " own"),
    ("is to", "ld"),
    ("are to", "ld"),
    ("to be", " had"),
    ("of wh", "ich"),
    ("is o", "f"),
    ("as it", " is"),
    ("so much", " of"),
];

/// Permitted exceptions: the document, and words of the line.
const ALLOWED: &[(&str, &str)] = &[
    // The rule quotes what it replaces.
    ("CONTRIBUTING.md", "| before | after |"),
    ("docs/reference/files.md", "how records are told apart"),
    ("docs/reference/reports.md", "are told apart"),
    // A list of versions, and tables in a list.
    ("docs/reference/diag.md", "No public layout exists for"),
    ("docs/results/biscay-vs-bbr-cubic.md", "| 004448 |"),
];

pub(crate) fn violations(metadata: &Metadata) -> Vec<String> {
    let root = &metadata.workspace_root;
    let listed = Command::new("git").args(["ls-files", "*.md"]).current_dir(root).output();
    let Ok(listed) = listed else {
        return vec!["git ls-files does not run".into()];
    };
    let mut found = Vec::new();
    for path in String::from_utf8_lossy(&listed.stdout).lines() {
        let Ok(text) = fs::read_to_string(root.join(path)) else { continue };
        found.extend(faults(path, &text));
    }
    found
}

fn faults(path: &str, text: &str) -> Vec<String> {
    let allowed =
        |words: &str| ALLOWED.iter().any(|(of, part)| *of == path && words.contains(part));
    let mut found = Vec::new();
    for paragraph in paragraphs(text) {
        if allowed(&paragraph.text) {
            continue;
        }
        let lower = paragraph.text.to_lowercase();
        for (head, tail) in PHRASES {
            let phrase = format!("{head}{tail}");
            if has(&lower, &phrase) {
                found.push(format!("{path}:{}: says {phrase:?}", paragraph.line));
            }
        }
        for sentence in sentences(&paragraph.text) {
            let words = sentence.split_whitespace().count();
            if paragraph.has_clause(sentence) {
                found.push(format!("{path}:{}: {CLAUSE}: {}", paragraph.line, sentence.trim()));
            }
            if words > MAX_WORDS {
                let begin: Vec<_> = sentence.split_whitespace().take(6).collect();
                let begin = begin.join(" ");
                found.push(format!(
                    "{path}:{}: a sentence of {words} words: {begin} …",
                    paragraph.line
                ));
            }
        }
    }
    found
}

/// The fault of a sentence that has a clause in the place of a noun.
const CLAUSE_BEGINS: &str = "What ";
pub(crate) const CLAUSE: &str = "a clause stands for a noun";

/// Whether the phrase is there as separate words.
pub(crate) fn has(text: &str, phrase: &str) -> bool {
    text.match_indices(phrase).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let after = text[at + phrase.len()..].chars().next();
        !before.is_some_and(char::is_alphanumeric) && !after.is_some_and(char::is_alphanumeric)
    })
}

pub(crate) struct Paragraph {
    pub line: usize,
    /// It describes an item, as headings do and cells of tables: its first sentence may be a
    /// clause alone.
    pub is_label: bool,
    pub text: String,
}

impl Paragraph {
    /// Whether one of its sentences has a clause as its subject, or as the second name of a noun. A
    /// question has none, and neither has the title of a list.
    pub(crate) fn has_clause(&self, sentence: &str) -> bool {
        let text = sentence.trim_start_matches(|mark: char| !mark.is_alphanumeric() && mark != '`');
        let end = sentence.trim_end_matches(['*', '_', '"', ')', ' ']);
        let describes = self.is_label && sentence.as_ptr() == self.text.as_ptr();
        let begins = text.starts_with(CLAUSE_BEGINS) && !describes && !end.ends_with(['?', ':']);
        let apposed = sentence.contains(&format!(", {}", CLAUSE_BEGINS.to_lowercase()));
        begins || apposed && !end.ends_with('?')
    }
}

/// Text between blank lines, list items, and cells of tables; no code.
fn paragraphs(text: &str) -> Vec<Paragraph> {
    let mut all: Vec<Paragraph> = Vec::new();
    let (mut code, mut open) = (false, false);
    for (number, line) in text.lines().enumerate() {
        let trimmed = line.trim_start();
        if trimmed.starts_with("```") {
            (code, open) = (!code, false);
            continue;
        }
        if code || trimmed.is_empty() || line.starts_with("    ") && !open {
            open = false;
            continue;
        }
        let line_number = number + 1;
        if trimmed.starts_with('|') {
            let cells = trimmed.split('|').filter(|cell| !cell.trim().is_empty());
            all.extend(cells.map(|cell| Paragraph {
                line: line_number,
                is_label: true,
                text: cell.into(),
            }));
            open = false;
            continue;
        }
        let item = trimmed.starts_with(['*', '-', '#', '>'])
            || trimmed.split_once(". ").is_some_and(|(head, _)| head.parse::<u32>().is_ok());
        match all.last_mut().filter(|_| open && !item) {
            Some(paragraph) => {
                paragraph.text.push(' ');
                paragraph.text.push_str(trimmed);
            }
            None => all.push(Paragraph {
                line: line_number,
                is_label: trimmed.starts_with('#'),
                text: trimmed.into(),
            }),
        }
        open = true;
    }
    all
}

/// A sentence ends with its mark and a blank.
pub(crate) fn sentences(text: &str) -> Vec<&str> {
    let mut all = Vec::new();
    let mut begin = 0;
    for (at, mark) in text.match_indices(['.', '!', '?', ':', ';']) {
        let end = at + mark.len();
        if text[end..].starts_with([' ', '*', '_', ')', '"']) {
            all.push(&text[begin..end]);
            begin = end;
        }
    }
    all.push(&text[begin..]);
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phrases_are_words_of_their_own_and_never_in_code() {
        let (word, other) = (format!("{}{}", "no", "body"), format!("{}{}", "is to", "ld"));
        let text = format!("Here {word} reads.\n\n```\n{word}\n```\n\n| a | it {other} so |\n");
        let found = faults("a.md", &text);
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(found[0].starts_with("a.md:1:") && found[1].starts_with("a.md:7:"), "{found:?}");
        assert_eq!(faults("a.md", &format!("{word}s and {other}ing")), Vec::<String>::new());
    }

    #[test]
    fn a_sentence_is_counted_over_its_lines_and_ends_at_its_mark() {
        let long = vec!["word"; 41].join(" ");
        assert_eq!(faults("a.md", &format!("{long}.")).len(), 1);
        assert_eq!(faults("a.md", &long.replacen(' ', "\n", 7)).len(), 1);
        let short = vec!["word"; 30].join(" ");
        assert_eq!(faults("a.md", &format!("{short}. {short}: {short}")), Vec::<String>::new());
        assert_eq!(faults("a.md", &format!("* {short}\n* {short}")), Vec::<String>::new());
    }

    #[test]
    fn a_clause_is_no_subject_except_in_a_question_or_a_label() {
        let clause = "What lies beyond is unread.";
        assert_eq!(faults("a.md", clause).len(), 1);
        assert_eq!(faults("a.md", &format!("Here it ends. {clause}")).len(), 1);
        assert_eq!(faults("a.md", &format!("| It ends. {clause} |")).len(), 1);
        assert_eq!(faults("a.md", &format!("It ends here, {}", clause.to_lowercase())).len(), 1);
        for fine in ["What is read?", "# What is read", "| What is read | all |", "What follows:"] {
            assert_eq!(faults("a.md", fine), Vec::<String>::new());
        }
    }

    #[test]
    fn what_is_allowed_is_allowed_in_its_document_alone() {
        let (path, words) = ALLOWED[3];
        let text = format!("{words} {}", vec!["v1"; 41].join(" "));
        assert_eq!(faults(path, &text), Vec::<String>::new());
        assert_eq!(faults("a.md", &text).len(), 1);
    }
}
