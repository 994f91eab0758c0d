//! The figures of a call, and what is asked of them.

use std::time::Duration;

use sounding_experiment::inference::paired;
use sounding_experiment::metrics::sorted;
use sounding_testbed::call::{CallSeen, Size, StatsSeen};
use sounding_units::HostInstant;

use crate::papers::gandalf::{Figures, Row, mean, quantile};

/// Falls of the estimate by a tenth or more, and of these the ones without a standing queue; the
/// estimate, the encoder's target, the pictures; one-way delays of frames; the share of corrected
/// packets, and by how much. Without congestion: what the encoder made over the most that it makes,
/// and for how much of the time it encodes smaller pictures than the source's. Where the cell's
/// rate falls: its rate after that, the time until the estimate is below it, and delays of frames
/// in the ten seconds after. At last the delay over stock's, and how likely seeds differ as much by
/// chance.
pub(super) const COLUMNS: &[&str] = &[
    "falls",
    SPURIOUS_FALLS,
    "estimate Mbit/s",
    "target Mbit/s",
    "encoded Mbit/s",
    SHARE,
    LOWERED,
    "height",
    "frames/s",
    "freezes",
    "buffered ms",
    "frame p50 ms",
    FRAME_MS,
    "corrected %",
    "taken off ms",
    "capacity Mbit/s",
    BELOW,
    AFTER_MS,
    "× stock",
    CHANCE,
];

const SPURIOUS_FALLS: &str = "spurious";
const SHARE: &str = "of most %";
const LOWERED: &str = "lowered %";
const FRAME_MS: &str = "frame p95 ms";
const BELOW: &str = "below after s";
const AFTER_MS: &str = "p95 after ms";
/// Wilcoxon's signed-rank test of the delays.
const CHANCE: &str = "p";
/// The estimate's begin is left out.
pub(super) const BEGUN: Duration = Duration::from_secs(5);
/// A standing queue below this is none.
pub(super) const QUEUE: Duration = Duration::from_millis(5);
/// What is asked for: falls without a queue, over stock's; what the encoder made over the most that
/// it makes, per cent; seconds until the estimate is below the capacity; delay over stock's.
const SPURIOUS: f64 = 0.5;
const MOST_USED: f64 = 85.0;
const WITHIN_S: f64 = 2.0;
const OVER_STOCK: f64 = 1.1;
const AFTER: Duration = Duration::from_secs(10);

fn ms(delays: &[Duration]) -> Vec<f64> {
    delays.iter().map(|delay| delay.as_secs_f64() * 1e3).collect()
}

/// The figures of a call with a source of this size. Of one whose cell's rate falls: when, after
/// the network's start, and to how much, Mbit/s.
pub(super) fn of(seen: &CallSeen, drop: Option<(Duration, f64)>, size: Size) -> Figures {
    let connected = seen.connected.unwrap_or(seen.started);
    let begun = connected + BEGUN;
    let end = seen.stats.last().map_or(begun, |stats| stats.at);
    let late: Vec<_> = seen.stats.iter().filter(|stats| stats.at >= begun).collect();
    let known = |value: fn(&StatsSeen) -> Option<f64>| -> Vec<f64> {
        late.iter().filter_map(|stats| value(stats)).collect()
    };
    let falls = seen.falls(begun);
    let spurious = falls.iter().filter(|(_, queue)| *queue < QUEUE).count();
    let delays = ms(&seen.frame_delays(begun, end));
    let moved = seen.packets.iter().filter(|packet| packet.corrected < packet.arrived).count();
    let back: Vec<Duration> =
        seen.packets.iter().map(|packet| packet.arrived - packet.corrected).collect();
    let summary = |field: &str| seen.summary[field].as_f64().unwrap_or(f64::NAN);
    let encoded = encoded(&late);
    let heights = known(|stats| stats.height);
    let mut figures = vec![
        ("falls", falls.len() as f64),
        (SPURIOUS_FALLS, spurious as f64),
        ("estimate Mbit/s", mean(known(|stats| stats.available)) * 1e-6),
        ("target Mbit/s", mean(known(|stats| stats.target)) * 1e-6),
        ("encoded Mbit/s", encoded),
        ("height", mean(&heights)),
        ("frames/s", mean(known(|stats| stats.frames_per_sec))),
        ("freezes", summary("freezes")),
        ("buffered ms", summary("buffered_ms")),
        ("frame p50 ms", quantile(&delays, 0.5)),
        (FRAME_MS, quantile(&delays, 0.95)),
        ("corrected %", 100.0 * moved as f64 / seen.packets.len() as f64),
        ("taken off ms", mean(ms(&back))),
    ];
    if let Some((after, mbit)) = drop {
        let at = seen.started + after;
        let after = ms(&seen.frame_delays(at, at + AFTER));
        figures.extend([
            ("capacity Mbit/s", mbit),
            (BELOW, below(seen, at, mbit)),
            (AFTER_MS, quantile(&after, 0.95)),
        ]);
    } else {
        let [_, source] = size.pixels();
        let lower = heights.iter().filter(|height| **height < f64::from(source)).count();
        figures.extend([
            (SHARE, 100.0 * encoded * 1e3 / f64::from(size.most_kbit())),
            (LOWERED, 100.0 * lower as f64 / heights.len() as f64),
        ]);
    }
    figures
}

