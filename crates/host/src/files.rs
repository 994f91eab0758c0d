//! Results: files, folders and links that a program writes for its user. This is the only place
//! where they are made.
//!
//! A command of sudo writes a result with the rights of the user who called it. A link then leads
//! no further than that user, and the result is theirs. Root, for which no other user is known,
//! follows no link of other users and writes no file of theirs.
//!
//! Most results are never visible incomplete. Data goes to a temporary name beside the final one,
//! and is renamed once it is complete.

mod draft;
mod folder;
mod link;
mod place;
mod writer;

use std::fs::File;
use std::io::{self, Write as _};
use std::os::fd::{BorrowedFd, RawFd};
use std::path::Path;

use nix::fcntl::{FcntlArg, FdFlag, OFlag, fcntl, openat};
use nix::sys::stat::Mode;

pub use draft::Draft;
pub use folder::Folder;
pub use link::Link;
pub use place::Over;
use place::Place;
use writer::Writer;

/// The prefix of temporary names.
pub const TEMPORARY: &str = ".sounding-";

/// The users who may read a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// By the process's umask.
    Usual,
    /// Its owner alone: it holds what identifies a person.
    Private,
}

impl Access {
    /// Mode of a file, before the process's umask.
    fn of_file(self) -> u32 {
        match self {
            Self::Usual => 0o666,
            Self::Private => 0o600,
        }
    }

    /// Mode of a folder, before the process's umask.
    fn of_folder(self) -> u32 {
        match self {
            Self::Usual => 0o777,
            Self::Private => 0o700,
        }
    }
}

/// Writes a file that is there whole or not at all, in place of an earlier one.
///
/// # Errors
///
/// The kernel's error, if the file cannot be made, written, synced or renamed.
pub fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut draft = Draft::begin(path, Access::Usual)?;
    draft.write_all(bytes)?;
    draft.finish(Over::File)
}

/// Writes a file that no kill leaves in part, though a power cut may: for one of thousands, whose
/// reader looks at it.
///
/// # Errors
///
/// The kernel's error, if the file cannot be made, written or renamed.
pub fn write_unsynced(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut draft = Draft::begin(path, Access::Usual)?;
    draft.write_all(bytes)?;
    draft.finish_unsynced(Over::File)
}

/// Opens a file that is read while it grows. An earlier one is emptied.
///
/// # Errors
///
/// The kernel's error, if the file cannot be opened or made.
pub fn grow(path: &Path) -> io::Result<File> {
    if let Some(file) = inherited(path)? {
        return Ok(file);
    }
    grow_as(&Writer::now()?, path)
}

fn grow_as(writer: &Writer, path: &Path) -> io::Result<File> {
    writer.act(|| {
        if let Some(file) = place::special(writer, path)? {
            return Ok(file);
        }
        if !matches!(writer, Writer::Root) {
            return File::create(path);
        }
        let place = Place::of(writer, path, true)?;
        // A pipe that came meanwhile would be waited for.
        let file = place.open(OFlag::O_CREAT | OFlag::O_NONBLOCK, Access::Usual.of_file())?;
        place.refuse(&nix::sys::stat::fstat(&file)?)?;
        file.set_len(0)?;
        Ok(file)
    })
}

/// Makes a file that is not there yet, and is read while it grows.
///
/// # Errors
///
/// `AlreadyExists` if something has the name; otherwise the kernel's error, if the file cannot be
/// made.
pub fn create_new(path: &Path, access: Access) -> io::Result<File> {
    let writer = Writer::now()?;
    let flags = OFlag::O_CREAT | OFlag::O_EXCL;
    writer.act(|| Place::of(&writer, path, false)?.open(flags, access.of_file()))
}

/// Makes a file without a name, which is read and written in this process alone. Nothing is left of
/// it. A kill at the wrong moment leaves an empty file with a temporary name.
///
/// # Errors
///
/// The kernel's error, if a file cannot be made in the folder.
pub fn nameless(folder: &Path) -> io::Result<File> {
    let writer = Writer::now()?;
    writer.act(|| {
        let place = Place::of(&writer, &folder.join(TEMPORARY), false)?;
        let flags = OFlag::O_RDWR | OFlag::O_CREAT | OFlag::O_EXCL | OFlag::O_CLOEXEC;
        let mode = Mode::from_bits_truncate(Access::Private.of_file());
        let (name, file) = place.beside(|name| openat(&place.folder, name, flags, mode))?;
        place.remove(&name)?;
        Ok(file.into())
    })
}

/// Makes a folder and those above it, where they are missing.
///
/// # Errors
///
/// The kernel's error, if a folder cannot be made or a file has its name.
pub fn make_folder(path: &Path) -> io::Result<()> {
    let writer = Writer::now()?;
    writer.act(|| place::make_folder(&writer, path))
}

/// Removes a file, or a folder with its contents, if it is there.
///
/// # Errors
///
/// The kernel's error, if something of that name is there and cannot be removed.
pub fn remove(path: &Path) -> io::Result<()> {
    let writer = Writer::now()?;
    let removed = writer.act(|| {
        let place = Place::of(&writer, path, false)?;
        place.remove(&place.name)
    });
    match removed {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}

/// The owner of what this process writes.
///
/// # Errors
///
/// An error if root runs this by sudo, and sudo's words name no user.
pub fn owner() -> io::Result<u32> {
    Writer::now().map(|writer| writer.uid())
}

/// Whether a path names a descriptor of this process, as `/dev/stdout` and `/dev/fd/3` do.
pub fn names_descriptor(path: &Path) -> bool {
    descriptor(path).is_some()
}

fn descriptor(path: &Path) -> Option<RawFd> {
    let path = path.to_str()?;
    match path {
        "/dev/stdout" => Some(1),
        "/dev/stderr" => Some(2),
        _ => ["/dev/fd/", "/proc/self/fd/"]
            .iter()
            .find_map(|folder| path.strip_prefix(folder)?.parse::<u16>().ok())
            .map(RawFd::from),
    }
}

/// The descriptor that a path names. Its opener had the right to it, which the user of sudo may
/// lack: sudo makes a terminal that is root's.
fn inherited(path: &Path) -> io::Result<Option<File>> {
    let Some(number) = descriptor(path) else { return Ok(None) };
    // SAFETY: nothing is done with it but to ask whether it is one, and to copy it.
    let descriptor = unsafe { BorrowedFd::borrow_raw(number) };
    let flags = FdFlag::from_bits_truncate(fcntl(descriptor, FcntlArg::F_GETFD)?);
    // A file that this program opened itself is closed on exec, and belongs to this program alone.
    if flags.contains(FdFlag::FD_CLOEXEC) {
        return Err(io::Error::other(format!("descriptor {number} was not given to this program")));
    }
    Ok(Some(descriptor.try_clone_to_owned()?.into()))
}

/// The folder of a path.
fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

#[cfg(test)]
mod tests;
