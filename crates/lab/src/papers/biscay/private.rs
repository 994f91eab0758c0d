//! Our laws, BBR and CUBIC in this kernel over a private network in real time (BISCAY §5.5, Fig.
//! 11b): the network is a modelled cell with two base stations, the modem its own on a pty, the
//! daemon one that reads it.

mod page;

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde::Serialize;
use sounding_emu::{Direction, Outcome};
use sounding_experiment::metrics::{nearest_rank, sorted};
use sounding_experiment::plan::Run;
use sounding_experiment::provenance::Begun;
use sounding_laws::RadioController;
use sounding_report::distinct;
use sounding_testbed::emulate::{self, EmulateError, Ended, PUNCTUALITY_PERCENT, handovers};
use sounding_units::{Bytes, HostInstant};

pub use page::private_page;

use super::item::{Item, Report, controller, failed, text};
use crate::experiment::Failed;
use crate::fidelity::agreement::fallback_percent;
use crate::paper::{Expected, Gains, Ours};

/// Width of the bins in which throughput and delay are drawn.
const BIN: Duration = Duration::from_millis(500);

/// The command.
#[derive(Clone, Debug)]
pub struct Private {
    /// Duration of each flow; default: as in the plan.
    pub duration: Option<Duration>,
    /// Seeds of the network, counted from 1, if not as many as the plan has.
    pub seeds: Option<u32>,
    /// Runs of each algorithm with each seed.
    pub reps: u32,
    /// This program, which has the daemon.
    pub program: PathBuf,
}

/// One flow.
#[derive(Clone, Debug, Serialize)]
pub struct PrivateRun {
    /// The controller.
    pub controller: String,
    /// The network's seed.
    pub seed: u64,
    /// Number of the repetition, from 1.
    pub rep: u32,
    /// Received IP bytes.
    pub throughput_mbit_per_sec: f64,
    /// One-way delay, from the sender's device to the receiver's: mean.
    pub mean_ms: f64,
    /// Its 10th percentile.
    pub p10_ms: f64,
    /// Its 90th.
    pub p90_ms: f64,
    /// Its 95th.
    pub p95_ms: f64,
    /// Number of handovers of the phone, from the same network in virtual time.
    pub handovers: usize,
    /// The part of the time in which the fallback controlled a flow of a law, in percent.
    pub fallback_percent: Option<f64>,
    /// Times that the emulation fell behind the clock; if any, the run is unreliable.
    pub times_behind: u64,
    /// Throughput and mean delay in each half second; delays are unknown without received packets.
    pub bins: Vec<(f64, Option<f64>)>,
    /// Delay of each packet, sorted.
    #[serde(skip)]
    delays_ms: Vec<f64>,
}

/// The data of the rows.
#[derive(Clone, Debug, Serialize)]
pub struct Runs {
    /// All runs.
    pub runs: Vec<PrivateRun>,
}

/// Runs the item until it is done or `stop` rises, and returns which; `progress` is called for each
/// run.
pub fn private(
    plan: &Private,
    stop: &AtomicBool,
    mut progress: impl FnMut(&PrivateRun),
) -> Result<(Report<Runs>, bool), Failed> {
    let begun = Begun::now();
    let item = Item::Fig11b.files();
    let seeds = plan.seeds.map(|seeds| format!("1..{seeds}"));
    let mut runs = text(item, plan.duration, seeds)?.runs()?;
    // One network after the other and in each all algorithms, so that a noisy minute of the machine
    // affects all of them.
    runs.sort_by_key(|run| run.seed);
    let mut all = Vec::new();
    let mut away = None;
    'runs: for of_seed in runs.chunk_by(|one, other| one.seed == other.seed) {
        for rep in 1..=plan.reps {
            for run in of_seed {
                if stop.load(Ordering::Relaxed) {
                    break 'runs;
                }
                let fail = |error: EmulateError| failed(run, error);
                let count = match away {
                    Some((seed, count)) if seed == run.seed => count,
                    _ => handovers(run).map_err(|wrong| fail(wrong.into()))?,
                };
                away = Some((run.seed, count));
                let (_, ended) =
                    emulate::whole(run, plan.program.clone(), PUNCTUALITY_PERCENT, stop)
                        .map_err(fail)?;
                // An interrupted run does not count.
                if stop.load(Ordering::Relaxed) {
                    break 'runs;
                }
                let measured = PrivateRun::of(run, rep, count, &ended);
                progress(&measured);
                all.push(measured);
            }
        }
    }
    let about = runs.first().map_or("", |run| run.plan.about.as_str());
    let expected = item.expected()?;
    let ours = rows(&all, &expected);
    let complete = all.len() == runs.len() * plan.reps as usize;
    let report = Report::new(about, expected, ours, Runs { runs: all }.into(), begun.end());
    Ok((report, complete))
}

