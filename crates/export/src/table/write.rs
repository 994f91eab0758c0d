//! Rows into Parquet files.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::sync::{Arc, Mutex, PoisonError};

use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::types::ColumnPath;
use sounding_diag::{LogCode, LogRecord};
use sounding_kpi::Extractor;

use super::about;
use super::plan::{Column, Plan};
use super::rows::{Rows, Scratch, Waiting};
use crate::privacy::{self, Privacy};

/// Rows of a group. Chosen; readers work best with some ten thousands and more.
pub(super) const GROUP_ROWS: usize = 1 << 17;
/// The largest size of all buffered rows in bytes. A larger group is written before it has its full
/// number of rows.
const WAITING_BYTES: usize = 32 << 20;
/// Records after which that size is counted again: the rows of a record are much smaller.
const RECORDS: u32 = 256;
/// The first file by name. It has every column and no row: readers that take the columns of the
/// first file have all of them.
pub(super) const ALL_COLUMNS: &str = "0-columns.parquet";
/// What the columns are. Readers of a whole folder pass over names that begin so.
const SCHEMA: &str = "_schema.json";
/// The names of the files about all tables.
pub const ABOUT_ALL: [&str; 2] = [ALL_COLUMNS, SCHEMA];

/// Columns by which a reader leaves out groups of rows.
const SKIPPED_BY: [&str; 3] = ["offset", "record_time", "time"];

/// Why a table cannot be written.
#[derive(Debug, thiserror::Error)]
pub enum TableError {
    /// Its bytes have nowhere to go.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The library refuses it.
    #[error("parquet: {0}")]
    Parquet(ParquetError),
    /// A field that its layout does not have: a fault of this program.
    #[error("log {code}: no column for the field {field}; please report it")]
    NoColumn {
        /// The log code.
        code: LogCode,
        /// The field or list.
        field: &'static str,
    },
}

impl From<ParquetError> for TableError {
    fn from(error: ParquetError) -> Self {
        match error {
            ParquetError::External(inner) => match inner.downcast::<io::Error>() {
                Ok(error) => Self::Io(*error),
                Err(inner) => Self::Parquet(ParquetError::External(inner)),
            },
            other => Self::Parquet(other),
        }
    }
}

/// Writes the tables of a capture into files, which it opens by their names.
pub struct Tables<W: Write + Send, O: FnMut(&str) -> io::Result<W>> {
    open: O,
    privacy: Privacy,
    codes: BTreeMap<LogCode, Tabled<W>>,
    extractor: Extractor,
    scratch: Scratch,
    /// Records since the size of buffered rows was counted.
    records: u32,
}

/// The tables of a code.
struct Tabled<W: Write + Send> {
    plan: Plan,
    waiting: Vec<Waiting>,
    /// `None` until the first rows are written.
    files: Vec<Option<Table<W>>>,
}

pub(super) struct Table<W: Write + Send> {
    writer: SerializedFileWriter<Lent<W>>,
    out: Arc<Mutex<W>>,
}

impl<W: Write + Send, O: FnMut(&str) -> io::Result<W>> Tables<W, O> {
    /// No table yet; `open` gives the output of each file.
    pub fn new(privacy: Privacy, open: O) -> Self {
        Self {
            open,
            privacy,
            codes: BTreeMap::new(),
            extractor: Extractor::default(),
            scratch: Scratch::default(),
            records: 0,
        }
    }

    /// The codes that have a table.
    pub fn codes(&self) -> impl ExactSizeIterator<Item = LogCode> {
        self.codes.keys().copied()
    }

