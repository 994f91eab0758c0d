//! A record as rows of named cells.

use std::rc::Rc;

use sounding_diag::LogRecord;
use sounding_diag::layout::{Sink, Value};
use sounding_diag::record;

use crate::privacy::{self, Privacy};

/// What stands in a cell.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Cell {
    Flag(bool),
    Int(i64),
    /// More than an `i64` holds.
    Uint(u64),
    Real(f64),
    Text(Rc<str>),
    Bytes(Rc<[u8]>),
    /// Microseconds on the Unix clock.
    Time(i64),
    /// A time stamp as it is on the wire.
    Stamp(u64),
}

impl Cell {
    fn of(value: Value<'_>) -> Self {
        match value {
            Value::Uint(number) | Value::Hex(number, _) => Self::number(number),
            Value::Int(number) => Self::Int(number),
            Value::Flag(set) => Self::Flag(set),
            Value::Scaled(number) => Self::Real(number),
            // A choice without a name is text too, so that a column is of one kind.
            Value::Name(..) => Self::Text(value.to_string().into()),
            Value::Bytes(bytes) => Self::Bytes(bytes.into()),
        }
    }

    fn number(number: u64) -> Self {
        i64::try_from(number).map_or(Self::Uint(number), Self::Int)
    }
}

/// A row: cells by the names of their columns.
pub(super) type Row = Vec<(Rc<str>, Cell)>;

/// The rows of a record that was found at `offset`.
pub(super) fn rows(offset: u64, record: &LogRecord<'_>, privacy: Privacy) -> Vec<Row> {
    let micros = record.at.unix_nanos() / 1000;
    let mut start: Row = vec![
        ("offset".into(), Cell::number(offset)),
        ("time".into(), Cell::Time(i64::try_from(micros).unwrap_or(i64::MAX))),
        ("stamp".into(), Cell::Stamp(record.stamp)),
    ];
    if let Some(radio) = record.radio {
        start.push(("radio".into(), Cell::Int(radio.into())));
    }
    if privacy == Privacy::Redact && privacy::identifies(record) {
        start.push(("redacted".into(), Cell::Flag(true)));
        start.push(("len_bytes".into(), Cell::Int(record.body.len() as i64)));
        return vec![start];
    }
    let mut tree = Tree::default();
    if let Err(error) = record::decode(record, &mut tree) {
        start.push(("unread".into(), Cell::Text(error.to_string().into())));
        start.push(("raw".into(), Cell::Bytes(record.body.into())));
        return vec![start];
    }
    let mut rows = Vec::new();
    tree.root.flatten(start, &mut rows);
    rows
}

/// An item of a list, or the record itself.
#[derive(Default)]
struct Item {
    cells: Row,
    lists: Vec<(Rc<str>, Vec<Item>)>,
}

impl Item {
    fn flatten(self, mut row: Row, rows: &mut Vec<Row>) {
        row.extend(self.cells);
        let mut is_alone = true;
        for (list, items) in self.lists {
            for (index, item) in items.into_iter().enumerate() {
                is_alone = false;
                let mut inner = row.clone();
                inner.push((Rc::from(format!("{list}.item")), Cell::Int(index as i64)));
                item.flatten(inner, rows);
            }
        }
        if is_alone {
            rows.push(row);
        }
    }
}

/// Collects the fields of a record.
#[derive(Default)]
struct Tree {
    root: Item,
    /// Lists that are open and their items, innermost last.
    open: Vec<(Rc<str>, Vec<Item>)>,
}

impl Tree {
    /// What a field or a list belongs to now.
    fn item(&mut self) -> &mut Item {
        match self.open.last_mut().and_then(|(_, items)| items.last_mut()) {
            Some(item) => item,
            None => &mut self.root,
        }
    }

    fn path(&self, name: &str) -> Rc<str> {
        match self.open.last() {
            Some((list, _)) => format!("{list}.{name}").into(),
            None => name.into(),
        }
    }
}

impl Sink for Tree {
    fn field(&mut self, name: &'static str, value: Value<'_>) {
        let cell = (self.path(name), Cell::of(value));
        self.item().cells.push(cell);
    }

    fn begin_list(&mut self, name: &'static str) {
        let path = self.path(name);
        self.open.push((path, Vec::new()));
    }

    fn begin_item(&mut self) {
        if let Some((_, items)) = self.open.last_mut() {
            items.push(Item::default());
        }
    }

    fn end_item(&mut self) {}

    fn end_list(&mut self) {
        if let Some(list) = self.open.pop() {
            self.item().lists.push(list);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(row: &Row) -> Vec<&str> {
        row.iter().map(|(name, _)| &**name).collect()
    }

    #[test]
    fn an_item_is_a_row_with_what_is_around_it() {
        let mut tree = Tree::default();
        tree.field("version", Value::Uint(1));
        tree.begin_list("records");
        for number in [7, 8] {
            tree.begin_item();
            tree.field("number", Value::Uint(number));
            tree.begin_list("blocks");
            tree.begin_item();
            tree.field("crc", Value::Flag(true));
            tree.end_item();
            tree.end_list();
            tree.end_item();
        }
        tree.end_list();
        tree.begin_list("others");
        tree.begin_item();
        tree.end_item();
        tree.end_list();
        let mut rows = Vec::new();
        tree.root.flatten(Vec::new(), &mut rows);
        assert_eq!(rows.len(), 3);
        let expected = [
            "version",
            "records.item",
            "records.number",
            "records.blocks.item",
            "records.blocks.crc",
        ];
        assert_eq!(names(&rows[0]), expected);
        assert_eq!(rows[1][1].1, Cell::Int(1));
        assert_eq!(names(&rows[2]), ["version", "others.item"]);
    }

    #[test]
    fn a_record_without_items_is_a_row_nevertheless() {
        let mut tree = Tree::default();
        tree.field("version", Value::Uint(1));
        tree.begin_list("records");
        tree.end_list();
        let mut rows = Vec::new();
        tree.root.flatten(Vec::new(), &mut rows);
        assert_eq!(rows.len(), 1);
    }
}
