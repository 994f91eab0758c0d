use std::io;
use std::time::Duration;

use sounding_diag::LogCode;
use sounding_diag::capture::{Damage, Framing, Located, Reader};
use sounding_diag::packet::Packet;
use sounding_diag::session::{Event, Identity, Lack, Wanted};
use sounding_host::monotonic_now;
use sounding_units::HostInstant;

use crate::live::Live;
use crate::reopening::Reopening;
use crate::{OpenError, READ_SIZE, Read, Retry, Source, Transport};

/// A modem that is read: its port, the session over it, and the wait for a port that closed.
///
/// ```text
///   open ─▶ turn, turn, …                        ─▶ handle_end ─▶ turn, turn, … is_over
///           bytes ─▶ packets ─▶ back to the session    the log mask found goes back
///           closed ─▶ tried again ─▶ reopened
/// ```
///
/// Its user calls [`turn`](Self::turn) in a loop, hands the packets in the bytes back to [`Bytes`],
/// and takes what the session tells with [`poll_event`](Self::poll_event). The log mask that an
/// earlier, killed session had found is put back too.
#[derive(Debug)]
pub struct Pump {
    live: Live,
    source: Source,
    buffer: Vec<u8>,
    waits: bool,
    retry: Retry,
    reopening: Option<Reopening>,
    since: Since,
    ending: Option<HostInstant>,
}

/// What came since the port was opened.
#[derive(Clone, Copy, Debug)]
struct Since {
    opened: HostInstant,
    bytes: u64,
    /// Whether a packet came, or it was told that none did.
    is_settled: bool,
}

/// What one turn brought.
#[derive(Debug)]
pub enum Turn<'a> {
    /// Bytes.
    Bytes(Bytes<'a>),
    /// Nothing.
    Idle,
    /// The port closed. If the pump waits for it, it is left alone for this long and then tried
    /// until it opens.
    Closed(Option<Duration>),
    /// It is open again.
    Reopened,
}

/// The bytes of one read, and the session that their packets go to.
#[derive(Debug)]
pub struct Bytes<'a> {
    /// When they came.
    pub now: HostInstant,
    /// How packets are found in them.
    pub framing: Framing,
    /// The bytes.
    pub bytes: &'a [u8],
    /// Takes each packet in them.
    pub session: Packets<'a>,
}

/// The session's side of a read.
#[derive(Debug)]
pub struct Packets<'a> {
    live: &'a mut Live,
    since: &'a mut Since,
    now: HostInstant,
}

/// A port without one valid packet for this long is not a modem's, or its modem logs nothing.
const MUTE_AFTER: Duration = Duration::from_secs(5);

/// A modem that does not take its log mask back within this keeps the one it has.
const PUT_BACK: Duration = Duration::from_secs(2);

impl Pump {
    /// Opens the source. Its modem gets the `wanted` log mask, or keeps its mask if there is none.
    ///
    /// # Errors
    ///
    /// [`OpenError`] if the source is missing, denied, in use or no modem's port.
    pub fn open(source: Source, wanted: Option<Wanted>) -> Result<Self, OpenError> {
        let port = source.open()?;
        Ok(Self::over(source, port, wanted))
    }

    /// The same for a source that is already open.
    pub fn over(source: Source, port: Box<dyn Transport>, wanted: Option<Wanted>) -> Self {
        Self::of(source, |source| Live::new(port, wanted).remembering(source))
    }

    /// The same for a source that does not open now: it is tried until it does, as one that closed.
    ///
    /// # Errors
    ///
    /// The kernel's error, if no thread can open it.
    pub fn absent(source: Source, wanted: Option<Wanted>) -> io::Result<Self> {
        let mut pump = Self::of(source, |source| Live::absent(wanted).remembering(source));
        pump.wait_for_port()?;
        Ok(pump)
    }

    fn of(source: Source, live: impl FnOnce(&Source) -> Live) -> Self {
        let now = monotonic_now();
        Self {
            live: live(&source),
            waits: source.may_return(),
            source,
            buffer: vec![0; READ_SIZE],
            retry: Retry::new(now),
            reopening: None,
            since: Since { opened: now, bytes: 0, is_settled: false },
            ending: None,
        }
    }

    /// Also sets a log mask that the modem does not tell, if `even_untold`. That mask stays at the
    /// end.
    #[must_use]
    pub fn setting_untold(mut self, even_untold: bool) -> Self {
        self.live = self.live.setting_untold(even_untold);
        self
    }

    /// For a reader that does not need fresh records and prefers few wake-ups.
    #[must_use]
    pub fn in_no_hurry(mut self) -> Self {
        self.live = self.live.in_no_hurry();
        self
    }

    /// A port that closes is the end.
    #[must_use]
    pub fn once(mut self) -> Self {
        self.waits = false;
        self
    }

    /// The source.
    pub fn source(&self) -> &Source {
        &self.source
    }

    /// Whether the port is open.
    pub fn is_open(&self) -> bool {
        self.live.is_open()
    }

