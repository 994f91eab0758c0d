//! The holder's end: a socket for one port, its readers, and what waits for each.
//!
//! Nothing here waits. The thread that reads the modem calls it, and a reader that takes nothing
//! costs only its own records.

use std::fs;
use std::io::{self, ErrorKind, Read as _};
use std::os::fd::AsFd as _;
use std::os::unix::fs::{FileTypeExt as _, PermissionsExt as _};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::time::Duration;

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use sounding_diag::LogCode;
use sounding_diag::packet::Packet;
use sounding_diag::session::{Beside, Identity, Lack};
use sounding_units::HostInstant;
use thiserror::Error;

use super::folder;
use super::limits::MAX_REQUEST;
use super::node::{self, Node};
use super::peer::Peer;
use super::queue::Queue;
use super::words::{Greeting, Request};
use crate::Source;

/// The most readers of a port, those that have not asked yet among them.
const MOST: usize = 16;

/// The most readers of one user, so that no user takes the place of all others.
const MAX_OF_A_USER: usize = 12;

/// Most new connections in one turn: 6,400 a second, so that knocking keeps no one else out.
const MAX_AT_ONCE: usize = 32;

/// Readers are looked after this often.
const EVERY: Duration = Duration::from_millis(5);

/// A reader that has not asked by then is sent away.
const MAX_SILENCE: Duration = Duration::from_secs(5);

/// Why a port has no socket for readers.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ServeError {
    /// The port is not open yet.
    #[error("its port is not open")]
    Absent,
    /// This user has no folder for it.
    #[error("no folder for it: set XDG_RUNTIME_DIR or SOUNDING_RUN_DIR")]
    Nowhere,
    /// Others may write the folder.
    #[error(
        "{folder}: other users may write there: `chmod go-w {folder}`, or set SOUNDING_RUN_DIR"
    )]
    Folder {
        /// The folder.
        folder: PathBuf,
    },
    /// Another process has the socket, or something else is there.
    #[error(
        "{path}: it belongs to another process, or is no socket: end that process, or remove it"
    )]
    Taken {
        /// The socket.
        path: PathBuf,
    },
    /// The system refused something.
    #[error("{path}: {source}")]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
}

/// The socket of a port, and its readers. Dropping it takes the socket away.
#[derive(Debug)]
pub struct Server {
    listener: UnixListener,
    path: PathBuf,
    /// Whether the folder was made for it.
    is_made: bool,
    source: Source,
    greeting: Greeting,
    node: Option<Node>,
    readers: Vec<Reader>,
    attended: HostInstant,
    packet: Vec<u8>,
}

/// A reader.
#[derive(Debug)]
struct Reader {
    socket: UnixStream,
    user: u32,
    since: HostInstant,
    queue: Queue,
    asked: Asked,
    /// The codes that it was last told to lack.
    told: Option<Beside>,
    is_gone: bool,
}

/// What a reader asked for.
#[derive(Debug)]
enum Asked {
    /// Nothing yet: the bytes of its line so far.
    Not(Vec<u8>),
    /// Every packet.
    Everything,
    /// Log records of these codes, and a bit for each.
    Codes(Vec<LogCode>, Box<[u64; 1024]>),
}

impl Server {
    /// Makes the socket of a port that this process holds.
    ///
    /// # Errors
    ///
    /// [`ServeError`] if there is no safe place for it, or another process has it.
    pub fn start(source: &Source) -> Result<Self, ServeError> {
        let folder = sounding_host::runtime_folder().ok_or(ServeError::Nowhere)?;
        Self::start_in(&folder, source)
    }

    fn start_in(folder: &Path, source: &Source) -> Result<Self, ServeError> {
        let at = |path: &Path, source| ServeError::Io { path: path.into(), source };
        let is_made = !folder.exists();
        fs::create_dir_all(folder).map_err(|error| at(folder, error))?;
        if folder::owner(folder, &[]).map_err(|error| at(folder, error))?.is_none() {
            return Err(ServeError::Folder { folder: folder.into() });
        }
        let port = folder::port(source);
        let (listener, path) = bind(folder, &port)?;
        Ok(Self {
            listener,
            path,
            is_made,
            source: source.clone(),
            greeting: Greeting::new(&port),
            node: Node::of(source),
            readers: Vec::new(),
            attended: HostInstant::default(),
            packet: Vec::new(),
        })
    }

    /// The number of readers that have asked.
    pub fn readers(&self) -> usize {
        self.readers.iter().filter(|reader| reader.has_asked()).count()
    }

    /// Bytes that wait for all readers.
    pub fn waiting(&self) -> usize {
        self.readers.iter().map(|reader| reader.queue.waiting()).sum()
    }

    /// The codes that readers want, each once. A reader's own order is kept.
    pub fn codes(&self) -> Vec<LogCode> {
        let mut seen = std::collections::BTreeSet::new();
        let each = self.readers.iter().filter_map(|reader| match &reader.asked {
            Asked::Codes(codes, _) => Some(codes),
            _ => None,
        });
        each.flatten().copied().filter(|code| seen.insert(*code)).collect()
    }

