//! Both sides as a table.

use std::fmt;

use super::{HeadToHead, Row, Side, median};
use crate::table::Table;

impl fmt::Display for HeadToHead {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut table = Table::new()
            .left(["theirs", "ours", "link"])
            .right(["Mbit/s theirs", "ours", "diff", "one-way p95 ms theirs", "ours", "diff"])
            .right(["p50 theirs / ours", "load"])
            .left(["agrees"]);
        for row in &self.rows {
            let Row { program, controller, link, theirs, ours, .. } = row;
            let middle = |of: fn(&Side) -> f64| (median(theirs, of), median(ours, of));
            let (rate, our_rate) = middle(|side| side.throughput_mbit_per_sec);
            let (p95, our_p95) = middle(|side| side.one_way_ms.p95);
            let (p50, our_p50) = middle(|side| side.one_way_ms.p50);
            let rates = range(theirs, 2, |side| side.throughput_mbit_per_sec);
            let delays = range(theirs, 0, |side| side.one_way_ms.p95);
            let load = row.load.iter().copied().fold(0.0, f64::max);
            table.row([
                program.to_string(),
                format!("`{controller}`"),
                link.to_string(),
                format!("{rate:.2} {rates}"),
                format!("{our_rate:.2}"),
                format!("{:+.1} %", 100.0 * row.throughput_difference),
                format!("{p95:.0} {delays}"),
                format!("{our_p95:.0}"),
                format!("{:+.1} %", 100.0 * row.p95_difference),
                format!("{p50:.0} / {our_p50:.0}"),
                format!("{load:.1}"),
                if row.agrees { "yes" } else { "**no**" }.into(),
            ]);
        }
        table.fmt(f)
    }
}

fn range(sides: &[Side], digits: usize, of: fn(&Side) -> f64) -> String {
    let values = sides.iter().map(of);
    let least = values.clone().fold(f64::INFINITY, f64::min);
    let most = values.fold(f64::NEG_INFINITY, f64::max);
    format!("[{least:.digits$}, {most:.digits$}]")
}

impl HeadToHead {
    /// A page for the documentation.
    pub fn to_markdown(&self) -> String {
        format!(
            "# Other implementations of the same controllers\n\nTheirs in real time through the emulator, ours in virtual \
             time, {:.0} s from the first data packet on; 20 ms each way, infinite queue. Medians over repetitions, theirs \
             with least and most. A row agrees if throughput is within 10 % and the 95th percentile of the one-way delay \
             within 20 %.\n\n{self}\n{}",
            self.duration_s, self.provenance
        )
    }
}
