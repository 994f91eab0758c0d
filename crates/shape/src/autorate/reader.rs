//! The characters of a bash file: words, quotes, arrays, and the ends of expansions.

use alloc::string::String;
use alloc::vec::Vec;

/// A literal value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Value {
    Word(String),
    /// An array. No array has an equivalent, so its words are not kept.
    List,
}

/// Why a statement or a value is not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unread {
    /// The value needs bash: a variable, a command or arithmetic.
    Computed,
    /// `+=` adds to an earlier value.
    Appended,
    /// A command, which is not run.
    Command,
    /// A command that reads another file.
    Source,
    /// A condition, a loop or a group of commands.
    Block,
    /// A function.
    Function,
    /// A quote, a bracket or a block that does not end.
    Open,
}

impl Unread {
    /// In words.
    pub(super) const fn words(self) -> &'static str {
        match self {
            Self::Computed => "bash computes its value, and the file is not run: write the value",
            Self::Appended => "`+=` adds to an earlier value: write the whole value",
            Self::Command => "a command, and the file is not run",
            Self::Source => "another file, which is not opened: import it by itself",
            Self::Block => "a condition, a loop or a group, and the file is not run",
            Self::Function => "a function, and the file is not run",
            Self::Open => "a quote, a bracket or a block begins here and does not end",
        }
    }
}

/// A word between blanks, without its quotes.
#[derive(Debug, Default)]
pub(super) struct Word {
    pub(super) text: String,
    /// Bash would put something in its place.
    pub(super) is_computed: bool,
    /// Part of it is quoted, so it is no keyword.
    pub(super) is_quoted: bool,
}

/// A place in the text. A statement is read twice at most, so the time is linear.
#[derive(Clone, Copy)]
pub(super) struct Reader<'t> {
    text: &'t str,
    at: usize,
    pub(super) line: usize,
}

impl<'t> Reader<'t> {
    pub(super) const fn of(text: &'t str) -> Self {
        Self { text, at: 0, line: 1 }
    }

