use std::fs::{File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use nix::fcntl::OFlag;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::pty::{grantpt, posix_openpt, ptsname_r, unlockpt};
use nix::sys::termios::{self, SetArg};
use sounding_host::files::Link;

/// The modem's end of a pty: the other end is a tty that a daemon opens as it would open
/// `/dev/ttyUSB0`.
#[derive(Debug)]
pub struct Pty {
    master: File,
    path: PathBuf,
    _link: Option<Link>,
}

impl Pty {
    /// Makes a pty, and a symbolic link to its tty if a name for it is given. The link is removed
    /// on drop.
    ///
    /// # Errors
    ///
    /// The kernel's error, if it has no pty left or the link's name is taken.
    pub fn create(link: Option<&Path>) -> io::Result<Self> {
        // Closed on exec from the first moment: a child that holds the modem's end keeps the modem
        // plugged in.
        let flags = OFlag::O_RDWR | OFlag::O_NOCTTY | OFlag::O_CLOEXEC | OFlag::O_NONBLOCK;
        let master = posix_openpt(flags)?;
        grantpt(&master)?;
        unlockpt(&master)?;
        let path = PathBuf::from(ptsname_r(&master)?);
        // Raw from the start: a line discipline that echoes would answer the modem with its own
        // records. The settings outlive this descriptor, because they belong to the pair.
        let tty =
            OpenOptions::new().read(true).write(true).custom_flags(libc::O_NOCTTY).open(&path)?;
        let mut raw = termios::tcgetattr(&tty)?;
        termios::cfmakeraw(&mut raw);
        termios::tcsetattr(&tty, SetArg::TCSANOW, &raw)?;
        let link = link.map(|name| Link::create(name, &path)).transpose()?;
        Ok(Self { master: File::from(OwnedFd::from(master)), path, _link: link })
    }

    /// The tty to open.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The modem's end, to wait on.
    pub(crate) fn as_fd(&self) -> BorrowedFd<'_> {
        self.master.as_fd()
    }

    /// True while a reader has the tty open.
    pub fn has_reader(&self) -> bool {
        let mut fds = [PollFd::new(self.master.as_fd(), PollFlags::empty())];
        let hung_up = poll(&mut fds, PollTimeout::ZERO).is_ok()
            && fds[0].revents().is_some_and(|events| events.contains(PollFlags::POLLHUP));
        !hung_up
    }

    /// Writes all of `bytes`, waiting up to `patience` for a slow reader; how many were taken.
    ///
    /// A real modem does not wait for its reader either: what does not fit is lost.
    ///
    /// # Errors
    ///
    /// The kernel's error. A tty that no reader has open, or a slow reader, is none.
    pub fn write(&mut self, bytes: &[u8], patience: Duration) -> io::Result<usize> {
        let mut written = 0;
        while written < bytes.len() {
            match self.master.write(&bytes[written..]) {
                Ok(count) => written += count,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    if !self.wait(PollFlags::POLLOUT, patience)? {
                        break;
                    }
                }
                // No reader has the tty open.
                Err(error) if error.raw_os_error() == Some(libc::EIO) => break,
                Err(error) => return Err(error),
            }
        }
        Ok(written)
    }

    /// Reads the bytes that the other side of the tty sent, without waiting.
    ///
    /// # Errors
    ///
    /// The kernel's error. A tty without a reader is none.
    pub fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self.master.read(buffer) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(0),
            Err(error) if error.raw_os_error() == Some(libc::EIO) => Ok(0),
            other => other,
        }
    }

    fn wait(&self, what: PollFlags, patience: Duration) -> io::Result<bool> {
        let timeout = PollTimeout::try_from(patience).unwrap_or(PollTimeout::MAX);
        let mut fds = [PollFd::new(self.master.as_fd(), what)];
        match poll(&mut fds, timeout) {
            Ok(_) => Ok(fds[0].revents().is_some_and(|events| events.intersects(what))),
            Err(nix::errno::Errno::EINTR) => Ok(true),
            Err(errno) => Err(errno.into()),
        }
    }
}
