//! A client, from its request's head to the end of its answer.

use std::io::{self, ErrorKind, Read as _, Write as _};
use std::net::{Shutdown, TcpStream};
use std::sync::Arc;
use std::time::{Duration, Instant};

use nix::poll::PollFlags;
use nix::sys::socket::{setsockopt, sockopt};
use sounding_feed::Waiting;
use sounding_host::monotonic_now;

use crate::answer::{self, Answer};
use crate::history::Span;
use crate::metrics::{Own, metrics};
use crate::request::{Door, MOST, Request};
use crate::status;
use crate::store::{Key, Store};

/// A head has to be whole by then.
const HEAD: Duration = Duration::from_secs(5);
/// A client that takes nothing for so long is gone.
const TAKEN: Duration = Duration::from_secs(15);
/// A client that has its answer closes by then.
const LEFT: Duration = Duration::from_secs(1);

/// What the kernel holds for a client in each direction, in bytes: it holds twice as much.
const HELD: usize = 16 * 1024;

/// What the server knows, for an answer.
pub(crate) struct Known<'k> {
    pub(crate) store: &'k Store,
    pub(crate) door: &'k Door,
    pub(crate) own: &'k mut Own,
    /// The first event of a feed.
    pub(crate) greeting: &'k [u8],
}

/// One client. It is left alone when it is slow, and closed when it is late.
pub(crate) struct Connection {
    pub(crate) socket: TcpStream,
    state: State,
    /// What is to leave, and how much of it has left.
    out: Vec<u8>,
    left: usize,
    due: Instant,
}

/// ```text
///   Head ──whole──▶ Answer ──▶ Leaving ──▶ closed
///     │               ▲ │ the next piece
///     │               └─┘
///     └──/feed──▶ Feed ──▶ closed
/// ```
enum State {
    Head(Vec<u8>),
    /// With the pieces that follow, of a long answer.
    Answer(Option<Pieces>),
    Feed(Waiting),
    /// All has left. A close with unread bytes would take the answer from the client.
    Leaving,
}

/// The series of a history that have not left.
struct Pieces {
    span: Span,
    after: Option<Key>,
}

impl Connection {
    pub(crate) fn new(socket: TcpStream, now: Instant) -> io::Result<Self> {
        socket.set_nonblocking(true)?;
        socket.set_nodelay(true)?;
        setsockopt(&socket, sockopt::SndBuf, &HELD)?;
        setsockopt(&socket, sockopt::RcvBuf, &HELD)?;
        let state = State::Head(Vec::new());
        Ok(Self { socket, state, out: Vec::new(), left: 0, due: now + HEAD })
    }

    /// Whether it waits for lines of the feed.
    pub(crate) const fn is_feed(&self) -> bool {
        matches!(self.state, State::Feed(_))
    }

    /// Whether it has asked for nothing yet, so that any user's may take the place of its.
    pub(crate) const fn is_unknown(&self) -> bool {
        matches!(self.state, State::Head(_) | State::Leaving)
    }

    fn has_more(&self) -> bool {
        self.left < self.out.len()
            || matches!(&self.state, State::Feed(waiting) if !waiting.is_empty())
    }

    /// Whether it is late, or has lines that were not tried yet.
    pub(crate) fn is_due(&self, now: Instant) -> bool {
        now >= self.due || (self.is_feed() && self.has_more())
    }

    /// What it waits for.
    pub(crate) fn interest(&self) -> PollFlags {
        match &self.state {
            State::Head(_) | State::Leaving => PollFlags::POLLIN,
            State::Answer(_) => PollFlags::POLLOUT,
            State::Feed(_) if self.has_more() => PollFlags::POLLIN | PollFlags::POLLOUT,
            State::Feed(_) => PollFlags::POLLIN,
        }
    }

    /// An event of the feed.
    pub(crate) fn push(&mut self, event: &Arc<[u8]>, now: Instant) {
        let idle = !self.has_more();
        if let State::Feed(waiting) = &mut self.state {
            waiting.push(Arc::clone(event));
            if idle {
                self.due = now + TAKEN;
            }
        }
    }

