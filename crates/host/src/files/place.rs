//! The place of a result: a folder that is open, and a name in it. A folder that is open cannot be
//! swapped for another.

use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::io;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::path::{Component, Path, PathBuf};

use nix::errno::Errno;
use nix::fcntl::{AtFlags, OFlag, open, openat, readlinkat, renameat};
use nix::sys::stat::{FileStat, Mode, SFlag, fstat, fstatat, major, mkdirat};
use nix::unistd::{UnlinkatFlags, unlinkat};

use super::writer::Writer;
use super::{TEMPORARY, folder_of};

/// How many links a path may have, as the kernel counts.
const MOST_LINKS: usize = 40;

const HANDLE: OFlag = OFlag::O_PATH.union(OFlag::O_CLOEXEC);
pub(super) const FOLDER: OFlag = HANDLE.union(OFlag::O_DIRECTORY);

/// A folder that is open, and a name in it.
#[derive(Debug)]
pub(super) struct Place {
    pub(super) folder: OwnedFd,
    pub(super) name: OsString,
    /// Whether root writes into a folder that others may change.
    is_shared: bool,
}

/// What may be where a result is to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Over {
    /// Nothing, or an empty folder.
    Nothing,
    /// A file, which is replaced.
    File,
    /// A file or a folder with its contents, which is replaced.
    All,
}

impl Place {
    /// The place of a path, with the rights of the writer. It follows a link that the path ends
    /// with only if asked to.
    pub(super) fn of(writer: &Writer, path: &Path, follow: bool) -> io::Result<Self> {
        if matches!(writer, Writer::Root) {
            let (folder, name) = walk(path, End::Name { follow })?;
            let is_shared = others_may_change(&fstat(&folder)?);
            return Ok(Self { folder, name: name.ok_or_else(no_name)?, is_shared });
        }
        let name = path.file_name().ok_or_else(no_name)?.to_owned();
        let folder = open(folder_of(path), FOLDER, Mode::empty())?;
        Ok(Self { folder, name, is_shared: false })
    }

    /// What has the name.
    pub(super) fn there(&self) -> io::Result<Option<FileStat>> {
        match fstatat(&self.folder, &*self.name, AtFlags::AT_SYMLINK_NOFOLLOW) {
            Ok(about) => Ok(Some(about)),
            Err(Errno::ENOENT) => Ok(None),
            Err(errno) => Err(errno.into()),
        }
    }

    /// Fails if root would write what another user put there.
    pub(super) fn refuse(&self, about: &FileStat) -> io::Result<()> {
        if !self.is_shared {
            return Ok(());
        }
        let wrong = match kind(about) {
            SFlag::S_IFLNK => "is a symbolic link".to_owned(),
            _ if about.st_uid != 0 => format!("belongs to user {}", about.st_uid),
            // The same file may have another name, in another folder.
            SFlag::S_IFREG if about.st_nlink > 1 => "is a file with several names".to_owned(),
            _ => return Ok(()),
        };
        Err(refused(&self.name, &wrong))
    }

    /// Opens a file in it.
    pub(super) fn open(&self, flags: OFlag, mode: u32) -> io::Result<File> {
        let flags = flags | OFlag::O_WRONLY | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC;
        Ok(openat(&self.folder, &*self.name, flags, Mode::from_bits_truncate(mode))?.into())
    }

    /// Makes something under a temporary name beside the final one.
    pub(super) fn beside<T>(
        &self,
        make: impl Fn(&OsStr) -> nix::Result<T>,
    ) -> io::Result<(OsString, T)> {
        loop {
            // Each of these is another random number.
            let number = RandomState::new().build_hasher().finish();
            let name = OsString::from(format!("{TEMPORARY}{number:016x}"));
            match make(&name) {
                Err(Errno::EEXIST) => {}
                made => return Ok((name, made?)),
            }
        }
    }

    /// Gives the final name to what has a temporary one. The old file steps aside first where the
    /// kernel cannot put one in the other's place, and comes back after a failure.
    pub(super) fn take(&self, temporary: &OsStr, over: Over) -> io::Result<()> {
        let there = self.there()?;
        if let Some(there) = &there {
            self.refuse(there)?;
        }
        let rename = |from: &OsStr, to: &OsStr| renameat(&self.folder, from, &self.folder, to);
        match rename(temporary, &self.name) {
            // A folder and a file, or two full folders.
            Err(Errno::EISDIR | Errno::ENOTDIR | Errno::ENOTEMPTY | Errno::EEXIST)
                if over == Over::All => {}
            renamed => return Ok(renamed?),
        }
        let (aside, ()) = self.beside(|aside| rename(&self.name, aside))?;
        if let Err(errno) = rename(temporary, &self.name) {
            // If even that fails, it stays where it is.
            let _ = rename(&aside, &self.name);
            return Err(errno.into());
        }
        self.remove(&aside)
    }

    /// Fails if the name is taken by more than an empty folder.
    pub(super) fn make_room(&self) -> io::Result<()> {
        match fstatat(&self.folder, &*self.name, AtFlags::empty()) {
            Ok(about) if kind(&about) == SFlag::S_IFDIR => {
                Ok(unlinkat(&self.folder, &*self.name, UnlinkatFlags::RemoveDir)?)
            }
            Ok(_) => Err(io::ErrorKind::AlreadyExists.into()),
            Err(Errno::ENOENT) => Ok(()),
            Err(errno) => Err(errno.into()),
        }
    }

