//! The delays that the radio itself made, as columns.

use std::fmt::Display;

use pyo3::prelude::*;
use pyo3::types::PyDict;
use sounding_kpi::Direction;
use sounding_link::{Arrival, Confidence, Config, DelayKind, RanDelay, Seen, Sounder};
use sounding_units::ModemInstant;

use crate::columns::{Column, floats, integers};
use crate::reader::{self, Whole};

/// Events by column, in the order in which records show them.
#[derive(Default)]
struct Events {
    began: Option<ModemInstant>,
    time: Vec<i64>,
    elapsed: Vec<f64>,
    direction: Vec<i64>,
    kind: Vec<i64>,
    held: Vec<f64>,
    amount: Vec<f64>,
    age: Vec<f64>,
    confidence: Vec<i64>,
}

/// The delays of a capture's radio, as columns and the words for those that hold choices.
#[pyfunction]
pub(crate) fn delays<'py>(
    py: Python<'py>,
    source: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyDict>> {
    let whole = Whole::open(py, source)?;
    let config = Config::new(Direction::Uplink);
    let mut sounder = Sounder::new(config).reading(whole.kind()).with_all_delays();
    let mut events = Events::default();
    whole.for_each_chunk(py, |bytes| {
        sounder.handle_bytes(Arrival::AsStamped, bytes, |_, seen| events.note(&seen));
        events.take(&mut sounder);
    })?;
    sounder.handle_end(Arrival::AsStamped, |_, seen| events.note(&seen));
    events.take(&mut sounder);
    let counts = sounder.counts();
    let of_records = [("unsupported", counts.unsupported), ("corrupt", counts.corrupt)];
    reader::table(py, events.into_dict(py)?, &counts.stream, &of_records)
}

fn place<T: PartialEq>(words: &[T], word: &T) -> i64 {
    words.iter().position(|known| known == word).map_or(-1, |at| at as i64)
}

fn words<T: Display>(all: &[T]) -> Column {
    Column::Words(all.iter().map(T::to_string).collect())
}

impl Events {
    fn note(&mut self, seen: &Seen<'_>) {
        if let Seen::Record(record) = seen {
            self.began.get_or_insert(record.at);
        }
    }

    fn take(&mut self, sounder: &mut Sounder) {
        while let Some(event) = sounder.poll_delay() {
            self.push(&event);
        }
    }

    fn push(&mut self, event: &RanDelay) {
        // A capture's host time is the modem's.
        let to = ModemInstant::from_nanos(event.to.as_nanos());
        self.time.push(to.unix_nanos().cast_signed());
        self.elapsed.push((to - self.began.unwrap_or(to)).as_secs_f64());
        self.direction.push(place(Direction::ALL, &event.direction));
        self.kind.push(place(DelayKind::ALL, &event.kind));
        self.held.push((event.to - event.from).as_secs_f64());
        self.amount.push(event.amount.as_secs_f64());
        self.age.push(event.age.as_secs_f64());
        self.confidence.push(place(Confidence::ALL, &event.confidence));
    }

    fn into_dict(self, py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
        let dict = PyDict::new(py);
        let put = |name: &str, column: Column, words: Option<Column>| {
            dict.set_item(name, (column, words, None::<()>))
        };
        put("modem_time_ns", integers(self.time), None)?;
        put("time_s", floats(self.elapsed), None)?;
        put("direction", integers(self.direction), Some(words(Direction::ALL)))?;
        put("kind", integers(self.kind), Some(words(DelayKind::ALL)))?;
        put("held_s", floats(self.held), None)?;
        put("amount_s", floats(self.amount), None)?;
        put("age_s", floats(self.age), None)?;
        put("confidence", integers(self.confidence), Some(words(Confidence::ALL)))?;
        Ok(dict)
    }
}
