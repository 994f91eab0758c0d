use std::fs::{File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::fd::AsFd;
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::Path;
use std::time::Duration;

use nix::sys::termios::{self, SetArg};

use super::{OpenError, Read, Transport, outcome, wait};

/// A Diag port that is open for reading: a tty, in raw mode.
///
/// The terminal settings found at opening are restored when it is dropped.
#[derive(Debug)]
pub struct Port {
    file: File,
    found: termios::Termios,
}

nix::ioctl_none_bad!(take_exclusive, libc::TIOCEXCL);
nix::ioctl_none_bad!(give_exclusive_up, libc::TIOCNXCL);

impl Port {
    /// Opens a tty and makes it raw. The baud rate is not changed: on USB it has no effect.
    ///
    /// # Errors
    ///
    /// [`OpenError::NotSerial`] if the path is no tty; another [`OpenError`] if it is missing,
    /// denied or in use.
    pub fn open(path: &Path) -> Result<Self, OpenError> {
        let at = || path.to_path_buf();
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .custom_flags(libc::O_NOCTTY | libc::O_NONBLOCK)
            .open(path)
            .map_err(|error| OpenError::at(path, error))?;
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
}

impl Transport for Port {
    fn read(&mut self, buffer: &mut [u8], patience: Duration) -> io::Result<Read> {
        if !wait([self.file.as_fd()], patience)? {
            return Ok(Read::Idle);
        }
        outcome(self.file.read(buffer))
    }

    fn send_bytes(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.file.write_all(bytes)
    }
}

impl Drop for Port {
    fn drop(&mut self) {
        // If the device is already gone, there is nothing to restore.
        let _ = termios::tcsetattr(&self.file, SetArg::TCSANOW, &self.found);
        // A pty stays as long as its modem does: the next reader would have to be root.
        // SAFETY: TIOCNXCL takes no argument and the descriptor is open.
        let _ = unsafe { give_exclusive_up(std::os::fd::AsRawFd::as_raw_fd(&self.file)) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nix::pty::openpty;
    use std::os::fd::OwnedFd;
    use std::path::PathBuf;

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
    fn a_port_is_its_readers_alone_and_anybodys_afterwards() {
        nix::ioctl_read_bad!(is_exclusive, libc::TIOCGEXCL, libc::c_int);
        let (_master, slave, path) = pty();
        let exclusive = || {
            let mut flag = 0;
            // SAFETY: TIOCGEXCL writes one number there, and the descriptor is open.
            unsafe { is_exclusive(std::os::fd::AsRawFd::as_raw_fd(&slave), &raw mut flag) }
                .expect("it is a tty");
            flag != 0
        };
        let port = Port::open(&path).expect("opens");
        assert!(exclusive());
        drop(port);
        assert!(!exclusive());
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
    fn what_is_not_a_port_is_reported() {
        assert!(matches!(Port::open(Path::new("/nowhere")), Err(OpenError::Missing { .. })));
        assert!(matches!(Port::open(Path::new("/dev/null")), Err(OpenError::NotSerial { .. })));
        assert!(matches!(Port::open(Path::new("/tmp")), Err(OpenError::NotSerial { .. })));
        let file = tempfile::NamedTempFile::new().expect("a file");
        assert!(matches!(Port::open(file.path()), Err(OpenError::NotSerial { .. })));
    }
}
