//! The table of a matrix: a row for each case and rule, the mean over its seeds.

use sounding_experiment::metrics::mean;

use super::case::{CASES, Rat};
use super::ran::{AutorateLog, Figures, Ran, Spread};
use super::rule::Rule;
use crate::table::Table;

/// Mean over runs of what is known; `-` where nothing is.
fn cell(runs: &[&Ran], digits: usize, value: impl Fn(&Figures) -> Option<f64>) -> String {
    let values: Vec<f64> = runs.iter().filter_map(|ran| value(&ran.figures)).collect();
    match values.is_empty() {
        true => "-".into(),
        false => format!("{:.digits$}", mean(&values)),
    }
}

fn spread(runs: &[&Ran], value: impl Fn(&Figures) -> Option<Spread>) -> String {
    let of = |part: fn(&Spread) -> f64| cell(runs, 0, |figures| value(figures).as_ref().map(part));
    let parts: [fn(&Spread) -> f64; 3] = [|s| s.p50_ms, |s| s.p95_ms, |s| s.p99_ms];
    let parts = parts.map(of);
    match parts[0].as_str() {
        "-" => "-".into(),
        _ => parts.join(" / "),
    }
}

/// The table of these runs.
pub(super) fn table(runs: &[Ran]) -> Table {
    let mut table = Table::new().left(["case", "radio", "rule"]).right([
        "granted up",
        "up Mbit/s",
        "granted down",
        "down",
        "probe p50 / p95 / p99 ms",
        "its way up",
        "lost %",
        "bulk RTT",
        "call up",
        "pages",
        "rates",
        "seeds",
    ]);
    for case in &CASES {
        for rat in Rat::ALL {
            for rule in Rule::ALL {
                let of = |ran: &&Ran| ran.case == case.name && ran.rat == rat && ran.rule == rule;
                let of: Vec<&Ran> = runs.iter().filter(of).collect();
                if of.is_empty() {
                    continue;
                }
                table.row([
                    case.name.into(),
                    rat.name().into(),
                    rule.name().into(),
                    cell(&of, 1, |figures| Some(figures.truth_mbit_per_sec)),
                    cell(&of, 1, |figures| Some(figures.up_mbit_per_sec)),
                    cell(&of, 1, |figures| figures.truth_down_mbit_per_sec),
                    cell(&of, 1, |figures| figures.down_mbit_per_sec),
                    spread(&of, |figures| figures.probe),
                    spread(&of, |figures| figures.probe_up),
                    cell(&of, 1, |figures| Some(figures.probes_lost_percent)),
                    spread(&of, |figures| figures.bulk_rtt),
                    spread(&of, |figures| figures.call_up),
                    spread(&of, |figures| figures.pages),
                    cell(&of, 0, |figures| Some(figures.rates_seen as f64)),
                    of.len().to_string(),
                ]);
            }
        }
    }
    let took: Vec<f64> = runs.iter().map(|ran| ran.took_s).collect();
    let busy = runs.iter().map(|ran| ran.busy_s / ran.took_s.max(1e-9));
    let behind: u64 = runs.iter().map(|ran| ran.times_behind).sum();
    if !runs.is_empty() {
        let guest = runs.iter().map(|ran| ran.guest_s / ran.took_s.max(1e-9));
        table.note(format!(
            "{} runs of {:.0} s each in the mean. The router took {:.2} of a processor, and {:.2} were busy, with all \
             that this machine did besides. The cells fell behind the clock {behind} times.",
            runs.len(),
            mean(&took),
            mean(guest.collect::<Vec<_>>()),
            mean(busy.collect::<Vec<_>>()),
        ));
    }
    let logs: Vec<AutorateLog> = runs.iter().filter_map(|ran| ran.autorate).collect();
    if !logs.is_empty() {
        let changes = logs.iter().map(|log| log.changes as f64);
        let late: u64 = logs.iter().map(|log| log.late).sum();
        let ahead = logs.iter().filter_map(|log| log.ahead_s);
        let latest = ahead.fold(f64::INFINITY, f64::min);
        table.note(format!(
            "cake-autorate had started {latest:.1} s before the load, or earlier, and changed a rate {:.0} times a run in \
             the mean. It took {:.0} answers to pings a run too late to use them.",
            mean(changes.collect::<Vec<_>>()),
            late as f64 / logs.len() as f64,
        ));
    }
    table
}
