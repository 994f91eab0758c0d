//! A dataset: what was asked for, the files that were found, and the blocks that are to be made.

use std::collections::{BTreeMap, HashMap};
use std::fs::{self, File, TryLockError};
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use sounding_export::table::ABOUT_ALL;
use sounding_host::files::{self, Folder, Over};
use sounding_host::jobs::{self, Job, Told};

use crate::account::{self, Summary};
use crate::block::Work;
use crate::choice::{Choice, Paths};
use crate::entry::{Entry, Line, ReadLines, Sha, State, write_lines};
use crate::error::{FleetError, read, write};
use crate::look::{Looked, look};
use crate::walk::{Captures, Found};

/// A block ends with the capture that makes it this large. Chosen: parts of a table have some
/// hundred kilobytes, and a block is made in seconds.
const BLOCK_BYTES: u64 = 64 << 20;

/// How far the work is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// So many of the files were looked at.
    Looked(u64, u64),
    /// So many bytes of the captures were read.
    Read(u64, u64),
}

/// A dataset at work. No other process can open it.
#[derive(Debug)]
pub struct Fleet {
    captures: Captures,
    paths: Paths,
    choice: Choice,
    entries: Vec<Entry>,
    /// Captures that have grown or shrunk since their rows were made.
    changed: Vec<String>,
    _lock: File,
}

impl Fleet {
    /// Finds the captures and plans their blocks in `out`: a new folder, or one with a dataset of
    /// the same choice. There only new files count, and blocks that are not made yet.
    ///
    /// # Errors
    ///
    /// [`FleetError`] if no file is a capture, the dataset is another one, or something cannot be
    /// read or written. Single files that cannot be read are no error.
    pub fn open(
        captures: Captures,
        out: &Path,
        mut choice: Choice,
        jobs: usize,
        stop: &AtomicBool,
        told: &mut dyn FnMut(Progress),
    ) -> Result<Self, FleetError> {
        let paths = Paths::of(out);
        let root = captures.root().canonicalize().map_err(read(captures.root()))?;
        choice.captures = root.to_string_lossy().into_owned();
        let lock = paths.existing(&choice)?;
        let mut entries = Vec::new();
        for batch in paths.batches()? {
            for entry in ReadLines::<Entry>::open(&batch)? {
                entries.push(entry?);
            }
        }
        let known = Known::of(&paths, &entries)?;
        let mut changed = Vec::new();
        let found = captures.find()?;
        let files = found.len();
        let mut new = Vec::new();
        for found in found {
            match known.judge(&found) {
                Judged::New => new.push(found),
                Judged::Known => {}
                Judged::Changed => changed.push(found.path),
            }
        }
        let looked = look_at(captures.root(), &new, jobs, stop, told)?;
        let new = known.entries(new, looked);
        drop(known);
        if entries.is_empty() && !new.iter().any(|entry| entry.block().is_some()) {
            let first = new.first().map(|entry| match &entry.state {
                State::Foreign { error } | State::Unreadable { error } => {
                    format!("; the first, {}: {error}", entry.path)
                }
                _ => String::new(),
            });
            let path = captures.root().into();
            return Err(FleetError::NoCapture { path, files, first: first.unwrap_or_default() });
        }
        let lock = match lock {
            Some(lock) => lock,
            None => paths.begin(&choice)?,
        };
        if !new.is_empty() {
            let batch = paths.batch(paths.batches()?.len());
            write_lines(&batch, choice.access(), &new)?;
            match entries.is_empty() {
                true => entries = new,
                false => entries.extend(new),
            }
        }
        Ok(Self { captures, paths, choice, entries, changed, _lock: lock })
    }

    /// Removes the dataset that is there, if there is one.
    ///
    /// # Errors
    ///
    /// [`FleetError::Busy`] if another process works on it; [`FleetError::Taken`] if something else
    /// is in its folder; [`FleetError::Write`] if it cannot be removed.
    pub fn remove(out: &Path) -> Result<(), FleetError> {
        let paths = Paths::of(out);
        if !paths.dataset().exists() {
            return Ok(());
        }
        let _lock = paths.lock()?;
        for entry in fs::read_dir(out).map_err(read(out))? {
            let name = entry.map_err(read(out))?.file_name().to_string_lossy().into_owned();
            if !is_part(&name) {
                return Err(FleetError::Taken { path: out.into(), name });
            }
        }
        files::remove(out).map_err(write(out))
    }

    /// The blocks that are not made yet.
    pub fn missing(&self) -> Vec<u32> {
        let blocks: Vec<u32> = self.blocks().into_keys().collect();
        blocks.into_iter().filter(|block| !self.paths.block(*block).exists()).collect()
    }

