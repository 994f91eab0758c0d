use std::fs::{self, DirBuilder, File, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::os::unix::net::UnixListener;
use std::path::PathBuf;
use std::time::Duration;

use nix::fcntl::{AT_FDCWD, Flock, posix_fallocate};
use nix::sys::stat::{FchmodatFlags, Mode, fchmodat};
use sounding_kpi::Reading;
use sounding_kpi::board::{Board, Writer, words_for};
use sounding_kpi::registry::NamedKpi;
use sounding_units::HostInstant;

use crate::error::PublishError;
use crate::memory::Memory;
use crate::wakes::Wakes;
use crate::{Place, lock};

/// The writer of a board.
///
/// Call [`heartbeat`](Self::heartbeat) a few times a second, or in each turn of the caller's loop;
/// it also accepts readers that want wake-ups. When it is dropped its files are removed. Readers
/// that have them keep the last values and see that the writer has ended.
#[derive(Debug)]
pub struct Publisher {
    place: Place,
    memory: Memory,
    writer: Writer,
    wakes: Wakes,
    /// Time of its last heartbeat.
    beaten: Option<HostInstant>,
    // The last to go: it is what keeps others out.
    _lock: Flock<File>,
}

/// A heartbeat looks for new readers, which is a system call: more of them than this would cost
/// more than the reading.
const BEAT: Duration = Duration::from_millis(5);

impl Publisher {
    /// Makes a board of these KPIs, in the order of a subscription's slots.
    ///
    /// # Errors
    ///
    /// [`PublishError::Taken`] if another process publishes this board; [`PublishError::NotALock`]
    /// if a foreign file has the lock's name; [`PublishError::Io`] if a file or the socket cannot
    /// be made.
    pub fn create(
        place: Place,
        kpis: &[&'static NamedKpi],
        now: HostInstant,
    ) -> Result<Self, PublishError> {
        let at = |path: PathBuf| move |error| PublishError::Io { path, error };
        let folder = place.folder().to_path_buf();
        DirBuilder::new().recursive(true).mode(0o755).create(&folder).map_err(at(folder))?;
        let lock = lock::take(place.lock())?;

        let draft = place.draft();
        let bytes = words_for(kpis.len()) * size_of::<u64>();
        let memory = zeroed(&draft, bytes as u64).map_err(at(draft.clone()))?;
        let units: Vec<String> = kpis.iter().map(|kpi| kpi.unit.to_string()).collect();
        let names = kpis.iter().zip(&units).map(|(kpi, unit)| (kpi.name, unit.as_str()));
        let writer = Writer::create(memory.words(), names, std::process::id(), now)?;
        let path = place.memory();
        fs::rename(&draft, &path).map_err(at(path))?;

        let path = place.socket();
        // An existing socket belongs to a dead writer, because we hold the lock.
        match fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(at(path)(error)),
            _ => {}
        }
        let listener = UnixListener::bind(&path).map_err(at(path.clone()))?;
        // Readers may be other users. A symbolic link that another user has made meanwhile leads
        // elsewhere.
        let everybody = Mode::from_bits_truncate(0o666);
        fchmodat(AT_FDCWD, &path, everybody, FchmodatFlags::NoFollowSymlink)
            .map_err(|errno| at(path.clone())(errno.into()))?;
        listener.set_nonblocking(true).map_err(at(path))?;
        let wakes = Wakes::new(listener);
        Ok(Self { place, memory, writer, wakes, beaten: None, _lock: lock })
    }

    /// Its place.
    pub fn place(&self) -> &Place {
        &self.place
    }

    /// A value of one of its KPIs, from a record that arrived at `now`; readers see it after the
    /// next post.
    #[inline]
    pub fn handle(&mut self, reading: &Reading, now: HostInstant) {
        self.writer.handle(reading, now);
    }

    /// Posts the samples that have arrived by `now`, and wakes the readers if there are any. It
    /// counts as a heartbeat.
    pub fn post(&mut self, now: HostInstant) {
        let Ok(board) = Board::open(self.memory.words()) else { return };
        if self.writer.post(board) {
            self.writer.heartbeat(board, now);
            self.wakes.wake();
        }
    }

    /// Records that the writer is alive, and accepts readers that want wake-ups.
    pub fn heartbeat(&mut self, now: HostInstant) {
        if self.beaten.is_some_and(|beaten| now - beaten < BEAT) {
            return;
        }
        self.beaten = Some(now);
        if let Ok(board) = Board::open(self.memory.words()) {
            self.writer.heartbeat(board, now);
        }
        self.wakes.let_in();
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

fn zeroed(path: &PathBuf, bytes: u64) -> io::Result<Memory> {
    // Remove the incomplete file of an earlier writer.
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let file = OpenOptions::new().read(true).write(true).create_new(true).mode(0o644).open(path)?;
    // The umask may have reduced the mode above.
    file.set_permissions(Permissions::from_mode(0o644))?;
    let len = i64::try_from(bytes).map_err(io::Error::other)?;
    // A file with holes would be as long, and the first store on a full disk would end the process
    // (SIGBUS).
    if let Err(errno) = posix_fallocate(&file, 0, len) {
        let _ = fs::remove_file(path);
        return Err(errno.into());
    }
    Memory::writable(&file)
}
