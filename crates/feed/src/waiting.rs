//! Lines that wait for a reader.

use std::collections::VecDeque;
use std::io::{self, ErrorKind, Write};
use std::sync::Arc;

/// So many wait at most. A slow reader then gets the newest ones.
const MOST: usize = 32;

/// What a reader has not taken yet.
#[derive(Debug, Default)]
pub struct Waiting {
    lines: VecDeque<Arc<[u8]>>,
    /// Bytes of the first that have left.
    left: usize,
}

impl Waiting {
    /// Adds a line. Of too many the oldest one goes that has not begun to leave.
    pub fn push(&mut self, line: Arc<[u8]>) {
        if self.lines.len() == MOST {
            self.lines.remove(usize::from(self.left > 0));
        }
        self.lines.push_back(line);
    }

    /// Whether everything has left.
    pub fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    /// Writes what an output without blocking takes.
    ///
    /// # Errors
    ///
    /// The output's, but for one that is full.
    pub fn write(&mut self, out: &mut impl Write) -> io::Result<()> {
        while let Some(line) = self.lines.front() {
            match out.write(&line[self.left..]) {
                Ok(0) => return Err(ErrorKind::WriteZero.into()),
                Ok(count) => {
                    self.left += count;
                    if self.left >= line.len() {
                        self.lines.pop_front();
                        self.left = 0;
                    }
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}
