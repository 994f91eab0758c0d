//! Iterating over the records of a capture or a port.

use std::collections::{HashSet, VecDeque};
use std::io;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{IntoPyDict, PyBytes, PyDict};
use sounding_diag::capture::{self, Damage, Located};
use sounding_diag::packet::Packet;
use sounding_diag::record::{self, RecordCounts};
use sounding_diag::{LogCode, LogRecord};

use crate::error;
use crate::record::Record;
use crate::source::{Source, buffer};

/// The records of a capture or a port, one after the other.
#[pyclass(frozen, module = "sounding")]
pub(crate) struct Reader {
    inner: Mutex<Inner>,
    path: PathBuf,
}

struct Inner {
    /// None once it is closed.
    source: Option<Source>,
    buffer: Box<[u8]>,
    stream: capture::Reader,
    sink: Found,
}

/// Items that were found in the stream and not returned yet.
struct Found {
    wanted: Wanted,
    strict: bool,
    ready: VecDeque<Result<Record, Damage>>,
    tally: RecordCounts,
}

/// Which log codes are handed over.
struct Wanted(Option<HashSet<u16>>);

/// What a reader has met so far.
#[pyclass(frozen, get_all, module = "sounding")]
#[derive(Clone, Copy)]
pub(crate) struct Counts {
    /// Bytes of the stream.
    bytes: u64,
    /// Frames whose check is right.
    frames: u64,
    /// Stretches of bytes that are no frame, or whose check is wrong.
    corrupt_frames: u64,
    /// Frames that are no packets.
    corrupt_packets: u64,
    /// Where in the stream the first of these begins.
    first_damage: Option<u64>,
    /// Where the frame begins that the end of the stream cut off; one of the corrupt frames.
    cut_at: Option<u64>,
    /// How many bytes of that frame there are; 0 if there is none.
    cut_bytes: u64,
    /// Bytes of padding that stood before frames.
    padding_bytes: u64,
    /// Packets that are not log records.
    others: u64,
    /// Log records, of all codes.
    records: u64,
    /// Records handed over that can be read, all or some of their parts.
    decoded: u64,
    /// Of these, records with a sub-packet that is not described.
    partly: u64,
    /// Of these, records longer than their layout and its padding.
    longer: u64,
    /// Records returned with an undescribed code.
    undescribed: u64,
    /// Records returned with an undescribed version.
    unsupported: u64,
    /// Records handed over whose bytes do not fit their description.
    corrupt: u64,
}

/// Opens a capture file, a capture in memory, or a live port.
#[pyfunction]
#[pyo3(signature = (source, *, codes = None, strict = false, timeout = None))]
pub(crate) fn open(
    py: Python<'_>,
    source: &Bound<'_, PyAny>,
    codes: Option<Vec<u16>>,
    strict: bool,
    timeout: Option<f64>,
) -> PyResult<Reader> {
    let patience = match timeout.map(Duration::try_from_secs_f64) {
        None => None,
        Some(Ok(patience)) => Some(patience),
        Some(Err(_)) => return Err(PyValueError::new_err("timeout is no span of seconds")),
    };
    let wanted = Wanted::of(codes);
    let mut buffer = buffer();
    let source = from_python(py, source, &wanted, patience, &mut buffer)?;
    let path = source.name().to_path_buf();
    let inner = Inner {
        stream: source.reader(),
        source: Some(source),
        buffer,
        sink: Found { wanted, strict, ready: VecDeque::new(), tally: RecordCounts::default() },
    };
    Ok(Reader { inner: Mutex::new(inner), path })
}

/// What Python names: a path, or the bytes themselves.
fn from_python(
    py: Python<'_>,
    source: &Bound<'_, PyAny>,
    wanted: &Wanted,
    patience: Option<Duration>,
    buffer: &mut [u8],
) -> PyResult<Source> {
    if let Ok(bytes) = source.cast::<PyBytes>() {
        return Source::memory(py, bytes.as_bytes().to_vec(), buffer);
    }
    Source::open(py, source.extract()?, wanted.codes(), patience, buffer)
}

