//! A background flow beside a foreground flow that comes and goes.

use std::time::Duration;

use sounding_experiment::metrics;
use sounding_experiment::plan::{Run, TrafficPlan};

use super::Figures;
use super::measured::spread;
use sounding_experiment::observe::windows::{Seen, Shown};

/// A change is over after so long, where means are taken. Chosen.
const SETTLED: Duration = Duration::from_secs(5);
/// A background flow has yielded when a window of 100 ms has less than this of what it has alone,
/// and is back when half a second has this much. The second is the paper's "efficiently
/// recaptures"; both are chosen.
const YIELDED: f64 = 0.1;
const BACK: f64 = 0.9;
const HALF_SECOND: usize = 5;

/// Beside a foreground that comes and goes.
pub(super) fn turns(run: &Run, shown: &Shown) -> Figures {
    let turn = run.plan.flows.iter().find_map(|flow| match flow.traffic {
        TrafficPlan::OnOff { on, .. } => Some(on),
        _ => None,
    });
    // An item without a foreground that comes and goes has no turns.
    let Some(turn) = turn else { return Figures::new() };
    let [background, foreground] = [0, 1].map(|at| &shown.flows[at]);
    let end = run.plan.duration;
    let mean = |seen: &Seen, first: Duration| {
        let begins = std::iter::successors(Some(first), |at| Some(*at + 2 * turn));
        let turns = begins.take_while(|at| *at + turn <= end);
        metrics::mean(turns.map(|at| seen.rate(at + SETTLED, at + turn)))
    };
    let alone = mean(background, Duration::ZERO);
    let mut figures = vec![
        ("handovers", shown.account.handovers as f64),
        ("background alone", alone),
        ("background beside", mean(background, turn)),
        ("foreground", mean(foreground, turn)),
    ];
    let per_window = alone * 1e5 / 8.0;
    let window = |at: Duration| (at.as_millis() / 100) as usize;
    let arrived = |seen: &Seen, at: usize| seen.arrived.get(at).copied().unwrap_or(0) as f64;
    let (mut yields, mut backs) = (Vec::new(), Vec::new());
    let mut at = turn;
    while at + 2 * turn <= end && per_window > 0.0 {
        let (on, off) = (window(at), window(at + turn));
        let yielded = (on..off).find(|&at| arrived(background, at) < YIELDED * per_window);
        yields.push(yielded.map_or(turn, |at| Duration::from_millis(100) * (at + 1 - on) as u32));
        // From the last packet of the foreground on, which comes after its end.
        let last = (off..off + 50).rev().find(|&at| arrived(foreground, at) > 0.0).unwrap_or(off);
        let back = (last..window(at + 2 * turn)).find(|&at| {
            let half: f64 = (at..at + HALF_SECOND).map(|at| arrived(background, at)).sum();
            half >= BACK * per_window * HALF_SECOND as f64
        });
        backs.push(back.map_or(turn, |at| Duration::from_millis(100) * (at - last) as u32));
        at += 2 * turn;
    }
    let millis = |spans: Vec<Duration>| {
        spread(spans.into_iter().map(|span| span.as_secs_f64() * 1e3).collect())
    };
    for (heads, spans) in
        [(["yields ms", "yields p95 ms"], yields), (["back ms", "back p95 ms"], backs)]
    {
        figures.extend(heads.into_iter().zip(millis(spans)));
    }
    figures
}
