//! A record as rows of its tables.

use sounding_diag::LogRecord;
use sounding_diag::layout::{Sink, Value};
use sounding_diag::radio::Tti;
use sounding_diag::record::{self, RecordError};
use sounding_kpi::{Extractor, Moment};
use sounding_units::ModemInstant;

use super::cells::Cells;
use super::kind::Cell;
use super::plan::{self, Node, Plan, Role};

/// The rows of a table that wait to be written.
#[derive(Debug)]
pub(super) struct Waiting {
    pub(super) columns: Vec<Cells>,
    pub(super) rows: usize,
    /// The first row of the current record, and the moments of its rows.
    begin: usize,
    moments: Vec<Option<Moment>>,
}

impl Waiting {
    pub(super) fn new(table: &plan::Table) -> Self {
        let columns = table.columns.iter();
        let columns = columns.map(|column| Cells::new(column.kind, column.is_full)).collect();
        Self { columns, rows: 0, begin: 0, moments: Vec::new() }
    }

    /// How much memory they take.
    pub(super) fn size(&self) -> usize {
        self.columns.iter().map(Cells::size).sum()
    }

    fn end_row(&mut self, moment: Option<Moment>) {
        self.rows += 1;
        self.moments.push(moment);
    }

    /// Sets a cell in all rows of the current record.
    fn fill(&mut self, column: usize, cell: &Cell) {
        self.columns[column].fill(self.begin..self.rows, cell);
    }
}

/// Memory for the items of a record, which the next record uses again.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    open: Vec<Open>,
    stash: Vec<Stashed>,
    firsts: Vec<usize>,
    found: Vec<Found>,
}

/// A cell of an item that may become several rows.
#[derive(Debug)]
struct Stashed {
    column: usize,
    cell: Cell,
    is_once: bool,
}

/// A field that a KPI needs.
#[derive(Clone, Copy, Debug)]
struct Found {
    name: &'static str,
    value: Value<'static>,
}

/// A list that is open, and its item.
#[derive(Clone, Copy, Debug, Default)]
struct Open {
    node: usize,
    items: usize,
    /// The first row of the item, and in `firsts` those of tables within it.
    row: usize,
    first: usize,
    stash: usize,
    found: usize,
    /// The field that is expected next.
    next: usize,
    place: Place,
}

/// What is known of an item's moment.
#[derive(Clone, Copy, Debug, Default)]
struct Place {
    tti: Option<Tti>,
    frame: Option<u16>,
    subframe: Option<u16>,
    slot: Option<u16>,
    numerology: Option<u8>,
    offset: u16,
    /// It is the item's own, and not of the item around it.
    is_own: bool,
}

/// Makes the rows of records of one code.
pub(super) struct Rows<'t> {
    plan: &'t Plan,
    waiting: &'t mut [Waiting],
    scratch: &'t mut Scratch,
    /// Lists that are open, innermost last.
    open: Vec<Open>,
    /// Fields and lists that the plan lacks.
    strange: Option<&'static str>,
}

impl<'t> Rows<'t> {
    pub(super) fn new(
        plan: &'t Plan,
        waiting: &'t mut [Waiting],
        scratch: &'t mut Scratch,
    ) -> Self {
        let open = core::mem::take(&mut scratch.open);
        Self { plan, waiting, scratch, open, strange: None }
    }

