//! Where bytes come from: a file, bytes in memory, or a live port.

use std::fs::{self, File};
use std::io::{self, Cursor, Read as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use flate2::read::MultiGzDecoder;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use sounding_diag::LogCode;
use sounding_diag::capture::{self, Format, Kind, PROBE, Reader};
use sounding_diag::packet::Packet;
use sounding_diag::session::Wanted;
use sounding_modem::{Framing, Live, READ_SIZE, Read, monotonic_now};

use crate::error;

/// Where bytes come from.
pub(crate) struct Source {
    name: PathBuf,
    bytes: Bytes,
    kind: Kind,
    /// Bytes that were read to recognise the format, and are not returned yet.
    probed: Option<usize>,
}

enum Bytes {
    Capture(Box<dyn io::Read + Send>),
    Port(Box<LivePort>),
}

/// A port, whose masks go back where they were when it is let go.
struct LivePort {
    live: Live,
    /// Longest silence before the source counts as ended.
    patience: Option<Duration>,
    heard: Instant,
}

/// What came of one look for bytes.
pub(crate) enum Chunk {
    /// This many bytes of a stream are in the buffer.
    Stream(usize),
    /// One packet without a frame is, of so many bytes.
    Packet(usize),
    /// No data yet.
    Idle,
    /// No more will come.
    End,
}

/// Longest wait between checks for an interrupt.
const TICK: Duration = Duration::from_millis(50);

/// Longest that a modem is waited for to take its masks back. A request is tried for 600 ms.
const PUT_BACK: Duration = Duration::from_secs(1);

/// A source's buffer: large enough to recognise a file, and for the largest packet of a port.
pub(crate) fn buffer() -> Box<[u8]> {
    vec![0; PROBE.max(READ_SIZE)].into()
}

impl Source {
    /// A name: a capture file, or a port (a device, `tcp:HOST:PORT`, `router`). A port is set to log `codes`, and ends
    /// after a silence of `patience`.
    pub(crate) fn open(
        py: Python<'_>,
        path: PathBuf,
        codes: Option<Vec<LogCode>>,
        patience: Option<Duration>,
        buffer: &mut [u8],
    ) -> PyResult<Self> {
        if is_file(&path)? {
            let file = File::open(&path).map_err(|e| error::io(&path, &e))?;
            return Self::capture(py, path, file, buffer);
        }
        let named: sounding_modem::Source = path
            .to_string_lossy()
            .parse()
            .map_err(|e: sounding_modem::SourceError| PyValueError::new_err(e.to_string()))?;
        let transport = py.detach(|| named.open()).map_err(|e| error::port(&e))?;
        let wanted = codes.map(|codes| Wanted { codes, budget_bytes_per_sec: None });
        let live = Live::new(transport, wanted).remembering(&named);
        let bytes = Bytes::Port(Box::new(LivePort { live, patience, heard: Instant::now() }));
        Ok(Self { name: path, bytes, kind: Kind::of(Format::Hdlc), probed: None })
    }

    /// A capture in memory.
    pub(crate) fn memory(py: Python<'_>, bytes: Vec<u8>, buffer: &mut [u8]) -> PyResult<Self> {
        Self::capture(py, "bytes".into(), Cursor::new(bytes), buffer)
    }

    /// Reads the beginning into `buffer`, and refuses what is no capture.
    fn capture(
        py: Python<'_>,
        name: PathBuf,
        stream: impl io::Read + Send + 'static,
        buffer: &mut [u8],
    ) -> PyResult<Self> {
        let begun = py.detach(|| -> io::Result<_> {
            let mut stream = unpacked(stream)?;
            let probed = fill(&mut stream, buffer)?;
            Ok((stream, probed))
        });
        let (stream, probed) = begun.map_err(|e| error::io(&name, &e))?;
        let kind = capture::recognise(&buffer[..probed]).map_err(|e| error::capture(&name, &e))?;
        Ok(Self { name, bytes: Bytes::Capture(stream), kind, probed: Some(probed) })
    }

    /// A reader for its bytes.
    pub(crate) const fn reader(&self) -> Reader {
        Reader::of(self.kind)
    }

    /// What kind of capture it is; a port is one of frames.
    pub(crate) const fn kind(&self) -> Kind {
        self.kind
    }

    /// What it was called.
    pub(crate) fn name(&self) -> &Path {
        &self.name
    }

    /// Whether its end is the end of a file.
    pub(crate) const fn is_capture(&self) -> bool {
        !matches!(self.bytes, Bytes::Port(_))
    }

    /// The next bytes, or that there are none; waits for a port at most one [`TICK`]. The buffer is the same each time.
    pub(crate) fn poll(&mut self, buffer: &mut [u8]) -> io::Result<Chunk> {
        if let Some(probed) = self.probed.take() {
            return Ok(Chunk::Stream(probed));
        }
        match &mut self.bytes {
            Bytes::Port(port) => port.poll(buffer),
            Bytes::Capture(stream) => match stream.read(buffer) {
                Ok(0) => Ok(Chunk::End),
                Ok(count) => Ok(Chunk::Stream(count)),
                Err(e) if e.kind() == io::ErrorKind::Interrupted => Ok(Chunk::Idle),
                Err(e) => Err(e),
            },
        }
    }

    /// A packet was in the bytes: the session with a modem follows them.
    pub(crate) fn handle_packet(&mut self, packet: &Packet<'_>) {
        if let Bytes::Port(port) = &mut self.bytes {
            port.handle_packet(packet);
        }
    }
}

/// Whether the path leads to a file, and not to a device or to no path at all.
fn is_file(path: &Path) -> PyResult<bool> {
    let is_path = matches!(path.to_string_lossy().parse(), Ok(sounding_modem::Source::Path(_)));
    match fs::metadata(path) {
        Ok(found) => Ok(found.is_file()),
        Err(e) if is_path => Err(error::io(path, &e)),
        Err(_) => Ok(false),
    }
}

/// Reads until `buffer` is full or nothing is left.
fn fill(stream: &mut dyn io::Read, buffer: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while filled < buffer.len() {
        match stream.read(&mut buffer[filled..]) {
            Ok(0) => break,
            Ok(count) => filled += count,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Err(e),
        }
    }
    Ok(filled)
}

/// The stream without what packs it, going by its first bytes.
fn unpacked(mut stream: impl io::Read + Send + 'static) -> io::Result<Box<dyn io::Read + Send>> {
    let mut start = Vec::new();
    stream.by_ref().take(4).read_to_end(&mut start)?;
    let whole = Cursor::new(start.clone()).chain(stream);
    Ok(match start[..] {
        [0x1F, 0x8B, ..] => Box::new(MultiGzDecoder::new(io::BufReader::new(whole))),
        [0x28, 0xB5, 0x2F, 0xFD] => Box::new(zstd::stream::read::Decoder::new(whole)?),
        _ => Box::new(whole),
    })
}

impl LivePort {
    fn poll(&mut self, buffer: &mut [u8]) -> io::Result<Chunk> {
        self.live.tick(monotonic_now());
        let framing = self.live.framing();
        Ok(match self.live.read(buffer, TICK)? {
            Read::Bytes(count) => {
                self.heard = Instant::now();
                match framing {
                    Framing::Hdlc => Chunk::Stream(count),
                    Framing::Packet => Chunk::Packet(count),
                }
            }
            Read::Idle if self.patience.is_some_and(|span| self.heard.elapsed() >= span) => {
                Chunk::End
            }
            Read::Idle => Chunk::Idle,
            Read::Closed => Chunk::End,
        })
    }

    fn handle_packet(&mut self, packet: &Packet<'_>) {
        let now = monotonic_now();
        match packet {
            Packet::Log(log) => self.live.handle_log(now, log),
            Packet::Other { command, body, .. } => self.live.handle_other(now, *command, body),
        }
        // The session's events are not reported: only the records count here.
        while self.live.poll_event().is_some() {}
    }
}

impl Drop for LivePort {
    fn drop(&mut self) {
        let begin = monotonic_now();
        self.live.handle_end(begin);
        let (mut buffer, mut reader) = (buffer(), Reader::new());
        while !self.live.is_over() && monotonic_now() - begin < PUT_BACK {
            self.live.tick(monotonic_now());
            match self.live.read(&mut buffer, TICK) {
                Ok(Read::Bytes(count)) => {
                    self.live.handle_bytes(monotonic_now(), &mut reader, &buffer[..count], |_| {});
                }
                Ok(Read::Idle) => {}
                // A modem that is gone needs no mask.
                Ok(Read::Closed) | Err(_) => return,
            }
        }
    }
}
