//! Tables of whole numbers from any writer of Parquet.

use std::panic::{AssertUnwindSafe, catch_unwind};

use bytes::Bytes;
use parquet::errors::ParquetError;
use parquet::file::metadata::ColumnChunkMetaData;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::Field;
use thiserror::Error;

/// Why a table cannot be read.
#[derive(Debug, Error)]
pub enum NumbersError {
    /// It is no Parquet, or packed in an unsupported way.
    #[error("is no Parquet that can be read: {0}")]
    Parquet(#[from] ParquetError),
    /// Its metadata is wrong.
    #[error("is damaged: what it says of its columns is not so")]
    Damaged,
    /// A cell is no whole number. Rows count from 1.
    #[error("row {row}: {column} is {found}, no whole number")]
    Cell {
        /// Number of the row.
        row: usize,
        /// The column.
        column: String,
        /// The found type.
        found: String,
    },
}

/// A table of whole numbers.
pub struct Numbers {
    reader: SerializedFileReader<Bytes>,
}

impl Numbers {
    /// Reads a file's metadata.
    ///
    /// # Errors
    ///
    /// [`NumbersError::Parquet`] if the file is no Parquet; [`NumbersError::Damaged`] if its
    /// columns lie outside the file.
    pub fn new(file: Vec<u8>) -> Result<Self, NumbersError> {
        let length = file.len() as u64;
        let reader = guarded(|| SerializedFileReader::new(Bytes::from(file)))??;
        let mut groups = reader.metadata().row_groups().iter();
        let is_sound =
            groups.all(|group| group.columns().iter().all(|column| is_within(column, length)));
        if is_sound { Ok(Self { reader }) } else { Err(NumbersError::Damaged) }
    }

    /// The names of its columns, in their order.
    pub fn columns(&self) -> Vec<String> {
        let schema = self.reader.metadata().file_metadata().schema();
        schema.get_fields().iter().map(|field| field.name().to_owned()).collect()
    }

    /// Calls `each` with every row, in the order of the columns, until it fails.
    ///
    /// # Errors
    ///
    /// [`NumbersError`] if a row cannot be read or a cell is no whole number; otherwise the first
    /// error of `each`.
    pub fn for_each_row<E: From<NumbersError>>(
        &self,
        mut each: impl FnMut(&[u64]) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut rows = guarded(|| self.reader.get_row_iter(None))?.map_err(NumbersError::from)?;
        let mut numbers = Vec::new();
        for at in 0.. {
            let Some(row) = guarded(|| rows.next())? else { break };
            let row = row.map_err(NumbersError::from)?;
            numbers.clear();
            for (name, field) in row.get_column_iter() {
                let number = whole(field).ok_or_else(|| NumbersError::Cell {
                    row: at + 1,
                    column: name.clone(),
                    found: field.to_string().chars().take(40).collect(),
                })?;
                numbers.push(number);
            }
            each(&numbers)?;
        }
        Ok(())
    }
}

/// The library trusts some of a file's metadata, and panics where it is wrong.
fn guarded<T>(call: impl FnOnce() -> T) -> Result<T, NumbersError> {
    // After a panic the reader is not used again.
    catch_unwind(AssertUnwindSafe(call)).map_err(|_| NumbersError::Damaged)
}

fn is_within(column: &ColumnChunkMetaData, length: u64) -> bool {
    let begins = column.dictionary_page_offset().unwrap_or_else(|| column.data_page_offset());
    let [begins, size] = [begins, column.compressed_size()].map(u64::try_from);
    let end = begins.ok().zip(size.ok()).and_then(|(begins, size)| begins.checked_add(size));
    end.is_some_and(|end| end <= length)
}

fn whole(field: &Field) -> Option<u64> {
    match *field {
        Field::Byte(number) => number.try_into().ok(),
        Field::Short(number) => number.try_into().ok(),
        Field::Int(number) => number.try_into().ok(),
        Field::Long(number) => number.try_into().ok(),
        Field::UByte(number) => Some(number.into()),
        Field::UShort(number) => Some(number.into()),
        Field::UInt(number) => Some(number.into()),
        Field::ULong(number) => Some(number),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::{Cell, Figures, Kind};

    fn table(columns: &[(&str, Kind)], rows: &[&[Option<Cell>]]) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut figures = Figures::new(&mut bytes, columns, &[]).unwrap();
        rows.iter().try_for_each(|row| figures.push(row.to_vec())).unwrap();
        figures.finish().unwrap();
        bytes
    }

    fn rows(file: Vec<u8>) -> Result<Vec<Vec<u64>>, NumbersError> {
        let mut rows = Vec::new();
        Numbers::new(file)?.for_each_row(|row| {
            rows.push(row.to_vec());
            Ok::<_, NumbersError>(())
        })?;
        Ok(rows)
    }

    #[test]
    fn what_was_written_is_read() {
        let number = |number: u64| Some(Cell::from(number));
        let columns = [("time_ms", Kind::Int), ("packets", Kind::Int)];
        let file = table(&columns, &[&[number(0), number(2)], &[number(7), number(u64::MAX / 2)]]);
        assert_eq!(Numbers::new(file.clone()).unwrap().columns(), ["time_ms", "packets"]);
        assert_eq!(rows(file).unwrap(), [[0, 2], [7, u64::MAX / 2]]);
    }

    #[test]
    fn a_cell_without_a_whole_number_is_reported_with_its_place() {
        for (kind, cell) in [
            (Kind::Int, None),
            (Kind::Int, Some(Cell::Int(-1))),
            (Kind::Real, Some(Cell::Real(1.5))),
            (Kind::Text, Some(Cell::from("1"))),
        ] {
            let error = rows(table(&[("packets", kind)], &[&[cell]])).unwrap_err().to_string();
            assert!(error.starts_with("row 1: packets is "), "{error}");
        }
        assert!(matches!(rows(b"time_ms,packets\n".to_vec()), Err(NumbersError::Parquet(_))));
    }

    #[test]
    fn a_table_that_is_cut_or_changed_is_refused_or_read() {
        let number = |number: u64| Some(Cell::from(number));
        let file = table(&[("packets", Kind::Int)], &[&[number(1)], &[number(2)], &[number(3)]]);
        for at in 0..file.len() {
            assert!(rows(file[..at].to_vec()).is_err(), "{at}");
            let mut changed = file.clone();
            changed[at] ^= 0x55;
            let _ = rows(changed);
        }
    }
}