    /// Does what can be done without waiting. An error or `false` closes it.
    pub(crate) fn turn(&mut self, now: Instant, known: &mut Known<'_>) -> io::Result<bool> {
        if matches!(self.state, State::Head(_)) {
            self.read_head(now, known)?;
        }
        if matches!(self.state, State::Feed(_) | State::Leaving) && !self.read_on()? {
            return Ok(false);
        }
        if matches!(self.state, State::Answer(_) | State::Feed(_)) {
            self.write(now, known)?;
        }
        let waits = !self.is_feed() || self.has_more();
        Ok(!(waits && now >= self.due))
    }

    fn read_head(&mut self, now: Instant, known: &mut Known<'_>) -> io::Result<()> {
        let State::Head(head) = &mut self.state else { return Ok(()) };
        let mut bytes = [0; 2048];
        while head.len() < MOST {
            let room = bytes.len().min(MOST - head.len());
            match self.socket.read(&mut bytes[..room]) {
                Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
                Ok(count) => head.extend_from_slice(&bytes[..count]),
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            }
            // A client may close its side after the head.
            if let Some(request) = Request::parse(head) {
                let (answer, _) = Answer::to(request, known.door);
                self.answer(answer, now, known);
                return Ok(());
            }
        }
        Ok(())
    }

    fn answer(&mut self, answer: Answer, now: Instant, known: &mut Known<'_>) {
        known.own.requests += 1;
        known.own.refused += u64::from(answer.is_refusal());
        let ok = "200 OK";
        let json = "application/json";
        (self.state, self.due, self.left) = (State::Answer(None), now + TAKEN, 0);
        self.out = match answer {
            Answer::Page(kind, text) => answer::whole(ok, kind, text),
            Answer::KeepToken => answer::keep_token(known.door),
            Answer::Status => {
                let said = status::status(known.store, known.own.up);
                answer::whole(ok, json, &said.to_string())
            }
            Answer::Metrics => {
                let kind = "text/plain; version=0.0.4";
                answer::whole(ok, kind, &metrics(known.store, *known.own, monotonic_now()))
            }
            Answer::History(span) => {
                self.state = State::Answer(Some(Pieces { span, after: None }));
                (answer::head(ok, json, None, "") + &status::history_begins(span)).into_bytes()
            }
            Answer::Feed => {
                self.state = State::Feed(Waiting::default());
                let mut out = answer::head(ok, "text/event-stream", None, "").into_bytes();
                out.extend_from_slice(known.greeting);
                out
            }
            Answer::Refused(refusal, is_page) => answer::refused(refusal, is_page),
        };
    }

    fn write(&mut self, now: Instant, known: &Known<'_>) -> io::Result<()> {
        loop {
            while self.left < self.out.len() {
                match self.socket.write(&self.out[self.left..]) {
                    Ok(0) => return Err(ErrorKind::WriteZero.into()),
                    Ok(count) => {
                        self.left += count;
                        self.due = now + TAKEN;
                    }
                    Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                    Err(error) if error.kind() == ErrorKind::Interrupted => {}
                    Err(error) => return Err(error),
                }
            }
            (self.out, self.left) = (Vec::new(), 0);
            match &mut self.state {
                State::Feed(waiting) => {
                    waiting.write(&mut self.socket)?;
                    if waiting.is_empty() {
                        self.due = now + TAKEN;
                    }
                    return Ok(());
                }
                State::Answer(pieces) => match pieces.take() {
                    Some(Pieces { span, after }) => {
                        let next = status::history_goes_on(known.store, span, after.as_ref());
                        let (text, after) = match next {
                            Some((key, text)) => (text, Some(Pieces { span, after: Some(key) })),
                            None => ("]}".into(), None),
                        };
                        (self.out, *pieces) = (text.into_bytes(), after);
                    }
                    None => {
                        self.socket.shutdown(Shutdown::Write)?;
                        (self.state, self.due) = (State::Leaving, now + LEFT);
                        return Ok(());
                    }
                },
                State::Head(_) | State::Leaving => return Ok(()),
            }
        }
    }

    /// Throws away what the client still sends; `false` if it has closed.
    fn read_on(&mut self) -> io::Result<bool> {
        let mut bytes = [0; 4096];
        match self.socket.read(&mut bytes) {
            Ok(0) => Ok(false),
            Ok(_) => Ok(true),
            Err(error) if error.kind() == ErrorKind::WouldBlock => Ok(true),
            Err(error) if error.kind() == ErrorKind::Interrupted => Ok(true),
            Err(error) => Err(error),
        }
    }
}
