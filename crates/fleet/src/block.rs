//! A block: some captures, and their part of each table.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use sounding_diag::capture::{Located, PROBE, Reader};
use sounding_diag::packet::Packet;
use sounding_diag::record::{self, RecordCounts};
use sounding_export::privacy::{self, Privacy};
use sounding_export::table::Parts;
use sounding_host::files::{self, Draft, Over};

use crate::choice::{Choice, Paths};
use crate::entry::{Entry, Line, Outcome, ReadLines, write_line};
use crate::error::{FleetError, table, write};
use crate::look::Opened;

/// Makes a block of a dataset that [`Fleet::open`](crate::Fleet::open) has planned, in this or
/// another process. Two processes may not make the same block at once. `told` is called with the
/// number of bytes that were read since.
///
/// # Errors
///
/// [`FleetError`] if the block cannot be written or read, or `stop` rises. A capture that cannot be
/// read is none: it is listed.
pub fn make_block(
    root: &Path,
    out: &Path,
    block: u32,
    stop: &AtomicBool,
    told: &mut dyn FnMut(u64),
) -> Result<(), FleetError> {
    let paths = Paths::of(out);
    let choice = paths.choice()?;
    let mut entries = Vec::new();
    for batch in paths.batches()? {
        for entry in ReadLines::<Entry>::open(&batch)? {
            let entry = entry?;
            if entry.block() == Some(block) {
                entries.push(entry);
            }
        }
    }
    let stop = &|| stop.load(Ordering::Relaxed);
    let entries: Vec<&Entry> = entries.iter().collect();
    Work { root, paths: &paths, choice: &choice, stop }.make(block, &entries, told)
}

/// What blocks are made from.
pub(crate) struct Work<'w> {
    pub(crate) root: &'w Path,
    pub(crate) paths: &'w Paths,
    pub(crate) choice: &'w Choice,
    /// Whether it is to be left.
    pub(crate) stop: &'w dyn Fn() -> bool,
}

/// Why a capture gives no rows.
enum Broken {
    /// Rows of it wait already: the block is made again without it.
    Midway(String),
    /// The block cannot be made.
    Fatal(FleetError),
}

impl From<FleetError> for Broken {
    fn from(error: FleetError) -> Self {
        Self::Fatal(error)
    }
}

impl Work<'_> {
    /// Makes a block.
    pub(crate) fn make(
        &self,
        block: u32,
        entries: &[&Entry],
        told: &mut dyn FnMut(u64),
    ) -> Result<(), FleetError> {
        let mut faults = BTreeMap::new();
        let about = self.paths.block(block);
        loop {
            let mut parts = Vec::new();
            let mut lines = Draft::begin(&about, self.choice.access()).map_err(write(&about))?;
            match self.attempt(block, entries, &faults, &mut parts, &mut lines, told) {
                Ok(()) => {
                    let parts = parts.into_iter().map(|part| Line::Part { part });
                    let written =
                        parts.into_iter().try_for_each(|part| write_line(&mut lines, &part));
                    return written.and_then(|()| lines.finish(Over::File)).map_err(write(&about));
                }
                Err((_, Broken::Fatal(error))) => return Err(error),
                Err((at, Broken::Midway(fault))) => {
                    faults.insert(entries[at].path.as_str(), fault);
                }
            }
            // Their captures were others.
            for part in &parts {
                let path = self.paths.out.join(part);
                files::remove(&path).map_err(write(&path))?;
            }
        }
    }

    /// Makes the parts, without the captures that have a fault. An error has the capture's place.
    fn attempt(
        &self,
        block: u32,
        entries: &[&Entry],
        faults: &BTreeMap<&str, String>,
        parts: &mut Vec<String>,
        lines: &mut Draft,
        told: &mut dyn FnMut(u64),
    ) -> Result<(), (usize, Broken)> {
        let waiting = files::nameless(&self.paths.out).map_err(write(&self.paths.out));
        let waiting = waiting.map_err(|error| (0, error.into()))?;
        let mut tables = Parts::new(self.choice.privacy(), waiting);
        let mut buffer = vec![0; PROBE];
        let mut cut = 0;
        for (at, entry) in entries.iter().enumerate() {
            let error = faults.get(entry.path.as_str()).cloned();
            let mut outcome = Outcome { path: entry.path.clone(), error, ..Outcome::default() };
            if outcome.error.is_none() {
                match Opened::new(&self.root.join(&entry.path), &mut buffer) {
                    Err(error) => outcome.error = Some(error.to_string()),
                    Ok(opened) => {
                        tables.begin_capture(&entry.capture());
                        let mut one = One { work: self, block, parts, cut: &mut cut, told };
                        one.read(opened, entry, &mut buffer, &mut tables, &mut outcome)
                            .map_err(|broken| (at, broken))?;
                    }
                }
            }
            let written = write_line(&mut *lines, &Line::Capture(outcome));
            written.map_err(|error| (at, write(&self.paths.about)(error).into()))?;
        }
        self.write(block, cut, &mut tables, parts).map_err(|error| (0, error.into()))
    }

    fn write(
        &self,
        block: u32,
        cut: u32,
        tables: &mut Parts<std::fs::File>,
        parts: &mut Vec<String>,
    ) -> Result<(), FleetError> {
        let access = self.choice.access();
        let open = |part: &sounding_export::table::Part| -> io::Result<Draft> {
            let folder = format!("code={}/day={}", part.table(), part.day());
            files::make_folder(&self.paths.out.join(&folder))?;
            let name = format!("{folder}/part-{block:05}-{cut}.parquet");
            let draft = Draft::begin(&self.paths.out.join(&name), access)?;
            parts.push(name);
            Ok(draft)
        };
        let written = tables.write(open, |draft| draft.finish(Over::File));
        written.map_err(table(&self.paths.out))
    }
}

