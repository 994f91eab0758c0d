//! The cells of one column that wait for their group of rows.

use core::ops::Range;

use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::writer::SerializedColumnWriter;

use sounding_diag::layout::Value;

use super::kind::{Cell, Kind};

/// Cells in the form that Parquet needs.
#[derive(Debug)]
pub(super) struct Cells {
    is_full: bool,
    pub(super) values: Values,
    /// For each row up to the last one with a cell, whether it has one: Parquet's definition
    /// levels.
    pub(super) present: Vec<i16>,
    /// Bytes of texts and of opaque bytes.
    pub(super) heap_bytes: usize,
}

#[derive(Debug)]
pub(super) enum Values {
    Flags(Vec<bool>),
    Ints(Vec<i64>),
    Reals(Vec<f64>),
    Bytes(Vec<ByteArray>),
}

/// An array of bytes without them.
const ARRAY_BYTES: usize = 40;

impl Cells {
    pub(super) fn new(kind: Kind, is_full: bool) -> Self {
        let values = match kind {
            Kind::Flag => Values::Flags(Vec::new()),
            Kind::Int | Kind::Word | Kind::Time => Values::Ints(Vec::new()),
            Kind::Real => Values::Reals(Vec::new()),
            Kind::Text | Kind::Bytes => Values::Bytes(Vec::new()),
        };
        Self { is_full, values, present: Vec::new(), heap_bytes: 0 }
    }

    /// The same column without rows.
    pub(super) fn emptied(&self) -> Self {
        let values = match &self.values {
            Values::Flags(_) => Values::Flags(Vec::new()),
            Values::Ints(_) => Values::Ints(Vec::new()),
            Values::Reals(_) => Values::Reals(Vec::new()),
            Values::Bytes(_) => Values::Bytes(Vec::new()),
        };
        Self { is_full: self.is_full, values, present: Vec::new(), heap_bytes: 0 }
    }

    /// Sets the cell of a row. Rows come in order; a second cell of a row replaces the first.
    #[inline]
    pub(super) fn set(&mut self, row: usize, cell: Cell) {
        if self.present.len() != row {
            self.begin(row);
        }
        match (&mut self.values, cell) {
            (Values::Ints(ints), Cell::Int(number)) => ints.push(number),
            (Values::Reals(reals), Cell::Real(number)) => reals.push(number),
            (Values::Flags(flags), Cell::Int(number)) => flags.push(number != 0),
            (Values::Bytes(bytes), Cell::Bytes(value)) => {
                self.heap_bytes += value.len();
                bytes.push(value);
            }
            // A cell is made for the type of its column.
            _ => return,
        }
        self.present.push(1);
    }

    /// Sets the cell of a row from a field's value, as [`Kind::cell`] makes one.
    #[inline]
    pub(super) fn put(&mut self, row: usize, kind: Kind, value: Value<'_>) {
        let number = match value {
            Value::Uint(number) | Value::Hex(number, _) => number.cast_signed(),
            Value::Flag(set) => set.into(),
            _ => return kind.cell(value).into_iter().for_each(|cell| self.set(row, cell)),
        };
        match &mut self.values {
            // Most fields are whole numbers that stay so.
            Values::Ints(ints) if self.present.len() == row => ints.push(number),
            Values::Flags(flags) if self.present.len() == row => flags.push(number != 0),
            _ => return kind.cell(value).into_iter().for_each(|cell| self.set(row, cell)),
        }
        self.present.push(1);
    }

    /// Sets the same cell in several rows.
    pub(super) fn fill(&mut self, rows: Range<usize>, cell: &Cell) {
        let count = rows.len();
        if count < 2 {
            return rows.into_iter().for_each(|row| self.set(row, cell.clone()));
        }
        self.begin(rows.start);
        match (&mut self.values, cell) {
            (Values::Ints(ints), Cell::Int(number)) => ints.resize(ints.len() + count, *number),
            (Values::Reals(reals), Cell::Real(number)) => {
                reals.resize(reals.len() + count, *number);
            }
            (Values::Flags(flags), Cell::Int(number)) => {
                flags.resize(flags.len() + count, *number != 0);
            }
            (Values::Bytes(bytes), Cell::Bytes(value)) => {
                bytes.resize(bytes.len() + count, value.clone());
            }
            _ => return,
        }
        self.present.resize(rows.end, 1);
    }

    /// No cell from this row on, and none in those that were left out before.
    #[cold]
    fn begin(&mut self, row: usize) {
        while self.present.len() > row {
            if self.present.pop() == Some(1) {
                self.values.pop();
            }
        }
        self.present.resize(row, 0);
    }

    /// How much memory they take.
    pub(super) fn size(&self) -> usize {
        let values = match &self.values {
            Values::Flags(flags) => flags.len(),
            Values::Ints(ints) => ints.len() * 8,
            Values::Reals(reals) => reals.len() * 8,
            Values::Bytes(bytes) => bytes.len() * ARRAY_BYTES + self.heap_bytes,
        };
        values + self.present.len() * 2
    }

    /// Writes the buffered cells of so many rows, and clears the buffer.
    pub(super) fn write(
        &mut self,
        rows: usize,
        column: &mut SerializedColumnWriter<'_>,
    ) -> Result<(), ParquetError> {
        self.present.resize(rows, 0);
        let levels = (!self.is_full).then_some(self.present.as_slice());
        match &self.values {
            Values::Flags(values) => column.typed::<BoolType>().write_batch(values, levels, None),
            Values::Ints(values) => column.typed::<Int64Type>().write_batch(values, levels, None),
            Values::Reals(values) => column.typed::<DoubleType>().write_batch(values, levels, None),
            Values::Bytes(values) => {
                column.typed::<ByteArrayType>().write_batch(values, levels, None)
            }
        }?;
        self.clear();
        Ok(())
    }

    /// No row, and the memory for the next ones.
    pub(super) fn clear(&mut self) {
        match &mut self.values {
            Values::Flags(values) => values.clear(),
            Values::Ints(values) => values.clear(),
            Values::Reals(values) => values.clear(),
            Values::Bytes(values) => values.clear(),
        }
        self.present.clear();
        self.heap_bytes = 0;
    }
}

impl Values {
    fn pop(&mut self) {
        match self {
            Self::Flags(flags) => drop(flags.pop()),
            Self::Ints(ints) => drop(ints.pop()),
            Self::Reals(reals) => drop(reals.pop()),
            Self::Bytes(bytes) => drop(bytes.pop()),
        }
    }
}
