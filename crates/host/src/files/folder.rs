use std::ffi::OsStr;
use std::fs::{self, File};
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Component, Path, PathBuf};

use nix::fcntl::{OFlag, openat};
use nix::sys::stat::{Mode, fstat, mkdirat};

use super::draft::Beside;
use super::place::{FOLDER, Over, Place};
use super::writer::Writer;
use super::{Access, folder_of};

/// A folder of files that is there whole or not at all.
#[derive(Debug)]
pub struct Folder {
    /// It is open: whatever gets its temporary name, files go into this one.
    own: OwnedFd,
    beside: Beside,
    access: Access,
    /// The folder that it is in.
    above: PathBuf,
}

impl Folder {
    /// Begins a folder.
    ///
    /// # Errors
    ///
    /// The kernel's error, if a folder beside the final name cannot be made.
    pub fn begin(path: &Path, access: Access) -> io::Result<Self> {
        Self::begin_as(Writer::now()?, path, access)
    }

    pub(super) fn begin_as(writer: Writer, path: &Path, access: Access) -> io::Result<Self> {
        let above = folder_of(path).to_path_buf();
        let (own, place, name) = writer.act(|| {
            let place = Place::of(&writer, path, false)?;
            if let Some(there) = place.there()? {
                place.refuse(&there)?;
            }
            let mode = Mode::from_bits_truncate(access.of_folder());
            let (name, ()) = place.beside(|name| mkdirat(&place.folder, name, mode))?;
            let own = openat(&place.folder, &*name, FOLDER | OFlag::O_NOFOLLOW, Mode::empty())?;
            if fstat(&own)?.st_uid != writer.uid() {
                return Err(io::Error::other("another user took the place of a new folder"));
            }
            Ok((own, place, name))
        })?;
        Ok(Self { own, beside: Beside { writer, place, name: Some(name) }, access, above })
    }

    /// Its temporary path, for those who read it while it grows.
    pub fn path(&self) -> PathBuf {
        self.above.join(self.beside.name.as_deref().unwrap_or_default())
    }

    /// A new file in it.
    ///
    /// # Errors
    ///
    /// `AlreadyExists` if the folder has a file of that name; otherwise the kernel's error, if it
    /// cannot be made.
    pub fn file(&self, name: &str) -> io::Result<File> {
        self.create(OsStr::new(name))
    }

    fn create(&self, name: &OsStr) -> io::Result<File> {
        let mut parts = Path::new(name).components();
        if !matches!((parts.next(), parts.next()), (Some(Component::Normal(only)), None) if only == name)
        {
            return Err(io::Error::other(format!("{name:?} is no name of a file in a folder")));
        }
        let flags = OFlag::O_WRONLY | OFlag::O_CREAT | OFlag::O_EXCL | OFlag::O_CLOEXEC;
        let mode = Mode::from_bits_truncate(self.access.of_file());
        self.beside.writer.act(|| Ok(openat(&self.own, name, flags, mode)?.into()))
    }

    /// Copies the files of another folder.
    ///
    /// # Errors
    ///
    /// The kernel's error, if a file cannot be read or written.
    pub fn copy(&self, from: &Path) -> io::Result<()> {
        for entry in fs::read_dir(from)? {
            let entry = entry?;
            io::copy(&mut File::open(entry.path())?, &mut self.create(&entry.file_name())?)?;
        }
        Ok(())
    }

    /// Gives the folder its final name. An empty folder may already have this name, but nothing
    /// else, unless it is replaced.
    ///
    /// # Errors
    ///
    /// The kernel's error, if something else has the name, or the folder cannot be renamed.
    pub fn finish(mut self, over: Over) -> io::Result<()> {
        self.beside.take(over)
    }
}
