//! Output to a reader that may take nothing. A write that waits for it must not keep a modem from
//! getting its masks back.

use std::fs::{File, OpenOptions};
use std::io::{self, IsTerminal as _, Write};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::{FileTypeExt as _, OpenOptionsExt as _};
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

use crate::signals;

/// How often a waiting write looks whether the user has ended this program.
const LOOK: Duration = Duration::from_millis(20);
/// A reader that is only slow takes the last lines within this. Less than a modem gets to take its
/// masks back.
const GRACE: Duration = Duration::from_millis(100);
/// A pipe that is writable has room for so many bytes (pipe(7)).
const PIECE: usize = 4096;

/// An output. Its writes end when the user ends this program, or after a time without progress.
#[derive(Debug)]
pub(crate) struct Patient {
    out: File,
    limit: Option<Duration>,
    /// Since when bytes wait that are not flushed.
    waiting: Option<Instant>,
    /// Nothing more is written to it.
    is_gone: bool,
}

impl Patient {
    /// Standard output; without a limit it waits for its reader until the user ends this program.
    pub(crate) fn stdout(limit: Option<Duration>) -> io::Result<Self> {
        Ok(Self::new(own(io::stdout().as_fd())?, limit))
    }

    /// Standard error.
    pub(crate) fn stderr() -> io::Result<Self> {
        Ok(Self::new(own(io::stderr().as_fd())?, None))
    }

    /// A socket, which is to be without blocking.
    pub(crate) fn socket(socket: impl Into<OwnedFd>, limit: Duration) -> Self {
        Self::new(File::from(socket.into()), Some(limit))
    }

    fn new(out: File, limit: Option<Duration>) -> Self {
        Self { out, limit, waiting: None, is_gone: false }
    }

    /// Whether it has no reader any more.
    pub(crate) fn is_gone(&self) -> bool {
        self.is_gone || is_gone(&self.out)
    }

    /// Waits until the reader takes something.
    fn wait(&mut self) -> io::Result<()> {
        let mut stopping = None;
        while !self.is_gone {
            if !is_writable(self.out.as_fd(), Duration::ZERO)? {
                let since = *self.waiting.get_or_insert_with(Instant::now);
                let is_late = self.limit.is_some_and(|limit| since.elapsed() >= limit);
                if signals::is_stopping() {
                    stopping.get_or_insert_with(Instant::now);
                }
                self.is_gone = is_late || stopping.is_some_and(|since| since.elapsed() >= GRACE);
                if self.is_gone || !is_writable(self.out.as_fd(), LOOK)? {
                    continue;
                }
            }
            return Ok(());
        }
        Err(io::Error::new(io::ErrorKind::TimedOut, "its reader takes nothing"))
    }
}

impl Write for Patient {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        loop {
            self.wait()?;
            match self.out.write(&bytes[..bytes.len().min(PIECE)]) {
                // Another process was faster, or there is less room than was said.
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    self.waiting.get_or_insert_with(Instant::now);
                    std::thread::sleep(Duration::from_millis(1));
                }
                written => return written,
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.waiting = None;
        Ok(())
    }
}

/// Whether the reader of an output has closed it. A file or a device never says so.
pub(crate) fn is_gone(out: &impl AsFd) -> bool {
    let mut asked = [PollFd::new(out.as_fd(), PollFlags::empty())];
    let asked_for = poll(&mut asked, PollTimeout::ZERO);
    let [answer] = asked;
    let ends = PollFlags::POLLERR | PollFlags::POLLHUP;
    asked_for.is_ok() && answer.revents().is_some_and(|events| events.intersects(ends))
}

fn is_writable(out: BorrowedFd<'_>, within: Duration) -> io::Result<bool> {
    let timeout = PollTimeout::try_from(within).unwrap_or(PollTimeout::ZERO);
    match poll(&mut [PollFd::new(out, PollFlags::POLLOUT)], timeout) {
        Ok(ready) => Ok(ready > 0),
        Err(Errno::EINTR) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// An output whose writes return at once. Others that use a pipe or a terminal keep theirs, because
/// it is opened again.
fn own(fd: BorrowedFd<'_>) -> io::Result<File> {
    let shared = File::from(fd.try_clone_to_owned()?);
    if shared.is_terminal() || shared.metadata()?.file_type().is_fifo() {
        let path = format!("/proc/self/fd/{}", fd.as_raw_fd());
        let flags = libc::O_NONBLOCK | libc::O_NOCTTY;
        // One of another user's cannot be: then pieces are small enough in nearly all cases.
        if let Ok(own) = OpenOptions::new().write(true).custom_flags(flags).open(path) {
            return Ok(own);
        }
    }
    Ok(shared)
}
