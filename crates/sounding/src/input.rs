//! Captures from files and standard input, packed or not.
//!
//! A capture is read in chunks and never whole: one of ten gigabytes takes no more memory than one
//! of ten kilobytes. It is not mapped either: pipes and packed files cannot be mapped, and a file
//! that shrinks under a map kills its reader.
//!
//! A pipe may be live. Its bytes are passed on as they come, and its first records decide its kind.

mod incoming;

use std::cell::Cell;
use std::io::{self, ErrorKind, Read};
use std::ops::ControlFlow;
use std::os::unix::fs::FileTypeExt as _;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use miette::Diagnostic;
use sounding_diag::capture::{
    self, Beginning, CaptureError as NotACapture, Counts, Damage, Format, Kind, Located, PROBE,
    Reader,
};
use thiserror::Error;

use crate::screen;
use crate::skipped::Skipped;
pub(crate) use incoming::Incoming;
use incoming::{Counted, is_damage, unpacked};

/// Commands that need a whole capture refuse one above this size, before the machine runs out of
/// memory.
const LARGEST: u64 = sounding_host::MAX_TRACE;
/// Bytes read at once.
const CHUNK: usize = 1 << 20;

/// Why a capture cannot be used.
#[derive(Debug, Error, Diagnostic)]
pub(crate) enum CaptureError {
    /// It cannot be read.
    #[error("{path}: {error}")]
    Read { path: PathBuf, error: io::Error },
    /// The file is too large to be read whole.
    #[error("{path}: larger than {} GiB", LARGEST >> 30)]
    #[diagnostic(help(
        "cut it first, e.g. with `split --bytes=1G`: a piece may begin and end anywhere"
    ))]
    Large { path: PathBuf },
    /// A file of another kind.
    #[error("{path}: {reason}")]
    #[diagnostic(help(
        "a capture is .qmdl, .qmdl2, .mi2log, .hdf, .dlf or what `cat /dev/ttyUSB0` gives, also as .gz or .zst"
    ))]
    Other { path: PathBuf, reason: NotACapture },
    /// It has no end.
    #[error("{path}: is a device, not a capture")]
    #[diagnostic(help(
        "`sounding record` makes a capture of what a modem sends; `sounding link`, `kpi` and `board` read it live"
    ))]
    Device { path: PathBuf },
    /// It is packed, and what can be unpacked of it holds no record.
    #[error("{path}: the packed file is damaged before its first record: {error}")]
    #[diagnostic(help(
        "`gzip --test` or `zstd --test` says more; copy it once more from where it came from"
    ))]
    Packed { path: PathBuf, error: String },
    /// Nothing is wrong with it, but its contents go to a program that has ended.
    #[error("the output has no reader any more")]
    Unread,
}

/// A capture, read from its beginning.
pub(crate) struct Source {
    path: PathBuf,
    stream: Box<dyn Read>,
    kind: Kind,
    chunk: Vec<u8>,
    /// Number of bytes in `chunk`.
    filled: usize,
    /// `chunk` holds the beginning, which was not returned yet.
    is_fresh: bool,
    /// The unpacker's error for a packed file that is cut or damaged.
    broken: Option<String>,
    taken: Rc<Cell<u64>>,
    size: Option<u64>,
}

impl Source {
    /// Opens what a source that ends by itself names: a capture, or standard input. Its contents go
    /// to standard output, as those of [`Self::for_stdout`].
    pub(crate) fn of(source: &sounding_modem::Source) -> Result<Self, CaptureError> {
        match source.place() {
            sounding_modem::Source::Path(path) => Self::for_stdout(path),
            _ => Self::for_stdout(Path::new("-")),
        }
    }

    /// Opens a capture; `-` is standard input. A file without one valid record is refused.
    pub(crate) fn open(path: &Path) -> Result<Self, CaptureError> {
        Self::read(path, Incoming::of(path)?)
    }

    /// As [`open`](Self::open), for a command that prints the contents on standard output: waiting
    /// for bytes is an error once its reader is gone ([`CaptureError::Unread`]). A request to stop
    /// is the end of a pipe.
    pub(crate) fn for_stdout(path: &Path) -> Result<Self, CaptureError> {
        Self::read(path, Incoming::of(path)?.for_stdout())
    }

