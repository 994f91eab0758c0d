//! Whether the radio's delays end slow start early: CUBIC with unmodified HyStart++, with Gandalf, and without HyStart++.

use std::time::Duration;

use sounding_experiment::plan::Wrong;

use super::scene::{self, Scene};
use super::{Figures, Item, Kind, Row, quantile, rig};

/// Throughput of the first two seconds, and the part of what CUBIC has without HyStart++: over all seeds, and over those in which stock
/// left slow start early. The rest are the 95th percentiles of one-way delays in that time.
pub(super) const COLUMNS: &[&str] = &[
    "without Mbit/s",
    "stock Mbit/s",
    "Gandalf Mbit/s",
    "stock part",
    "Gandalf part",
    "early %",
    "early stock part",
    "early Gandalf part",
    "without p95 ms",
    "stock p95 ms",
    "Gandalf p95 ms",
];

/// What is measured.
const BEGIN: Duration = Duration::from_secs(2);
/// Slow start was left early if HyStart++ costs more than this part of the throughput, and this is asked of Gandalf.
const PART: f64 = 0.95;

/// What is set besides the scene.
struct Variant {
    name: &'static str,
    sets: &'static [&'static str],
}

const PERIOD: &str = "cell.devices.phone.scheduling.periodic_bsr";

/// Reports as in the paper, rarer ones, and a cell whose radio makes next to no delay: there slow start ends for another reason.
const VARIANTS: [Variant; 4] = [
    Variant { name: "a report every 5 ms", sets: &["=5ms"] },
    Variant { name: "a report every 10 ms", sets: &["=10ms"] },
    Variant { name: "a report every 20 ms", sets: &["=20ms"] },
    Variant { name: "radio without delays", sets: &[] },
];

pub(super) fn kinds() -> Vec<Kind> {
    let mut kinds = Vec::new();
    for scene in Scene::all() {
        for Variant { name, sets } in &VARIANTS {
            let mut all = scene.sets();
            all.extend(sets.iter().map(|set| format!("{PERIOD}{set}")));
            if sets.is_empty() {
                all.extend(super::masking::calm());
            }
            all.push(format!("duration={}s", BEGIN.as_secs()));
            kinds.push(Kind { name: format!("{}, {name}", scene.name()), sets: all, measure });
        }
    }
    kinds
}

/// Throughput in Mbit/s and the 95th percentile of the one-way delay in ms.
fn begin(kind: &Kind, sets: &[String], seed: u64, controller: &str) -> Result<[f64; 2], Wrong> {
    let more = [format!("seeds={seed}"), format!("flows.flow.controller={controller}")];
    let sets = sets.iter().chain(&kind.sets).cloned().chain(more);
    let (run, shared) = scene::run(Item::Table1.files(), sets)?;
    let observed = rig::observe(&run, &shared, None)?;
    let delays = observed.delays_ms(Duration::ZERO);
    Ok([observed.mbit_per_sec(Duration::ZERO), quantile(&delays, 0.95)])
}

fn measure(kind: &Kind, sets: &[String], seed: u64) -> Result<Figures, Wrong> {
    let of = |controller: &str| begin(kind, sets, seed, controller);
    let [without, stock, ours] = [of("cubic-no-hystart")?, of("cubic")?, of("cubic-gandalf")?];
    Ok(figures(without, stock, ours))
}

fn figures(without: [f64; 2], stock: [f64; 2], ours: [f64; 2]) -> Figures {
    let parts = [stock, ours].map(|of| of[0] / without[0]);
    let is_early = parts[0] < PART;
    // Unknown where stock did not leave early: means are over the others.
    let early = parts.map(|part| if is_early { part } else { f64::NAN });
    vec![
        ("without Mbit/s", without[0]),
        ("stock Mbit/s", stock[0]),
        ("Gandalf Mbit/s", ours[0]),
        ("stock part", parts[0]),
        ("Gandalf part", parts[1]),
        ("early %", if is_early { 100.0 } else { 0.0 }),
        ("early stock part", early[0]),
        ("early Gandalf part", early[1]),
        ("without p95 ms", without[1]),
        ("stock p95 ms", stock[1]),
        ("Gandalf p95 ms", ours[1]),
    ]
}

/// Rows in which Gandalf does not give back what stock lost.
pub(super) fn short(rows: &[Row]) -> Vec<(String, Vec<String>)> {
    let is_short = |row: &&Row| row.figure("early Gandalf part") < PART;
    let said = |row: &Row| {
        let part = row.figure("early Gandalf part");
        (row.name.clone(), vec![format!("{part:.2} of the rate without HyStart++, not {PART}")])
    };
    rows.iter().filter(is_short).map(said).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(figures: Figures) -> Row {
        let figures = figures.into_iter().map(|(head, value)| (head.to_owned(), value));
        Row { name: "a".into(), figures: figures.collect() }
    }

    #[test]
    fn only_runs_that_stock_began_slowly_count_as_early_and_a_loss_is_a_miss() {
        let same = row(figures([20.0, 30.0], [19.5, 30.0], [10.0, 30.0]));
        assert!(same.figure("early Gandalf part").is_nan() && same.figure("early %") == 0.0);
        assert!(short(&[same]).is_empty());
        let lost = row(figures([20.0, 30.0], [10.0, 30.0], [15.0, 30.0]));
        assert_eq!(lost.figure("early %"), 100.0);
        assert_eq!(short(&[lost]).len(), 1);
        let given_back = row(figures([20.0, 30.0], [10.0, 30.0], [19.5, 30.0]));
        assert!(short(&[given_back]).is_empty());
    }
}
