//! The delays that the radio itself made, as columns.

use std::time::Duration;

use pyo3::prelude::*;
use pyo3::types::PyDict;
use sounding_kpi::Direction;
use sounding_link::{Arrival, Confidence, Config, DelayKind, Delays, RanDelay, Seen, Sounder};
use sounding_units::{HostInstant, ModemInstant};

use crate::columns::{Column, floats, integers};
use crate::link::{choice, place, words};
use crate::reader::{self, Whole};

/// Events, by column.
#[derive(Default)]
struct Events {
    wanted: Option<Direction>,
    began: Option<ModemInstant>,
    ends: Vec<i64>,
    begins: Vec<i64>,
    elapsed: Vec<f64>,
    direction: Vec<i64>,
    kind: Vec<i64>,
    amount: Vec<f64>,
    age: Vec<f64>,
    confidence: Vec<i64>,
}

/// The delays that the radio made in a capture, as columns and the words for those that hold
/// choices.
#[pyfunction]
pub(crate) fn delays<'py>(
    py: Python<'py>,
    source: &Bound<'py, PyAny>,
    direction: Option<&str>,
) -> PyResult<Bound<'py, PyDict>> {
    let wanted = direction.map(|word| choice("direction", word, Direction::ALL)).transpose()?;
    let whole = Whole::open(py, source)?;
    let mut sounder = Sounder::new(Config::new(Direction::Uplink)).with_delays();
    sounder.read(whole.kind());
    let mut events = Events { wanted, ..Events::default() };
    whole.for_each_chunk(py, |bytes| {
        for piece in bytes.chunks(Delays::PIECE) {
            let began = &mut events.began;
            sounder.handle_bytes(Arrival::AsStamped, piece, |_, seen| note(began, &seen));
            events.take(&mut sounder);
        }
    })?;
    let began = &mut events.began;
    sounder.handle_end(Arrival::AsStamped, |_, seen| note(began, &seen));
    events.take(&mut sounder);
    let counts = sounder.counts();
    let of_records = reader::of_records(&counts.records);
    reader::table(py, events.into_dict(py)?, &counts.stream, &of_records)
}

fn note(began: &mut Option<ModemInstant>, seen: &Seen<'_>) {
    if let Seen::Next(record) = seen {
        began.get_or_insert(record.at);
    }
}

/// A capture's host time is the modem's.
fn modem(at: HostInstant) -> ModemInstant {
    ModemInstant::from_nanos(at.as_nanos())
}

fn unix(at: HostInstant) -> i64 {
    modem(at).unix_nanos().cast_signed()
}

impl Events {
    fn take(&mut self, sounder: &mut Sounder) {
        while let Some(event) = sounder.poll_delay() {
            if self.wanted.is_none_or(|wanted| wanted == event.direction) {
                self.push(&event);
            }
        }
    }

    fn push(&mut self, event: &RanDelay) {
        let end = modem(event.to);
        self.ends.push(unix(event.to));
        self.begins.push(unix(event.from));
        let since: Duration = end - self.began.unwrap_or(end);
        self.elapsed.push(since.as_secs_f64());
        self.direction.push(place(Direction::ALL, &event.direction));
        self.kind.push(place(DelayKind::ALL, &event.kind));
        self.amount.push(event.amount.as_secs_f64());
        self.age.push(event.age.as_secs_f64());
        self.confidence.push(place(Confidence::ALL, &event.confidence));
    }

    fn into_dict(self, py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
        let dict = PyDict::new(py);
        let put = |name: &str, column: Column, words: Option<Column>| {
            dict.set_item(name, (column, words, None::<()>))
        };
        put("modem_time_ns", integers(self.ends), None)?;
        put("from_modem_time_ns", integers(self.begins), None)?;
        put("time_s", floats(self.elapsed), None)?;
        put("direction", integers(self.direction), Some(words(Direction::ALL)))?;
        put("kind", integers(self.kind), Some(words(DelayKind::ALL)))?;
        put("amount_s", floats(self.amount), None)?;
        put("age_s", floats(self.age), None)?;
        put("confidence", integers(self.confidence), Some(words(Confidence::ALL)))?;
        Ok(dict)
    }
}
