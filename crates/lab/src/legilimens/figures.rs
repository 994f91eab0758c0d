//! What is measured of a run of an item, and where it falls short.

use std::time::Duration;

use sounding_experiment::metrics::{jain, nearest_rank};
use sounding_experiment::plan::Run;
use sounding_units::Bytes;

use super::rig::{Seen, Shown};
use super::{Item, Row};

/// Figures by their heads, in no order.
type Figures = Vec<(String, f64)>;

/// A foreground that comes and goes: so long each, the first after as long.
const TURN: Duration = Duration::from_secs(30);
/// A change is over after so long, where means are taken. Chosen.
const SETTLED: Duration = Duration::from_secs(5);
/// A background flow has yielded when a window of 100 ms has less than this of what it has alone, and is back when half a
/// second has this much. The second is the paper's "efficiently recaptures"; both are chosen.
const YIELDED: f64 = 0.1;
const BACK: f64 = 0.9;
const HALF_SECOND: usize = 5;
/// A queue that holds no more than two packets is empty.
const EMPTY: i64 = 3_000;
/// Foreground throughput may be this much below the ideal (§VI-B), and a short transfer take so much longer (chosen).
const BELOW_IDEAL: f64 = 0.88;
const ABOVE_IDEAL: f64 = 1.15;
/// Of the link alone, after the first five seconds; beside a background flow on a wire; and of four flows. Chosen.
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
            "foreground",
            "of alone %",
            "yields ms",
            "yields p95 ms",
            "back ms",
            "back p95 ms",
        ],
        Item::Fig12 => &[
            "PRB %",
            "long Mbit/s",
            "mean Mbit/s",
            "of ideal %",
            "p50 ms",
            "p50 of ideal %",
            "p99 ms",
            "background Mbit/s",
            "background of ideal %",
            "left %",
        ],
        Item::Fig13 => {
            &["background kB", "p95 kB", "empty %", "foreground kB", "foreground Mbit/s"]
        }
        Item::Fig14 => &["two", "three", "four", "Mbit/s"],
        Item::Fig15 => {
            &["mean Mbit/s", "of none %", "p50 ms", "p99 ms", "background Mbit/s", "of default %"]
        }
    }
}

/// A value as its column shows it.
pub(super) fn shown(head: &str, value: f64) -> String {
    match head {
        "two" | "three" | "four" => format!("{value:.3}"),
        head if head.ends_with("ms") || head.ends_with('%') => format!("{value:.0}"),
        _ => format!("{value:.1}"),
    }
}

/// What one run has of the columns that need no other.
pub(super) fn of(item: Item, run: &Run, shown: &Shown) -> Figures {
    match item {
        Item::Fig2 | Item::Fig7 => turns(run, shown),
        Item::Fig12 | Item::Fig15 => load(run, shown),
        Item::Fig13 => queues(run, shown),
        Item::Fig14 => shares(run, shown),
    }
}

fn figure(head: &str, value: f64) -> (String, f64) {
    (head.to_owned(), value)
}

/// Mean and 95th percentile; not numbers of nothing.
fn spread(mut values: Vec<f64>) -> [f64; 2] {
    if values.is_empty() {
        return [f64::NAN; 2];
    }
    values.sort_by(f64::total_cmp);
    [values.iter().sum::<f64>() / values.len() as f64, nearest_rank(&values, 0.95)]
}

/// Beside a foreground that comes and goes.
fn turns(run: &Run, shown: &Shown) -> Figures {
    let [background, foreground] = [0, 1].map(|at| &shown.flows[at]);
    let end = run.plan.duration;
    let mean = |seen: &Seen, first: Duration| {
        let begins = std::iter::successors(Some(first), |at| Some(*at + 2 * TURN));
        let turns: Vec<f64> = begins
            .take_while(|at| *at + TURN <= end)
            .map(|at| seen.rate(at + SETTLED, at + TURN))
            .collect();
        turns.iter().sum::<f64>() / turns.len() as f64
    };
    let alone = mean(background, Duration::ZERO);
    let mut figures = vec![
        figure("background alone", alone),
        figure("background beside", mean(background, TURN)),
        figure("foreground", mean(foreground, TURN)),
    ];
    let per_window = alone * 1e5 / 8.0;
    let window = |at: Duration| (at.as_millis() / 100) as usize;
    let arrived = |seen: &Seen, at: usize| seen.arrived.get(at).copied().unwrap_or(0) as f64;
    let (mut yields, mut backs) = (Vec::new(), Vec::new());
    let mut at = TURN;
    while at + 2 * TURN <= end && per_window > 0.0 {
        let (on, off) = (window(at), window(at + TURN));
        let yielded = (on..off).find(|&at| arrived(background, at) < YIELDED * per_window);
        yields.push(yielded.map_or(TURN, |at| Duration::from_millis(100) * (at + 1 - on) as u32));
        // From the last packet of the foreground on, which comes after its end.
        let last = (off..off + 50).rev().find(|&at| arrived(foreground, at) > 0.0).unwrap_or(off);
        let back = (last..window(at + 2 * TURN)).find(|&at| {
            let half: f64 = (at..at + HALF_SECOND).map(|at| arrived(background, at)).sum();
            half >= BACK * per_window * HALF_SECOND as f64
        });
        backs.push(back.map_or(TURN, |at| Duration::from_millis(100) * (at - last) as u32));
        at += 2 * TURN;
    }
    let millis = |spans: Vec<Duration>| {
        spread(spans.into_iter().map(|span| span.as_secs_f64() * 1e3).collect())
    };
    for (name, spans) in [("yields", yields), ("back", backs)] {
        let [mean, tail] = millis(spans);
        figures
            .extend([figure(&format!("{name} ms"), mean), figure(&format!("{name} p95 ms"), tail)]);
    }
    figures
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
        figure("PRB %", shown.account.used_until(plan.warmup, until) * 1e2),
        figure("long Mbit/s", rate(most, long.mean())),
        figure("mean Mbit/s", bytes * 8e-6 / secs),
        figure("p50 ms", millis(short.quantile(0.5))),
        figure("p99 ms", millis(short.quantile(0.99))),
        figure("background Mbit/s", background),
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
        figure("background kB", mean),
        figure("p95 kB", p95),
        figure("empty %", empty as f64 * 1e2 / waits.len().max(1) as f64),
        figure("foreground kB", spread(kilobytes(foreground))[0]),
        figure("foreground Mbit/s", foreground.rate(from, to)),
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
        figure("two", share(2, PERIOD, 2 * PERIOD)),
        figure("three", share(3, 2 * PERIOD, 3 * PERIOD)),
        figure("four", share(4, 3 * PERIOD, end)),
        figure("Mbit/s", shown.flows.iter().map(|seen| seen.rate(3 * PERIOD, end)).sum()),
    ]
}

