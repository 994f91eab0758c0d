//! Files and folders that are never visible incomplete. Data goes to a temporary name beside the final one, and is renamed
//! once it is complete.

use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt, chown, fchown};
use std::path::{Path, PathBuf};

use tempfile::TempDir;

/// Writes a file that is there whole or not at all.
pub fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = temporary().tempfile_in(folder_of(path))?;
    file.write_all(bytes)?;
    // Some file systems report a full disk only here.
    file.as_file().sync_all()?;
    file.persist(path).map(drop).map_err(|error| error.error)
}

/// Writes a file that no kill leaves in part, though a power cut may: for one of thousands, whose reader looks at it.
pub fn write_unsynced(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = temporary().tempfile_in(folder_of(path))?;
    file.write_all(bytes)?;
    file.persist(path).map(drop).map_err(|error| error.error)
}

/// A folder of files that is there whole or not at all.
pub struct Folder {
    temporary: TempDir,
    path: PathBuf,
    /// Mode of its files, before the process's umask.
    mode: u32,
    /// User and group, where they are not this process's.
    owner: Option<(u32, u32)>,
}

impl Folder {
    /// Begins a folder.
    pub fn begin(path: &Path) -> io::Result<Self> {
        let mode = Permissions::from_mode(0o777);
        let temporary = temporary().permissions(mode).tempdir_in(folder_of(path))?;
        Ok(Self { temporary, path: path.to_path_buf(), mode: 0o666, owner: None })
    }

    /// Begins a folder that only its owner may look into, whose user and group these are where they are not this process's.
    pub fn begin_private(path: &Path, owner: Option<(u32, u32)>) -> io::Result<Self> {
        let mode = Permissions::from_mode(0o700);
        let temporary = temporary().permissions(mode).tempdir_in(folder_of(path))?;
        if let Some((uid, gid)) = owner {
            chown(temporary.path(), Some(uid), Some(gid))?;
        }
        Ok(Self { temporary, path: path.to_path_buf(), mode: 0o600, owner })
    }

    /// A new file in it.
    pub fn file(&self, name: &str) -> io::Result<File> {
        let mut options = OpenOptions::new();
        options.write(true).create_new(true).mode(self.mode);
        let file = options.open(self.temporary.path().join(name))?;
        if let Some((uid, gid)) = self.owner {
            fchown(&file, Some(uid), Some(gid))?;
        }
        Ok(file)
    }

    /// Copies the files of another folder.
    pub fn copy(&self, from: &Path) -> io::Result<()> {
        for entry in fs::read_dir(from)? {
            let entry = entry?;
            fs::copy(entry.path(), self.temporary.path().join(entry.file_name()))?;
        }
        Ok(())
    }

    /// Gives the folder its final name. An empty folder may already have this name, but nothing else.
    pub fn finish(self) -> io::Result<()> {
        fs::rename(self.temporary.path(), &self.path)?;
        // It has moved, so there is nothing to remove.
        let _ = self.temporary.keep();
        Ok(())
    }
}

/// The prefix of temporary names.
pub const TEMPORARY: &str = ".sounding-";

/// A builder for temporary names.
pub fn temporary() -> tempfile::Builder<'static, 'static> {
    let mut builder = tempfile::Builder::new();
    // The process's umask reduces these rights.
    builder.prefix(TEMPORARY).permissions(Permissions::from_mode(0o666));
    builder
}

/// The folder of a path.
pub fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}
