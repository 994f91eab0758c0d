//! Where bytes come from: a file, bytes in memory, or a live port.

use std::fs::{self, File};
use std::io::{self, Cursor, Read as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use sounding_diag::LogCode;
use sounding_diag::capture::{self, Damage, Format, Framing, Kind, Located, PROBE, Reader};
use sounding_diag::session::Wanted;
use sounding_fleet::unpacked;
use sounding_modem::{Pump, Turn};

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
    pump: Pump,
    /// Longest silence before the source counts as ended.
    patience: Option<Duration>,
    heard: Instant,
}

/// Longest wait between checks for an interrupt.
const TICK: Duration = Duration::from_millis(50);

/// A capture's buffer: large enough to recognise it.
pub(crate) fn buffer() -> Box<[u8]> {
    vec![0; PROBE].into()
}

impl Source {
    /// A name: a capture file, or a port (a device, `tcp:HOST:PORT`, `router`). A port is set to
    /// log `codes`, and ends after a silence of `patience`.
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
        let pump = Pump::over(named, transport, wanted).once();
        let bytes = Bytes::Port(Box::new(LivePort { pump, patience, heard: Instant::now() }));
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

    /// Finds the packets in the next bytes, or at the end those that waited for more; false at the
    /// end. Waits for a port at most one [`TICK`].
    pub(crate) fn find(
        &mut self,
        buffer: &mut [u8],
        reader: &mut Reader,
        mut each: impl FnMut(Result<Located<'_>, Damage>),
    ) -> io::Result<bool> {
        let goes_on = match &mut self.bytes {
            Bytes::Port(port) => port.find(reader, &mut each)?,
            Bytes::Capture(_) => self
                .chunk(buffer)?
                .map(|count| {
                    reader.handle_read(Framing::Hdlc, &buffer[..count], &mut each);
                })
                .is_some(),
        };
        if !goes_on {
            while let Some(found) = reader.poll_end() {
                each(found);
            }
        }
        Ok(goes_on)
    }

    /// Reads the next bytes of a capture; `None` at its end.
    pub(crate) fn chunk(&mut self, buffer: &mut [u8]) -> io::Result<Option<usize>> {
        if let Some(probed) = self.probed.take() {
            return Ok(Some(probed));
        }
        let Bytes::Capture(stream) = &mut self.bytes else { return Ok(None) };
        match stream.read(buffer) {
            Ok(0) => Ok(None),
            Ok(count) => Ok(Some(count)),
            Err(e) if e.kind() == io::ErrorKind::Interrupted => Ok(Some(0)),
            Err(e) => Err(e),
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

impl LivePort {
    /// Finds the packets in what comes; false once the port is closed or silent.
    fn find(
        &mut self,
        reader: &mut Reader,
        each: impl FnMut(Result<Located<'_>, Damage>),
    ) -> io::Result<bool> {
        let goes_on = match self.pump.turn(TICK)? {
            Turn::Bytes(read) => {
                self.heard = Instant::now();
                read.find(reader, each);
                true
            }
            Turn::Idle => self.patience.is_none_or(|span| self.heard.elapsed() < span),
            Turn::Closed(_) | Turn::Reopened => false,
        };
        // The session's events are not reported: only the records count here.
        while self.pump.poll_event().is_some() {}
        Ok(goes_on)
    }
}

impl Drop for LivePort {
    fn drop(&mut self) {
        // A modem that is gone needs no mask.
        let _ = self.pump.put_back();
    }
}