    fn read(path: &Path, file: Incoming) -> Result<Self, CaptureError> {
        let size = file.size();
        Self::begin(path, Box::new(file), size)
    }

    pub(crate) fn begin(
        path: &Path,
        stream: Box<dyn Read>,
        size: Option<u64>,
    ) -> Result<Self, CaptureError> {
        let fail = |error| failed(path, error);
        let taken = Rc::new(Cell::new(0));
        let counted = Counted { inner: stream, taken: Rc::clone(&taken) };
        let mut source = Self {
            path: path.to_path_buf(),
            stream: unpacked(counted).map_err(fail)?,
            kind: Kind::of(Format::Hdlc),
            chunk: Vec::new(),
            filled: 0,
            is_fresh: true,
            broken: None,
            taken,
            size,
        };
        source.kind = source.recognise()?.map_err(|reason| {
            let path = path.to_path_buf();
            match source.broken.take() {
                Some(error) => CaptureError::Packed { path, error },
                None => CaptureError::Other { path, reason },
            }
        })?;
        Ok(source)
    }

    /// Reads the beginning: of a file as much as its kind may depend on, of a pipe no more than
    /// decides.
    fn recognise(&mut self) -> Result<Result<Kind, NotACapture>, CaptureError> {
        let mut beginning = Beginning::default();
        while self.fill(PROBE)? {
            if self.size.is_none()
                && let Some(kind) = beginning.judge(self.chunk())
            {
                return Ok(kind);
            }
        }
        Ok(capture::recognise(self.chunk()))
    }

    /// The kind of capture.
    pub(crate) fn kind(&self) -> Kind {
        self.kind
    }

    /// Bytes of the file that have been read, and its size.
    pub(crate) fn progress(&self) -> (u64, Option<u64>) {
        (self.taken.get(), self.size)
    }

    /// The next bytes; none at the end.
    pub(crate) fn next_chunk(&mut self) -> Result<Option<&[u8]>, CaptureError> {
        if !std::mem::take(&mut self.is_fresh) {
            self.filled = 0;
            self.fill(CHUNK)?;
        }
        Ok(Some(self.chunk()).filter(|chunk| !chunk.is_empty()))
    }

    fn chunk(&self) -> &[u8] {
        &self.chunk[..self.filled]
    }

