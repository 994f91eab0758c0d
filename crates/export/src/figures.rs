//! Tables of figures as Parquet: the columns are known at the start, the rows arrive one by one,
//! and metadata describe the table.

mod read;

use std::io::Write;
use std::sync::Arc;

use parquet::basic::{Compression, LogicalType, Repetition, TimeUnit, Type as Physical, ZstdLevel};
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::Type;

pub use read::{About, read};

use crate::table::TableError;

/// Rows of a group. Chosen; readers work best with some ten thousands and more.
const GROUP_ROWS: usize = 1 << 16;

/// The type of a column's cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Words.
    Text,
    /// Whole numbers.
    Int,
    /// Numbers.
    Real,
    /// Microseconds on the Unix clock, UTC: their cells are whole numbers.
    Time,
}

/// The content of a cell. An empty cell is `None`.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    /// In a column of words.
    Text(String),
    /// In a column of whole numbers.
    Int(i64),
    /// In a column of numbers.
    Real(f64),
}

/// A table on its way to a file. The same rows give the same bytes.
pub struct Figures<W: Write + Send> {
    writer: SerializedFileWriter<W>,
    columns: Vec<Values>,
    rows: usize,
    group_rows: usize,
}

/// The cells of a column that wait, and for each row whether it has one.
enum Values {
    Text(Vec<ByteArray>, Vec<i16>),
    Int(Vec<i64>, Vec<i16>),
    Real(Vec<f64>, Vec<i16>),
}

impl<W: Write + Send> Figures<W> {
    /// A table of these columns; `about` are names and values that every reader of Parquet shows.
    ///
    /// # Errors
    ///
    /// [`TableError::Io`] if the output cannot be written; [`TableError::Parquet`] if the writer
    /// refuses a column.
    pub fn new(
        out: W,
        columns: &[(&str, Kind)],
        about: &[(&str, &str)],
    ) -> Result<Self, TableError> {
        let field = |(name, kind): &(&str, Kind)| {
            let (physical, logical) = match kind {
                Kind::Text => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
                Kind::Int => (Physical::INT64, None),
                Kind::Real => (Physical::DOUBLE, None),
                Kind::Time => {
                    (Physical::INT64, Some(LogicalType::timestamp(true, TimeUnit::MICROS)))
                }
            };
            Type::primitive_type_builder(name, physical)
                .with_logical_type(logical)
                .with_repetition(Repetition::OPTIONAL)
                .build()
                .map(Arc::new)
        };
        let fields = columns.iter().map(field).collect::<Result<_, ParquetError>>()?;
        let schema = Arc::new(Type::group_type_builder("row").with_fields(fields).build()?);
        let about = about
            .iter()
            .map(|(name, value)| KeyValue::new((*name).to_owned(), Some((*value).to_owned())));
        let properties = WriterProperties::builder()
            .set_compression(Compression::ZSTD(ZstdLevel::try_new(3)?))
            .set_created_by(concat!("sounding ", env!("CARGO_PKG_VERSION")).into())
            .set_key_value_metadata(Some(about.collect()))
            .build();
        let columns = columns.iter().map(|(_, kind)| match kind {
            Kind::Text => Values::Text(Vec::new(), Vec::new()),
            Kind::Int | Kind::Time => Values::Int(Vec::new(), Vec::new()),
            Kind::Real => Values::Real(Vec::new(), Vec::new()),
        });
        let columns = columns.collect();
        let writer = SerializedFileWriter::new(out, schema, Arc::new(properties))?;
        Ok(Self { writer, columns, rows: 0, group_rows: GROUP_ROWS })
    }

    /// The same with smaller groups, which wait in less memory.
    #[must_use]
    pub fn with_group_rows(self, group_rows: usize) -> Self {
        Self { group_rows, ..self }
    }

    /// Adds a row: a cell for each column, in their order. A cell of another kind than its column
    /// counts as empty.
    ///
    /// # Errors
    ///
    /// [`TableError::Io`] if the output cannot be written; [`TableError::Parquet`] if the writer
    /// refuses a column.
    pub fn push(&mut self, row: impl IntoIterator<Item = Option<Cell>>) -> Result<(), TableError> {
        let mut cells = row.into_iter();
        for column in &mut self.columns {
            column.push(cells.next().flatten());
        }
        self.rows += 1;
        if self.rows >= self.group_rows { self.write() } else { Ok(()) }
    }

    /// Writes the buffered rows and the end of the file.
    ///
    /// # Errors
    ///
    /// [`TableError::Io`] if the output cannot be written; [`TableError::Parquet`] if the writer
    /// refuses a column.
    pub fn finish(mut self) -> Result<(), TableError> {
        self.write()?;
        self.writer.finish()?;
        Ok(())
    }

    fn write(&mut self) -> Result<(), TableError> {
        if self.rows == 0 {
            return Ok(());
        }
        self.rows = 0;
        let mut group = self.writer.next_row_group()?;
        for values in &mut self.columns {
            let Some(mut column) = group.next_column()? else { break };
            match values {
                Values::Text(cells, present) => {
                    column.typed::<ByteArrayType>().write_batch(cells, Some(present), None)?;
                }
                Values::Int(cells, present) => {
                    column.typed::<Int64Type>().write_batch(cells, Some(present), None)?;
                }
                Values::Real(cells, present) => {
                    column.typed::<DoubleType>().write_batch(cells, Some(present), None)?;
                }
            }
            values.clear();
            column.close()?;
        }
        group.close()?;
        Ok(())
    }
}

impl Values {
    fn push(&mut self, cell: Option<Cell>) {
        let (present, is_there) = match (self, cell) {
            (Self::Text(cells, present), Some(Cell::Text(text))) => {
                cells.push(text.into_bytes().into());
                (present, true)
            }
            (Self::Int(cells, present), Some(Cell::Int(number))) => {
                cells.push(number);
                (present, true)
            }
            (Self::Real(cells, present), Some(Cell::Real(number))) => {
                cells.push(number);
                (present, true)
            }
            (Self::Text(_, present) | Self::Int(_, present) | Self::Real(_, present), _) => {
                (present, false)
            }
        };
        present.push(i16::from(is_there));
    }

    fn clear(&mut self) {
        match self {
            Self::Text(cells, present) => (cells.clear(), present.clear()),
            Self::Int(cells, present) => (cells.clear(), present.clear()),
            Self::Real(cells, present) => (cells.clear(), present.clear()),
        };
    }
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        Self::Text(text.into())
    }
}

impl From<f64> for Cell {
    fn from(number: f64) -> Self {
        Self::Real(number)
    }
}

impl From<u64> for Cell {
    fn from(number: u64) -> Self {
        Self::Int(i64::try_from(number).unwrap_or(i64::MAX))
    }
}
