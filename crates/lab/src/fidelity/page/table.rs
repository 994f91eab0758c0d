//! The table of all loads.

use std::fmt;

use super::{Pages, Row, site};
use crate::table::{Table, slashed};

impl fmt::Display for Pages {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "A page of {} parts, {:.1} MB, in Chromium, from a server with {}. Both ends are from the start of the navigation on. \
             A control's cell is the difference of its end to the load time, and in brackets how many of the log's departures it \
             repeats.\n",
            site::PARTS,
            site::BYTES as f64 / 1e6,
            self.congestion,
        )?;
        let mut table = Table::new()
            .left(["trace"])
            .right(["start in trace, s", "load, ms", "replay, ms", "diff"])
            .left(["within 5 %"])
            .right(["1 s later", "another trace", "no bottleneck"])
            .right(["late p50 / p99 / max us", "departures repeated up, down", "load average"]);
        for row in &self.rows {
            table.row(cells(row));
        }
        let met = self.rows.iter().filter(|row| row.meets(row.replayed_ms)).count();
        let controls =
            || self.rows.iter().flat_map(|row| row.controls.iter().map(move |it| (row, it)));
        let close = controls().filter(|(row, control)| row.meets(control.end_ms)).count();
        table.note(format!(
            "{met} of {} loads are within 5 %, and {close} of {} controls.",
            self.rows.len(),
            controls().count()
        ));
        write!(f, "{table}")
    }
}

fn cells(row: &Row) -> Vec<String> {
    let off = |end_ms: f64| format!("{:+.1} %", 100.0 * row.off(end_ms));
    let late = row.lateness;
    let mut cells = vec![
        row.trace.to_owned(),
        format!("{:.1}", row.started_ms / 1e3),
        format!("{:.0}", row.measured_ms),
        format!("{:.0}", row.replayed_ms),
        off(row.replayed_ms),
        if row.meets(row.replayed_ms) { "yes" } else { "no" }.to_owned(),
    ];
    cells.extend(row.controls.iter().map(|it| format!("{} ({})", off(it.end_ms), it.repeated)));
    let same = row.repeated.map(|[same, all]| format!("{same} of {all}"));
    cells.extend([
        slashed([late.p50_us, late.p99_us, late.max_us]),
        same.join(", "),
        format!("{:.1}", row.machine_load),
    ]);
    cells
}
