//! Rows that are printed, and the notes that follow the last row.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde_json::{Value as Json, json};
use sounding_link::{Jump, Line, Seen, Series, Sounder};
use sounding_units::{HostInstant, ModemInstant};

use super::missing::Needs;
use super::print::Printer;
use crate::skipped::counted;

/// The rows of all directions.
pub(super) struct Rows {
    pub(super) printer: Printer,
    pub(super) notes: Notes,
    series: Series,
    /// Once it is set, no row begins.
    pub(super) stop: Option<Arc<AtomicBool>>,
    /// Why printing has stopped.
    failed: Option<io::Error>,
}

/// Notes for the reader of the rows.
pub(super) struct Notes {
    needs: Vec<Needs>,
    /// How often the modem set its clock, and the first jump.
    jumps: u64,
    first: Option<Jump>,
}

impl Rows {
    pub(super) fn new(
        bin: Duration,
        sounder: &Sounder,
        needs: Vec<Needs>,
        printer: Printer,
    ) -> Self {
        Self {
            printer,
            notes: Notes { needs, jumps: 0, first: None },
            series: Series::new(bin, sounder),
            stop: None,
            failed: None,
        }
    }

    pub(super) fn handle_seen(&mut self, sounder: &Sounder, seen: &Seen<'_>) {
        // Few bytes may end many rows, and the user need not wait for them.
        if self.is_stopped() {
            return;
        }
        self.notes.needs.iter_mut().for_each(|needs| needs.handle_seen(seen));
        self.series.handle_seen(sounder, seen);
        self.print();
    }

    /// It is `now`, and what a live modem has sent was handed in.
    pub(super) fn handle_host_time(&mut self, sounder: &Sounder, now: HostInstant) {
        if !self.is_stopped() {
            self.series.handle_host_time(sounder, now);
            self.print();
        }
    }

    /// The modem's time of a moment of the host.
    pub(super) fn modem_time(&self, at: HostInstant) -> Option<ModemInstant> {
        self.series.modem_time(at)
    }

    fn is_stopped(&self) -> bool {
        self.stop.as_ref().is_some_and(|stop| stop.load(Ordering::Relaxed))
    }

    /// The input has ended.
    pub(super) fn finish(&mut self, sounder: &Sounder) -> io::Result<()> {
        self.series.handle_end(sounder);
        self.print();
        self.check()
    }

    /// Whether printing has failed.
    pub(super) fn check(&mut self) -> io::Result<()> {
        self.failed.take().map_or(Ok(()), Err)
    }

    fn print(&mut self) {
        while let Some(line) = self.series.poll() {
            self.notes.handle_line(&line);
            if self.failed.is_none() {
                self.failed = self.printer.print(&line).err();
            }
        }
    }
}

impl Notes {
    fn handle_line(&mut self, line: &Line) {
        match line {
            Line::Row(row) => {
                for (needs, way) in self.needs.iter_mut().zip(&row.ways) {
                    needs.handle_estimate(&way.estimate);
                }
            }
            Line::Jump(jump) => {
                self.jumps += 1;
                self.first.get_or_insert(*jump);
            }
        }
    }

    fn missing(&self) -> impl Iterator<Item = &Needs> {
        self.needs.iter().filter(|needs| !needs.are_met())
    }

    /// The notes as sentences, for standard error.
    pub(super) fn sentences(&self) -> Vec<String> {
        let jumped = self.first.map(|first| {
            format!(
                "the modem set its clock {}, first by {:+.3} s after {:.3} s; rows continue at the new time",
                counted(self.jumps, "time", "times"),
                first.seconds(),
                first.elapsed.as_secs_f64()
            )
        });
        self.missing().map(Needs::sentence).chain(jumped).collect()
    }

    /// The missing rates as JSON, after the rows; `None` if no rate is missing. Jumps are between
    /// the rows.
    pub(super) fn json(&self) -> Option<Json> {
        let missing: Vec<Json> = self.missing().map(Needs::json).collect();
        (!missing.is_empty()).then(|| json!({ "missing": missing }))
    }
}
