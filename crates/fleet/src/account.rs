//! What all parts have in common: the table of captures, the columns, and the sums.

use std::collections::{BTreeSet, HashMap};
use std::fs;
use std::io;
use std::path::Path;

use serde::Serialize;
use sounding_export::figures::{Cell, Figures, Kind};
use sounding_export::table;
use sounding_host::files::{self, Draft, Over, TEMPORARY};

use crate::choice::{Choice, Paths};
use crate::entry::{Entry, Line, Outcome, ReadLines, State};
use crate::error::{self, FleetError, read, write};

/// What a dataset has.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Summary {
    /// Files that were found.
    pub files: u64,
    /// Captures with rows.
    pub captures: u64,
    /// Files with the bytes of one of them.
    pub again: u64,
    /// Files that are no captures.
    pub foreign: u64,
    /// Files that cannot be read, or have changed while they were read.
    pub unreadable: u64,
    /// Captures with corrupt frames, corrupt records or a cut end.
    pub damaged: u64,
    /// Records with rows.
    pub records: u64,
    /// Of these, records with only their kind, time and length.
    pub hidden_records: u64,
    /// Records without a description of their code or version.
    pub unsupported_records: u64,
    /// Corrupt records.
    pub corrupt_records: u64,
    /// Bytes that are no frame, as stretches.
    pub corrupt_frames: u64,
    /// Files with another size than when their rows were made.
    pub changed: Vec<String>,
    /// The first of the foreign and unreadable files, with their faults.
    pub faults: Vec<String>,
}

/// Rows of a group in the table of captures: a row has some hundred bytes.
const GROUP_ROWS: usize = 4096;
/// How many faults a summary has.
const FAULTS: usize = 5;

/// Columns of counts, in this order behind the others.
const COUNTS: [&str; 11] = [
    "records",
    "hidden_records",
    "unwanted_records",
    "partly_read_records",
    "longer_records",
    "unsupported_records",
    "corrupt_records",
    "other_packets",
    "corrupt_frames",
    "cut_bytes",
    "padding_bytes",
];

impl Outcome {
    fn counts(&self) -> [u64; COUNTS.len()] {
        [
            self.records,
            self.hidden_records,
            self.unwanted_records,
            self.partly_read_records,
            self.longer_records,
            self.unsupported_records,
            self.corrupt_records,
            self.other_packets,
            self.corrupt_frames,
            self.cut_bytes,
            self.padding_bytes,
        ]
    }

    fn is_damaged(&self) -> bool {
        self.corrupt_frames + self.corrupt_records > 0 || self.damage.is_some()
    }
}

impl Summary {
    fn add(&mut self, entry: &Entry, state: &str, fault: Option<&str>, outcome: &Outcome) {
        self.files += 1;
        match state {
            "read" => self.captures += 1,
            "again" => self.again += 1,
            "foreign" => self.foreign += 1,
            _ => self.unreadable += 1,
        }
        if let Some(fault) = fault.filter(|_| self.faults.len() < FAULTS) {
            self.faults.push(format!("{}: {fault}", entry.path));
        }
        self.damaged += u64::from(outcome.is_damaged());
        self.records += outcome.records;
        self.hidden_records += outcome.hidden_records;
        self.unsupported_records += outcome.unsupported_records;
        self.corrupt_records += outcome.corrupt_records;
        self.corrupt_frames += outcome.corrupt_frames;
    }
}

/// Ends a dataset.
pub(crate) fn finish(
    paths: &Paths,
    choice: &Choice,
    entries: &[Entry],
    changed: Vec<String>,
) -> Result<Summary, FleetError> {
    let mut parts = BTreeSet::new();
    let blocks: BTreeSet<u32> = entries.iter().filter_map(Entry::block).collect();
    for block in blocks {
        for line in ReadLines::<Line>::open(&paths.block(block))? {
            if let Line::Part { part } = line? {
                parts.insert(part);
            }
        }
    }
    let names = clean(paths, &parts)?;
    let (path, schema) = (paths.out.join(table::ABOUT_ALL[0]), paths.about.join("schema.json"));
    let begin = |path| Draft::begin(path, choice.access()).map_err(write(path));
    let (mut columns, mut about) = (begin(&path)?, begin(&schema)?);
    table::describe(&names, &mut columns, &mut about).map_err(error::table(&path))?;
    columns.finish(Over::File).map_err(write(&path))?;
    about.finish(Over::File).map_err(write(&schema))?;
    let mut summary = Summary { changed, ..Summary::default() };
    write_captures(paths, choice, entries, &mut summary)?;
    Ok(summary)
}

