//! Throughput and delay by controller and scene.

use std::time::Duration;

use super::scene::{self, Scene};
use super::{Figures, Kind, Made, Measure, Row, Short, mean, quantile, rig};

/// Gains are over the stock controller of the same scene.
pub(super) const COLUMNS: &[&str] = &["Mbit/s", "mean ms", "p95 ms", "× stock", "× mean delay"];

/// What is not measured: slow start.
pub(super) const BEGUN: Duration = Duration::from_secs(2);

/// The requirement for Gandalf where stock has less than a quarter of BBR's throughput: this
/// multiple of the better blind filter's, at most this much more delay than stock's, and less than
/// BBR's.
const OVER_BLIND: f64 = 2.0;
const MORE_MS: f64 = 15.0;
const OF_BBR: f64 = 0.25;

/// The senders of an algorithm, stock first.
fn senders(of: &str) -> Vec<(String, String)> {
    let stock = if of == "vivace" { "vivace-published" } else { of };
    let mut all = vec![(stock.to_owned(), stock.to_owned())];
    if of == "vivace" {
        // What this project has by default: slopes count only where they are more than noise.
        all.push(("vivace".into(), "vivace".into()));
    }
    for window in ["10ms", "30ms"] {
        all.push((format!("{of}, mean of {window}"), format!("{of}-smoothed:window={window}")));
    }
    if of == "copa" {
        all.push((format!("{of}, mean of 60ms"), format!("{of}-smoothed:window=60ms")));
        // Gandalf's own means and floor without any knowledge.
        all.push((format!("{of}, means and floor alone"), format!("{of}-means-gandalf")));
    }
    all.push((format!("{of}-gandalf"), format!("{of}-gandalf")));
    all.push((format!("{of}, truth"), format!("{of}-truth")));
    if of == "copa" {
        // The result if all were known at once, and with the blind filters' means.
        for window in scene::TRUTHS {
            all.push((format!("{of}, truth, mean of {window} ms"), format!("{of}-truth-{window}")));
        }
    }
    all
}

fn kind(scene: Scene, shown: &str, controller: &str, more: Vec<String>) -> Kind {
    let mut sets = scene.sets();
    sets.push(format!("flows.flow.controller={controller}"));
    sets.extend(more);
    Kind { name: format!("{}: {shown}", scene.name()), sets, measure: Measure::Run(measure) }
}

pub(super) fn kinds() -> Vec<Kind> {
    kinds_by(&["copa", "vivace"], &["bbr"], Measure::Run(measure))
}

/// The same, with other figures of each run. `plain` are controllers that are only compared with.
pub(super) fn kinds_by(algorithms: &[&str], plain: &[&str], measure: Measure) -> Vec<Kind> {
    let mut kinds = Vec::new();
    let kind = |scene, shown: &str, controller: &str, more| {
        let of = kind(scene, shown, controller, more);
        Kind { measure, ..of }
    };
    for scene in Scene::all() {
        for name in plain {
            kinds.push(kind(scene, name, name, Vec::new()));
        }
        for of in algorithms {
            for (shown, controller) in senders(of) {
                kinds.push(kind(scene, &shown, &controller, Vec::new()));
            }
        }
    }
    kinds
}

fn measure(_: &Kind, made: &Made) -> Figures {
    rate_and_delay(&made.observed)
}

/// The throughput of a flow, and its one-way delays, after its begin.
pub(super) fn rate_and_delay(observed: &rig::Observed) -> Figures {
    let delays = observed.delays_ms(BEGUN);
    vec![
        ("Mbit/s", observed.mbit_per_sec(BEGUN)),
        ("mean ms", mean(&delays)),
        ("p95 ms", quantile(&delays, 0.95)),
    ]
}

/// The scene of a row, and its sender.
fn parts(row: &Row) -> (&str, &str) {
    row.name.split_once(": ").unwrap_or((&row.name, ""))
}

/// The algorithm of a sender.
fn algorithm(sender: &str) -> &str {
    sender.split(['-', ',']).next().unwrap_or(sender)
}

fn find<'a>(rows: &'a [Row], scene: &str, sender: &str) -> Option<&'a Row> {
    rows.iter().find(|row| parts(row) == (scene, sender))
}

fn stock<'a>(rows: &'a [Row], row: &Row) -> Option<&'a Row> {
    let (scene, sender) = parts(row);
    let of = algorithm(sender);
    find(rows, scene, if of == "vivace" { "vivace-published" } else { of })
}

/// Adds what compares rows.
pub(super) fn compare(rows: &mut [Row]) {
    let all = rows.to_vec();
    for row in rows {
        let Some(stock) = stock(&all, row) else { continue };
        let gain = row.figure("Mbit/s") / stock.figure("Mbit/s");
        let slower = row.figure("mean ms") / stock.figure("mean ms");
        row.figures.insert("× stock".into(), gain);
        row.figures.insert("× mean delay".into(), slower);
    }
}

/// Rows that fall short of what is asked for.
pub(super) fn short(rows: &[Row]) -> Short {
    let mut all = Vec::new();
    for row in rows {
        let (scene, sender) = parts(row);
        let of = algorithm(sender);
        if sender != format!("{of}-gandalf") {
            continue;
        }
        let (Some(stock), Some(bbr)) = (stock(rows, row), find(rows, scene, "bbr")) else {
            continue;
        };
        if stock.figure("Mbit/s") >= OF_BBR * bbr.figure("Mbit/s") {
            continue;
        }
        let blind = ["10ms", "30ms"].map(|window| {
            find(rows, scene, &format!("{of}, mean of {window}"))
                .map_or(f64::NAN, |blind| blind.figure("Mbit/s"))
        });
        let blind = blind[0].max(blind[1]);
        let mut short = Vec::new();
        if row.figure("Mbit/s") < OVER_BLIND * blind {
            let times = row.figure("Mbit/s") / blind;
            short.push(format!("{times:.1} × the better blind filter, not {OVER_BLIND:.0} ×"));
        }
        if row.figure("mean ms") > stock.figure("mean ms") + MORE_MS {
            short.push(format!("more than {MORE_MS:.0} ms over stock"));
        }
        if row.figure("mean ms") > bbr.figure("mean ms") {
            short.push("more delay than BBR".to_owned());
        }
        if !short.is_empty() {
            all.push((row.name.clone(), short));
        }
    }
    all
}
