//! Fields of the records of one code as columns.

use std::collections::HashMap;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use sounding_diag::layout::{Sink, Value};
use sounding_diag::{LogCode, LogRecord, record};
use sounding_export::table::unit_of;

use crate::reader::{self, Whole};

/// A column on its way to Python: numbers as their bytes, which become a buffer there.
pub(crate) enum Column {
    Floats(Vec<u8>),
    Integers(Vec<u8>),
    Words(Vec<String>),
}

pub(crate) fn floats(numbers: Vec<f64>) -> Column {
    Column::Floats(numbers.iter().flat_map(|number| number.to_ne_bytes()).collect())
}

pub(crate) fn integers(numbers: Vec<i64>) -> Column {
    Column::Integers(numbers.iter().flat_map(|number| number.to_ne_bytes()).collect())
}

impl<'py> IntoPyObject<'py> for Column {
    type Target = PyAny;
    type Output = Bound<'py, PyAny>;
    type Error = PyErr;

    fn into_pyobject(self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        Ok(match self {
            Self::Floats(bytes) => ("d", PyBytes::new(py, &bytes)).into_pyobject(py)?.into_any(),
            Self::Integers(bytes) => ("q", PyBytes::new(py, &bytes)).into_pyobject(py)?.into_any(),
            Self::Words(words) => words.into_pyobject(py)?.into_any(),
        })
    }
}

/// When a record was stamped, in nanoseconds since 1970; if it was not, the number that pandas and
/// NumPy read as no time.
pub(crate) fn modem_time_ns(log: &LogRecord<'_>) -> i64 {
    log.at.known_unix_nanos().map_or(i64::MIN, u64::cast_signed)
}

/// The fields of all records of a code: a row for each item of the innermost list that a path goes
/// through.
#[pyfunction]
pub(crate) fn columns<'py>(
    py: Python<'py>,
    source: &Bound<'py, PyAny>,
    code: u16,
    paths: Vec<String>,
) -> PyResult<Bound<'py, PyDict>> {
    let mut table = Table::new(&paths)?;
    let stream = Whole::open(py, source)?.for_each_record(py, |log| {
        if log.code == LogCode::new(code) {
            // An unreadable record has no fields; a reader's counts include it.
            table.handle(log);
        }
    })?;
    if let Some(path) = table.never_seen() {
        return Err(PyValueError::new_err(format!(
            "no record 0x{code:04X} of this capture has a field {path:?}"
        )));
    }
    reader::table(py, table.into_dict(py, LogCode::new(code))?, &stream, &[])
}

/// Rows of numbers, filled while records are walked.
struct Table {
    /// The lists that lead to a row.
    row_lists: Vec<String>,
    fields: Vec<Wish>,
    time: Vec<i64>,
    now: i64,
    /// The lists that are open, and the first row of each open item; the record itself is the
    /// first.
    open: Vec<&'static str>,
    first_rows: Vec<usize>,
}

/// A requested field.
struct Wish {
    path: String,
    name: String,
    lists: Vec<String>,
    numbers: Vec<f64>,
    /// Its value in the items that are open, for the rows to come.
    current: f64,
    /// The names of its choices, by number, where it has any.
    names: HashMap<u64, &'static str>,
    seen: bool,
}

impl Table {
    fn new(paths: &[String]) -> PyResult<Self> {
        let fields: Vec<Wish> = paths.iter().map(|path| Wish::new(path)).collect();
        let deepest = fields.iter().max_by_key(|field| field.lists.len());
        let row_lists = deepest.map(|field| field.lists.clone()).unwrap_or_default();
        if let Some(apart) = fields.iter().find(|field| !row_lists.starts_with(&field.lists)) {
            let rows = row_lists.join(".");
            return Err(PyValueError::new_err(format!(
                "{:?} is not on the way to {rows:?}, so the two cannot share rows",
                apart.path
            )));
        }
        Ok(Self {
            row_lists,
            fields,
            time: Vec::new(),
            now: 0,
            open: Vec::new(),
            first_rows: Vec::new(),
        })
    }

    fn handle(&mut self, log: &LogRecord<'_>) {
        self.now = modem_time_ns(log);
        self.begin();
        let is_read = record::decode(log, self).is_ok();
        if is_read && self.row_lists.is_empty() {
            self.end_row();
        }
        self.first_rows.clear();
    }

    fn begin(&mut self) {
        self.first_rows.push(self.time.len());
        let depth = self.open.len();
        for field in self.fields.iter_mut().filter(|field| field.lists.len() >= depth) {
            field.current = f64::NAN;
        }
    }

    fn end_row(&mut self) {
        self.time.push(self.now);
        for field in &mut self.fields {
            field.numbers.push(field.current);
        }
    }

    fn is_open(&self, lists: &[String]) -> bool {
        lists.len() == self.open.len() && lists.iter().zip(&self.open).all(|(a, b)| a == b)
    }

    fn never_seen(&self) -> Option<&str> {
        let unseen = self.fields.iter().find(|field| !field.seen);
        // A capture without any such record is an empty table.
        unseen.filter(|_| !self.time.is_empty()).map(|field| field.path.as_str())
    }

    fn into_dict(self, py: Python<'_>, code: LogCode) -> PyResult<Bound<'_, PyDict>> {
        let dict = PyDict::new(py);
        dict.set_item("modem_time_ns", (integers(self.time), None::<()>, None::<()>))?;
        for field in self.fields {
            let names = (!field.names.is_empty()).then_some(field.names);
            let unit = unit_of(code, &field.path);
            dict.set_item(field.path, (floats(field.numbers), names, unit))?;
        }
        Ok(dict)
    }
}

impl Wish {
    fn new(path: &str) -> Self {
        let mut lists: Vec<String> = path.split('.').map(Into::into).collect();
        let name = lists.pop().unwrap_or_default();
        Self {
            path: path.into(),
            name,
            lists,
            numbers: Vec::new(),
            current: f64::NAN,
            names: HashMap::new(),
            seen: false,
        }
    }

    fn number(&mut self, value: Value<'_>) -> Option<f64> {
        Some(match value {
            Value::Uint(number) | Value::Hex(number, _) => number as f64,
            Value::Name(number, name) => {
                if let Some(name) = name {
                    self.names.insert(number, name);
                }
                number as f64
            }
            Value::Int(number) => number as f64,
            Value::Flag(set) => f64::from(u8::from(set)),
            Value::Scaled(number) => number,
            Value::Bytes(_) | Value::Plmn(_) => return None,
        })
    }
}

impl Sink for Table {
    fn field(&mut self, name: &'static str, value: Value<'_>) {
        for at in 0..self.fields.len() {
            if self.fields[at].name != name || !self.is_open(&self.fields[at].lists) {
                continue;
            }
            let first = self.first_rows.last().copied().unwrap_or_default();
            let field = &mut self.fields[at];
            if let Some(number) = field.number(value) {
                field.seen = true;
                field.current = number;
                // A field may stand behind the list whose rows it belongs to.
                if let Some(rows) = field.numbers.get_mut(first..) {
                    rows.fill(number);
                }
            }
        }
    }

    fn begin_list(&mut self, name: &'static str) {
        self.open.push(name);
    }

    fn begin_item(&mut self) {
        self.begin();
    }

    fn end_item(&mut self) {
        if self.is_open(&self.row_lists) {
            self.end_row();
        }
        self.first_rows.pop();
    }

    fn end_list(&mut self) {
        self.open.pop();
    }
}
