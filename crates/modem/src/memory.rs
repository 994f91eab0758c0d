use std::fs::{File, OpenOptions};
use std::io::{self, Read as _};
use std::os::unix::fs::{FileExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use nix::fcntl::{Flock, FlockArg};
use sounding_diag::session::Note;
use thiserror::Error;

use crate::Source;

/// What a session has to restore, in a file that outlives it if it is killed. The session locks the
/// file while it lives, so an opened file is from a session that has ended. A session that has
/// restored everything leaves no file.
///
/// ```text
/// port /dev/ttyUSB0           the note's port
/// 11 4096 00…00 00…20…00      the note
/// end
/// ```
#[derive(Debug)]
pub(crate) struct Memory {
    file: Flock<File>,
    path: PathBuf,
    port: String,
    kept: Note,
}

/// A note of every equipment, each with a mask of all the codes it may have, takes half of this.
const MOST: u64 = 1 << 17;

const PORT: &str = "port ";

impl Memory {
    /// Opens the memory of a source. `None` for a stream that takes no requests, or if another
    /// session with the same modem has it: that session then restores the masks. An error means
    /// that no note can be kept, with the reason.
    pub(crate) fn open(source: &Source) -> Result<Option<Self>, NotKept> {
        if *source.place() == Source::Stdin {
            return Ok(None);
        }
        let folder = sounding_host::runtime_folder().ok_or(NotKept::Nowhere)?;
        let at = |path: &Path, error| NotKept::At { path: path.into(), error };
        std::fs::create_dir_all(&folder).map_err(|error| at(&folder, error))?;
        let port = name(source);
        let path = folder.join(file_name(&port));
        match Self::at(&path, port) {
            Ok(memory) => Ok(Some(memory)),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(None),
            Err(error) => Err(at(&path, error)),
        }
    }

    fn at(path: &Path, port: String) -> io::Result<Self> {
        let mut options = options();
        options.write(true).create(true).mode(0o600);
        let mut file = lock(options.open(path)?)?;
        // The previous owner may have removed it.
        while !is_at(&file, path) {
            file = lock(options.open(path)?)?;
        }
        let kept = read(&file)?.map(|(_, note)| note).unwrap_or_default();
        Ok(Self { file, path: path.into(), port, kept })
    }

    /// Its contents: at first those of an earlier session.
    pub(crate) fn note(&self) -> &Note {
        &self.kept
    }

    /// Saves a note before the action that it describes. A failure does not stop the session, but
    /// then the next one has no note.
    pub(crate) fn keep(&mut self, note: Note) -> Result<(), NotKept> {
        if note == self.kept {
            return Ok(());
        }
        let text = format!("{PORT}{}\n{note}", self.port);
        // The end of a note is marked, so that a longer one's rest behind it does no harm.
        let kept = self.file.write_all_at(text.as_bytes(), 0);
        kept.and_then(|()| self.file.set_len(text.len() as u64))
            .map_err(|error| NotKept::At { path: self.path.clone(), error })?;
        self.kept = note;
        Ok(())
    }
}

/// Why the note cannot be kept.
#[derive(Debug, Error)]
pub(crate) enum NotKept {
    /// This user has no folder for it.
    #[error("no folder for it: set XDG_RUNTIME_DIR or SOUNDING_RUN_DIR")]
    Nowhere,
    /// The system would not keep it.
    #[error("{path}: {error}")]
    At {
        /// The file or its folder.
        path: PathBuf,
        /// The system's error.
        error: io::Error,
    },
}

impl Drop for Memory {
    fn drop(&mut self) {
        if self.kept.is_empty() && is_at(&self.file, &self.path) {
            // A file that stays has an empty note.
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

/// Removes notes of killed sessions for ports that are gone. Returns the names of those whose masks
/// should have been restored.
pub(crate) fn forget_gone() -> Vec<String> {
    sounding_host::runtime_folder().map(|folder| forget_gone_in(&folder)).unwrap_or_default()
}

fn forget_gone_in(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let ours = entries.filter(|entry| entry.file_name().as_encoded_bytes().starts_with(PREFIX));
    ours.filter_map(|entry| forget_if_gone(&entry.path())).collect()
}

/// A session may be about to take the file of a port that is there, so such a file is not even
/// locked.
fn forget_if_gone(path: &Path) -> Option<String> {
    let (port, _) = read(&options().open(path).ok()?).ok()??;
    if !is_gone(&port) {
        return None;
    }
    // One that lives and waits for its port has it.
    let file = lock(options().open(path).ok()?).ok()?;
    let (port, note) = read(&file).ok()??;
    let removed = is_at(&file, path) && std::fs::remove_file(path).is_ok();
    (removed && !note.is_empty()).then_some(port)
}

/// Only a path shows whether a port is gone, and only if all of it could be written down; a
/// socket's server may come back.
fn is_gone(port: &str) -> bool {
    let path = Path::new(port);
    let is_known = path.is_absolute() && !port.contains(char::REPLACEMENT_CHARACTER);
    let found = std::fs::symlink_metadata(path);
    is_known && found.is_err_and(|error| error.kind() == io::ErrorKind::NotFound)
}

fn options() -> OpenOptions {
    let mut options = OpenOptions::new();
    // A symbolic link that another user has made leads elsewhere.
    options.read(true).custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK);
    options
}

fn lock(file: File) -> io::Result<Flock<File>> {
    Flock::lock(file, FlockArg::LockExclusiveNonblock).map_err(|(_, errno)| errno.into())
}

/// Whether the name still refers to this file.
fn is_at(file: &File, path: &Path) -> bool {
    let (Ok(file), Ok(named)) = (file.metadata(), std::fs::symlink_metadata(path)) else {
        return false;
    };
    (file.dev(), file.ino()) == (named.dev(), named.ino())
}

/// The port and the note. An incomplete file has no effect: at that time the modem had received no
/// request.
fn read(file: &File) -> io::Result<Option<(String, Note)>> {
    let mut text = Vec::new();
    file.take(MOST).read_to_end(&mut text)?;
    let text = str::from_utf8(&text).ok();
    let lines = text.and_then(|text| text.strip_prefix(PORT)?.split_once('\n'));
    Ok(lines.and_then(|(port, note)| Some((port.to_owned(), note.parse().ok()?))))
}

/// However a device is called, it has one name here.
fn name(source: &Source) -> String {
    let place = match source.place() {
        Source::Path(path) => path.canonicalize().map_or(source.place().clone(), Source::Path),
        place => place.clone(),
    };
    place.to_string().replace('\n', char::REPLACEMENT_CHARACTER.to_string().as_str())
}

const PREFIX: &[u8] = b"masks-";

/// A file for each port, with a name that any file system takes.
fn file_name(port: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
    let name: String = port.chars().map(plain).collect();
    // The end distinguishes more: devices differ there.
    format!("masks-{}", name[name.len().saturating_sub(100)..].trim_start_matches('-'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn note(text: &str) -> Note {
        text.parse().expect("a note")
    }

    fn open(path: &Path) -> io::Result<Memory> {
        Memory::at(path, "/dev/ttyUSB0".into())
    }

    #[test]
    fn saved_state_is_there_for_the_next_and_locked_meanwhile() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("masks-x");
        let long = note("4 8 a5 5a\n11 8 00 5a\nend\n");
        let short = note("11 8 01 02\nend\n");
        let mut memory = open(&path).expect("a file");
        assert!(memory.note().is_empty());
        assert!(open(&path).is_err(), "one at a time");
        memory.keep(long.clone()).expect("room");
        drop(memory);
        let mut memory = open(&path).expect("it is free again");
        assert_eq!(*memory.note(), long);
        memory.keep(short.clone()).expect("room");
        drop(memory);
        assert_eq!(*open(&path).expect("a file").note(), short);
    }

    #[test]
    fn where_nothing_is_to_be_put_back_no_file_is_left() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("masks-x");
        drop(open(&path).expect("a file"));
        assert!(!path.exists(), "nothing was set");
        let mut memory = open(&path).expect("a file");
        memory.keep(note("11 8 01 02\nend\n")).expect("room");
        assert!(path.exists());
        memory.keep(Note::default()).expect("room");
        drop(memory);
        assert!(!path.exists(), "all is as it was");
    }

    #[test]
    fn a_file_that_its_last_holder_removes_is_made_anew() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("masks-x");
        let first = open(&path).expect("a file");
        std::fs::remove_file(&path).expect("it is there");
        let second = open(&path).expect("a file");
        drop(first);
        assert!(path.exists(), "it is another's by now");
        drop(second);
        assert!(!path.exists());
    }

    #[test]
    fn what_was_left_for_a_port_that_is_gone_is_removed_and_nothing_else() {
        let folder = tempfile::tempdir().expect("a folder");
        let port = |name: &str| folder.path().join(name).display().to_string();
        std::fs::write(port("there"), "").expect("room");
        let leave = |file: &str, port: String| {
            let mut memory = Memory::at(&folder.path().join(file), port).expect("a file");
            memory.keep(note("11 8 01 02\nend\n")).expect("room");
            memory
        };
        drop(leave("masks-gone", port("gone")));
        drop(leave("masks-there", port("there")));
        drop(leave("masks-bridge", "tcp:127.0.0.1:1".into()));
        drop(leave("masks-odd", port("\u{FFFD}")));
        drop(leave("modem.board", port("gone too")));
        let waiting = leave("masks-waiting", port("unplugged"));
        assert_eq!(forget_gone_in(folder.path()), [port("gone")]);
        let left = |file: &str| folder.path().join(file).exists();
        assert!(!left("masks-gone"));
        for file in ["masks-there", "masks-bridge", "masks-odd", "modem.board", "masks-waiting"] {
            assert!(left(file), "{file}");
        }
        drop(waiting);
        assert_eq!(forget_gone_in(folder.path()), [port("unplugged")]);
        assert_eq!(forget_gone_in(folder.path()), [""; 0], "it is said once");
    }

    #[test]
    fn a_note_that_cannot_be_kept_is_an_error_that_names_the_file() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("masks-x");
        let mut memory = open(&path).expect("a file");
        memory.keep(note("11 8 01 02\nend\n")).expect("room");
        // A file that cannot be written, as on a full disk.
        let other = folder.path().join("other");
        std::fs::write(&other, "").expect("room");
        memory.file = lock(File::open(&other).expect("it is there")).expect("it is not locked");
        let failed = memory.keep(note("11 8 03 04\nend\n")).expect_err("it takes nothing");
        assert!(failed.to_string().contains("masks-x"), "{failed}");
        assert_eq!(*memory.note(), note("11 8 01 02\nend\n"), "what is kept is as it was");
    }

    #[test]
    fn what_is_no_note_is_none() {
        let folder = tempfile::tempdir().expect("a folder");
        for text in [&b"port x\n11 8 01"[..], b"11 8 01 02\nend\n", b"\xFF\xFE", &[b'1'; 1 << 18]] {
            let path = folder.path().join("masks-x");
            std::fs::write(&path, text).expect("room");
            assert!(open(&path).is_ok_and(|memory| memory.note().is_empty()));
        }
        let link = folder.path().join("masks-y");
        std::os::unix::fs::symlink(folder.path().join("elsewhere"), &link).expect("a link");
        assert!(open(&link).is_err(), "it leads elsewhere");
    }

    #[test]
    fn each_source_has_a_file_of_its_own() {
        let name = |text: &str| file_name(&name(&text.parse().expect("a source")));
        assert_eq!(name("/dev/ttyUSB0"), "masks-dev-ttyUSB0");
        assert_eq!(name("tcp:[::1]:43555"), "masks-tcp----1--43555");
        let far = format!("/nowhere/{}/ttyUSB7", "x/".repeat(200));
        assert!(name(&far).len() < 110 && name(&far).ends_with("ttyUSB7"));
    }
}
