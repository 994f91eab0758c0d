//! The newest line of each direction, for a program that asks whenever it likes.

use std::collections::VecDeque;
use std::io::{ErrorKind, Read};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

use sounding_estimate::Direction;
use sounding_units::{HostInstant, Rate};

use crate::reader::{FeedError, LONGEST, parse, parse_greeting, too_long};
use crate::{DelayEvent, Greeting, Line};

/// A daemon that is dead is looked for so often. Chosen: a restart takes longer.
const RETRY: Duration = Duration::from_millis(500);

/// Of so many directions lines are kept. More are not a daemon's.
const MOST: usize = 64;

/// So many bytes are taken in one turn, so that no other end keeps this one.
const TURN: usize = 256 * 1024;

/// So many delays wait for the program that asks; the oldest are dropped. A thousand are those of
/// some seconds.
const MOST_DELAYS: usize = 1024;

/// A delay of a modem's radio.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct HeardDelay {
    /// The modem's name.
    pub modem: String,
    /// Uplink or downlink.
    pub direction: Direction,
    /// Counts the events of this modem and direction.
    pub number: u64,
    /// The event.
    pub event: DelayEvent,
}

/// The newest line of each modem and direction. Nothing here waits. When the daemon dies, its lines
/// go, and it is looked for every half second.
#[derive(Debug)]
pub struct Newest {
    path: PathBuf,
    stream: Option<UnixStream>,
    /// How often it has connected.
    connections: u64,
    tried: Option<HostInstant>,
    trouble: Option<FeedError>,
    greeting: Option<Greeting>,
    /// What has come of the next line.
    begun: Vec<u8>,
    /// Lines of this connection, the greeting included.
    count: u64,
    lines: Vec<Line>,
    delays: VecDeque<HeardDelay>,
}

impl Newest {
    /// Of the feed whose socket this is. It need not be there yet.
    pub fn new(path: &Path) -> Self {
        Self {
            path: path.into(),
            stream: None,
            connections: 0,
            tried: None,
            trouble: None,
            greeting: None,
            begun: Vec::new(),
            count: 0,
            lines: Vec::new(),
            delays: VecDeque::new(),
        }
    }

    /// The same of a socket that has to be there.
    ///
    /// # Errors
    ///
    /// [`FeedError::Open`] if it does not open.
    pub fn open(path: &Path) -> Result<Self, FeedError> {
        let mut newest = Self::new(path);
        newest.connect()?;
        Ok(newest)
    }

    /// Takes the lines that have come, or connects again. This is due before each question.
    pub fn handle_now(&mut self, now: HostInstant) {
        if self.stream.is_none() {
            if self.tried.is_some_and(|at| now - at < RETRY) {
                return;
            }
            self.tried = Some(now);
            if let Err(error) = self.connect() {
                self.trouble = Some(error);
                return;
            }
        }
        if let Err(error) = self.take() {
            self.stream = None;
            self.lines.clear();
            self.tried = Some(now);
            self.trouble = Some(error);
        }
    }

    /// Why there is no connection, if there is none.
    pub fn trouble(&self) -> Option<&FeedError> {
        self.trouble.as_ref().filter(|_| self.stream.is_none())
    }

    /// The connection, to wait for lines, and how many were before it.
    pub fn connection(&self) -> Option<(BorrowedFd<'_>, u64)> {
        self.stream.as_ref().map(|stream| (stream.as_fd(), self.connections))
    }

    /// All lines: the newest of each modem and direction.
    pub fn lines(&self) -> &[Line] {
        &self.lines
    }

    /// The newest line of a modem's direction. Without a name: of the first modem that the feed
    /// named.
    pub fn line(&self, modem: Option<&str>, way: Direction) -> Option<&Line> {
        let modem = modem.or_else(|| self.lines.first().map(|line| line.modem.as_str()))?;
        self.lines.iter().find(|line| line.modem == modem && line.way() == Some(way))
    }

    /// What a sender should take now. `None` where the feed is dead, silent or gives no advice.
    pub fn advice(&self, modem: Option<&str>, way: Direction, now: HostInstant) -> Option<Rate> {
        let line = self.line(modem, way).filter(|line| line.is_valid(now))?;
        line.advice_bits_per_sec.map(Rate::from_bits_per_sec)
    }

