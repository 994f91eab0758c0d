//! The tables of a log code: their columns, and which field of a record goes where.

use sounding_diag::LogCode;
use sounding_kpi::registry::{Conversion, NamedKpi};

use super::kind::{Cell, Kind};
use super::kpis::{self, Condition};
use super::outline::Lists;
use super::unit;

/// The tables of a code. They depend on nothing else.
#[derive(Debug)]
pub(super) struct Plan {
    pub(super) code: LogCode,
    /// The cell of the first column.
    pub(super) first: Cell,
    /// The first has the record, or the blocks in it.
    pub(super) tables: Vec<Table>,
    /// The record, and the lists in it.
    pub(super) nodes: Vec<Node>,
}

#[derive(Debug)]
pub(super) struct Table {
    /// The lists that it is about, from the list of the table around it: `mac`. Empty for the
    /// first.
    pub(super) name: String,
    pub(super) columns: Vec<Column>,
}

#[derive(Clone, Debug)]
pub(super) struct Column {
    pub(super) name: String,
    pub(super) kind: Kind,
    /// No cell is empty.
    pub(super) is_full: bool,
    /// Its numbers count up from row to row: a dictionary of them only costs time.
    pub(super) is_count: bool,
    pub(super) unit: Option<&'static str>,
    /// The KPIs whose values it has.
    pub(super) kpis: Vec<&'static NamedKpi>,
}

/// The record, or a list in it.
#[derive(Debug, Default)]
pub(super) struct Node {
    pub(super) name: &'static str,
    pub(super) table: usize,
    pub(super) is_single: bool,
    /// Its items are the rows of its table: there is no list within that has more of them.
    pub(super) is_row: bool,
    /// The column with the number of its item.
    pub(super) item: Option<usize>,
    /// The same in tables of lists within it.
    pub(super) within: Vec<(usize, usize)>,
    pub(super) fields: Vec<Field>,
    pub(super) lists: Vec<usize>,
    pub(super) kpis: Vec<Rule>,
}

#[derive(Debug)]
pub(super) struct Field {
    pub(super) name: &'static str,
    pub(super) column: usize,
    pub(super) kind: Kind,
    pub(super) role: Role,
    /// It is a part of a KPI with a column of its own.
    pub(super) is_needed: bool,
}

/// The part of a field in the time of its item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    None,
    Tti,
    Frame,
    Subframe,
    Slot,
    Numerology,
    SubframeOffset,
}

/// A KPI with a column of its own.
#[derive(Debug)]
pub(super) struct Rule {
    pub(super) column: usize,
    pub(super) field: &'static str,
    pub(super) conversion: Conversion,
    pub(super) condition: Option<Condition>,
    pub(super) is_whole: bool,
    /// Of several rows of an item only the first has it, so that its sum is right.
    pub(super) is_once: bool,
}

/// The first columns of each table.
pub(super) const CODE: usize = 0;
const CAPTURE: usize = CODE;
pub(super) const OFFSET: usize = 1;
pub(super) const RECORD_TIME: usize = 2;
pub(super) const TIME: usize = 3;
/// The next ones of the first table.
pub(super) const STAMP: usize = 4;
pub(super) const RADIO: usize = 5;
/// The last ones of the first table.
pub(super) const LAST: [(&str, Kind, Option<&str>); 4] = [
    ("unread", Kind::Text, None),
    ("raw", Kind::Bytes, None),
    ("redacted", Kind::Flag, None),
    ("hidden_bytes", Kind::Int, Some("B")),
];

impl Table {
    fn new(name: String) -> Self {
        let mut table = Self { name, columns: Vec::new() };
        table.add("code", Kind::Text, true, None);
        table.add("offset", Kind::Int, true, Some("B"));
        table.add("record_time", Kind::Time, false, None);
        table.add("time", Kind::Time, false, None);
        table
    }

    fn add(
        &mut self,
        name: impl Into<String>,
        kind: Kind,
        is_full: bool,
        unit: Option<&'static str>,
    ) -> usize {
        let (name, kpis) = (name.into(), Vec::new());
        let last = name.rsplit_once('.').map_or(name.as_str(), |(_, last)| last);
        let is_count = match kind {
            Kind::Time | Kind::Word => true,
            Kind::Int => matches!(last, "offset" | "item" | "tti" | "frame" | "subframe" | "slot"),
            Kind::Flag | Kind::Real | Kind::Text | Kind::Bytes => false,
        };
        self.columns.push(Column { name, kind, is_full, is_count, unit, kpis });
        self.columns.len() - 1
    }

    /// The column of a KPI of its own.
    fn of_kpi(&mut self, kpi: &'static NamedKpi) -> usize {
        let known = self.columns.iter().position(|column| column.name == kpi.name);
        known.unwrap_or_else(|| {
            let column = self.add(kpi.name, kpis::kind(kpi), false, None);
            self.columns[column].kpis.push(kpi);
            column
        })
    }
}