    /// Adds the rows of a record that was found at `offset`.
    ///
    /// # Errors
    ///
    /// [`TableError::Io`] if an output cannot be written, [`TableError::Parquet`] if the library
    /// refuses a column.
    pub fn handle_record(&mut self, offset: u64, record: &LogRecord<'_>) -> Result<(), TableError> {
        let code = record.code;
        let tabled = self.codes.entry(code).or_insert_with(|| Tabled::new(code));
        let is_hidden = self.privacy == Privacy::Redact && privacy::identifies(record);
        let rows = Rows::new(&tabled.plan, &mut tabled.waiting, &mut self.scratch);
        if let Some(field) = rows.handle(offset, record, is_hidden, &mut self.extractor) {
            return Err(TableError::NoColumn { code, field });
        }
        for number in 0..tabled.waiting.len() {
            if tabled.waiting[number].rows >= GROUP_ROWS {
                tabled.write(number, &mut self.open)?;
            }
        }
        self.records += 1;
        if self.records >= RECORDS {
            self.records = 0;
            self.keep_within(WAITING_BYTES)?;
        }
        Ok(())
    }

    /// Writes the largest tables until all that wait are smaller than this.
    fn keep_within(&mut self, most: usize) -> Result<(), TableError> {
        let sizes = self.codes.iter().flat_map(|(code, tabled)| {
            let sizes = tabled.waiting.iter().map(Waiting::size);
            sizes.enumerate().map(move |(number, size)| (size, *code, number))
        });
        let mut sizes: Vec<_> = sizes.collect();
        sizes.sort_unstable();
        let mut total: usize = sizes.iter().map(|(size, ..)| size).sum();
        while total > most
            && let Some((size, code, number)) = sizes.pop()
        {
            if let Some(tabled) = self.codes.get_mut(&code) {
                tabled.write(number, &mut self.open)?;
            }
            total -= size;
        }
        Ok(())
    }

    /// Writes the buffered rows, the ends of the files, and the files about all tables. Returns the
    /// outputs with their names.
    ///
    /// # Errors
    ///
    /// As [`handle_record`](Self::handle_record).
    pub fn finish(mut self) -> Result<Vec<(String, W)>, TableError> {
        self.keep_within(0)?;
        let columns = (ALL_COLUMNS.to_owned(), self.all_columns()?);
        let mut outputs = vec![columns, (SCHEMA.to_owned(), self.schema()?)];
        for tabled in self.codes.into_values() {
            for (number, table) in tabled.files.into_iter().enumerate() {
                if let Some(table) = table {
                    outputs.push((tabled.plan.file(number), table.finish()?));
                }
            }
        }
        Ok(outputs)
    }

    /// The tables that have rows.
    fn tables(&self) -> impl Iterator<Item = (&Plan, usize)> {
        self.codes.values().flat_map(|tabled| {
            let files = tabled.files.iter().enumerate().filter(|(_, file)| file.is_some());
            files.map(|(number, _)| (&tabled.plan, number))
        })
    }

    fn all_columns(&mut self) -> Result<W, TableError> {
        let out = (self.open)(ALL_COLUMNS)?;
        Table::of_all(self.tables(), out)?.finish()
    }

    fn schema(&mut self) -> Result<W, TableError> {
        let mut out = (self.open)(SCHEMA)?;
        let tables = self.tables().map(|(plan, table)| (plan.file(table), plan, table));
        about::write_schema(tables, &mut out)?;
        Ok(out)
    }
}

impl<W: Write + Send> Tabled<W> {
    fn new(code: LogCode) -> Self {
        let plan = Plan::of(code);
        let waiting: Vec<_> = plan.tables.iter().map(Waiting::new).collect();
        let files = waiting.iter().map(|_| None).collect();
        Self { plan, waiting, files }
    }

    /// Writes the rows of a table that wait as a group.
    fn write(
        &mut self,
        number: usize,
        open: &mut impl FnMut(&str) -> io::Result<W>,
    ) -> Result<(), TableError> {
        let waiting = &mut self.waiting[number];
        if waiting.rows == 0 {
            return Ok(());
        }
        let file = match &mut self.files[number] {
            Some(file) => file,
            none => none.insert(Table::of(&self.plan, number, open(&self.plan.file(number))?)?),
        };
        file.write_group(waiting.rows, |column, writer| {
            Ok(waiting.columns[column].write(waiting.rows, writer)?)
        })?;
        waiting.rows = 0;
        Ok(())
    }
}