/// Fills in what is over another row's figure.
pub(super) fn compare(item: Item, rows: &mut [Row]) {
    let known = rows.to_vec();
    let value = |name: &str, head: &str| {
        let row = known.iter().find(|row| row.name == name);
        row.and_then(|row| row.figures.get(head)).copied().unwrap_or(f64::NAN)
    };
    for row in rows {
        let of = |head: &str| row.figures.get(head).copied().unwrap_or(f64::NAN);
        let group = row.name.split_once(", ").map_or("", |(group, _)| group).to_owned();
        let named = |name: &str| {
            if group.is_empty() { name.to_owned() } else { format!("{group}, {name}") }
        };
        let more = match item {
            Item::Fig2 | Item::Fig7 => vec![
                figure(
                    "of the link %",
                    of("background alone") / value(&named("cubic"), "background alone") * 1e2,
                ),
                figure("of alone %", of("foreground") / value(&named("none"), "foreground") * 1e2),
            ],
            Item::Fig12 => {
                let ideal = |head: &str| value(&named("ideal"), head);
                let left = 100.0 - value(&named("none"), "PRB %");
                vec![
                    figure("of ideal %", of("mean Mbit/s") / ideal("mean Mbit/s") * 1e2),
                    figure("p50 of ideal %", of("p50 ms") / ideal("p50 ms") * 1e2),
                    figure(
                        "background of ideal %",
                        of("background Mbit/s") / ideal("background Mbit/s") * 1e2,
                    ),
                    figure("left %", (of("PRB %") - value(&named("none"), "PRB %")) / left * 1e2),
                ]
            }
            Item::Fig15 => vec![
                figure("of none %", of("mean Mbit/s") / value("none", "mean Mbit/s") * 1e2),
                figure(
                    "of default %",
                    of("background Mbit/s") / value("lambda 0.5", "background Mbit/s") * 1e2,
                ),
            ],
            Item::Fig13 | Item::Fig14 => Vec::new(),
        };
        row.figures.extend(more);
    }
}

/// Rows under `background` that miss what is required of it, and which figures.
pub(super) fn short(item: Item, rows: &[Row]) -> Vec<(String, Vec<String>)> {
    let mut misses = Vec::new();
    for row in rows.iter().filter(|row| row.name.contains("background")) {
        let below = |head: &str, least: f64| {
            let value = row.figures.get(head).copied().unwrap_or(f64::NAN);
            // A figure that is missing or no number is a miss.
            (value.is_nan() || value < least).then(|| format!("{head} below {least:.2}"))
        };
        let above = |head: &str, most: f64| {
            let value = row.figures.get(head).copied().unwrap_or(f64::NAN);
            (value.is_nan() || value > most).then(|| format!("{head} above {most:.2}"))
        };
        let found = match item {
            Item::Fig2 if row.name.starts_with("wire") => {
                vec![below("of alone %", ON_WIRE * 1e2), below("of the link %", OF_LINK * 1e2)]
            }
            Item::Fig2 | Item::Fig7 => vec![below("of the link %", OF_LINK * 1e2)],
            Item::Fig12 => vec![
                below("of ideal %", BELOW_IDEAL * 1e2),
                above("p50 of ideal %", ABOVE_IDEAL * 1e2),
            ],
            Item::Fig14 => ["two", "three", "four"].map(|head| below(head, FAIR)).to_vec(),
            Item::Fig13 | Item::Fig15 => Vec::new(),
        };
        let found: Vec<String> = found.into_iter().flatten().collect();
        if !found.is_empty() {
            misses.push((row.name.clone(), found));
        }
    }
    misses
}