    /// Sends due requests, and waits up to `patience` for bytes, or for a port that closed.
    ///
    /// # Errors
    ///
    /// That of the port, if it cannot be read, or the kernel's error if no thread can open it
    /// again.
    pub fn turn(&mut self, patience: Duration) -> io::Result<Turn<'_>> {
        if !self.live.is_open() {
            return Ok(self.wait(patience));
        }
        self.live.tick(monotonic_now());
        let framing = self.live.framing();
        let read = self.live.read(&mut self.buffer, patience)?;
        let now = self.live.arrived();
        match read {
            Read::Idle => Ok(Turn::Idle),
            Read::Bytes(count) => {
                let Self { live, since, buffer, .. } = self;
                since.bytes += count as u64;
                let bytes = buffer.get(..count).unwrap_or_default();
                Ok(Turn::Bytes(Bytes {
                    now,
                    framing,
                    bytes,
                    session: Packets { live, since, now },
                }))
            }
            Read::Closed if self.waits && self.ending.is_none() => {
                self.wait_for_port().map(|wait| Turn::Closed(Some(wait)))
            }
            Read::Closed => Ok(Turn::Closed(None)),
        }
    }

    /// The port could not be read: it is closed, and tried as one that closed by itself. Returns
    /// how long it is left alone.
    ///
    /// # Errors
    ///
    /// The kernel's error, if no thread can open it again.
    pub fn handle_failed(&mut self) -> io::Result<Duration> {
        self.live.close();
        self.wait_for_port()
    }

    fn wait_for_port(&mut self) -> io::Result<Duration> {
        let wait = self.retry.handle_closed(monotonic_now());
        self.reopening = Some(Reopening::start(self.source.clone(), wait)?);
        Ok(wait)
    }

    /// Other records are wanted from now on, if the session sets any.
    pub fn handle_wanted(&mut self, wanted: Wanted) {
        self.live.handle_wanted(wanted);
    }

    fn wait(&mut self, patience: Duration) -> Turn<'_> {
        std::thread::sleep(patience);
        let Some(port) = self.reopening.as_ref().and_then(Reopening::poll) else {
            return Turn::Idle;
        };
        self.reopening = None;
        self.live.reopen(port);
        let opened = monotonic_now();
        self.retry.handle_opened(opened);
        self.since = Since { opened, bytes: 0, is_settled: false };
        Turn::Reopened
    }

    /// The next event of the session.
    pub fn poll_event(&mut self) -> Option<Event> {
        self.live.poll_event()
    }

    /// The bytes of a port that brought no valid packet for five seconds. This is said once an
    /// opening.
    pub fn poll_mute(&mut self) -> Option<u64> {
        let Since { opened, bytes, is_settled } = &mut self.since;
        let is_mute =
            !*is_settled && self.live.is_open() && monotonic_now() - *opened >= MUTE_AFTER;
        *is_settled |= is_mute;
        is_mute.then_some(*bytes)
    }

    /// Begins to put the log mask back. Go on with turns until [`is_over`](Self::is_over).
    pub fn handle_end(&mut self) {
        let now = monotonic_now();
        self.reopening = None;
        self.ending = Some(now);
        self.live.handle_end(now);
    }

    /// True once nothing is left to put back, the modem is gone, or it did not answer for two
    /// seconds.
    pub fn is_over(&self) -> bool {
        let late = |since| monotonic_now() - since >= PUT_BACK;
        self.ending.is_some_and(|since| self.live.is_over() || late(since))
    }

    /// Puts the log mask back, and drops what comes meanwhile.
    ///
    /// # Errors
    ///
    /// As [`turn`](Self::turn): the mask may then still be the session's.
    pub fn put_back(&mut self) -> io::Result<()> {
        self.handle_end();
        let mut reader = Reader::new();
        while !self.is_over() {
            if let Turn::Bytes(read) = self.turn(Duration::from_millis(5))? {
                read.find(&mut reader, |_| {});
            }
        }
        Ok(())
    }

    /// Readers beside this one want these codes from now on, after its own.
    pub fn handle_guests(&mut self, codes: &[LogCode]) {
        self.live.handle_guests(codes);
    }

    /// Why the modem does not send records of a code; the outer `None` is not known yet.
    pub fn lack(&self, code: LogCode) -> Option<Option<Lack>> {
        self.live.lack(code)
    }

    /// What the modem has told of itself, if it is asked.
    pub fn identity(&self) -> Option<&Identity> {
        self.live.identity()
    }

    /// Records that the process that holds the port dropped, because this reader was too slow.
    pub fn lost(&self) -> u64 {
        self.live.lost()
    }

    /// Codes that the budget has switched off.
    pub fn switched_off(&self) -> &[LogCode] {
        self.live.switched_off()
    }
}

impl Bytes<'_> {
    /// Finds the packets, hands them to the session, and what was found to `each`.
    pub fn find(self, reader: &mut Reader, mut each: impl FnMut(Result<Located<'_>, Damage>)) {
        let Self { framing, bytes, mut session, .. } = self;
        reader.handle_read(framing, bytes, |found| {
            if let Ok(located) = &found {
                session.handle(&located.packet);
            }
            each(found);
        });
    }
}

impl Packets<'_> {
    /// A packet was in the bytes.
    pub fn handle(&mut self, packet: &Packet<'_>) {
        self.since.is_settled = true;
        match packet {
            Packet::Log(record) => self.live.handle_log(self.now, record),
            Packet::Other { command, body, .. } => self.live.handle_other(self.now, *command, body),
        }
    }
}
