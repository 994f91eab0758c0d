//! Tables of many captures: a part of each table for each day.

use std::collections::{BTreeMap, btree_map};
use std::io::{self, Read, Seek, SeekFrom, Write};

use sounding_diag::{LogCode, LogRecord};
use sounding_kpi::Extractor;

use super::about;
use super::cells::Cells;
use super::kind::Cell;
use super::plan::Plan;
use super::rows::{Rows, Scratch, Waiting};
use super::write::{GROUP_ROWS, Table, TableError};
use crate::privacy::{self, Privacy};

/// The largest size of rows in memory, before they go to the file.
const WAITING_BYTES: usize = 1 << 20;
/// Records after which that size is counted again.
const RECORDS: u32 = 64;
/// The largest column of a group in memory: a group ends before its full number of rows.
const COLUMN_BYTES: u64 = 1 << 20;
/// The largest size of the file, and the most chunks in it, before parts have to be written.
const FILE_BYTES: u64 = 512 << 20;
const CHUNKS: usize = 1 << 17;

/// A table and a day, which have a part.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Part {
    code: LogCode,
    number: usize,
    /// Days since 1970, UTC; `None` if the modem knew no time.
    day: Option<u64>,
    table: String,
}

/// Rows in the file: as many columns one after the other.
#[derive(Clone, Copy, Debug)]
struct Chunk {
    at: u64,
    rows: usize,
}

/// Makes the tables of captures, one capture after the other.
pub struct Parts<F: Read + Write + Seek> {
    privacy: Privacy,
    codes: BTreeMap<LogCode, Waits>,
    capture: Cell,
    extractor: Extractor,
    scratch: Scratch,
    records: u32,
    file: F,
    /// The length of the file.
    end: u64,
    chunks: BTreeMap<Part, Vec<Chunk>>,
    count: usize,
    packed: Vec<u8>,
}

/// The rows of a code that wait, all of one day.
struct Waits {
    plan: Plan,
    tables: Vec<Waiting>,
    day: Option<u64>,
}

impl Part {
    /// The name of its table: `0xB064-mac`.
    pub fn table(&self) -> &str {
        &self.table
    }

    /// Its day in UTC, by the modem's clock: `2021-12-20`, or `unknown`.
    pub fn day(&self) -> String {
        self.day.map_or_else(|| "unknown".into(), date)
    }
}

impl<F: Read + Write + Seek> Parts<F> {
    /// No row yet. `file` is empty, and holds rows that wait.
    pub fn new(privacy: Privacy, file: F) -> Self {
        Self {
            privacy,
            codes: BTreeMap::new(),
            capture: Cell::text(""),
            extractor: Extractor::default(),
            scratch: Scratch::default(),
            records: 0,
            file,
            end: 0,
            chunks: BTreeMap::new(),
            count: 0,
            packed: Vec::new(),
        }
    }

    /// The records that follow are those of another capture, which this text names.
    pub fn begin_capture(&mut self, name: &str) {
        self.capture = Cell::text(name);
        self.extractor = Extractor::default();
    }

    /// Adds the rows of a record that was found at `offset`.
    ///
    /// # Errors
    ///
    /// [`TableError::Io`] if the file cannot be written.
    pub fn handle_record(&mut self, offset: u64, record: &LogRecord<'_>) -> Result<(), TableError> {
        const DAY: u64 = 86_400 * 1_000_000_000;
        let day = record.at.known_unix_nanos().map(|nanos| nanos / DAY);
        let code = record.code;
        let waits = match self.codes.entry(code) {
            btree_map::Entry::Occupied(known) => known.into_mut(),
            btree_map::Entry::Vacant(new) => new.insert(Waits::new(code, day)),
        };
        if waits.day != day {
            self.store(Some(code))?;
        }
        let Some(waits) = self.codes.get_mut(&code) else { return Ok(()) };
        waits.day = day;
        waits.plan.first.clone_from(&self.capture);
        let is_hidden = self.privacy == Privacy::Redact && privacy::identifies(record);
        let rows = Rows::new(&waits.plan, &mut waits.tables, &mut self.scratch);
        if let Some(field) = rows.handle(offset, record, is_hidden, &mut self.extractor) {
            return Err(TableError::NoColumn { code, field });
        }
        self.records += 1;
        if self.records >= RECORDS {
            self.records = 0;
            let tables = self.codes.values().flat_map(|waits| &waits.tables);
            if tables.map(Waiting::size).sum::<usize>() > WAITING_BYTES {
                self.store(None)?;
            }
        }
        Ok(())
    }

