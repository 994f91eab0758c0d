//! Beyond the paper: what must hold where a share jumps, an application pauses, the wire is narrow,
//! or several flows meet.

use std::time::Duration;

use miette::IntoDiagnostic;
use sounding_experiment::metrics::{nearest_rank, sorted};
use sounding_experiment::plan::{PlanError, Run, Wrong};

use super::{Figures, Item, Row, mean};
use crate::paper::Work;
use sounding_experiment::observe::windows::{self as rig, Shown, WINDOW};

/// Seeds of each check; those below the first were used while the law was made.
const SEEDS: usize = 10;
const FIRST_SEED: usize = 1001;

/// The device with the flows is the plan's first.
const PHONE: u16 = 0;
/// When the crowd goes, and when an application has more to send.
const CHANGE: Duration = Duration::from_secs(10);
/// The part of what the others leave from which on the link counts as full.
const FULL: f64 = 0.95;
/// The longer of ten RTTs of 70 ms and half a second.
const SOON_MS: f64 = 700.0;

/// A check: its row, its differences from the plan, and its measure of a run.
struct Check {
    name: &'static str,
    sets: &'static [&'static str],
    measure: fn(&Shown) -> Vec<f64>,
    /// Every value has to be within this, where something has to hold.
    within: Option<(f64, f64)>,
}

const APPLICATION: &str = "flows=[{ name = \"download\", device = \"phone\", direction = \"down\", controller = \"cqic\", traffic = { kind = \"steady\", rate = \"1Mbit\" }, stop = \"10s\" }, { name = \"bulk\", device = \"phone\", direction = \"down\", controller = \"cqic\", start = \"10s\" }]";

/// Halfway, after seven and a half seconds, the other base station becomes the nearer one: the
/// levels of before and after are alike.
const TWO_CELLS: [&str; 2] = [
    "cell.carriers=[{ prb = 50, arfcn = 1300, pci = 1 }, { prb = 50, arfcn = 1300, pci = 2, site = { position = { x_m = 600.0, y_m = 0.0 } } }]",
    "cell.devices=[{ name = \"phone\", modem = { overhead = 0.02 }, cells = [[0], [1]], trajectory = { kind = \"waypoints\", points = [{ x_m = 150.0, y_m = 20.0 }, { x_m = 450.0, y_m = 20.0 }], speed_mps = 20.0 } }]",
];

fn checks() -> Vec<Check> {
    let check = |name, sets, measure, within| Check { name, sets, measure, within };
    vec![
        check(
            "19 others go: share before, %",
            &["cell.devices.crowd.count=19"],
            before,
            Some((1.0, 12.0)),
        ),
        check(
            "19 others go: ms to 95 % of the cell",
            &["cell.devices.crowd.count=19"],
            after_crowd,
            Some((0.0, SOON_MS)),
        ),
        check(
            "1 Mbit/s for 10 s, then bulk: ms to 95 %",
            &[APPLICATION],
            after_change,
            Some((0.0, SOON_MS)),
        ),
        check("alone: Mbit/s", &[], rate, None),
        check("alone: p95 RTT over the least", &[], tail, None),
        check(
            "alone, gain 1.25: Mbit/s",
            &["flows.download.controller=\"cqic:gain=1.25\""],
            rate,
            None,
        ),
        check(
            "alone, gain 1.25: p95 RTT over the least",
            &["flows.download.controller=\"cqic:gain=1.25\""],
            tail,
            Some((0.0, 1.5)),
        ),
        check("alone, CUBIC: Mbit/s", &["flows.download.controller=\"cubic\""], rate, None),
        check(
            "alone, CUBIC: p95 RTT over the least",
            &["flows.download.controller=\"cubic\""],
            tail,
            None,
        ),
        check("alone, BBR: Mbit/s", &["flows.download.controller=\"bbr\""], rate, None),
        check(
            "reports every 500 ms: Mbit/s",
            &["cell.devices.phone.modem.every=\"500ms\""],
            rate,
            None,
        ),
        check(
            "reports every 500 ms: p95 RTT over the least",
            &["cell.devices.phone.modem.every=\"500ms\""],
            tail,
            None,
        ),
        check(
            "two flows: Jain's index",
            &["flows.download.count=2", "flows.download.stagger=\"2s\""],
            jain,
            Some((0.98, 1.0)),
        ),
        check(
            "three flows: Jain's index",
            &["flows.download.count=3", "flows.download.stagger=\"2s\""],
            jain,
            Some((0.98, 1.0)),
        ),
        check("a handover: the rate after it, of the one before, %", &TWO_CELLS, handed_over, None),
        check("a wire of 10 Mbit/s: Mbit/s", &["wire.down=\"10Mbit\""], rate, None),
        check("a wire of 10 Mbit/s: p95 RTT over the least", &["wire.down=\"10Mbit\""], tail, None),
    ]
}

/// The phone's part of what others leave of a window's resource blocks.
fn part(shown: &Shown, window: usize) -> f64 {
    let others = shown.account.others(PHONE, window);
    let all = shown.account.all.get(window).copied().unwrap_or(0);
    let own = shown.account.of.get(&PHONE).and_then(|own| own.get(window)).copied().unwrap_or(0);
    own as f64 / (all.max(1) as f64 * (1.0 - others)).max(1.0)
}

fn windows(from: Duration, to: Duration) -> std::ops::Range<usize> {
    let at = |time: Duration| (time.as_nanos() / WINDOW.as_nanos()) as usize;
    at(from)..at(to)
}

