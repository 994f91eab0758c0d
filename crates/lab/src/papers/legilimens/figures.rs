//! What is measured of a run of an item, and where it falls short.

use std::time::Duration;

use sounding_experiment::metrics::jain;
use sounding_experiment::plan::Run;
use sounding_units::Bytes;

use super::measured::spread;
use super::{Figures, Item, Row, Short, moves};
use sounding_experiment::observe::windows::{Seen, Shown};

/// A queue that holds no more than two packets is empty.
const EMPTY: i64 = 3_000;
/// Foreground throughput may be this much below the ideal (§VI-B), and a short transfer take so
/// much longer (chosen).
const BELOW_IDEAL: f64 = 0.88;
const ABOVE_IDEAL: f64 = 1.15;
/// Of the link alone, after the first five seconds; beside a background flow on a wire; and of four
/// flows. Chosen.
const OF_LINK: f64 = 0.90;
const ON_WIRE: f64 = 0.85;
const FAIR: f64 = 0.90;

/// The columns of an item.
pub(super) fn columns(item: Item) -> &'static [&'static str] {
    match item {
        Item::Fig2 => {
            &["background alone", "of the link %", "background beside", "foreground", "of alone %"]
        }
        Item::Fig7 => &[
            "background alone",
            "of the link %",
            "background beside",
            "foreground",
            "of alone %",
            "yields ms",
            "yields p95 ms",
            "back ms",
            "back p95 ms",
        ],
        Item::Fig8 => &[
            "PRB %",
            "p50 ms",
            "p50 of ideal %",
            "p99.9 ms",
            "p99.9 ms low",
            "p99.9 ms high",
            "background Mbit/s",
            "left %",
        ],
        Item::Fig9 => &[
            "PRB %",
            "long Mbit/s",
            "mean Mbit/s",
            "of ideal %",
            "background Mbit/s",
            "of ledbat, lp",
            "left %",
        ],
        Item::Fig10 => {
            &["PRB %", "of cubic %", "mean Mbit/s", "of ideal %", "background Mbit/s", "left %"]
        }
        Item::Fig11 => &[
            "handovers",
            "background alone",
            "of the link %",
            "background beside",
            "foreground",
            "of alone %",
        ],
        Item::Alone => &["Mbit/s", "of the link %"],
        Item::Fig12 => &[
            "PRB %",
            "long Mbit/s",
            "mean Mbit/s",
            "of ideal %",
            "p50 ms",
            "p50 of ideal %",
            "p99 ms",
            "p99 ms low",
            "p99 ms high",
            "background Mbit/s",
            "background of ideal %",
            "of ledbat, lp",
            "left %",
        ],
        Item::Fig13 => &[
            "background kB",
            "p95 kB",
            "empty %",
            "foreground kB",
            "foreground Mbit/s",
            "of alone %",
            "background Mbit/s",
        ],
        Item::Fig14 => &["two", "three", "four", "Mbit/s"],
        Item::Fig15 => &[
            "mean Mbit/s",
            "of none %",
            "p50 ms",
            "p99 ms",
            "background Mbit/s",
            "of default %",
            "normal %",
        ],
    }
}

/// A value as its column shows it.
pub(super) fn shown(head: &str, value: f64) -> String {
    match head {
        "two" | "three" | "four" => format!("{value:.3}"),
        "normal %" => format!("{value:.1}"),
        head if head.contains(" ms") || head.ends_with('%') => format!("{value:.0}"),
        _ => format!("{value:.1}"),
    }
}

/// What one run has of the columns that need no other.
pub(super) fn of(item: Item, run: &Run, shown: &Shown) -> Figures {
    match item {
        Item::Fig2 | Item::Fig7 | Item::Fig11 => moves::turns(run, shown),
        Item::Fig8 | Item::Fig9 | Item::Fig10 | Item::Fig12 | Item::Fig15 => load(run, shown),
        Item::Alone => {
            let rate = shown.flows[0].rate(run.plan.warmup, run.plan.duration);
            vec![("Mbit/s", rate)]
        }
        Item::Fig13 => queues(run, shown),
        Item::Fig14 => shares(run, shown),
    }
}

