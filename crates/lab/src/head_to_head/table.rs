//! Both sides as a table.

use std::fmt;

use super::{HeadToHead, Row, Side, median};

impl fmt::Display for HeadToHead {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "| theirs | ours | link | Mbit/s theirs | ours | diff | one-way p95 ms theirs | ours | diff | p50 theirs / ours | load | agrees |"
        )?;
        writeln!(f, "|---|---|---|--:|--:|--:|--:|--:|--:|--:|--:|---|")?;
        for row in &self.rows {
            let Row { program, controller, link, theirs, ours, .. } = row;
            let middle = |of: fn(&Side) -> f64| (median(theirs, of), median(ours, of));
            let (rate, our_rate) = middle(|side| side.throughput_mbit_per_sec);
            let (p95, our_p95) = middle(|side| side.one_way_ms.p95);
            let (p50, our_p50) = middle(|side| side.one_way_ms.p50);
            let load = row.load.iter().copied().fold(0.0, f64::max);
            writeln!(
                f,
                "| {program} | `{controller}` | {link} | {rate:.2} {} | {our_rate:.2} | {:+.1} % | {p95:.0} {} | {our_p95:.0} | {:+.1} % | {p50:.0} / {our_p50:.0} | {load:.1} | {} |",
                range(theirs, 2, |side| side.throughput_mbit_per_sec),
                100.0 * row.throughput_difference,
                range(theirs, 0, |side| side.one_way_ms.p95),
                100.0 * row.p95_difference,
                if row.agrees { "yes" } else { "**no**" }
            )?;
        }
        Ok(())
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
