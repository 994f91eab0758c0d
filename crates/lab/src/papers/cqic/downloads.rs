//! Fig. 5: a download of each size over a fresh connection, at 15 places and on 10 roads.

use std::fmt::Write as _;

use miette::IntoDiagnostic;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use sounding_experiment::plan::{PlanError, Run, Wrong};
use sounding_sim::Histogram;

use super::{Figures, Item, Row, deviation, mean};
use crate::paper::Work;
use sounding_experiment::observe::windows as rig;

/// The first place's seed. Seeds below were used while the law was made.
const FIRST_SEED: u64 = 1001;
/// §5: 15 experiments standing still, and 10 driving.
const STILL: usize = 15;
const DRIVING: usize = 10;

const CONTROLLERS: [&str; 3] = ["cqic", "cubic", "bbr"];
/// MB, and the time between the starts of two connections.
const SIZES: [(f64, u32); 5] = [(0.1, 3), (0.5, 3), (1.0, 4), (5.0, 12), (20.0, 30)];
/// The links.
const LINKS: [&str; 4] = ["lte", "lte, two carriers", "nr", "lte, asleep before"];
/// The width of a bucket of RTTs, ms.
const DENSEST: f64 = 20.0;

/// A kind of run.
#[derive(Clone, Copy)]
struct Kind {
    link: usize,
    size: usize,
    controller: usize,
}

/// What the connections of a run showed, each.
struct Seen {
    kind: Kind,
    mbit_per_sec: Vec<f64>,
    rtt_ms: Vec<f64>,
    rtts: Histogram,
}

fn drives(item: Item) -> bool {
    matches!(item, Item::Fig5d | Item::Fig5e | Item::Fig5f)
}

/// Levels of the SINR as a plan has them.
fn levels(lots: &mut ChaCha8Rng, drives: bool, seconds: u32) -> String {
    if !drives {
        return format!("[{{ at_s = 0.0, sinr_db = {:.1} }}]", lots.random_range(4.0..20.0));
    }
    let mut level: f64 = lots.random_range(6.0..20.0);
    let mut levels = String::from("[");
    for second in (0..=seconds).step_by(2) {
        let _ = write!(levels, "{{ at_s = {second}.0, sinr_db = {level:.1} }}, ");
        level = (level + lots.random_range(-5.0..5.0)).clamp(0.0, 22.0);
    }
    levels + "]"
}

fn plan(item: Item, kind: Kind, place: usize) -> Result<Vec<Run>, PlanError> {
    let mut text = item.files().text();
    let seed = FIRST_SEED + place as u64;
    let (size, stagger) = SIZES[kind.size];
    let seconds = 1 + 2 * stagger;
    // The place is the same for all sizes, links and controllers.
    let levels = levels(&mut ChaCha8Rng::seed_from_u64(seed), drives(item), seconds);
    let fading = if drives(item) { "\"eva\", surroundings_mps = 5.0" } else { "\"epa\"" };
    let mut sets = vec![
        format!("seeds={seed}"),
        format!("duration=\"{seconds}s\""),
        format!("flows.download.stagger=\"{stagger}s\""),
        format!("flows.download.traffic.size=\"{}kB\"", size * 1e3),
        format!("flows.download.controller=\"{}\"", CONTROLLERS[kind.controller]),
        format!(
            "cell.devices.phone.channel={{ kind = \"script\", between = \"linear\", levels = {levels}, fading = {{ profile = {fading} }} }}"
        ),
    ];
    match kind.link {
        1 => {
            sets.push("cell.devices.phone.cells=[[0, 1]]".into());
            sets.push("cell.devices.phone.aggregation={ load = 0.7 }".into());
        }
        2 => sets.push(
            "cell.carriers=[{ rat = \"nr\", numerology = 1, prb = 51, tdd = \"DDDSU\", frequency_mhz = 3600.0, arfcn = 640000, control_users_per_sec = 60.0 }]"
                .into(),
        ),
        3 => sets.push("cell.devices.phone.sleep={}".into()),
        _ => {}
    }
    for set in &sets {
        text.set(set)?;
    }
    text.runs()
}

fn watch(kind: Kind, run: &Run) -> Result<Seen, Wrong> {
    let shown = rig::run(run, false)?;
    let mut seen =
        Seen { kind, mbit_per_sec: Vec::new(), rtt_ms: Vec::new(), rtts: Histogram::default() };
    for flow in &shown.flows {
        let Some(took) = flow.report.completion.mean() else { continue };
        seen.mbit_per_sec.push(SIZES[kind.size].0 * 8.0 / took.as_secs_f64());
        if let Some(rtt) = flow.report.rtt.mean() {
            seen.rtt_ms.push(rtt.as_secs_f64() * 1e3);
        }
        seen.rtts.add(&flow.report.rtt);
    }
    Ok(seen)
}

/// The rows of an item of Fig. 5.
pub(super) fn measure(item: Item, work: &Work<'_>) -> miette::Result<Option<Figures>> {
    let is_large = matches!(item, Item::Fig5c | Item::Fig5f);
    let places = work.most(if drives(item) { DRIVING } else { STILL });
    let mut runs = Vec::new();
    for link in 0..LINKS.len() {
        for size in if is_large { SIZES.len() - 1..SIZES.len() } else { 0..SIZES.len() } {
            for controller in 0..CONTROLLERS.len() {
                let kind = Kind { link, size, controller };
                for place in 0..places {
                    let made = plan(item, kind, place).into_diagnostic()?;
                    runs.extend(made.into_iter().map(|run| (kind, run)));
                }
            }
        }
    }
    let Some(seen) = work.each(&runs, |(kind, run)| watch(*kind, run))? else { return Ok(None) };
    Ok(Some(match item {
        Item::Fig5c | Item::Fig5f => rtts(&seen),
        Item::Fig5b | Item::Fig5e => delays(&seen),
        _ => throughputs(&seen),
    }))
}

