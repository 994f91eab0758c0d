//! The comparison as a table, for a terminal and for a page alike.

use std::fmt;

use super::{Comparison, Row};
use crate::table::Table;

impl fmt::Display for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (seeds, span) = (self.seeds.len(), self.span_s);
        writeln!(f, "Ours: median [least, most] over {seeds} seeds of {span:.0} s each.")?;
        writeln!(f, "HARQ's preset is `calm` where a row names none.\n")?;
        let mut table = Table::new()
            .left(["figure", "paper or stack", "real captures and logs"])
            .right(["ours"])
            .left(["", "difference and why"]);
        for row in &self.rows {
            table.row([
                row.what.to_string(),
                format!("{} ({})", row.paper, row.source),
                if row.real.is_empty() { "—".to_owned() } else { row.real.join("; ") },
                ours(row),
                if row.agrees { "agrees" } else { "**MISS**" }.into(),
                row.why.to_string(),
            ]);
        }
        table.fmt(f)
    }
}

/// The model's value, and its spread over the seeds.
pub(crate) fn ours(row: &Row) -> String {
    let Some(ours) = row.ours else { return "nothing of the kind".into() };
    let number = |value: f64| match value.abs() {
        100.0.. => format!("{value:.0}"),
        10.0.. => format!("{value:.1}"),
        _ => format!("{value:.2}"),
    };
    let unit = if row.unit.is_empty() { String::new() } else { format!(" {}", row.unit) };
    let median = number(ours.median);
    if let Some(events) = row.events {
        return format!("{median}{unit} (of {events})");
    }
    if ours.least == ours.most {
        return format!("{median}{unit}");
    }
    format!("{median} [{}, {}]{unit}", number(ours.least), number(ours.most))
}

impl Comparison {
    /// A page with the table and where it comes from.
    pub fn to_markdown(&self) -> String {
        format!(
            "# The modelled cell beside the papers\n\nRows that do not agree are misses, and stay until their cause is \
             mended.\n\n{self}\n{}",
            self.provenance
        )
    }
}
