use std::fmt;
use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::time::Duration;

use nix::sys::socket::{
    AddressFamily, MsgFlags, SockFlag, SockType, UnixAddr, connect, getsockopt, recv, send, socket,
    sockopt,
};
use nix::unistd::geteuid;
use sounding_diag::hdlc;

use super::{Framing, OpenError, Read, Transport, outcome, userspace, wait};

/// The socket of a diag-router, an abstract one that keeps packets apart.
///
/// The open router sends and receives bare packets. A phone vendor's router replaces `/dev/diag`
/// and uses its protocol: wrapped HDLC, and the numbers of its ioctls as messages.
#[derive(Debug)]
pub struct Router {
    socket: OwnedFd,
    vendor: bool,
    /// Buffer for wrapped reads from the vendor's router.
    wrapped: Vec<u8>,
}

/// The socket of a router, and the users that it may run as: the first process that binds an
/// abstract socket's name owns it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RouterSocket {
    /// The name of the socket; without it, those that routers of the kind are known by.
    pub name: Option<String>,
    /// Another user id whose process may answer there; processes of root and of the caller's user
    /// always may.
    pub served_by: Option<u32>,
}

impl fmt::Display for RouterSocket {
    /// The part of a source's name after the kind of router.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.name.as_ref().map_or(Ok(()), |name| write!(f, ":{name}"))
    }
}

impl RouterSocket {
    fn trusts(&self, user: u32) -> bool {
        user == 0 || user == geteuid().as_raw() || self.served_by == Some(user)
    }
}

/// The drain request to a vendor's router: the ioctl's number and the peripheral, 0 for the modem.
pub(crate) const DRAIN: [u8; 8] = [36, 0, 0, 0, 0, 0, 0, 0];

/// Maximum size of a message of a vendor's router: that of a read of its `/dev/diag`.
const MAX_MESSAGE: usize = 1 << 16;

impl Router {
    /// Bytes that the name of an abstract socket has room for.
    pub const MAX_NAME: usize = 107;

    /// Connects to the open router.
    ///
    /// # Errors
    ///
    /// [`OpenError`] if no router listens on the socket, or one of another user.
    pub fn connect(socket: &RouterSocket) -> Result<Self, OpenError> {
        Self::open(socket, false)
    }

    /// Connects to a phone vendor's router.
    ///
    /// # Errors
    ///
    /// [`OpenError`] if no router listens on the socket, or one of another user.
    pub fn connect_vendor(socket: &RouterSocket) -> Result<Self, OpenError> {
        Self::open(socket, true)
    }

    fn open(at: &RouterSocket, vendor: bool) -> Result<Self, OpenError> {
        let name = || at.name.as_deref().unwrap_or("diag").to_owned();
        let mut last = io::Error::from(io::ErrorKind::NotFound);
        let mut stranger = None;
        for candidate in candidates(at.name.as_deref()) {
            let flags = SockFlag::SOCK_CLOEXEC | SockFlag::SOCK_NONBLOCK;
            let attempt = UnixAddr::new_abstract(&candidate).and_then(|address| {
                let kind = SockType::SeqPacket;
                let socket = socket(AddressFamily::Unix, kind, flags, None)?;
                connect(socket.as_raw_fd(), &address)?;
                // Credentials of the listener, as of its start: no other process can replace it on
                // this connection.
                let peer = getsockopt(&socket, sockopt::PeerCredentials)?;
                Ok((socket, peer))
            });
            match attempt {
                Ok((socket, peer)) if at.trusts(peer.uid()) => {
                    return Ok(Self { socket, vendor, wrapped: Vec::new() });
                }
                // It may have taken one of several names before the router came.
                Ok((_, peer)) => stranger = Some((peer.uid(), peer.pid())),
                Err(errno) => last = errno.into(),
            }
        }
        Err(match stranger {
            Some((user, process)) => OpenError::Stranger { name: name(), user, process },
            None => OpenError::NoRouter { name: name(), error: last },
        })
    }
}

/// The names that a router may be found under.
///
/// Its name is `\0diag`. The router's authors copy that with a function that stops at its first
/// byte, a zero, into an address of the full size: the kernel sees a name of 107 zeros. Others pad
/// the name, or do not.
fn candidates(name: Option<&str>) -> Vec<Vec<u8>> {
    let padded = |name: &str| {
        let mut padded = name.as_bytes().to_vec();
        padded.resize(Router::MAX_NAME, 0);
        padded
    };
    match name {
        Some(name) => vec![name.as_bytes().to_vec(), padded(name)],
        None => vec![padded(""), padded("diag"), b"diag".to_vec()],
    }
}

impl Transport for Router {
    fn read(&mut self, buffer: &mut [u8], patience: Duration) -> io::Result<Read> {
        if !wait([self.socket.as_fd()], patience)? {
            return Ok(Read::Idle);
        }
        let fd = self.socket.as_raw_fd();
        if !self.vendor {
            return outcome(recv(fd, buffer, MsgFlags::empty()).map_err(io::Error::from));
        }
        self.wrapped.resize(buffer.len(), 0);
        let mut len = 0;
        // Reads all available messages that fit: a wait for each costs more than reading it.
        loop {
            let read =
                recv(fd, &mut self.wrapped[len..], MsgFlags::empty()).map_err(io::Error::from);
            match outcome(read)? {
                Read::Bytes(count) => {
                    for piece in userspace::pieces(&self.wrapped[len..len + count]) {
                        buffer[len..len + piece.len()].copy_from_slice(piece);
                        len += piece.len();
                    }
                }
                // Returns the earlier bytes first; the next read reports the end again.
                Read::Idle | Read::Closed if len > 0 => break,
                other => return Ok(other),
            }
            if buffer.len() - len < MAX_MESSAGE {
                break;
            }
        }
        Ok(if len == 0 { Read::Idle } else { Read::Bytes(len) })
    }

