//! The code of the fuzz target. The test `corpus` runs it with the seeds.

use std::collections::VecDeque;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::time::Duration;

use nix::sys::socket::{
    AddressFamily, Backlog, MsgFlags, SockFlag, SockType, UnixAddr, accept, bind, listen, send,
    socket,
};
use sounding_diag::capture::Reader;
use sounding_diag::command;
use sounding_diag::hdlc::{self, Deframer};
use sounding_diag::session::{Note, Wanted};
use sounding_diag::{LogCode, LogRecord};
use sounding_kpi::{Subscription, registry};
use sounding_modem::beside::{Decoder, Request};
use sounding_modem::{
    Framing, Polled, Pump, READ_SIZE, Read, Readings, ReplaySchedule, Router, RouterSocket, Script,
    Source, Transport, Turn, Unframed, probe,
};
use sounding_units::ModemInstant;

/// A kind in one byte, and what a modem, a bridge, a router, a file or a person gives.
pub(crate) fn modem(data: &[u8]) {
    let Some((&kind, rest)) = data.split_first() else { return };
    match kind % KINDS {
        0 => live(rest),
        1 => readings(rest),
        2 => probed(rest),
        3 => paced(rest),
        4 => vendor(rest),
        5 => noted(rest),
        6 => named(rest),
        7 => told(rest),
        _ => asked(rest),
    }
}

/// The number of kinds of input.
pub(crate) const KINDS: u8 = 9;

/// A port that returns scripted reads one after the other, and then closes.
#[derive(Debug)]
struct Scripted {
    framing: Framing,
    reads: VecDeque<Vec<u8>>,
}

impl Scripted {
    /// A framing in one byte, then reads: a length and this many bytes. Length zero is a read that
    /// brings nothing.
    fn port(data: &[u8]) -> Box<dyn Transport> {
        let (framing, reads) = data.split_first().unwrap_or((&0, &[]));
        match framing % 3 {
            0 => Box::new(Self::new(Framing::Hdlc, reads)),
            1 => Box::new(Self::new(Framing::Packet, reads)),
            _ => Box::new(Unframed::new(Box::new(Self::new(Framing::Hdlc, reads)))),
        }
    }

    fn new(framing: Framing, mut rest: &[u8]) -> Self {
        let mut reads = VecDeque::new();
        while let Some((&len, tail)) = rest.split_first() {
            let (read, tail) = tail.split_at(usize::from(len).min(tail.len()));
            reads.push_back(read.to_vec());
            rest = tail;
        }
        Self { framing, reads }
    }
}

impl Transport for Scripted {
    fn read(&mut self, buffer: &mut [u8], _: Duration) -> io::Result<Read> {
        Ok(match self.reads.pop_front() {
            None => Read::Closed,
            Some(read) if read.is_empty() => Read::Idle,
            Some(read) => {
                buffer[..read.len()].copy_from_slice(&read);
                Read::Bytes(read.len())
            }
        })
    }

    fn send(&mut self, payload: &[u8]) -> io::Result<()> {
        assert!(command::Request::parse(payload).is_some(), "{payload:02X?}");
        Ok(())
    }

    fn send_bytes(&mut self, bytes: &[u8]) -> io::Result<()> {
        assert!(bytes.starts_with(&[0x7E, 1]) && bytes.ends_with(&[0x7E]), "{bytes:02X?}");
        Ok(())
    }

    fn framing(&self) -> Framing {
        self.framing
    }
}

/// A session whose modem sends arbitrary bytes until its port closes.
fn live(data: &[u8]) {
    let codes = sounding_diag::record::CODES.to_vec();
    let wanted = Wanted { codes, budget_bytes_per_sec: Some(1000) };
    let mut pump = Pump::over(Source::Stdin, Scripted::port(data), Some(wanted));
    let mut reader = Reader::new();
    while pump.is_open() {
        if let Turn::Bytes(read) = pump.turn(Duration::ZERO).expect("it reads") {
            read.find(&mut reader, |_| {});
        }
        while pump.poll_event().is_some() {}
    }
    pump.handle_end();
    assert!(pump.is_over(), "the port is closed");
}

/// KPIs of a modem that sends arbitrary bytes.
fn readings(data: &[u8]) {
    let source = Source::Stdin;
    let subscription = Subscription::of(registry::all().step_by(16));
    let mut readings = Readings::over(source, Scripted::port(data), subscription);
    let mut slots = 0;
    while readings.poll(Duration::ZERO, |_, reading| slots |= reading.slot).expect("it reads")
        != Polled::Closed
    {
        while readings.poll_event().is_some() {}
    }
    readings.finish();
    assert!(slots < readings.subscription().kpis().len().next_power_of_two());
}

fn probed(data: &[u8]) {
    probe(Scripted::port(data).as_mut(), Duration::from_secs(1)).expect("it reads");
}

