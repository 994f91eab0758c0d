//! A reader of the feed.

use std::io::{self, BufRead, BufReader, Read};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::de::DeserializeOwned;
use thiserror::Error;

use crate::line::RATE;
use crate::{Greeting, Line, VERSION};

/// Longer lines are not the feed's.
pub(crate) const LONGEST: u64 = 4096;

/// Why the feed is not read.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum FeedError {
    /// The socket does not open.
    #[error("{path}: {source}: is `sounding run` with a [feed] there, and may this user read it?")]
    Open {
        /// The socket.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The daemon closed the feed, or it is silent.
    #[error("the feed ended: {0}")]
    Ended(io::Error),
    /// A line is not one of the feed's.
    #[error("line {number} is not one of the feed's: {what}")]
    Foreign {
        /// Its number, from 1.
        number: u64,
        /// What is wrong.
        what: String,
    },
    /// The daemon speaks a version that this reader does not know.
    #[error("the feed has version {0}, and this reader knows {VERSION}: update it")]
    Version(u32),
}

/// An open feed of a daemon on this machine.
pub type Reader = Lines<UnixStream>;

/// Lines of the feed from any stream: an iterator. It ends after an error.
#[derive(Debug)]
pub struct Lines<R> {
    input: BufReader<R>,
    greeting: Greeting,
    number: u64,
    is_over: bool,
}

impl Reader {
    /// Opens the socket of a daemon. A silence of ten of its longest gaps is an error.
    ///
    /// # Errors
    ///
    /// [`FeedError`] if it does not open, or is not the feed.
    pub fn open(path: &Path) -> Result<Self, FeedError> {
        let fail = |source| FeedError::Open { path: path.into(), source };
        let stream = UnixStream::connect(path).map_err(fail)?;
        stream.set_read_timeout(Some(Duration::from_secs(5))).map_err(fail)?;
        let lines = Self::new(stream)?;
        let silence = Duration::from_millis(lines.greeting.longest_gap_ms.clamp(1, 10_000) * 10);
        lines.input.get_ref().set_read_timeout(Some(silence)).map_err(fail)?;
        Ok(lines)
    }
}

impl<R: Read> Lines<R> {
    /// Reads the greeting of a stream.
    ///
    /// # Errors
    ///
    /// [`FeedError`] if there is none, or it is another version's.
    pub fn new(stream: R) -> Result<Self, FeedError> {
        let greeting = Greeting::new(Duration::ZERO);
        let input = BufReader::new(stream);
        let mut lines = Self { input, greeting, number: 0, is_over: false };
        let text = lines.text()?;
        lines.greeting = parse_greeting(&text, lines.number)?;
        Ok(lines)
    }

    /// What the daemon said first.
    pub fn greeting(&self) -> &Greeting {
        &self.greeting
    }

    fn text(&mut self) -> Result<Vec<u8>, FeedError> {
        let mut text = Vec::new();
        let read = (&mut self.input).take(LONGEST).read_until(b'\n', &mut text);
        self.number += 1;
        match read {
            Ok(_) if text.last() == Some(&b'\n') => Ok(text),
            Ok(_) if text.len() as u64 == LONGEST => Err(too_long(self.number)),
            Ok(_) => Err(FeedError::Ended(io::ErrorKind::UnexpectedEof.into())),
            Err(error) if is_silence(&error) => {
                let error = io::Error::new(io::ErrorKind::TimedOut, "no line came for too long");
                Err(FeedError::Ended(error))
            }
            Err(error) => Err(FeedError::Ended(error)),
        }
    }
}

/// Whether a read took longer than it may: Linux says so by `EAGAIN`.
fn is_silence(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut)
}

/// A value of the feed: a greeting, or a line.
pub(crate) fn parse<T: DeserializeOwned>(text: &[u8], number: u64) -> Result<T, FeedError> {
    serde_json::from_slice(text)
        .map_err(|error| FeedError::Foreign { number, what: error.to_string() })
}

/// A greeting of the version that this reader knows.
pub(crate) fn parse_greeting(text: &[u8], number: u64) -> Result<Greeting, FeedError> {
    let greeting: Greeting = parse(text, number)?;
    match (greeting.feed.as_str(), greeting.version) {
        (RATE, VERSION) => Ok(greeting),
        (RATE, other) => Err(FeedError::Version(other)),
        (feed, _) => {
            let what = format!("it greets as {feed:?}, not as {RATE:?}");
            Err(FeedError::Foreign { number, what })
        }
    }
}

pub(crate) fn too_long(number: u64) -> FeedError {
    FeedError::Foreign { number, what: format!("it is longer than {LONGEST} bytes") }
}

impl<R: Read> Iterator for Lines<R> {
    type Item = Result<Line, FeedError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.is_over {
            return None;
        }
        let line = self.text().and_then(|text| parse(&text, self.number));
        self.is_over = line.is_err();
        Some(line)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GREETING: &str = r#"{"feed":"rate","version":1,"longest_gap_ms":100}"#;
    const LINE: &str =
        r#"{"number":1,"modem":"m","direction":"uplink","made_at_ns":1,"valid_for_ms":200.0}"#;

    fn lines(text: &str) -> Result<Lines<&[u8]>, FeedError> {
        Lines::new(text.as_bytes())
    }

    #[test]
    fn lines_follow_the_greeting_until_the_daemon_ends() {
        let text = format!("{GREETING}\n{LINE}\n");
        let mut lines = lines(&text).unwrap();
        assert_eq!(lines.greeting().longest_gap_ms, 100);
        assert_eq!(lines.next().unwrap().unwrap().rate_bits_per_sec, None);
        assert!(matches!(lines.next(), Some(Err(FeedError::Ended(_)))));
        assert!(lines.next().is_none());
    }

    #[test]
    fn foreign_input_is_an_error_with_its_place() {
        let other = GREETING.replace("\"version\":1", "\"version\":2") + "\n";
        assert!(matches!(lines(&other), Err(FeedError::Version(2))));
        let other = GREETING.replace("\"rate\"", "\"board\"") + "\n";
        assert!(matches!(lines(&other), Err(FeedError::Foreign { number: 1, .. })));
        assert!(matches!(lines("HTTP/1.1 400\n"), Err(FeedError::Foreign { number: 1, .. })));
        assert!(matches!(lines(""), Err(FeedError::Ended(_))));
        let long = format!("{GREETING}\n{}", "x".repeat(10_000));
        let found = lines(&long).unwrap().next();
        assert!(matches!(found, Some(Err(FeedError::Foreign { number: 2, .. }))), "{found:?}");
    }
}
