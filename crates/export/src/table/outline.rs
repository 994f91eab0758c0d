//! The lists and fields that the records of a code can have, and which lists share a table.

use sounding_diag::LogCode;
use sounding_diag::layout::{Outline, Shape};
use sounding_diag::record::layouts;

/// The lists of a code; the record itself is the first.
#[derive(Debug)]
pub(super) struct Lists {
    pub(super) lists: Vec<List>,
    /// The lists that are open, innermost last.
    open: Vec<Open>,
}

#[derive(Debug)]
pub(super) struct List {
    pub(super) name: &'static str,
    /// The names on the way to it, and its own.
    pub(super) path: String,
    pub(super) parent: usize,
    /// It has at most one item, which shares the row of the item around it.
    pub(super) is_single: bool,
    /// Its items have a table of their own.
    pub(super) is_apart: bool,
    pub(super) fields: Vec<(&'static str, Shape)>,
}

#[derive(Debug)]
struct Open {
    list: usize,
    is_single: bool,
    /// The lists within it, of one layout.
    within: Vec<usize>,
}

/// Lists whose items are one row, whatever they have within: blocks, PDUs and cells.
const WHOLE: [&str; 3] = ["blocks", "pdus", "cells"];
/// Subheaders and control elements of a block, wherever it is.
const SUBHEADERS: &str = "mac";

impl Lists {
    pub(super) fn of(code: LogCode) -> Self {
        let record = List {
            name: "",
            path: String::new(),
            parent: 0,
            is_single: false,
            is_apart: true,
            fields: Vec::new(),
        };
        let mut lists = Self { lists: vec![record], open: Vec::new() };
        for layout in layouts(code).unwrap_or_default() {
            lists.open.push(Open { list: 0, is_single: false, within: Vec::new() });
            layout.outline(&mut lists);
            lists.close();
        }
        lists
    }

    /// Gives every field with its path.
    pub(super) fn for_each_field(&self, mut each: impl FnMut(String, Shape)) {
        for list in &self.lists {
            for (name, shape) in &list.fields {
                each(list.column(name), *shape);
            }
        }
    }

    /// The list of that name within another one.
    pub(super) fn within(&self, parent: usize, name: &str) -> Option<usize> {
        let within = |list: &List| list.parent == parent && list.name == name;
        self.lists.iter().position(within).filter(|&found| found != 0)
    }

    /// Lists side by side have a table each, because an item of one has nothing to do with an item
    /// of the other.
    fn close(&mut self) {
        let Some(Open { within, is_single, .. }) = self.open.pop() else { return };
        if within.len() > 1 && !is_single {
            within.iter().for_each(|&list| self.lists[list].is_apart = true);
        }
    }
}

impl List {
    /// The column of a field of it.
    pub(super) fn column(&self, field: &str) -> String {
        match self.path.as_str() {
            // A table has its own column of that name.
            "" if field == "time" => "time_field".into(),
            "" => field.into(),
            path => format!("{path}.{field}"),
        }
    }
}

impl Outline for Lists {
    fn field(&mut self, name: &'static str, shape: Shape) {
        let Some(open) = self.open.last() else { return };
        let fields = &mut self.lists[open.list].fields;
        // Versions may read a field as different types.
        if !fields.contains(&(name, shape)) {
            fields.push((name, shape));
        }
    }

    fn begin_list(&mut self, name: &'static str, is_single: bool) {
        let parent = self.open.last().map_or(0, |open| open.list);
        let around = self.open.iter().rposition(|open| !open.is_single).unwrap_or(0);
        let whole = self.lists[self.open[around].list].name;
        let list = self.within(parent, name).unwrap_or_else(|| {
            let path = self.lists[parent].column(name);
            let is_apart = false;
            self.lists.push(List { name, path, parent, is_single, is_apart, fields: Vec::new() });
            self.lists.len() - 1
        });
        let known = &mut self.lists[list];
        known.is_single &= is_single;
        if !is_single {
            known.is_apart |= name == SUBHEADERS || WHOLE.contains(&whole);
            let within = &mut self.open[around].within;
            if !within.contains(&list) {
                within.push(list);
            }
        }
        self.open.push(Open { list, is_single, within: Vec::new() });
    }

    fn end_list(&mut self) {
        self.close();
    }
}