    fn blocks(&self) -> BTreeMap<u32, Vec<&Entry>> {
        let mut blocks: BTreeMap<u32, Vec<&Entry>> = BTreeMap::new();
        for entry in &self.entries {
            if let Some(block) = entry.block() {
                blocks.entry(block).or_default().push(entry);
            }
        }
        blocks
    }

    /// The folder of all captures, for [`make_block`](crate::make_block).
    pub fn root(&self) -> &Path {
        self.captures.root()
    }

    /// Makes the blocks that are not made yet on `jobs` threads.
    ///
    /// # Errors
    ///
    /// [`FleetError`] if a part cannot be written, or `stop` rises. Finished blocks stay.
    pub fn make(
        &self,
        jobs: usize,
        stop: &AtomicBool,
        told: &mut dyn FnMut(Progress),
    ) -> Result<(), FleetError> {
        let mut blocks = self.blocks();
        blocks.retain(|block, _| !self.paths.block(*block).exists());
        let bytes =
            |entries: &Vec<&Entry>| entries.iter().map(|entry| entry.size_bytes).sum::<u64>();
        let all = blocks.values().map(bytes).sum();
        let blocks: Vec<(u32, Vec<&Entry>)> = blocks.into_iter().collect();
        let (root, paths, choice) = (self.captures.root(), &self.paths, &self.choice);
        let work = |(block, entries): &(u32, Vec<&Entry>), job: &Job<'_, u64, (), FleetError>| {
            let work = Work { root, paths, choice, stop: &|| job.is_over() };
            match work.make(*block, entries, &mut |bytes| job.say(bytes)) {
                // Another job has failed, and its error counts.
                Err(FleetError::Stopped) => Ok(None),
                result => result.map(Some),
            }
        };
        let mut read = 0;
        let done = jobs::until(&blocks, jobs, stop, work, |message| {
            if let Told::Said(bytes) = message {
                read += bytes;
                told(Progress::Read(read.min(all), all));
            }
        });
        done.map_err(|(_, error)| error)?;
        if stop.load(Ordering::Relaxed) { Err(FleetError::Stopped) } else { Ok(()) }
    }

    /// Writes what all parts have in common, once no block is missing.
    ///
    /// # Errors
    ///
    /// [`FleetError`] if something cannot be written, or a block is missing.
    pub fn finish(self) -> Result<Summary, FleetError> {
        // Another thread gets the memory that those of the blocks had.
        let end = |(): &()| {
            account::finish(&self.paths, &self.choice, &self.entries, self.changed.clone())
        };
        let summary = jobs::each(&[()], 1, end, |_, _| ())?.pop();
        summary.ok_or(FleetError::Stopped)
    }
}

impl Paths {
    /// The lock of the dataset that is there; `None` where nothing is.
    fn existing(&self, choice: &Choice) -> Result<Option<File>, FleetError> {
        let mut within = match fs::read_dir(&self.out) {
            Ok(within) => within,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(write(&self.out)(error)),
        };
        let path = self.dataset();
        if !path.exists() {
            let is_ours = |name: &str| name == "_about" || name.starts_with(files::TEMPORARY);
            let other = within.find_map(|entry| {
                let name = entry.ok()?.file_name().to_string_lossy().into_owned();
                (!is_ours(&name)).then_some(name)
            });
            return match other {
                Some(name) => Err(FleetError::Taken { path: self.out.clone(), name }),
                None => Ok(None),
            };
        }
        let lock = self.lock()?;
        let there = self.choice()?;
        match choice.differs(&there) {
            None => Ok(Some(lock)),
            Some((what, there, asked)) => {
                Err(FleetError::Other { path: self.out.clone(), what, there, asked })
            }
        }
    }

    fn lock(&self) -> Result<File, FleetError> {
        let path = self.dataset();
        let file = File::open(&path).map_err(read(&path))?;
        match file.try_lock() {
            Ok(()) => Ok(file),
            Err(TryLockError::WouldBlock) => Err(FleetError::Busy(self.out.clone())),
            Err(TryLockError::Error(error)) => Err(write(&path)(error)),
        }
    }

    /// Makes the folder of a dataset.
    fn begin(&self, choice: &Choice) -> Result<File, FleetError> {
        let made = || -> io::Result<()> {
            if !self.about.exists() {
                Folder::begin(&self.out, choice.access())?.finish(Over::Nothing)?;
            }
            files::make_folder(&self.about.join("blocks"))
        };
        made().map_err(write(&self.out))?;
        write_lines(&self.dataset(), choice.access(), [choice])?;
        self.lock()
    }
}

/// Whether a name in the folder of a dataset is the dataset's.
fn is_part(name: &str) -> bool {
    name == "_about"
        || ABOUT_ALL.contains(&name)
        || name.starts_with("code=")
        || name.starts_with(files::TEMPORARY)
}