/// Milliseconds until the phone has the cell, from the end of the window `from`.
fn full_after(shown: &Shown, from: usize) -> f64 {
    let last = shown.account.all.len();
    let first = (from..last).find(|&window| part(shown, window) >= FULL);
    first.map_or(f64::INFINITY, |window| ((window - from) as f64) * WINDOW.as_secs_f64() * 1e3)
}

fn before(shown: &Shown) -> Vec<f64> {
    let share = |window| {
        let own = shown.account.of.get(&PHONE).and_then(|own| own.get(window)).copied();
        let all = shown.account.all.get(window).copied().unwrap_or(0);
        own.unwrap_or(0) as f64 / all.max(1) as f64
    };
    let span = windows(CHANGE - Duration::from_secs(3), CHANGE - Duration::from_secs(1));
    vec![mean(span.map(share)) * 100.0]
}

/// From when the others' queues are gone too.
fn after_crowd(shown: &Shown) -> Vec<f64> {
    let mut from = windows(CHANGE, Duration::from_secs(20));
    let free = from.find(|&window| shown.account.others(PHONE, window) < 0.1);
    vec![free.map_or(f64::INFINITY, |free| full_after(shown, free))]
}

fn after_change(shown: &Shown) -> Vec<f64> {
    vec![full_after(shown, windows(CHANGE, CHANGE).start)]
}

fn rate(shown: &Shown) -> Vec<f64> {
    vec![
        shown
            .flows
            .iter()
            .map(|flow| flow.rate(Duration::from_secs(2), Duration::from_secs(20)))
            .sum(),
    ]
}

fn handed_over(shown: &Shown) -> Vec<f64> {
    let rate = |from, to| {
        let [from, to] = [from, to].map(Duration::from_secs);
        shown.flows.iter().map(|flow| flow.rate(from, to)).sum::<f64>()
    };
    vec![100.0 * rate(10, 13) / rate(2, 5)]
}

fn tail(shown: &Shown) -> Vec<f64> {
    let of = |flow: &rig::Seen| {
        let rtts = &flow.report.rtt;
        Some(rtts.quantile(0.95)?.as_secs_f64() / rtts.least()?.as_secs_f64())
    };
    shown.flows.iter().filter_map(of).collect()
}

/// From when all have begun and had a second.
fn jain(shown: &Shown) -> Vec<f64> {
    let rates =
        shown.flows.iter().map(|flow| flow.rate(Duration::from_secs(8), Duration::from_secs(20)));
    let rates: Vec<f64> = rates.collect();
    let sum: f64 = rates.iter().sum();
    let squares: f64 = rates.iter().map(|rate| rate * rate).sum();
    vec![sum * sum / (rates.len() as f64 * squares)]
}

fn runs(check: &Check, seeds: usize) -> Result<Vec<Run>, PlanError> {
    let mut text = Item::Robust.files().text();
    text.set(&format!("seeds=\"{FIRST_SEED}..{}\"", FIRST_SEED + seeds - 1))?;
    for set in check.sets {
        text.set(set)?;
    }
    text.runs()
}

/// The rows.
pub(super) fn measure(work: &Work<'_>) -> miette::Result<Option<Figures>> {
    let checks = checks();
    let seeds = work.most(SEEDS);
    let mut all = Vec::new();
    for (at, check) in checks.iter().enumerate() {
        all.extend(runs(check, seeds).into_diagnostic()?.into_iter().map(|run| (at, run)));
    }
    let values = work.each(&all, |(at, run)| {
        let shown = rig::run(run, false)?;
        Ok::<_, Wrong>((checks[*at].measure)(&shown))
    })?;
    let Some(values) = values else { return Ok(None) };
    let mut figures = Figures::default();
    for (at, check) in checks.iter().enumerate() {
        let of = all.iter().zip(&values).filter(|((of, _), _)| *of == at);
        let of = sorted(of.flat_map(|(_, values)| values.iter().copied()));
        if of.is_empty() {
            continue;
        }
        let within = check.within.unwrap_or((f64::NEG_INFINITY, f64::INFINITY));
        let held = of.iter().filter(|value| (within.0..=within.1).contains(value)).count();
        if held < of.len() {
            let short = format!("held in {held} of {}", of.len());
            figures.misses.push((check.name.into(), check.name.into(), short));
        }
        figures.rows.push(Row::new(
            check.name,
            [
                ("median", nearest_rank(&of, 0.5)),
                ("least", of[0]),
                ("most", of[of.len() - 1]),
                ("values", of.len() as f64),
            ],
        ));
    }
    Ok(Some(figures))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flow_has_the_rate_of_the_next_cell_as_it_had_that_of_the_last() {
        let checks = checks();
        let check = checks.iter().find(|check| check.name.starts_with("a handover")).unwrap();
        for run in runs(check, 3).unwrap() {
            let kept = (check.measure)(&rig::run(&run, false).unwrap());
            println!("{}: {kept:?}", check.name);
            assert!(kept.iter().all(|percent| *percent > 60.0), "{kept:?}");
        }
    }

    #[test]
    fn a_small_share_or_an_application_with_few_requests_holds_no_flow_down() {
        for check in checks().iter().filter(|check| check.name.contains("ms to 95 %")) {
            // With the fourth the blocks of the first packets were known before their resource
            // blocks.
            for run in runs(check, 4).unwrap() {
                let took = (check.measure)(&rig::run(&run, false).unwrap());
                println!("{}: {took:?}", check.name);
                assert!(took.iter().all(|ms| *ms <= SOON_MS), "{}: {took:?} ms", check.name);
            }
        }
    }
}
