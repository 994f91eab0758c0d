//! The bytes of a file: whether they are a capture, and their SHA-256.

use std::fs::File;
use std::io::{self, Cursor, ErrorKind, Read, Seek as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use flate2::read::MultiGzDecoder;
use sha2::{Digest as _, Sha256};
use sounding_diag::capture::{self, Kind, PROBE};

use crate::entry::Sha;

/// `O_NONBLOCK`: a pipe that has taken the place of a file is not waited for.
const AT_ONCE: i32 = 0o4000;

/// The stream without what packs it, going by its first bytes.
///
/// # Errors
///
/// The stream's error.
pub fn unpacked<'s>(mut stream: impl Read + Send + 's) -> io::Result<Box<dyn Read + Send + 's>> {
    let mut start = Vec::new();
    stream.by_ref().take(4).read_to_end(&mut start)?;
    let whole = Cursor::new(start.clone()).chain(stream);
    Ok(match start[..] {
        [0x1F, 0x8B, ..] => Box::new(MultiGzDecoder::new(io::BufReader::new(whole))),
        // Frames that want a window of more than 128 MiB are refused by the library.
        [0x28, 0xB5, 0x2F, 0xFD] => Box::new(zstd::stream::read::Decoder::new(whole)?),
        _ => Box::new(whole),
    })
}

/// A file as it was found.
#[derive(Debug)]
pub(crate) enum Looked {
    /// It has this SHA-256.
    Capture { sha256: Sha, size: u64 },
    /// It is no capture.
    Foreign(String),
    /// It cannot be read.
    Unreadable(String),
}

/// Looks at a file.
pub(crate) fn look(path: &Path) -> Looked {
    let looked = || -> io::Result<Looked> {
        let mut file = open(path)?;
        let mut beginning = vec![0; PROBE];
        let (filled, damage) = begin(&mut *unpacked(&file)?, &mut beginning)?;
        if let Err(error) = capture::recognise(&beginning[..filled]) {
            let fault = damage.map(|damage| {
                format!("the packed file is damaged before its first record: {damage}")
            });
            return Ok(Looked::Foreign(fault.unwrap_or_else(|| error.to_string())));
        }
        file.rewind()?;
        let mut hashed = Hashed::new(file);
        let size = hashed.drain(&mut beginning)?;
        Ok(Looked::Capture { sha256: hashed.sha256(), size })
    };
    looked().unwrap_or_else(|error| Looked::Unreadable(error.to_string()))
}

fn open(path: &Path) -> io::Result<File> {
    let file = File::options().read(true).custom_flags(AT_ONCE).open(path)?;
    if !file.metadata()?.is_file() {
        return Err(io::Error::other("is no file any more"));
    }
    Ok(file)
}

/// Fills the buffer. Returns its length, and the fault of a packed file that is cut or damaged.
fn begin(stream: &mut dyn Read, buffer: &mut [u8]) -> io::Result<(usize, Option<String>)> {
    let mut filled = 0;
    while filled < buffer.len() {
        match next(stream, &mut buffer[filled..])? {
            Ok(0) => break,
            Ok(more) => filled += more,
            Err(damage) => return Ok((filled, Some(damage))),
        }
    }
    Ok((filled, None))
}

/// Reads once. The inner error is an unpacker's about its input, which ends the capture.
fn next(stream: &mut dyn Read, buffer: &mut [u8]) -> io::Result<Result<usize, String>> {
    loop {
        return match stream.read(buffer) {
            Ok(count) => Ok(Ok(count)),
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            // The system's errors have a number.
            Err(error) if error.raw_os_error().is_none() => Ok(Err(error.to_string())),
            Err(error) => Err(error),
        };
    }
}

/// A capture that is read, with the SHA-256 of its file.
pub(crate) struct Opened {
    hashed: Hashed,
    stream: Box<dyn Read + Send>,
    /// Bytes of the buffer that were read to recognise it.
    probed: Option<usize>,
    /// The unpacker's fault.
    pub(crate) damage: Option<String>,
    pub(crate) kind: Kind,
}

impl Opened {
    /// Opens a capture, and begins to read it into `buffer`, which has [`PROBE`] bytes.
    pub(crate) fn new(path: &Path, buffer: &mut [u8]) -> io::Result<Self> {
        let hashed = Hashed::new(open(path)?);
        let mut stream = unpacked(hashed.clone())?;
        let (filled, damage) = begin(&mut *stream, buffer)?;
        let kind = capture::recognise(&buffer[..filled]).map_err(io::Error::other)?;
        Ok(Self { hashed, stream, probed: Some(filled), damage, kind })
    }

    /// Reads on: how many bytes, 0 at the end.
    pub(crate) fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if let Some(probed) = self.probed.take() {
            return Ok(probed);
        }
        if self.damage.is_some() {
            return Ok(0);
        }
        match next(&mut *self.stream, buffer)? {
            Ok(count) => Ok(count),
            Err(damage) => {
                self.damage = Some(damage);
                Ok(0)
            }
        }
    }

    /// How many bytes of the file were read.
    pub(crate) fn taken(&self) -> u64 {
        self.hashed.taken()
    }

    /// Reads what is behind the packed stream, and gives size and SHA-256 of the file.
    pub(crate) fn finish(mut self, buffer: &mut [u8]) -> io::Result<(u64, Sha)> {
        let size = self.hashed.drain(buffer)?;
        Ok((size, self.hashed.sha256()))
    }
}

/// A file whose bytes are hashed as they are read.
#[derive(Clone)]
struct Hashed(Arc<Mutex<(File, Sha256, u64)>>);

impl Hashed {
    fn new(file: File) -> Self {
        Self(Arc::new(Mutex::new((file, Sha256::new(), 0))))
    }

    /// Reads to the end; the number of all bytes.
    fn drain(&mut self, buffer: &mut [u8]) -> io::Result<u64> {
        loop {
            match self.read(buffer) {
                Ok(0) => return Ok(self.taken()),
                Ok(_) => {}
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    fn taken(&self) -> u64 {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).2
    }

    fn sha256(&self) -> Sha {
        Sha(self.0.lock().unwrap_or_else(PoisonError::into_inner).1.clone().finalize().into())
    }
}

impl Read for Hashed {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let (file, hash, taken) = &mut *self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let count = file.read(buffer)?;
        hash.update(&buffer[..count]);
        *taken += count as u64;
        Ok(count)
    }
}
