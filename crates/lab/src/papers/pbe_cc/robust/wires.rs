//! A wire that gets narrower than the radio, and acknowledgements that are late.

use std::time::Duration;

use sounding_experiment::observe::Setup as Shows;
use sounding_experiment::plan::Wrong;
use sounding_link::LinkEstimate;

use super::super::rig::{Setup, observe};
use super::{Check, Plan, each, run_of};

/// When the wire gets narrow.
const NARROWS: Duration = Duration::from_secs(5);
/// What is left of the run to find it.
const FOUND: Duration = Duration::from_secs(1);
/// The path's round trip: 40 ms of wire, and the radio.
const RTT: Duration = Duration::from_millis(48);

/// The wire becomes the bottleneck, with a queue of two round trips' worth: how long until a flow
/// takes it for that.
pub(super) fn narrow(plan: &Plan) -> Result<Vec<Check>, Wrong> {
    [5_u64, 10, 15]
        .into_iter()
        .map(|mbit| {
            let queue = 2 * mbit * RTT.as_micros() as u64 / 8;
            let down = format!("wire.down=\"0s 1Gbit, {}s {mbit}Mbit\"", NARROWS.as_secs());
            let queue = format!("wire.queue={queue}");
            // The phone is alone in the cell, so that the radio never is the narrower.
            let sets = [down.as_str(), &queue, "cell.devices.competitor.count=0"];
            let found = each(plan, plan.seeds, |seed| {
                let observed = observe(&run_of(seed, &sets)?, Setup::default())?;
                let after = observed.states.first(0, "drain", NARROWS);
                let later = observed.states.first(0, "bottleneck-elsewhere", NARROWS);
                let first = after.into_iter().chain(later).min();
                let early = observed
                    .states
                    .of(0)
                    .iter()
                    .any(|(at, state)| *at < NARROWS && *state == "bottleneck-elsewhere");
                Ok((first.map(|at| at - NARROWS), early))
            })?;
            let within =
                found.iter().filter(|(after, _)| after.is_some_and(|after| after <= FOUND));
            let within = within.count();
            let early = found.iter().filter(|(_, early)| *early).count();
            let latest = found.iter().map(|(after, _)| after.unwrap_or(Duration::MAX)).max();
            let latest = latest.filter(|latest| *latest != Duration::MAX);
            let latest =
                latest.map_or("never in one".into(), |at| format!("{} ms", at.as_millis()));
            Ok(Check {
                name: format!("a wire of {mbit} Mbit/s is found"),
                limit: format!("within 1 s in {0} of {0}, not before", found.len()),
                ours: format!("{within} of {}, the latest {latest}; {early} before", found.len()),
                holds: within == found.len() && early == 0,
            })
        })
        .collect()
}

/// Reports ride on acknowledgements: those that enter the network 100 ms later report a competitor
/// 100 ms later.
pub(super) fn late_acks(plan: &Plan) -> Result<Check, Wrong> {
    const DELAY: Duration = Duration::from_millis(100);
    // Users of control traffic could be taken for it.
    const QUIET: &str = "cell.carriers.0.control_users_per_sec=0.0";
    // Little enough for its queue to be empty when its turn ends.
    const LIGHT: &str = "cell.devices.competitor.traffic.bits_per_sec=15e6";
    // The competitor's second turn.
    const COMES: Duration = Duration::from_secs(6);
    const BEFORE: Duration = Duration::from_millis(5_600);
    const AFTER: Duration = Duration::from_millis(7_500);
    let found = each(plan, plan.seeds, |seed| {
        let learns = |acks_later| -> Result<Option<Duration>, Wrong> {
            let setup =
                Setup { reports: true, ..Setup::of(Shows { acks_later, ..Shows::default() }) };
            let observed = observe(&run_of(seed, &[QUIET, LIGHT])?, setup)?;
            let users = |estimate: &LinkEstimate| estimate.fair.map_or(0, |fair| fair.users);
            let reports = observed.reports.iter().filter(|(at, ..)| (BEFORE..AFTER).contains(at));
            let reports: Vec<_> = reports.map(|(at, estimate)| (*at, users(estimate))).collect();
            let alone = reports.iter().rposition(|(at, users)| *at < COMES && *users == 1);
            let then =
                alone.and_then(|alone| reports[alone..].iter().find(|(_, users)| *users > 1));
            Ok(then.map(|(at, _)| *at))
        };
        Ok((learns(Duration::ZERO)?, learns(DELAY)?))
    })?;
    let later: Option<Vec<f64>> = found
        .iter()
        .map(|(soon, late)| Some(late.as_ref()?.as_secs_f64() - soon.as_ref()?.as_secs_f64()))
        .collect();
    let later = later.unwrap_or_default();
    let least = later.iter().copied().fold(f64::INFINITY, f64::min) * 1e3;
    let most = later.iter().copied().fold(0.0, f64::max) * 1e3;
    Ok(Check {
        name: "acknowledgements 100 ms late: a competitor is known later".into(),
        limit: "by 80 ms at least".into(),
        ours: format!("by {least:.0} to {most:.0} ms"),
        holds: !later.is_empty() && least >= 80.0,
    })
}
