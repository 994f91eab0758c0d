//! The statements of a bash file that set variables, read as text.
//!
//! No part of the file is run. So a value counts only if it stands there literally, and everything
//! that bash would have to run is passed over by its lines. A block is passed over whole: whether
//! bash would enter it is unknown.

use alloc::collections::VecDeque;

use super::commands;
use super::reader::{Reader, Unread, Value};

/// A statement of the file, with its first and its last line, which count from 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Statement<'t> {
    pub(super) first: usize,
    pub(super) last: usize,
    pub(super) kind: Kind<'t>,
}

/// What a statement does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Kind<'t> {
    /// It sets a variable.
    Set { key: &'t str, value: Result<Value, Unread> },
    /// Anything else.
    Other(Unread),
}

/// The statements of a text, whose lines end in `\n`.
pub(super) struct Statements<'t> {
    reader: Reader<'t>,
    /// Statements of a line that are read and not yet handed out.
    ready: VecDeque<Statement<'t>>,
}

impl<'t> Statements<'t> {
    pub(super) fn of(text: &'t str) -> Self {
        Self { reader: Reader::of(text), ready: VecDeque::new() }
    }

    /// The assignments of a line, up to its end or a `;`.
    fn assignments(&mut self) -> Result<(), Unread> {
        let mut is_exported = false;
        loop {
            let reader = &mut self.reader;
            reader.skip_blanks();
            if matches!(reader.peek(), None | Some('\n' | ';' | '#')) {
                return Ok(());
            }
            let first = reader.line;
            let key = reader.name();
            let value = if key.is_empty() {
                return Err(Unread::Command);
            } else if reader.eat("+=") {
                let _ = reader.value()?;
                Err(Unread::Appended)
            } else if reader.eat("=") {
                reader.value()?
            } else if reader.peek().is_none_or(|c| c.is_ascii_whitespace() || c == ';') {
                // A variable that is exported without a value keeps its value.
                let is_first = self.ready.is_empty() && key == "export";
                if !is_exported && !is_first {
                    return Err(Unread::Command);
                }
                is_exported = true;
                continue;
            } else {
                return Err(Unread::Command);
            };
            let last = reader.line;
            self.ready.push_back(Statement { first, last, kind: Kind::Set { key, value } });
        }
    }
}

impl<'t> Iterator for Statements<'t> {
    type Item = Statement<'t>;

    fn next(&mut self) -> Option<Statement<'t>> {
        loop {
            if let Some(ready) = self.ready.pop_front() {
                return Some(ready);
            }
            self.reader.skip_between();
            self.reader.peek()?;
            let begin = self.reader;
            // Bash refuses a line that begins with `;`.
            if begin.peek() != Some(';') && self.assignments().is_ok() {
                self.reader.eat(";");
                continue;
            }
            // `a=1 command` sets no variable of the shell, and `a=1 | command` neither.
            self.ready.clear();
            self.reader = begin;
            let reason = commands::kind(begin);
            let (reason, last) = match commands::skip(&mut self.reader) {
                Ok(last) => (reason, last),
                Err(reason) => (reason, self.reader.line),
            };
            return Some(Statement { first: begin.line, last, kind: Kind::Other(reason) });
        }
    }
}