    /// Adds the rows of a record. Returns the name of a field for which there is no column.
    pub(super) fn handle(
        mut self,
        offset: u64,
        record: &LogRecord<'_>,
        is_hidden: bool,
        extractor: &mut Extractor,
    ) -> Option<&'static str> {
        self.waiting.iter_mut().for_each(|table| table.begin = table.rows);
        self.open.push(Open { row: self.waiting[0].rows, ..Open::default() });
        // Its KPIs date the items of all records.
        let _counted_elsewhere = extractor.extract(record, |_| {});
        if is_hidden {
            self.set_last(2, Cell::Int(1));
            self.set_last(3, Cell::Int(record.body.len() as i64));
        } else if let Err(error) = record::decode(record, &mut self) {
            self.set_unread(record, &error);
        }
        self.end(0, true);
        self.date(record, extractor);
        let offset = Cell::Int(i64::try_from(offset).unwrap_or(i64::MAX));
        for table in self.waiting.iter_mut() {
            table.fill(plan::CODE, &self.plan.first);
            table.fill(plan::OFFSET, &offset);
        }
        self.open.clear();
        self.scratch.open = self.open;
        self.strange
    }

    fn set_last(&mut self, number: usize, cell: Cell) {
        let columns = &mut self.waiting[0].columns;
        let column = columns.len() - plan::LAST.len() + number;
        let row = self.open[0].row;
        self.waiting[0].columns[column].set(row, cell);
    }

    fn set_unread(&mut self, record: &LogRecord<'_>, error: &RecordError) {
        self.set_last(0, Cell::text(error.to_string()));
        self.set_last(1, Cell::Bytes(record.body.to_vec().into()));
    }

    /// Sets the times of the record and of its items, and how the modem wrote its time.
    fn date(&mut self, record: &LogRecord<'_>, extractor: &Extractor) {
        let first = &mut self.waiting[0];
        first.fill(plan::STAMP, &Cell::Int(record.stamp.cast_signed()));
        if let Some(radio) = record.radio {
            first.fill(plan::RADIO, &Cell::Int(radio.into()));
        }
        if let Some(nanos) = record.at.known_unix_nanos() {
            let all = self.waiting.iter().flat_map(|table| table.moments.iter().flatten().copied());
            let dates = extractor.moments(record, all);
            let record_time = time(nanos);
            for table in self.waiting.iter_mut() {
                table.fill(plan::RECORD_TIME, &record_time);
                for (moment, row) in table.moments.iter().zip(table.begin..) {
                    let at = moment.and_then(|moment| dates.of(moment));
                    if let Some(nanos) = at.and_then(ModemInstant::known_unix_nanos) {
                        table.columns[plan::TIME].set(row, time(nanos));
                    }
                }
            }
        }
        self.waiting.iter_mut().for_each(|table| table.moments.clear());
    }

    fn node(&self) -> &'t Node {
        &self.plan.nodes[self.open.last().map_or(0, |open| open.node)]
    }

    /// A cell of the open item.
    fn put(&mut self, node: &Node, column: usize, cell: Cell, is_once: bool) {
        if node.is_row {
            let table = &mut self.waiting[node.table];
            let row = table.rows;
            table.columns[column].set(row, cell);
        } else {
            self.scratch.stash.push(Stashed { column, cell, is_once });
        }
    }

    /// The end of an item, or of the record.
    fn end(&mut self, number: usize, is_record: bool) {
        let Some(open) = self.open.last().copied() else { return };
        let node = &self.plan.nodes[open.node];
        self.end_kpis(node, open);
        if node.is_single {
            return;
        }
        let table = &mut self.waiting[node.table];
        if node.is_row || table.rows == open.row {
            table.end_row(open.place.moment(self.plan));
        }
        let rows = open.row..table.rows;
        for Stashed { column, cell, is_once } in self.scratch.stash.drain(open.stash..) {
            let rows = if is_once { rows.start..rows.start + 1 } else { rows.clone() };
            table.columns[column].fill(rows, &cell);
        }
        if is_record {
            return;
        }
        let item = Cell::Int(number as i64);
        if let Some(column) = node.item {
            table.columns[column].fill(rows, &item);
        }
        for (&(table, column), first) in
            node.within.iter().zip(self.scratch.firsts.drain(open.first..))
        {
            let table = &mut self.waiting[table];
            table.columns[column].fill(first..table.rows, &item);
        }
    }

    /// The KPIs of an item that have a column of their own.
    fn end_kpis(&mut self, node: &Node, open: Open) {
        for rule in &node.kpis {
            let found = self.scratch.found.get(open.found..).unwrap_or_default();
            let value = |name| found.iter().rev().find(|found| found.name == name).map(|f| f.value);
            let holds = rule.condition.is_none_or(|condition| {
                match (value(condition.field), condition.choices) {
                    (Some(Value::Name(_, Some(name))), Some(choices)) => {
                        choices.split('|').any(|choice| choice == name)
                    }
                    (Some(Value::Uint(number)), None) => number != 0,
                    _ => false,
                }
            });
            let number =
                value(rule.field).filter(|_| holds).and_then(|value| rule.conversion.value(value));
            let Some(number) = number else { continue };
            let cell = match rule.is_whole {
                true => Cell::Int(number as i64),
                false => Cell::Real(number),
            };
            self.put(node, rule.column, cell, rule.is_once);
        }
        self.scratch.found.truncate(open.found);
    }
}

/// Microseconds.
fn time(unix_nanos: u64) -> Cell {
    Cell::Int(i64::try_from(unix_nanos / 1000).unwrap_or(i64::MAX))
}

