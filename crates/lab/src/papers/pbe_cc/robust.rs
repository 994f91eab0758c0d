//! Beyond the paper: PBE-CC where its inputs are bad, missing or false.

mod liar;
mod load;
mod loss;
mod wires;

use std::fmt;

use serde::Serialize;
use sounding_experiment::metrics::mean;
use sounding_experiment::plan::{PlanError, Run, Wrong};
use sounding_experiment::provenance::Provenance;

use super::Item;
use crate::paper::{Ours, Report};

/// How much is run.
#[derive(Clone, Copy, Debug)]
pub(super) struct Plan {
    /// Seeds of each check but the next.
    pub(super) seeds: u64,
    /// Honest runs. None may be taken for a liar.
    pub(super) honest: u64,
    pub(super) jobs: usize,
}

/// The first seed.
const FIRST: u64 = 1001;

/// A check.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Check {
    /// What is checked.
    name: String,
    /// What must hold.
    limit: String,
    /// What does.
    ours: String,
    /// Whether it holds.
    holds: bool,
}

/// The plan with some keys set, for a seed.
fn run_of(seed: u64, sets: &[&str]) -> Result<Run, PlanError> {
    let mut text = Item::Robust.files().text();
    text.set(&format!("seeds={seed}"))?;
    for set in sets {
        text.set(set)?;
    }
    // A plan without a sweep and with one seed is one run.
    Ok(text.runs()?.remove(0))
}

/// The same work for each seed, in parallel, in the order of the seeds.
fn each<R: Send>(
    plan: &Plan,
    seeds: u64,
    work: impl Fn(u64) -> Result<R, Wrong> + Sync,
) -> Result<Vec<R>, Wrong> {
    let seeds: Vec<u64> = (FIRST..FIRST + seeds).collect();
    sounding_host::jobs::each(&seeds, plan.jobs, |&seed| work(seed), |_, _| {})
}

/// Makes all checks; `progress` receives what comes next.
pub(super) fn measure(plan: &Plan, progress: impl Fn(&str)) -> Result<Vec<Check>, Wrong> {
    let mut checks = Vec::new();
    progress("a bad sniffer");
    checks.extend(loss::bad_sniffer(plan)?);
    progress("a sniffer that dies");
    checks.push(loss::sniffer_dies(plan)?);
    progress("a modem that dies");
    checks.extend(loss::modem_dies(plan)?);
    progress("narrow wires");
    checks.extend(wires::narrow(plan)?);
    progress("late acknowledgements");
    checks.push(wires::late_acks(plan)?);
    progress("liars");
    for times in [2, 10] {
        checks.push(liar::liar(plan, times)?);
    }
    progress("a load that comes and goes");
    checks.push(load::toggled(plan)?);
    progress("honest devices");
    checks.push(liar::honest(plan)?);
    Ok(checks)
}

/// The checks.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Evidence {
    checks: Vec<Check>,
}

impl fmt::Display for Evidence {
    fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
        Ok(())
    }
}

/// The item's table; what must hold stands where the paper's figures do in others.
pub(super) fn report(
    checks: Vec<Check>,
    provenance: Provenance,
) -> Result<Report<Evidence>, toml::de::Error> {
    let mut expected = Item::Robust.files().expected()?;
    let mut ours = Ours::new(["ours"], []);
    for check in &checks {
        if !check.holds {
            ours.misses.push(expected.miss(&check.name, &[&check.limit]));
        }
        expected.rows.insert(check.name.clone(), check.limit.clone());
        ours.rows.push((check.name.clone(), vec![check.ours.clone()]));
    }
    Ok(Report::new(Item::Robust.files().about, expected, ours, Evidence { checks }, provenance))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One seed of each.
    const SMALL: Plan = Plan { seeds: 1, honest: 2, jobs: 1 };

    fn holds(check: &Check) {
        assert!(check.holds, "{check:?}");
    }

    #[test]
    fn a_sniffer_that_dies_leaves_the_modems_own_estimate() {
        holds(&loss::sniffer_dies(&SMALL).unwrap());
    }

    #[test]
    fn a_modem_that_dies_leaves_bbr() {
        holds(&loss::modem_dies(&SMALL).unwrap()[0]);
    }

    #[test]
    fn narrow_wires_are_found_within_a_second() {
        let checks = wires::narrow(&SMALL).unwrap();
        assert_eq!(checks.len(), 3, "{checks:?}");
        checks.iter().for_each(holds);
    }

    #[test]
    fn a_device_that_overstates_gets_a_quarter_above_the_arrivals_after_three_rounds() {
        for times in [2, 10] {
            holds(&liar::liar(&SMALL, times).unwrap());
        }
    }

    #[test]
    fn a_device_that_is_honest_is_believed() {
        holds(&liar::honest(&SMALL).unwrap());
    }

    #[test]
    fn capacity_follows_the_truth_while_the_own_load_comes_and_goes() {
        holds(&load::toggled(&SMALL).unwrap());
    }

    #[test]
    fn acknowledgements_that_are_late_make_reports_late() {
        holds(&wires::late_acks(&SMALL).unwrap());
    }
}
