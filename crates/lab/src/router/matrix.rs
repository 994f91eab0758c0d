//! All runs of a matrix: cases by rules by seeds. A finished run is a file, so a matrix that was
//! stopped goes on.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use sounding_host::files;
use sounding_kpi::Direction;
use sounding_shape::Limits;

use super::case::Rat;
use super::job::Job;
use super::ran::Ran;
use super::run::{Setting, run};
use super::truth::Truth;
use crate::experiment::{Failed, Host, report};

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
        if let Some(ran) = job.finished(folder, [setting.lasts, setting.interval(job.rule)]) {
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