impl Place {
    /// Takes a field that tells where the item is in its frames.
    fn handle(&mut self, role: Role, value: Value<'_>) {
        let number = match value {
            Value::Uint(number) | Value::Hex(number, _) | Value::Name(number, _) => number,
            _ => return,
        };
        let small = u16::try_from(number).ok();
        let is_place = matches!(role, Role::Tti | Role::Frame | Role::Subframe | Role::Slot);
        if is_place && !self.is_own {
            *self = Self { numerology: self.numerology, is_own: true, ..Self::default() };
        }
        match role {
            Role::None => {}
            Role::Tti => self.tti = Tti::from_count(number),
            Role::Frame => self.frame = small,
            Role::Subframe => self.subframe = small,
            Role::Slot => self.slot = small,
            Role::Numerology => self.numerology = u8::try_from(number).ok(),
            Role::SubframeOffset => self.offset = small.unwrap_or_default(),
        }
    }

    fn moment(&self, plan: &Plan) -> Option<Moment> {
        let narrow = |number: u16| u8::try_from(number).ok();
        if plan::is_lte(plan.code.number()) {
            let of_frame = || Tti::new(self.frame?, narrow(self.subframe?)?);
            let tti = self.tti.or_else(of_frame)?;
            return Some(Moment::Subframe(tti.after(self.offset)));
        }
        let frame = self.frame.filter(|frame| *frame < 1024)?;
        let (slot, numerology) = match (self.slot, self.subframe) {
            (Some(slot), _) => (narrow(slot)?, self.numerology),
            // A subframe is as long as a slot of the first numerology.
            (None, Some(subframe)) => (narrow(subframe)?, Some(0)),
            (None, None) => return None,
        };
        Some(Moment::Slot { frame, slot, numerology })
    }
}

impl Sink for Rows<'_> {
    fn field(&mut self, name: &'static str, value: Value<'_>) {
        let plan = self.plan;
        let Some(open) = self.open.last_mut() else { return };
        let node = &plan.nodes[open.node];
        // Fields come in the order of the plan, with gaps. The names are mostly the same bytes.
        let (before, after) = node.fields.split_at(open.next.min(node.fields.len()));
        let at = |field: Option<usize>| field.map(|at| at + open.next);
        let found = at(after.iter().position(|field| core::ptr::eq(field.name, name)))
            .or_else(|| before.iter().position(|field| field.name == name))
            .or_else(|| at(after.iter().position(|field| field.name == name)));
        let Some(at) = found else {
            self.strange = Some(name);
            return;
        };
        open.next = at + 1;
        let field = &node.fields[at];
        if field.role != Role::None {
            open.place.handle(field.role, value);
        }
        if field.is_needed
            && let Some(value) = still(value)
        {
            self.scratch.found.push(Found { name: field.name, value });
        }
        if node.is_row {
            let table = &mut self.waiting[node.table];
            table.columns[field.column].put(table.rows, field.kind, value);
        } else if let Some(cell) = field.kind.cell(value) {
            self.put(node, field.column, cell, false);
        }
    }

    fn begin_list(&mut self, name: &'static str) {
        let lists = &self.node().lists;
        let name_of = |list: usize| self.plan.nodes[list].name;
        let is_same = |list: &usize| core::ptr::eq(name_of(*list), name) || name_of(*list) == name;
        let node = lists.iter().copied().find(is_same);
        if node.is_none() {
            self.strange = Some(name);
        }
        self.open.push(Open { node: node.unwrap_or_default(), ..Open::default() });
    }

    fn begin_item(&mut self) {
        let around = self.open.len().checked_sub(2).map(|around| self.open[around].place);
        let Some(open) = self.open.last_mut() else { return };
        let node = &self.plan.nodes[open.node];
        open.row = self.waiting[node.table].rows;
        open.first = self.scratch.firsts.len();
        open.stash = self.scratch.stash.len();
        open.found = self.scratch.found.len();
        open.next = 0;
        open.place = Place { is_own: false, ..around.unwrap_or_default() };
        let firsts = node.within.iter().map(|&(table, _)| self.waiting[table].rows);
        self.scratch.firsts.extend(firsts);
    }

    fn end_item(&mut self) {
        let Some(open) = self.open.last_mut() else { return };
        let number = open.items;
        open.items += 1;
        self.end(number, false);
    }

    fn end_list(&mut self) {
        self.open.pop();
    }
}

/// A value that needs no bytes of the record.
fn still(value: Value<'_>) -> Option<Value<'static>> {
    Some(match value {
        Value::Uint(number) => Value::Uint(number),
        Value::Int(number) => Value::Int(number),
        Value::Flag(set) => Value::Flag(set),
        Value::Hex(number, width) => Value::Hex(number, width),
        Value::Scaled(number) => Value::Scaled(number),
        Value::Name(number, name) => Value::Name(number, name),
        Value::Plmn(plmn) => Value::Plmn(plmn),
        Value::Bytes(_) => return None,
    })
}