    /// The port closed.
    pub fn handle_closed(&mut self, now: HostInstant) {
        self.node = None;
        self.tell(now, &Beside::Closed);
    }

    /// The port is open again. A modem that was plugged in anew may have another port behind the
    /// same link: then its socket gets that port's name, and the readers stay.
    ///
    /// # Errors
    ///
    /// [`ServeError`] if there is no place for the new socket. The old one stays.
    pub fn handle_reopened(&mut self, now: HostInstant) -> Result<(), ServeError> {
        self.node = Node::of(&self.source);
        self.tell(now, &Beside::Reopened);
        let port = folder::port(&self.source);
        if port == self.greeting.port {
            return Ok(());
        }
        let folder = self.path.parent().unwrap_or(Path::new("/"));
        let (listener, path) = bind(folder, &port)?;
        // Another name may be the same file.
        if path != self.path {
            let _ = fs::remove_file(&self.path);
        }
        (self.listener, self.path, self.greeting.port) = (listener, path, port);
        Ok(())
    }

    /// What the modem told of itself, for readers that come later.
    pub fn introduce(&mut self, identity: &Identity) {
        let known = (&self.greeting.compiled, &self.greeting.build);
        if known == (&identity.compiled, &identity.build) {
            return;
        }
        self.greeting.compiled.clone_from(&identity.compiled);
        self.greeting.build.clone_from(&identity.build);
    }

    fn tell(&mut self, now: HostInstant, news: &Beside) {
        for reader in self.readers.iter_mut().filter(|reader| reader.has_asked()) {
            reader.is_gone |= !reader.queue.push_news(now, news);
        }
    }

    /// A packet of the modem came at `now`.
    pub fn handle_packet(&mut self, now: HostInstant, packet: &Packet<'_>) {
        if !self.readers.iter().any(|reader| reader.wants(packet)) {
            return;
        }
        self.packet.clear();
        // A packet that was read is not too long to be written.
        if packet.emit(&mut self.packet).is_ok() {
            for reader in self.readers.iter_mut().filter(|reader| reader.wants(packet)) {
                reader.queue.push_packet(now, &self.packet);
            }
        }
    }

    /// Writes to each reader what it takes. This is due after each read of the modem.
    pub fn flush(&mut self, now: HostInstant) {
        self.readers.iter_mut().for_each(|reader| reader.write(now));
    }

    /// Says to each reader which of its codes are not on. A `lack` of `None` is not known yet.
    pub fn tell_lacks(&mut self, now: HostInstant, lack: impl Fn(LogCode) -> Option<Option<Lack>>) {
        for reader in &mut self.readers {
            let Asked::Codes(codes, _) = &reader.asked else { continue };
            let lacks: Option<Vec<_>> =
                codes.iter().map(|code| Some((*code, lack(*code)?))).collect();
            let Some(lacks) = lacks else { continue };
            let of = |why| {
                let codes = lacks.iter().filter(|(_, lack)| *lack == Some(why));
                codes.map(|(code, _)| *code).collect()
            };
            let news = Beside::Lacks {
                budget: of(Lack::Budget),
                unknown: of(Lack::Unknown),
                kept: of(Lack::Kept),
            };
            if reader.told.as_ref() != Some(&news) {
                reader.is_gone |= !reader.queue.push_news(now, &news);
                reader.told = Some(news);
            }
        }
    }

    /// Lets readers in, takes their requests, and removes those that left. Returns whether the
    /// readers are others than before. This is due every few milliseconds.
    pub fn attend(&mut self, now: HostInstant) -> bool {
        if now - self.attended < EVERY {
            return false;
        }
        self.attended = now;
        let mut changed = false;
        if self.has_news() {
            self.accept(now);
            for reader in &mut self.readers {
                changed |= reader.read();
            }
        }
        self.flush(now);
        for reader in &mut self.readers {
            reader.is_gone |= !reader.has_asked() && now - reader.since > MAX_SILENCE;
        }
        self.readers.retain(|reader| {
            changed |= reader.is_gone && reader.has_asked();
            !reader.is_gone
        });
        changed
    }

    /// Whether any socket has something to read, or has closed.
    fn has_news(&self) -> bool {
        let sockets = self.readers.iter().map(|reader| reader.socket.as_fd());
        let all = std::iter::once(self.listener.as_fd()).chain(sockets);
        let mut all: Vec<_> = all.map(|fd| PollFd::new(fd, PollFlags::POLLIN)).collect();
        poll(&mut all, PollTimeout::ZERO).is_ok_and(|count| count > 0)
    }

