//! The properties as a table, for a terminal and for a page alike.

use std::fmt;

use super::{Baselines, Row};
use crate::table::Table;

impl fmt::Display for Baselines {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut table = Table::new()
            .left(["controller", "property", "source"])
            .right(["expected", "measured"])
            .left(["", "note"]);
        for row in &self.rows {
            table.row([
                format!("`{}`", row.controller),
                row.property.to_string(),
                row.source.to_string(),
                expected(row),
                measured(row),
                if row.pass { "pass" } else { "**MISS**" }.into(),
                row.note.to_string(),
            ]);
        }
        table.note(format!("{} of {} properties hold.", self.passed(), self.rows.len()));
        table.fmt(f)
    }
}

fn number(value: f64) -> String {
    match value.abs() {
        1000.0.. => format!("{value:.0}"),
        100.0.. => format!("{value:.1}"),
        10.0.. => format!("{value:.2}"),
        _ => format!("{value:.3}"),
    }
}

/// Without zeros at the end.
fn bound(value: f64) -> String {
    format!("{}", (value * 1e6).round() / 1e6)
}

fn unit(row: &Row) -> String {
    if row.unit.is_empty() { String::new() } else { format!(" {}", row.unit) }
}

fn expected(row: &Row) -> String {
    let unit = unit(row);
    match row.expected {
        [least, most] if least == most => format!("{}{unit}", bound(least)),
        [least, f64::INFINITY] => format!("≥ {}{unit}", bound(least)),
        [f64::NEG_INFINITY, most] => format!("≤ {}{unit}", bound(most)),
        [least, most] => format!("{} to {}{unit}", bound(least), bound(most)),
    }
}

fn measured(row: &Row) -> String {
    let Some([least, most]) = row.measured else { return "nothing of the kind".into() };
    let of = if row.cases > 2 { format!(" (of {})", row.cases) } else { String::new() };
    if least == most {
        return format!("{}{of}", number(least));
    }
    format!("{} to {}{of}", number(least), number(most))
}

impl Baselines {
    /// A page with the table and where it comes from.
    pub fn to_markdown(&self) -> String {
        format!(
            "# What is said of each controller, and what it does\n\nOn a link of 12 Mbit/s over 40 ms where nothing else is \
             said: a packet takes a millisecond, and the BDP is 40 of them. A queue counts the packet that is on its way through \
             the link. Where a property has several cases, the least and the most are shown, and each has to be within.\n\n\
             {self}\n{}",
            self.provenance
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::controllers::baselines::{row, says};

    fn shown(within: [f64; 2], values: &[f64]) -> (String, String) {
        let row = row(&says("reno", "", "", within, "ms", |_| Vec::new()), values.to_vec());
        (expected(&row), measured(&row))
    }

    #[test]
    fn a_bound_is_shown_as_it_was_meant() {
        assert_eq!(shown([0.5, 0.5], &[]).0, "0.5 ms");
        assert_eq!(shown([f64::NEG_INFINITY, 15.0], &[]).0, "≤ 15 ms");
        assert_eq!(shown([0.92, f64::INFINITY], &[]).0, "≥ 0.92 ms");
        assert_eq!(shown([1.0, 2.0], &[]).0, "1 to 2 ms");
    }

    #[test]
    fn several_cases_show_their_range_and_none_says_so() {
        assert_eq!(shown([0.0, 1.0], &[0.25]).1, "0.250");
        assert_eq!(shown([0.0, 1.0], &[0.25, 0.5, 12.0]).1, "0.250 to 12.00 (of 3)");
        assert_eq!(shown([0.0, 1.0], &[]).1, "nothing of the kind");
    }
}