/// What the encoder made between the first and the last of these, Mbit/s. Not each stack reports
/// its target.
fn encoded(stats: &[&StatsSeen]) -> f64 {
    let mut known = stats.iter().filter_map(|stats| Some((stats.at, stats.sent_bytes?)));
    let last = known.clone().next_back();
    match (known.next(), last) {
        (Some((from, before)), Some((to, after))) if to > from => {
            (after - before) * 8e-6 / (to - from).as_secs_f64()
        }
        _ => f64::NAN,
    }
}

/// Seconds from a time until the estimate is at most this, Mbit/s; not a number if it never is.
fn below(seen: &CallSeen, at: HostInstant, mbit: f64) -> f64 {
    let after = seen.stats.iter().filter(|stats| stats.at >= at);
    let mut known = after.filter_map(|stats| Some((stats.at, stats.available?)));
    known
        .find(|(_, available)| *available <= mbit * 1e6)
        .map_or(f64::NAN, |(when, _)| (when - at).as_secs_f64())
}

/// The figures of all seeds: the mean of each. Of the time until the estimate is below the capacity
/// the longest, and of the delay after that the median, because one call of ten may be late by
/// seconds. Missing in one is missing in all: a target that is not reached once is not reached.
pub(super) fn mean_row(name: String, all: &[Figures]) -> Row {
    let mut row = Row { name, ..Row::default() };
    for (head, _) in all.first().into_iter().flatten() {
        let values = all.iter().flatten().filter(|(of, _)| of == head).map(|(_, value)| *value);
        let values: Vec<f64> = values.collect();
        let missing = values.iter().any(|value| value.is_nan());
        let sorted = sorted(values.iter().copied());
        let value = match *head {
            _ if missing => f64::NAN,
            BELOW => quantile(&sorted, 1.0),
            AFTER_MS => quantile(&sorted, 0.5),
            _ => mean(&values),
        };
        row.figures.insert((*head).to_owned(), value);
    }
    row
}

fn way(row: &Row) -> (&str, &str) {
    row.name.split_once(": ").unwrap_or((&row.name, ""))
}

fn stock<'a>(rows: &'a [Row], row: &Row) -> Option<&'a Row> {
    let (place, _) = way(row);
    rows.iter().find(|of| way(of) == (place, "stock"))
}

/// The delay that is compared: after the rate fell, or of the whole call.
fn compared_by(row: &Row) -> &'static str {
    if row.figures.contains_key(AFTER_MS) { AFTER_MS } else { FRAME_MS }
}

/// Adds each delay over stock's, and how likely the seeds' delays differ from stock's as much by
/// chance. Of each row the figures of its seeds are given.
pub(super) fn compared(rows: Vec<(Row, Vec<Figures>)>) -> Vec<Row> {
    let (mut rows, seeds): (Vec<Row>, Vec<Vec<Figures>>) = rows.into_iter().unzip();
    let all: Vec<(f64, f64)> = rows
        .iter()
        .zip(&seeds)
        .map(|(row, own)| {
            let head = compared_by(row);
            let stock = rows.iter().zip(&seeds).find(|(of, _)| way(of) == (way(row).0, "stock"));
            let Some((stock, theirs)) = stock else { return (f64::NAN, f64::NAN) };
            let each = |all: &[Figures]| all.iter().map(|of| figure(of, head)).collect::<Vec<_>>();
            let pairs: Vec<(f64, f64)> = each(own).into_iter().zip(each(theirs)).collect();
            // With one seed there is nothing to say, and a missing figure has no rank.
            let whole =
                pairs.len() > 1 && pairs.iter().all(|(a, b)| a.is_finite() && b.is_finite());
            let chance = whole.then(|| paired(&pairs)).flatten().map_or(f64::NAN, |test| test.p);
            (row.figure(head) / stock.figure(head), chance)
        })
        .collect();
    for (row, (over, chance)) in rows.iter_mut().zip(all) {
        row.figures.insert("× stock".into(), over);
        row.figures.insert(CHANCE.into(), chance);
    }
    rows
}

fn figure(figures: &Figures, head: &str) -> f64 {
    figures.iter().find(|(of, _)| *of == head).map_or(f64::NAN, |(_, value)| *value)
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
    let each = all.iter().map(|figures| {
        let falls = format!(
            "{} falls, {} without a queue, {:.2} Mbit/s",
            figure(figures, "falls"),
            figure(figures, SPURIOUS_FALLS),
            figure(figures, "estimate Mbit/s")
        );
        let below = figure(figures, BELOW);
        if below.is_nan() {
            return falls;
        }
        format!("{falls}, below after {below:.2} s, p95 {:.0} ms", figure(figures, AFTER_MS))
    });
    each.collect::<Vec<_>>().join("; ")
}

