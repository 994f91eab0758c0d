use std::fs::{File, OpenOptions};
use std::io::{self, Read as _};
use std::os::unix::fs::{FileExt as _, OpenOptionsExt as _};
use std::path::Path;

use nix::fcntl::{Flock, FlockArg};
use sounding_diag::session::Note;

use crate::Source;

/// What a session has to put back, in a file that outlives it if it is killed. Nobody else has the file while the
/// session lives: what is in it when it is opened was left by one that has ended.
#[derive(Debug)]
pub(crate) struct Memory {
    file: Flock<File>,
    kept: Note,
}

/// A note of every equipment, each with a mask of all the codes it may have, takes half of this.
const MOST: u64 = 1 << 17;

impl Memory {
    /// Opens the memory of a source; `None` where there is no place for one, for a stream that takes no requests, or
    /// where another session with the same modem has it: the masks are that one's business then.
    pub(crate) fn open(source: &Source) -> Option<Self> {
        if *source.place() == Source::Stdin {
            return None;
        }
        let folder = sounding_host::runtime_folder()?;
        std::fs::create_dir_all(&folder).ok()?;
        Self::at(&folder.join(file_name(source))).ok()
    }

    fn at(path: &Path) -> io::Result<Self> {
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false).mode(0o600);
        // A link that somebody has laid there leads elsewhere.
        let file = options.custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK).open(path)?;
        let file =
            Flock::lock(file, FlockArg::LockExclusiveNonblock).map_err(|(_, errno)| errno)?;
        let mut text = Vec::new();
        (&*file).take(MOST).read_to_end(&mut text)?;
        // What is no note was not finished: nothing had been asked of the modem by then.
        let note = str::from_utf8(&text).ok().and_then(|text| text.parse().ok());
        Ok(Self { file, kept: note.unwrap_or_default() })
    }

    /// What is in it: at first what was left by an earlier session.
    pub(crate) fn note(&self) -> &Note {
        &self.kept
    }

    /// Keeps a note, before what it speaks of is done.
    pub(crate) fn keep(&mut self, note: Note) {
        if note == self.kept {
            return;
        }
        let text = note.to_string();
        // The end of a note is marked, so that a longer one's rest behind it does no harm. A note that cannot be kept
        // helps nobody, and hinders nobody either.
        let kept = self.file.write_all_at(text.as_bytes(), 0);
        if kept.and_then(|()| self.file.set_len(text.len() as u64)).is_ok() {
            self.kept = note;
        }
    }
}

/// A file for each source, with a name that any file system takes.
fn file_name(source: &Source) -> String {
    let whole = match source.place() {
        // However it is called, it is the same device.
        Source::Path(path) => match path.canonicalize() {
            Ok(path) => path.display().to_string(),
            Err(_) => source.to_string(),
        },
        source => source.to_string(),
    };
    let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
    let name: String = whole.chars().map(plain).collect();
    // The end tells more: devices differ there.
    format!("masks-{}", name[name.len().saturating_sub(100)..].trim_start_matches('-'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn note(text: &str) -> Note {
        text.parse().expect("a note")
    }

    #[test]
    fn what_is_kept_is_there_for_the_next_and_nobody_else_has_it_meanwhile() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("masks-x");
        let long = note("4 8 a5 5a\n11 8 - 5a\nend\n");
        let short = note("11 8 01 02\nend\n");
        let mut memory = Memory::at(&path).expect("a file");
        assert!(memory.note().is_empty());
        assert!(Memory::at(&path).is_err(), "one at a time");
        memory.keep(long.clone());
        drop(memory);
        let mut memory = Memory::at(&path).expect("it is free again");
        assert_eq!(*memory.note(), long);
        memory.keep(short.clone());
        drop(memory);
        assert_eq!(*Memory::at(&path).expect("a file").note(), short);
    }

    #[test]
    fn what_is_no_note_is_none() {
        let folder = tempfile::tempdir().expect("a folder");
        for text in [&b"11 8 01"[..], b"\xFF\xFE", &[b'1'; 1 << 18]] {
            let path = folder.path().join("masks-x");
            std::fs::write(&path, text).expect("room");
            assert!(Memory::at(&path).is_ok_and(|memory| memory.note().is_empty()));
        }
        let link = folder.path().join("masks-y");
        std::os::unix::fs::symlink(folder.path().join("elsewhere"), &link).expect("a link");
        assert!(Memory::at(&link).is_err(), "it leads elsewhere");
    }

    #[test]
    fn each_source_has_a_file_of_its_own() {
        let name = |text: &str| file_name(&text.parse().expect("a source"));
        assert_eq!(name("/dev/ttyUSB0"), "masks-dev-ttyUSB0");
        assert_eq!(name("tcp:[::1]:43555"), "masks-tcp----1--43555");
        let far = format!("/nowhere/{}/ttyUSB7", "x/".repeat(200));
        assert!(name(&far).len() < 110 && name(&far).ends_with("ttyUSB7"));
    }
}
