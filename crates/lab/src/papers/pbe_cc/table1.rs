//! 40 places: Table 1, Figs. 12 to 15 and the time in the Internet's state (§6.3.1).

mod shown;

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use serde::Serialize;
use sounding_cell::Event as CellEvent;
use sounding_cell::event::Rrc;
use sounding_experiment::metrics::{self, nearest_rank};
use sounding_experiment::observe::{Packets, Setup as Shows};
use sounding_experiment::plan::{Run, Wrong};
use sounding_host::jobs::{self, Told};

use super::place::Place;
use super::rig::{Observed, Setup, observe};

pub(super) use shown::report;

/// What order statistics of throughput are over (§6.3.1).
const WINDOW: Duration = Duration::from_millis(100);

/// The order statistics of Figs. 13 and 14.
pub(super) const QUANTILES: [f64; 5] = [0.10, 0.25, 0.50, 0.75, 0.90];

/// States in which PBE-CC takes the Internet for the bottleneck: the queue there is drained, then
/// probed.
const INTERNET: [&str; 2] = ["bottleneck-elsewhere", "drain"];

/// A repetition's seed is so far from that of the one before.
const APART: u64 = 10_000;

/// Which places, and how often.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    pub(super) places: usize,
    pub(super) first_seed: u64,
    pub(super) repeats: u64,
    pub(super) span: Duration,
    pub(super) jobs: usize,
    /// The controllers as plans write them; those of the plan if none is named.
    pub(super) controllers: Vec<String>,
    /// `KEY=VALUE`, after what is drawn.
    pub(super) sets: Vec<String>,
}

/// A flow at a place.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Visit {
    /// The place's number.
    pub(super) place: usize,
    /// The algorithm.
    pub(super) controller: String,
    /// IP bytes that arrived, from the flow's beginning on.
    pub(super) mbit_per_sec: f64,
    /// One-way delay, its mean.
    pub(super) mean_ms: f64,
    /// 95 % of packets are below it.
    pub p95_ms: f64,
    /// 10th, 25th, 50th, 75th and 90th percentile of the throughput of 100 ms.
    pub(super) windows_mbit_per_sec: [f64; 5],
    /// The same of packets' delays.
    pub(super) delays_ms: [f64; 5],
    /// Whether the network activated a further carrier.
    pub(super) aggregated: bool,
    /// Part of its time in which the Internet was taken for the bottleneck; zero of controllers
    /// that make no difference.
    pub(super) internet: f64,
}

/// All flows of a place, the mean over repetitions.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Visited {
    /// The place.
    pub(super) place: Place,
    /// By controller, in the order of the plan.
    pub(super) visits: Vec<Visit>,
}

impl Visited {
    pub(super) fn of(&self, controller: &str) -> Option<&Visit> {
        self.visits.iter().find(|visit| visit.controller == controller)
    }
}

/// A flow's Mbit/s in each 100 ms, the lowest first.
pub(super) fn windows(packets: &Packets, flow: usize, span: Duration) -> Vec<f64> {
    let mut windows = vec![0_u64; (span.as_nanos() / WINDOW.as_nanos()).max(1) as usize];
    for arrival in packets.of(flow, Duration::ZERO, Duration::MAX) {
        let at = (arrival.at().as_nanos() / WINDOW.as_nanos()) as usize;
        if let Some(bytes) = windows.get_mut(at) {
            *bytes += arrival.size();
        }
    }
    windows.sort_unstable();
    windows.into_iter().map(|bytes| bytes as f64 * 8e-6 / WINDOW.as_secs_f64()).collect()
}

/// What a download did.
fn visit(place: &Place, mut run: Run) -> Result<Visit, Wrong> {
    let choice = &run.plan.flows[0].controller;
    let controller = choice.to_string();
    if !sounding_baselines::needs(choice.name()).is_some_and(|needs| needs.remote)
        && let Some(phone) = run.plan.cell.as_mut().and_then(|cell| cell.devices.first_mut())
    {
        // It would listen to nothing.
        phone.modem = None;
    }
    let observed = observe(&run, Setup::of(Shows { radio: true, ..Shows::default() }))?;
    let span = observed.span;
    let windows = windows(&observed.packets, 0, span);
    let delays = observed.packets.delays_ms(0, Duration::ZERO, Duration::MAX);
    let delay =
        |quantile| if delays.is_empty() { f64::NAN } else { nearest_rank(&delays, quantile) };
    let internet = INTERNET.iter().map(|state| observed.states.share_of(0, state, span)).sum();
    Ok(Visit {
        place: place.number,
        mbit_per_sec: observed.packets.mbit_per_sec(0, Duration::ZERO, span),
        mean_ms: metrics::mean(&delays),
        p95_ms: delay(0.95),
        windows_mbit_per_sec: QUANTILES.map(|quantile| nearest_rank(&windows, quantile)),
        delays_ms: QUANTILES.map(delay),
        aggregated: aggregated(&observed),
        internet,
        controller,
    })
}

