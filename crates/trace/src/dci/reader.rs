//! Reads a file line by line, with any content.

use core::str;

use super::line::{BadLine, Problem};
use super::{Format, Heard, dci_log, falcon, nr_scope};

/// No sniffer writes longer lines. A file with a longer line has another format.
pub(super) const LONGEST: usize = 4096;

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

/// Reads a file's bytes. A bad line is an error, and the lines after it are read.
#[derive(Clone, Debug)]
pub struct Reader<'a> {
    format: Format,
    cell: u8,
    rest: &'a [u8],
    line: u64,
    columns: Option<nr_scope::Columns>,
    counts: Counts,
}

impl<'a> Reader<'a> {
    /// A reader of a file about one cell. NR-Scope's files name the cell themselves.
    pub const fn new(format: Format, cell: u8, bytes: &'a [u8]) -> Self {
        let counts = Counts { messages: 0, silent: 0, bad: 0 };
        Self { format, cell, rest: bytes, line: 0, columns: None, counts }
    }

    /// The counts until now.
    pub const fn counts(&self) -> Counts {
        self.counts
    }

    fn take_line(&mut self) -> Option<&'a [u8]> {
        if self.rest.is_empty() {
            return None;
        }
        self.line += 1;
        let end = self.rest.iter().position(|&byte| byte == b'\n');
        let (line, rest) = self.rest.split_at(end.unwrap_or(self.rest.len()));
        self.rest = rest.get(1..).unwrap_or_default();
        Some(line.strip_suffix(b"\r").unwrap_or(line))
    }

    /// `None` for an empty line or the header.
    fn read(&mut self, line: &[u8]) -> Result<Option<Heard>, Problem> {
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
                Some(columns) => columns.read(line).map(Some),
                None => {
                    // Without a header no line can be read.
                    let header = nr_scope::Columns::of(line);
                    self.columns = Some(header.inspect_err(|_| self.rest = &[])?);
                    Ok(None)
                }
            },
        }
    }
}

impl Iterator for Reader<'_> {
    type Item = Result<Heard, BadLine>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let line = self.take_line()?;
            match self.read(line) {
                Ok(None) => {}
                Ok(Some(heard)) => {
                    match heard {
                        Heard::Dci(_) => self.counts.messages += 1,
                        Heard::Nothing(_) => self.counts.silent += 1,
                    }
                    return Some(Ok(heard));
                }
                Err(problem) => {
                    self.counts.bad += 1;
                    return Some(Err(BadLine { line: self.line, problem }));
                }
            }
        }
    }
}