/// All connections of a kind.
fn all(
    seen: &[Seen],
    link: usize,
    size: usize,
    controller: usize,
    of: fn(&Seen) -> &[f64],
) -> Vec<f64> {
    let these = seen.iter().filter(|seen| {
        seen.kind.link == link && seen.kind.size == size && seen.kind.controller == controller
    });
    these.flat_map(|seen| of(seen).iter().copied()).collect()
}

fn name(link: usize, size: usize) -> String {
    format!("{}, {} MB", LINKS[link], SIZES[size].0)
}

fn throughputs(seen: &[Seen]) -> Figures {
    let mut figures = Figures::default();
    for link in 0..LINKS.len() {
        for (size, &(mb, _)) in SIZES.iter().enumerate() {
            let [cqic, cubic, bbr] =
                [0, 1, 2].map(|at| all(seen, link, size, at, |seen| &seen.mbit_per_sec));
            let mean = |values: &[f64]| mean(values.iter().copied());
            let (gain, over_bbr) = (mean(&cqic) / mean(&cubic), mean(&cqic) / mean(&bbr));
            let wanted = if mb < 1.0 { (1.5, "small") } else { (1.1, "medium") };
            let name = name(link, size);
            if mb < 20.0 && gain < wanted.0 {
                let short = format!("{gain:.2} of {} ×", wanted.0);
                figures.misses.push((name.clone(), wanted.1.into(), short));
            }
            figures.rows.push(Row::new(
                name,
                [
                    ("over CUBIC", gain),
                    ("over BBR", over_bbr),
                    ("cqic Mbit/s", mean(&cqic)),
                    ("±", deviation(&cqic)),
                    ("cubic", mean(&cubic)),
                    ("±", deviation(&cubic)),
                    ("bbr", mean(&bbr)),
                    ("connections", cqic.len() as f64),
                ],
            ));
        }
    }
    figures
}

fn delays(seen: &[Seen]) -> Figures {
    let mut figures = Figures::default();
    for link in 0..LINKS.len() {
        for size in 0..SIZES.len() {
            let [cqic, cubic, bbr] =
                [0, 1, 2].map(|at| mean(all(seen, link, size, at, |seen| &seen.rtt_ms)));
            let ratio = cubic / cqic;
            let name = name(link, size);
            if size == SIZES.len() - 1 && ratio < 2.38 {
                figures.misses.push((
                    name.clone(),
                    "large".into(),
                    format!("{ratio:.2} of 2.38 ×"),
                ));
            }
            figures.rows.push(Row::new(
                name,
                [
                    ("CUBIC's over it", ratio),
                    ("BBR's over it", bbr / cqic),
                    ("cqic ms", cqic),
                    ("cubic", cubic),
                    ("bbr", bbr),
                ],
            ));
        }
    }
    figures
}

fn rtts(seen: &[Seen]) -> Figures {
    let mut figures = Figures::default();
    for (link, name) in LINKS.iter().enumerate() {
        for (controller, who) in CONTROLLERS.iter().enumerate() {
            let mut rtts = Histogram::default();
            let of = seen
                .iter()
                .filter(|seen| seen.kind.link == link && seen.kind.controller == controller);
            of.for_each(|seen| rtts.add(&seen.rtts));
            let at =
                |quantile| rtts.quantile(quantile).map_or(f64::NAN, |rtt| rtt.as_secs_f64() * 1e3);
            // Where most of them are: the bucket of 20 ms with the most.
            let step = 1.0 / 400.0;
            let mut counts = std::collections::BTreeMap::new();
            for place in 1..=400 {
                let bucket = (at(f64::from(place) * step) / DENSEST) as u64;
                *counts.entry(bucket).or_insert(0) += 1;
            }
            let densest = counts.iter().max_by_key(|(_, count)| **count);
            let mode = densest.map_or(f64::NAN, |(bucket, _)| (*bucket as f64 + 0.5) * DENSEST);
            let late = (1..=400).filter(|place| at(f64::from(*place) * step) > 500.0).count();
            figures.rows.push(Row::new(
                format!("{name}, {who}"),
                [
                    ("least ms", rtts.least().map_or(f64::NAN, |rtt| rtt.as_secs_f64() * 1e3)),
                    ("most are at", mode),
                    ("p10", at(0.1)),
                    ("p50", at(0.5)),
                    ("p90", at(0.9)),
                    ("p99", at(0.99)),
                    ("above 500 ms, %", late as f64 / 4.0),
                ],
            ));
        }
    }
    figures
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The mean throughput of the connections at a few places.
    fn throughput(item: Item, link: usize, size: usize, controller: usize) -> f64 {
        let kind = Kind { link, size, controller };
        let places = (0..3).flat_map(|place| plan(item, kind, place).unwrap());
        let seen = places.map(|run| watch(kind, &run).unwrap());
        mean(seen.flat_map(|seen| seen.mbit_per_sec))
    }

    #[test]
    fn small_downloads_gain_over_cubic_still_and_driving_over_every_link() {
        for item in [Item::Fig5a, Item::Fig5d] {
            for link in 0..LINKS.len() {
                for size in [0, 1] {
                    let [cqic, cubic] = [0, 1].map(|at| throughput(item, link, size, at));
                    println!("{item:?} {}: {:.2}", name(link, size), cqic / cubic);
                    assert!(cqic > 1.1 * cubic, "{item:?} {}: {cqic} {cubic}", name(link, size));
                }
            }
        }
    }
}
