//! Figures of one run.

use sounding_experiment::observe::windows::{Seen, Shown};
use sounding_experiment::plan::Run;

use crate::paper::plan_item::Figures;
use crate::papers::legilimens::moves;

/// A foreground flow that comes and goes.
pub(super) fn turns(run: &Run, shown: &Shown) -> Figures {
    let figures = moves::turns(run, shown).into_iter().map(|(head, value)| match head {
        "background alone" => ("background", value),
        "background beside" => ("beside", value),
        _ => (head, value),
    });
    figures.collect()
}

/// Transfers that arrive: their mean rate and the mean time that they take, of all that ended.
pub(super) fn load(run: &Run, shown: &Shown) -> Figures {
    let plan = &run.plan;
    let ends = plan.flows.iter().map(|flow| flow.stop).min().unwrap_or(plan.duration);
    let until = ends.min(plan.duration);
    let background = |seen: &&Seen| seen.size.is_none();
    let background = shown.flows.iter().filter(background);
    let background: f64 = background.map(|seen| seen.rate(plan.warmup, until)).sum();
    let (mut bytes, mut secs, mut done) = (0.0, 0.0, 0.0);
    for seen in &shown.flows {
        let Some(size) = seen.size else { continue };
        let ended = &seen.report.completion;
        let count = ended.count() as f64;
        secs += ended.mean().map_or(0.0, |mean| mean.as_secs_f64()) * count;
        bytes += size.count() as f64 * count;
        done += count;
    }
    vec![
        ("foreground", bytes * 8e-6 / secs),
        ("mean ms", secs * 1e3 / done),
        ("done", done),
        ("background", background),
    ]
}
