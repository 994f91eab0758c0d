//! A record as rows of named cells.

use std::borrow::Cow;
use std::collections::HashMap;
use std::rc::Rc;

use sounding_diag::LogRecord;
use sounding_diag::layout::{Sink, Value};
use sounding_diag::record;

use crate::privacy::{self, Privacy};

/// The content of a cell.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Cell {
    Flag(bool),
    Int(i64),
    /// More than an `i64` holds.
    Uint(u64),
    Real(f64),
    Text(Cow<'static, str>),
    Bytes(Rc<[u8]>),
    /// Microseconds on the Unix clock.
    Time(i64),
    /// A time that the modem did not stamp: no cell, but a column.
    NoTime,
    /// A time stamp in its form on the wire.
    Stamp(u64),
}

impl Cell {
    fn of(value: Value<'_>) -> Self {
        match value {
            Value::Uint(number) | Value::Hex(number, _) => Self::number(number),
            Value::Int(number) => Self::Int(number),
            Value::Flag(set) => Self::Flag(set),
            Value::Scaled(number) => Self::Real(number),
            Value::Name(_, Some(name)) => Self::Text(name.into()),
            // A choice without a name is text too, so that a column has one kind.
            Value::Name(number, None) => Self::Text(number.to_string().into()),
            Value::Bytes(bytes) => Self::Bytes(bytes.into()),
            Value::Plmn(plmn) => Self::Text(plmn.to_string().into()),
        }
    }

    fn number(number: u64) -> Self {
        i64::try_from(number).map_or(Self::Uint(number), Self::Int)
    }
}

/// The name of a column, as a number.
pub(super) type Id = usize;

/// A row: cells by the names of their columns.
pub(super) type Row = Vec<(Id, Cell)>;

/// The names of columns, each put together once: a capture has millions of cells and some hundred
/// columns.
#[derive(Clone, Debug, Default)]
pub(super) struct Names {
    names: Vec<Rc<str>>,
    by_name: HashMap<Rc<str>, Id>,
    /// By the list around a field, and where the field's own name lies.
    by_place: HashMap<(Option<Id>, usize, usize), Id>,
}

impl Names {
    pub(super) fn name(&self, id: Id) -> &str {
        &self.names[id]
    }

    fn id(&mut self, list: Option<Id>, name: &'static str) -> Id {
        let place = (list, name.as_ptr() as usize, name.len());
        if let Some(&id) = self.by_place.get(&place) {
            return id;
        }
        let path: Rc<str> = match list {
            Some(list) => format!("{}.{name}", self.names[list]).into(),
            None => name.into(),
        };
        let next = self.names.len();
        let id = *self.by_name.entry(Rc::clone(&path)).or_insert(next);
        if id == next {
            self.names.push(path);
        }
        self.by_place.insert(place, id);
        id
    }
}

/// The rows of a record that was found at `offset`.
pub(super) fn rows(
    names: &mut Names,
    offset: u64,
    record: &LogRecord<'_>,
    privacy: Privacy,
) -> Vec<Row> {
    let time = record
        .at
        .known_unix_nanos()
        .map_or(Cell::NoTime, |nanos| Cell::Time(i64::try_from(nanos / 1000).unwrap_or(i64::MAX)));
    let mut start: Row = vec![
        (names.id(None, "offset"), Cell::number(offset)),
        (names.id(None, "time"), time),
        (names.id(None, "stamp"), Cell::Stamp(record.stamp)),
    ];
    if let Some(radio) = record.radio {
        start.push((names.id(None, "radio"), Cell::Int(radio.into())));
    }
    if privacy == Privacy::Redact && privacy::identifies(record) {
        start.push((names.id(None, "redacted"), Cell::Flag(true)));
        start.push((names.id(None, "len_bytes"), Cell::Int(record.body.len() as i64)));
        return vec![start];
    }
    let mut tree = Tree { names, root: Item::default(), open: Vec::new() };
    let outcome = record::decode(record, &mut tree);
    let root = tree.root;
    if let Err(error) = outcome {
        start.push((names.id(None, "unread"), Cell::Text(error.to_string().into())));
        start.push((names.id(None, "raw"), Cell::Bytes(record.body.into())));
        return vec![start];
    }
    let mut rows = Vec::new();
    root.flatten(names, start, &mut rows);
    rows
}

/// An item of a list, or the record itself.
#[derive(Default)]
struct Item {
    cells: Row,
    lists: Vec<(Id, Vec<Item>)>,
}

impl Item {
    fn flatten(self, names: &mut Names, mut row: Row, rows: &mut Vec<Row>) {
        row.extend(self.cells);
        let mut is_alone = true;
        for (list, items) in self.lists {
            for (index, item) in items.into_iter().enumerate() {
                is_alone = false;
                let mut inner = row.clone();
                inner.push((names.id(Some(list), "item"), Cell::Int(index as i64)));
                item.flatten(names, inner, rows);
            }
        }
        if is_alone {
            rows.push(row);
        }
    }
}

/// Collects the fields of a record.
struct Tree<'n> {
    names: &'n mut Names,
    root: Item,
    /// Lists that are open and their items, innermost last.
    open: Vec<(Id, Vec<Item>)>,
}

impl Tree<'_> {
    /// The item that a new field or list belongs to.
    fn item(&mut self) -> &mut Item {
        match self.open.last_mut().and_then(|(_, items)| items.last_mut()) {
            Some(item) => item,
            None => &mut self.root,
        }
    }

    fn id(&mut self, name: &'static str) -> Id {
        let list = self.open.last().map(|(list, _)| *list);
        self.names.id(list, name)
    }
}

impl Sink for Tree<'_> {
    fn field(&mut self, name: &'static str, value: Value<'_>) {
        let cell = (self.id(name), Cell::of(value));
        self.item().cells.push(cell);
    }

    fn begin_list(&mut self, name: &'static str) {
        let list = self.id(name);
        self.open.push((list, Vec::new()));
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

    fn columns<'n>(names: &'n Names, row: &Row) -> Vec<&'n str> {
        row.iter().map(|(id, _)| names.name(*id)).collect()
    }

    #[test]
    fn an_item_is_a_row_with_what_is_around_it() {
        let mut names = Names::default();
        let mut tree = Tree { names: &mut names, root: Item::default(), open: Vec::new() };
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
        let root = tree.root;
        root.flatten(&mut names, Vec::new(), &mut rows);
        assert_eq!(rows.len(), 3);
        let expected = [
            "version",
            "records.item",
            "records.number",
            "records.blocks.item",
            "records.blocks.crc",
        ];
        assert_eq!(columns(&names, &rows[0]), expected);
        assert_eq!(rows[1][1].1, Cell::Int(1));
        assert_eq!(columns(&names, &rows[2]), ["version", "others.item"]);
    }

    #[test]
    fn a_record_without_items_is_a_row_nevertheless() {
        let mut names = Names::default();
        let mut tree = Tree { names: &mut names, root: Item::default(), open: Vec::new() };
        tree.field("version", Value::Uint(1));
        tree.begin_list("records");
        tree.end_list();
        let mut rows = Vec::new();
        let root = tree.root;
        root.flatten(&mut names, Vec::new(), &mut rows);
        assert_eq!(rows.len(), 1);
    }
}
