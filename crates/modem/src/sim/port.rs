use std::collections::VecDeque;
use std::io::{self, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::path::PathBuf;
use std::time::Duration;

use nix::errno::Errno;
use nix::sys::socket::{
    AddressFamily, Backlog, MsgFlags, SockFlag, SockType, UnixAddr, accept4, bind, listen, recv,
    send, socket,
};
use sounding_diag::capture::{Format, Kind, Reader, emit_unframed};
use sounding_diag::hdlc;

use crate::Pty;
use crate::transport::{DRAIN, USERSPACE_DATA, wait};

/// The port of a simulated modem.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// A pty, with a symbolic link to its tty if one is named.
    Pty(Option<PathBuf>),
    /// The socket of an open diag-router, with this name.
    Router(String),
    /// The socket of a vendor's diag-router.
    VendorRouter(String),
    /// A TCP port of the loopback interface; 0 takes a free one.
    Tcp(u16),
}

/// The modem's end of a port.
#[derive(Debug)]
pub(super) struct SimPort {
    end: End,
    /// The framing of packets on a port that carries bytes.
    format: Format,
    requests: Reader,
    queue: VecDeque<Vec<u8>>,
    queued: usize,
}

#[derive(Debug)]
enum End {
    Pty(Pty),
    Packets { listener: OwnedFd, client: Option<OwnedFd>, vendor: bool },
    Tcp { listener: TcpListener, client: Option<TcpStream> },
}

/// Maximum bytes of one message of a vendor's router: half of a read from `/dev/diag`.
const MAX_TOGETHER: usize = 8192;

/// Input from a host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Heard {
    Request(Vec<u8>),
    Drain,
}

impl SimPort {
    pub(super) fn open(place: &Place, unframed: bool) -> io::Result<Self> {
        let format = if unframed { Format::NonHdlc } else { Format::Hdlc };
        let end = match place {
            Place::Pty(link) => End::Pty(Pty::create(link.as_deref())?),
            Place::Router(name) => packets(name, false)?,
            Place::VendorRouter(name) => packets(name, true)?,
            Place::Tcp(port) => {
                let listener = TcpListener::bind(("127.0.0.1", *port))?;
                listener.set_nonblocking(true)?;
                End::Tcp { listener, client: None }
            }
        };
        let requests = Reader::of(Kind::of(format));
        Ok(Self { end, format, requests, queue: VecDeque::new(), queued: 0 })
    }

    /// The source for a reader.
    pub(super) fn source(&self, place: &Place) -> String {
        match (place, &self.end) {
            (Place::Router(name), _) => format!("router:{name}"),
            (Place::VendorRouter(name), _) => format!("vendor-router:{name}"),
            (Place::Pty(Some(link)), _) => link.display().to_string(),
            (_, End::Pty(pty)) => pty.path().display().to_string(),
            (_, End::Tcp { listener, .. }) => {
                let address =
                    listener.local_addr().map_or(String::new(), |a: SocketAddr| a.to_string());
                format!("tcp:{address}")
            }
            (_, End::Packets { .. }) => String::new(),
        }
    }

    /// Whether a reader has it open. A socket without a client accepts a new one.
    pub(super) fn is_attended(&mut self) -> io::Result<bool> {
        match &mut self.end {
            End::Pty(pty) => return Ok(pty.has_reader()),
            End::Packets { listener, client, .. } => {
                if client.is_some() {
                    return Ok(true);
                }
                let flags = SockFlag::SOCK_NONBLOCK | SockFlag::SOCK_CLOEXEC;
                match accept4(listener.as_raw_fd(), flags) {
                    // SAFETY: accept has just made it, so it has no other owner.
                    Ok(fd) => *client = Some(unsafe { OwnedFd::from_raw_fd(fd) }),
                    Err(Errno::EAGAIN) => return Ok(false),
                    Err(errno) => return Err(errno.into()),
                }
            }
            End::Tcp { listener, client } => {
                if client.is_some() {
                    return Ok(true);
                }
                match listener.accept() {
                    Ok((stream, _)) => {
                        stream.set_nonblocking(true)?;
                        stream.set_nodelay(true)?;
                        *client = Some(stream);
                    }
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(false),
                    Err(error) => return Err(error),
                }
            }
        }
        // Output for the last reader is not for the next.
        self.requests = Reader::of(Kind::of(self.format));
        self.queue.clear();
        self.queued = 0;
        Ok(true)
    }

    /// Reads the host's input.
    pub(super) fn hear(&mut self) -> io::Result<Vec<Heard>> {
        let mut heard = Vec::new();
        let mut buffer = [0; 8192];
        loop {
            let read = match &mut self.end {
                End::Pty(pty) => pty.read(&mut buffer),
                End::Packets { client: Some(client), .. } => {
                    recv(client.as_raw_fd(), &mut buffer, MsgFlags::empty())
                        .map_err(io::Error::from)
                }
                End::Tcp { client: Some(client), .. } => client.read(&mut buffer),
                End::Packets { .. } | End::Tcp { .. } => return Ok(heard),
            };
            let count = match read {
                Ok(0) => {
                    // On a pty this means nothing yet; on a socket it is the end.
                    self.hang_up();
                    return Ok(heard);
                }
                Ok(count) => count,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(heard),
                Err(_) => {
                    self.hang_up();
                    return Ok(heard);
                }
            };
            self.understand(&buffer[..count], &mut heard);
        }
    }