/// Removes what a killed run has left, and gives the names of the tables.
fn clean(paths: &Paths, parts: &BTreeSet<String>) -> Result<Vec<String>, FleetError> {
    let mut names = Vec::new();
    let is_temporary = |name: &str| name.starts_with(TEMPORARY);
    for top in names_in(&paths.out)?.into_iter().chain(below(&paths.out, "_about")?) {
        let Some(name) = top.strip_prefix("code=") else {
            if is_temporary(top.rsplit('/').next().unwrap_or_default()) {
                remove(&paths.out.join(&top))?;
            }
            continue;
        };
        let mut is_used = false;
        for day in below(&paths.out, &top)? {
            let mut is_day_used = false;
            for part in below(&paths.out, &day)? {
                if parts.contains(&part) {
                    is_day_used = true;
                } else {
                    remove(&paths.out.join(&part))?;
                }
            }
            if !is_day_used {
                remove(&paths.out.join(&day))?;
            }
            is_used |= is_day_used;
        }
        if is_used {
            names.push(name.to_owned());
        } else {
            remove(&paths.out.join(&top))?;
        }
    }
    for left in below(&paths.out, "_about/blocks")?
        .into_iter()
        .filter(|path| is_temporary(path.rsplit('/').next().unwrap_or_default()))
    {
        remove(&paths.out.join(left))?;
    }
    names.sort_unstable();
    Ok(names)
}

fn remove(path: &Path) -> Result<(), FleetError> {
    files::remove(path).map_err(write(path))
}

fn names_in(folder: &Path) -> Result<Vec<String>, FleetError> {
    let names = fs::read_dir(folder).map_err(read(folder))?;
    let names = names.map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned()));
    names.collect::<io::Result<_>>().map_err(read(folder))
}

/// Paths in a folder of the dataset, below the dataset.
fn below(out: &Path, folder: &str) -> Result<Vec<String>, FleetError> {
    let names = names_in(&out.join(folder))?;
    Ok(names.into_iter().map(|name| format!("{folder}/{name}")).collect())
}

/// Writes the table of captures: of each path as it was found last.
fn write_captures(
    paths: &Paths,
    choice: &Choice,
    entries: &[Entry],
    summary: &mut Summary,
) -> Result<(), FleetError> {
    let mut columns = vec![
        ("capture", Kind::Text),
        ("path", Kind::Text),
        ("size_bytes", Kind::Int),
        ("sha256", Kind::Text),
        ("state", Kind::Text),
        ("same_as", Kind::Text),
        ("error", Kind::Text),
        ("first_time", Kind::Time),
        ("last_time", Kind::Time),
    ];
    columns.extend(COUNTS.map(|name| (name, Kind::Int)));
    let path = paths.about.join("captures.parquet");
    let mut out = Draft::begin(&path, choice.access()).map_err(write(&path))?;
    let failed = error::table(&path);
    let table = Figures::new(&mut out, &columns, &[]).map_err(&failed)?;
    let mut table = table.with_group_rows(GROUP_ROWS);
    let last: HashMap<&str, usize> =
        entries.iter().enumerate().map(|(at, entry)| (entry.path.as_str(), at)).collect();
    let mut lines: Option<(u32, ReadLines<Line>)> = None;
    for (at, entry) in entries.iter().enumerate() {
        let outcome = match entry.block() {
            None => Outcome::default(),
            Some(block) => {
                if lines.as_ref().is_none_or(|(open, _)| *open != block) {
                    lines = Some((block, ReadLines::open(&paths.block(block))?));
                }
                let Some((_, lines)) = &mut lines else { continue };
                next(lines)?.unwrap_or_default()
            }
        };
        if last.get(entry.path.as_str()) != Some(&at) {
            continue;
        }
        let (state, same_as, fault) = match &entry.state {
            State::Read { .. } if outcome.error.is_some() => {
                ("unreadable", None, outcome.error.as_deref())
            }
            State::Read { .. } => ("read", None, None),
            State::Again { same_as } => ("again", Some(same_as.as_str()), None),
            State::Foreign { error } => ("foreign", None, Some(error.as_str())),
            State::Unreadable { error } => ("unreadable", None, Some(error.as_str())),
        };
        summary.add(entry, state, fault, &outcome);
        let text = |text: Option<&str>| text.map(Cell::from);
        let mut row = vec![
            entry.sha256.map(|_| Cell::Text(entry.capture())),
            text(Some(&entry.path)),
            Some(entry.size_bytes.into()),
            entry.sha256.map(|sha| Cell::Text(sha.into())),
            text(Some(state)),
            text(same_as),
            text(fault.or(outcome.damage.as_deref())),
            outcome.first_time_us.map(Cell::from),
            outcome.last_time_us.map(Cell::from),
        ];
        row.extend(outcome.counts().map(|count| Some(count.into())));
        table.push(row).map_err(&failed)?;
    }
    table.finish().map_err(&failed)?;
    out.finish(Over::File).map_err(write(&path))
}

/// The next capture of a block.
fn next(lines: &mut ReadLines<Line>) -> Result<Option<Outcome>, FleetError> {
    for line in lines {
        if let Line::Capture(outcome) = line? {
            return Ok(Some(outcome));
        }
    }
    Ok(None)
}