/// Looks at files, in their order.
fn look_at(
    root: &Path,
    found: &[Found],
    jobs: usize,
    stop: &AtomicBool,
    told: &mut dyn FnMut(Progress),
) -> Result<Vec<Looked>, FleetError> {
    let of = found.len() as u64;
    let mut done = 0;
    let work = |found: &Found, job: &Job<'_, (), Looked, FleetError>| {
        if job.is_over() {
            return Ok(None);
        }
        Ok(Some(match &found.size {
            Ok(_) => look(&root.join(&found.path)),
            Err(fault) => Looked::Unreadable(fault.clone()),
        }))
    };
    let looked = jobs::until(found, jobs, stop, work, |message| {
        if let Told::Done(..) = message {
            done += 1;
            told(Progress::Looked(done, of));
        }
    });
    let looked: Vec<Looked> = looked.map_err(|(_, error)| error)?.into_iter().flatten().collect();
    if looked.len() < found.len() { Err(FleetError::Stopped) } else { Ok(looked) }
}

/// The files that a dataset has already.
struct Known<'e> {
    /// The last entry of each path, and whether it stays.
    by_path: HashMap<&'e str, (&'e Entry, bool)>,
    /// The captures with rows, made or planned, by their SHA-256: path.
    with_rows: HashMap<Sha, &'e str>,
    /// The first block that is not planned.
    next: u32,
}

enum Judged {
    New,
    Known,
    Changed,
}

impl<'e> Known<'e> {
    fn of(paths: &Paths, entries: &'e [Entry]) -> Result<Self, FleetError> {
        let mut failed = HashMap::new();
        let blocks: std::collections::BTreeSet<u32> =
            entries.iter().filter_map(Entry::block).collect();
        for block in blocks.iter().filter(|block| paths.block(**block).exists()) {
            for line in ReadLines::<Line>::open(&paths.block(*block))? {
                if let Line::Capture(outcome) = line?
                    && outcome.error.is_some()
                {
                    failed.insert((*block, outcome.path), ());
                }
            }
        }
        let has_rows = |entry: &Entry| {
            entry.block().is_some_and(|block| !failed.contains_key(&(block, entry.path.clone())))
        };
        let with_rows: HashMap<Sha, &str> = entries
            .iter()
            .filter(|entry| has_rows(entry))
            .filter_map(|entry| Some((entry.sha256?, entry.path.as_str())))
            .collect();
        let mut by_path = HashMap::new();
        for entry in entries {
            let stays = match &entry.state {
                State::Read { .. } => has_rows(entry),
                State::Again { .. } => entry.sha256.is_some_and(|own| with_rows.contains_key(&own)),
                State::Foreign { .. } => true,
                State::Unreadable { .. } => false,
            };
            by_path.insert(entry.path.as_str(), (entry, stays));
        }
        let next = blocks.last().map_or(0, |last| last + 1);
        Ok(Self { by_path, with_rows, next })
    }

    fn judge(&self, found: &Found) -> Judged {
        let Some((entry, stays)) = self.by_path.get(found.path.as_str()) else {
            return Judged::New;
        };
        let is_same = found.size.as_ref().ok() == Some(&entry.size_bytes);
        match (stays, is_same, entry.block()) {
            (true, true, _) => Judged::Known,
            (true, false, Some(_)) => Judged::Changed,
            _ => Judged::New,
        }
    }

    /// The entries of new files. One that is as it was before has none.
    fn entries(&self, found: Vec<Found>, looked: Vec<Looked>) -> Vec<Entry> {
        // The place of the first entry with these bytes.
        let mut new: HashMap<Sha, usize> = HashMap::new();
        let mut entries: Vec<Entry> = Vec::with_capacity(found.len());
        let (mut block, mut bytes) = (self.next, 0);
        for (found, looked) in found.into_iter().zip(looked) {
            let path = found.path;
            let listed = found.size.unwrap_or_default();
            let (size_bytes, sha256, state) = match looked {
                Looked::Foreign(error) => (listed, None, State::Foreign { error }),
                Looked::Unreadable(error) => (listed, None, State::Unreadable { error }),
                Looked::Capture { sha256, size } => {
                    let there = self.with_rows.get(&sha256).map(|path| (*path).to_owned());
                    let there = there.or_else(|| Some(entries[*new.get(&sha256)?].path.clone()));
                    let state = match there {
                        Some(same_as) => State::Again { same_as },
                        None => {
                            if bytes >= BLOCK_BYTES {
                                (block, bytes) = (block + 1, 0);
                            }
                            bytes += size;
                            new.insert(sha256, entries.len());
                            State::Read { block }
                        }
                    };
                    (size, Some(sha256), state)
                }
            };
            let entry = Entry { path, size_bytes, sha256, state };
            let before = self.by_path.get(entry.path.as_str());
            if before.is_none_or(|(before, _)| **before != entry) {
                entries.push(entry);
            }
        }
        entries
    }
}
