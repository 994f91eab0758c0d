use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::os::fd::AsFd;
use std::path::Path;
use std::time::Duration;

use super::open::open_device;
use super::{OpenError, Read, Transport, outcome, wait};

/// A Diag port of the kernel's WWAN framework, as `/dev/wwan0qcdm0`: HDLC frames, and no terminal
/// settings.
#[derive(Debug)]
pub struct CharDevice {
    file: File,
}

impl CharDevice {
    /// Opens it.
    ///
    /// # Errors
    ///
    /// [`OpenError`] if the device is missing, denied or in use.
    pub fn open(path: &Path) -> Result<Self, OpenError> {
        Ok(Self { file: open_device(path)? })
    }
}

impl Transport for CharDevice {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminal_is_no_wwan_port_and_another_device_is() {
        let pty = crate::Pty::create(None).expect("a pty");
        assert!(matches!(CharDevice::open(pty.path()), Err(OpenError::NotModem { .. })));
        // A device that is no terminal. Its bytes are not Diag, but there are some.
        let mut port = CharDevice::open(Path::new("/dev/zero")).expect("opens");
        let read = port.read(&mut [1; 8], Duration::from_secs(5)).expect("reads");
        assert_eq!(read, Read::Bytes(8));
        port.send(b"\x00").expect("takes a request");
    }
}
