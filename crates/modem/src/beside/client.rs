//! The reader's end: a way to a modem that another process holds.

use std::collections::VecDeque;
use std::fs;
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::FileTypeExt as _;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::sys::socket::{AddressFamily, SockFlag, SockType, UnixAddr, connect, socket};
use sounding_diag::LogCode;
use sounding_diag::capture::Framing;
use sounding_diag::session::{Beside, Event};
use sounding_units::HostInstant;
use thiserror::Error;

use super::folder;
use super::foreign::Foreign;
use super::frame::{Decoder, Frame};
use super::limits::MAX_CODES;
use super::peer::Peer;
use super::words::{Greeting, Request};
use crate::transport::wait;
use crate::{Read, Source, Transport};

/// The holder answers within this, or it is stuck.
const PATIENCE: Duration = Duration::from_secs(5);

/// Between two tries of a socket whose queue is full.
const STEP: Duration = Duration::from_millis(20);

/// Why a port is not read beside its holder, although there is a socket.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum BesideError {
    /// Others may make files in its folder.
    #[error(
        "{folder}: other users may write there, so the socket in it is not read: `chmod go-w {folder}`"
    )]
    Folder {
        /// The folder.
        folder: PathBuf,
    },
    /// Not the holder of the port has it.
    #[error(
        "{path}: process {process} of user {user} has this socket and does not hold the port, so it is not read: end that process"
    )]
    Stranger {
        /// The socket.
        path: PathBuf,
        /// The user id of its process.
        user: u32,
        /// Its number; 0 where it is in a process namespace out of sight.
        process: i32,
    },
    /// The holder does not let this user in.
    #[error(
        "{path}: this user may not open the port, and may not read it beside the process that holds it: run as root, or join the \
         group that owns the port (often dialout)"
    )]
    Denied {
        /// The socket.
        path: PathBuf,
    },
    /// There are too many readers.
    #[error("{path}: the process that holds the port has as many readers as it takes: end one")]
    Full {
        /// The socket.
        path: PathBuf,
    },
    /// Its bytes are not those of a holder.
    #[error("{path}: {why}: is the program that holds the port of another version?")]
    Foreign {
        /// The socket.
        path: PathBuf,
        /// The reason.
        why: Foreign,
    },
    /// The system refused something, or the holder is silent.
    #[error("{path}: {source}")]
    Io {
        /// The socket.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
}

/// The records of a modem whose port another process holds. It takes no requests.
#[derive(Debug)]
pub struct Client {
    socket: UnixStream,
    decoder: Decoder,
    scratch: Vec<u8>,
    greeting: Greeting,
    process: u32,
    arrived: Option<HostInstant>,
    events: VecDeque<Event>,
    lost: u64,
}

impl Client {
    /// Connects to the process that holds the port, if it serves readers, and asks for these codes,
    /// or for everything that comes. `holders` are the processes that are seen to hold the port. If
    /// none is seen, root and this user are believed, and the owner of the service's folder.
    ///
    /// # Errors
    ///
    /// [`BesideError`] if a socket is there and is not read.
    pub fn open(
        source: &Source,
        holders: &[u32],
        codes: Option<&[LogCode]>,
    ) -> Result<Option<Self>, BesideError> {
        let port = folder::port(source);
        for folder in folder::candidates(holders) {
            if let Some(client) = Self::open_in(&folder, &port, holders, codes)? {
                return Ok(Some(client));
            }
        }
        Ok(None)
    }

    pub(super) fn open_in(
        folder: &Path,
        port: &str,
        holders: &[u32],
        codes: Option<&[LogCode]>,
    ) -> Result<Option<Self>, BesideError> {
        let path = folder.join(folder::file_name(port));
        let fail = |source| BesideError::Io { path: path.clone(), source };
        match fs::symlink_metadata(&path) {
            Ok(about) if about.file_type().is_socket() => {}
            // Also where this user may not look.
            _ => return Ok(None),
        }
        if codes.is_some_and(|codes| codes.len() > MAX_CODES) {
            return Err(BesideError::Foreign { path, why: Foreign::Codes });
        }
        let Some(owner) = folder::owner(folder, holders).map_err(fail)? else {
            return Err(BesideError::Folder { folder: folder.into() });
        };
        let Some(socket) = reach(&path).map_err(fail)? else { return Ok(None) };
        let peer = Peer::of(&socket).map_err(fail)?;
        let holds = holders.is_empty() || holders.contains(&peer.process.unsigned_abs());
        if !holds || ![0, owner].contains(&peer.user) {
            let Peer { user, process, .. } = peer;
            return Err(BesideError::Stranger { path, user, process });
        }
        let mut client = Self {
            socket,
            decoder: Decoder::default(),
            scratch: vec![0; 1 << 16],
            greeting: Greeting::new(port),
            process: peer.process.unsigned_abs(),
            arrived: None,
            events: VecDeque::new(),
            lost: 0,
        };
        match client.begin(port, &Request::new(codes).line()) {
            Ok(is_that_port) => Ok(is_that_port.then_some(client)),
            Err(Failure::Io(source)) => Err(BesideError::Io { path, source }),
            Err(Failure::Foreign(why)) => Err(BesideError::Foreign { path, why }),
            Err(Failure::Refused(why)) if why == "full" => Err(BesideError::Full { path }),
            Err(Failure::Refused(_)) => Err(BesideError::Denied { path }),
        }
    }

