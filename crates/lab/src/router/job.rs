//! The jobs of a matrix: a case under a rule with a seed, and the file of its result.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::case::{Case, Rat};
use super::ran::Ran;
use super::rule::Rule;

/// One run of a matrix.
#[derive(Clone, Copy, Debug)]
pub(super) struct Job {
    pub(super) case: &'static Case,
    pub(super) rat: Rat,
    pub(super) rule: Rule,
    pub(super) seed: u64,
}

/// The most seeds of a case.
const MOST: u64 = 99;

/// The jobs seed by seed, so that a stopped matrix has all rules of a seed. `seed` says the seed of
/// this number for a case and a rule, if there is one.
pub(super) fn jobs(
    cases: &[&'static Case],
    rats: &[Rat],
    rules: &[Rule],
    seed: impl Fn(&Case, Rule, u64) -> Option<u64>,
) -> Vec<Job> {
    let mut jobs = Vec::new();
    for number in 0..MOST {
        for &case in cases {
            for &rat in rats {
                let job = |&rule| Some(Job { case, rat, rule, seed: seed(case, rule, number)? });
                jobs.extend(rules.iter().filter_map(job));
            }
        }
    }
    jobs
}

impl Job {
    pub(super) fn file(&self, folder: &Path) -> PathBuf {
        let Self { case, rat, rule, seed } = self;
        folder.join(format!("{}-{}-{}-{seed}.json", case.name, rat.name(), rule.name()))
    }

    /// What its file has, if it was made with a load of this length, and this interval of CAKE.
    pub(super) fn finished(&self, folder: &Path, [lasts, interval]: [Duration; 2]) -> Option<Ran> {
        let bytes = std::fs::read(self.file(folder)).ok()?;
        let ran: Ran = serde_json::from_slice(&bytes).ok()?;
        let is = |of: f64, asked: Duration| (of - asked.as_secs_f64()).abs() < 1e-6;
        (is(ran.load_s, lasts) && is(ran.interval_s, interval)).then_some(ran)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::router::case::CASES;

    #[test]
    fn a_stopped_matrix_has_all_rules_of_a_case_and_no_two_jobs_one_file() {
        let cases: Vec<&Case> = CASES.iter().collect();
        let two = |_: &Case, _, number| (number < 2).then_some(number + 1);
        let jobs = jobs(&cases, &Rat::ALL, &Rule::ALL, two);
        assert_eq!(jobs.len(), 12 * 2 * 10 * 2);
        assert!(jobs[..10].iter().all(|job| job.case.name == "still" && job.seed == 1));
        let files: std::collections::BTreeSet<PathBuf> =
            jobs.iter().map(|job| job.file(Path::new(""))).collect();
        assert_eq!(files.len(), jobs.len());
    }
}
