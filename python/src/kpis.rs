//! Named KPIs as columns.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use sounding_diag::LogRecord;
use sounding_diag::layout::Item;
use sounding_kpi::registry::{self, NamedKpi};
use sounding_kpi::{Counts, Subscription};

use crate::columns::{floats, integers, modem_time_ns};
use crate::reader::{self, Whole};

/// The values of some KPIs in a capture: a row for each item of a record that has any of them.
#[pyfunction]
pub(crate) fn kpis<'py>(
    py: Python<'py>,
    source: &Bound<'py, PyAny>,
    names: Vec<String>,
) -> PyResult<Bound<'py, PyDict>> {
    let subscription = Subscription::new(names.iter().map(String::as_str))
        .map_err(|e| PyValueError::new_err(e.to_string()))?;
    let mut rows = Rows::new(subscription);
    let stream = Whole::open(py, source)?.for_each_record(py, |log| rows.handle(log))?;
    let Counts { records, values, by_coverage, lacking } = rows.subscription.counts();
    let mut of_records = vec![("records", records), ("values", values), ("lacking", lacking)];
    of_records.extend(reader::of_records(&by_coverage));
    reader::table(py, rows.into_dict(py)?, &stream, &of_records)
}

/// Every KPI there is.
#[pyfunction]
pub(crate) fn known_kpis() -> Vec<Kpi> {
    registry::all().map(Kpi).collect()
}

/// A number that has a name.
#[pyclass(frozen, module = "sounding")]
pub(crate) struct Kpi(&'static NamedKpi);

#[pymethods]
impl Kpi {
    /// Its name: technology, channel or layer, quantity.
    #[getter]
    fn name(&self) -> &'static str {
        self.0.name
    }

    /// What it is counted in.
    #[getter]
    fn unit(&self) -> String {
        self.0.unit.to_string()
    }

    /// The smallest value it can have.
    #[getter]
    fn least(&self) -> f64 {
        self.0.least
    }

    /// The largest.
    #[getter]
    fn most(&self) -> f64 {
        self.0.most
    }

    /// What it is.
    #[getter]
    fn what(&self) -> &'static str {
        self.0.what
    }

    /// The section that defines it.
    #[getter]
    fn origin(&self) -> &'static str {
        self.0.origin
    }

    /// The log code of the record that has it.
    #[getter]
    fn code(&self) -> u16 {
        self.0.code.number()
    }

    fn __repr__(&self) -> String {
        format!("<Kpi {} in {}: {}>", self.0.name, self.0.unit, self.0.what)
    }
}

/// Rows, filled while records are read.
struct Rows {
    subscription: Subscription,
    time: Vec<i64>,
    /// A column for each KPI; NaN where a row has no value.
    values: Vec<Vec<f64>>,
    /// The values of one record.
    found: Vec<(Item, usize, f64)>,
    /// The items of one record that are rows.
    items: Vec<Item>,
}

impl Rows {
    fn new(subscription: Subscription) -> Self {
        let values = vec![Vec::new(); subscription.kpis().len()];
        Self { subscription, time: Vec::new(), values, found: Vec::new(), items: Vec::new() }
    }

    fn handle(&mut self, log: &LogRecord<'_>) {
        let Self { subscription, time, values, found, items } = self;
        found.clear();
        // Unreadable records are in the subscription's counts.
        let _unread = subscription.handle(log, |got| found.push((got.item, got.slot, got.value)));
        if found.is_empty() {
            return;
        }
        items.clear();
        items.extend(found.iter().map(|(item, ..)| *item));
        items.sort_unstable();
        items.dedup();
        // An item that others lie within shares their rows; sorted, the first of them follows it.
        let mut next = items.iter().copied().skip(1).collect::<Vec<_>>().into_iter();
        items.retain(|item| next.next().is_none_or(|inner| !lies_within(&inner, item)));
        let first = time.len();
        time.resize(first + items.len(), modem_time_ns(log));
        for column in values.iter_mut() {
            column.resize(first + items.len(), f64::NAN);
        }
        for (item, slot, value) in found.iter() {
            let begin = items.partition_point(|row| row.levels() < item.levels());
            let inner = items[begin..].iter().take_while(|row| lies_within(row, item)).count();
            if let Some(column) = values.get_mut(*slot) {
                column[first + begin..first + begin + inner].fill(*value);
            }
        }
    }

    fn into_dict(self, py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
        let columns = PyDict::new(py);
        columns.set_item("modem_time_ns", (integers(self.time), None::<()>, None::<()>))?;
        for (kpi, values) in self.subscription.kpis().iter().zip(self.values) {
            columns.set_item(kpi.name, (floats(values), None::<()>, kpi.unit.to_string()))?;
        }
        Ok(columns)
    }
}

/// Whether `inner` is `outer` or lies within it.
fn lies_within(inner: &Item, outer: &Item) -> bool {
    inner.levels().starts_with(outer.levels())
}
