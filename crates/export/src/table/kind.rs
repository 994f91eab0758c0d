//! The types of columns. A name has one type in all tables.

use std::collections::HashMap;
use std::sync::OnceLock;

use bytes::Bytes;
use parquet::data_type::ByteArray;
use sounding_diag::layout::{Shape, Value};
use sounding_diag::record::CODES;

use super::outline::Lists;

/// The type of a column's cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Flag,
    Int,
    /// Whole numbers of 64 bits without a sign.
    Word,
    Real,
    Text,
    Bytes,
    /// Microseconds on the Unix clock.
    Time,
}

/// The content of a cell, in the type of its column.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Cell {
    /// Of flags, whole numbers and times.
    Int(i64),
    Real(f64),
    /// Of bytes and texts.
    Bytes(ByteArray),
}

impl Kind {
    const fn of(shape: Shape) -> Self {
        match shape {
            Shape::Flag => Self::Flag,
            Shape::Uint | Shape::Int => Self::Int,
            Shape::Word => Self::Word,
            Shape::Real => Self::Real,
            Shape::Text => Self::Text,
            Shape::Bytes => Self::Bytes,
        }
    }

    /// A type that holds the cells of both: versions and records read fields of one name as
    /// different types.
    fn with(self, other: Self) -> Self {
        use Kind::{Flag, Int, Real, Word};
        match (self, other) {
            (a, b) if a == b => a,
            (Flag | Int, Flag | Int) => Int,
            // A test finds no such number that may be negative.
            (Flag | Int | Word, Flag | Int | Word) => Word,
            (Flag | Int | Real, Flag | Int | Real) => Real,
            _ => Self::Text,
        }
    }

    /// The type of the column of that name in every table; `None` if no record has it.
    pub(super) fn of_column(name: &str) -> Option<Self> {
        static KINDS: OnceLock<HashMap<String, Kind>> = OnceLock::new();
        let kinds = KINDS.get_or_init(|| {
            let mut kinds = HashMap::new();
            for code in CODES {
                Lists::of(*code).for_each_field(|name, shape| {
                    let kind = Self::of(shape);
                    let known: &mut Kind = kinds.entry(name).or_insert(kind);
                    *known = known.with(kind);
                });
            }
            kinds
        });
        kinds.get(name).copied()
    }

    /// A field's value as a cell of a column of this type; `None` if it does not fit.
    pub(super) fn cell(self, value: Value<'_>) -> Option<Cell> {
        Some(match self {
            Self::Flag | Self::Int | Self::Word | Self::Time => Cell::Int(match value {
                Value::Uint(number) | Value::Hex(number, _) | Value::Name(number, _) => {
                    number.cast_signed()
                }
                Value::Int(number) => number,
                Value::Flag(set) => set.into(),
                Value::Scaled(_) | Value::Bytes(_) | Value::Plmn(_) => return None,
            }),
            Self::Real => Cell::Real(match value {
                Value::Uint(number) | Value::Hex(number, _) => number as f64,
                Value::Int(number) => number as f64,
                Value::Flag(set) => f64::from(u8::from(set)),
                Value::Scaled(number) => number,
                Value::Name(..) | Value::Bytes(_) | Value::Plmn(_) => return None,
            }),
            Self::Text => Cell::Bytes(match value {
                Value::Name(_, Some(name)) => Bytes::from_static(name.as_bytes()).into(),
                // As in a line of JSON.
                other => other.to_string().into_bytes().into(),
            }),
            Self::Bytes => match value {
                Value::Bytes(bytes) => Cell::Bytes(bytes.to_vec().into()),
                _ => return None,
            },
        })
    }
}

impl Cell {
    pub(super) fn text(text: impl Into<String>) -> Self {
        Self::Bytes(text.into().into_bytes().into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_has_one_type_wherever_it_is() {
        // Lists of cells number them in one record and name them in another.
        assert_eq!(Kind::of_column("sub_packets.cells.cell"), Some(Kind::Text));
        assert_eq!(Kind::of_column("transmissions.power_dbm"), Some(Kind::Real));
        assert_eq!(Kind::of_column("transmissions.ack_payload"), Some(Kind::Text));
        assert_eq!(Kind::of_column("transmissions.tb_bytes"), Some(Kind::Int));
        assert_eq!(Kind::of_column("no.such"), None);
    }

    #[test]
    fn no_name_is_negative_in_one_record_and_has_64_bits_in_another() {
        let mut shapes: HashMap<String, Vec<Shape>> = HashMap::new();
        for code in CODES {
            let lists = Lists::of(*code);
            lists.for_each_field(|name, shape| shapes.entry(name).or_default().push(shape));
        }
        assert!(shapes.values().any(|shapes| shapes.contains(&Shape::Word)));
        let both =
            |shapes: &&Vec<Shape>| shapes.contains(&Shape::Word) && shapes.contains(&Shape::Int);
        assert_eq!(shapes.values().filter(both).count(), 0);
    }

    #[test]
    fn a_number_is_the_same_text_as_in_json() {
        let text = |value| Kind::Text.cell(value);
        assert_eq!(text(Value::Hex(10, 8)), Some(Cell::text("0x0a")));
        assert_eq!(text(Value::Bytes(&[1, 0xAB])), Some(Cell::text("01ab")));
        assert_eq!(text(Value::Name(7, None)), Some(Cell::text("7")));
        assert_eq!(text(Value::Name(7, Some("seven"))), Some(Cell::text("seven")));
    }
}