impl Plan {
    pub(super) fn of(code: LogCode) -> Self {
        let lists = Lists::of(code);
        let first = Cell::text(code.to_string());
        let mut plan = Self { code, first, tables: Vec::new(), nodes: Vec::new() };
        (0..lists.lists.len()).for_each(|list| plan.add_node(&lists, list));
        plan.add_kpis(&lists);
        for (name, kind, unit) in LAST {
            plan.tables[0].add(name, kind, false, unit);
        }
        plan
    }

    /// Adds a list: those around it come first.
    fn add_node(&mut self, lists: &Lists, number: usize) {
        let list = &lists.lists[number];
        let table = match number {
            0 => {
                self.tables.push(Table::new(String::new()));
                self.tables[0].add("stamp", Kind::Word, true, None);
                self.tables[0].add("radio", Kind::Int, false, None);
                0
            }
            _ if list.is_apart => self.add_table(lists, number),
            _ => self.nodes[list.parent].table,
        };
        let mut node = Node {
            name: list.name,
            table,
            is_single: list.is_single,
            is_row: true,
            ..Node::default()
        };
        if number > 0 {
            self.nodes[list.parent].lists.push(number);
            if list.is_single {
                node.is_row = self.nodes[list.parent].is_row;
            } else {
                if !list.is_apart {
                    self.has_rows_within(lists, list.parent);
                }
                let item = format!("{}.item", list.path);
                node.item = Some(self.tables[table].add(item, Kind::Int, false, None));
            }
        }
        for (name, _) in &list.fields {
            if node.fields.iter().any(|field| field.name == *name) {
                continue;
            }
            let column = list.column(name);
            let Some(kind) = Kind::of_column(&column) else { continue };
            let is_number = matches!(kind, Kind::Int | Kind::Word | Kind::Real);
            let unit = unit::of_field(name).filter(|_| is_number);
            let column = self.tables[table].add(column, kind, false, unit);
            let role = Role::of(self.code, name, list);
            node.fields.push(Field { name, column, kind, role, is_needed: false });
        }
        self.nodes.push(node);
    }

    /// A table for the items of a list, with the numbers of the items around them.
    fn add_table(&mut self, lists: &Lists, number: usize) -> usize {
        let list = &lists.lists[number];
        let around = &self.nodes[list.parent];
        let mut name = self.tables[around.table].name.clone();
        if around.is_single {
            name += &format!("-{}", around.name);
        }
        name += &format!("-{}", list.name);
        let table = self.tables.len();
        self.tables.push(Table::new(name));
        let mut way = vec![list.parent];
        while let Some(&last) = way.last().filter(|&&last| last != 0) {
            way.push(lists.lists[last].parent);
        }
        for node in way.into_iter().rev().filter(|&node| !lists.lists[node].is_single) {
            let item = match node {
                0 => continue,
                _ => format!("{}.item", lists.lists[node].path),
            };
            let column = self.tables[table].add(item, Kind::Int, false, None);
            self.nodes[node].within.push((table, column));
        }
        table
    }

    /// A list within this one has the rows.
    fn has_rows_within(&mut self, lists: &Lists, mut number: usize) {
        loop {
            self.nodes[number].is_row = false;
            if !lists.lists[number].is_single {
                break;
            }
            number = lists.lists[number].parent;
        }
        // Those with at most one item share its rows.
        for single in 0..self.nodes.len() {
            let list = &lists.lists[single];
            if list.is_single && !self.nodes[list.parent].is_row {
                self.nodes[single].is_row = false;
            }
        }
    }

    fn add_kpis(&mut self, lists: &Lists) {
        for (kpi, conversion, places) in kpis::of(lists, self.code) {
            if let (true, [place]) = (kpis::is_plain(conversion), &places[..])
                && place.condition.is_none()
            {
                let node = &self.nodes[place.list];
                let is_here = node.is_row || !unit::is_summed(kpi);
                let field = node.fields.iter().find(|field| field.name == place.field);
                let column = field.map(|field| (node.table, field.column));
                if let (true, Some((table, column))) = (is_here, column) {
                    let column = &mut self.tables[table].columns[column];
                    if matches!(column.kind, Kind::Flag | Kind::Int | Kind::Word | Kind::Real) {
                        column.kpis.push(kpi);
                        continue;
                    }
                }
            }
            for place in places {
                let node = &mut self.nodes[place.list];
                let column = self.tables[node.table].of_kpi(kpi);
                let needed = [Some(place.field), place.condition.map(|condition| condition.field)];
                for field in &mut node.fields {
                    field.is_needed |= needed.contains(&Some(field.name));
                }
                node.kpis.push(Rule {
                    column,
                    field: place.field,
                    conversion,
                    condition: place.condition,
                    is_whole: unit::is_whole(kpi),
                    is_once: unit::is_summed(kpi),
                });
            }
        }
    }

