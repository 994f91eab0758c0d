//! The figures of a call, and what is asked of them.

use std::time::Duration;

use sounding_testbed::call::CallSeen;
use sounding_units::HostInstant;

use crate::gandalf::{Figures, Row, mean, quantile};

/// Falls of the estimate by a tenth or more, and of these the ones without a standing queue; the estimate, the encoder's target, the
/// pictures; one-way delays of frames; the share of corrected packets. Where the cell's rate falls: its rate after that, the time until
/// the estimate is below it, and delays of frames in the ten seconds after.
pub(super) const COLUMNS: &[&str] = &[
    "falls",
    "spurious",
    "estimate Mbit/s",
    "target Mbit/s",
    "height",
    "frames/s",
    "freezes",
    "frame p50 ms",
    "frame p95 ms",
    "corrected %",
    "capacity Mbit/s",
    "below after s",
    "p95 after ms",
    "× stock",
];

/// The estimate's begin is left out.
pub(super) const BEGUN: Duration = Duration::from_secs(5);
/// A standing queue below this is none.
pub(super) const QUEUE: Duration = Duration::from_millis(5);
/// What is asked for: falls without a queue, over stock's; seconds until the estimate is below the capacity; delay over stock's.
const SPURIOUS: f64 = 0.5;
const WITHIN_S: f64 = 2.0;
const OVER_STOCK: f64 = 1.1;
const AFTER: Duration = Duration::from_secs(10);

fn ms(delays: &[Duration]) -> Vec<f64> {
    delays.iter().map(|delay| delay.as_secs_f64() * 1e3).collect()
}

/// The figures of a call. Of one whose cell's rate falls: when, after the network's start, and to how much, Mbit/s.
pub(super) fn of(seen: &CallSeen, drop: Option<(Duration, f64)>) -> Figures {
    let connected = seen.connected.unwrap_or(seen.started);
    let begun = connected + BEGUN;
    let end = seen.stats.last().map_or(begun, |stats| stats.at);
    let late: Vec<_> = seen.stats.iter().filter(|stats| stats.at >= begun).collect();
    let of = |value: fn(&sounding_testbed::call::StatsSeen) -> Option<f64>| {
        let values: Vec<f64> = late.iter().filter_map(|stats| value(stats)).collect();
        mean(&values)
    };
    let falls = seen.falls(begun);
    let spurious = falls.iter().filter(|(_, queue)| *queue < QUEUE).count();
    let delays = ms(&seen.frame_delays(begun, end));
    let moved = seen.packets.iter().filter(|packet| packet.corrected < packet.arrived).count();
    let mut figures = vec![
        ("falls", falls.len() as f64),
        ("spurious", spurious as f64),
        ("estimate Mbit/s", of(|stats| stats.available) * 1e-6),
        ("target Mbit/s", of(|stats| stats.target) * 1e-6),
        ("height", of(|stats| stats.height)),
        ("frames/s", of(|stats| stats.frames_per_sec)),
        ("freezes", seen.summary["freezes"].as_f64().unwrap_or(f64::NAN)),
        ("frame p50 ms", quantile(&delays, 0.5)),
        ("frame p95 ms", quantile(&delays, 0.95)),
        ("corrected %", 100.0 * moved as f64 / seen.packets.len() as f64),
    ];
    if let Some((after, mbit)) = drop {
        let at = seen.started + after;
        let after = ms(&seen.frame_delays(at, at + AFTER));
        figures.extend([
            ("capacity Mbit/s", mbit),
            ("below after s", below(seen, at, mbit)),
            ("p95 after ms", quantile(&after, 0.95)),
        ]);
    }
    figures
}

/// Seconds from a time until the estimate is at most this, Mbit/s; not a number if it never is.
fn below(seen: &CallSeen, at: HostInstant, mbit: f64) -> f64 {
    let after = seen.stats.iter().filter(|stats| stats.at >= at);
    let mut known = after.filter_map(|stats| Some((stats.at, stats.available?)));
    known
        .find(|(_, available)| *available <= mbit * 1e6)
        .map_or(f64::NAN, |(when, _)| (when - at).as_secs_f64())
}

/// The mean of the figures of all seeds. Missing in one is missing in all: a target that is not reached once is not reached.
pub(super) fn mean_row(name: String, all: &[Figures]) -> Row {
    let mut row = Row { name, ..Row::default() };
    for (head, _) in all.first().into_iter().flatten() {
        let values = all.iter().flatten().filter(|(of, _)| of == head).map(|(_, value)| *value);
        let values: Vec<f64> = values.collect();
        row.figures.insert((*head).to_owned(), mean(&values));
    }
    row
}

