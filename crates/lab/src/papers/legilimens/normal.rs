//! For how much of its time a law sends freely.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use sounding_cc::parameter::Choice;
use sounding_cc::{Controller, Start};
use sounding_experiment::plan::{Run, Wrong};

use super::Figures;
use crate::noted::Noted;
use sounding_experiment::observe::windows::{self as rig, Shown};

/// Its name in the plan.
const NAME: &str = "watched";

/// In these states it looks for room.
const SEARCHES: [&str; 6] = ["opening", "probing", "proving", "gap I", "gap II", "gap III"];

/// By flow: in which millisecond it began or ceased to send freely.
type Changes = Arc<Mutex<Vec<Vec<(usize, bool)>>>>;

fn with<T>(changes: &Changes, of: impl FnOnce(&mut Vec<Vec<(usize, bool)>>) -> T) -> T {
    of(&mut changes.lock().unwrap_or_else(PoisonError::into_inner))
}

/// The part of the time between two milliseconds that flows sent freely in.
fn free(flows: &[Vec<(usize, bool)>], from: usize, to: usize) -> f64 {
    let free = |changes: &Vec<(usize, bool)>| {
        let ends = changes.iter().skip(1).map(|(ms, _)| *ms).chain([to]);
        let spans = changes.iter().zip(ends).filter(|((_, is_free), _)| *is_free);
        let within = |begins: usize, ends: usize| ends.min(to).saturating_sub(begins.max(from));
        spans.map(|((begins, _), ends)| within(*begins, ends)).sum::<usize>()
    };
    let all: usize = flows.iter().map(free).sum();
    all as f64 / (flows.len() * (to - from)).max(1) as f64
}

/// A run whose background is watched, and for how much of its time it sends freely.
pub(super) fn run(run: &Run) -> Result<(Shown, Figures), Wrong> {
    let mut run = run.clone();
    let entry = run.plan.flows.iter().position(|flow| flow.name.as_deref() == Some("background"));
    let entry = entry.ok_or_else(|| Wrong::new("flows", "no flow is called background"))?;
    let (_, law) = run.controllers.choose(&run.plan.flows[entry].controller)?;
    let changes = Changes::default();
    let kept = Arc::clone(&changes);
    let make = move |start: &Start| -> Box<dyn Controller> {
        let flow = with(&kept, |flows| {
            flows.push(Vec::new());
            flows.len() - 1
        });
        let (changes, mut was_free) = (Arc::clone(&kept), None);
        Box::new(Noted::new(law(start), move |_, now, law: &dyn Controller| {
            let is_free = law.not_before().is_none() && !SEARCHES.contains(&law.state());
            if was_free.replace(is_free) != Some(is_free) {
                let ms = (now.as_nanos() / 1_000_000) as usize;
                with(&changes, |flows| flows[flow].push((ms, is_free)));
            }
        }))
    };
    run.controllers.add(NAME, make)?;
    run.plan.flows[entry].controller = Choice::plain(NAME);
    let shown = rig::run(&run, false)?;
    let ends = run.plan.flows.iter().map(|flow| flow.stop).min().unwrap_or(run.plan.duration);
    let until: Duration = ends.min(run.plan.duration);
    let [from, to] = [run.plan.warmup, until].map(|at| at.as_millis() as usize);
    let part = with(&changes, |flows| free(flows, from, to));
    Ok((shown, vec![("normal %", part * 1e2)]))
}
