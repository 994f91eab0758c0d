use std::collections::VecDeque;
use std::io;
use std::time::Duration;

use sounding_diag::capture::Framing;
use sounding_diag::session::{Event, Identity, Lack, Session, Wanted};
use sounding_diag::{LogCode, LogRecord};
use sounding_host::monotonic_now;
use sounding_units::HostInstant;

use crate::drains::Drains;
use crate::memory::{self, Memory};
use crate::poll_interval::PollInterval;
use crate::{Read, Source, Transport};

/// A port with a session over it: sets and restores masks and drains buffers, whenever its reader
/// calls it.
///
/// The reader takes bytes with [`read`](Self::read). It passes each packet in them to
/// [`handle_log`](Self::handle_log) and [`handle_other`](Self::handle_other). It calls
/// [`tick`](Self::tick) in each turn of its loop.
#[derive(Debug)]
pub(crate) struct Live {
    transport: Option<Box<dyn Transport>>,
    session: Option<Session>,
    memory: Option<Memory>,
    drains: Drains,
    pace: PollInterval,
    request: Vec<u8>,
    /// What a port that has closed had said, and its lost records.
    last: (VecDeque<Event>, u64),
}

impl Live {
    /// A port whose modem gets the `wanted` log mask, or keeps its mask if there is none.
    pub(crate) fn new(transport: Box<dyn Transport>, wanted: Option<Wanted>) -> Self {
        let wanted = wanted.filter(|_| transport.takes_requests());
        let mut live = Self::absent(wanted);
        live.transport = Some(transport);
        live
    }

    /// The same for a port that is not there yet: [`reopen`](Self::reopen) brings it.
    pub(crate) fn absent(wanted: Option<Wanted>) -> Self {
        Self {
            transport: None,
            session: wanted.map(Session::new),
            memory: None,
            drains: Drains::default(),
            pace: PollInterval::default(),
            request: Vec::new(),
            last: (VecDeque::new(), 0),
        }
    }

    /// Other records are wanted from now on.
    pub(crate) fn handle_wanted(&mut self, wanted: Wanted) {
        if let Some(session) = &mut self.session {
            session.handle_wanted(wanted);
        }
    }

    /// The port cannot be read any more.
    pub(crate) fn close(&mut self) {
        if let Some(mut port) = self.transport.take() {
            self.last.0.extend(std::iter::from_fn(|| port.poll_event()));
            self.last.1 += port.lost();
        }
    }

    /// Also restores the mask that an earlier, killed session on this source had found, and saves a
    /// note for the next session in case this one is killed. Notes of ports that are gone are
    /// deleted and reported.
    #[must_use]
    pub(crate) fn remembering(mut self, source: &Source) -> Self {
        if let Some(session) = &mut self.session {
            memory::forget_gone().into_iter().for_each(|port| session.forgo(port));
            match Memory::open(source) {
                Ok(memory) => self.memory = memory,
                Err(why) => session.handle_unkept(why.to_string()),
            }
            if let Some(memory) = &self.memory {
                session.recall(memory.note().clone());
            }
        }
        self
    }

    /// Also sets a log mask that the modem does not tell, if `even_untold`. That mask stays at the
    /// end.
    #[must_use]
    pub(crate) fn setting_untold(mut self, even_untold: bool) -> Self {
        if let Some(session) = self.session.as_mut().filter(|_| even_untold) {
            session.set_untold();
        }
        self
    }

    /// For a reader that does not need fresh records and prefers few wake-ups.
    #[must_use]
    pub(crate) fn in_no_hurry(mut self) -> Self {
        (self.drains, self.pace) = (Drains::seldom(), PollInterval::seldom());
        self
    }

    /// Whether the port is open.
    pub(crate) fn is_open(&self) -> bool {
        self.transport.is_some()
    }

    /// The framing of the bytes that reads return.
    pub(crate) fn framing(&self) -> Framing {
        self.transport.as_ref().map_or(Framing::Hdlc, |transport| transport.framing())
    }

    /// Whether the modem's buffers are drained on a tick.
    pub(crate) fn drains(&self) -> bool {
        self.transport.as_ref().is_some_and(|transport| transport.can_drain())
    }