    fn send(&mut self, payload: &[u8]) -> io::Result<()> {
        if self.vendor {
            let mut frame = Vec::new();
            hdlc::encode(payload, &mut frame);
            return self.send_bytes(&frame);
        }
        send(self.socket.as_raw_fd(), payload, MsgFlags::MSG_NOSIGNAL)?;
        Ok(())
    }

    fn send_bytes(&mut self, bytes: &[u8]) -> io::Result<()> {
        if !self.vendor {
            return Err(io::ErrorKind::Unsupported.into());
        }
        send(self.socket.as_raw_fd(), &userspace::wrap(bytes), MsgFlags::MSG_NOSIGNAL)?;
        Ok(())
    }

    fn framing(&self) -> Framing {
        if self.vendor { Framing::Hdlc } else { Framing::Packet }
    }

    fn can_drain(&self) -> bool {
        self.vendor
    }

    fn drain(&mut self) -> io::Result<()> {
        send(self.socket.as_raw_fd(), &DRAIN, MsgFlags::MSG_NOSIGNAL)?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nix::sys::socket::{Backlog, accept, bind, listen};
    use std::os::fd::FromRawFd;

    fn server(name: &[u8]) -> OwnedFd {
        let kind = SockType::SeqPacket;
        let server =
            socket(AddressFamily::Unix, kind, SockFlag::SOCK_CLOEXEC, None).expect("a socket");
        let address = UnixAddr::new_abstract(name).expect("a name");
        bind(server.as_raw_fd(), &address).expect("the name is free");
        listen(&server, Backlog::new(1).expect("one")).expect("listens");
        server
    }

    fn accepted(server: &OwnedFd) -> OwnedFd {
        let fd = accept(server.as_raw_fd()).expect("a client");
        // SAFETY: accept has just made it, so it has no other owner.
        unsafe { OwnedFd::from_raw_fd(fd) }
    }

    fn own_name(what: &str) -> String {
        format!("sounding-test-{what}-{}", std::process::id())
    }

    fn at(name: &str) -> RouterSocket {
        RouterSocket { name: Some(name.into()), served_by: None }
    }

    #[test]
    fn packets_stay_apart_and_bare() {
        let name = own_name("bare");
        let server = server(name.as_bytes());
        let mut router = Router::connect(&at(&name)).expect("connects");
        let client = accepted(&server);
        router.send(&[0x7E, 0x00]).expect("takes a request");
        let mut buffer = [0; 64];
        let count = recv(client.as_raw_fd(), &mut buffer, MsgFlags::empty());
        assert_eq!(&buffer[..count.expect("a request")], [0x7E, 0x00]);
        for packet in [&b"\x10one"[..], b"\x10other"] {
            send(client.as_raw_fd(), packet, MsgFlags::empty()).expect("room");
        }
        assert_eq!(router.framing(), Framing::Packet);
        let mut read = || router.read(&mut buffer, Duration::from_secs(5)).expect("reads");
        assert_eq!([read(), read()], [Read::Bytes(4), Read::Bytes(6)]);
        drop(client);
        assert_eq!(read(), Read::Closed);
    }

    #[test]
    fn a_vendors_router_is_spoken_to_as_its_device_was_and_drained() {
        let name = own_name("vendor");
        let server = server(name.as_bytes());
        let mut router = Router::connect_vendor(&at(&name)).expect("connects");
        let client = accepted(&server);
        router.send(&[0x00]).expect("takes a request");
        router.drain().expect("takes a command");
        let mut buffer = [0; 64];
        let mut heard = || {
            let count = recv(client.as_raw_fd(), &mut buffer, MsgFlags::empty());
            buffer[..count.expect("a message")].to_vec()
        };
        assert_eq!(heard(), b"\x20\0\0\0\x00\x78\xF0\x7E");
        assert_eq!(heard(), [0x24, 0, 0, 0, 0, 0, 0, 0]);
        let wrapped = b"\x20\0\0\0\x02\0\0\0\x02\0\0\0ab\x01\0\0\0c";
        send(client.as_raw_fd(), wrapped, MsgFlags::empty()).expect("room");
        let read = router.read(&mut buffer, Duration::from_secs(5)).expect("reads");
        assert_eq!((read, &buffer[..3]), (Read::Bytes(3), &b"abc"[..]));
    }

    #[test]
    fn root_this_user_and_the_named_user_are_trusted() {
        let own = geteuid().as_raw();
        let stranger = own + 1;
        let socket = at("x");
        assert!(socket.trusts(0) && socket.trusts(own) && !socket.trusts(stranger));
        let named = RouterSocket { served_by: Some(stranger), ..socket };
        assert!(named.trusts(0) && named.trusts(stranger) && !named.trusts(own + 2));
    }

    #[test]
    fn the_open_routers_own_name_is_tried_first() {
        let names = candidates(None);
        assert_eq!(names[0], [0; 107]);
        assert!(names.contains(&b"diag".to_vec()));
    }
}