    /// Removes a file, or a folder with its contents, and follows no link.
    pub(super) fn remove(&self, name: &OsStr) -> io::Result<()> {
        match unlinkat(&self.folder, name, UnlinkatFlags::NoRemoveDir) {
            Err(Errno::EISDIR) => fs::remove_dir_all(below(&self.folder, name)),
            removed => Ok(removed?),
        }
    }
}

/// Makes a folder and those above it, where they are missing.
pub(super) fn make_folder(writer: &Writer, path: &Path) -> io::Result<()> {
    match writer {
        Writer::Root => walk(path, End::Folder).map(drop),
        _ => fs::create_dir_all(path),
    }
}

/// Opens a device or a pipe, which has no temporary name and no end. `None` if the path is neither.
pub(super) fn special(writer: &Writer, path: &Path) -> io::Result<Option<File>> {
    let opened = match writer {
        Writer::Root => Place::of(writer, path, true).and_then(|place| {
            let flags = HANDLE | OFlag::O_NOFOLLOW;
            let handle = openat(&place.folder, &*place.name, flags, Mode::empty())?;
            let about = fstat(&handle)?;
            Ok((handle, about))
        }),
        _ => open(path, HANDLE, Mode::empty())
            .and_then(|handle| fstat(&handle).map(|about| (handle, about)))
            .map_err(io::Error::from),
    };
    let (handle, about) = match opened {
        Ok(opened) => opened,
        // The code that makes the file reports everything else.
        Err(_) => return Ok(None),
    };
    if matches!(kind(&about), SFlag::S_IFREG | SFlag::S_IFDIR | SFlag::S_IFLNK) {
        return Ok(None);
    }
    // `/dev/null` and its like, which keep nothing. In a container their owner may be an unmapped
    // user.
    const MEMORY: u64 = 1;
    let keeps_nothing = kind(&about) == SFlag::S_IFCHR && major(about.st_rdev) == MEMORY;
    if !keeps_nothing && about.st_uid != 0 && about.st_uid != writer.uid() {
        let name = path.file_name().unwrap_or(path.as_os_str());
        return Err(refused(name, &format!("is a pipe or a device of user {}", about.st_uid)));
    }
    // The file that was examined is the one that is opened.
    let again = PathBuf::from(format!("/proc/self/fd/{}", handle.as_raw_fd()));
    Ok(Some(File::options().write(true).open(again)?))
}

/// The path of a name in a folder that is open.
fn below(folder: &OwnedFd, name: &OsStr) -> PathBuf {
    Path::new("/proc/self/fd").join(folder.as_raw_fd().to_string()).join(name)
}

fn kind(about: &FileStat) -> SFlag {
    SFlag::from_bits_truncate(about.st_mode) & SFlag::S_IFMT
}

fn others_may_change(folder: &FileStat) -> bool {
    folder.st_uid != 0 || folder.st_mode & 0o022 != 0
}

fn no_name() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, "the path does not end with a name")
}

fn refused(name: &OsStr, wrong: &str) -> io::Error {
    let message = format!(
        "{name:?} {wrong}, and others may change what it is: remove it, or name a file in a folder of your own"
    );
    io::Error::other(message)
}

/// How a walk ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    /// With a name in a folder; a link of that name may be followed.
    Name { follow: bool },
    /// With a folder. Its missing parts are made.
    Folder,
}

/// Goes along a path as root, folder by folder. It follows no link in a folder that others may
/// change.
fn walk(path: &Path, end: End) -> io::Result<(OwnedFd, Option<OsString>)> {
    let begin = |path: &Path| {
        open(
            if path.is_absolute() { Path::new("/") } else { Path::new(".") },
            FOLDER,
            Mode::empty(),
        )
    };
    let mut at = begin(path)?;
    let mut ahead: VecDeque<OsString> = names(path).collect();
    let mut links = 0;
    while let Some(name) = ahead.pop_front() {
        let is_last = ahead.is_empty();
        if is_last && end == (End::Name { follow: false }) && name != ".." {
            return Ok((at, Some(name)));
        }
        let next = match openat(&at, &*name, HANDLE | OFlag::O_NOFOLLOW, Mode::empty()) {
            Err(Errno::ENOENT) if end == End::Folder => {
                match mkdirat(&at, &*name, Mode::from_bits_truncate(0o777)) {
                    Ok(()) | Err(Errno::EEXIST) => {}
                    Err(errno) => return Err(errno.into()),
                }
                openat(&at, &*name, HANDLE | OFlag::O_NOFOLLOW, Mode::empty())?
            }
            Err(Errno::ENOENT) if is_last => return Ok((at, Some(name))),
            next => next?,
        };
        match kind(&fstat(&next)?) {
            SFlag::S_IFDIR if !is_last || end == End::Folder || name == ".." => at = next,
            SFlag::S_IFLNK => {
                if others_may_change(&fstat(&at)?) {
                    return Err(refused(&name, "is a symbolic link"));
                }
                links += 1;
                if links > MOST_LINKS {
                    return Err(Errno::ELOOP.into());
                }
                let to = PathBuf::from(readlinkat(&next, "")?);
                if to.is_absolute() {
                    at = begin(&to)?;
                }
                for name in names(&to).collect::<Vec<_>>().into_iter().rev() {
                    ahead.push_front(name);
                }
            }
            _ if is_last && end != End::Folder => return Ok((at, Some(name))),
            _ => return Err(Errno::ENOTDIR.into()),
        }
    }
    Ok((at, None))
}

fn names(path: &Path) -> impl Iterator<Item = OsString> {
    path.components().filter_map(|part| match part {
        Component::Normal(name) => Some(name.to_owned()),
        Component::ParentDir => Some("..".into()),
        Component::RootDir | Component::CurDir | Component::Prefix(_) => None,
    })
}
