//! A decoded record as Python's dicts and lists.

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList, PyString};
use sounding_diag::layout::{Sink, Value};

/// How choices are handed over.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Choices {
    /// By name where they have one, else by number.
    Named,
    /// By number; flags too.
    Numbered,
}

/// Builds the dict of a record.
pub(crate) struct Fields<'py> {
    py: Python<'py>,
    choices: Choices,
    root: Bound<'py, PyDict>,
    /// Lists and items that are open, innermost last.
    open: Vec<Open<'py>>,
    /// The first thing that Python refused; memory, if anything.
    failed: Option<PyErr>,
}

enum Open<'py> {
    List(&'static str, Bound<'py, PyList>),
    Item(Bound<'py, PyDict>),
}

impl<'py> Fields<'py> {
    pub(crate) fn new(py: Python<'py>, choices: Choices) -> Self {
        Self { py, choices, root: PyDict::new(py), open: Vec::new(), failed: None }
    }

    pub(crate) fn finish(self) -> PyResult<Bound<'py, PyDict>> {
        match self.failed {
            Some(failed) => Err(failed),
            None => Ok(self.root),
        }
    }

    fn set(&mut self, name: &'static str, value: &Bound<'py, PyAny>) {
        let dict = match self.open.last() {
            Some(Open::Item(item)) => item,
            _ => &self.root,
        };
        let done = dict.set_item(PyString::intern(self.py, name), value);
        self.keep(done);
    }

    fn keep(&mut self, done: PyResult<()>) {
        if let Err(failed) = done {
            self.failed.get_or_insert(failed);
        }
    }

    fn value(&self, value: Value<'_>) -> PyResult<Bound<'py, PyAny>> {
        let py = self.py;
        Ok(match value {
            Value::Name(_, Some(name)) if self.choices == Choices::Named => {
                PyString::intern(py, name).into_any()
            }
            Value::Uint(number) | Value::Hex(number, _) | Value::Name(number, _) => {
                number.into_pyobject(py)?.into_any()
            }
            Value::Int(number) => number.into_pyobject(py)?.into_any(),
            Value::Flag(set) if self.choices == Choices::Numbered => {
                u8::from(set).into_pyobject(py)?.into_any()
            }
            Value::Flag(set) => set.into_pyobject(py)?.to_owned().into_any(),
            Value::Scaled(number) => number.into_pyobject(py)?.into_any(),
            Value::Plmn(plmn) => plmn.to_string().into_pyobject(py)?.into_any(),
            Value::Bytes(bytes) => PyBytes::new(py, bytes).into_any(),
        })
    }
}

impl Sink for Fields<'_> {
    fn field(&mut self, name: &'static str, value: Value<'_>) {
        match self.value(value) {
            Ok(value) => self.set(name, &value),
            Err(failed) => self.keep(Err(failed)),
        }
    }

    fn begin_list(&mut self, name: &'static str) {
        self.open.push(Open::List(name, PyList::empty(self.py)));
    }

    fn begin_item(&mut self) {
        self.open.push(Open::Item(PyDict::new(self.py)));
    }

    fn end_item(&mut self) {
        let item = self.open.pop();
        if let (Some(Open::Item(item)), Some(Open::List(_, items))) = (item, self.open.last()) {
            let done = items.append(item);
            self.keep(done);
        }
    }

    fn end_list(&mut self) {
        if let Some(Open::List(name, items)) = self.open.pop() {
            self.set(name, &items.into_any());
        }
    }
}
