//! A folder of results: result.json, flows.parquet, and a folder for each run with further files.
//!
//! Every file and every folder of a run is either complete or absent. It is written under a
//! temporary name and renamed when it is complete.

use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};

use sounding_export::table::TableError;
use sounding_host::files::{Access, Draft, Folder, Over, make_folder, write};
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
        /// The path.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// There are results already, and they could not be assigned to their plans.
    #[error("{path} is there already: name another folder, or remove this one", path = path.display())]
    Taken {
        /// The existing file.
        path: PathBuf,
    },
    /// A file cannot be written.
    #[error("cannot write {path}: {source}", path = path.display())]
    Write {
        /// The path.
        path: PathBuf,
        /// Why.
        source: TableError,
    },
}

impl Results {
    /// Makes the folder, and refuses one that has results of any of these runs.
    ///
    /// # Errors
    ///
    /// [`ResultsError::Create`] if the folder cannot be made; [`ResultsError::Taken`] if it has
    /// results of these runs.
    pub fn create(
        path: &Path,
        runs: impl IntoIterator<Item = usize>,
    ) -> Result<Self, ResultsError> {
        make_folder(path).map_err(|source| ResultsError::Create { path: path.into(), source })?;
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

    /// The place for a run's files.
    ///
    /// # Errors
    ///
    /// The kernel's error, if the folder cannot be made.
    pub fn place(&self, run: usize) -> io::Result<Box<dyn Place>> {
        run_folder(&self.folder_of(run))
    }

    fn folder_of(&self, run: usize) -> PathBuf {
        self.path.join(format!("run-{run:04}"))
    }

    /// Writes what became of all runs.
    ///
    /// # Errors
    ///
    /// [`ResultsError::Write`] if a file cannot be written.
    pub fn store(&self, about: &About, finished: &Finished) -> Result<(), ResultsError> {
        let path = self.path.join("flows.parquet");
        parquet(&path, about, finished).map_err(|source| ResultsError::Write { path, source })?;
        let path = self.path.join("result.json");
        let written =
            simulate::json(about, finished).and_then(|text| write(&path, text.as_bytes()));
        written.map_err(|source| ResultsError::Write { path, source: source.into() })
    }
}

fn parquet(path: &Path, about: &About, finished: &Finished) -> Result<(), TableError> {
    let mut draft = Draft::begin(path, Access::Usual)?;
    simulate::parquet(about, finished, &mut draft)?;
    Ok(draft.finish(Over::File)?)
}

/// Begins the folder of a run.
///
/// # Errors
///
/// The kernel's error, if the folder cannot be made.
pub fn run_folder(path: &Path) -> io::Result<Box<dyn Place>> {
    Ok(Box::new(RunFolder(Folder::begin(path, Access::Usual)?)))
}

/// The folder of a run.
struct RunFolder(Folder);

impl Files for RunFolder {
    fn create(&mut self, name: &str) -> io::Result<Output> {
        Ok(Box::new(BufWriter::new(self.0.file(name)?)))
    }
}

impl Place for RunFolder {
    fn finish(self: Box<Self>) -> io::Result<()> {
        self.0.finish(Over::Nothing)
    }
}
