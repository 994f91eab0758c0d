//! Commands of a bash file, which are passed over: where each ends, with its blocks and the texts
//! that stand in the lines below it.

use alloc::string::String;
use alloc::vec::Vec;

use super::reader::{Reader, Unread};

/// The kind of the command that begins here.
pub(super) fn kind(mut reader: Reader<'_>) -> Unread {
    match reader.name() {
        "if" | "case" | "for" | "while" | "until" | "select" => return Unread::Block,
        "function" => return Unread::Function,
        "source" => return Unread::Source,
        "" => {}
        _ => {
            reader.skip_blanks();
            return if reader.eat("(") { Unread::Function } else { Unread::Command };
        }
    }
    match reader.bump() {
        Some('{' | '(') => Unread::Block,
        Some('.') if matches!(reader.peek(), Some(' ' | '\t')) => Unread::Source,
        _ => Unread::Command,
    }
}

/// A text below a command, up to the line that has its end.
struct Document {
    end: String,
    /// Tabs before its lines do not count.
    is_indented: bool,
}

/// Goes to the end of the last line of the command that begins here, and returns its number.
///
/// What follows it on the line after a `;` is passed over too: after `exit;` bash runs nothing.
pub(super) fn skip(reader: &mut Reader<'_>) -> Result<usize, Unread> {
    // The words that end the blocks around this place.
    let mut open: Vec<&str> = Vec::new();
    let mut documents: Vec<Document> = Vec::new();
    // A keyword may stand here; the command goes on in the next line.
    let (mut is_head, mut goes_on) = (true, false);
    loop {
        reader.skip_blanks();
        reader.skip_comment();
        match reader.peek() {
            None if open.is_empty() && documents.is_empty() => return Ok(reader.line),
            None => return Err(Unread::Open),
            Some('\n') => {
                let line = reader.line;
                let ends = open.is_empty() && !goes_on;
                if ends && documents.is_empty() {
                    return Ok(line);
                }
                reader.bump();
                let last = reader.line;
                for document in documents.drain(..) {
                    document.skip(reader)?;
                }
                if ends {
                    return Ok(last.max(reader.line - 1));
                }
                is_head = true;
                continue;
            }
            Some(c) => {
                goes_on = false;
                match c {
                    ';' => {
                        reader.bump();
                        is_head = true;
                    }
                    '&' | '|' => {
                        reader.bump();
                        goes_on = reader.eat("&") || reader.eat("|") || c == '|';
                        is_head = true;
                    }
                    '<' => {
                        reader.bump();
                        if reader.eat("<") && !reader.eat("<") {
                            let is_indented = reader.eat("-");
                            reader.skip_blanks();
                            documents.push(Document { end: reader.word()?.text, is_indented });
                        }
                    }
                    '>' => {
                        reader.bump();
                        reader.eat("&");
                    }
                    '(' => {
                        reader.bump();
                        open.push(")");
                        is_head = true;
                    }
                    ')' => {
                        reader.bump();
                        // In `case`, a pattern ends with a bracket that nothing opened.
                        open.pop_if(|end| *end == ")");
                        is_head = true;
                    }
                    _ => is_head = handle_word(reader, &mut open, is_head)?,
                }
            }
        }
    }
}

/// Goes past a word, which may begin or end a block; returns whether a keyword may follow it.
fn handle_word(
    reader: &mut Reader<'_>,
    open: &mut Vec<&str>,
    is_head: bool,
) -> Result<bool, Unread> {
    let word = reader.word()?;
    if word.is_quoted || word.is_computed {
        return Ok(false);
    }
    // The body of `function name {` begins where no keyword may stand.
    if !is_head && word.text != "{" {
        return Ok(false);
    }
    let end = match word.text.as_str() {
        "if" => "fi",
        "for" | "select" | "while" | "until" => "done",
        "case" => "esac",
        "{" => "}",
        "then" | "do" | "else" | "elif" | "!" | "time" => return Ok(true),
        other => return Ok(open.pop_if(|end| *end == other).is_some()),
    };
    open.push(end);
    Ok(matches!(word.text.as_str(), "if" | "while" | "until" | "{"))
}

impl Document {
    /// Goes past the line that ends it.
    fn skip(&self, reader: &mut Reader<'_>) -> Result<(), Unread> {
        loop {
            let line = reader.rest_of_line().ok_or(Unread::Open)?;
            let line = if self.is_indented { line.trim_start_matches('\t') } else { line };
            if line == self.end {
                return Ok(());
            }
        }
    }
}