/// A capture that is read.
struct One<'o, 'w> {
    work: &'o Work<'w>,
    block: u32,
    parts: &'o mut Vec<String>,
    cut: &'o mut u32,
    told: &'o mut dyn FnMut(u64),
}

impl One<'_, '_> {
    fn read(
        &mut self,
        mut opened: Opened,
        entry: &Entry,
        buffer: &mut [u8],
        tables: &mut Parts<std::fs::File>,
        outcome: &mut Outcome,
    ) -> Result<(), Broken> {
        let midway = |error: io::Error| Broken::Midway(error.to_string());
        let mut reader = Reader::of(opened.kind);
        let mut counts = RecordCounts::default();
        let mut before = 0;
        loop {
            if (self.work.stop)() {
                return Err(FleetError::Stopped.into());
            }
            let count = opened.read(buffer).map_err(midway)?;
            let mut rest = &buffer[..count];
            let is_end = count == 0;
            while let Some(found) =
                if is_end { reader.poll_end() } else { reader.poll_packet(&mut rest) }
            {
                if let Ok(located) = found {
                    self.handle(&located, tables, outcome, &mut counts)?;
                }
            }
            if tables.is_full() {
                self.work.write(self.block, *self.cut, tables, self.parts)?;
                *self.cut += 1;
            }
            let taken = opened.taken();
            (self.told)(taken - before);
            before = taken;
            if is_end {
                break;
            }
        }
        outcome.damage = opened.damage.take();
        let (size, sha256) = opened.finish(buffer).map_err(midway)?;
        if size != entry.size_bytes || Some(sha256) != entry.sha256 {
            return Err(Broken::Midway("changed while it was read".into()));
        }
        let stream = reader.counts();
        outcome.partly_read_records = counts.partly;
        outcome.longer_records = counts.longer;
        outcome.unsupported_records = counts.unknown();
        outcome.corrupt_records = counts.corrupt;
        outcome.other_packets = stream.others;
        outcome.corrupt_frames = stream.damaged();
        outcome.cut_bytes = stream.cut_bytes;
        outcome.padding_bytes = stream.frames.padding;
        Ok(())
    }

    fn handle(
        &self,
        located: &Located<'_>,
        tables: &mut Parts<std::fs::File>,
        outcome: &mut Outcome,
        counts: &mut RecordCounts,
    ) -> Result<(), FleetError> {
        let Packet::Log(record) = &located.packet else { return Ok(()) };
        let choice = self.work.choice;
        if !choice.wants(record.code) {
            outcome.unwanted_records += 1;
            return Ok(());
        }
        outcome.records += 1;
        let is_hidden = choice.privacy() == Privacy::Redact && privacy::identifies(record);
        outcome.hidden_records += u64::from(is_hidden);
        counts.handle(record::check(record).as_ref().copied());
        if let Some(time) = record.at.known_unix_nanos().map(|nanos| nanos / 1000) {
            let first = outcome.first_time_us.map_or(time, |first| first.min(time));
            let last = outcome.last_time_us.map_or(time, |last| last.max(time));
            (outcome.first_time_us, outcome.last_time_us) = (Some(first), Some(last));
        }
        tables.handle_record(located.offset, record).map_err(table(&self.work.paths.out))
    }
}