    pub(super) fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn rest(&self) -> &'t str {
        self.text.get(self.at..).unwrap_or_default()
    }

    pub(super) fn bump(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.at += c.len_utf8();
        self.line += usize::from(c == '\n');
        Some(c)
    }

    /// Goes past `text`, which has no line break, if it comes next.
    pub(super) fn eat(&mut self, text: &str) -> bool {
        let is_next = self.rest().starts_with(text);
        if is_next {
            self.at += text.len();
        }
        is_next
    }

    /// Goes past blanks, and past line breaks after a backslash.
    pub(super) fn skip_blanks(&mut self) {
        loop {
            self.skip_continuations();
            if !self.eat(" ") && !self.eat("\t") {
                return;
            }
        }
    }

    fn skip_continuations(&mut self) {
        while self.eat("\\\n") {
            self.line += 1;
        }
    }

    /// Goes to the end of the line, if a comment begins here.
    pub(super) fn skip_comment(&mut self) {
        if self.peek() == Some('#') {
            self.at += self.rest().find('\n').unwrap_or(self.rest().len());
        }
    }

    /// Goes to the next statement.
    pub(super) fn skip_between(&mut self) {
        loop {
            self.skip_blanks();
            self.skip_comment();
            if self.peek() != Some('\n') {
                return;
            }
            self.bump();
        }
    }

    /// The rest of the line, without its end; `None` at the end of the text.
    pub(super) fn rest_of_line(&mut self) -> Option<&'t str> {
        let rest = Some(self.rest()).filter(|rest| !rest.is_empty())?;
        let (line, is_whole) = match rest.split_once('\n') {
            Some((line, _)) => (line, true),
            None => (rest, false),
        };
        self.at += line.len() + usize::from(is_whole);
        self.line += usize::from(is_whole);
        Some(line)
    }

    /// The name of a variable or a command; empty if none begins here.
    pub(super) fn name(&mut self) -> &'t str {
        let rest = self.rest();
        if rest.starts_with(|c: char| c.is_ascii_digit()) {
            return "";
        }
        let len = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        let name = rest.get(..len.unwrap_or(rest.len())).unwrap_or_default();
        self.at += name.len();
        name
    }

    /// What stands after `=`.
    pub(super) fn value(&mut self) -> Result<Result<Value, Unread>, Unread> {
        if self.eat("(") {
            let list = self.list()?;
            // Bash refuses a word that touches the bracket.
            return match self.peek() {
                None | Some(' ' | '\t' | '\n' | ';' | '\\') => Ok(list),
                Some(_) => Err(Unread::Command),
            };
        }
        let word = self.word()?;
        Ok(if word.is_computed { Err(Unread::Computed) } else { Ok(Value::Word(word.text)) })
    }

    /// The words of an array, over any number of lines.
    fn list(&mut self) -> Result<Result<Value, Unread>, Unread> {
        let mut list = Ok(Value::List);
        loop {
            self.skip_blanks();
            self.skip_comment();
            match self.peek() {
                None => return Err(Unread::Open),
                Some('\n') => _ = self.bump(),
                Some(')') => {
                    self.bump();
                    return Ok(list);
                }
                Some(';' | '&' | '|' | '<' | '>' | '(') => return Err(Unread::Command),
                Some(_) if self.word()?.is_computed => list = Err(Unread::Computed),
                Some(_) => {}
            }
        }
    }

    /// A word, up to a blank or an operator.
    pub(super) fn word(&mut self) -> Result<Word, Unread> {
        let mut word = Word::default();
        while let Some(c) = self.peek() {
            if matches!(c, ' ' | '\t' | '\n' | ';' | '&' | '|' | '<' | '>' | '(' | ')') {
                break;
            }
            self.bump();
            match c {
                '\'' => {
                    word.is_quoted = true;
                    loop {
                        match self.bump().ok_or(Unread::Open)? {
                            '\'' => break,
                            c => word.text.push(c),
                        }
                    }
                }
                '"' => self.double_quoted(&mut word)?,
                '\\' => match self.bump() {
                    Some('\n') => {}
                    // At the end of the text a backslash is one.
                    c => {
                        word.is_quoted = true;
                        word.text.push(c.unwrap_or('\\'));
                    }
                },
                '$' | '`' => self.computed(c, &mut word, false)?,
                // A home folder.
                '~' if word.text.is_empty() && !word.is_quoted => word.is_computed = true,
                c => word.text.push(c),
            }
        }
        Ok(word)
    }

    fn double_quoted(&mut self, word: &mut Word) -> Result<(), Unread> {
        word.is_quoted = true;
        loop {
            match self.bump().ok_or(Unread::Open)? {
                '"' => return Ok(()),
                '\\' => match self.bump().ok_or(Unread::Open)? {
                    '\n' => {}
                    c @ ('$' | '`' | '"' | '\\') => word.text.push(c),
                    c => word.text.extend(['\\', c]),
                },
                c @ ('$' | '`') => self.computed(c, word, true)?,
                c => word.text.push(c),
            }
        }
    }

    /// Goes past an expansion, whose first character was taken.
    fn computed(&mut self, sign: char, word: &mut Word, in_quotes: bool) -> Result<(), Unread> {
        self.skip_continuations();
        let close = match (sign, self.peek()) {
            ('`', _) => Some('`'),
            (_, Some('(')) => Some(')'),
            (_, Some('{')) => Some('}'),
            // Arithmetic of old scripts.
            (_, Some('[')) => Some(']'),
            // A text with escapes as in C, and a translated text.
            (_, Some('\'' | '"')) if !in_quotes => None,
            (_, Some(c)) if c.is_ascii_alphanumeric() || "_@*#?$!-".contains(c) => None,
            _ => {
                word.text.push('$');
                return Ok(());
            }
        };
        word.is_computed = true;
        if let Some(close) = close {
            if close != '`' {
                self.bump();
            }
            return self.nested(close);
        }
        match self.bump() {
            Some('\'') => loop {
                match self.bump().ok_or(Unread::Open)? {
                    '\'' => return Ok(()),
                    '\\' => _ = self.bump(),
                    _ => {}
                }
            },
            Some('"') => self.double_quoted(word),
            _ => Ok(()),
        }
    }

    /// Goes past the end of an expansion, and past all that begins in it.
    fn nested(&mut self, close: char) -> Result<(), Unread> {
        let mut open = Vec::from([close]);
        while let Some(&last) = open.last() {
            match self.bump().ok_or(Unread::Open)? {
                c if c == last => _ = open.pop(),
                '\\' => _ = self.bump(),
                '\'' if last != '"' => while self.bump().ok_or(Unread::Open)? != '\'' {},
                c @ ('"' | '`') => open.push(c),
                '$' if self.eat("(") => open.push(')'),
                '$' if self.eat("{") => open.push('}'),
                '(' if last == ')' => open.push(')'),
                _ => {}
            }
        }
        Ok(())
    }
}
