use std::io::{self, Read as _, Write as _};
use std::net::{TcpStream, ToSocketAddrs};
use std::os::fd::AsFd;
use std::time::Duration;

use super::{OpenError, Read, Transport, outcome, wait};

/// A bridge that passes HDLC frames both ways, as QCSuper's on port 43555 of a phone.
#[derive(Debug)]
pub struct Tcp {
    stream: TcpStream,
}

/// A bridge is a cable's length away.
const PATIENCE: Duration = Duration::from_secs(3);

impl Tcp {
    /// Connects to `HOST:PORT`.
    ///
    /// # Errors
    ///
    /// [`OpenError::Connect`] if the name has no address, or none of its addresses answers in time.
    pub fn connect(address: &str) -> Result<Self, OpenError> {
        let fail = |error| OpenError::Connect { address: address.into(), error };
        let mut last = io::Error::from(io::ErrorKind::NotFound);
        for one in address.to_socket_addrs().map_err(fail)? {
            match TcpStream::connect_timeout(&one, PATIENCE) {
                Ok(stream) => {
                    stream.set_nodelay(true).map_err(fail)?;
                    stream.set_nonblocking(true).map_err(fail)?;
                    return Ok(Self { stream });
                }
                Err(error) => last = error,
            }
        }
        Err(fail(last))
    }
}

impl Transport for Tcp {
    fn read(&mut self, buffer: &mut [u8], patience: Duration) -> io::Result<Read> {
        if !wait([self.stream.as_fd()], patience)? {
            return Ok(Read::Idle);
        }
        outcome(self.stream.read(buffer))
    }

    fn send_bytes(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.stream.write_all(bytes)
    }
}
