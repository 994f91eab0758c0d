//! The daemon's end of the feed: a socket, its readers, and what waits for each.

use std::fs;
use std::io::{self, ErrorKind};
use std::os::fd::AsRawFd as _;
use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use nix::fcntl::{AtFlags, OFlag, open};
use nix::sys::socket::{getsockopt, setsockopt, sockopt};
use nix::sys::stat::Mode;
use nix::unistd::{Gid, fchownat};
use socket2::{Domain, SockAddr, Socket, Type};
use thiserror::Error;

use crate::waiting::Waiting;
use crate::{Greeting, Line};

/// The most readers.
const MOST: usize = 160;

/// The most readers of one user, so that no user takes the place of all others.
const MAX_OF_A_USER: usize = 128;

/// Most new readers in one turn: a client that connects without end must not keep the daemon from
/// its modem.
const MAX_AT_ONCE: usize = 16;

/// What the kernel holds for a reader, in bytes: it holds twice as much.
const HELD: usize = 16 * 1024;

/// Why the feed has no socket.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum PublishError {
    /// A daemon has it.
    #[error("{path}: another daemon has this feed: end it, or give the feed another name")]
    Taken {
        /// The socket.
        path: PathBuf,
    },
    /// Something else is there.
    #[error("{path}: it is no socket, and is left alone: remove it, or give the feed another name")]
    Other {
        /// The file.
        path: PathBuf,
    },
    /// The daemon may not give the socket to the group.
    #[error(
        "{path}: the socket does not get its group: {source}: make its folder of that group and setgid, and leave `group` out"
    )]
    Group {
        /// The socket.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The system refused something.
    #[error("{path}: {source}")]
    Io {
        /// The socket.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
}

/// The feed of a daemon. Dropping it takes the socket away.
#[derive(Debug)]
pub struct Publisher {
    listener: UnixListener,
    path: PathBuf,
    greeting: Arc<[u8]>,
    readers: Vec<Subscriber>,
}

#[derive(Debug)]
struct Subscriber {
    user: u32,
    socket: UnixStream,
    waiting: Waiting,
}

impl Publisher {
    /// Makes the socket, with this mode and group. Lines come at least so often.
    ///
    /// # Errors
    ///
    /// [`PublishError`] if another daemon has it, something else is there, or the system refuses.
    pub fn new(
        path: &Path,
        mode: u32,
        group: Option<u32>,
        longest_gap: Duration,
    ) -> Result<Self, PublishError> {
        let fail = |source| PublishError::Io { path: path.into(), source };
        make_room(path)?;
        let socket = Socket::new(Domain::UNIX, Type::STREAM, None).map_err(fail)?;
        socket.bind(&SockAddr::unix(path).map_err(fail)?).map_err(fail)?;
        // Before it listens, so that no one connects who may not.
        admit(path, mode, group)?;
        socket.set_nonblocking(true).map_err(fail)?;
        socket.listen(64).map_err(fail)?;
        let greeting = crate::line::text(&Greeting::new(longest_gap));
        let listener = UnixListener::from(std::os::fd::OwnedFd::from(socket));
        Ok(Self { listener, path: path.into(), greeting, readers: Vec::new() })
    }

    /// The number of readers.
    pub fn readers(&self) -> usize {
        self.readers.len()
    }

    /// Gives each reader this line.
    pub fn publish(&mut self, line: &Line) {
        self.publish_text(&line.text());
    }

    /// Gives each reader the text of a line, as [`Line::text`] writes it.
    pub fn publish_text(&mut self, line: &Arc<[u8]>) {
        self.readers.retain_mut(|reader| {
            reader.waiting.push(Arc::clone(line));
            reader.write().is_ok()
        });
    }

    /// Accepts the readers that have connected, and writes what waits for the others. This is due
    /// every few milliseconds, and does not wait.
    pub fn attend(&mut self) {
        self.readers.retain_mut(|reader| reader.write().is_ok());
        for _ in 0..MAX_AT_ONCE {
            let Ok((socket, _)) = self.listener.accept() else { return };
            let Ok(mut reader) = Subscriber::new(socket) else { continue };
            let of_user = self.readers.iter().filter(|other| other.user == reader.user).count();
            if self.readers.len() < MOST && of_user < MAX_OF_A_USER {
                reader.waiting.push(self.greeting.clone());
                if reader.write().is_ok() {
                    self.readers.push(reader);
                }
            }
        }
    }
}

impl Drop for Publisher {
    fn drop(&mut self) {
        // The folder may be gone already.
        let _ = fs::remove_file(&self.path);
    }
}

impl Subscriber {
    fn new(socket: UnixStream) -> io::Result<Self> {
        socket.set_nonblocking(true)?;
        setsockopt(&socket, sockopt::SndBuf, &HELD)?;
        let user = getsockopt(&socket, sockopt::PeerCredentials)?.uid();
        Ok(Self { user, socket, waiting: Waiting::default() })
    }

    fn write(&mut self) -> io::Result<()> {
        self.waiting.write(&mut self.socket)
    }
}

/// Lets the group in, by the mode. A link in the socket's place is not followed.
fn admit(path: &Path, mode: u32, group: Option<u32>) -> Result<(), PublishError> {
    let fail = |source| PublishError::Io { path: path.into(), source };
    // Not by the standard library, which takes O_PATH for a way of access in builds for musl, and
    // leaves it out.
    let flags = OFlag::O_PATH | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC;
    let socket = open(path, flags, Mode::empty()).map_err(|error| fail(error.into()))?;
    let socket = fs::File::from(socket);
    if !socket.metadata().map_err(fail)?.file_type().is_socket() {
        return Err(PublishError::Other { path: path.into() });
    }
    if let Some(group) = group {
        let group = Some(Gid::from_raw(group));
        fchownat(&socket, "", None, group, AtFlags::AT_EMPTY_PATH)
            .map_err(|error| PublishError::Group { path: path.into(), source: error.into() })?;
    }
    let handle = format!("/proc/self/fd/{}", socket.as_raw_fd());
    fs::set_permissions(handle, fs::Permissions::from_mode(mode)).map_err(fail)
}

/// Removes the socket of a daemon that is dead.
fn make_room(path: &Path) -> Result<(), PublishError> {
    let at = || path.to_path_buf();
    let fail = |source| PublishError::Io { path: at(), source };
    match fs::symlink_metadata(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(fail(error)),
        Ok(about) if !about.file_type().is_socket() => {
            return Err(PublishError::Other { path: at() });
        }
        Ok(_) => {}
    }
    match UnixStream::connect(path) {
        Err(error) if error.kind() == ErrorKind::ConnectionRefused => {
            fs::remove_file(path).map_err(fail)
        }
        Err(error) => Err(fail(error)),
        Ok(_) => Err(PublishError::Taken { path: at() }),
    }
}

#[cfg(test)]
mod tests {
    use sounding_estimate::{Bound, Direction, LinkEstimate};
    use sounding_units::{HostInstant, Rate};

    use super::*;
    use crate::{FeedError, Reader};

    const GAP: Duration = Duration::from_millis(100);

    fn line(number: u64) -> Line {
        let rate = Rate::from_bits_per_sec(1_000_000);
        let said = LinkEstimate::new(Direction::Uplink, rate, Bound::Floor);
        Line::of(number, "wan", HostInstant::default(), &said)
    }

    fn open(path: &Path, publisher: &mut Publisher) -> Reader {
        std::thread::scope(|scope| {
            let reader = scope.spawn(|| Reader::open(path));
            while publisher.readers() == 0 || !reader.is_finished() {
                publisher.attend();
                std::thread::sleep(Duration::from_millis(1));
            }
            reader.join().unwrap().unwrap()
        })
    }

    #[test]
    fn a_reader_that_never_reads_costs_others_no_line_and_gets_the_newest_ones() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("wan.rate");
        let mut publisher = Publisher::new(&path, 0o600, None, GAP).unwrap();
        let mut quick = open(&path, &mut publisher);
        let mut slow = UnixStream::connect(&path).unwrap();
        publisher.attend();
        assert_eq!(publisher.readers(), 2);
        for number in 1..=5_000 {
            publisher.publish(&line(number));
            assert_eq!(quick.next().unwrap().unwrap().number, number);
        }
        // It is late, and a number is missing, but every line is whole and the last is the newest.
        slow.set_nonblocking(true).unwrap();
        let mut text = Vec::new();
        while let Err(error) = io::Read::read_to_end(&mut slow, &mut text) {
            assert_eq!(error.kind(), ErrorKind::WouldBlock);
            let before = text.len();
            publisher.attend();
            let _ = io::Read::read_to_end(&mut slow, &mut text);
            if text.len() == before {
                break;
            }
        }
        assert!(text.len() < 64 * 1024, "{}", text.len());
        let lines = crate::Lines::new(&text[..]).unwrap().map_while(Result::ok);
        let numbers: Vec<u64> = lines.map(|line| line.number).collect();
        assert_eq!(numbers.last(), Some(&5_000), "{numbers:?}");
        assert!(numbers.is_sorted() && numbers.len() < 5_000);
    }

    #[test]
    fn a_socket_has_one_daemon_and_outlives_none() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("wan.rate");
        let first = Publisher::new(&path, 0o640, None, GAP).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o640);
        let second = Publisher::new(&path, 0o600, None, GAP);
        assert!(matches!(second, Err(PublishError::Taken { .. })), "{second:?}");
        drop(first);
        assert!(!path.exists());
        // A daemon that was killed leaves its socket.
        let dead = UnixListener::bind(&path).unwrap();
        drop(dead);
        drop(Publisher::new(&path, 0o600, None, GAP).unwrap());
        fs::write(&path, "a file").unwrap();
        let other = Publisher::new(&path, 0o600, None, GAP);
        assert!(matches!(other, Err(PublishError::Other { .. })), "{other:?}");
        assert!(matches!(Reader::open(&path), Err(FeedError::Open { .. })));
    }
}
