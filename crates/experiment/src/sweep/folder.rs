//! The folder of a sweep: which process may work in it, and which of its runs are finished.

use std::collections::HashSet;
use std::fs::{self, File, TryLockError};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::Part;
use crate::plan::Run;
use crate::simulate::{About, Keep, Outcome, SimulateError};
use sounding_host::files::{self, Access, Over, TEMPORARY, write, write_unsynced};

/// Why a sweep cannot be made.
#[derive(Debug, Error)]
pub enum SweepError {
    /// Another sweep is running in the folder.
    #[error("{0} is in use by another sweep: wait for it with --wait, or name another folder")]
    Busy(PathBuf),
    /// The folder belongs to another sweep.
    #[error("{folder} has runs of another {what}: name another folder, or remove this one")]
    Other {
        /// Which.
        folder: PathBuf,
        /// The difference.
        what: &'static str,
    },
    /// The folder has results that no sweep made.
    #[error("{0} is there already, and no sweep made it: name another folder, or remove it")]
    Taken(PathBuf),
    /// A run failed; its error names the run.
    #[error("{source}")]
    Run {
        /// Its number.
        run: usize,
        /// Why.
        source: SimulateError,
    },
    /// Something cannot be written or read.
    #[error("{file}: {source}")]
    Write {
        /// The file.
        file: String,
        /// Why.
        source: io::Error,
    },
}

impl SweepError {
    pub(super) fn is_stopped(&self) -> bool {
        matches!(self, Self::Run { source: SimulateError::Stopped, .. })
    }
}

fn at(path: &Path) -> impl Fn(io::Error) -> SweepError + use<'_> {
    |source| SweepError::Write { file: path.display().to_string(), source }
}

/// The origin of a folder's runs: the same for each, or they do not belong together.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
struct Origin {
    sounding: String,
    commit: String,
    plan: String,
    set: Vec<String>,
    /// Number of runs, and a number derived from the swept values of each: a set of files may have
    /// changed.
    runs: usize,
    values: String,
    /// The kept files of each run besides its outcome.
    kept: String,
}

impl Origin {
    fn of(about: &About, runs: &[Run], keep: &Keep) -> Self {
        // Its keys are fixed, so that it gives the same everywhere.
        let mut hasher = DefaultHasher::new();
        for run in runs {
            (run.number, run.seed, &run.values).hash(&mut hasher);
        }
        let About { sounding, commit, plan, set } = about.clone();
        let values = format!("{:016x}", hasher.finish());
        Self { sounding, commit, plan, set, runs: runs.len(), values, kept: format!("{keep:?}") }
    }

    fn differs(&self, other: &Self) -> Option<&'static str> {
        let pairs = [
            (self.plan != other.plan, "plan"),
            (self.set != other.set, "choice of --set"),
            (self.sounding != other.sounding, "version of this program"),
            (self.commit != other.commit, "commit of this program"),
            (self.runs != other.runs || self.values != other.values, "set of files"),
            (self.kept != other.kept, "choice of what is kept"),
        ];
        pairs.into_iter().find_map(|(differs, what)| differs.then_some(what))
    }
}

/// A folder that a process works in. The lock is released when the process ends in any way.
#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
    finished: HashSet<usize>,
    _locks: Vec<File>,
}

const ORIGIN: &str = "sweep.json";

impl Folder {
    /// Opens or makes the folder of a sweep and finds its finished runs. Parts may be made in one
    /// folder at the same time, each by one process; `wait` makes a second process wait.
    ///
    /// # Errors
    ///
    /// [`SweepError::Busy`] if another process makes this part; [`SweepError::Other`] or
    /// [`SweepError::Taken`] if the folder has other results; [`SweepError::Write`] if the kernel
    /// refuses a file.
    pub fn open(
        path: &Path,
        about: &About,
        runs: &[Run],
        keep: &Keep,
        part: Part,
        wait: bool,
    ) -> Result<Self, SweepError> {
        files::make_folder(&path.join("runs")).map_err(at(path))?;
        let locks = locks(path, part, wait)?;
        let origin = Origin::of(about, runs, keep);
        match there(path)? {
            Some(there) => {
                if let Some(what) = origin.differs(&there) {
                    return Err(SweepError::Other { folder: path.into(), what });
                }
            }
            None => {
                let result = path.join("result.json");
                if result.exists() {
                    return Err(SweepError::Taken(result));
                }
                let json = serde_json::to_vec_pretty(&origin).map_err(io::Error::from);
                json.and_then(|json| write(&path.join(ORIGIN), &json)).map_err(at(path))?;
            }
        }
        if part.is_whole() {
            // No other process works here: incomplete files have no owner.
            clean(path).map_err(at(path))?;
        }
        let mut folder = Self { path: path.into(), finished: HashSet::new(), _locks: locks };
        folder.look(runs);
        Ok(folder)
    }

