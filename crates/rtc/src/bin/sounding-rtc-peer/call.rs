//! One call: its socket, its peer and its log.

use std::fs::File;
use std::io::{self, BufWriter, ErrorKind, Write};
use std::net::{SocketAddr, UdpSocket};
use std::path::Path;
use std::sync::mpsc::{RecvTimeoutError, TryRecvError};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use sounding_host::files::grow;
use sounding_host::monotonic_now;
use sounding_rtc::line::Line as Command;
use sounding_rtc::peer::{Frames, Peer, PeerOutput};
use sounding_rtc::{Blind, Corrected, Corrections, Reported, Stock, Way};
use sounding_units::HostInstant;

use crate::Source;
use crate::lines::{Line, Lines};

/// Commands are looked for at least this often.
const STEP: Duration = Duration::from_millis(5);
/// A sender that sends nothing for so long is gone.
const QUIET: Duration = Duration::from_secs(15);
const MEAN_OVER: Duration = Duration::from_millis(10);

#[derive(Debug)]
enum Arrivals {
    Stock(Stock),
    Blind(Blind),
    Reported(Reported),
}

impl Corrections for Arrivals {
    fn corrected(&mut self, now: HostInstant, way: &Way) -> Corrected {
        match self {
            Self::Stock(stock) => stock.corrected(now, way),
            Self::Blind(blind) => blind.corrected(now, way),
            Self::Reported(reported) => reported.corrected(now, way),
        }
    }
}

struct Call {
    socket: UdpSocket,
    peer: Peer<Arrivals>,
    frames: Frames,
    log: Option<BufWriter<File>>,
    output: Box<dyn Write + Send>,
    /// The connection that made the offer.
    connection: usize,
    heard_at: HostInstant,
    is_over: bool,
}

pub(crate) fn run(
    lines: &Lines,
    source: Source,
    log: Option<&Path>,
    at_most: Duration,
) -> Result<(), String> {
    let end = monotonic_now() + at_most;
    let arrivals = match source {
        Source::Stock => Arrivals::Stock(Stock),
        Source::Blind => Arrivals::Blind(Blind::new(MEAN_OVER)),
        Source::Reported => Arrivals::Reported(Reported::default()),
    };
    let mut call = begin(lines, arrivals, log, end)?;
    while !call.is_over && monotonic_now() < end {
        call.take_commands(lines);
        call.step().map_err(|error| error.to_string())?;
    }
    call.finish().map_err(|error| format!("the summary cannot be written: {error}"))
}

/// Waits for an offer and answers it.
fn begin(
    lines: &Lines,
    mut arrivals: Arrivals,
    log: Option<&Path>,
    end: HostInstant,
) -> Result<Call, String> {
    let log = log.map(|path| {
        grow(path).map(BufWriter::new).map_err(|error| format!("{}: {error}", path.display()))
    });
    let log = log.transpose()?;
    loop {
        let (connection, line) = match lines.lines.recv_timeout(end - monotonic_now()) {
            Ok(line) => line,
            Err(RecvTimeoutError::Timeout) => return Err("no offer came".into()),
            Err(RecvTimeoutError::Disconnected) => {
                return Err("the input ended before an offer".into());
            }
        };
        match line {
            Line::Command(Command::Offer { sdp, address }) => {
                let place = |error| format!("no UDP port at {address}: {error}");
                let socket = UdpSocket::bind((address, 0)).map_err(place)?;
                let local = socket.local_addr().map_err(place)?;
                let clock = (Instant::now(), monotonic_now());
                let (peer, sdp) = Peer::answer(&sdp, local, clock, arrivals)
                    .map_err(|error| error.to_string())?;
                let output = lines.output(connection).unwrap_or_else(|| Box::new(io::sink()));
                let heard_at = clock.1;
                let (frames, is_over) = (Frames::default(), false);
                let mut call =
                    Call { socket, peer, frames, log, output, connection, heard_at, is_over };
                call.say(&json!({ "answer": { "type": "answer", "sdp": sdp } }))
                    .map_err(|error| format!("the answer cannot be written: {error}"))?;
                return Ok(call);
            }
            Line::Command(Command::End {}) => return Err("the input ended before an offer".into()),
            Line::Command(command) => report(&mut arrivals, &command),
            Line::Wrong(error) => return Err(format!("a line is not understood: {error}")),
            Line::Closed => {}
        }
    }
}

/// Passes on what a modem reported.
fn report(arrivals: &mut Arrivals, command: &Command) {
    let Arrivals::Reported(reported) = arrivals else { return };
    if let Some(wait) = command.wait() {
        reported.handle_event(wait);
    } else if let Command::Report { until_ns } = *command {
        reported.handle_report(monotonic_now(), until_ns.map(HostInstant::from_nanos));
    }
}

impl Call {
    fn say(&mut self, line: &Value) -> io::Result<()> {
        writeln!(self.output, "{line}")?;
        self.output.flush()
    }

