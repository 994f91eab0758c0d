//! Devices that claim more than they have, and devices that do not.

use std::time::Duration;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use sounding_cc::{Choice, Controller, Start, forward};
use sounding_experiment::observe::Arrival;
use sounding_experiment::plan::Wrong;
use sounding_link::LinkEstimate;
use sounding_units::{HostInstant, Rate};

use super::super::rig::{Observed, Pace, Setup, observe};
use super::{Check, Plan, each, run_of};

/// The state in which a claim is not believed.
const DOUBTS: &str = "estimate-too-high";

/// States in which no claim sets the rate.
const LIMITED: [&str; 3] = [DOUBTS, "bottleneck-elsewhere", "drain"];

/// Round trips until a claim that is too high must have been found, and what may be sent of what
/// arrives from then on.
const FOUND_RTTS: f64 = 3.0;
const BELIEVED: f64 = 1.25;

/// A sender whose receiver claims so many times what it has.
#[derive(Debug)]
struct LiedTo {
    inner: Box<dyn Controller>,
    times: u32,
}

impl Controller for LiedTo {
    forward!(inner; but handle_estimate, handle_report);

    fn handle_estimate(&mut self, now: HostInstant, estimate: &LinkEstimate, flows: u32) {
        let more = |rate: Rate| rate.scaled(self.times, 1);
        let fair = estimate.fair.map(|fair| fair.with_rate(more(fair.rate)));
        let claimed = estimate.with_rate(more(estimate.rate)).with_fair(fair);
        self.inner.handle_estimate(now, &claimed, flows);
    }

    /// A lie is one wherever it comes from, and is not doubted.
    fn handle_report(&mut self, now: HostInstant, report: &LinkEstimate, flows: u32) {
        self.handle_estimate(now, report, flows);
    }
}

/// Rounds in which more than 1.25 of what arrives is sent after the start, until no claim sets the
/// rate: until it is not believed, or the Internet is taken for the bottleneck. And what is sent
/// from then on in a second, over what arrives in it, at most.
fn found(observed: &Observed) -> Option<(f64, f64)> {
    let paces = &observed.paces;
    let ends = paces.iter().find(|pace| LIMITED.contains(&pace.state))?.at;
    let arrives = observed.packets.mbit_per_sec(0, ends + SETTLES, observed.span);
    let exceeds = |pace: &&Pace| pace.state != "ramp" && pace.sends > BELIEVED * arrives;
    let mut from = paces.iter().find(exceeds).map_or(ends, |pace| pace.at);
    // Rounds as the flow has them: its queue makes them longer.
    let mut rounds = 0.0;
    while from < ends {
        let next = observed.packets.arrivals.iter().find(|arrival| arrival.sent() >= from)?;
        from = next.at() + WAY_BACK;
        rounds += 1.0;
    }
    let mut most: f64 = 0.0;
    let second = Duration::from_secs(1);
    let mut from = ends + SETTLES;
    while from + second <= observed.span {
        let within = |at: Duration| (from..from + second).contains(&at);
        let bytes = |when: fn(&Arrival) -> Duration| {
            let those = observed.packets.arrivals.iter().filter(|arrival| within(when(arrival)));
            those.map(Arrival::size).sum::<u64>() as f64
        };
        let sent = bytes(Arrival::sent);
        most = most.max(sent / bytes(Arrival::at).max(1.0));
        from += second;
    }
    Some((rounds, most))
}

/// Of acknowledgements, the wire and the radio's uplink.
const WAY_BACK: Duration = Duration::from_millis(25);
/// After so long the queue of the start is gone.
const SETTLES: Duration = Duration::from_secs(2);

/// A device that claims so many times what it has, alone in its cell: the most of [`found`] over
/// all seeds.
pub(super) fn lied_to(plan: &Plan, times: u32) -> Result<(f64, f64), Wrong> {
    let found = each(plan, plan.seeds, |seed| {
        let run = run_of(seed, &["cell.devices.competitor.count=0"])?;
        let make = sounding_baselines::make(&Choice::plain("pbe-cc")).ok();
        let instead = make.map(|make| -> sounding_sim::world::MakeController {
            Box::new(move |start: &Start| Box::new(LiedTo { inner: make(start), times }))
        });
        let observed = observe(&run, Setup { paces: true, instead, ..Setup::default() })?;
        Ok(found(&observed).unwrap_or((f64::INFINITY, f64::INFINITY)))
    })?;
    let most = |of: fn(&(f64, f64)) -> f64| found.iter().map(of).fold(0.0, f64::max);
    Ok((most(|found| found.0), most(|found| found.1)))
}

/// What it may send, and does.
pub(super) fn liar(plan: &Plan, times: u32) -> Result<Check, Wrong> {
    let (rounds, sends) = lied_to(plan, times)?;
    Ok(Check {
        name: format!("a device claims {times} times what it has"),
        limit: format!("{FOUND_RTTS:.0} RTTs after the start at most, then 1.25 of what arrives"),
        ours: format!("{rounds:.0} RTTs, then {sends:.2} of what arrives"),
        holds: rounds <= FOUND_RTTS && sends <= BELIEVED,
    })
}

/// Honest devices among three others that all come and go at once: what is idle then changes
/// fourfold.
pub(super) fn honest(plan: &Plan) -> Result<Check, Wrong> {
    let accused = each(plan, plan.honest, |seed| {
        let mut lots = ChaCha8Rng::seed_from_u64(seed);
        let sinr = format!(
            "cell.devices.phone.channel.levels.0.sinr_db={:.1}",
            lots.random_range(6.0..24.0)
        );
        let turn = lots.random_range(300..1500_u32);
        let traffic = format!(
            "cell.devices.competitor.traffic={{kind = \"on-off\", bits_per_sec = 60e6, on = \
             \"{turn}ms\", off = \"{turn}ms\"}}"
        );
        let control =
            format!("cell.carriers.0.control_users_per_sec={:.0}", lots.random_range(0.0..360.0));
        let sets = [
            sinr.as_str(),
            &traffic,
            &control,
            "cell.devices.competitor.count=3",
            "duration=\"8s\"",
        ];
        let observed = observe(&run_of(seed, &sets)?, Setup::default())?;
        Ok(observed.states.first(0, DOUBTS, Duration::ZERO).is_some())
    })?;
    let count = accused.iter().filter(|accused| **accused).count();
    Ok(Check {
        name: "honest devices that are not believed".into(),
        limit: "none".into(),
        ours: format!("{count} of {}", accused.len()),
        holds: count == 0,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::probe::Probe;

    #[test]
    fn a_law_that_is_lied_to_hears_reports_as_estimates_and_all_else() {
        let probe = Probe::default();
        let mut lied_to = LiedTo { inner: Box::new(probe.clone()), times: 4 };
        assert_eq!(probe.not_heard(&mut lied_to), ["handle_report"]);
    }
}
