//! The bytes of files and pipes, packed or not, as they come.

use std::cell::Cell;
use std::fs::{File, Metadata};
use std::io::{self, Cursor, ErrorKind, Read};
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::rc::Rc;

use flate2::read::MultiGzDecoder;
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, poll};

use super::CaptureError;
use crate::left_out::Decoder;
use crate::patient::is_gone;
use crate::signals;

/// How often a waiting read looks whether the user has ended this program, in milliseconds.
const LOOK: u8 = 20;

/// Whether an error is an unpacker's, about its input.
pub(super) fn is_damage(error: &io::Error) -> bool {
    // The unpackers' own errors, and zstd's, which have no kind.
    matches!(
        error.kind(),
        ErrorKind::UnexpectedEof
            | ErrorKind::InvalidData
            | ErrorKind::InvalidInput
            | ErrorKind::Other
    ) && error.raw_os_error().is_none()
}

/// The stream without what packs it, going by its first bytes.
pub(super) fn unpacked(mut stream: impl Read + 'static) -> io::Result<Box<dyn Read>> {
    let mut start = Vec::new();
    stream.by_ref().take(4).read_to_end(&mut start)?;
    let whole = Cursor::new(start.clone()).chain(stream);
    Ok(match start[..] {
        [0x1F, 0x8B, ..] => Box::new(MultiGzDecoder::new(io::BufReader::new(whole))),
        // Frames that want a window of more than 128 MiB are refused by the library.
        [0x28, 0xB5, 0x2F, 0xFD] => Box::new(Decoder::new(whole)?),
        _ => Box::new(whole),
    })
}

/// A file or a pipe. A read that waits for another program fails when the user ends this one. If
/// the contents go to standard output, that is the end, and a read fails once they have no reader.
pub(crate) struct Incoming {
    file: File,
    /// Standard output, if the contents of a pipe go there.
    reader: Option<OwnedFd>,
}

impl Incoming {
    /// A capture or another file of a user; `-` is standard input.
    pub(crate) fn of(path: &Path) -> Result<Self, CaptureError> {
        let fail = |error| CaptureError::Read { path: path.to_path_buf(), error };
        if path == Path::new("-") {
            let stdin = io::stdin().as_fd().try_clone_to_owned().map_err(fail)?;
            return Ok(Self { file: stdin.into(), reader: None });
        }
        super::refuse_device(path)?;
        Self::open(path).map_err(fail)
    }

    /// The contents go to standard output.
    pub(super) fn for_stdout(self) -> Self {
        // A file is not waited for.
        let reader = match self.size() {
            None => io::stdout().as_fd().try_clone_to_owned().ok(),
            Some(_) => None,
        };
        Self { reader, ..self }
    }

    /// Opens a file; a pipe is open at once, with or without a writer.
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        let file = File::options().read(true).custom_flags(libc::O_NONBLOCK).open(path)?;
        Ok(Self { file, reader: None })
    }

    /// Size of a file; a pipe has none.
    pub(super) fn size(&self) -> Option<u64> {
        self.file.metadata().ok().filter(Metadata::is_file).map(|about| about.len())
    }
}

impl Read for Incoming {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            if self.reader.is_some() && signals::is_stopping() {
                return Ok(0);
            }
            match poll(&mut [PollFd::new(self.file.as_fd(), PollFlags::POLLIN)], LOOK) {
                Ok(0) | Err(Errno::EINTR) if self.reader.is_none() && signals::is_stopping() => {
                    let text = "interrupted while it waited for data";
                    return Err(io::Error::new(ErrorKind::ConnectionAborted, text));
                }
                Ok(0) | Err(Errno::EINTR) if self.reader.as_ref().is_some_and(is_gone) => {
                    return Err(ErrorKind::BrokenPipe.into());
                }
                Ok(0) | Err(Errno::EINTR) => continue,
                Ok(_) => {}
                Err(errno) => return Err(errno.into()),
            }
            match self.file.read(buffer) {
                // Another process that has the same pipe was faster.
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                read => return read,
            }
        }
    }
}

/// Counts the bytes that are read.
pub(super) struct Counted<R> {
    pub(super) inner: R,
    pub(super) taken: Rc<Cell<u64>>,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let len = self.inner.read(buffer)?;
        self.taken.set(self.taken.get() + len as u64);
        Ok(len)
    }
}