    /// Whether the file is full, so that [`write`](Self::write) is due.
    pub fn is_full(&self) -> bool {
        self.end >= FILE_BYTES || self.count >= CHUNKS
    }

    /// Moves the rows of a code, or all, to the file.
    fn store(&mut self, only: Option<LogCode>) -> Result<(), TableError> {
        self.file.seek(SeekFrom::Start(self.end))?;
        let wanted = |code: &LogCode| only.is_none_or(|only| only == *code);
        for (code, waits) in self.codes.iter_mut().filter(|(code, _)| wanted(code)) {
            for (number, table) in waits.tables.iter_mut().enumerate().filter(|(_, t)| t.rows > 0) {
                self.packed.clear();
                let mut lens = Vec::new();
                for cells in &mut table.columns {
                    let before = self.packed.len();
                    cells.pack(table.rows, &mut self.packed);
                    let len = u32::try_from(self.packed.len() - before);
                    let len = len.map_err(|_| io::Error::other("a column is too long"))?;
                    lens.extend_from_slice(&len.to_le_bytes());
                }
                let table_name = waits.plan.name(number);
                let part = Part { code: *code, number, day: waits.day, table: table_name };
                let chunk = Chunk { at: self.end, rows: table.rows };
                self.chunks.entry(part).or_default().push(chunk);
                self.count += 1;
                self.file.write_all(&lens)?;
                self.file.write_all(&self.packed)?;
                self.end += (lens.len() + self.packed.len()) as u64;
                table.rows = 0;
            }
        }
        Ok(())
    }

    /// Writes a part of each table and day that have rows, one after the other. `open` gives its
    /// output, `close` receives it.
    ///
    /// # Errors
    ///
    /// [`TableError::Io`] if an output or the file cannot be written or read.
    pub fn write<W: Write + Send>(
        &mut self,
        mut open: impl FnMut(&Part) -> io::Result<W>,
        mut close: impl FnMut(W) -> io::Result<()>,
    ) -> Result<(), TableError> {
        self.store(None)?;
        // The memory of their plans is free for the parts.
        self.codes.clear();
        self.packed = Vec::new();
        let mut plan: Option<Plan> = None;
        for (part, chunks) in core::mem::take(&mut self.chunks) {
            let plan = match plan.take_if(|plan| plan.code == part.code) {
                Some(same) => plan.insert(same),
                None => plan.insert(Plan::of_many(part.code)),
            };
            let mut table = Table::of(plan, part.number, open(&part)?)?;
            write_part(&mut self.file, plan, part.number, &chunks, &mut table)?;
            close(table.finish()?)?;
        }
        (self.end, self.count) = (0, 0);
        Ok(())
    }
}