    /// The next delay of a radio. Only a daemon that is asked for delays has any.
    pub fn poll_delay(&mut self) -> Option<HeardDelay> {
        self.delays.pop_front()
    }

    fn connect(&mut self) -> Result<(), FeedError> {
        let fail = |source| FeedError::Open { path: self.path.clone(), source };
        let stream = UnixStream::connect(&self.path).map_err(fail)?;
        stream.set_nonblocking(true).map_err(fail)?;
        self.connections += 1;
        self.greeting = None;
        self.count = 0;
        self.begun.clear();
        self.stream = Some(stream);
        Ok(())
    }

    fn take(&mut self) -> Result<(), FeedError> {
        let mut bytes = [0; 4096];
        for _ in 0..TURN / bytes.len() {
            let Some(stream) = &mut self.stream else { return Ok(()) };
            match stream.read(&mut bytes) {
                Ok(0) => return Err(FeedError::Ended(ErrorKind::UnexpectedEof.into())),
                Ok(count) => self.handle_bytes(&bytes[..count])?,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(FeedError::Ended(error)),
            }
        }
        Ok(())
    }

    fn handle_bytes(&mut self, mut bytes: &[u8]) -> Result<(), FeedError> {
        while let Some(end) = bytes.iter().position(|byte| *byte == b'\n') {
            self.begun.extend_from_slice(&bytes[..end]);
            bytes = &bytes[end + 1..];
            let text = std::mem::take(&mut self.begun);
            self.handle_line(&text)?;
        }
        self.begun.extend_from_slice(bytes);
        match self.begun.len() as u64 {
            0..LONGEST => Ok(()),
            _ => Err(too_long(self.count.max(1))),
        }
    }

