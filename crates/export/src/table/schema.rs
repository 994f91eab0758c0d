//! The columns of a table, and their kinds.

use std::collections::BTreeMap;
use std::sync::Arc;

use parquet::basic::{LogicalType, Repetition, TimeUnit, Type as Physical};
use parquet::errors::ParquetError;
use parquet::schema::types::Type;
use sounding_diag::{LogCode, LogRecord};

use super::rows::{Cell, Id, Names, Row, rows};
use crate::privacy::Privacy;

/// The type that fits all cells of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Flag,
    Int,
    Uint,
    Real,
    Text,
    Bytes,
    Time,
    Stamp,
}

impl Kind {
    fn of(cell: &Cell) -> Self {
        match cell {
            Cell::Flag(_) => Self::Flag,
            Cell::Int(_) => Self::Int,
            Cell::Uint(_) => Self::Uint,
            Cell::Real(_) => Self::Real,
            Cell::Text(_) => Self::Text,
            Cell::Bytes(_) => Self::Bytes,
            Cell::Time(_) | Cell::NoTime => Self::Time,
            Cell::Stamp(_) => Self::Stamp,
        }
    }

    /// A kind that holds both: versions of a record may read one field as different kinds.
    fn with(self, other: Self) -> Self {
        use Kind::{Int, Real, Text, Uint};
        match (self, other) {
            (a, b) if a == b => a,
            (Int | Uint | Real, Int | Uint | Real) => Real,
            _ => Text,
        }
    }
}

#[derive(Clone, Debug)]
pub(super) struct Column {
    id: Id,
    pub(super) kind: Kind,
    filled: u64,
}

/// The columns of one table, in the order in which the capture fills them.
#[derive(Clone, Debug, Default)]
pub struct Schema {
    columns: Vec<Column>,
    /// The position of each name's column.
    places: Vec<Option<usize>>,
    rows: u64,
}

impl Schema {
    fn handle_row(&mut self, row: Row) {
        self.rows += 1;
        for (id, cell) in row {
            let kind = Kind::of(&cell);
            let filled = u64::from(cell != Cell::NoTime);
            if let Some(place) = self.place(id) {
                let column = &mut self.columns[place];
                column.kind = column.kind.with(kind);
                column.filled += filled;
                continue;
            }
            self.places.resize(self.places.len().max(id + 1), None);
            self.places[id] = Some(self.columns.len());
            self.columns.push(Column { id, kind, filled });
        }
    }

    pub(super) fn columns(&self) -> &[Column] {
        &self.columns
    }

    pub(super) fn place(&self, id: Id) -> Option<usize> {
        self.places.get(id).copied().flatten()
    }

    /// Whether every row has a cell in that column.
    pub(super) fn is_full(&self, column: &Column) -> bool {
        column.filled == self.rows
    }

    /// The schema as Parquet has it.
    pub(super) fn message(&self, names: &Names) -> Result<Arc<Type>, ParquetError> {
        let field = |column: &Column| {
            let (physical, logical) = match column.kind {
                Kind::Flag => (Physical::BOOLEAN, None),
                Kind::Int => (Physical::INT64, None),
                Kind::Uint | Kind::Stamp => {
                    let unsigned = LogicalType::integer(64, false);
                    (Physical::INT64, Some(unsigned))
                }
                Kind::Real => (Physical::DOUBLE, None),
                Kind::Text => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
                Kind::Bytes => (Physical::BYTE_ARRAY, None),
                Kind::Time => {
                    (Physical::INT64, Some(LogicalType::timestamp(true, TimeUnit::MICROS)))
                }
            };
            let repetition =
                if self.is_full(column) { Repetition::REQUIRED } else { Repetition::OPTIONAL };
            Type::primitive_type_builder(names.name(column.id), physical)
                .with_logical_type(logical)
                .with_repetition(repetition)
                .build()
                .map(Arc::new)
        };
        let fields = self.columns.iter().map(field).collect::<Result<_, _>>()?;
        Type::group_type_builder("record").with_fields(fields).build().map(Arc::new)
    }
}

/// The columns that a capture fills, by log code.
#[derive(Clone, Debug, Default)]
pub struct Schemas {
    names: Names,
    tables: BTreeMap<LogCode, Schema>,
}

impl Schemas {
    /// Adds the columns that a record needs.
    pub fn handle_record(&mut self, offset: u64, record: &LogRecord<'_>, privacy: Privacy) {
        let table = self.tables.entry(record.code).or_default();
        rows(&mut self.names, offset, record, privacy)
            .into_iter()
            .for_each(|row| table.handle_row(row));
    }

    /// The codes that need a table.
    pub fn codes(&self) -> impl ExactSizeIterator<Item = LogCode> {
        self.tables.keys().copied()
    }

    pub(super) fn into_parts(self) -> (Names, BTreeMap<LogCode, Schema>) {
        (self.names, self.tables)
    }
}
