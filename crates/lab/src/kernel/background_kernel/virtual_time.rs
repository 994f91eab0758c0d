//! A run in virtual time.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use sounding_baselines::Registry;
use sounding_bpf::BackgroundPhase;
use sounding_cc::Controller;
use sounding_experiment::plan::Text;
use sounding_units::HostInstant;

use super::load::{spread, transfers};
use super::{Plan, Scene, Seen, only, text};
use crate::experiment::Failed;
use crate::noted::{Noted, On};
use sounding_experiment::observe::windows as rig;

/// When each state began.
type States = Arc<Mutex<Vec<(HostInstant, &'static str)>>>;

fn note(states: &States, now: HostInstant, law: &dyn Controller) {
    let mut states = states.lock().unwrap_or_else(PoisonError::into_inner);
    if states.last().is_none_or(|(_, last)| *last != law.state()) {
        states.push((now, law.state()));
    }
}

/// A run with the transfers of `seed`; the law's draws and the radio's errors are those of `draws`.
pub(super) fn run(scene: Scene, plan: &Plan, seed: u64, draws: u64) -> Result<Seen, Failed> {
    let states = States::default();
    let kept = Arc::clone(&states);
    let make = sounding_baselines::by_name("background").ok_or("no background")?;
    let mut controllers = Registry::default();
    controllers.add("watched", move |start| {
        let (law, kept) = (make(start), Arc::clone(&kept));
        note(&kept, start.now, &*law);
        Box::new(Noted::new(law, move |on, now, law: &dyn Controller| {
            if on == On::Heard {
                note(&kept, now, law);
            }
        }))
    })?;
    let transfers = transfers(scene, plan.lasts, seed);
    let text = text(scene, plan.lasts, "watched", &transfers);
    let text = Text::new("background", text, PathBuf::new());
    let run = only(text.with_controllers(controllers), draws)?;
    let shown = rig::run(&run, false)?;
    let third = plan.lasts / 3;
    let thirds = [0, 1, 2].map(|at| shown.flows[0].rate(third * at, third * (at + 1)));
    let rate = shown.flows[0].rate(Duration::ZERO, plan.lasts);
    let settled = third + Duration::from_secs(2);
    let rival = shown.flows.get(1).filter(|_| scene == Scene::Rival);
    let rival = rival.map(|flow| flow.rate(settled, third * 2));
    let beside = transfers.iter().zip(shown.flows.iter().skip(1));
    let short = beside.filter(|(transfer, _)| transfer.is_short());
    let short = spread(short.filter_map(|(_, flow)| flow.report.completion.most()).collect());
    let states = states.lock().unwrap_or_else(PoisonError::into_inner);
    Ok(Seen { rate, thirds, rival, short, states: occupancy(&states, plan.lasts) })
}

/// Percent of the time in each state.
fn occupancy(states: &[(HostInstant, &str)], lasts: Duration) -> [f64; 5] {
    let end = HostInstant::default() + lasts;
    let begun = states.first().map_or(end, |(at, _)| *at);
    let ends = states.iter().skip(1).map(|(at, _)| *at).chain([end]);
    let mut percent = [0.0; 5];
    for ((from, state), to) in states.iter().zip(ends) {
        // The kernel's flow shows its phase, and not what it believes meanwhile.
        let state = if *state == "proving" { "probing" } else { state };
        let place = BackgroundPhase::ALL.iter().position(|phase| phase.name() == state);
        if let Some(place) = place {
            percent[place] += 100.0 * (to - *from).as_secs_f64() / (end - begun).as_secs_f64();
        }
    }
    percent
}