    fn note(&mut self, line: &Value) -> io::Result<()> {
        self.log.as_mut().map_or(Ok(()), |log| writeln!(log, "{line}"))
    }

    fn take_commands(&mut self, lines: &Lines) {
        loop {
            match lines.lines.try_recv() {
                Ok((connection, line)) => match line {
                    Line::Command(Command::End {}) => self.is_over = true,
                    Line::Command(command) => report(self.peer.corrections_mut(), &command),
                    Line::Wrong(error) => {
                        eprintln!("sounding-rtc-peer: a line is ignored: {error}");
                    }
                    Line::Closed => self.is_over |= connection == self.connection,
                },
                Err(TryRecvError::Empty) => return,
                Err(TryRecvError::Disconnected) => {
                    self.is_over = true;
                    return;
                }
            }
        }
    }

    /// Puts out what there is, and then waits for a datagram.
    fn step(&mut self) -> Result<(), Box<dyn std::error::Error>> {
        let due = loop {
            match self.peer.poll(monotonic_now())? {
                PeerOutput::Wait(due) => break due,
                // The network may refuse a datagram; the stack repeats what matters.
                PeerOutput::Datagram(to, bytes) => drop(self.socket.send_to(&bytes, to)),
                PeerOutput::Packet(packet) => self.note(&json!({ "packet": {
                    "sent_ns": packet.way.sent.map(HostInstant::as_nanos),
                    "arrived_ns": packet.way.arrived.as_nanos(),
                    "corrected_ns": packet.corrected.as_nanos(),
                    "bytes": packet.bytes,
                } }))?,
                PeerOutput::Frame(frame) => {
                    self.frames.handle_frame(&frame);
                    self.note(&json!({ "frame": {
                        "sent_ns": frame.sent.map(HostInstant::as_nanos),
                        "complete_ns": frame.complete.as_nanos(),
                        "media_time": frame.media_time,
                        "bytes": frame.bytes,
                        "contiguous": frame.is_contiguous,
                    } }))?;
                }
                PeerOutput::Connected => self.say(&json!({ "connected": {} }))?,
                PeerOutput::Disconnected => self.is_over = true,
            }
        };
        let now = monotonic_now();
        if now - self.heard_at > QUIET {
            self.is_over = true;
        }
        let wait = (due - now).clamp(Duration::from_micros(100), STEP);
        self.socket.set_read_timeout(Some(wait))?;
        let mut buffer = [0; 2048];
        match self.socket.recv_from(&mut buffer) {
            Ok((length, source)) => self.handle(source, &buffer[..length])?,
            Err(error) if is_passing(&error) => {}
            Err(error) => return Err(error.into()),
        }
        // Datagrams that are there already are taken before the stack runs again.
        self.socket.set_nonblocking(true)?;
        for _ in 0..64 {
            match self.socket.recv_from(&mut buffer) {
                Ok((length, source)) => self.handle(source, &buffer[..length])?,
                Err(_) => break,
            }
        }
        self.socket.set_nonblocking(false)?;
        Ok(())
    }

    fn handle(
        &mut self,
        source: SocketAddr,
        datagram: &[u8],
    ) -> Result<(), sounding_rtc::peer::PeerError> {
        let now = monotonic_now();
        // A stranger does not keep a call alive.
        if self.peer.handle_datagram(now, source, datagram)? {
            self.heard_at = now;
        }
        Ok(())
    }

    fn finish(mut self) -> io::Result<()> {
        let (frames, packets) = (self.frames.counts(), self.peer.counts());
        let millis = |span: Duration| span.as_secs_f64() * 1e3;
        let delays = self.frames.delays([0.0, 0.5, 0.95]);
        let delays = delays.map(|[least, median, p95]| {
            json!({ "least": millis(least), "median": millis(median), "p95": millis(p95) })
        });
        let summary = json!({ "summary": {
            "frames": frames.frames,
            "frame_gaps": frames.gaps,
            "frame_bytes": frames.bytes,
            "freezes": frames.freezes,
            "frozen_ms": millis(frames.frozen),
            "frame_delay_ms": delays,
            "packets_corrected": packets.corrected,
            "packets_unknown": packets.unknown,
            "packets_expired": packets.expired,
            "datagrams_foreign": self.peer.foreign(),
        } });
        self.note(&summary)?;
        if let Some(log) = &mut self.log {
            log.flush()?;
        }
        // A caller that is gone does not read it.
        self.say(&summary).or_else(|error| {
            if error.kind() == ErrorKind::BrokenPipe { Ok(()) } else { Err(error) }
        })
    }
}

/// Nothing came in time, or an ICMP error of a datagram that was sent before.
fn is_passing(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::WouldBlock
            | ErrorKind::TimedOut
            | ErrorKind::Interrupted
            | ErrorKind::ConnectionRefused
    )
}