/// Writes the rows of a part, column by column: only the cells of one are in memory.
fn write_part<W: Write + Send>(
    file: &mut (impl Read + Seek),
    plan: &Plan,
    number: usize,
    chunks: &[Chunk],
    table: &mut Table<W>,
) -> Result<(), TableError> {
    let columns = &plan.tables[number].columns;
    let head = columns.len() * 4;
    let mut chunks = chunks.iter();
    let mut next = chunks.next();
    let mut bytes = Vec::new();
    while next.is_some() {
        let (mut rows, mut largest) = (0, vec![0; columns.len()]);
        // The chunks of a group: how many rows, and where each column is.
        let mut group: Vec<(usize, Vec<(u64, usize)>)> = Vec::new();
        while let Some(chunk) = next {
            bytes.resize(head, 0);
            file.seek(SeekFrom::Start(chunk.at))?;
            file.read_exact(&mut bytes)?;
            let mut at = chunk.at + head as u64;
            let mut places = Vec::with_capacity(columns.len());
            for (len, largest) in bytes.chunks_exact(4).zip(&mut largest) {
                let len = u32::from_le_bytes([len[0], len[1], len[2], len[3]]);
                places.push((at, len as usize));
                at += u64::from(len);
                *largest += u64::from(len);
            }
            let is_large = largest.iter().any(|bytes| *bytes > COLUMN_BYTES);
            if !group.is_empty() && (is_large || rows + chunk.rows > GROUP_ROWS) {
                break;
            }
            rows += chunk.rows;
            group.push((chunk.rows, places));
            next = chunks.next();
        }
        table.write_group(rows, |column, writer| {
            let mut cells = Cells::new(columns[column].kind, columns[column].is_full);
            for (rows, places) in &group {
                let (at, len) = places[column];
                bytes.resize(len, 0);
                file.seek(SeekFrom::Start(at))?;
                file.read_exact(&mut bytes)?;
                let wrong = || io::Error::other("the rows that waited have changed");
                cells.unpack(*rows, &bytes).ok_or_else(wrong)?;
            }
            Ok(cells.write(rows, writer)?)
        })?;
    }
    Ok(())
}

impl Waits {
    fn new(code: LogCode, day: Option<u64>) -> Self {
        let plan = Plan::of_many(code);
        let tables = plan.tables.iter().map(Waiting::new).collect();
        Self { plan, tables, day }
    }
}

/// Writes a table with every column of these tables and no row, and as JSON type, unit and meaning
/// of their columns. A name that [`Part::table`] does not give is passed over.
///
/// # Errors
///
/// [`TableError::Io`] if an output cannot be written.
pub fn describe(
    names: &[String],
    columns: impl Write + Send,
    schema: &mut impl Write,
) -> Result<(), TableError> {
    let mut plans: BTreeMap<LogCode, Plan> = BTreeMap::new();
    let mut tables = Vec::new();
    for name in names {
        let digits = name.strip_prefix("0x").and_then(|name| name.get(..4));
        let Some(code) = digits.and_then(|digits| u16::from_str_radix(digits, 16).ok()) else {
            continue;
        };
        let code = LogCode::new(code);
        let plan = plans.entry(code).or_insert_with(|| Plan::of_many(code));
        let number = (0..plan.tables.len()).find(|number| plan.name(*number) == *name);
        tables.extend(number.map(|number| (name, code, number)));
    }
    let tables = || tables.iter().map(|(name, code, number)| (*name, &plans[code], *number));
    Table::of_all(tables().map(|(_, plan, number)| (plan, number)), columns)?.finish()?;
    let tables = tables().map(|(name, plan, number)| (name.clone(), plan, number));
    Ok(about::write_schema(tables, schema)?)
}

/// A day of the Gregorian calendar.
fn date(days: u64) -> String {
    // Years begin in March, so that a leap day is the last day of one; 1970-01-01 is the 306th day
    // of the year 1969. 400 years have 146097 days.
    let days = days + 719_468;
    let (era, day) = (days / 146_097, days % 146_097);
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let of_month = day - (153 * month + 2) / 5 + 1;
    let (month, later) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    format!("{:04}-{month:02}-{of_month:02}", era * 400 + year + later)
}

#[cfg(test)]
mod tests {
    use super::date;

    #[test]
    fn a_day_has_the_date_of_the_calendar() {
        for (days, expected) in [
            (0, "1970-01-01"),
            (3_657, "1980-01-06"),
            (11_016, "2000-02-29"),
            (11_017, "2000-03-01"),
            (18_981, "2021-12-20"),
            (47_540, "2100-02-28"),
            (47_541, "2100-03-01"),
        ] {
            assert_eq!(date(days), expected);
        }
    }
}