    /// Takes the greeting and asks. False if the socket is another port's with the same name.
    fn begin(&mut self, port: &str, request: &[u8]) -> Result<bool, Failure> {
        let until = Instant::now() + PATIENCE;
        loop {
            match self.decoder.poll().map_err(Failure::Foreign)? {
                Some(Frame::Greeting(greeting)) => {
                    self.greeting = greeting;
                    break;
                }
                // The first frame is the greeting.
                Some(_) => {}
                None => self.receive(until.saturating_duration_since(Instant::now()))?,
            }
        }
        if self.greeting.port != port {
            return Ok(false);
        }
        if let Some(why) = self.greeting.refused.take() {
            return Err(Failure::Refused(why));
        }
        // A request is smaller than the buffer of a socket that nothing was written to.
        self.socket.write_all(request).map_err(Failure::Io)?;
        Ok(true)
    }

    fn receive(&mut self, patience: Duration) -> Result<(), Failure> {
        if !wait([self.socket.as_fd()], patience).map_err(Failure::Io)? {
            let silent = io::Error::new(ErrorKind::TimedOut, "its process does not answer");
            return if patience.is_zero() { Err(Failure::Io(silent)) } else { Ok(()) };
        }
        match self.socket.read(&mut self.scratch) {
            Ok(0) => Err(Failure::Io(ErrorKind::UnexpectedEof.into())),
            Ok(count) => {
                self.decoder.handle(self.scratch.get(..count).unwrap_or_default());
                Ok(())
            }
            Err(error) if is_passing(&error) => Ok(()),
            Err(error) => Err(Failure::Io(error)),
        }
    }

    /// The process that holds the port.
    pub fn process(&self) -> u32 {
        self.process
    }

    /// What it said first.
    pub fn greeting(&self) -> &Greeting {
        &self.greeting
    }

    fn handle(&mut self, news: Beside) {
        if let Beside::Lost { records } = news {
            let is_first = self.lost == 0;
            self.lost = self.lost.saturating_add(records);
            // Once is enough: the sum is said at the end.
            if !is_first {
                return;
            }
        }
        // A holder that says more than anybody takes is heard in its last words.
        const MOST: usize = 64;
        if self.events.len() >= MOST {
            self.events.pop_front();
        }
        self.events.push_back(Event::Beside(news));
    }

    /// The next packet that has come, copied into the buffer.
    fn poll(&mut self, buffer: &mut [u8]) -> io::Result<Option<usize>> {
        let foreign = |why: Foreign| io::Error::new(ErrorKind::InvalidData, why);
        loop {
            let news = match self.decoder.poll().map_err(foreign)? {
                None => return Ok(None),
                Some(Frame::Packet(at, packet)) => {
                    let count = packet.len().min(buffer.len());
                    let (to, from) = (buffer.get_mut(..count), packet.get(..count));
                    if let (Some(to), Some(from)) = (to, from) {
                        to.copy_from_slice(from);
                    }
                    self.arrived = Some(at);
                    return Ok(Some(count));
                }
                Some(Frame::News(news)) => news,
                Some(Frame::Greeting(_)) => continue,
            };
            self.handle(news);
        }
    }
}

/// Why a connection did not begin.
enum Failure {
    Io(io::Error),
    Foreign(Foreign),
    Refused(String),
}

fn is_passing(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted)
}

/// Connects without waiting for a process that is stuck; `None` if no process listens.
fn reach(path: &Path) -> io::Result<Option<UnixStream>> {
    let until = Instant::now() + PATIENCE;
    let address = UnixAddr::new(path)?;
    loop {
        let flags = SockFlag::SOCK_CLOEXEC | SockFlag::SOCK_NONBLOCK;
        let fd: OwnedFd = socket(AddressFamily::Unix, SockType::Stream, flags, None)?;
        match connect(std::os::fd::AsRawFd::as_raw_fd(&fd), &address) {
            Ok(()) => return Ok(Some(UnixStream::from(fd))),
            Err(Errno::ECONNREFUSED | Errno::ENOENT | Errno::EACCES) => return Ok(None),
            Err(Errno::EAGAIN | Errno::EINTR) if Instant::now() < until => std::thread::sleep(STEP),
            Err(errno) => return Err(errno.into()),
        }
    }
}

impl Transport for Client {
    fn read(&mut self, buffer: &mut [u8], patience: Duration) -> io::Result<Read> {
        if let Some(count) = self.poll(buffer)? {
            return Ok(Read::Bytes(count));
        }
        if !wait([self.socket.as_fd()], patience)? {
            return Ok(Read::Idle);
        }
        match self.socket.read(&mut self.scratch) {
            Ok(0) => return Ok(Read::Closed),
            Ok(count) => self.decoder.handle(self.scratch.get(..count).unwrap_or_default()),
            Err(error) if is_passing(&error) => return Ok(Read::Idle),
            Err(error) if error.kind() == ErrorKind::ConnectionReset => return Ok(Read::Closed),
            Err(error) => return Err(error),
        }
        Ok(self.poll(buffer)?.map_or(Read::Idle, Read::Bytes))
    }

    fn framing(&self) -> Framing {
        Framing::Packet
    }

    fn takes_requests(&self) -> bool {
        false
    }

    fn arrived(&self) -> Option<HostInstant> {
        self.arrived
    }

    fn poll_event(&mut self) -> Option<Event> {
        self.events.pop_front()
    }

    fn lost(&self) -> u64 {
        self.lost
    }
}
