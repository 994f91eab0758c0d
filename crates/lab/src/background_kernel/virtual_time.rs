//! A run in virtual time.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use sounding_baselines::Registry;
use sounding_bpf::BackgroundPhase;
use sounding_cc::{Ack, Controller, forward};
use sounding_experiment::plan::{Text, Wrong};
use sounding_units::HostInstant;

use super::load::{spread, transfers};
use super::{CompareError, Plan, Scene, Seen, only, text};
use crate::legilimens::rig;

/// When each state began.
type States = Arc<Mutex<Vec<(HostInstant, &'static str)>>>;

/// The law, and what it did.
#[derive(Debug)]
struct Watched {
    law: Box<dyn Controller>,
    states: States,
}

impl Watched {
    fn note(&self, now: HostInstant) {
        let mut states = self.states.lock().unwrap_or_else(PoisonError::into_inner);
        let state = self.law.state();
        if states.last().is_none_or(|(_, last)| *last != state) {
            states.push((now, state));
        }
    }
}

impl Controller for Watched {
    forward!(law; but handle_ack, handle_timeout, handle_time);

    fn handle_ack(&mut self, ack: &Ack) {
        self.law.handle_ack(ack);
        self.note(ack.now);
    }

    fn handle_timeout(&mut self, now: HostInstant) {
        self.law.handle_timeout(now);
        self.note(now);
    }

    fn handle_time(&mut self, now: HostInstant) {
        self.law.handle_time(now);
        self.note(now);
    }
}

/// A run with the transfers of `seed`; the law's draws and the radio's errors are those of `draws`.
pub(super) fn run(scene: Scene, plan: &Plan, seed: u64, draws: u64) -> Result<Seen, CompareError> {
    let wrong = |message: String| CompareError::Virtual(Wrong::new("", message));
    let states = States::default();
    let kept = Arc::clone(&states);
    let make =
        sounding_baselines::by_name("background").ok_or_else(|| wrong("no background".into()))?;
    let mut controllers = Registry::default();
    controllers
        .add("watched", move |start| {
            let law = Watched { law: make(start), states: Arc::clone(&kept) };
            law.note(start.now);
            Box::new(law)
        })
        .map_err(|error| wrong(error.to_string()))?;
    let transfers = transfers(scene, plan.lasts, seed);
    let text = text(scene, plan.lasts, "watched", &transfers);
    let text = Text::new("background", text, PathBuf::new());
    let run = only(text.with_controllers(controllers), draws)?;
    let shown = rig::run(&run, false).map_err(CompareError::Virtual)?;
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::probe::Probe;

    #[test]
    fn a_watched_law_hears_every_method() {
        let probe = Probe::default();
        let mut watched = Watched { law: Box::new(probe.clone()), states: States::default() };
        assert_eq!(probe.not_heard(&mut watched), [""; 0]);
    }
}