/// A capture that is replayed, whole or as a script: every byte of it has its turn, in order.
/// Records without a time change nothing.
fn paced(data: &[u8]) {
    let pacing = ReplaySchedule::of(data);
    let script = Script::of(data);
    assert!(script.len() as u64 <= pacing.records());
    assert!(script.duration() <= pacing.duration() || script.is_empty());
    let longest = Duration::from_secs(60).saturating_mul(pacing.records() as u32);
    assert!(pacing.duration() <= longest && pacing.undated() <= pacing.records());
    let (plain, mixed) = (with_zeros(data, 0), with_zeros(data, 3));
    let [plain, mixed] = [plain, mixed].map(|capture| ReplaySchedule::of(&capture));
    assert_eq!(plain.duration(), mixed.duration());
    assert_eq!(plain.shortened(), mixed.shortened());
    let half = pacing.duration() / 2;
    assert!(pacing.until(half).duration() <= half);
}

/// The frames of a capture, each with as many records behind it that have no time.
fn with_zeros(capture: &[u8], count: usize) -> Vec<u8> {
    let mut record = Vec::new();
    let code = LogCode::new(0xB064);
    let log = LogRecord { code, at: ModemInstant::default(), stamp: 0, radio: None, body: &[] };
    log.emit(&mut record).expect("short");
    let (mut input, mut deframer, mut found) = (capture, Deframer::new(), Vec::new());
    while let Some(frame) = deframer.poll_frame(&mut input) {
        let Ok(frame) = frame else { continue };
        hdlc::encode(frame.payload, &mut found);
        (0..count).for_each(|_| hdlc::encode(&record, &mut found));
    }
    found
}

thread_local! {
    static ROUTER: (OwnedFd, String) = router();
}

fn router() -> (OwnedFd, String) {
    let name = format!("sounding-target-{}-{:?}", std::process::id(), std::thread::current().id());
    let kind = SockType::SeqPacket;
    let server = socket(AddressFamily::Unix, kind, SockFlag::SOCK_CLOEXEC, None).expect("a socket");
    let address = UnixAddr::new_abstract(name.as_bytes()).expect("a name");
    bind(server.as_raw_fd(), &address).expect("the name is free");
    listen(&server, Backlog::new(4).expect("four")).expect("listens");
    (server, name)
}

/// Arbitrary data in the wrapper of a phone vendor's diag-router.
fn vendor(data: &[u8]) {
    ROUTER.with(|(server, name)| {
        let mut router =
            Router::connect_vendor(&RouterSocket { name: Some(name.clone()), served_by: None })
                .expect("it listens");
        let client = accept(server.as_raw_fd()).expect("a client");
        // SAFETY: accept has just made it, so it has no other owner.
        let client = unsafe { OwnedFd::from_raw_fd(client) };
        send(client.as_raw_fd(), data, MsgFlags::MSG_NOSIGNAL).expect("room");
        drop(client);
        let mut buffer = vec![0; READ_SIZE];
        let mut given = 0;
        while let read @ (Read::Bytes(_) | Read::Idle) =
            router.read(&mut buffer, Duration::ZERO).expect("it reads")
        {
            if let Read::Bytes(count) = read {
                given += count;
            }
        }
        assert!(given <= data.len());
    });
}

/// A note of a killed session, or bytes in its place: it is refused, or written the same again.
fn noted(data: &[u8]) {
    let Ok(text) = str::from_utf8(data) else { return };
    if let Ok(note) = text.parse::<Note>() {
        assert_eq!(note.to_string().parse(), Ok(note));
    }
}

/// A source's name as a user writes it: it is refused, or written the same again.
fn named(data: &[u8]) {
    let Ok(text) = str::from_utf8(data) else { return };
    match text.parse::<Source>() {
        Ok(Source::Stdin) => {}
        Ok(source) => assert_eq!(source.to_string().parse(), Ok(source)),
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}

/// The greeting and the frames of a process that holds a port, in two pieces or in one: they are
/// the same, or end with the same error.
fn told(data: &[u8]) {
    let all = |pieces: &[&[u8]]| {
        let mut decoder = Decoder::default();
        let (mut frames, mut error) = (Vec::new(), None);
        for piece in pieces {
            decoder.handle(piece);
            while error.is_none() {
                match decoder.poll() {
                    Ok(Some(frame)) => frames.push(format!("{frame:?}")),
                    Ok(None) => break,
                    Err(why) => error = Some(why),
                }
            }
        }
        (frames, error)
    };
    let (first, second) = data.split_at(data.len() / 2);
    assert_eq!(all(&[data]), all(&[first, second]));
}

/// The request of a reader beside a process that holds a port: it is refused, or written the same
/// again.
fn asked(data: &[u8]) {
    if let Ok(request) = Request::parse(data) {
        let line = request.line();
        let (last, line) = line.split_last().expect("an end of line");
        assert_eq!((Request::parse(line), *last), (Ok(request), b'\n'));
    }
}
