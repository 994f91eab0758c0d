//! A sniffer that receives badly, one that dies, and a modem that dies.

use std::time::Duration;

use sounding_experiment::observe::Setup as Shows;
use sounding_experiment::plan::Wrong;

use super::super::rig::{Observed, Setup, observe};
use super::{Check, Plan, each, mean, run_of};

/// When sniffers and modems die.
const DIES: Duration = Duration::from_secs(6);
/// How long what a sniffer reported is valid.
const SNIFFED_FOR: Duration = Duration::from_millis(100);
/// How long what a modem reported is.
const MODEM_FOR: Duration = Duration::from_millis(200);
/// From the end of validity to the change of the estimate.
const CHANGES: Duration = Duration::from_millis(100);

/// From then on flows are compared: before, BBR is in its start.
const COMPARED: Duration = Duration::from_secs(2);

fn figures(observed: &Observed) -> (f64, f64) {
    let delays = observed.packets.delays_ms(0, COMPARED, observed.span);
    let p95 = delays.get(delays.len() * 95 / 100).copied().unwrap_or(f64::NAN);
    (observed.packets.mbit_per_sec(0, COMPARED, observed.span), p95)
}

/// 2 % missed, 20 messages a second that were never sent, 5 ms late.
pub(super) fn bad_sniffer(plan: &Plan) -> Result<Vec<Check>, Wrong> {
    const BAD: &str = "cell.sniffer={missed = 0.02, false_per_sec = 20.0, lag = \"5ms\"}";
    let pairs = each(plan, plan.seeds, |seed| {
        let good = figures(&observe(&run_of(seed, &[])?, Setup::default())?);
        Ok((good, figures(&observe(&run_of(seed, &[BAD])?, Setup::default())?)))
    })?;
    let cost =
        1.0 - mean(pairs.iter().map(|(_, bad)| bad.0)) / mean(pairs.iter().map(|(good, _)| good.0));
    let later = mean(pairs.iter().map(|(good, bad)| bad.1 - good.1));
    let check = |name: &str, limit: &str, ours, holds| Check {
        name: format!("a bad sniffer, {name}"),
        limit: limit.into(),
        ours,
        holds,
    };
    Ok(vec![
        check("throughput", "-10 % at most", format!("{:+.1} %", -cost * 100.0), cost <= 0.10),
        check("p95 of the delay", "+20 ms at most", format!("{later:+.1} ms"), later <= 20.0),
    ])
}

/// The estimate is then the modem's own: a rate without a fair share.
pub(super) fn sniffer_dies(plan: &Plan) -> Result<Check, Wrong> {
    let dies = format!("cell.sniffer={{dies = \"{}ms\"}}", DIES.as_millis());
    let after = each(plan, plan.seeds, |seed| {
        let setup = Setup { views: true, ..Setup::default() };
        let observed = observe(&run_of(seed, &[&dies])?, setup)?;
        let alone = observed.views.iter().filter(|(at, _)| *at >= DIES).find(|(_, view)| {
            view.is_some_and(|view| view.fair_share.is_none() && view.rate.mbit_per_sec() > 0.0)
        });
        Ok(alone.map_or(f64::INFINITY, |(at, _)| (*at - DIES - SNIFFED_FOR).as_secs_f64() * 1e3))
    })?;
    let most = after.into_iter().fold(0.0, f64::max);
    Ok(Check {
        name: "the sniffer dies: the estimate is the modem's own, and says so".into(),
        limit: "100 ms after what it reported is no longer valid, at most".into(),
        ours: format!("{most:.0} ms"),
        holds: most <= CHANGES.as_secs_f64() * 1e3,
    })
}

/// Nothing is reported then but that nothing is known: BBR controls the flow.
pub(super) fn modem_dies(plan: &Plan) -> Result<Vec<Check>, Wrong> {
    let found = each(plan, plan.seeds, |seed| {
        let setup = Setup::of(Shows { modem_dies: Some(DIES), ..Shows::default() });
        let observed = observe(&run_of(seed, &[])?, setup)?;
        let left = observed.states.first(0, "no-estimate", DIES).unwrap_or(Duration::MAX);
        let stays = observed.states.of(0).iter().all(|(at, _)| *at <= left.max(DIES));
        let bbr = run_of(seed, &["flows.download.controller=bbr"])?;
        let bbr = observe(&bbr, Setup::default())?;
        let from = DIES + Duration::from_secs(1);
        let share = observed.packets.mbit_per_sec(0, from, observed.span)
            / bbr.packets.mbit_per_sec(0, from, bbr.span);
        Ok((if stays { left } else { Duration::MAX }, share))
    })?;
    let latest = found.iter().map(|(left, _)| *left).max().unwrap_or(Duration::MAX);
    let latest = latest.saturating_sub(DIES + MODEM_FOR);
    let share = mean(found.iter().map(|(_, share)| *share));
    Ok(vec![
        Check {
            name: "the modem dies: BBR controls the flow to its end".into(),
            limit: "100 ms after what it reported is no longer valid, at most".into(),
            ours: format!("{} ms", latest.as_millis()),
            holds: latest <= CHANGES,
        },
        Check {
            name: "the modem dies: throughput from a second later on".into(),
            limit: "90 % of BBR's at least".into(),
            ours: format!("{:.0} %", share * 100.0),
            holds: share >= 0.9,
        },
    ])
}
