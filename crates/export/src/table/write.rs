//! Rows into Parquet files.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::sync::{Arc, Mutex, PoisonError};

use parquet::basic::{Compression, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use sounding_diag::{LogCode, LogRecord};

use super::column::Cells;
use super::rows::{Names, Row, rows};
use super::schema::{Schema, Schemas};
use crate::privacy::Privacy;

/// Rows of a group. Chosen; readers work best with some ten thousands and more.
const GROUP_ROWS: usize = 1 << 17;
/// The largest size of all buffered rows in bytes. A larger group is written before it has its full
/// number of rows.
const WAITING_BYTES: usize = 256 << 20;

/// Why a table cannot be written.
#[derive(Debug, thiserror::Error)]
pub enum TableError {
    /// Its bytes have nowhere to go.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The library refuses it.
    #[error("parquet: {0}")]
    Parquet(ParquetError),
    /// The capture has become another one since its columns were counted.
    #[error("log {0}: a field that was not there when the capture was read first")]
    Changed(LogCode),
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

/// Writes a table for each code.
pub struct Tables<W: Write + Send> {
    names: Names,
    tables: BTreeMap<LogCode, Table<W>>,
    privacy: Privacy,
    waiting: usize,
}

struct Table<W: Write + Send> {
    schema: Schema,
    writer: SerializedFileWriter<Lent<W>>,
    out: Arc<Mutex<W>>,
    columns: Vec<Cells>,
    rows: usize,
    bytes: usize,
}

impl<W: Write + Send> Tables<W> {
    /// Tables with those columns, each written to what `open` gives for its code.
    ///
    /// # Errors
    ///
    /// [`TableError::Io`] if `open` fails or an output cannot be written; [`TableError::Parquet`]
    /// if the writer refuses a schema.
    pub fn new(
        schemas: Schemas,
        privacy: Privacy,
        mut open: impl FnMut(LogCode) -> io::Result<W>,
    ) -> Result<Self, TableError> {
        let (names, schemas) = schemas.into_parts();
        let mut tables = BTreeMap::new();
        for (code, schema) in schemas {
            let name = code.name().map(str::to_owned);
            let about = vec![
                KeyValue::new("log_code".into(), code.to_string()),
                KeyValue::new("log_name".into(), name),
            ];
            let properties = WriterProperties::builder()
                .set_compression(Compression::ZSTD(ZstdLevel::try_new(3)?))
                .set_created_by(concat!("sounding ", env!("CARGO_PKG_VERSION")).into())
                .set_key_value_metadata(Some(about))
                .build();
            let columns = schema.columns().iter();
            let columns =
                columns.map(|column| Cells::new(column.kind, schema.is_full(column))).collect();
            let message = schema.message(&names)?;
            let out = Arc::new(Mutex::new(open(code)?));
            let lent = Lent(Arc::clone(&out));
            let writer = SerializedFileWriter::new(lent, message, Arc::new(properties))?;
            tables.insert(code, Table { schema, writer, out, columns, rows: 0, bytes: 0 });
        }
        Ok(Self { names, tables, privacy, waiting: 0 })
    }

    /// Adds the rows of a record that was found at `offset`.
    ///
    /// # Errors
    ///
    /// [`TableError::Changed`] if the record has a field that its schema lacks; [`TableError::Io`]
    /// if an output cannot be written.
    pub fn handle_record(&mut self, offset: u64, record: &LogRecord<'_>) -> Result<(), TableError> {
        let changed = || TableError::Changed(record.code);
        let table = self.tables.get_mut(&record.code).ok_or_else(changed)?;
        for row in rows(&mut self.names, offset, record, self.privacy) {
            self.waiting += table.push(row).ok_or_else(changed)?;
        }
        if table.rows >= GROUP_ROWS {
            self.waiting -= table.write()?;
        }
        while self.waiting > WAITING_BYTES {
            let Some(largest) = self.tables.values_mut().max_by_key(|table| table.bytes) else {
                break;
            };
            self.waiting -= largest.write()?;
        }
        Ok(())
    }

    /// Writes the buffered rows and the ends of the files. Returns the writers in the order of the
    /// log codes.
    ///
    /// # Errors
    ///
    /// [`TableError::Io`] if the output cannot be written; [`TableError::Parquet`] if the writer
    /// refuses a column.
    pub fn finish(self) -> Result<Vec<(LogCode, W)>, TableError> {
        let finish = |(code, mut table): (LogCode, Table<W>)| {
            table.write()?;
            table.writer.finish()?;
            drop(table.writer);
            let out = Arc::try_unwrap(table.out).map_err(|_| io::Error::other("lent twice"))?;
            Ok((code, out.into_inner().unwrap_or_else(PoisonError::into_inner)))
        };
        self.tables.into_iter().map(finish).collect()
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

impl<W: Write + Send> Table<W> {
    /// Adds a row. Returns its size in memory, or `None` if the table lacks one of its columns.
    fn push(&mut self, row: Row) -> Option<usize> {
        let mut cells: Vec<_> = self.columns.iter().map(|_| None).collect();
        for (id, cell) in row {
            cells[self.schema.place(id)?] = Some(cell);
        }
        let sizes = self.columns.iter_mut().zip(cells).map(|(column, cell)| column.push(cell));
        let bytes = sizes.sum();
        self.rows += 1;
        self.bytes += bytes;
        Some(bytes)
    }

    /// Writes the rows that wait as a group; how much memory that frees.
    fn write(&mut self) -> Result<usize, TableError> {
        if self.rows > 0 {
            let mut group = self.writer.next_row_group()?;
            for cells in &mut self.columns {
                if let Some(mut column) = group.next_column()? {
                    cells.write(&mut column)?;
                    column.close()?;
                }
            }
            group.close()?;
        }
        self.rows = 0;
        Ok(core::mem::take(&mut self.bytes))
    }
}