/// A whole capture, read chunk by chunk and without Python's lock.
pub(crate) struct Whole {
    source: Source,
    buffer: Box<[u8]>,
}

impl Whole {
    pub(crate) fn open(py: Python<'_>, source: &Bound<'_, PyAny>) -> PyResult<Self> {
        let mut buffer = buffer();
        let source = from_python(py, source, &Wanted(None), None, &mut buffer)?;
        if !source.is_capture() {
            let name = source.name().display();
            return Err(PyValueError::new_err(format!("{name}: is a live port, and has no end")));
        }
        Ok(Self { source, buffer })
    }

    pub(crate) const fn kind(&self) -> capture::Kind {
        self.source.kind()
    }

    /// Hands all of its bytes to `handle`.
    pub(crate) fn for_each_chunk(
        mut self,
        py: Python<'_>,
        mut handle: impl FnMut(&[u8]) + Send,
    ) -> PyResult<()> {
        let Self { source, buffer } = &mut self;
        loop {
            let more = py.detach(|| -> io::Result<bool> {
                let count = source.chunk(buffer)?;
                Ok(count.map(|count| handle(&buffer[..count])).is_some())
            });
            if !more.map_err(|e| error::io(source.name(), &e))? {
                return Ok(());
            }
            py.check_signals()?;
        }
    }

    /// Hands every log record to `handle`; what was met on the way.
    pub(crate) fn for_each_record(
        self,
        py: Python<'_>,
        mut handle: impl FnMut(&LogRecord<'_>) + Send,
    ) -> PyResult<capture::Counts> {
        let mut stream = self.source.reader();
        self.for_each_chunk(py, |mut bytes| {
            while let Some(found) = stream.poll_packet(&mut bytes) {
                if let Ok(Located { packet: Packet::Log(log), .. }) = found {
                    handle(&log);
                }
            }
        })?;
        while let Some(found) = stream.poll_end() {
            if let Ok(Located { packet: Packet::Log(log), .. }) = found {
                handle(&log);
            }
        }
        Ok(stream.counts())
    }
}

/// Counts of the records that columns were read from.
pub(crate) const fn of_records(counts: &RecordCounts) -> [(&'static str, u64); 4] {
    [
        ("partly", counts.partly),
        ("longer", counts.longer),
        ("unsupported", counts.unsupported),
        ("corrupt", counts.corrupt),
    ]
}

/// Columns, with a count of the stream's parts that are not in them.
pub(crate) fn table<'py>(
    py: Python<'py>,
    columns: Bound<'py, PyDict>,
    stream: &capture::Counts,
    of_records: &[(&str, u64)],
) -> PyResult<Bound<'py, PyDict>> {
    let counts = of_records.into_py_dict(py)?;
    counts.set_item("corrupt_frames", stream.damaged())?;
    counts.set_item("first_damage", stream.first_damage.map(|damage| damage.offset()))?;
    counts.set_item("cut_at", stream.cut_at)?;
    counts.set_item("cut_bytes", stream.cut_bytes)?;
    counts.set_item("padding_bytes", stream.frames.padding)?;
    let table = PyDict::new(py);
    table.set_item("columns", columns)?;
    table.set_item("counts", counts)?;
    Ok(table)
}

impl Wanted {
    fn of(codes: Option<Vec<u16>>) -> Self {
        Self(codes.map(|codes| codes.into_iter().collect()))
    }

    fn contains(&self, code: LogCode) -> bool {
        self.0.as_ref().is_none_or(|codes| codes.contains(&code.number()))
    }

    fn codes(&self) -> Option<Vec<LogCode>> {
        Some(self.0.as_ref()?.iter().map(|&code| LogCode::new(code)).collect())
    }
}