    fn understand(&mut self, bytes: &[u8], heard: &mut Vec<Heard>) {
        let mut frames = match &self.end {
            End::Packets { vendor: false, .. } => {
                heard.push(Heard::Request(bytes.to_vec()));
                return;
            }
            End::Packets { vendor: true, .. } if bytes == DRAIN => {
                heard.push(Heard::Drain);
                return;
            }
            End::Packets { vendor: true, .. } => bytes.strip_prefix(&USERSPACE_DATA).unwrap_or(&[]),
            End::Pty(_) | End::Tcp { .. } => bytes,
        };
        while let Some(found) = self.requests.poll_packet(&mut frames) {
            let mut request = Vec::new();
            if found.is_ok_and(|located| located.packet.emit(&mut request).is_ok()) {
                heard.push(Heard::Request(request));
            }
        }
    }

    fn hang_up(&mut self) {
        match &mut self.end {
            End::Pty(_) => {}
            End::Packets { client, .. } => *client = None,
            End::Tcp { client, .. } => *client = None,
        }
    }

    /// Waits for input from the host, if one is connected, or for `other` to be readable, at most
    /// for `patience`.
    pub(super) fn wait(&self, other: Option<BorrowedFd<'_>>, patience: Duration) -> io::Result<()> {
        let host = match &self.end {
            End::Packets { client: Some(client), .. } => Some(client.as_fd()),
            End::Tcp { client: Some(client), .. } => Some(client.as_fd()),
            End::Pty(pty) if pty.has_reader() => Some(pty.as_fd()),
            _ => None,
        };
        wait(host.into_iter().chain(other), patience).map(drop)
    }

    /// Bytes that wait for the reader.
    pub(super) fn queued(&self) -> usize {
        self.queued
    }

    pub(super) fn queue_packet(&mut self, payload: &[u8]) {
        if matches!(self.end, End::Packets { vendor: false, .. }) {
            return self.queue(payload.to_vec());
        }
        let mut frame = Vec::new();
        match self.format {
            // A packet too long for its length field cannot be sent on such a port.
            Format::NonHdlc => drop(emit_unframed(payload, &mut frame)),
            _ => hdlc::encode(payload, &mut frame),
        }
        self.queue_bytes(frame);
    }

    /// Queues raw bytes on a port that carries bytes, or one packet on a port that carries packets.
    pub(super) fn queue_bytes(&mut self, bytes: Vec<u8>) {
        if matches!(self.end, End::Packets { vendor: true, .. }) {
            return self.queue_piece(&bytes);
        }
        self.queue(bytes);
    }

    /// A vendor's router combines packets that arrive together into one message, as the driver of
    /// `/dev/diag` does.
    fn queue_piece(&mut self, piece: &[u8]) {
        let len = (piece.len() as u32).to_le_bytes();
        match self.queue.back_mut() {
            Some(last) if last.len() + piece.len() < MAX_TOGETHER => {
                let count = u32::from_le_bytes([last[4], last[5], last[6], last[7]]) + 1;
                last[4..8].copy_from_slice(&count.to_le_bytes());
                last.extend_from_slice(&len);
                last.extend_from_slice(piece);
                self.queued += len.len() + piece.len();
            }
            _ => self.queue([&USERSPACE_DATA, &1u32.to_le_bytes(), &len, piece].concat()),
        }
    }

    fn queue(&mut self, bytes: Vec<u8>) {
        self.queued += bytes.len();
        self.queue.push_back(bytes);
    }

    /// Writes as much as the reader takes now.
    pub(super) fn flush(&mut self) -> io::Result<()> {
        while let Some(mut chunk) = self.queue.pop_front() {
            let written = match &mut self.end {
                End::Pty(pty) => pty.write(&chunk, Duration::ZERO),
                End::Packets { client: Some(client), .. } => {
                    send(client.as_raw_fd(), &chunk, MsgFlags::MSG_NOSIGNAL)
                        .map_err(io::Error::from)
                }
                End::Tcp { client: Some(client), .. } => client.write(&chunk),
                // No reader is there to take it.
                End::Packets { .. } | End::Tcp { .. } => Ok(chunk.len()),
            };
            match written {
                Ok(count) => {
                    self.queued -= count;
                    if count < chunk.len() {
                        chunk.drain(..count);
                        self.queue.push_front(chunk);
                        return Ok(());
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    self.queue.push_front(chunk);
                    return Ok(());
                }
                Err(_) => {
                    self.queued -= chunk.len();
                    self.hang_up();
                }
            }
        }
        Ok(())
    }
}

fn packets(name: &str, vendor: bool) -> io::Result<End> {
    let flags = SockFlag::SOCK_NONBLOCK | SockFlag::SOCK_CLOEXEC;
    let listener = socket(AddressFamily::Unix, SockType::SeqPacket, flags, None)?;
    bind(listener.as_raw_fd(), &UnixAddr::new_abstract(name.as_bytes())?)?;
    listen(&listener, Backlog::new(1)?)?;
    Ok(End::Packets { listener, client: None, vendor })
}
