//! All runs of a matrix: cases by rules by seeds. A finished run is a file, so a matrix that was
//! stopped goes on.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use sounding_host::files;
use sounding_kpi::Direction;
use sounding_shape::Limits;

use super::case::{Case, Rat};
use super::ran::Ran;
use super::rule::Rule;
use super::run::{Setting, run};
use super::truth::Truth;
use crate::experiment::{Failed, Host, report};

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
    fn file(&self, folder: &Path) -> PathBuf {
        let Self { case, rat, rule, seed } = self;
        folder.join(format!("{}-{}-{}-{seed}.json", case.name, rat.name(), rule.name()))
    }

    /// What its file has, if it was made with a load of this length.
    fn finished(&self, folder: &Path, lasts: Duration) -> Option<Ran> {
        let bytes = std::fs::read(self.file(folder)).ok()?;
        let ran: Ran = serde_json::from_slice(&bytes).ok()?;
        ((ran.load_s - lasts.as_secs_f64()).abs() < 1e-6).then_some(ran)
    }
}

/// A matrix that ended, or was stopped.
#[derive(Debug)]
pub(super) struct Made {
    pub(super) runs: Vec<Ran>,
    /// Runs that failed, and why.
    pub(super) failed: Vec<String>,
    pub(super) stopped: bool,
}

/// Makes the runs whose files are missing.
pub(super) fn make(
    setting: &Setting,
    jobs: &[Job],
    folder: &Path,
    stop: &AtomicBool,
    host: &dyn Host,
) -> Result<Made, Failed> {
    let mut made = Made { runs: Vec::new(), failed: Vec::new(), stopped: false };
    let began = Instant::now();
    let mut fresh = 0_u32;
    let mut limits: BTreeMap<(&str, Rat), [Limits; 2]> = BTreeMap::new();
    for (number, job) in jobs.iter().enumerate() {
        if let Some(ran) = job.finished(folder, setting.lasts) {
            made.runs.push(ran);
            continue;
        }
        let limits = match limits.entry((job.case.name, job.rat)) {
            Entry::Occupied(known) => *known.get(),
            Entry::Vacant(none) => {
                let of = |way| Truth::limits((*job.case, job.rat), setting.lasts, way);
                *none.insert([of(Direction::Uplink)?, of(Direction::Downlink)?])
            }
        };
        let ran = run(setting, *job, limits, stop);
        if stop.load(Ordering::Relaxed) {
            made.stopped = true;
            break;
        }
        fresh += 1;
        let left = jobs[number + 1..].iter();
        let left = left.filter(|job| !job.file(folder).exists()).count();
        let each = began.elapsed() / fresh;
        let name = format!("{} {} {} {}", job.case.name, job.rat.name(), job.rule.name(), job.seed);
        match ran {
            Ok(ran) => {
                let text = serde_json::to_string(&ran)?;
                files::write(&job.file(folder), text.as_bytes())?;
                let minutes = (each * left as u32).as_secs().div_ceil(60);
                let (up, p95) = (ran.figures.up_mbit_per_sec, ran.figures.probe);
                let p95 = p95.map_or("-".into(), |probe| format!("{:.0}", probe.p95_ms));
                let line = format!(
                    "{} of {}: {name}: {up:.1} Mbit/s, p95 {p95} ms",
                    number + 1,
                    jobs.len()
                );
                report(host, format_args!("{line}; {minutes} min left"));
                made.runs.push(ran);
            }
            Err(error) => {
                report(host, format_args!("{} of {}: {name}: {error}", number + 1, jobs.len()));
                made.failed.push(format!("{name}: {error}"));
            }
        }
    }
    Ok(made)
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
        assert_eq!(jobs.len(), 12 * 2 * 9 * 2);
        assert!(jobs[..9].iter().all(|job| job.case.name == "still" && job.seed == 1));
        let files: std::collections::BTreeSet<PathBuf> =
            jobs.iter().map(|job| job.file(Path::new(""))).collect();
        assert_eq!(files.len(), jobs.len());
    }
}
