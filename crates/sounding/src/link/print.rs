//! Rows as a table for people, and as JSON lines or comma-separated values for programs.

use std::io::{self, BufWriter, Write};
use std::time::Duration;

use serde_json::{Value as Json, json};
use sounding_kpi::Direction;
use sounding_link::{Jump, Line, Row, Way};
use sounding_units::{Bytes, Rate};

use super::Format;
use crate::patient::Patient;
use crate::screen;
use crate::session_report;

/// Prints the rows.
pub(super) struct Printer {
    out: BufWriter<Patient>,
    format: Format,
    bin: Duration,
    /// Rows have what is known of the cells.
    cells: bool,
}

/// The columns of comma-separated values, by their names in JSON. A field is empty where it is
/// unknown.
const CSV: [&str; 14] = [
    "time_s",
    "span_s",
    "unix_ns",
    "direction",
    "granted_bytes",
    "rate_bits_per_sec",
    "bound",
    "state",
    "age_us",
    "backlog_bytes",
    "fair_share_bits_per_sec",
    "users",
    "carriers",
    "source",
];

/// The sign for an unknown number.
const UNKNOWN: &str = "-";

impl Printer {
    pub(super) fn new(format: Format, bin: Duration, cells: bool) -> io::Result<Self> {
        Ok(Self { out: BufWriter::new(Patient::stdout(None)?), format, bin, cells })
    }

    /// Prints the heading, once there are rows.
    pub(super) fn head(&mut self, directions: &[Direction]) -> io::Result<()> {
        match self.format {
            Format::Table => {}
            Format::Json => return Ok(()),
            Format::Csv => return writeln!(self.out, "{}", CSV.join(",")),
        }
        let columns = |names: [&str; 5], of_cells: [&str; 3]| {
            let [granted, rate, bound, state, age] = names;
            let mut line = format!("{granted:>11} {rate:>10} {bound:>9} {state:>8} {age:>6}");
            if self.cells {
                let [fair, users, carriers] = of_cells;
                line += &format!(" {fair:>10} {users:>5} {carriers:>8}");
            }
            line
        };
        let head = columns(
            ["granted", "rate", "bound", "state", "age"],
            ["fair share", "users", "carriers"],
        );
        let unit = columns(["bytes", "Mbit/s", "", "", "ms"], ["Mbit/s", "", ""]);
        let width = head.len();
        let names = directions.iter().map(|direction| format!("{:^width$}", direction.to_string()));
        let names: Vec<String> = names.collect();
        let heads = vec![head; directions.len()];
        let units = vec![unit; directions.len()];
        writeln!(self.out, "{:>9}  {}", "", names.join("  |").trim_end())?;
        writeln!(self.out, "{:>9}  {}", "time", heads.join("  |"))?;
        writeln!(self.out, "{:>9}  {}", "s", units.join("  |").trim_end())
    }

    /// A last object for programs, where they read lines.
    pub(super) fn last(&mut self, object: Option<Json>) -> io::Result<()> {
        match object.filter(|_| self.format == Format::Json) {
            Some(object) => writeln!(self.out, "{}", screen::inline(&object.to_string())),
            None => Ok(()),
        }
    }