    /// Checks again which runs are finished. An invalid file, for example after a power cut, does
    /// not count.
    pub fn look(&mut self, runs: &[Run]) {
        let is_whole = |run: &&Run| self.load(run).is_ok_and(|outcome| is_of(&outcome, run));
        self.finished = runs.iter().filter(is_whole).map(|run| run.number).collect();
    }

    /// Whether a run was finished when it was last looked.
    pub fn is_finished(&self, run: &Run) -> bool {
        self.finished.contains(&run.number)
    }

    /// The folder of a run's other files.
    pub fn run_folder(&self, run: &Run) -> PathBuf {
        self.path.join(format!("run-{:04}", run.number))
    }

    fn file(&self, run: usize) -> PathBuf {
        self.path.join("runs").join(format!("{run:04}.json"))
    }

    /// Puts an outcome there, whole.
    pub(super) fn store(&self, outcome: &Outcome) -> Result<(), SweepError> {
        let file = self.file(outcome.run);
        let json = serde_json::to_vec(outcome).map_err(io::Error::from);
        json.and_then(|json| write_unsynced(&file, &json)).map_err(at(&file))
    }

    /// The outcome of a run that is finished.
    pub(super) fn load(&self, run: &Run) -> Result<Outcome, SweepError> {
        let file = self.file(run.number);
        let text = fs::read(&file).map_err(at(&file))?;
        serde_json::from_slice(&text).map_err(|error| at(&file)(error.into()))
    }

    /// Takes over the finished runs from another folder of the same sweep. Returns their number.
    ///
    /// # Errors
    ///
    /// [`SweepError::Other`] if the other folder belongs to another sweep; [`SweepError::Write`] if
    /// a file cannot be read or written.
    pub fn take(
        &mut self,
        other: &Path,
        about: &About,
        runs: &[Run],
        keep: &Keep,
    ) -> Result<usize, SweepError> {
        let origin = Origin::of(about, runs, keep);
        let there = there(other)?.ok_or_else(|| {
            at(&other.join(ORIGIN))(io::Error::other("not found: this is no folder of a sweep"))
        })?;
        if let Some(what) = origin.differs(&there) {
            return Err(SweepError::Other { folder: other.into(), what });
        }
        let source = Self { path: other.into(), finished: HashSet::new(), _locks: Vec::new() };
        let mut taken = 0;
        for run in runs.iter().filter(|run| !self.finished.contains(&run.number)) {
            let Ok(outcome) = source.load(run) else { continue };
            if !is_of(&outcome, run) {
                continue;
            }
            let from = source.run_folder(run);
            if from.is_dir() {
                copy(&from, &self.run_folder(run)).map_err(at(&from))?;
            }
            self.store(&outcome)?;
            taken += 1;
        }
        self.look(runs);
        Ok(taken)
    }
}

fn is_of(outcome: &Outcome, run: &Run) -> bool {
    (outcome.run, outcome.seed, &outcome.values) == (run.number, run.seed, &run.values)
}

fn there(path: &Path) -> Result<Option<Origin>, SweepError> {
    let path = path.join(ORIGIN);
    let text = match fs::read(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(at(&path)(error)),
    };
    let origin = serde_json::from_slice(&text).map_err(|error| at(&path)(error.into()))?;
    Ok(Some(origin))
}

/// A whole sweep has the folder for itself; a part has its part for itself, and shares the folder
/// with other parts.
fn locks(path: &Path, part: Part, wait: bool) -> Result<Vec<File>, SweepError> {
    let lock = |name: &str, shared: bool| {
        let path = path.join(name);
        let file = files::grow(&path).map_err(at(&path))?;
        let locked = match (shared, wait) {
            (true, true) => file.lock_shared().map_err(TryLockError::Error),
            (false, true) => file.lock().map_err(TryLockError::Error),
            (true, false) => file.try_lock_shared(),
            (false, false) => file.try_lock(),
        };
        locked.map_err(|error| match error {
            TryLockError::WouldBlock => SweepError::Busy(path.clone()),
            TryLockError::Error(source) => at(&path)(source),
        })?;
        Ok(file)
    };
    if part.is_whole() {
        return Ok(vec![lock("lock", false)?]);
    }
    let own = format!("lock-{}-of-{}", part.number, part.of);
    Ok(vec![lock("lock", true)?, lock(&own, false)?])
}

/// Removes unfinished files of a killed process.
fn clean(path: &Path) -> io::Result<()> {
    for folder in [path.to_path_buf(), path.join("runs")] {
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            if entry.file_name().to_string_lossy().starts_with(TEMPORARY) {
                files::remove(&entry.path())?;
            }
        }
    }
    Ok(())
}

/// Copies the folder of a run so that it appears whole.
fn copy(from: &Path, to: &Path) -> io::Result<()> {
    let whole = files::Folder::begin(to, Access::Usual)?;
    whole.copy(from)?;
    whole.finish(Over::All)
}