/// A hundred devices.
fn load(run: &Run, shown: &Shown) -> Figures {
    let plan = &run.plan;
    let is_background = |seen: &&Seen| seen.size.is_none();
    let ends = plan.flows.iter().map(|flow| flow.stop).min().unwrap_or(plan.duration);
    let until = ends.min(plan.duration);
    let background: f64 =
        shown.flows.iter().filter(is_background).map(|seen| seen.rate(plan.warmup, until)).sum();
    let (mut bytes, mut secs) = (0.0, 0.0);
    let mut short = sounding_sim::Histogram::default();
    let mut long = sounding_sim::Histogram::default();
    let sizes = shown.flows.iter().filter_map(|seen| seen.size);
    let [least, most] = [sizes.clone().min(), sizes.max()].map(Option::unwrap_or_default);
    for seen in shown.flows.iter() {
        let Some(size) = seen.size else { continue };
        let done = &seen.report.completion;
        let took = done.mean().map_or(0.0, |mean| mean.as_secs_f64()) * done.count() as f64;
        bytes += size.count() as f64 * done.count() as f64;
        secs += took;
        if size == least {
            short.add(done);
        } else if size == most {
            long.add(done);
        }
    }
    let rate = |size: Bytes, took: Option<Duration>| {
        took.map_or(f64::NAN, |took| size.count() as f64 * 8e-6 / took.as_secs_f64())
    };
    let millis = |took: Option<Duration>| took.map_or(f64::NAN, |took| took.as_secs_f64() * 1e3);
    vec![
        ("PRB %", shown.account.used_until(plan.warmup, until) * 1e2),
        ("long Mbit/s", rate(most, long.mean())),
        ("mean Mbit/s", bytes * 8e-6 / secs),
        ("p50 ms", millis(short.quantile(0.5))),
        ("p99 ms", millis(short.quantile(0.99))),
        ("p99.9 ms", millis(short.quantile(0.999))),
        ("background Mbit/s", background),
    ]
}

fn queues(run: &Run, shown: &Shown) -> Figures {
    let [background, foreground] = [0, 1].map(|at| &shown.flows[at]);
    let (from, to) = (Duration::from_secs(6), run.plan.duration - Duration::from_secs(1));
    let kilobytes = |seen: &Seen| -> Vec<f64> {
        seen.queue(from, to).into_iter().map(|bytes| bytes as f64 / 1e3).collect()
    };
    let [mean, p95] = spread(kilobytes(background));
    let waits = background.queue(from, to);
    let empty = waits.iter().filter(|bytes| **bytes <= EMPTY).count();
    vec![
        ("background kB", mean),
        ("p95 kB", p95),
        ("empty %", empty as f64 * 1e2 / waits.len().max(1) as f64),
        ("foreground kB", spread(kilobytes(foreground))[0]),
        ("foreground Mbit/s", foreground.rate(from, to)),
        ("background Mbit/s", background.rate(from, to)),
    ]
}

fn shares(run: &Run, shown: &Shown) -> Figures {
    const PERIOD: Duration = Duration::from_secs(20);
    let end = run.plan.duration;
    let share = |flows: usize, from: Duration, to: Duration| {
        let rates: Vec<f64> =
            shown.flows.iter().take(flows).map(|seen| seen.rate(from, to)).collect();
        jain(&rates).unwrap_or(f64::NAN)
    };
    vec![
        ("two", share(2, PERIOD, 2 * PERIOD)),
        ("three", share(3, 2 * PERIOD, 3 * PERIOD)),
        ("four", share(4, 3 * PERIOD, end)),
        ("Mbit/s", shown.flows.iter().map(|seen| seen.rate(3 * PERIOD, end)).sum()),
    ]
}

