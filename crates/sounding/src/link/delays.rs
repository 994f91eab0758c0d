//! The delays that the radio itself made, as a table, as JSON lines or as comma-separated values.

use std::io::{self, BufWriter, Write};

use miette::Result;
use sounding_kpi::Direction;
use sounding_link::{Arrival, Config, Counts, Delays, RanDelay, Seen, Sounder};
use sounding_modem::Source;
use sounding_units::ModemInstant;

use super::{Format, Stopped, records};
use crate::input;
use crate::skipped::Skipped;

/// The columns of a table and of comma-separated values.
const TABLE: &str =
    "   time s  direction  kind           held ms  radio's ms  known after ms  confidence";
const CSV: &str = "time_s,unix_ns,direction,kind,held_ms,amount_ms,age_ms,confidence";

struct Events {
    format: Format,
    out: BufWriter<io::StdoutLock<'static>>,
    began: Option<ModemInstant>,
    direction: Option<Direction>,
}

impl Events {
    fn print(&mut self, event: &RanDelay) -> io::Result<()> {
        if self.direction.is_some_and(|wanted| wanted != event.direction) {
            return Ok(());
        }
        // A capture's host time is the modem's.
        let modem = |nanos: u64| ModemInstant::from_nanos(nanos);
        let to = modem(event.to.as_nanos());
        let time = (to - self.began.unwrap_or(to)).as_secs_f64();
        let held = (event.to - event.from).as_secs_f64() * 1e3;
        let [amount, age] = [event.amount, event.age].map(|span| span.as_secs_f64() * 1e3);
        let RanDelay { direction, kind, confidence, .. } = event;
        let unix = to.unix_nanos();
        match self.format {
            Format::Table => writeln!(
                self.out,
                "{time:>9.4}  {direction:<9}  {kind:<10}  {held:>10.3}  {amount:>10.3}  {age:>14.3}  {confidence}"
            ),
            Format::Csv => writeln!(
                self.out,
                "{time:.6},{unix},{direction},{kind},{held:.3},{amount:.3},{age:.3},{confidence}"
            ),
            Format::Json => {
                let line = serde_json::json!({
                    "time_s": time,
                    "unix_ns": unix,
                    "direction": direction.to_string(),
                    "kind": kind.to_string(),
                    "held_ms": held,
                    "amount_ms": amount,
                    "age_ms": age,
                    "confidence": confidence.to_string(),
                });
                writeln!(self.out, "{line}")
            }
        }
    }

    fn take(&mut self, sounder: &mut Sounder) -> io::Result<()> {
        while let Some(event) = sounder.poll_delay() {
            self.print(&event)?;
        }
        Ok(())
    }
}

/// Reads a capture and prints its events in the order in which records show them.
pub(super) fn print(
    source: &Source,
    direction: Option<Direction>,
    format: Format,
) -> Result<Skipped, Stopped> {
    let failed = |error: input::CaptureError| Stopped::Input(error.into());
    let mut capture = input::Source::of(source).map_err(failed)?;
    let mut sounder = Sounder::new(Config::new(Direction::Uplink)).with_delays();
    sounder.read(capture.kind());
    let out = BufWriter::new(io::stdout().lock());
    let mut events = Events { format, out, began: None, direction };
    let head = match format {
        Format::Table => Some(TABLE),
        Format::Csv => Some(CSV),
        Format::Json => None,
    };
    if let Some(head) = head {
        writeln!(events.out, "{head}").map_err(Stopped::Output)?;
    }
    while let Some(chunk) = capture.next_chunk().map_err(failed)? {
        for piece in chunk.chunks(Delays::PIECE) {
            let began = &mut events.began;
            sounder.handle_bytes(Arrival::AsStamped, piece, |_, seen| note(began, &seen));
            events.take(&mut sounder).map_err(Stopped::Output)?;
        }
        events.out.flush().map_err(Stopped::Output)?;
    }
    let began = &mut events.began;
    sounder.handle_end(Arrival::AsStamped, |_, seen| note(began, &seen));
    events.take(&mut sounder).map_err(Stopped::Output)?;
    events.out.flush().map_err(Stopped::Output)?;
    let counts: Counts = sounder.counts();
    Ok(Skipped { records: records(&counts), ..capture.skipped(counts.stream) })
}

fn note(began: &mut Option<ModemInstant>, seen: &Seen<'_>) {
    if let Seen::Next(record) = seen {
        began.get_or_insert(record.at);
    }
}
