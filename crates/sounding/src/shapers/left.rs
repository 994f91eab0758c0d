//! Shapers that a killed keeper has left, and their files.
//!
//! ```text
//! /run/sounding/shape-4026531840-wwan0        how wwan0 was before
//! ```
//!
//! The keeper holds its files locked. A file that can be locked belongs to a killed keeper.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use nix::fcntl::{Flock, FlockArg};
use sounding_qdisc::{Before, Restored, Tc};

/// No state is longer.
const LONGEST: u64 = 256 << 10;

/// A file that outlives this process, locked.
#[derive(Debug)]
pub(super) struct Note {
    path: PathBuf,
    _lock: Flock<File>,
}

impl Note {
    /// Keeps how a device was. An earlier note of the same keeper is replaced.
    pub(super) fn keep(before: &Before) -> io::Result<Self> {
        let path = file_of(before.device())?;
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        // The whole note has the name, or nothing has: others may look at any time.
        let draft = path.with_file_name(format!(".shape-{}", std::process::id()));
        // Never into an existing file: it may be a symbolic link that another user has made.
        remove(&draft)?;
        let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&draft)?;
        let mut lock = Flock::lock(file, FlockArg::LockExclusiveNonblock).map_err(|(_, e)| e)?;
        lock.write_all(&serde_json::to_vec(before)?)?;
        fs::rename(&draft, &path)?;
        Ok(Self { path, _lock: lock })
    }

    /// The machine is as it was.
    pub(super) fn forget(self) -> io::Result<()> {
        remove(&self.path)
    }
}

/// Whether a living keeper has this device.
pub(super) fn is_kept(device: &str) -> bool {
    let opened = file_of(device).and_then(|path| open(&path));
    opened.is_ok_and(|file| Flock::lock(file, FlockArg::LockExclusiveNonblock).is_err())
}

/// Whether a living keeper has any device of this namespace, except these of this process's own.
pub(super) fn is_any_kept(own: &[String]) -> bool {
    let devices = notes().unwrap_or_default().into_iter().filter_map(|path| {
        let (_, device) = path.file_name()?.to_str()?.split_once('-')?.1.split_once('-')?;
        Some(device.to_owned())
    });
    devices.into_iter().any(|device| !own.contains(&device) && is_kept(&device))
}

/// The notes of this namespace.
fn notes() -> io::Result<Vec<PathBuf>> {
    let Some(folder) = sounding_host::runtime_folder() else { return Ok(Vec::new()) };
    let entries = match fs::read_dir(&folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };
    let prefix = prefix()?;
    let mut names: Vec<_> = entries.flatten().map(|entry| entry.file_name()).collect();
    names.retain(|name| name.to_str().is_some_and(|name| name.starts_with(&prefix)));
    names.sort();
    Ok(names.into_iter().map(|name| folder.join(name)).collect())
}

/// Restores devices that a keeper was killed over, with all that it says of each. It takes
/// CAP_NET_ADMIN. A living keeper's devices are left alone.
///
/// # Errors
///
/// The folder cannot be read, or a socket cannot be opened. A device that cannot be restored is a
/// line of the answer.
pub(crate) fn restore_left() -> io::Result<Vec<String>> {
    let notes = notes()?;
    if notes.is_empty() {
        return Ok(Vec::new());
    }
    let tc = Tc::open().map_err(io::Error::other)?;
    Ok(notes.iter().filter_map(|note| restore_one(&tc, note)).collect())
}

fn restore_one(tc: &Tc, path: &Path) -> Option<String> {
    let of = |what: &str| Some(format!("{}: {what}", path.display()));
    let file = match open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return None,
        Err(error) => return of(&format!("{error}: remove it if nothing is left to restore")),
        Ok(file) => file,
    };
    // A living keeper's.
    let lock = Flock::lock(file, FlockArg::LockExclusiveNonblock).ok()?;
    let mut text = Vec::new();
    let read = (&*lock).take(LONGEST).read_to_end(&mut text);
    let before: Before = match read
        .map_err(|e| e.to_string())
        .and_then(|_| serde_json::from_slice(&text).map_err(|error| error.to_string()))
    {
        Ok(before) => before,
        Err(error) => return of(&format!("{error}: it is no note of a shaper: remove it")),
    };
    let device = before.device();
    let said = match before.restore(tc) {
        Err(error) => return Some(format!("not restored: {error}")),
        Ok(Restored::Restored) => Some(format!("{device}: restored after a kill")),
        Ok(Restored::Others) => {
            Some(format!("{device}: not restored: another program has changed its shaper since"))
        }
        Ok(Restored::Nothing) => None,
    };
    if let Err(error) = remove(path) {
        return of(&format!("{error}"));
    }
    said
}

/// A note, if it is this user's own file.
fn open(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK);
    let file = options.open(path)?;
    let about = file.metadata()?;
    if about.is_file() && about.uid() == nix::unistd::geteuid().as_raw() {
        return Ok(file);
    }
    Err(io::Error::other("it is no file of this user's own"))
}

fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

fn prefix() -> io::Result<String> {
    let namespace = fs::metadata("/proc/thread-self/ns/net")?.ino();
    Ok(format!("shape-{namespace}-"))
}

fn file_of(device: &str) -> io::Result<PathBuf> {
    let folder = sounding_host::runtime_folder()
        .ok_or_else(|| io::Error::other("no folder for it: set SOUNDING_RUN_DIR"))?;
    if device.contains('/') {
        return Err(io::Error::other(format!("{device:?} is no name of a device")));
    }
    Ok(folder.join(prefix()? + device))
}