impl PrivateRun {
    fn of(run: &Run, rep: u32, handovers: usize, ended: &Ended) -> Self {
        let report = &ended.report;
        let from = report.started + run.plan.warmup;
        let to = report.started + run.plan.duration.min(report.ran);
        let arrived: Vec<(HostInstant, Bytes, Duration)> = report
            .records
            .iter()
            .filter(|record| record.direction == Direction::Uplink)
            .filter_map(|record| match record.outcome {
                Outcome::Delivered { written, .. } if written >= from && written < to => {
                    Some((written, record.size, written - record.entered))
                }
                _ => None,
            })
            .collect();
        let ms = |delay: Duration| delay.as_secs_f64() * 1e3;
        let delays_ms = sorted(arrived.iter().map(|(.., delay)| ms(*delay)));
        let rank = |share| if delays_ms.is_empty() { 0.0 } else { nearest_rank(&delays_ms, share) };
        let count = ((to - from).as_nanos() / BIN.as_nanos()) as usize;
        let mut bins = vec![(0_u64, Duration::ZERO, 0_u32); count];
        for (written, size, delay) in &arrived {
            let at = ((*written - from).as_nanos() / BIN.as_nanos()) as usize;
            if let Some((bytes, delays, packets)) = bins.get_mut(at) {
                *bytes += size.count();
                *delays += *delay;
                *packets += 1;
            }
        }
        let bins = bins.into_iter().map(|(bytes, delays, packets)| {
            let mbit = bytes as f64 * 8e-6 / BIN.as_secs_f64();
            (mbit, (packets > 0).then(|| ms(delays) / f64::from(packets)))
        });
        let carried: Bytes = arrived.iter().map(|(_, size, _)| *size).sum();
        Self {
            controller: controller(run).into(),
            seed: run.seed,
            rep,
            throughput_mbit_per_sec: carried.per(to - from).mbit_per_sec(),
            mean_ms: delays_ms.iter().sum::<f64>() / delays_ms.len().max(1) as f64,
            p10_ms: rank(0.10),
            p90_ms: rank(0.90),
            p95_ms: rank(0.95),
            handovers,
            fallback_percent: ended
                .daemons
                .first()
                .map(|(_, said)| fallback_percent(said, (from, to))),
            times_behind: report.pace.times_behind,
            bins: bins.collect(),
            delays_ms,
        }
    }
}

/// The controllers that the laws are compared with.
const OTHERS: [&str; 2] = ["bbr", "cubic"];