/// Corrected rows that fall short of what is asked for.
pub(super) fn short(rows: &[Row]) -> Vec<(String, Vec<String>)> {
    let mut all = Vec::new();
    for row in rows.iter().filter(|row| ["reported", "corrected"].contains(&way(row).1)) {
        let Some(stock) = stock(rows, row) else { continue };
        let mut short = Vec::new();
        // A figure that is missing is not enough.
        let misses = |reached: bool| !reached;
        if row.figures.contains_key(AFTER_MS) {
            if misses(row.figure(BELOW) <= WITHIN_S) {
                short.push(format!("not below the capacity within {WITHIN_S} s"));
            }
            if misses(row.figure("× stock") <= OVER_STOCK) {
                short.push(format!("frames later than {OVER_STOCK} × stock's"));
            }
        } else {
            if stock.figure(SPURIOUS_FALLS) == 0.0 {
                short.push("stock has no fall without a queue: nothing to correct".into());
            } else if row.figure(SPURIOUS_FALLS) > SPURIOUS * stock.figure(SPURIOUS_FALLS) {
                short.push(format!("falls without a queue over {SPURIOUS} × stock's"));
            }
            if misses(row.figure(SHARE) >= MOST_USED) {
                short.push(format!("the encoder makes less than {MOST_USED} % of its most"));
            }
            if misses(row.figure(LOWERED) == 0.0) {
                short.push("pictures smaller than the source's".into());
            }
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

    fn row(name: &str, seeds: &[&[(&'static str, f64)]]) -> (Row, Vec<Figures>) {
        let all: Vec<Figures> = seeds.iter().map(|seed| seed.to_vec()).collect();
        (mean_row(name.into(), &all), all)
    }

    #[test]
    fn a_corrected_call_has_half_of_stocks_falls_and_gives_way_as_stock_does() {
        let calm = |falls| [("spurious", falls), (FRAME_MS, 50.0), (SHARE, 90.0), (LOWERED, 0.0)];
        let rows = compared(vec![
            row("a: stock", &[&calm(4.0)]),
            row("a: reported", &[&calm(3.0)]),
            row("b: stock", &[&calm(4.0)]),
            row("b: corrected", &[&calm(2.0)]),
            row("c: stock", &[&[(BELOW, 1.0), (AFTER_MS, 100.0)]]),
            row("c: reported", &[&[(BELOW, f64::NAN), (AFTER_MS, 120.0)]]),
            row("d: stock", &[&calm(0.0)]),
            row("d: reported", &[&calm(0.0)]),
            row("e: stock", &[&calm(4.0)]),
            row("e: reported", &[&[("spurious", 0.0), (SHARE, 84.0), (LOWERED, 1.0)]]),
        ]);
        assert_eq!(rows[5].figure("× stock"), 1.2);
        let short = short(&rows);
        let of = |name: &str| short.iter().find(|(row, _)| row == name).map_or(0, |(_, s)| s.len());
        let names = ["a: reported", "b: corrected", "c: reported", "d: reported", "e: reported"];
        assert_eq!(names.map(of), [1, 0, 2, 1, 2]);
    }

    #[test]
    fn what_was_encoded_is_a_rate_between_the_first_and_the_last_that_is_known() {
        let stats = |ms: u64, sent_bytes| StatsSeen {
            at: HostInstant::from_nanos(ms * 1_000_000),
            sent_bytes,
            ..StatsSeen::default()
        };
        let all =
            [stats(0, None), stats(100, Some(5e3)), stats(600, Some(130e3)), stats(900, None)];
        let all: Vec<&StatsSeen> = all.iter().collect();
        assert_eq!(encoded(&all), 2.0);
        assert!(encoded(&all[..2]).is_nan());
    }

    #[test]
    fn seeds_are_compared_in_pairs_and_one_alone_is_not() {
        let seeds = [50.0, 60.0, 70.0, 80.0, 90.0, 100.0];
        let calls = |less: f64| seeds.map(|delay| [(FRAME_MS, delay - less)]);
        let [stock, ours] = [calls(0.0), calls(5.0)];
        let each = |calls: &[[(&'static str, f64); 1]]| -> Vec<Figures> {
            calls.iter().map(|call| call.to_vec()).collect()
        };
        let row = |name: &str, all: Vec<Figures>| (mean_row(name.into(), &all), all);
        let rows = compared(vec![row("a: stock", each(&stock)), row("a: reported", each(&ours))]);
        // All of six are smaller: two of 64 ways.
        assert_eq!(rows[1].figure(CHANCE), 2.0 / 64.0);
        let one = vec![row("a: stock", each(&stock[..1])), row("a: reported", each(&ours[..1]))];
        assert!(compared(one)[1].figure(CHANCE).is_nan());
    }

    #[test]
    fn a_row_is_not_below_the_capacity_if_one_of_its_seeds_is_not() {
        let all = [vec![(BELOW, 1.0)], vec![(BELOW, f64::NAN)]];
        assert!(mean_row("x".into(), &all).figure(BELOW).is_nan());
    }
}
