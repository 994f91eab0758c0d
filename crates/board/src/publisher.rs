use std::fs::{self, DirBuilder, File, OpenOptions, Permissions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::time::Duration;

use nix::errno::Errno;
use nix::fcntl::{Flock, FlockArg};
use nix::sys::socket::{MsgFlags, send};
use sounding_kpi::Reading;
use sounding_kpi::board::{Board, NotABoard, Writer, words_for};
use sounding_kpi::registry::NamedKpi;
use sounding_units::HostInstant;
use thiserror::Error;

use crate::Place;
use crate::memory::Memory;

/// The writer of a board.
///
/// Whatever loop it lives in calls [`heartbeat`](Self::heartbeat) a few times a second or as often as it comes round,
/// which also lets those in who want to be woken. When it is dropped its files go away; readers that have them keep the last values and are told
/// that the writer has ended.
#[derive(Debug)]
pub struct Publisher {
    place: Place,
    memory: Memory,
    writer: Writer,
    listener: UnixListener,
    readers: Vec<UnixStream>,
    /// When it last said that it lives.
    beaten: Option<HostInstant>,
    // The last to go: it is what keeps others out.
    _lock: Flock<File>,
}

/// Why a board cannot be made.
#[derive(Debug, Error)]
pub enum PublishError {
    /// Another process has it.
    #[error("{path}: another process publishes this board")]
    Taken {
        /// The lock it holds.
        path: PathBuf,
    },
    /// The system would not make it.
    #[error("{path}: {error}")]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        error: io::Error,
    },
    /// It would be too large.
    #[error(transparent)]
    Layout(#[from] NotABoard),
}

/// A heartbeat looks for new readers, which is a system call: more of them than this would cost more than the reading.
const BEAT: Duration = Duration::from_millis(5);

/// More readers than this are not woken: each costs a system call for every post.
const MOST_READERS: usize = 64;

impl Publisher {
    /// Makes a board of these KPIs, in the order of a subscription's slots.
    pub fn create(
        place: Place,
        kpis: &[&'static NamedKpi],
        now: HostInstant,
    ) -> Result<Self, PublishError> {
        let at = |path: PathBuf| move |error| PublishError::Io { path, error };
        let folder = place.folder().to_path_buf();
        DirBuilder::new().recursive(true).mode(0o755).create(&folder).map_err(at(folder))?;
        let lock = lock(&place)?;

        let draft = place.draft();
        let bytes = words_for(kpis.len()) * size_of::<u64>();
        let memory = zeroed(&draft, bytes as u64).map_err(at(draft.clone()))?;
        let units: Vec<String> = kpis.iter().map(|kpi| kpi.unit.to_string()).collect();
        let names = kpis.iter().zip(&units).map(|(kpi, unit)| (kpi.name, unit.as_str()));
        let writer = Writer::create(memory.words(), names, std::process::id(), now)?;
        let path = place.memory();
        fs::rename(&draft, &path).map_err(at(path))?;

        let path = place.socket();
        // A socket that is there is a dead writer's: the lock is ours.
        match fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(at(path)(error)),
            _ => {}
        }
        let listener = UnixListener::bind(&path).map_err(at(path.clone()))?;
        // Readers need not be of this user.
        fs::set_permissions(&path, Permissions::from_mode(0o666)).map_err(at(path.clone()))?;
        listener.set_nonblocking(true).map_err(at(path))?;
        Ok(Self { place, memory, writer, listener, readers: Vec::new(), beaten: None, _lock: lock })
    }

    /// Where it is.
    pub fn place(&self) -> &Place {
        &self.place
    }

    /// A value of one of its KPIs, from a record that arrived at `now`; readers see it after the next post.
    #[inline]
    pub fn handle(&mut self, reading: &Reading, now: HostInstant) {
        self.writer.handle(reading, now);
    }

    /// Posts what has come by `now`, and wakes the readers if anything has: a sign of life like a heartbeat.
    pub fn post(&mut self, now: HostInstant) {
        let Ok(board) = Board::open(self.memory.words()) else { return };
        if self.writer.post(board) {
            self.writer.heartbeat(board, now);
            self.readers.retain(wake);
        }
    }

    /// Says that the writer lives, and lets readers in that want to be woken.
    pub fn heartbeat(&mut self, now: HostInstant) {
        if self.beaten.is_some_and(|beaten| now - beaten < BEAT) {
            return;
        }
        self.beaten = Some(now);
        if let Ok(board) = Board::open(self.memory.words()) {
            self.writer.heartbeat(board, now);
        }
        while let Ok((reader, _)) = self.listener.accept() {
            // Woken at once: what was posted since it connected woke others only.
            let is_in = self.readers.len() < MOST_READERS && reader.set_nonblocking(true).is_ok();
            if is_in && wake(&reader) {
                self.readers.push(reader);
            }
        }
    }
}

impl Drop for Publisher {
    fn drop(&mut self) {
        if let Ok(board) = Board::open(self.memory.words()) {
            self.writer.post(board);
            self.writer.close(board);
        }
        // Gone already is as good.
        let _ = fs::remove_file(self.place.memory());
        let _ = fs::remove_file(self.place.socket());
    }
}

/// Makes a reader's socket readable; whether the reader is still there.
fn wake(reader: &UnixStream) -> bool {
    match send(reader.as_raw_fd(), &[1], MsgFlags::MSG_DONTWAIT | MsgFlags::MSG_NOSIGNAL) {
        // A full socket is readable already.
        Ok(_) | Err(Errno::EAGAIN | Errno::EINTR) => true,
        Err(_) => false,
    }
}

fn lock(place: &Place) -> Result<Flock<File>, PublishError> {
    let path = place.lock();
    // Never removed: two processes that lock two files of one name would both believe they are alone.
    let file = OpenOptions::new().create(true).truncate(false).write(true).mode(0o644).open(&path);
    let file = file.map_err(|error| PublishError::Io { path: path.clone(), error })?;
    Flock::lock(file, FlockArg::LockExclusiveNonblock).map_err(|(_, errno)| match errno {
        Errno::EWOULDBLOCK => PublishError::Taken { path },
        errno => PublishError::Io { path, error: errno.into() },
    })
}

fn zeroed(path: &PathBuf, bytes: u64) -> io::Result<Memory> {
    // What an earlier writer left half done.
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let file = OpenOptions::new().read(true).write(true).create_new(true).mode(0o644).open(path)?;
    // The mode above is what the umask has left of it.
    file.set_permissions(Permissions::from_mode(0o644))?;
    file.set_len(bytes)?;
    Memory::writable(&file)
}
