//! The RRC or NAS message of a record.

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList, PyString, PyTuple};
use sounding_export::message::Channel;
use sounding_nas::{Direction, NasMessage, System};
use sounding_rrc::{BitStr, Value, Visitor};

use crate::error::UnreadError;

/// An RRC or NAS message, as it was sent.
#[pyclass(frozen, module = "sounding")]
pub(crate) struct Message {
    channel: Channel,
    /// The device sent it.
    #[pyo3(get)]
    uplink: bool,
    bytes: Box<[u8]>,
}

impl Message {
    /// `None` for a message without a decoder: of UMTS or GSM.
    pub(crate) fn of(found: &sounding_export::message::Message<'_>) -> Option<Self> {
        let own = Self { channel: found.channel, uplink: found.uplink, bytes: found.bytes.into() };
        own.name().map(|_| own)
    }

    fn name(&self) -> Option<&'static str> {
        match self.channel {
            Channel::Rrc(pdu) => Some(pdu.name()),
            Channel::NasPlain | Channel::NasProtected => Some("nas_eps"),
            Channel::NasNr => Some("nas_5gs"),
            _ => None,
        }
    }

    fn rrc<T>(&self, read: impl FnOnce(&Value<'_>) -> PyResult<T>) -> PyResult<Option<T>> {
        let Channel::Rrc(pdu) = self.channel else { return Ok(None) };
        let decoded = sounding_rrc::decode(pdu, &self.bytes)
            .map_err(|error| UnreadError::new_err(format!("{}: {error}", pdu.name())))?;
        read(&decoded.value).map(Some)
    }

    fn nas(&self) -> PyResult<String> {
        let system = if self.channel == Channel::NasNr { System::FiveGs } else { System::Eps };
        let direction = if self.uplink { Direction::Uplink } else { Direction::Downlink };
        let decoded = NasMessage::decode(system, direction, &self.bytes)
            .map_err(|error| UnreadError::new_err(error.to_string()))?;
        Ok(decoded.whole())
    }
}

#[pymethods]
impl Message {
    /// Its channel, as in `lte_dl_dcch`; `nas_eps` and `nas_5gs` are NAS of LTE and NR.
    #[getter]
    fn channel(&self) -> &'static str {
        self.name().unwrap_or_default()
    }

    /// The message as it was sent.
    #[getter]
    fn raw<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.bytes)
    }

    /// Its members by the specification's names. A choice is a dict of one member; bits are text of
    /// 0 and 1; bytes of NAS are text in hex. An `UnreadError` if it cannot be decoded.
    fn decode<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        match self.rrc(|value| plain(py, value))? {
            Some(value) => Ok(value),
            None => py.import("json")?.call_method1("loads", (self.nas()?,)),
        }
    }

    /// The values of an RRC message as tuples of name, kind, value, number and list of values
    /// within; None for NAS. `number` is that of a choice or enumeration in the encoding.
    fn tree<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let Channel::Rrc(pdu) = self.channel else { return Ok(None) };
        self.rrc(|value| {
            let mut tree = Tree { py, open: vec![Open::root(py)], failed: None };
            sounding_rrc::visit(pdu, value, &mut tree);
            tree.finish()
        })
    }

    fn __repr__(&self) -> String {
        format!("<Message {}, {} bytes>", self.channel(), self.bytes.len())
    }
}

/// A value of RRC as Python's own.
fn plain<'py>(py: Python<'py>, value: &Value<'_>) -> PyResult<Bound<'py, PyAny>> {
    let dict = |members: &[(&'static str, Value<'_>)]| {
        let dict = PyDict::new(py);
        for (name, member) in members {
            dict.set_item(PyString::intern(py, name), plain(py, member)?)?;
        }
        Ok::<_, PyErr>(dict.into_any())
    };
    Ok(match value {
        Value::Sequence(members) => dict(members)?,
        Value::Choice(name, inner) => {
            let dict = PyDict::new(py);
            dict.set_item(PyString::intern(py, name), plain(py, inner)?)?;
            dict.into_any()
        }
        Value::Later(number) => {
            let dict = PyDict::new(py);
            dict.set_item("later_addition", number)?;
            dict.into_any()
        }
        Value::List(items) => {
            let list = PyList::empty(py);
            for item in items {
                list.append(plain(py, item)?)?;
            }
            list.into_any()
        }
        Value::Contains(inner) => plain(py, inner)?,
        value => scalar(py, value)?,
    })
}

