//! The ways to a modem's Diag: one trait, and a room for each.

mod device;
mod diagchar;
mod open;
mod router;
mod serial;
mod source;
mod stream;
mod tcp;
mod unframed;
mod userspace;

use std::fmt;
use std::io;
use std::os::fd::BorrowedFd;
use std::time::Duration;

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::time::TimeSpec;
use sounding_diag::capture::Framing;
use sounding_diag::hdlc;
use sounding_diag::session::Event;
use sounding_units::HostInstant;

pub use device::CharDevice;
pub use diagchar::DiagChar;
pub use open::OpenError;
pub(crate) use router::DRAIN;
pub use router::{Router, RouterSocket};
pub use serial::Port;
pub use source::{Source, SourceError};
pub use stream::Stream;
pub use tcp::Tcp;
pub use unframed::Unframed;

/// Prefix of Diag bytes on `/dev/diag`.
pub(crate) const USERSPACE_DATA: [u8; 4] = userspace::DATA.to_le_bytes();

/// The result of one wait for bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Read {
    /// This many bytes are in the buffer.
    Bytes(usize),
    /// The wait ran out.
    Idle,
    /// The other end is gone, or the file is at its end.
    Closed,
}

/// A buffer for [`Transport::read`] holds at least this: a packet that is longer than the buffer
/// loses its end.
pub const READ_SIZE: usize = 1 << 17;

/// A way to a modem's Diag, open.
pub trait Transport: fmt::Debug + Send {
    /// Waits up to `patience` for bytes and reads what is there.
    ///
    /// # Errors
    ///
    /// The kernel's error, if the port cannot be read. A port that closed is [`Read::Closed`].
    fn read(&mut self, buffer: &mut [u8], patience: Duration) -> io::Result<Read>;

    /// Sends the payload of one request, framed as the other end expects it. Never waits: requests
    /// are tiny, and a port that has no room for one is an error.
    ///
    /// # Errors
    ///
    /// The kernel's error: `WouldBlock` without room, `Unsupported` if the port takes no requests.
    fn send(&mut self, payload: &[u8]) -> io::Result<()> {
        let mut frame = Vec::new();
        hdlc::encode(payload, &mut frame);
        self.send_bytes(&frame)
    }

    /// Sends raw bytes, if the port carries bytes in both directions.
    ///
    /// # Errors
    ///
    /// The kernel's error: `WouldBlock` without room, `Unsupported` if the port takes no bytes.
    fn send_bytes(&mut self, _: &[u8]) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// The framing of the bytes that reads return.
    fn framing(&self) -> Framing {
        Framing::Hdlc
    }

    /// Whether requests can be sent at all.
    fn takes_requests(&self) -> bool {
        true
    }

    /// Whether the modem's buffers can be emptied on command. Where they cannot, records come when
    /// the modem sends them.
    fn can_drain(&self) -> bool {
        false
    }

    /// Sends the modem a drain command.
    ///
    /// # Errors
    ///
    /// The kernel's error, if it refuses the command.
    fn drain(&mut self) -> io::Result<()> {
        Ok(())
    }

    /// When the bytes of the last read came to this host, if another process has read them before.
    fn arrived(&self) -> Option<HostInstant> {
        None
    }

    /// The next thing that the other end says about its records, if it is no modem.
    fn poll_event(&mut self) -> Option<Event> {
        None
    }

    /// Records that the other end dropped because this one read too slowly.
    fn lost(&self) -> u64 {
        0
    }
}

/// Waits until one of these is readable; false if none became readable.
pub(crate) fn wait<'a>(
    fds: impl IntoIterator<Item = BorrowedFd<'a>>,
    patience: Duration,
) -> io::Result<bool> {
    // Milliseconds, as poll counts, are too coarse for a drain every one of them.
    let mut fds: Vec<_> = fds.into_iter().map(|fd| PollFd::new(fd, PollFlags::POLLIN)).collect();
    match ppoll(&mut fds, Some(TimeSpec::from_duration(patience)), None) {
        Ok(0) | Err(Errno::EINTR) => Ok(false),
        Ok(_) => Ok(true),
        Err(errno) => Err(errno.into()),
    }
}

/// The outcome of a read without a fatal error.
fn outcome(read: io::Result<usize>) -> io::Result<Read> {
    match read {
        // If the other end of a tty is gone, a pty returns EIO and a USB adapter end of file.
        Ok(0) => Ok(Read::Closed),
        Ok(count) => Ok(Read::Bytes(count)),
        Err(error) => match error.raw_os_error() {
            Some(libc::EIO | libc::ENODEV | libc::ENXIO | libc::ECONNRESET | libc::EPIPE) => {
                Ok(Read::Closed)
            }
            _ if error.kind() == io::ErrorKind::WouldBlock => Ok(Read::Idle),
            _ if error.kind() == io::ErrorKind::Interrupted => Ok(Read::Idle),
            _ => Err(error),
        },
    }
}