    fn accept(&mut self, now: HostInstant) {
        for _ in 0..MAX_AT_ONCE {
            let Ok((socket, _)) = self.listener.accept() else { return };
            // A connection that is broken already is none.
            let Ok(peer) = socket.set_nonblocking(true).and_then(|()| Peer::of(&socket)) else {
                continue;
            };
            let of_user = self.readers.iter().filter(|other| other.user == peer.user).count();
            let is_full = self.readers.len() >= MOST || of_user >= MAX_OF_A_USER;
            let refused = match node::may_look(self.node.as_ref(), &peer) {
                false => Some("permission"),
                true if is_full => Some("full"),
                true => None,
            };
            let mut reader = Reader::new(socket, peer.user, now);
            let mut greeting = self.greeting.clone();
            if let Some(why) = refused {
                // It learns the reason, and nothing else.
                greeting = Greeting::new(&greeting.port);
                greeting.refused = Some(why.into());
            }
            reader.queue.push_line(&greeting.line());
            reader.write(now);
            if refused.is_none() && !reader.is_gone {
                self.readers.push(reader);
            }
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // The folder may be gone already, or hold other files.
        let _ = fs::remove_file(&self.path);
        if let Some(folder) = self.path.parent().filter(|_| self.is_made) {
            let _ = fs::remove_dir(folder);
        }
    }
}

impl Reader {
    fn new(socket: UnixStream, user: u32, since: HostInstant) -> Self {
        let asked = Asked::Not(Vec::new());
        Self { socket, user, since, queue: Queue::default(), asked, told: None, is_gone: false }
    }

    fn has_asked(&self) -> bool {
        !matches!(self.asked, Asked::Not(_))
    }

    fn wants(&self, packet: &Packet<'_>) -> bool {
        match (&self.asked, packet) {
            (Asked::Everything, _) => true,
            (Asked::Codes(_, bits), Packet::Log(record)) => {
                let (at, bit) = place(record.code);
                bits.get(at).is_some_and(|word| word >> bit & 1 == 1)
            }
            _ => false,
        }
    }

    fn write(&mut self, now: HostInstant) {
        if !self.is_gone && self.queue.waiting() > 0 {
            self.is_gone |= self.queue.write(now, &mut self.socket).is_err();
        }
    }

    /// Takes what it says: its request, and nothing after that. Returns whether that was its
    /// request.
    fn read(&mut self) -> bool {
        let mut bytes = [0; 1024];
        loop {
            let count = match self.socket.read(&mut bytes) {
                Ok(0) => break,
                Ok(count) => count,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return false,
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(_) => break,
            };
            // A reader asks once.
            let Asked::Not(line) = &mut self.asked else { break };
            line.extend_from_slice(bytes.get(..count).unwrap_or_default());
            let Some(end) = line.iter().position(|byte| *byte == b'\n') else {
                if line.len() < MAX_REQUEST {
                    continue;
                }
                break;
            };
            let request = line.get(..end).map(Request::parse);
            let (Some(Ok(request)), true) = (request, end + 1 == line.len()) else { break };
            self.asked = Asked::of(&request);
            return true;
        }
        self.is_gone = true;
        false
    }
}

impl Asked {
    fn of(request: &Request) -> Self {
        let Some(codes) = request.codes() else { return Self::Everything };
        let mut bits = Box::new([0u64; 1024]);
        for code in &codes {
            let (at, bit) = place(*code);
            if let Some(word) = bits.get_mut(at) {
                *word |= 1 << bit;
            }
        }
        Self::Codes(codes, bits)
    }
}

/// The word and the bit of a code.
fn place(code: LogCode) -> (usize, u16) {
    (usize::from(code.number() / 64), code.number() % 64)
}

/// Makes the socket of a port.
fn bind(folder: &Path, port: &str) -> Result<(UnixListener, PathBuf), ServeError> {
    let path = folder.join(folder::file_name(port));
    make_room(&path)?;
    // Everybody may knock. The port's node says who is let in.
    let open = |listener: &UnixListener| {
        fs::set_permissions(&path, fs::Permissions::from_mode(0o666))?;
        listener.set_nonblocking(true)
    };
    match UnixListener::bind(&path).and_then(|listener| open(&listener).map(|()| listener)) {
        Ok(listener) => Ok((listener, path)),
        Err(source) => Err(ServeError::Io { path, source }),
    }
}

/// Removes the socket of a process that is dead.
fn make_room(path: &Path) -> Result<(), ServeError> {
    let fail = |source| ServeError::Io { path: path.into(), source };
    match fs::symlink_metadata(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(fail(error)),
        Ok(about) if !about.file_type().is_socket() => {
            return Err(ServeError::Taken { path: path.into() });
        }
        Ok(_) => {}
    }
    match UnixStream::connect(path) {
        Err(error) if error.kind() == ErrorKind::ConnectionRefused => {
            fs::remove_file(path).map_err(fail)
        }
        Err(error) => Err(fail(error)),
        Ok(_) => Err(ServeError::Taken { path: path.into() }),
    }
}

#[cfg(test)]
mod tests;
