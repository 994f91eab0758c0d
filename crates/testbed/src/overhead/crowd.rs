//! Readers of the port beside the daemon: some that take every packet, and one that never reads.

use std::fs;
use std::io::{Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use serde::Serialize;
use sounding_diag::session::Beside;
use sounding_modem::beside::{Decoder, Frame, Request};

use super::{OverheadError, begin};

/// How many read. One more never does.
pub(super) const READERS: usize = 10;

/// The daemon makes its socket before it is asked for it, or soon after.
const PATIENCE: Duration = Duration::from_secs(10);

/// The readers, until the daemon ends.
pub(super) struct Crowd {
    readers: Vec<JoinHandle<Came>>,
    _never: UnixStream,
}

/// Packets of the port that came to a reader, or that the daemon dropped for it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Came {
    /// Those that came.
    pub packets: u64,
    /// Those that were dropped, because it read too slowly.
    pub lost: u64,
}

impl Crowd {
    /// Connects to the daemon whose sockets are in this folder.
    pub(super) fn start(folder: &Path) -> Result<Self, OverheadError> {
        let socket = find(folder)?;
        let never = ask(&socket)?;
        let readers = (0..READERS).map(|_| {
            let stream = ask(&socket)?;
            begin("port", move || read(stream))
        });
        Ok(Self { readers: readers.collect::<Result<_, _>>()?, _never: never })
    }

    /// What came to each reader that reads, once the daemon is gone.
    pub(super) fn join(self) -> Vec<Came> {
        self.readers.into_iter().map(|reader| reader.join().unwrap_or_default()).collect()
    }
}

/// The socket of the only port.
fn find(folder: &Path) -> Result<PathBuf, OverheadError> {
    let until = Instant::now() + PATIENCE;
    loop {
        let files = fs::read_dir(folder).map_err(OverheadError::Folder)?.flatten();
        let mut paths = files.map(|file| file.path());
        let is_it = |path: &PathBuf| path.to_string_lossy().contains("/records-");
        if let Some(path) = paths.find(is_it) {
            return Ok(path);
        }
        if Instant::now() > until {
            return Err(OverheadError::Stuck(Duration::ZERO));
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Connects and asks for every packet.
fn ask(socket: &Path) -> Result<UnixStream, OverheadError> {
    let mut stream = UnixStream::connect(socket).map_err(OverheadError::Watcher)?;
    stream.write_all(&Request::new(None).line()).map_err(OverheadError::Watcher)?;
    Ok(stream)
}

/// Reads until the daemon ends. Bytes that are no frames end it too: then too few packets came.
fn read(mut stream: UnixStream) -> Came {
    let (mut decoder, mut bytes) = (Decoder::default(), vec![0; 1 << 16]);
    let mut came = Came::default();
    loop {
        loop {
            match decoder.poll() {
                Ok(Some(Frame::Packet(..))) => came.packets += 1,
                Ok(Some(Frame::News(Beside::Lost { records }))) => came.lost += records,
                Ok(Some(_)) => {}
                Ok(None) => break,
                Err(_) => return came,
            }
        }
        match stream.read(&mut bytes) {
            Ok(0) | Err(_) => return came,
            Ok(count) => decoder.handle(&bytes[..count]),
        }
    }
}
