//! The cells of one column that wait for their group of rows.

use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::writer::SerializedColumnWriter;

use super::rows::Cell;
use super::schema::Kind;

/// Cells in the form that Parquet needs.
#[derive(Debug)]
pub(super) struct Cells {
    kind: Kind,
    /// No cell is missing.
    is_full: bool,
    values: Values,
    /// For each row, whether it has a cell: Parquet's definition levels.
    present: Vec<i16>,
}

#[derive(Debug)]
enum Values {
    Flags(Vec<bool>),
    Ints(Vec<i64>),
    Reals(Vec<f64>),
    Bytes(Vec<ByteArray>),
}

impl Cells {
    pub(super) fn new(kind: Kind, is_full: bool) -> Self {
        let values = match kind {
            Kind::Flag => Values::Flags(Vec::new()),
            Kind::Int | Kind::Uint | Kind::Time | Kind::Stamp => Values::Ints(Vec::new()),
            Kind::Real => Values::Reals(Vec::new()),
            Kind::Text | Kind::Bytes => Values::Bytes(Vec::new()),
        };
        Self { kind, is_full, values, present: Vec::new() }
    }

    /// Adds the cell of the next row. Returns how much memory it takes.
    pub(super) fn push(&mut self, cell: Option<Cell>) -> usize {
        let cell = cell.filter(|cell| *cell != Cell::NoTime);
        self.present.push(i16::from(cell.is_some()));
        let Some(cell) = cell else { return 2 };
        match &mut self.values {
            Values::Flags(flags) => flags.push(cell == Cell::Flag(true)),
            Values::Ints(ints) => ints.push(int(&cell)),
            Values::Reals(reals) => reals.push(real(&cell)),
            Values::Bytes(bytes) => {
                let value = match cell {
                    Cell::Bytes(bytes) if self.kind == Kind::Bytes => bytes.to_vec(),
                    cell => text(&cell).into_bytes(),
                };
                // The array, its bytes and what shares them.
                let size = value.len() + 96;
                bytes.push(value.into());
                return size;
            }
        }
        10
    }

    /// Writes the buffered cells, and clears the buffer.
    pub(super) fn write(
        &mut self,
        column: &mut SerializedColumnWriter<'_>,
    ) -> Result<(), ParquetError> {
        let levels = (!self.is_full).then_some(self.present.as_slice());
        match &mut self.values {
            Values::Flags(values) => {
                column.typed::<BoolType>().write_batch(values, levels, None)?;
                values.clear();
            }
            Values::Ints(values) => {
                column.typed::<Int64Type>().write_batch(values, levels, None)?;
                values.clear();
            }
            Values::Reals(values) => {
                column.typed::<DoubleType>().write_batch(values, levels, None)?;
                values.clear();
            }
            Values::Bytes(values) => {
                column.typed::<ByteArrayType>().write_batch(values, levels, None)?;
                values.clear();
            }
        }
        self.present.clear();
        Ok(())
    }
}

/// A column of integers holds integers only: its kind came from its cells.
fn int(cell: &Cell) -> i64 {
    match *cell {
        Cell::Int(number) | Cell::Time(number) => number,
        Cell::Uint(number) | Cell::Stamp(number) => number.cast_signed(),
        Cell::Flag(set) => set.into(),
        _ => 0,
    }
}

fn real(cell: &Cell) -> f64 {
    match *cell {
        Cell::Real(number) => number,
        Cell::Uint(number) => number as f64,
        ref other => int(other) as f64,
    }
}

fn text(cell: &Cell) -> String {
    match cell {
        Cell::Text(text) => text.to_string(),
        Cell::Bytes(bytes) => bytes.iter().map(|byte| format!("{byte:02x}")).collect(),
        Cell::Flag(set) => set.to_string(),
        Cell::Int(number) | Cell::Time(number) => number.to_string(),
        Cell::Uint(number) | Cell::Stamp(number) => number.to_string(),
        Cell::Real(number) => number.to_string(),
        Cell::NoTime => String::new(),
    }
}