    /// The same tables for many captures. A row names its capture in place of the code, which the
    /// folder of the table names.
    pub(super) fn of_many(code: LogCode) -> Self {
        let mut plan = Self::of(code);
        plan.tables.iter_mut().for_each(|table| table.columns[CAPTURE].name = "capture".into());
        plan
    }

    /// The name of a table: `0xB064-mac`.
    pub(super) fn name(&self, table: usize) -> String {
        format!("{}{}", self.code, self.tables[table].name)
    }

    /// The name of a table's file.
    pub(super) fn file(&self, table: usize) -> String {
        format!("{}.parquet", self.name(table))
    }
}

impl Column {
    /// The same column, in which a cell may be empty.
    pub(super) fn with_gaps(&self) -> Self {
        Self { is_full: false, ..self.clone() }
    }

    /// The unit, of a KPI if it is one.
    pub(super) fn unit(&self) -> Option<String> {
        match self.kpis.first() {
            Some(kpi) => Some(kpi.unit.to_string()),
            None => self.unit.map(Into::into),
        }
    }
}

impl Role {
    /// LTE counts subframes and NR slots, both in system frames.
    fn of(code: LogCode, name: &str, list: &super::outline::List) -> Self {
        let (is_nr, code) = (code.is_nr(), code.number());
        let has = |wanted: &str| list.fields.iter().any(|(name, _)| *name == wanted);
        match name {
            "tti" if is_lte(code) => Self::Tti,
            "frame" if is_lte(code) || is_nr => Self::Frame,
            "subframe" if is_lte(code) || is_nr => Self::Subframe,
            "subframe_offset" if is_lte(code) => Self::SubframeOffset,
            // In records with both, it is the slot of the subframe.
            "slot" if is_nr && !has("subframe") => Self::Slot,
            "numerology" if is_nr && !has("subframe") => Self::Numerology,
            _ => Self::None,
        }
    }
}

pub(super) const fn is_lte(code: u16) -> bool {
    matches!(code, 0xB000..=0xB7FF)
}

#[cfg(test)]
mod tests {
    use super::*;
    use sounding_diag::record::CODES;
    use sounding_kpi::registry::{self, Source};
    use std::collections::{HashMap, HashSet};

    fn plans() -> Vec<Plan> {
        CODES.iter().map(|code| Plan::of(*code)).collect()
    }

    #[test]
    fn a_name_has_one_type_in_all_tables_and_is_once_in_each() {
        let mut kinds = HashMap::new();
        let mut files = HashSet::new();
        for plan in plans() {
            for (number, table) in plan.tables.iter().enumerate() {
                assert!(files.insert(plan.file(number)), "{}", plan.file(number));
                let mut names = HashSet::new();
                for column in &table.columns {
                    assert!(names.insert(&column.name), "{}: {}", plan.file(number), column.name);
                    let known = *kinds.entry(column.name.clone()).or_insert(column.kind);
                    assert_eq!(known, column.kind, "{}: {}", plan.file(number), column.name);
                }
            }
        }
        assert!(kinds.len() > 2000);
    }

    #[test]
    fn every_kpi_is_a_column_and_a_sum_has_one_column() {
        let mut places: HashMap<&str, Vec<String>> = HashMap::new();
        for plan in plans() {
            for (number, table) in plan.tables.iter().enumerate() {
                for column in &table.columns {
                    let place = format!("{}: {}", plan.file(number), column.name);
                    column.kpis.iter().for_each(|kpi| {
                        places.entry(kpi.name).or_default().push(place.clone());
                    });
                }
            }
        }
        let fields = registry::all().filter(|kpi| matches!(kpi.source, Source::Field { .. }));
        for kpi in fields {
            let found = places.get(kpi.name).map_or(&[][..], |places| places);
            // Versions of control messages have others in lists of different tables.
            let most = if unit::is_summed(kpi) { 1 } else { 2 };
            assert!((1..=most).contains(&found.len()), "{}: {found:?}", kpi.name);
        }
        assert_eq!(places["lte.pusch.tbs"], ["0xB139.parquet: transmissions.tb_bytes"]);
        assert_eq!(places["lte.pdsch.tbs"], ["0xB173.parquet: lte.pdsch.tbs"]);
    }

    #[test]
    fn a_row_is_a_block_and_its_subheaders_are_elsewhere() {
        let files = |code| {
            let plan = Plan::of(LogCode::new(code));
            (0..plan.tables.len()).map(|table| plan.file(table)).collect::<Vec<_>>()
        };
        assert_eq!(files(0xB064), ["0xB064.parquet", "0xB064-mac.parquet"]);
        assert_eq!(files(0xB173), ["0xB173.parquet"]);
        assert_eq!(
            files(0xB16B),
            ["0xB16B.parquet", "0xB16B-pdcch.parquet", "0xB16B-phich.parquet"]
        );
        assert_eq!(
            files(0xB883),
            ["0xB883.parquet", "0xB883-pucch-channels.parquet", "0xB883-srs-resources.parquet"]
        );
    }
}
