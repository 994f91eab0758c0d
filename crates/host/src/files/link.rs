use std::io;
use std::path::{Path, PathBuf};

use nix::fcntl::readlinkat;
use nix::unistd::symlinkat;

use super::place::Place;
use super::writer::Writer;

/// A symbolic link, which is removed on drop.
#[derive(Debug)]
pub struct Link {
    writer: Writer,
    place: Place,
    to: PathBuf,
}

impl Link {
    /// Makes a link, where nothing is yet.
    ///
    /// # Errors
    ///
    /// `AlreadyExists` if something has the name; otherwise the kernel's error, if the link cannot
    /// be made.
    pub fn create(path: &Path, to: &Path) -> io::Result<Self> {
        let writer = Writer::now()?;
        let place = writer.act(|| {
            let place = Place::of(&writer, path, false)?;
            symlinkat(to, &place.folder, &*place.name)?;
            Ok(place)
        })?;
        Ok(Self { writer, place, to: to.into() })
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        let _ = self.writer.act(|| {
            // A file that has taken the link's name is not this program's.
            let is_own = readlinkat(&self.place.folder, &*self.place.name)? == *self.to;
            if is_own { self.place.remove(&self.place.name) } else { Ok(()) }
        });
    }
}
