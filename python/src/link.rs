//! What the link carried, as columns.

use std::fmt::Display;
use std::time::Duration;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use sounding_kpi::Direction;
use sounding_link::{
    Arrival, Bound as Limit, Config, Line, Method, Row, Seen, Sounder, Source, State,
};
use sounding_units::Bytes;

use crate::columns::{Column, floats, integers};
use crate::reader::{self, Whole};

/// The grants of each bin and the estimate at its end, by column; unknown values are NaN.
#[derive(Default)]
struct Series {
    time: Vec<i64>,
    elapsed: Vec<f64>,
    span: Vec<f64>,
    granted: Vec<f64>,
    rate: Vec<f64>,
    bound: Vec<f64>,
    state: Vec<f64>,
    source: Vec<i64>,
    age: Vec<f64>,
    backlog: Vec<f64>,
    fair: Vec<f64>,
    users: Vec<f64>,
    carriers: Vec<f64>,
}

/// The link estimates of a capture, as columns and the words for those that hold choices.
#[pyfunction]
pub(crate) fn link<'py>(
    py: Python<'py>,
    source: &Bound<'py, PyAny>,
    direction: &str,
    method: &str,
    window: f64,
    bin: f64,
) -> PyResult<Bound<'py, PyDict>> {
    let mut config = Config::new(choice("direction", direction, Direction::ALL)?);
    config.method = choice("method", method, &Method::ALL)?;
    config.window = span("window", window)?;
    let bin = span("bin", bin)?;
    let whole = Whole::open(py, source)?;
    let mut sounder = Sounder::new(config).reading(whole.kind());
    let mut rows = sounding_link::Series::new(bin, &sounder);
    let mut series = Series::default();
    let mut watch = |sounder: &Sounder, seen: Seen<'_>| {
        rows.handle_seen(sounder, &seen);
        series.take(&mut rows);
    };
    whole
        .for_each_chunk(py, |bytes| sounder.handle_bytes(Arrival::AsStamped, bytes, &mut watch))?;
    sounder.handle_end(Arrival::AsStamped, &mut watch);
    rows.handle_end(&sounder);
    series.take(&mut rows);
    let counts = sounder.counts();
    let of_records = reader::of_records(&counts.records);
    reader::table(py, series.into_dict(py)?, &counts.stream, &of_records)
}

pub(crate) fn choice<T: Copy + Display>(what: &str, found: &str, all: &[T]) -> PyResult<T> {
    all.iter().copied().find(|one| one.to_string() == found).ok_or_else(|| {
        let known = all.iter().map(T::to_string).collect::<Vec<_>>().join(", ");
        PyValueError::new_err(format!("{what} is one of {known}, not {found:?}"))
    })
}

fn span(what: &str, seconds: f64) -> PyResult<Duration> {
    match Duration::try_from_secs_f64(seconds) {
        Ok(span) if span >= Duration::from_millis(1) => Ok(span),
        _ => Err(PyValueError::new_err(format!("{what} is at least 0.001 s, not {seconds}"))),
    }
}

pub(crate) fn place<T: PartialEq>(words: &[T], word: &T) -> i64 {
    words.iter().position(|known| known == word).map_or(-1, |at| at as i64)
}

fn place_known<T: PartialEq>(words: &[T], word: Option<T>) -> f64 {
    word.map_or(f64::NAN, |word| place(words, &word) as f64)
}

fn count(bytes: Option<Bytes>) -> f64 {
    bytes.map_or(f64::NAN, |bytes| bytes.count() as f64)
}

impl Series {
    fn take(&mut self, rows: &mut sounding_link::Series) {
        while let Some(line) = rows.poll() {
            if let Line::Row(row) = line {
                self.push(&row);
            }
        }
    }

    fn push(&mut self, Row { bin, ways }: &Row) {
        let Some(way) = ways.first() else { return };
        let estimate = &way.estimate;
        self.time.push(bin.end.unix_nanos().cast_signed());
        self.elapsed.push(bin.elapsed.as_secs_f64());
        self.span.push(bin.span.as_secs_f64());
        self.granted.push(count(way.granted));
        self.rate.push(estimate.known_rate().map_or(f64::NAN, |rate| rate.bits_per_sec() as f64));
        self.bound.push(place_known(Limit::ALL, estimate.known_bound()));
        self.state.push(place_known(State::ALL, estimate.known_state()));
        self.source.push(place(Source::ALL, &estimate.source));
        self.age.push(estimate.age.as_secs_f64());
        self.backlog.push(count(estimate.backlog));
        let fair = estimate.known_fair();
        let known = |number: Option<f64>| number.unwrap_or(f64::NAN);
        self.fair.push(known(fair.map(|fair| fair.rate.bits_per_sec() as f64)));
        self.users.push(known(fair.map(|fair| fair.users.into())));
        self.carriers.push(known(fair.map(|fair| fair.carriers.into())));
    }

    fn into_dict(self, py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
        let dict = PyDict::new(py);
        let put = |name: &str, column: Column, words: Option<Column>| {
            dict.set_item(name, (column, words, None::<()>))
        };
        put("modem_time_ns", integers(self.time), None)?;
        put("time_s", floats(self.elapsed), None)?;
        put("span_s", floats(self.span), None)?;
        put("granted_bytes", floats(self.granted), None)?;
        put("rate_bits_per_sec", floats(self.rate), None)?;
        put("bound", floats(self.bound), Some(words(Limit::ALL)))?;
        put("state", floats(self.state), Some(words(State::ALL)))?;
        put("source", integers(self.source), Some(words(Source::ALL)))?;
        put("age_s", floats(self.age), None)?;
        put("backlog_bytes", floats(self.backlog), None)?;
        put("fair_share_bits_per_sec", floats(self.fair), None)?;
        put("users", floats(self.users), None)?;
        put("carriers", floats(self.carriers), None)?;
        Ok(dict)
    }
}

pub(crate) fn words<T: Display>(all: &[T]) -> Column {
    Column::Words(all.iter().map(T::to_string).collect())
}