    fn handle_line(&mut self, text: &[u8]) -> Result<(), FeedError> {
        self.count += 1;
        if self.greeting.is_none() {
            self.greeting = Some(parse_greeting(text, self.count)?);
            return Ok(());
        }
        let mut line: Line = parse(text, self.count)?;
        if let (Some(direction), Some(delays)) = (line.way(), line.delays.take()) {
            for (place, event) in (0..).zip(delays.events) {
                let number = delays.first.saturating_add(place);
                let modem = line.modem.clone();
                self.delays.push_back(HeardDelay { modem, direction, number, event });
            }
            let excess = self.delays.len().saturating_sub(MOST_DELAYS);
            self.delays.drain(..excess);
        }
        let is_same = |old: &Line| old.modem == line.modem && old.direction == line.direction;
        match self.lines.iter().position(is_same) {
            Some(index) => self.lines[index] = line,
            None if self.lines.len() < MOST => self.lines.push(line),
            None => {
                let what = format!("there are over {MOST} directions");
                return Err(FeedError::Foreign { number: self.count, what });
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;
    use std::os::unix::net::UnixListener;

    use super::*;

    const GREETING: &str = r#"{"feed":"rate","version":1,"longest_gap_ms":100}"#;

    fn line(modem: &str, way: &str, number: u64, advice: &str) -> String {
        format!(
            r#"{{"number":{number},"modem":"{modem}","direction":"{way}","made_at_ns":1000{advice},"valid_for_ms":200.0}}"#
        ) + "\n"
    }

    fn at(ms: u64) -> HostInstant {
        HostInstant::from_nanos(ms * 1_000_000)
    }

    /// A daemon that has said this, and its reader.
    fn told(text: &str) -> (tempfile::TempDir, UnixStream, Newest) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("wan.rate");
        let daemon = UnixListener::bind(&path).unwrap();
        let mut newest = Newest::open(&path).unwrap();
        let (mut stream, _) = daemon.accept().unwrap();
        stream.write_all(text.as_bytes()).unwrap();
        newest.handle_now(at(0));
        (folder, stream, newest)
    }

    #[test]
    fn the_newest_line_of_each_direction_is_kept_until_it_is_no_longer_valid() {
        let said = [
            GREETING.to_owned() + "\n",
            line("a", "uplink", 1, r#","advice_bits_per_sec":1000"#),
            line("a", "uplink", 2, r#","advice_bits_per_sec":2000"#),
            line("b", "uplink", 1, ""),
        ];
        let (_folder, mut stream, mut newest) = told(&said.concat());
        let up = Direction::Uplink;
        assert_eq!(newest.lines().len(), 2);
        assert_eq!(newest.advice(Some("a"), up, at(100)), Some(Rate::from_bits_per_sec(2000)));
        assert_eq!(newest.advice(None, up, at(100)), Some(Rate::from_bits_per_sec(2000)));
        assert_eq!(newest.advice(Some("a"), up, at(201)), None, "it is too old");
        assert_eq!(newest.advice(Some("b"), up, at(100)), None, "there is none");
        assert_eq!(newest.advice(Some("a"), Direction::Downlink, at(100)), None);
        // Half a line waits for its rest.
        let next = line("a", "uplink", 3, "");
        stream.write_all(&next.as_bytes()[..20]).unwrap();
        newest.handle_now(at(1));
        assert_eq!(newest.line(Some("a"), up).unwrap().number, 2);
        stream.write_all(&next.as_bytes()[20..]).unwrap();
        newest.handle_now(at(2));
        assert_eq!(newest.line(Some("a"), up).unwrap().number, 3);
    }

    #[test]
    fn delays_wait_for_who_asks_and_the_oldest_are_dropped() {
        let event = r#"{"kind":"harq","from_ns":1,"to_ns":9,"amount_ns":8,"age_ns":2,"confidence":"decoded"}"#;
        let events = [event; 12].join(",");
        let delays = |first: u64| format!(r#","delays":{{"first":{first},"events":[{events}]}}"#);
        let said = |n: u64| line("a", "downlink", n, &delays(12 * n + 1));
        let said: String = (0..100).map(said).collect();
        let (_folder, _stream, mut newest) = told(&format!("{GREETING}\n{said}"));
        assert_eq!(newest.lines().len(), 1);
        let heard: Vec<_> = std::iter::from_fn(|| newest.poll_delay()).collect();
        let numbers: Vec<_> = heard.iter().map(|delay| delay.number).collect();
        assert_eq!(numbers, (1200 - MOST_DELAYS as u64 + 1..=1200).collect::<Vec<_>>());
        assert_eq!((heard[0].direction, heard[0].event.amount_ns), (Direction::Downlink, 8));
    }

    #[test]
    fn a_daemon_that_died_has_no_advice_and_is_looked_for() {
        let said =
            GREETING.to_owned() + "\n" + &line("a", "uplink", 1, r#","advice_bits_per_sec":1000"#);
        let (folder, stream, mut newest) = told(&said);
        drop(stream);
        newest.handle_now(at(1));
        assert!(matches!(newest.trouble(), Some(FeedError::Ended(_))), "{newest:?}");
        assert_eq!(newest.advice(None, Direction::Uplink, at(1)), None);
        std::fs::remove_file(folder.path().join("wan.rate")).unwrap();
        let daemon = UnixListener::bind(folder.path().join("wan.rate")).unwrap();
        newest.handle_now(at(400));
        assert!(newest.connection().is_none(), "it is early");
        newest.handle_now(at(502));
        let (mut stream, _) = daemon.accept().unwrap();
        stream.write_all(said.as_bytes()).unwrap();
        newest.handle_now(at(503));
        assert!(newest.trouble().is_none() && newest.line(None, Direction::Uplink).is_some());
        assert_eq!(newest.connection().unwrap().1, 2);
    }

    #[test]
    fn foreign_lines_end_the_connection() {
        let other = GREETING.replace("\"version\":1", "\"version\":2") + "\n";
        assert!(matches!(told(&other).2.trouble(), Some(FeedError::Version(2))));
        for text in ["HTTP/1.1 400\n", &"x".repeat(5_000)] {
            let newest = told(text).2;
            let trouble = newest.trouble();
            assert!(matches!(trouble, Some(FeedError::Foreign { number: 1, .. })), "{trouble:?}");
        }
        let crowd: String = (0..65).map(|n| line(&format!("m{n}"), "uplink", 1, "")).collect();
        let newest = told(&format!("{GREETING}\n{crowd}")).2;
        assert!(matches!(newest.trouble(), Some(FeedError::Foreign { number: 66, .. })));
    }
}
