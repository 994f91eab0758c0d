//! BISCAY's evaluation (§5.2, §5.3), item by item and in virtual time: what the paper has, what we have, and why that differs.
//!
//! Plans and the paper's figures are the files of `papers/biscay`. Flows go over links that are given, and what their modems
//! would have written is the feed: the loop is open, as in the paper's emulator. `closed_loop` has the other.

mod course;
mod figures;
mod item;
mod links;
mod plan;
mod scripted;
mod wire;

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

pub use figures::Figures;
pub use item::{Item, Report};
pub use links::{Entry, LinksError, Scenario, chosen, dataset, real};
pub use plan::Plan;
pub use wire::{Crossing, crossings};

use course::{Course, Entrant};

/// Who shares a link, how often they are told, and how long they are looked at.
#[derive(Clone, Copy, Debug)]
struct Setting<'a> {
    controller: &'a str,
    flows: usize,
    every: Option<Duration>,
}

type Measured = Result<Vec<Figures>, LinksError>;

/// Everything that a plan names over these links on `jobs` threads; `progress` hears of each link that is done.
pub fn measure(
    plan: &Plan,
    entries: &[Entry],
    jobs: usize,
    progress: &(dyn Fn(usize, usize) + Sync),
) -> Measured {
    let next = AtomicUsize::new(0);
    let results: Vec<Option<Measured>> = entries.iter().map(|_| None).collect();
    let results = Mutex::new(results);
    let done = AtomicUsize::new(0);
    thread::scope(|scope| {
        for _ in 0..jobs.clamp(1, entries.len().max(1)) {
            scope.spawn(|| {
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    let Some(entry) = entries.get(at) else { return };
                    let result = over(plan, entry);
                    let mut results = results.lock().expect("no worker panics");
                    results[at] = Some(result);
                    progress(done.fetch_add(1, Ordering::Relaxed) + 1, entries.len());
                }
            });
        }
    });
    let results = results.into_inner().expect("no worker panics");
    let mut figures = Vec::new();
    for result in results.into_iter().flatten() {
        figures.extend(result?);
    }
    Ok(figures)
}

fn over(plan: &Plan, entry: &Entry) -> Measured {
    let link = entry.open(plan.duration + Duration::from_secs(1))?;
    let mut figures = Vec::new();
    for setting in plan.settings() {
        let entrants: Vec<Entrant<'_>> = (0..setting.flows)
            .map(|at| Entrant {
                controller: setting.controller,
                begins: plan.stagger * u32::try_from(at).unwrap_or(u32::MAX),
            })
            .collect();
        let course = Course {
            delay: plan.delay,
            until: plan.duration,
            every: setting.every,
            wire: None,
            seed: 1,
        };
        let passage = course::run(&link, &course, &entrants);
        let measured = Figures::of(
            &link,
            entry.scenario,
            setting.controller,
            setting.flows,
            &passage,
            plan.duration,
        );
        figures.extend(measured.map(|figures| Figures {
            every_ms: setting.every.map(|every| every.as_secs_f64() * 1e3),
            ..figures
        }));
    }
    Ok(figures)
}