    pub(super) fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }

    fn table_row(&mut self, row: &Row) -> io::Result<()> {
        write!(self.out, "{:>9.3}  ", row.bin.elapsed.as_secs_f64())?;
        for (i, way) in row.ways.iter().enumerate() {
            if i > 0 {
                write!(self.out, "  |")?;
            }
            write_way(&mut self.out, way)?;
            if self.cells {
                write_cells(&mut self.out, way)?;
            }
        }
        if row.bin.span != self.bin {
            write!(self.out, "  over {:.3} s", row.bin.span.as_secs_f64())?;
        }
        writeln!(self.out)
    }

    fn json_row(&mut self, row: &Row) -> io::Result<()> {
        row.ways.iter().try_for_each(|way| writeln!(self.out, "{}", object(row, way)))
    }

    fn csv_row(&mut self, row: &Row) -> io::Result<()> {
        for way in &row.ways {
            let object = object(row, way);
            for (number, name) in CSV.iter().enumerate() {
                let comma = if number > 0 { "," } else { "" };
                match &object[*name] {
                    Json::Null => write!(self.out, "{comma}")?,
                    Json::String(word) => write!(self.out, "{comma}{word}")?,
                    number => write!(self.out, "{comma}{number}")?,
                }
            }
            writeln!(self.out)?;
        }
        Ok(())
    }

    fn jump(&mut self, jump: &Jump) -> io::Result<()> {
        let (elapsed, seconds) = (jump.elapsed.as_secs_f64(), jump.seconds());
        // A table of numbers has no place for it. The end says that there was one.
        if self.format == Format::Csv {
            return Ok(());
        }
        if self.format == Format::Json {
            let line = json!({
                "clock_jump_s": seconds,
                "time_s": elapsed,
                "unix_ns": jump.to.unix_nanos(),
            });
            return writeln!(self.out, "{line}");
        }
        writeln!(self.out, "{elapsed:>9.3}  the modem set its clock by {seconds:+.3} s")
    }

    pub(super) fn print(&mut self, line: &Line) -> io::Result<()> {
        match line {
            Line::Row(row) => match self.format {
                Format::Table => self.table_row(row),
                Format::Json => self.json_row(row),
                Format::Csv => self.csv_row(row),
            },
            Line::Jump(jump) => self.jump(jump),
        }
    }
}

/// A direction of a row as a JSON object.
fn object(row: &Row, Way { estimate, cell, granted }: &Way) -> Json {
    let mut line = session_report::estimate(estimate);
    line["time_s"] = row.bin.elapsed.as_secs_f64().into();
    line["span_s"] = row.bin.span.as_secs_f64().into();
    line["unix_ns"] = row.bin.end.unix_nanos().into();
    line["granted_bytes"] = granted.map(Bytes::count).into();
    line["source"] = estimate.source.to_string().into();
    if let Some(cell) = cell {
        let rate = |rate: Rate| rate.bits_per_sec();
        line["cell"] = json!({
            "fair_share_bits_per_sec": cell.fair_share.map(rate),
            "ceiling_bits_per_sec": rate(cell.ceiling),
            "users": cell.users,
            "carriers": cell.carriers,
            "idle": cell.idle,
            "sniffer_age_us": session_report::micros(cell.heard),
        });
    }
    line
}

fn write_way(out: &mut impl Write, way: &Way) -> io::Result<()> {
    /// Ages are shown up to this, in milliseconds.
    const OLDEST: u128 = 999_999;
    let Way { estimate, granted, .. } = way;
    let text = |known: Option<String>| known.unwrap_or_else(|| UNKNOWN.into());
    let granted = text(granted.map(|bytes| bytes.count().to_string()));
    let rate = text(estimate.known_rate().map(|rate| format!("{:.3}", rate.mbit_per_sec())));
    let bound = text(estimate.known_bound().map(|bound| bound.to_string()));
    let state = text(estimate.known_state().map(|state| state.to_string()));
    let age = estimate.age.as_millis().min(OLDEST);
    write!(out, "{granted:>11} {rate:>10} {bound:>9} {state:>8} {age:>6}")
}

/// The fair share is that of the estimate; without a sniffer the users are unknown.
fn write_cells(out: &mut impl Write, way: &Way) -> io::Result<()> {
    let text = |known: Option<String>| known.unwrap_or_else(|| UNKNOWN.into());
    let fair = way.estimate.known_fair();
    let share = text(fair.map(|fair| format!("{:.3}", fair.rate.mbit_per_sec())));
    let users = text(fair.map(|fair| fair.users.to_string()));
    let carriers = text(way.cell.map(|cell| cell.carriers.to_string()));
    write!(out, " {share:>10} {users:>5} {carriers:>8}")
}
