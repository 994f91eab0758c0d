use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::time::Duration;

use sounding_kpi::board::{Board, Life, MAX_NAME, NotABoard, Overtaken, Sample};
use sounding_units::HostInstant;
use thiserror::Error;

use crate::Place;
use crate::memory::Memory;
use crate::wakes::FULL;
use std::sync::atomic::AtomicU64;

/// A reader of a board.
#[derive(Debug)]
pub struct Reader {
    memory: Memory,
    socket: UnixStream,
    hung_up: bool,
    turned_away: bool,
}

/// The state of the board's writer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Writer {
    /// Its last heartbeat is recent.
    Alive,
    /// The writer ended in good order. The values on the board are its last.
    Ended,
    /// The writer was killed, or hangs. The values on the board get older.
    Lost,
}

/// Why a board cannot be read.
#[derive(Debug, Error)]
pub enum OpenError {
    /// There is no such board.
    #[error("{path}: no such board: is `sounding run` or `sounding board` running?")]
    Missing {
        /// The file.
        path: PathBuf,
    },
    /// Its writer is gone and has not cleaned up.
    #[error("{path}: its writer is gone: start it again")]
    Abandoned {
        /// The socket.
        path: PathBuf,
    },
    /// The system would not open it.
    #[error("{path}: {error}")]
    Io {
        /// The file.
        path: PathBuf,
        /// The system's error.
        error: io::Error,
    },
    /// An error of another kind.
    #[error("{path}: {reason}")]
    Other {
        /// The file.
        path: PathBuf,
        /// The reason why it is not a board.
        reason: NotABoard,
    },
}

/// After this time without a heartbeat, the writer has ended or hangs. It promises several
/// heartbeats a second.
const PATIENCE: Duration = Duration::from_secs(1);

/// Wake-ups that are taken back at once: more than a socket holds (net.core.wmem_max is 208 KiB by
/// default).
const MAX_WAKES: usize = 1 << 20;

impl Reader {
    /// Maps a board and asks to be woken when it changes.
    ///
    /// # Errors
    ///
    /// [`OpenError::Missing`] if there is no such board; [`OpenError::Abandoned`] if its writer is
    /// gone; [`OpenError::Other`] if the file is no board of this version; [`OpenError::Io`] if the
    /// kernel refuses a file or the socket.
    pub fn open(place: &Place) -> Result<Self, OpenError> {
        let path = place.memory();
        let fail = |path: PathBuf, error: io::Error| match error.kind() {
            io::ErrorKind::NotFound => OpenError::Missing { path },
            _ => OpenError::Io { path, error },
        };
        let file = File::open(&path).map_err(|error| fail(path.clone(), error))?;
        let memory = Memory::readable(&file).map_err(|error| fail(path.clone(), error))?;
        Board::open(memory.words()).map_err(|reason| OpenError::Other { path, reason })?;
        let path = place.socket();
        let socket = UnixStream::connect(&path).map_err(|error| match error.kind() {
            io::ErrorKind::ConnectionRefused => OpenError::Abandoned { path: path.clone() },
            _ => fail(path.clone(), error),
        })?;
        socket.set_nonblocking(true).map_err(|error| fail(path, error))?;
        Ok(Self { memory, socket, hung_up: false, turned_away: false })
    }

    /// The slot of a KPI, if the board has it.
    pub fn find(&self, name: &str) -> Option<usize> {
        self.board()?.find(name)
    }

    /// The names of the board's KPIs.
    pub fn names(&self) -> Vec<String> {
        let Some(board) = self.board() else { return Vec::new() };
        let mut text = [0; MAX_NAME];
        (0..board.slots()).map(|slot| board.name(slot, &mut text).to_owned()).collect()
    }

    /// The latest sample of a slot; `None` before the first. Never waits for the writer.
    ///
    /// # Errors
    ///
    /// [`Overtaken`] if the writer changed the slot at each attempt to read it.
    #[inline]
    pub fn read(&self, slot: usize) -> Result<Option<Sample>, Overtaken> {
        self.board().map_or(Ok(None), |board| board.read(slot))
    }

    /// The writer's state.
    pub fn life(&self) -> Option<Life> {
        self.board().map(|board| board.life())
    }

    /// Whether the board still has a writer.
    pub fn writer(&self, now: HostInstant) -> Writer {
        match self.life() {
            Some(life) if life.closed => Writer::Ended,
            Some(life) if !self.hung_up && !life.is_over(now, PATIENCE) => Writer::Alive,
            _ => Writer::Lost,
        }
    }

    /// Whether the writer has no place for another reader, or for another one of this user. The
    /// values are still readable, and [`writer`](Self::writer) still tells whether the writer
    /// lives. The descriptor stays readable: read again after a while instead of polling it.
    /// Known after a [`rearm`](Self::rearm).
    pub fn is_turned_away(&self) -> bool {
        self.turned_away
    }

    /// Takes back the wake-ups there have been, so that the descriptor becomes readable at the next
    /// post. To be called before reading, not after.
    pub fn rearm(&mut self) {
        let mut bytes = [0; 512];
        // No writer of ours writes more than a socket holds. Another one could keep its reader here
        // forever.
        for _ in 0..MAX_WAKES / bytes.len() {
            match self.socket.read(&mut bytes) {
                Ok(0) => {
                    // The end of a connection that was never accepted does not mean that the writer
                    // ended.
                    self.hung_up = !self.turned_away;
                    return;
                }
                Ok(count) => {
                    self.turned_away |= bytes.iter().take(count).any(|&byte| byte == FULL);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => {
                    self.hung_up |= error.kind() != io::ErrorKind::WouldBlock && !self.turned_away;
                    return;
                }
            }
        }
    }

    fn board(&self) -> Option<Board<'_, AtomicU64>> {
        Board::open(self.memory.words()).ok()
    }
}

impl AsFd for Reader {
    /// Readable if the writer posted after [`Reader::rearm`], or has ended.
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}