    /// Passes every packet and every damaged part to `each`. Returns the skipped parts, or `None`
    /// if `each` ends early.
    pub(crate) fn for_each<E: From<CaptureError>>(
        mut self,
        mut each: impl FnMut(Step<'_>) -> Result<ControlFlow<()>, E>,
    ) -> Result<Skipped, E> {
        let mut reader = Reader::of(self.kind);
        loop {
            let (taken, size) = self.progress();
            if each(Step::Chunk { taken, size })?.is_break() {
                return Ok(Skipped::default());
            }
            let Some(mut rest) = self.next_chunk()? else { break };
            while let Some(found) = reader.poll_packet(&mut rest) {
                if each(Step::Found(found))?.is_break() {
                    return Ok(Skipped::default());
                }
            }
        }
        while let Some(found) = reader.poll_end() {
            if each(Step::Found(found))?.is_break() {
                return Ok(Skipped::default());
            }
        }
        Ok(self.skipped(reader.counts()))
    }

    /// The skipped parts, once all chunks have been read with these counts.
    pub(crate) fn skipped(&self, stream: Counts) -> Skipped {
        let is_stdin = self.path == Path::new("-");
        Skipped {
            name: if is_stdin {
                "standard input".into()
            } else {
                screen::path(&self.path).to_string()
            },
            is_file: !is_stdin && self.path.is_file(),
            stream,
            packing: self.broken.clone(),
            ..Skipped::default()
        }
    }

    /// Reads once into `chunk`, which then has at most `most` bytes. Returns whether any came.
    fn fill(&mut self, most: usize) -> Result<bool, CaptureError> {
        if self.chunk.len() < most {
            self.chunk.resize(most, 0);
        }
        while self.filled < most && self.broken.is_none() {
            match self.stream.read(&mut self.chunk[self.filled..most]) {
                Ok(0) => break,
                Ok(more) => {
                    self.filled += more;
                    return Ok(true);
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                // An unpacker's error about its input: the part before it is as good as in a
                // capture that was cut.
                Err(error) if is_damage(&error) => self.broken = Some(error.to_string()),
                Err(error) => return Err(failed(&self.path, error)),
            }
        }
        Ok(false)
    }
}

/// The error of a read.
fn failed(path: &Path, error: io::Error) -> CaptureError {
    match error.kind() {
        // No read from a pipe fails so: its contents have no reader.
        ErrorKind::BrokenPipe => CaptureError::Unread,
        _ => CaptureError::Read { path: path.to_path_buf(), error },
    }
}

/// A port is not even opened: that alone changes how it behaves, and it never ends.
fn refuse_device(path: &Path) -> Result<(), CaptureError> {
    match path.metadata() {
        Ok(about) if about.file_type().is_char_device() => {
            Err(CaptureError::Device { path: path.to_path_buf() })
        }
        _ => Ok(()),
    }
}

/// A step in reading a capture.
pub(crate) enum Step<'a> {
    /// A chunk of the file is about to be read.
    Chunk { taken: u64, size: Option<u64> },
    /// A packet, or damage.
    Found(Result<Located<'a>, Damage>),
}

/// A whole capture as a stream of frames, to serve or replay it, and the count of parts that are
/// not frames.
pub(crate) fn capture(path: &Path) -> Result<(Vec<u8>, Skipped), CaptureError> {
    let mut source = Source::open(path)?;
    let mut bytes = Vec::new();
    let check = |bytes: &Vec<u8>| match bytes.len() as u64 > LARGEST {
        true => Err(CaptureError::Large { path: path.to_path_buf() }),
        false => Ok(()),
    };
    if source.kind() == Kind::of(Format::Hdlc) {
        // Unchanged, damage and all.
        let mut reader = Reader::of(source.kind());
        while let Some(mut chunk) = source.next_chunk()? {
            bytes.extend_from_slice(chunk);
            check(&bytes)?;
            while reader.poll_packet(&mut chunk).is_some() {}
        }
        while reader.poll_end().is_some() {}
        return Ok((bytes, source.skipped(reader.counts())));
    }
    let skipped = source.for_each(|step| {
        if let Step::Found(Ok(located)) = step {
            // A packet that was read is not too long to be written.
            let _ = Format::Hdlc.emit(&located.packet, &mut bytes);
        }
        check(&bytes).map(ControlFlow::Continue)
    })?;
    Ok((bytes, skipped))
}

/// A file whole, unpacked; `-` is standard input. One that is larger than `largest` is refused.
pub(crate) fn read_whole(path: &Path, largest: u64) -> miette::Result<Vec<u8>> {
    let failed = |error: io::Error| miette::miette!("{}: {error}", screen::path(path));
    let stream = Incoming::of(path)?;
    let too_large = || {
        let text = format!("{}: larger than {} GiB", screen::path(path), largest >> 30);
        miette::miette!(help = "cut it first", "{text}")
    };
    // Packed it is smaller than what it holds.
    if path.metadata().is_ok_and(|about| about.is_file() && about.len() > largest) {
        return Err(too_large());
    }
    let mut bytes = Vec::new();
    unpacked(stream)
        .and_then(|out| out.take(largest + 1).read_to_end(&mut bytes))
        .map_err(failed)?;
    if bytes.len() as u64 > largest {
        return Err(too_large());
    }
    if let Some(packing) = capture::packing(&bytes) {
        return Err(miette::miette!("{}: it is {packing}: unpack it first", screen::path(path)));
    }
    Ok(bytes)
}

/// A report that captures' errors turn into.
pub(crate) struct Failure(pub(crate) miette::Report);

impl From<CaptureError> for Failure {
    fn from(error: CaptureError) -> Self {
        Self(error.into())
    }
}

impl From<miette::Report> for Failure {
    fn from(report: miette::Report) -> Self {
        Self(report)
    }
}
