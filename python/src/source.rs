//! Where bytes come from: a file, bytes in memory, or a live port.

use std::fs::File;
use std::io::{self, Cursor, Read as _};
use std::os::unix::fs::FileTypeExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use pyo3::prelude::*;
use sounding_diag::capture::{self, PROBE};
use sounding_diag::command::{LogMask, Request};
use sounding_diag::{LogCode, hdlc};
use sounding_modem::{Port, Read};

use crate::error;

/// Where bytes come from.
pub(crate) struct Source {
    path: PathBuf,
    bytes: Bytes,
    buffer: Box<[u8]>,
    /// How many bytes at the beginning of `buffer` were read to see what it is, and are still to be handed over.
    probed: usize,
}

enum Bytes {
    File(File),
    Memory(Cursor<Vec<u8>>),
    Port { port: Port, patience: Option<Duration>, heard: Instant },
}

/// What came of one look for bytes.
pub(crate) enum Chunk<'a> {
    /// These came.
    Bytes(&'a [u8]),
    /// None yet.
    Idle,
    /// No more will come.
    End,
}

/// Longest wait without a look at whether the user wants to stop.
const TICK: Duration = Duration::from_millis(50);

impl Source {
    /// A file, or a port if it is a character device. A port is asked to log `codes`, and to be silent for
    /// `patience` is its end.
    pub(crate) fn open(
        py: Python<'_>,
        path: PathBuf,
        codes: Option<&[LogCode]>,
        patience: Option<Duration>,
    ) -> PyResult<Self> {
        let kind = std::fs::metadata(&path).map_err(|e| error::io(&path, &e))?.file_type();
        if kind.is_char_device() {
            let mut port = Port::open(&path).map_err(|e| error::port(&e))?;
            if let Some(codes) = codes {
                port.write(&log_requests(codes)).map_err(|e| error::io(&path, &e))?;
            }
            let bytes = Bytes::Port { port, patience, heard: Instant::now() };
            return Ok(Self::of(path, bytes, vec![0; 1 << 16].into()));
        }
        let file = File::open(&path).map_err(|e| error::io(&path, &e))?;
        let mut source = Self::of(path, Bytes::File(file), vec![0; PROBE.max(1 << 18)].into());
        py.detach(|| source.probe())?;
        Ok(source)
    }

    /// A capture in memory.
    pub(crate) fn memory(py: Python<'_>, bytes: Vec<u8>) -> PyResult<Self> {
        let buffer = vec![0; PROBE.max(1 << 18)].into();
        let mut source = Self::of("bytes".into(), Bytes::Memory(Cursor::new(bytes)), buffer);
        py.detach(|| source.probe())?;
        Ok(source)
    }

    fn of(path: PathBuf, bytes: Bytes, buffer: Box<[u8]>) -> Self {
        Self { path, bytes, buffer, probed: 0 }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Reads the beginning, and refuses what is no capture.
    fn probe(&mut self) -> PyResult<()> {
        while self.probed < self.buffer.len() {
            match self.bytes.read(&mut self.buffer[self.probed..]) {
                Ok(0) => break,
                Ok(count) => self.probed += count,
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => return Err(error::io(&self.path, &e)),
            }
        }
        capture::recognise(&self.buffer[..self.probed]).map_err(|e| error::capture(&self.path, &e))
    }

    /// The next bytes, or that there are none; waits for a port at most one [`TICK`].
    pub(crate) fn poll(&mut self) -> io::Result<Chunk<'_>> {
        let probed = std::mem::take(&mut self.probed);
        if probed > 0 {
            return Ok(Chunk::Bytes(&self.buffer[..probed]));
        }
        if let Bytes::Port { port, patience, heard } = &mut self.bytes {
            return Ok(match port.read(&mut self.buffer, TICK)? {
                Read::Bytes(count) => {
                    *heard = Instant::now();
                    Chunk::Bytes(&self.buffer[..count])
                }
                Read::Idle if patience.is_some_and(|longest| heard.elapsed() >= longest) => {
                    Chunk::End
                }
                Read::Idle => Chunk::Idle,
                Read::Closed => Chunk::End,
            });
        }
        match self.bytes.read(&mut self.buffer) {
            Ok(0) => Ok(Chunk::End),
            Ok(count) => Ok(Chunk::Bytes(&self.buffer[..count])),
            Err(e) if e.kind() == io::ErrorKind::Interrupted => Ok(Chunk::Idle),
            Err(e) => Err(e),
        }
    }
}

impl Bytes {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::File(file) => file.read(buffer),
            Self::Memory(bytes) => bytes.read(buffer),
            Self::Port { .. } => Ok(0),
        }
    }
}

/// The frames that ask a modem for these log records and no others.
fn log_requests(codes: &[LogCode]) -> Vec<u8> {
    let mut frames = Vec::new();
    let mut ask = |request: Request<'_>| {
        let mut payload = Vec::new();
        request.emit(&mut payload);
        hdlc::encode(&payload, &mut frames);
    };
    ask(Request::LogDisable);
    for equipment in 0..=15 {
        let own = codes.iter().filter(|code| code.equipment() == equipment);
        let Some(last) = own.map(|code| code.item()).max() else { continue };
        let items = u32::from(last) + 1;
        let bits = LogMask::bits_of(equipment, items, codes);
        ask(Request::LogMask(LogMask { equipment, items, bits: &bits }));
    }
    frames
}