fn aggregated(observed: &Observed) -> bool {
    let activated =
        |event: &CellEvent| matches!(event, CellEvent::Rrc { change: Rrc::Activated { .. }, .. });
    observed.cell.iter().any(activated)
}

/// The mean of a place's repetitions.
fn mean(visits: &[Visit]) -> Option<Visit> {
    let first = visits.first()?;
    let count = visits.len() as f64;
    let of = |value: &dyn Fn(&Visit) -> f64| visits.iter().map(value).sum::<f64>() / count;
    let each = |value: &dyn Fn(&Visit) -> [f64; 5]| {
        std::array::from_fn(|at| of(&|visit: &Visit| value(visit)[at]))
    };
    Some(Visit {
        mbit_per_sec: of(&|visit| visit.mbit_per_sec),
        mean_ms: of(&|visit| visit.mean_ms),
        p95_ms: of(&|visit| visit.p95_ms),
        windows_mbit_per_sec: each(&|visit| visit.windows_mbit_per_sec),
        delays_ms: each(&|visit| visit.delays_ms),
        aggregated: visits.iter().any(|visit| visit.aggregated),
        internet: of(&|visit| visit.internet),
        ..first.clone()
    })
}

/// Visits places, and returns those that were visited whole; `progress` receives how many flows of
/// how many are done.
pub(super) fn measure(
    plan: &Plan,
    stop: &AtomicBool,
    mut progress: impl FnMut(usize, usize),
) -> Result<Vec<Visited>, Wrong> {
    let mut work = Vec::new();
    let mut sets = plan.sets.clone();
    if !plan.controllers.is_empty() {
        sets.push(format!("sweep={{\"flows.download.controller\"={:?}}}", plan.controllers));
    }
    for number in 1..=plan.places {
        let place = Place::of(number, plan.first_seed);
        for repeat in 0..plan.repeats {
            let runs = place.runs(plan.span, &sets)?.into_iter();
            let seed = place.seed + repeat * APART;
            work.extend(runs.map(|mut run| {
                run.seed = seed;
                (place, run)
            }));
        }
    }
    let mut done = 0;
    let job = |(place, run): &(Place, Run), _: &jobs::Job<'_, (), Visit, Wrong>| {
        visit(place, run.clone()).map(Some)
    };
    let visits = jobs::until(&work, plan.jobs, stop, job, |told| {
        if let Told::Done(..) = told {
            done += 1;
            progress(done, work.len());
        }
    });
    let visits = visits.map_err(|(_, wrong)| wrong)?;
    let mut places: BTreeMap<usize, Vec<Option<Visit>>> = BTreeMap::new();
    for ((place, _), visit) in work.iter().zip(visits) {
        places.entry(place.number).or_default().push(visit);
    }
    let whole = places.into_iter().filter_map(|(number, visits)| {
        let visits: Option<Vec<Visit>> = visits.into_iter().collect();
        let visits = visits?;
        let mut names: Vec<&str> = Vec::new();
        for visit in &visits {
            if !names.contains(&visit.controller.as_str()) {
                names.push(&visit.controller);
            }
        }
        let means = names.iter().filter_map(|name| {
            let of = visits.iter().filter(|visit| visit.controller == *name).cloned();
            mean(&of.collect::<Vec<_>>())
        });
        Some(Visited { place: Place::of(number, plan.first_seed), visits: means.collect() })
    });
    Ok(whole.collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::papers::pbe_cc::place::FIRST_SEED;

    #[test]
    fn pbe_cc_in_an_idle_cell_waits_less_than_bbr_and_finds_no_narrow_internet() {
        let mut places = (1..).map(|number| Place::of(number, FIRST_SEED));
        let place = places.find(|place| !place.busy && place.carriers == 1).unwrap();
        let runs = place.runs(Duration::from_secs(4), &[]).unwrap();
        let of = |name: &str| {
            let run = runs.iter().find(|run| run.plan.flows[0].controller.name() == name);
            visit(&place, run.unwrap().clone()).unwrap()
        };
        let (pbe, bbr) = (of("pbe-cc"), of("bbr"));
        assert!(pbe.p95_ms < bbr.p95_ms, "{pbe:?} {bbr:?}");
        assert!(pbe.mbit_per_sec > 0.7 * bbr.mbit_per_sec, "{pbe:?} {bbr:?}");
        assert!(pbe.internet <= 0.04, "{pbe:?}");
        assert!(!pbe.aggregated);
    }

    #[test]
    fn a_place_that_was_left_before_its_end_is_none() {
        let plan = Plan {
            places: 1,
            first_seed: FIRST_SEED,
            repeats: 1,
            span: Duration::from_millis(500),
            jobs: 1,
            controllers: Vec::new(),
            sets: Vec::new(),
        };
        let visited = measure(&plan, &AtomicBool::new(false), |_, _| {}).unwrap();
        assert_eq!(visited.len(), 1);
        assert_eq!(visited[0].visits.len(), 9);
        let visited = measure(&plan, &AtomicBool::new(true), |_, _| {}).unwrap();
        assert!(visited.is_empty());
    }
}