/// The own value of a value; None for one that only holds others.
fn scalar<'py>(py: Python<'py>, value: &Value<'_>) -> PyResult<Bound<'py, PyAny>> {
    Ok(match value {
        Value::Boolean(set) => set.into_pyobject(py)?.to_owned().into_any(),
        Value::Integer(number) => number.into_pyobject(py)?.into_any(),
        Value::Name(name) | Value::Choice(name, _) => PyString::intern(py, name).into_any(),
        Value::Bits(bits) => format!("{bits:?}").into_pyobject(py)?.into_any(),
        Value::Octets(octets) => PyBytes::new(py, &bytes_of(octets)).into_any(),
        _ => py.None().into_bound(py),
    })
}

fn bytes_of(octets: &BitStr<'_>) -> Vec<u8> {
    octets.bytes().collect()
}

struct Tree<'py> {
    py: Python<'py>,
    open: Vec<Open<'py>>,
    /// The first thing that Python refused.
    failed: Option<PyErr>,
}

struct Open<'py> {
    head: Option<[Bound<'py, PyAny>; 4]>,
    within: Bound<'py, PyList>,
}

impl<'py> Open<'py> {
    fn root(py: Python<'py>) -> Self {
        Self { head: None, within: PyList::empty(py) }
    }
}

impl<'py> Tree<'py> {
    fn finish(mut self) -> PyResult<Bound<'py, PyAny>> {
        match (self.failed.take(), self.open.pop()) {
            (Some(failed), _) => Err(failed),
            (None, Some(root)) => root.within.get_item(0),
            (None, None) => Ok(self.py.None().into_bound(self.py)),
        }
    }

    fn opened(
        &self,
        name: Option<&'static str>,
        value: &Value<'_>,
        number: Option<u64>,
    ) -> PyResult<Open<'py>> {
        let py = self.py;
        let head = [
            name.map(|name| PyString::intern(py, name)).into_pyobject(py)?,
            PyString::intern(py, kind(value)).into_any(),
            scalar(py, value)?,
            number.into_pyobject(py)?,
        ];
        Ok(Open { head: Some(head), within: PyList::empty(py) })
    }

    fn closed(&mut self) -> PyResult<()> {
        let (Some(done), Some(outer)) = (self.open.pop(), self.open.last()) else { return Ok(()) };
        let Some([name, kind, value, number]) = done.head else { return Ok(()) };
        let node = [name, kind, value, number, done.within.into_any()];
        outer.within.append(PyTuple::new(self.py, node)?)
    }
}

impl Visitor for Tree<'_> {
    fn begin(&mut self, name: Option<&'static str>, value: &Value<'_>, number: Option<u64>) {
        match self.opened(name, value, number) {
            Ok(open) => self.open.push(open),
            Err(failed) => {
                self.failed.get_or_insert(failed);
                self.open.push(Open::root(self.py));
            }
        }
    }

    fn end(&mut self) {
        if let Err(failed) = self.closed() {
            self.failed.get_or_insert(failed);
        }
    }
}

fn kind(value: &Value<'_>) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Boolean(_) => "boolean",
        Value::Integer(_) => "integer",
        Value::Name(_) => "name",
        Value::Later(_) => "later",
        Value::Bits(_) => "bits",
        Value::Octets(_) => "octets",
        Value::Contains(_) => "contains",
        Value::Sequence(_) => "sequence",
        Value::List(_) => "list",
        Value::Choice(..) => "choice",
    }
}