    /// Waits up to `patience` for bytes and reads what is there. A port that closes stays closed
    /// until [`reopen`](Self::reopen).
    pub(crate) fn read(&mut self, buffer: &mut [u8], patience: Duration) -> io::Result<Read> {
        let Some(transport) = &mut self.transport else { return Ok(Read::Closed) };
        let now = monotonic_now();
        let drain = transport.can_drain().then(|| self.drains.due());
        let patience = drain.map_or(patience, |drain| patience.min(drain - now));
        // A port that gives one packet a read has others waiting, however little the last brought.
        let rest = match transport.framing() {
            Framing::Hdlc => self.pace.rest(now, drain).min(patience),
            Framing::Packet => Duration::ZERO,
        };
        if !rest.is_zero() {
            std::thread::sleep(rest);
        }
        let read = transport.read(buffer, patience - rest)?;
        match read {
            Read::Bytes(count) => self.pace.handle_read(monotonic_now(), count),
            Read::Idle => {}
            Read::Closed => self.close(),
        }
        Ok(read)
    }

    /// The port is there again.
    pub(crate) fn reopen(&mut self, transport: Box<dyn Transport>) {
        if !transport.takes_requests() {
            self.session = None;
        }
        self.transport = Some(transport);
        if let Some(session) = &mut self.session {
            session.handle_reconnect();
        }
    }

    /// A log record was in the bytes read.
    pub(crate) fn handle_log(&mut self, now: HostInstant, record: &LogRecord<'_>) {
        if let Some(at) = record.time().filter(|_| self.drains()) {
            self.drains.handle_record(at);
        }
        if let Some(session) = &mut self.session {
            session.handle_log(now, record.code, record.body.len());
        }
    }

    /// A packet that is no log record was in the bytes read.
    pub(crate) fn handle_other(&mut self, now: HostInstant, command: u8, body: &[u8]) {
        if let Some(session) = &mut self.session {
            session.handle_other(now, command, body);
        }
    }

    /// Sends due requests. A port that does not accept them is detected by the next read, or by the
    /// missing answer.
    pub(crate) fn tick(&mut self, now: HostInstant) {
        let Some(transport) = &mut self.transport else { return };
        if let Some(session) = &mut self.session {
            self.request.clear();
            if session.poll_request(now, &mut self.request) {
                if let Some(memory) = &mut self.memory
                    && let Err(why) = memory.keep(session.note())
                {
                    session.handle_unkept(why.to_string());
                }
                let _ = transport.send(&self.request);
            }
        }
        if transport.can_drain() && self.drains.handle_time(now) {
            let _ = transport.drain();
        }
    }

    /// The next event of the session.
    pub(crate) fn poll_event(&mut self) -> Option<Event> {
        let Self { session, transport, last, .. } = self;
        let of_session = session.as_mut().and_then(Session::poll_event);
        let of_port = || transport.as_mut()?.poll_event();
        of_session.or_else(|| last.0.pop_front()).or_else(of_port)
    }

    /// When the bytes of the last read came to this host.
    pub(crate) fn arrived(&self) -> HostInstant {
        let before = self.transport.as_ref().and_then(|transport| transport.arrived());
        before.unwrap_or_else(monotonic_now)
    }

    /// Records that another process dropped for this reader.
    pub(crate) fn lost(&self) -> u64 {
        self.last.1 + self.transport.as_ref().map_or(0, |transport| transport.lost())
    }

    /// Readers beside this one want these codes too.
    pub(crate) fn handle_guests(&mut self, codes: &[LogCode]) {
        if let Some(session) = &mut self.session {
            session.handle_guests(codes);
        }
    }

    /// Why a code is not on, as [`Session::lack`] says it. Without a session no mask is set.
    pub(crate) fn lack(&self, code: LogCode) -> Option<Option<Lack>> {
        self.session.as_ref().map_or(Some(Some(Lack::Kept)), |session| session.lack(code))
    }

    /// What the modem has told of itself.
    pub(crate) fn identity(&self) -> Option<&Identity> {
        self.session.as_ref().map(Session::identity)
    }

    /// Begins to put masks back. Go on reading and ticking until [`is_over`](Self::is_over).
    pub(crate) fn handle_end(&mut self, now: HostInstant) {
        if let Some(session) = &mut self.session {
            session.handle_end(now);
        }
    }

    /// True when nothing is left to restore, or the modem is gone.
    pub(crate) fn is_over(&self) -> bool {
        self.transport.is_none() || self.session.as_ref().is_none_or(Session::is_over)
    }

    /// Codes that the budget has switched off.
    pub(crate) fn switched_off(&self) -> &[LogCode] {
        self.session.as_ref().map_or(&[], |session| session.switched_off())
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        if let (Some(session), Some(memory)) = (&self.session, &mut self.memory) {
            // Events are no longer polled. State that could not be saved was already reported.
            let _ = memory.keep(session.note());
        }
    }
}
