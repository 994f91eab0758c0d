use std::path::{Path, PathBuf};

use thiserror::Error;

/// Location of a board's files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    folder: PathBuf,
    name: String,
}

/// Why a board cannot have this name.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum NameError {
    /// The name is no plain file name.
    #[error("{0:?}: a name is 1 to 64 letters, digits, -, _ or dots, and begins with none")]
    Name(String),
    /// No folder for boards is known.
    #[error("{0:?}: no folder for boards and feeds: set XDG_RUNTIME_DIR or SOUNDING_BOARD_DIR")]
    Folder(String),
}

const OVERRIDE: &str = "SOUNDING_BOARD_DIR";
const SYSTEM: &str = "/run/sounding";

impl Place {
    /// A board of that name in that folder.
    ///
    /// # Errors
    ///
    /// [`NameError::Name`] unless the name is 1 to 64 letters, digits, `-`, `_` or dots, and begins
    /// with none.
    pub fn new(folder: &Path, name: &str) -> Result<Self, NameError> {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
        let is_plain = (1..=64).contains(&name.len()) && name.bytes().all(plain);
        if !is_plain || name.starts_with('.') {
            return Err(NameError::Name(name.into()));
        }
        Ok(Self { folder: folder.into(), name: name.into() })
    }

    /// Location for a new board of that name.
    ///
    /// # Errors
    ///
    /// [`NameError::Folder`] if this user has no folder for boards; [`NameError::Name`] as
    /// [`new`](Self::new).
    pub fn to_publish(name: &str) -> Result<Self, NameError> {
        let is_root = nix::unistd::geteuid().is_root();
        let folder = std::env::var_os(OVERRIDE)
            .map(PathBuf::from)
            .or_else(|| is_root.then(|| PathBuf::from(SYSTEM)))
            .or_else(own_folder)
            .ok_or_else(|| NameError::Folder(name.into()))?;
        Self::new(&folder, name)
    }

    /// Location of an existing board of that name: first this user's, then the system's. A name
    /// with a slash is a path.
    ///
    /// # Errors
    ///
    /// [`NameError::Name`] as [`new`](Self::new).
    pub fn to_read(name: &str) -> Result<Self, NameError> {
        let path = Path::new(name);
        if let (true, Some(folder), Some(file)) =
            (name.contains('/'), path.parent(), path.file_name().and_then(|file| file.to_str()))
        {
            let name = [".board", ".rate"].iter().find_map(|end| file.strip_suffix(end));
            return Self::new(folder, name.unwrap_or(file));
        }
        if let Some(folder) = std::env::var_os(OVERRIDE) {
            return Self::new(Path::new(&folder), name);
        }
        let system = Self::new(Path::new(SYSTEM), name)?;
        let own = own_folder().and_then(|folder| Self::new(&folder, name).ok());
        Ok(own.filter(|own| own.memory().exists()).unwrap_or(system))
    }

    /// The file with the shared memory.
    pub fn memory(&self) -> PathBuf {
        self.file("board")
    }

    /// The socket of the rate feed of this name.
    pub fn feed(&self) -> PathBuf {
        self.file("rate")
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    pub(crate) fn lock(&self) -> PathBuf {
        self.file("lock")
    }

    pub(crate) fn socket(&self) -> PathBuf {
        self.file("wake")
    }

    /// The file's name until it is complete.
    pub(crate) fn draft(&self) -> PathBuf {
        self.file("draft")
    }

    fn file(&self, extension: &str) -> PathBuf {
        self.folder.join(format!("{}.{extension}", self.name))
    }
}

fn own_folder() -> Option<PathBuf> {
    std::env::var_os("XDG_RUNTIME_DIR").map(|folder| Path::new(&folder).join("sounding"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_leads_out_of_no_folder() {
        let folder = Path::new("/run/sounding");
        for name in ["", ".", "..", "../x", "a/b", "a b", ".hidden", &"x".repeat(65)] {
            assert_eq!(Place::new(folder, name), Err(NameError::Name(name.into())));
        }
        let place = Place::new(folder, "modem-0").expect("a plain name");
        assert_eq!(place.memory(), Path::new("/run/sounding/modem-0.board"));
    }

    #[test]
    fn a_path_to_a_board_is_a_place_too() {
        let place = Place::to_read("/tmp/x/modem.board").expect("a path");
        assert_eq!(place, Place::new(Path::new("/tmp/x"), "modem").expect("a plain name"));
        assert_eq!(Place::to_read("/tmp/x/modem.rate").expect("a path"), place);
    }
}
