//! User ids that `/etc/subuid` gives to users: read at the start, and again when that file or
//! `/etc/passwd` changes.

use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::Duration;

use nix::unistd::User;
use sounding_bpf::{BadLine, SubordinateMap, Subordinates};
use sounding_host::{Capabilities, MAX_TEXT, read_at_most, spawn_with_only};

use super::events::{Events, Subids};
use crate::cli_types::LACKS_KERNEL;

/// How often the files are looked at.
const EVERY: Duration = Duration::from_secs(1);

/// The files, and the maps that follow them while this lives.
pub(super) struct Followed {
    found: Receiver<Subids>,
    /// The thread ends with the last of them.
    maps: Sender<SubordinateMap>,
}

struct Files {
    subuid: PathBuf,
    passwd: PathBuf,
    maps: Vec<SubordinateMap>,
}

impl Followed {
    /// Fills the maps, and has a thread without rights follow the files: a name may have to be
    /// asked for over a network.
    pub(super) fn start(maps: Vec<SubordinateMap>, events: &mut Events) -> io::Result<Self> {
        let (subuid, passwd) = ("/etc/subuid".into(), "/etc/passwd".into());
        let mut files = Files { subuid, passwd, maps };
        let seen = files.identity();
        if !files.maps.is_empty() {
            events.subordinates(&files.read());
        }
        let (sender, found) = channel();
        let (maps, more) = channel();
        if LACKS_KERNEL {
            return Ok(Self { found, maps });
        }
        spawn_with_only(Capabilities::empty(), "subuid", move || {
            files.follow(seen, &more, &sender);
        })?;
        Ok(Self { found, maps })
    }

    /// The way to have the thread fill one more map, and keep it. It goes on until all are dropped.
    pub(super) fn maps(&self) -> Sender<SubordinateMap> {
        self.maps.clone()
    }

    /// Reports what changed since the last call.
    pub(super) fn attend(&self, events: &mut Events) {
        self.found.try_iter().for_each(|found| events.subordinates(&found));
    }
}

/// What changes when a file does: its place and its inode, its size, and its times.
type Identity = [Option<[i64; 5]>; 2];

impl Files {
    fn follow(
        mut self,
        mut seen: Identity,
        more: &Receiver<SubordinateMap>,
        found: &Sender<Subids>,
    ) {
        loop {
            let is_new = match more.recv_timeout(EVERY) {
                Ok(map) => {
                    self.maps.push(map);
                    true
                }
                Err(RecvTimeoutError::Timeout) => false,
                Err(RecvTimeoutError::Disconnected) => return,
            };
            let now = self.identity();
            if (is_new || now != seen) && found.send(self.read()).is_ok() {
                seen = now;
            }
        }
    }

    fn identity(&self) -> Identity {
        [&self.subuid, &self.passwd].map(|path| {
            let about = path.metadata().ok()?;
            let [device, inode] = [about.dev(), about.ino()].map(u64::cast_signed);
            Some([device, inode, about.size().cast_signed(), about.ctime(), about.ctime_nsec()])
        })
    }

    /// Reads them into the maps.
    fn read(&mut self) -> Subids {
        match self.parse() {
            Ok((ids, left_out)) => {
                let set = self.maps.iter_mut().try_for_each(|map| map.set(&ids));
                Subids {
                    ranges: ids.ranges(),
                    left_out,
                    failed: set.err().map(|error| error.to_string()),
                }
            }
            Err(error) => {
                Subids { ranges: 0, left_out: Vec::new(), failed: Some(error.to_string()) }
            }
        }
    }

    fn parse(&self) -> io::Result<(Subordinates, Vec<BadLine>)> {
        let subuid = text(&self.subuid)?;
        let find = |name: &str| Some(User::from_name(name).ok()??.uid.as_raw());
        Ok(Subordinates::parse(&subuid, &text(&self.passwd)?, find))
    }
}

/// A machine may lack the file.
fn text(path: &Path) -> io::Result<Vec<u8>> {
    match read_at_most(path, MAX_TEXT) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        read => read
            .map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", path.display()))),
    }
}

#[cfg(test)]
mod tests {
    use std::{fs, thread};

    use super::*;

    #[test]
    fn a_file_is_read_again_when_it_changes_and_a_broken_one_says_why() {
        let folder = tempfile::tempdir().expect("a folder");
        let place = |name: &str| folder.path().join(name);
        let (subuid, passwd) = (place("subuid"), place("passwd"));
        let mut files = Files { subuid: subuid.clone(), passwd: passwd.clone(), maps: Vec::new() };
        let (missing, found) = (files.identity(), files.read());
        assert_eq!((found.ranges, found.failed), (0, None));
        fs::write(&passwd, "ann:x:1000:1000::/:\n").expect("room");
        fs::write(&subuid, "ann:100000:65536\nann:100000\n").expect("room");
        assert_ne!(files.identity(), missing);
        let found = files.read();
        assert_eq!((found.ranges, found.left_out.len(), found.left_out[0].line), (1, 1, 2));
        fs::File::options()
            .write(true)
            .open(&subuid)
            .and_then(|file| file.set_len(2 << 20))
            .expect("room");
        let failed = files.read().failed.expect("it is too large");
        assert!(failed.contains("subuid") && failed.contains("1 MiB"), "{failed}");
    }

    #[test]
    fn the_thread_reports_a_change_and_ends_with_its_owner() {
        let folder = tempfile::tempdir().expect("a folder");
        let place = |name: &str| folder.path().join(name);
        let files = Files { subuid: place("subuid"), passwd: place("passwd"), maps: Vec::new() };
        let seen = files.identity();
        fs::write(place("subuid"), "5:100000:65536\n").expect("room");
        let (sender, found) = channel();
        let (wanted, more) = channel();
        let thread = thread::spawn(move || files.follow(seen, &more, &sender));
        let found = found.recv_timeout(Duration::from_secs(60)).expect("it is seen");
        assert_eq!(found.ranges, 1);
        drop(wanted);
        thread.join().expect("it ends");
    }
}
