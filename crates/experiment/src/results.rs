//! A folder of results: result.json, flows.parquet, and a folder for each run of which something is kept.
//!
//! Every file and every folder of a run is there whole or not at all: what is written goes to a temporary name beside the
//! final one and is renamed once it is complete.

use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt, chown, fchown};
use std::path::{Path, PathBuf};

use sounding_export::table::TableError;
use tempfile::TempDir;
use thiserror::Error;

use crate::simulate::{self, About, Files, Finished, Output, Place};

/// A folder of results.
#[derive(Clone, Debug)]
pub struct Results {
    path: PathBuf,
}

/// Why there are no results.
#[derive(Debug, Error)]
pub enum ResultsError {
    /// The folder cannot be made.
    #[error("cannot make the folder for the results, {path}: {source}", path = path.display())]
    Create {
        /// Which.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// There are results already: which of them are of which plan nobody could say.
    #[error("{path} is there already: name another folder, or remove this one", path = path.display())]
    Taken {
        /// What is there.
        path: PathBuf,
    },
    /// A file cannot be written.
    #[error("cannot write {path}: {source}", path = path.display())]
    Write {
        /// Which.
        path: PathBuf,
        /// Why.
        source: TableError,
    },
}

impl Results {
    /// Makes the folder, and refuses one that has results of any of these runs.
    pub fn create(
        path: &Path,
        runs: impl IntoIterator<Item = usize>,
    ) -> Result<Self, ResultsError> {
        fs::create_dir_all(path)
            .map_err(|source| ResultsError::Create { path: path.into(), source })?;
        let results = Self { path: path.into() };
        let files = ["result.json", "flows.parquet"].map(|name| path.join(name));
        let mut there = runs.into_iter().map(|run| results.folder_of(run)).chain(files);
        match there.find(|path| path.exists()) {
            Some(path) => Err(ResultsError::Taken { path }),
            None => Ok(results),
        }
    }

    /// A folder that is there.
    pub fn of(path: &Path) -> Self {
        Self { path: path.into() }
    }

    /// The place for what is kept of a run.
    pub fn place(&self, run: usize) -> io::Result<Box<dyn Place>> {
        run_folder(&self.folder_of(run))
    }

    fn folder_of(&self, run: usize) -> PathBuf {
        self.path.join(format!("run-{run:04}"))
    }

    /// Writes what became of all runs.
    pub fn store(&self, about: &About, finished: &Finished) -> Result<(), ResultsError> {
        let path = self.path.join("flows.parquet");
        self.parquet(&path, about, finished)
            .map_err(|source| ResultsError::Write { path, source })?;
        let path = self.path.join("result.json");
        let written =
            simulate::json(about, finished).and_then(|text| write(&path, text.as_bytes()));
        written.map_err(|source| ResultsError::Write { path, source: source.into() })
    }

    fn parquet(&self, path: &Path, about: &About, finished: &Finished) -> Result<(), TableError> {
        let file = temporary().tempfile_in(&self.path)?;
        let writer = BufWriter::new(file.reopen()?);
        simulate::parquet(about, finished, Box::new(writer))?;
        file.as_file().sync_all()?;
        file.persist(path).map(drop).map_err(|error| error.error.into())
    }
}

/// Writes a file that is there whole or not at all.
pub fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = temporary().tempfile_in(folder_of(path))?;
    file.write_all(bytes)?;
    // Some file systems notice only here that there is no room.
    file.as_file().sync_all()?;
    file.persist(path).map(drop).map_err(|error| error.error)
}

/// Writes a file that no kill leaves in part, though a power cut may: for one of thousands, whose reader looks at it.
pub(crate) fn write_unsynced(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = temporary().tempfile_in(folder_of(path))?;
    file.write_all(bytes)?;
    file.persist(path).map(drop).map_err(|error| error.error)
}

/// Begins the folder of a run.
pub fn run_folder(path: &Path) -> io::Result<Box<dyn Place>> {
    Ok(Box::new(RunFolder(Folder::begin(path)?)))
}

/// What a run leaves behind.
struct RunFolder(Folder);

impl Files for RunFolder {
    fn create(&mut self, name: &str) -> io::Result<Output> {
        Ok(Box::new(BufWriter::new(self.0.file(name)?)))
    }
}

impl Place for RunFolder {
    fn finish(self: Box<Self>) -> io::Result<()> {
        self.0.finish()
    }
}

/// A folder of files that is there whole or not at all.
pub struct Folder {
    temporary: TempDir,
    path: PathBuf,
    /// Of its files, less what the process's mask takes away.
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
    pub(crate) fn copy(&self, from: &Path) -> io::Result<()> {
        for entry in fs::read_dir(from)? {
            let entry = entry?;
            fs::copy(entry.path(), self.temporary.path().join(entry.file_name()))?;
        }
        Ok(())
    }

    /// Gives the folder its name, which nothing but an empty folder may have.
    pub fn finish(self) -> io::Result<()> {
        fs::rename(self.temporary.path(), &self.path)?;
        // It has moved: there is nothing to remove.
        let _ = self.temporary.keep();
        Ok(())
    }
}

/// What names begin with until they are final.
pub(crate) const TEMPORARY: &str = ".sounding-";

/// How something is called until it has its name.
pub fn temporary() -> tempfile::Builder<'static, 'static> {
    let mut builder = tempfile::Builder::new();
    // The process's mask takes away what it does not want to give.
    builder.prefix(TEMPORARY).permissions(Permissions::from_mode(0o666));
    builder
}

/// Where a path is.
pub fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}