impl Inner {
    /// Reads one chunk's worth of records; false at the end.
    fn fill(&mut self) -> io::Result<bool> {
        let Self { source: opened, buffer, stream, sink } = self;
        let Some(source) = opened else { return Ok(false) };
        let goes_on = source.find(buffer, stream, |found| sink.handle(found))?;
        if !goes_on {
            *opened = None;
        }
        Ok(goes_on)
    }
}

impl Found {
    fn handle(&mut self, found: Result<Located<'_>, Damage>) {
        match found {
            Ok(Located { offset, packet }) => {
                if let Packet::Log(log) = packet
                    && self.wanted.contains(log.code)
                {
                    self.tally.handle(record::check(&log).as_ref().copied());
                    self.ready.push_back(Ok(Record::new(offset, &log)));
                }
            }
            Err(damage) if self.strict => self.ready.push_back(Err(damage)),
            // Counted by the stream.
            Err(_) => {}
        }
    }
}

impl Reader {
    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[pymethods]
impl Reader {
    fn __iter__(this: PyRef<'_, Self>) -> PyRef<'_, Self> {
        this
    }

    fn __next__(&self, py: Python<'_>) -> PyResult<Option<Record>> {
        // Most calls find a record ready, and need not let go of Python's lock for it.
        let ready = self.inner.try_lock().ok().and_then(|mut inner| inner.sink.ready.pop_front());
        if let Some(found) = ready {
            return found.map(Some).map_err(|damage| error::damage(py, &damage));
        }
        loop {
            // The lock is never waited for with Python's lock in hand, so neither waits for the
            // other.
            let (found, more) = py
                .detach(|| {
                    let mut inner = self.lock();
                    let more = inner.sink.ready.is_empty().then(|| inner.fill()).transpose()?;
                    Ok((inner.sink.ready.pop_front(), more.unwrap_or(true)))
                })
                .map_err(|e| error::io(&self.path, &e))?;
            match found {
                Some(found) => return found.map(Some).map_err(|d| error::damage(py, &d)),
                None if more => py.check_signals()?,
                None => return Ok(None),
            }
        }
    }

    /// Counts so far. Records are read some way ahead of the iteration.
    #[getter]
    fn counts(&self, py: Python<'_>) -> Counts {
        let (stream, tally) = py.detach(|| {
            let inner = self.lock();
            (inner.stream.counts(), inner.sink.tally)
        });
        Counts {
            bytes: stream.frames.bytes,
            frames: stream.frames.good,
            corrupt_frames: stream.frames.bad,
            corrupt_packets: stream.bad_packets,
            first_damage: stream.first_damage.map(|damage| damage.offset()),
            cut_at: stream.cut_at,
            cut_bytes: stream.cut_bytes,
            padding_bytes: stream.frames.padding,
            others: stream.others,
            records: stream.logs,
            decoded: tally.read(),
            partly: tally.partly,
            longer: tally.longer,
            undescribed: tally.undescribed,
            unsupported: tally.unsupported,
            corrupt: tally.corrupt,
        }
    }

    /// Lets go of the file or port; the iteration ends with what was read already.
    fn close(&self, py: Python<'_>) {
        py.detach(|| self.lock().source = None);
    }

    fn __enter__(this: PyRef<'_, Self>) -> PyRef<'_, Self> {
        this
    }

    #[pyo3(signature = (*_exception))]
    fn __exit__(&self, py: Python<'_>, _exception: &Bound<'_, PyAny>) {
        self.close(py);
    }

    fn __repr__(&self) -> String {
        format!("<Reader of {}>", self.path.display())
    }
}

#[pymethods]
impl Counts {
    fn __repr__(&self) -> String {
        format!(
            "<Counts: {} records, {} decoded ({} in part, {} longer), {} undescribed, {} unsupported, {} corrupt; {} corrupt frames>",
            self.records,
            self.decoded,
            self.partly,
            self.longer,
            self.undescribed,
            self.unsupported,
            self.corrupt,
            self.corrupt_frames + self.corrupt_packets,
        )
    }
}
