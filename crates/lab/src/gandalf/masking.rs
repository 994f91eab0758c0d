//! Whether a queue that is one stays visible: a wire of half the radio's rate, and a competitor behind it.

use std::collections::HashMap;
use std::sync::PoisonError;
use std::time::Duration;

use sounding_experiment::plan::Wrong;
use sounding_units::HostInstant;

use super::scene::{self, Scene};
use super::table1::{BEGUN, rate_and_delay};
use super::{Figures, Item, Kind, Row, quantile, rig};

/// By how much the delay that a controller sees after all corrections differs from the true queue.
pub(super) const COLUMNS: &[&str] = &[
    "Mbit/s",
    "mean ms",
    "p95 ms",
    "queue median ms",
    "error median ms",
    "error p95 ms",
    "hidden p95 ms",
];

/// What is asked for: the error, and the 95th percentile of the one-way delay over stock's.
const MEDIAN_MS: f64 = 1.0;
const P95_MS: f64 = 5.0;
const OVER_STOCK: f64 = 1.1;

/// Half of what the radio carries in each scene, Mbit/s.
fn half(scene: Scene) -> u32 {
    match (scene.nr, scene.up) {
        (true, false) => 100,
        (true, true) => 12,
        (false, false) => 50,
        (false, true) => 20,
    }
}

pub(super) fn kinds() -> Vec<Kind> {
    let mut kinds = Vec::new();
    for scene in Scene::all().filter(|scene| !scene.walks) {
        let rate = half(scene);
        let way = if scene.up { "up" } else { "down" };
        let narrow = vec![format!("wire.{way}={rate}Mbit"), "wire.queue=500kB".to_owned()];
        for (place, more) in [("narrow wire", narrow), ("radio alone", Vec::new())] {
            for (shown, controller) in [
                ("copa", "copa"),
                ("copa-gandalf", "recorded-copa-gandalf"),
                ("constant", "copa-constant"),
            ] {
                let mut sets = scene.sets();
                sets.extend(more.iter().cloned());
                sets.push(format!("flows.flow.controller={controller}"));
                let name = format!("{}, {place}: {shown}", scene.name());
                kinds.push(Kind { name, sets, measure });
            }
        }
    }
    kinds
}

fn measure(kind: &Kind, sets: &[String], seed: u64) -> Result<Figures, Wrong> {
    let seeds = format!("seeds={seed}");
    let sets = kind.sets.iter().chain(sets).cloned().chain([seeds]);
    let (run, shared) = scene::run(Item::Table1.files(), sets)?;
    let observed = rig::observe(&run, &shared, None)?;
    let mut figures = rate_and_delay(&observed);
    let queued: HashMap<HostInstant, Duration> =
        observed.arrivals.iter().map(|arrival| (arrival.sent, arrival.queued)).collect();
    let record = shared.record.lock().unwrap_or_else(PoisonError::into_inner);
    let begun = HostInstant::default() + BEGUN;
    let seen = record.revised.iter().filter(|(at, _)| *at >= begun);
    let both: Vec<(f64, f64)> = seen
        .filter_map(|(at, rtt)| {
            let sent = record.sent.get(at)?;
            let queue = queued.get(sent)?.as_secs_f64() * 1e3;
            Some((rtt.as_secs_f64() * 1e3, queue))
        })
        .collect();
    if both.is_empty() {
        return Ok(figures);
    }
    // The path without a queue: what is left on the whole of the corrected delay when the true queue is taken off.
    let mut bases: Vec<f64> = both.iter().map(|(rtt, queue)| rtt - queue).collect();
    bases.sort_by(f64::total_cmp);
    let base = quantile(&bases, 0.5);
    let mut errors: Vec<f64> = bases.iter().map(|of| (of - base).abs()).collect();
    errors.sort_by(f64::total_cmp);
    // What is hidden is a queue that is there and not seen.
    let mut hidden: Vec<f64> = bases.iter().map(|of| (base - of).max(0.0)).collect();
    hidden.sort_by(f64::total_cmp);
    let mut queues: Vec<f64> = both.iter().map(|(_, queue)| *queue).collect();
    queues.sort_by(f64::total_cmp);
    figures.extend([
        ("queue median ms", quantile(&queues, 0.5)),
        ("error median ms", quantile(&errors, 0.5)),
        ("error p95 ms", quantile(&errors, 0.95)),
        ("hidden p95 ms", quantile(&hidden, 0.95)),
    ]);
    Ok(figures)
}

/// Rows that fall short of what is asked for. The control must: it is one if it does not.
pub(super) fn short(rows: &[Row]) -> Vec<(String, Vec<String>)> {
    let mut all = Vec::new();
    for row in rows {
        let Some((place, sender)) = row.name.split_once(": ") else { continue };
        let stock = rows.iter().find(|of| of.name == format!("{place}: copa"));
        let over = stock.map(|stock| row.figure("p95 ms") / stock.figure("p95 ms"));
        let mut short = Vec::new();
        if row.figure("error median ms") > MEDIAN_MS {
            short.push("error median".to_owned());
        }
        if row.figure("error p95 ms") > P95_MS {
            short.push("error p95".to_owned());
        }
        if place.ends_with("wire") && over.is_some_and(|over| over > OVER_STOCK) {
            short.push(format!("p95 {:.2} × stock's", over.unwrap_or_default()));
        }
        match (sender, short.is_empty()) {
            ("copa-gandalf", false) => all.push((row.name.clone(), short)),
            ("constant", true) if place.ends_with("wire") => {
                all.push((row.name.clone(), vec!["the control passes".to_owned()]));
            }
            _ => {}
        }
    }
    all
}
