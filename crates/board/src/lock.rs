//! The file that shows that a board has a writer.

use std::fs::{File, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use nix::errno::Errno;
use nix::fcntl::{Flock, FlockArg, OFlag};

use crate::error::PublishError;

/// Everyone who can open the file, even read-only, can take its flock. With this mode no other user
/// can open it.
const MODE: u32 = 0o600;

/// Takes the lock, or reports the obstacle.
pub(crate) fn take(path: PathBuf) -> Result<Flock<File>, PublishError> {
    let file = match open(&path) {
        Ok(file) => file,
        Err(Refused::Io(error)) => return Err(PublishError::Io { path, error }),
        Err(Refused::Not(why)) => return Err(PublishError::NotALock { path, why }),
    };
    Flock::lock(file, FlockArg::LockExclusiveNonblock).map_err(|(_, errno)| match errno {
        Errno::EWOULDBLOCK => PublishError::Taken { path },
        errno => PublishError::Io { path, error: errno.into() },
    })
}

enum Refused {
    /// The existing file cannot serve as a lock.
    Not(String),
    Io(io::Error),
}

impl From<io::Error> for Refused {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// Opens the lock file, which is never removed. Otherwise two processes could lock two files of the
/// same name.
fn open(path: &Path) -> Result<File, Refused> {
    // A symbolic link leads to a file of another user's choice, and a pipe waits for a reader.
    let flags = OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK | OFlag::O_NOCTTY;
    let mut options = OpenOptions::new();
    options.create(true).truncate(false).write(true).mode(MODE).custom_flags(flags.bits());
    let file = match options.open(path) {
        Ok(file) => file,
        Err(error) => {
            return Err(match error.raw_os_error().map(Errno::from_raw) {
                Some(Errno::ELOOP) => Refused::Not("is a symbolic link".into()),
                Some(Errno::ENXIO | Errno::EISDIR) => Refused::Not("is no plain file".into()),
                _ => error.into(),
            });
        }
    };
    let about = file.metadata()?;
    let own = nix::unistd::geteuid().as_raw();
    if !about.is_file() {
        return Err(Refused::Not("is no plain file".into()));
    }
    if about.uid() != own {
        return Err(Refused::Not(format!("belongs to user {}, which could hold it", about.uid())));
    }
    if about.nlink() != 1 {
        return Err(Refused::Not("is another file's name too".into()));
    }
    // An existing file may be from a version of this program that let others open it.
    if about.mode() & 0o777 != MODE {
        file.set_permissions(Permissions::from_mode(MODE))?;
    }
    Ok(file)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_file_that_others_could_replace_is_no_lock() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = |name: &str| folder.path().join(name);
        fs::write(path("victim"), "kept").expect("room");
        fs::set_permissions(path("victim"), Permissions::from_mode(0o644)).expect("its owner");
        symlink(path("victim"), path("link.lock")).expect("a link");
        symlink(path("nowhere"), path("dangling.lock")).expect("a link");
        fs::hard_link(path("victim"), path("second.lock")).expect("a link");
        nix::unistd::mkfifo(&path("pipe.lock"), nix::sys::stat::Mode::from_bits_truncate(0o600))
            .expect("a pipe");
        fs::create_dir(path("folder.lock")).expect("a folder");
        for name in ["link", "dangling", "second", "pipe", "folder"] {
            let taken = take(path(&format!("{name}.lock"))).map(drop);
            assert!(matches!(taken, Err(PublishError::NotALock { .. })), "{name}: {taken:?}");
        }
        assert!(!path("nowhere").exists());
        let mode = fs::metadata(path("victim")).expect("it is there").mode();
        assert_eq!(mode & 0o777, 0o644, "what a link leads to is left alone");
    }

    #[test]
    fn a_lock_that_others_could_open_is_closed_to_them() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("modem.lock");
        fs::write(&path, "").expect("room");
        fs::set_permissions(&path, Permissions::from_mode(0o644)).expect("its owner");
        let _lock = take(path.clone()).expect("it is free");
        assert_eq!(fs::metadata(&path).expect("it is there").mode() & 0o777, MODE);
    }
}
