use std::ffi::OsString;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use nix::fcntl::{OFlag, openat};
use nix::sys::stat::Mode;

use super::place::{Over, Place, special};
use super::writer::Writer;
use super::{Access, inherited};

/// A file on its way, which is there whole or not at all. A device, a pipe or a descriptor that the
/// path names is written to directly.
#[derive(Debug)]
pub struct Draft {
    out: BufWriter<File>,
    place: Option<Beside>,
}

impl Draft {
    /// Begins a file.
    ///
    /// # Errors
    ///
    /// The kernel's error, if a file beside the final name cannot be made.
    pub fn begin(path: &Path, access: Access) -> io::Result<Self> {
        match inherited(path)? {
            Some(file) => Ok(Self { out: BufWriter::new(file), place: None }),
            None => Self::begin_as(Writer::now()?, path, access),
        }
    }

    pub(super) fn begin_as(writer: Writer, path: &Path, access: Access) -> io::Result<Self> {
        let (file, place) = writer.act(|| {
            if let Some(file) = special(&writer, path)? {
                return Ok((file, None));
            }
            let place = Place::of(&writer, path, false)?;
            if let Some(there) = place.there()? {
                place.refuse(&there)?;
            }
            let flags = OFlag::O_WRONLY | OFlag::O_CREAT | OFlag::O_EXCL | OFlag::O_CLOEXEC;
            let mode = Mode::from_bits_truncate(access.of_file());
            let (name, file) = place.beside(|name| openat(&place.folder, name, flags, mode))?;
            Ok((file.into(), Some((place, name))))
        })?;
        let place = place.map(|(place, name)| Beside { writer, place, name: Some(name) });
        Ok(Self { out: BufWriter::new(file), place })
    }

    /// Gives it its final name.
    ///
    /// # Errors
    ///
    /// The kernel's error, if the rest cannot be written or synced, or something else has the name.
    pub fn finish(self, over: Over) -> io::Result<()> {
        self.end(over, true)
    }

    /// The same for a file that a power cut may leave in part.
    ///
    /// # Errors
    ///
    /// The kernel's error, if the rest cannot be written, or something else has the name.
    pub fn finish_unsynced(self, over: Over) -> io::Result<()> {
        self.end(over, false)
    }

    fn end(self, over: Over, sync: bool) -> io::Result<()> {
        let file = self.out.into_inner().map_err(io::IntoInnerError::into_error)?;
        let Some(mut beside) = self.place else { return Ok(()) };
        if over == Over::Nothing {
            beside.writer.act(|| beside.place.make_room())?;
        }
        if sync {
            // Some file systems report a full disk only here.
            file.sync_all()?;
        }
        beside.take(over)
    }
}

impl Write for Draft {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.out.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// Something with a temporary name beside its final one. It is removed unless it takes that.
#[derive(Debug)]
pub(super) struct Beside {
    pub(super) writer: Writer,
    pub(super) place: Place,
    pub(super) name: Option<OsString>,
}

impl Beside {
    /// Gives it its final name.
    pub(super) fn take(&mut self, over: Over) -> io::Result<()> {
        let Some(name) = &self.name else { return Ok(()) };
        self.writer.act(|| self.place.take(name, over))?;
        self.name = None;
        Ok(())
    }
}

impl Drop for Beside {
    fn drop(&mut self) {
        if let Some(name) = self.name.take() {
            let _ = self.writer.act(|| self.place.remove(&name));
        }
    }
}
