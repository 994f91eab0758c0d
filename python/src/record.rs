//! One log record.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBytes, PyDict};
use sounding_diag::layout::{Sink, Value};
use sounding_diag::record::{self, RecordError};
use sounding_diag::{LogCode, LogRecord, hdlc};
use sounding_units::ModemInstant;

use crate::error;
use crate::fields::{Choices, Fields};
use crate::message::Message;

/// A log record as the modem sent it. Its fields are decoded on access.
#[pyclass(frozen, module = "sounding")]
pub(crate) struct Record {
    code: LogCode,
    stamp: u64,
    radio: Option<u32>,
    /// Where in the stream its frame is.
    #[pyo3(get)]
    offset: u64,
    body: Box<[u8]>,
}

impl Record {
    pub(crate) fn new(offset: u64, log: &LogRecord<'_>) -> Self {
        Self { code: log.code, stamp: log.stamp, radio: log.radio, offset, body: log.body.into() }
    }

    fn log(&self) -> LogRecord<'_> {
        LogRecord {
            code: self.code,
            at: ModemInstant::from_diag(self.stamp),
            stamp: self.stamp,
            radio: self.radio,
            body: &self.body,
        }
    }

    fn read<'py>(
        &self,
        py: Python<'py>,
        choices: Choices,
    ) -> PyResult<Result<Bound<'py, PyDict>, RecordError>> {
        let mut fields = Fields::new(py, choices);
        match record::decode(&self.log(), &mut fields) {
            Ok(()) => fields.finish().map(Ok),
            Err(error) => Ok(Err(error)),
        }
    }
}

#[pymethods]
impl Record {
    /// What it logs, as in 0xB173.
    #[getter]
    fn code(&self) -> u16 {
        self.code.number()
    }

    /// The vendor's name of its code, if it is a common one.
    #[getter]
    fn name(&self) -> Option<&'static str> {
        self.code.name()
    }

    /// The version at the beginning of its body: a byte, or NR's word of a major and a minor half.
    #[getter]
    fn version(&self) -> Option<u32> {
        self.code.version_of(&self.body)
    }

    /// The subscription it belongs to, counted from 1, if the modem reports it.
    #[getter]
    fn radio(&self) -> Option<u32> {
        self.radio
    }

    /// The time stamp on the wire, unconverted.
    #[getter]
    fn stamp(&self) -> u64 {
        self.stamp
    }

    /// When, by the modem's clock, in nanoseconds since 1970; None if it stamped none. A modem
    /// without a network counts from 1980.
    #[getter]
    fn modem_time_ns(&self) -> Option<u64> {
        self.log().at.known_unix_nanos()
    }

    /// When, by the modem's clock, to the microsecond and in UTC; None if it stamped none.
    #[getter]
    fn modem_time<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let Some(nanos) = self.modem_time_ns() else { return Ok(None) };
        let delta = timedelta(py)?.call1((0, 0, nanos / 1_000))?;
        epoch(py)?.add(delta).map(Some)
    }

    /// Everything after the time stamp.
    #[getter]
    fn raw<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.body)
    }

    /// Its fields by name, lists as lists of dicts; None if it cannot be read.
    #[getter]
    fn fields<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        self.read(py, Choices::Named).map(Result::ok)
    }

    /// Why it cannot be read; None if it can.
    #[getter]
    fn unread(&self) -> Option<String> {
        record::decode(&self.log(), &mut Nothing).err().map(|error| error.to_string())
    }

    /// Its fields by name, as `fields`; an `UnreadError` if it cannot be read. With `numbers`,
    /// choices are given by the number on the wire instead of their name, and flags too.
    #[pyo3(signature = (*, numbers = false))]
    fn decode<'py>(&self, py: Python<'py>, numbers: bool) -> PyResult<Bound<'py, PyDict>> {
        let choices = if numbers { Choices::Numbered } else { Choices::Named };
        self.read(py, choices)?
            .map_err(|error| error::unread(py, self.offset, self.code.number(), &error))
    }

    /// The RRC or NAS message in it; None if it has none, a part of one, or one of an unknown kind.
    #[getter]
    fn message(&self) -> Option<Message> {
        sounding_export::message::Message::of(&self.log()).and_then(|found| Message::of(&found))
    }

    /// The frame that carries it on a Diag port and in a capture.
    fn to_frame<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let (mut payload, mut frame) = (Vec::new(), Vec::new());
        self.log().emit(&mut payload).map_err(|e| PyValueError::new_err(e.to_string()))?;
        hdlc::encode(&payload, &mut frame);
        Ok(PyBytes::new(py, &frame))
    }

    fn __repr__(&self) -> String {
        let name = self.code.name().unwrap_or("unnamed");
        format!(
            "<Record {} {name} at offset {}, {} bytes>",
            self.code,
            self.offset,
            self.body.len()
        )
    }
}

/// Takes no field: what is left of decoding is whether it can be done.
struct Nothing;

impl Sink for Nothing {
    fn field(&mut self, _: &'static str, _: Value<'_>) {}
    fn begin_list(&mut self, _: &'static str) {}
    fn begin_item(&mut self) {}
    fn end_item(&mut self) {}
    fn end_list(&mut self) {}
}

fn timedelta(py: Python<'_>) -> PyResult<&Bound<'_, PyAny>> {
    static TIMEDELTA: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let found = TIMEDELTA
        .get_or_try_init(py, || py.import("datetime")?.getattr("timedelta").map(Bound::unbind))?;
    Ok(found.bind(py))
}

/// 1970, in UTC.
fn epoch(py: Python<'_>) -> PyResult<&Bound<'_, PyAny>> {
    static EPOCH: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let found = EPOCH.get_or_try_init(py, || {
        let datetime = py.import("datetime")?;
        let utc = datetime.getattr("timezone")?.getattr("utc")?;
        let epoch = datetime.getattr("datetime")?.call_method1("fromtimestamp", (0, utc))?;
        Ok::<_, PyErr>(epoch.unbind())
    })?;
    Ok(found.bind(py))
}
