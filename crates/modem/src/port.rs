use std::fs::{File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::fd::AsFd;
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::termios::{self, SetArg};
use thiserror::Error;

/// A Diag port that is open for reading: a tty, in raw mode.
///
/// The terminal settings found at opening are put back when it is dropped.
#[derive(Debug)]
pub struct Port {
    file: File,
    found: termios::Termios,
}

/// Why a port did not open.
#[derive(Debug, Error)]
pub enum OpenError {
    /// The path does not lead to anything.
    #[error(
        "{path}: no such device: is the modem plugged in, and is its driver (option, qcserial) loaded?"
    )]
    Missing {
        /// The device asked for.
        path: PathBuf,
    },
    /// There is something, but it is not a terminal.
    #[error(
        "{path}: is not a serial device: for a capture file use `sounding link {path}` instead"
    )]
    NotSerial {
        /// The device asked for.
        path: PathBuf,
    },
    /// The caller may not open it.
    #[error(
        "{path}: permission denied: run as root, or join the group that owns it (often dialout)"
    )]
    Denied {
        /// The device asked for.
        path: PathBuf,
    },
    /// Another program has it for itself.
    #[error("{path}: held by another program, often ModemManager: `fuser -v {path}` names it")]
    Busy {
        /// The device asked for.
        path: PathBuf,
    },
    /// Anything else the system said.
    #[error("{path}: {error}")]
    Io {
        /// The device asked for.
        path: PathBuf,
        /// What the system said.
        error: io::Error,
    },
}

/// What came of one wait for bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Read {
    /// This many bytes are in the buffer.
    Bytes(usize),
    /// The wait ran out.
    Idle,
    /// The device is gone.
    Closed,
}

nix::ioctl_none_bad!(take_exclusive, libc::TIOCEXCL);

impl Port {
    /// Opens a tty and makes it raw. The baud rate stays as it is: on USB it means nothing.
    pub fn open(path: &Path) -> Result<Self, OpenError> {
        let at = || path.to_path_buf();
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .custom_flags(libc::O_NOCTTY | libc::O_NONBLOCK)
            .open(path)
            .map_err(|error| match error.kind() {
                io::ErrorKind::NotFound => OpenError::Missing { path: at() },
                io::ErrorKind::PermissionDenied => OpenError::Denied { path: at() },
                io::ErrorKind::ResourceBusy => OpenError::Busy { path: at() },
                io::ErrorKind::IsADirectory => OpenError::NotSerial { path: at() },
                _ => OpenError::Io { path: at(), error },
            })?;
        let kind = file.metadata().map_err(|error| OpenError::Io { path: at(), error })?;
        if !kind.file_type().is_char_device() {
            return Err(OpenError::NotSerial { path: at() });
        }
        let found = termios::tcgetattr(&file).map_err(|_| OpenError::NotSerial { path: at() })?;
        // Two readers of one port would each get half of the bytes.
        // SAFETY: TIOCEXCL takes no argument and the descriptor is open.
        unsafe { take_exclusive(std::os::fd::AsRawFd::as_raw_fd(&file)) }
            .map_err(|errno| OpenError::Io { path: at(), error: errno.into() })?;
        let mut raw = found.clone();
        termios::cfmakeraw(&mut raw);
        termios::tcsetattr(&file, SetArg::TCSANOW, &raw)
            .map_err(|errno| OpenError::Io { path: at(), error: errno.into() })?;
        Ok(Self { file, found })
    }

    /// Waits up to `patience` for bytes and reads what is there.
    pub fn read(&mut self, buffer: &mut [u8], patience: Duration) -> io::Result<Read> {
        let timeout = PollTimeout::try_from(patience).unwrap_or(PollTimeout::MAX);
        let mut fds = [PollFd::new(self.file.as_fd(), PollFlags::POLLIN)];
        match poll(&mut fds, timeout) {
            Ok(0) | Err(nix::errno::Errno::EINTR) => return Ok(Read::Idle),
            Ok(_) => {}
            Err(errno) => return Err(errno.into()),
        }
        match self.file.read(buffer) {
            // A tty whose other end is gone reads as EIO on a pty, as end of file on a USB adapter.
            Ok(0) => Ok(Read::Closed),
            Ok(count) => Ok(Read::Bytes(count)),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(Read::Idle),
            Err(error) if error.raw_os_error() == Some(libc::EIO) => Ok(Read::Closed),
            Err(error) if error.raw_os_error() == Some(libc::ENODEV) => Ok(Read::Closed),
            Err(error) => Err(error),
        }
    }

    /// Sends bytes to the modem; a port that takes no more right now is an error, because requests are tiny.
    pub fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.file.write_all(bytes)
    }
}

impl Drop for Port {
    fn drop(&mut self) {
        // The device may be gone already: then there is nothing to put back.
        let _ = termios::tcsetattr(&self.file, SetArg::TCSANOW, &self.found);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nix::pty::openpty;
    use std::os::fd::OwnedFd;

    fn pty() -> (File, OwnedFd, PathBuf) {
        let pty = openpty(None, None).expect("a pty");
        let path = nix::unistd::ttyname(&pty.slave).expect("the pty has a name");
        (File::from(pty.master), pty.slave, path)
    }

    #[test]
    fn bytes_cross_a_raw_tty_unchanged() {
        let (mut master, _slave, path) = pty();
        let mut port = Port::open(&path).expect("opens");
        let every_byte: Vec<u8> = (0..=255).collect();
        master.write_all(&every_byte).expect("writes");
        let mut got = Vec::new();
        let mut buffer = [0; 64];
        while got.len() < 256 {
            match port.read(&mut buffer, Duration::from_secs(5)).expect("reads") {
                Read::Bytes(count) => got.extend_from_slice(&buffer[..count]),
                other => panic!("{other:?} after {} bytes", got.len()),
            }
        }
        assert_eq!(got, every_byte);
    }

    #[test]
    fn a_device_that_goes_away_is_closed_not_an_error() {
        let (master, slave, path) = pty();
        let mut port = Port::open(&path).expect("opens");
        drop((master, slave));
        let read = port.read(&mut [0; 8], Duration::from_secs(5)).expect("no error");
        assert_eq!(read, Read::Closed);
    }

    #[test]
    fn silence_is_idle() {
        let (_master, _slave, path) = pty();
        let mut port = Port::open(&path).expect("opens");
        let read = port.read(&mut [0; 8], Duration::from_millis(1)).expect("no error");
        assert_eq!(read, Read::Idle);
    }

    #[test]
    fn what_is_not_a_port_says_so() {
        assert!(matches!(Port::open(Path::new("/nowhere")), Err(OpenError::Missing { .. })));
        assert!(matches!(Port::open(Path::new("/dev/null")), Err(OpenError::NotSerial { .. })));
        assert!(matches!(Port::open(Path::new("/tmp")), Err(OpenError::NotSerial { .. })));
        let file = tempfile::NamedTempFile::new().expect("a file");
        assert!(matches!(Port::open(file.path()), Err(OpenError::NotSerial { .. })));
    }
}
