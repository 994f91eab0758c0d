//! The costs as tables for a terminal.

use std::fmt;

use sounding_units::Rate;

use super::{Contender, Report, Run, spread};
use crate::table::Table;

impl fmt::Display for Report {
    /// A table for each limit: medians, with minimum and maximum in brackets, and for ratios the
    /// confidence interval of the median.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut limits: Vec<_> = self.runs.iter().map(|run| run.limit_bits_per_sec).collect();
        limits.sort_unstable();
        limits.dedup();
        writeln!(f, "load before: {:.2}", self.load_before)?;
        for limit in limits {
            let rate = limit.map(Rate::from_bits_per_sec);
            match rate {
                None => writeln!(f, "\nfull speed")?,
                Some(rate) => writeln!(f, "\nat {rate}")?,
            }
            let mut table = Table::new()
                .left_within([("", 18)])
                .right_within([("Gbit/s", 24), ("sender CPU s/GB", 26), ("total CPU s/GB", 26)])
                .right_within([("over BBR, 95 %", 22)]);
            for contender in Contender::all() {
                if self.of(contender, limit).next().is_none() {
                    continue;
                }
                let column = |value: fn(&Run) -> f64| {
                    let (median, least, most) =
                        spread(self.of(contender, limit).map(value).collect());
                    format!("{median:.3} [{least:.3} {most:.3}]")
                };
                let over = self.over_bbr(contender, rate).map_or(String::new(), |ratios| {
                    let [median, least, most] =
                        [ratios.0, ratios.1, ratios.2].map(|ratio| (ratio - 1.0) * 100.0);
                    format!("{median:+.1}% [{least:+.0} {most:+.0}]")
                });
                table.row([
                    contender.to_string(),
                    column(|run| run.goodput_bits_per_sec as f64 / 1e9),
                    column(|run| run.sender_secs_per_gb),
                    column(|run| run.total_secs_per_gb),
                    over,
                ]);
            }
            f.write_str(&table.text())?;
            for contender in Contender::all() {
                let last = self.of(contender, limit).filter_map(|run| Some((run, run.fed?))).last();
                let Some((run, fed)) = last else { continue };
                let gbit = |bits: u64| bits as f64 / 1e9;
                let by = if fed.law_controls { "the law" } else { "the fallback" };
                let rtt = fed.least_rtt_us.map_or("unknown".into(), |us| format!("{us} us"));
                writeln!(
                    f,
                    "{contender:<18}carried {:.3} of {:.3} Gbit/s fed; {by} set {:.3} Gbit/s, {} segments, least RTT {rtt}",
                    gbit(run.goodput_bits_per_sec),
                    gbit(fed.fed_bits_per_sec),
                    gbit(fed.pacing_bits_per_sec),
                    fed.window_segments,
                )?;
            }
            for cost in self.calls.iter().filter(|cost| cost.limit_bits_per_sec == limit) {
                writeln!(
                    f,
                    "{:<18}{:<14}{:>8.0} ns a call, {} calls, {:.4} s/GB",
                    cost.contender, cost.program, cost.nanos_per_call, cost.calls, cost.secs_per_gb
                )?;
            }
        }
        Ok(())
    }
}