impl<W: Write + Send> Table<W> {
    /// A table of a code.
    pub(super) fn of(plan: &Plan, number: usize, out: W) -> Result<Self, TableError> {
        let columns: Vec<_> = plan.tables[number].columns.iter().collect();
        let about = vec![
            KeyValue::new("log_code".into(), plan.code.to_string()),
            KeyValue::new("log_name".into(), plan.code.name().map(str::to_owned)),
        ];
        Self::begin(out, &columns, about)
    }

    /// A table with every column of all tables.
    pub(super) fn of_all<'p>(
        tables: impl Iterator<Item = (&'p Plan, usize)>,
        out: W,
    ) -> Result<Self, TableError> {
        let mut columns: Vec<&Column> = Vec::new();
        let mut known = std::collections::HashSet::new();
        for (plan, number) in tables {
            let new = plan.tables[number].columns.iter();
            columns.extend(new.filter(|column| known.insert(column.name.as_str())));
        }
        // A table may lack what another one has in every row.
        let open: Vec<Column> = columns.into_iter().map(Column::with_gaps).collect();
        Self::begin(out, &open.iter().collect::<Vec<_>>(), Vec::new())
    }

    /// Writes a group of rows, if there are any: `write` gives the cells of a column.
    pub(super) fn write_group(
        &mut self,
        rows: usize,
        mut write: impl FnMut(usize, &mut SerializedColumnWriter<'_>) -> Result<(), TableError>,
    ) -> Result<(), TableError> {
        if rows == 0 {
            return Ok(());
        }
        let mut group = self.writer.next_row_group()?;
        let mut number = 0;
        while let Some(mut column) = group.next_column()? {
            write(number, &mut column)?;
            column.close()?;
            number += 1;
        }
        group.close()?;
        Ok(())
    }

    fn begin(out: W, columns: &[&Column], mut about: Vec<KeyValue>) -> Result<Self, TableError> {
        about.extend(about::metadata(columns));
        let mut properties = WriterProperties::builder()
            .set_compression(Compression::ZSTD(ZstdLevel::try_new(3)?))
            .set_created_by(concat!("sounding ", env!("CARGO_PKG_VERSION")).into())
            .set_statistics_enabled(EnabledStatistics::None)
            .set_key_value_metadata(Some(about));
        for column in columns {
            let path = ColumnPath::from(column.name.as_str());
            if SKIPPED_BY.contains(&column.name.as_str()) {
                properties = properties
                    .set_column_statistics_enabled(path.clone(), EnabledStatistics::Chunk);
            }
            if column.is_count {
                properties = properties
                    .set_column_dictionary_enabled(path.clone(), false)
                    .set_column_encoding(path, Encoding::DELTA_BINARY_PACKED);
            }
        }
        let properties = properties.build();
        let out = Arc::new(Mutex::new(out));
        let (lent, schema) = (Lent(Arc::clone(&out)), about::parquet_schema(columns)?);
        let writer = SerializedFileWriter::new(lent, schema, Arc::new(properties))?;
        Ok(Self { writer, out })
    }

    pub(super) fn finish(mut self) -> Result<W, TableError> {
        self.writer.finish()?;
        drop(self.writer);
        let out = Arc::try_unwrap(self.out).map_err(|_| io::Error::other("lent twice"))?;
        Ok(out.into_inner().unwrap_or_else(PoisonError::into_inner))
    }
}

/// The library's output, which it does not own: if it owned it, it would turn errors into text on
/// return.
struct Lent<W>(Arc<Mutex<W>>);

impl<W: Write> Write for Lent<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).flush()
    }
}
