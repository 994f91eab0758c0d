//! Reads a file line by line, with any content.

use alloc::vec::Vec;
use core::str;

use sounding_units::without_mark;

use super::line::{BadLine, LONGEST, Problem};
use super::{Format, Heard, dci_log, falcon, nr_scope};

/// Counts of a reader.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Lines with a message.
    pub messages: u64,
    /// Lines of subframes without messages.
    pub silent: u64,
    /// Lines that were left out.
    pub bad: u64,
}

/// Reads lines one by one.
#[derive(Clone, Debug)]
struct Lines {
    format: Format,
    cell: u8,
    line: u64,
    columns: Option<nr_scope::Columns>,
    counts: Counts,
}

impl Lines {
    const fn new(format: Format, cell: u8) -> Self {
        let counts = Counts { messages: 0, silent: 0, bad: 0 };
        Self { format, cell, line: 0, columns: None, counts }
    }

    /// `None` for an empty line or the header.
    fn handle_line(&mut self, line: &[u8]) -> Option<Result<Heard, BadLine>> {
        self.line += 1;
        match self.read(line.strip_suffix(b"\r").unwrap_or(line)) {
            Ok(None) => None,
            Ok(Some(heard)) => {
                match heard {
                    Heard::Dci(_) => self.counts.messages += 1,
                    Heard::Nothing(_) => self.counts.silent += 1,
                }
                Some(Ok(heard))
            }
            Err(problem) => Some(Err(self.bad(problem))),
        }
    }

    const fn bad(&mut self, problem: Problem) -> BadLine {
        self.counts.bad += 1;
        BadLine { line: self.line, problem }
    }

    fn read(&mut self, line: &[u8]) -> Result<Option<Heard>, Problem> {
        // Logs may follow one another, each with its mark.
        let line = without_mark(line);
        if line.len() > LONGEST {
            return Err(Problem::Long { len: line.len() });
        }
        let line = str::from_utf8(line).map_err(|_| Problem::Text)?;
        if line.trim().is_empty() {
            return Ok(None);
        }
        match self.format {
            Format::DciLog(direction) => dci_log::read(direction, self.cell, line).map(Some),
            Format::Falcon => falcon::read(self.cell, line).map(Some),
            Format::NrScope => match self.columns {
                // Logs may follow one another, each with its header.
                Some(columns) => columns.read(self.cell, line).map(Some).or_else(|problem| {
                    self.columns = Some(nr_scope::Columns::of(line).map_err(|_| problem)?);
                    Ok(None)
                }),
                None => {
                    self.columns = Some(nr_scope::Columns::of(line)?);
                    Ok(None)
                }
            },
        }
    }

    /// Whether no line can be read, because there was none that says which columns there are.
    const fn lacks_header(&self) -> bool {
        matches!(self.format, Format::NrScope) && self.columns.is_none()
    }
}

/// Reads a file's bytes. A bad line is an error, and the lines after it are read.
#[derive(Clone, Debug)]
pub struct Reader<'a> {
    lines: Lines,
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    /// A reader of a file that is about one cell. NR-Scope may say the cell itself.
    pub const fn new(format: Format, cell: u8, bytes: &'a [u8]) -> Self {
        Self { lines: Lines::new(format, cell), rest: bytes }
    }

    /// What was met so far.
    pub const fn counts(&self) -> Counts {
        self.lines.counts
    }

    fn take_line(&mut self) -> Option<&'a [u8]> {
        if self.rest.is_empty() {
            return None;
        }
        let end = self.rest.iter().position(|&byte| byte == b'\n');
        let (line, rest) = self.rest.split_at(end.unwrap_or(self.rest.len()));
        self.rest = rest.get(1..).unwrap_or_default();
        Some(line)
    }
}

impl Iterator for Reader<'_> {
    type Item = Result<Heard, BadLine>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let line = self.take_line()?;
            let read = self.lines.handle_line(line);
            // Without a header no line can be read.
            if matches!(read, Some(Err(_))) && self.lines.lacks_header() {
                self.rest = &[];
            }
            if read.is_some() {
                return read;
            }
        }
    }
}

/// Reads a log while a sniffer writes it, in chunks of any size. It keeps no more than a line.
#[derive(Clone, Debug)]
pub struct LiveReader {
    lines: Lines,
    /// The beginning of a line whose end has not come.
    begun: Vec<u8>,
    /// The rest of a line is skipped: it is too long, or its beginning was not seen.
    skips: bool,
}

impl LiveReader {
    /// A reader of a log that is about one cell. NR-Scope may say the cell itself.
    pub const fn new(format: Format, cell: u8) -> Self {
        Self { lines: Lines::new(format, cell), begun: Vec::new(), skips: false }
    }

    /// What was met so far, in all logs since it was made.
    pub const fn counts(&self) -> Counts {
        self.lines.counts
    }

    /// What follows is a log from its beginning.
    pub fn handle_restart(&mut self) {
        self.begun.clear();
        self.skips = false;
        (self.lines.line, self.lines.columns) = (0, None);
    }

    /// Some of the log is left out: what follows begins within a line, and that line is skipped.
    pub fn handle_gap(&mut self) {
        self.begun.clear();
        self.skips = true;
    }

    /// Applies the next bytes of the log.
    pub fn handle_bytes(&mut self, mut bytes: &[u8], mut each: impl FnMut(Result<Heard, BadLine>)) {
        while let Some(end) = bytes.iter().position(|&byte| byte == b'\n') {
            let (line, rest) = (&bytes[..end], &bytes[end + 1..]);
            bytes = rest;
            if core::mem::take(&mut self.skips) {
                continue;
            }
            let read = if self.begun.is_empty() {
                self.lines.handle_line(line)
            } else {
                self.begun.extend_from_slice(line);
                let read = self.lines.handle_line(&self.begun);
                self.begun.clear();
                read
            };
            read.into_iter().for_each(&mut each);
        }
        if self.skips {
            return;
        }
        self.begun.extend_from_slice(bytes);
        // A carriage return at its end does not count.
        if self.begun.len() > LONGEST + 1 {
            let len = self.begun.len();
            self.lines.line += 1;
            each(Err(self.lines.bad(Problem::Long { len })));
            self.handle_gap();
        }
    }
}