fn rows(runs: &[PrivateRun], expected: &Expected) -> Ours {
    let mean = |name: &str, of: fn(&PrivateRun) -> f64| {
        let values: Vec<f64> = runs.iter().filter(|r| r.controller == name).map(of).collect();
        values.iter().sum::<f64>() / values.len().max(1) as f64
    };
    let names = distinct(runs.iter().map(|run| run.controller.as_str()));
    let (mut rows, mut misses) = (Vec::new(), Vec::new());
    for &name in &names {
        let own = || runs.iter().filter(move |run| run.controller == name);
        let on_bbr: Vec<f64> = own().filter_map(|run| run.fallback_percent).collect();
        let on_bbr = match on_bbr.len() {
            0 => "-".into(),
            count => format!("{:.1}", on_bbr.iter().sum::<f64>() / count as f64),
        };
        rows.push((
            name.to_owned(),
            vec![
                format!("{:.2}", mean(name, |run| run.throughput_mbit_per_sec)),
                format!("{:.1}", mean(name, |run| run.mean_ms)),
                format!("{:.1}", mean(name, |run| run.p95_ms)),
                format!("{:.0}-{:.0}", mean(name, |run| run.p10_ms), mean(name, |run| run.p90_ms)),
                own().map(|run| run.handovers).sum::<usize>().to_string(),
                on_bbr,
                own().map(|run| run.times_behind).sum::<u64>().to_string(),
            ],
        ));
    }
    let fed = names.iter().filter(|name| RadioController::by_name(name).is_some());
    let others = OTHERS.into_iter().filter(|other| names.contains(other));
    for (fed, other) in fed.flat_map(|fed| others.clone().map(move |other| (*fed, other))) {
        let ratio = |of: fn(&PrivateRun) -> f64| mean(fed, of) / mean(other, of);
        let gains = Gains {
            throughput: ratio(|run| run.throughput_mbit_per_sec),
            mean: 100.0 * (1.0 - ratio(|run| run.mean_ms)),
            tail: 100.0 * (1.0 - ratio(|run| run.p95_ms)),
        };
        let (highest, lowest) = (mean(fed, |run| run.p90_ms), mean(other, |run| run.p10_ms));
        let apart = if highest < lowest { "below" } else { "not below" };
        let row = format!("{fed} beside {other}");
        let mut short = expected.gains.get(&row).map_or(Vec::new(), |paper| gains.short_of(*paper));
        if highest >= lowest {
            short.push("highest delays below the other's lowest");
        }
        if !short.is_empty() {
            misses.push(expected.miss(&row, &short));
        }
        let mut cells = vec![
            format!("{:.2} ×", gains.throughput),
            format!("{:.1} % less", gains.mean),
            format!("{:.1} % less", gains.tail),
            apart.into(),
        ];
        cells.resize(7, String::new());
        rows.push((row, cells));
    }
    let columns =
        ["Mbit/s", "one-way mean ms", "p95 ms", "10-90 % ms", "handovers", "on BBR %", "behind"];
    Ours { misses, ..Ours::new(columns, rows) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(controller: &str, throughput: f64, [p10, mean, p90, p95]: [f64; 4]) -> PrivateRun {
        PrivateRun {
            controller: controller.into(),
            seed: 1,
            rep: 1,
            throughput_mbit_per_sec: throughput,
            mean_ms: mean,
            p10_ms: p10,
            p90_ms: p90,
            p95_ms: p95,
            handovers: 2,
            fallback_percent: None,
            times_behind: 0,
            bins: Vec::new(),
            delays_ms: Vec::new(),
        }
    }

    #[test]
    fn biscay_is_compared_with_each_and_what_it_does_not_reach_is_a_miss() {
        let runs = [
            run("biscay", 20.0, [20.0, 30.0, 50.0, 55.0]),
            run("bbr", 20.0, [60.0, 100.0, 150.0, 160.0]),
            run("cubic", 21.0, [40.0, 400.0, 800.0, 900.0]),
        ];
        let expected = Item::Fig11b.files().expected().expect("the paper's figures");
        let Ours { columns, rows, misses } = rows(&runs, &expected);
        assert!(rows.iter().all(|(_, cells)| cells.len() == columns.len()), "{rows:?}");
        assert_eq!(rows[3].1[..4], ["1.00 ×", "70.0 % less", "65.6 % less", "below"]);
        // A twentieth less than the paper has is within the tolerance.
        let [cubic] = &misses[..] else { panic!("{misses:?}") };
        assert!(cubic.contains("cubic, throughput, highest delays"), "{cubic}");
    }
}