/// Fills in what is over another row's figure.
pub(super) fn compare(item: Item, rows: &mut [Row]) {
    let known = rows.to_vec();
    let value = |name: &str, head: &str| {
        let row = known.iter().find(|row| row.name == name);
        row.map_or(f64::NAN, |row| row.figure(head))
    };
    for row in rows {
        let of = |head: &str| row.figure(head);
        let group = row.name.split_once(", ").map_or("", |(group, _)| group).to_owned();
        let named = |name: &str| {
            if group.is_empty() { name.to_owned() } else { format!("{group}, {name}") }
        };
        let more = match item {
            Item::Fig2 | Item::Fig7 | Item::Fig11 => vec![
                (
                    "of the link %",
                    of("background alone") / value(&named("cubic"), "background alone") * 1e2,
                ),
                ("of alone %", of("foreground") / value(&named("none"), "foreground") * 1e2),
            ],
            Item::Fig8 | Item::Fig9 | Item::Fig10 | Item::Fig12 => {
                let lower = ["ledbat", "lp"].map(|name| value(&named(name), "background Mbit/s"));
                let ideal = |head: &str| value(&named("ideal"), head);
                let left = 100.0 - value(&named("none"), "PRB %");
                vec![
                    ("of ideal %", of("mean Mbit/s") / ideal("mean Mbit/s") * 1e2),
                    ("p50 of ideal %", of("p50 ms") / ideal("p50 ms") * 1e2),
                    (
                        "background of ideal %",
                        of("background Mbit/s") / ideal("background Mbit/s") * 1e2,
                    ),
                    ("of cubic %", of("PRB %") / value(&named("cubic"), "PRB %") * 1e2),
                    ("of ledbat, lp", of("background Mbit/s") * 2.0 / (lower[0] + lower[1])),
                    ("left %", (of("PRB %") - value(&named("none"), "PRB %")) / left * 1e2),
                ]
            }
            Item::Fig15 => vec![
                ("of none %", of("mean Mbit/s") / value("none", "mean Mbit/s") * 1e2),
                (
                    "of default %",
                    of("background Mbit/s") / value("lambda 0.5", "background Mbit/s") * 1e2,
                ),
            ],
            Item::Fig13 => vec![(
                "of alone %",
                of("foreground Mbit/s") / value("none", "foreground Mbit/s") * 1e2,
            )],
            Item::Alone => {
                let link = value(&named("cubic"), "Mbit/s");
                vec![("of the link %", of("Mbit/s") / link * 1e2)]
            }
            Item::Fig14 => Vec::new(),
        };
        row.figures.extend(more.into_iter().map(|(head, value)| (head.to_owned(), value)));
    }
}

/// The mean of each scheme over the base loads of Fig. 10, as the paper has it over its bins.
pub(super) fn means(rows: &[Row]) -> Vec<Row> {
    let mut means: Vec<Row> = Vec::new();
    for row in rows {
        let Some((_, scheme)) = row.name.split_once(", ") else { continue };
        let name = format!("mean, {scheme}");
        if means.iter().any(|mean| mean.name == name) {
            continue;
        }
        let alike = |other: &&Row| other.name.split_once(", ").is_some_and(|(_, of)| of == scheme);
        let alike: Vec<&Row> = rows.iter().filter(alike).collect();
        let mean = |head: &String| {
            let values = alike.iter().filter_map(|row| row.figures.get(head));
            values.sum::<f64>() / alike.len() as f64
        };
        let figures = row.figures.keys().map(|head| (head.clone(), mean(head))).collect();
        means.push(Row { name, figures });
    }
    means
}

/// Rows under `background` that miss what is required of it, and which figures.
pub(super) fn short(item: Item, rows: &[Row]) -> Short {
    let mut misses = Vec::new();
    for row in rows.iter().filter(|row| row.name.contains("background")) {
        let below = |head: &str, least: f64| {
            let value = row.figure(head);
            // A figure that is missing or no number is a miss.
            (value.is_nan() || value < least).then(|| format!("{head} below {least:.2}"))
        };
        let above = |head: &str, most: f64| {
            let value = row.figure(head);
            (value.is_nan() || value > most).then(|| format!("{head} above {most:.2}"))
        };
        let found = match item {
            Item::Fig2 if row.name.starts_with("wire") => {
                vec![below("of alone %", ON_WIRE * 1e2), below("of the link %", OF_LINK * 1e2)]
            }
            Item::Fig2 | Item::Fig7 | Item::Alone => vec![below("of the link %", OF_LINK * 1e2)],
            Item::Fig8 => vec![above("p50 of ideal %", ABOVE_IDEAL * 1e2)],
            Item::Fig9 | Item::Fig10 => vec![below("of ideal %", BELOW_IDEAL * 1e2)],
            Item::Fig12 => vec![
                below("of ideal %", BELOW_IDEAL * 1e2),
                above("p50 of ideal %", ABOVE_IDEAL * 1e2),
            ],
            Item::Fig14 => ["two", "three", "four"].map(|head| below(head, FAIR)).to_vec(),
            Item::Fig11 | Item::Fig13 | Item::Fig15 => Vec::new(),
        };
        let found: Vec<String> = found.into_iter().flatten().collect();
        if !found.is_empty() {
            misses.push((row.name.clone(), found));
        }
    }
    misses
}