fn sender(row: &Row) -> (&str, &str) {
    row.name.split_once(": ").unwrap_or((&row.name, ""))
}

fn stock<'a>(rows: &'a [Row], row: &Row) -> Option<&'a Row> {
    let (place, _) = sender(row);
    rows.iter().find(|of| sender(of) == (place, "stock"))
}

/// Adds each delay over stock's: after the rate fell, or of the whole call.
pub(super) fn compare(rows: &mut [Row]) {
    let over: Vec<f64> = rows
        .iter()
        .map(|row| {
            let head = if row.figures.contains_key("p95 after ms") {
                "p95 after ms"
            } else {
                "frame p95 ms"
            };
            stock(rows, row).map_or(f64::NAN, |stock| row.figure(head) / stock.figure(head))
        })
        .collect();
    for (row, over) in rows.iter_mut().zip(over) {
        row.figures.insert("× stock".into(), over);
    }
}

/// The cells of a row's columns.
pub(super) fn cells(row: &Row) -> Vec<String> {
    let cell = |head: &&str| {
        let value = row.figure(head);
        if value.is_finite() { format!("{value:.2}") } else { "-".into() }
    };
    COLUMNS.iter().map(cell).collect()
}

/// A line of progress: falls and those without a queue, one for each seed.
pub(super) fn line(all: &[Figures]) -> String {
    let figure = |figures: &Figures, head: &str| {
        figures.iter().find(|(of, _)| *of == head).map_or(f64::NAN, |(_, value)| *value)
    };
    let each = all.iter().map(|figures| {
        format!(
            "{} falls, {} without a queue, {:.2} Mbit/s",
            figure(figures, "falls"),
            figure(figures, "spurious"),
            figure(figures, "estimate Mbit/s")
        )
    });
    each.collect::<Vec<_>>().join("; ")
}

/// Corrected rows that fall short of what is asked for.
pub(super) fn short(rows: &[Row]) -> Vec<(String, Vec<String>)> {
    let mut all = Vec::new();
    for row in rows.iter().filter(|row| sender(row).1 == "reported") {
        let Some(stock) = stock(rows, row) else { continue };
        let mut short = Vec::new();
        if row.figures.contains_key("p95 after ms") {
            // A figure that is missing is not enough.
            let is_below = row.figure("below after s") <= WITHIN_S;
            let is_quick = row.figure("× stock") <= OVER_STOCK;
            if !is_below {
                short.push(format!("not below the capacity within {WITHIN_S} s"));
            }
            if !is_quick {
                short.push(format!("frames later than {OVER_STOCK} × stock's"));
            }
        } else if stock.figure("spurious") == 0.0 {
            short.push("stock has no fall without a queue: nothing to correct".into());
        } else if row.figure("spurious") > SPURIOUS * stock.figure("spurious") {
            short.push(format!("falls without a queue over {SPURIOUS} × stock's"));
        }
        if !short.is_empty() {
            all.push((row.name.clone(), short));
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(name: &str, figures: &[(&'static str, f64)]) -> Row {
        mean_row(name.into(), &[figures.to_vec()])
    }

    #[test]
    fn a_corrected_call_has_half_of_stocks_falls_and_gives_way_as_stock_does() {
        let mut rows = vec![
            row("a: stock", &[("spurious", 4.0), ("frame p95 ms", 50.0)]),
            row("a: reported", &[("spurious", 3.0), ("frame p95 ms", 50.0)]),
            row("b: stock", &[("spurious", 4.0), ("frame p95 ms", 50.0)]),
            row("b: reported", &[("spurious", 2.0), ("frame p95 ms", 50.0)]),
            row("c: stock", &[("below after s", 1.0), ("p95 after ms", 100.0)]),
            row("c: reported", &[("below after s", f64::NAN), ("p95 after ms", 120.0)]),
            row("d: stock", &[("spurious", 0.0), ("frame p95 ms", 50.0)]),
            row("d: reported", &[("spurious", 0.0), ("frame p95 ms", 50.0)]),
        ];
        compare(&mut rows);
        assert_eq!(rows[5].figure("× stock"), 1.2);
        let short = short(&rows);
        let of = |name: &str| short.iter().find(|(row, _)| row == name).map_or(0, |(_, s)| s.len());
        assert_eq!(["a", "b", "c", "d"].map(|p| of(&format!("{p}: reported"))), [1, 0, 2, 1]);
    }

    #[test]
    fn a_row_is_not_below_the_capacity_if_one_of_its_seeds_is_not() {
        let all = [vec![("below after s", 1.0)], vec![("below after s", f64::NAN)]];
        assert!(mean_row("x".into(), &all).figure("below after s").is_nan());
    }
}
