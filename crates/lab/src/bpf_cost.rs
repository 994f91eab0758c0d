//! What BISCAY costs in CPU time beside the kernel's own congestion controls, over a veth pair at full speed and
//! paced to 1 Gbit/s.
//!
//! Its aim is to be within 5 % of BBR's CPU time per gigabyte. Comparisons of CPU time need a quiet machine; the
//! order is interleaved so that a slow drift meets all alike, and the spread is part of the report.

mod cpu;
mod rig;

use std::fmt;
use std::time::Duration;

use serde::Serialize;
use sounding_bpf::{Biscay, Config, LoadError, RunStats};
use sounding_units::Rate;

use cpu::ReadError;
pub use rig::RigError;
use rig::{Pair, Sender};

/// What to measure.
#[derive(Clone, Debug)]
pub struct Plan {
    /// How often each combination runs.
    pub repetitions: u32,
    /// How long each run is measured, after [`warm_up`](Self::warm_up).
    pub span: Duration,
    /// How long each run goes before it is measured: BBR's startup, and the caches.
    pub warm_up: Duration,
    /// Limits to run at; `None` for full speed.
    pub limits: Vec<Option<Rate>>,
}

impl Default for Plan {
    fn default() -> Self {
        Self {
            repetitions: 10,
            span: Duration::from_secs(3),
            warm_up: Duration::from_millis(500),
            limits: vec![None, Some(Rate::from_bits_per_sec(1_000_000_000))],
        }
    }
}

/// A congestion control to measure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Contender {
    /// The kernel's CUBIC.
    Cubic,
    /// The kernel's BBR.
    Bbr,
    /// The kernel's BBR, limited to the rate that [`BiscayFed`](Self::BiscayFed) is fed with. Full speed only: a
    /// flow that paces works for each burst, one held by its window does not.
    BbrPaced,
    /// BISCAY without a feed, which drives as BBR.
    BiscayUnfed,
    /// BISCAY fed with the limit, or without one with nine tenths of what BBR reached in the run before: more, and
    /// this machine would be the narrow part of the path, which is BBR's again.
    BiscayFed,
}

impl Contender {
    /// In the order in which a repetition runs them.
    const ALL: [Contender; 5] =
        [Self::Cubic, Self::Bbr, Self::BbrPaced, Self::BiscayUnfed, Self::BiscayFed];
}

impl fmt::Display for Contender {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Cubic => "cubic",
            Self::Bbr => "bbr",
            Self::BbrPaced => "bbr, paced",
            Self::BiscayUnfed => "biscay, no feed",
            Self::BiscayFed => "biscay, fed",
        })
    }
}

/// One run.
#[derive(Clone, Debug, Serialize)]
pub struct Run {
    /// Which congestion control.
    pub contender: Contender,
    /// The limit in bit/s; `None` for full speed.
    pub limit_bits_per_sec: Option<u64>,
    /// From 0.
    pub repetition: u32,
    /// Goodput in bit/s.
    pub goodput_bits_per_sec: u64,
    /// CPU time of the sending thread for each 10^9 bytes, in seconds.
    pub sender_secs_per_gb: f64,
    /// CPU time of this process and of the kernel's softirq threads for each 10^9 bytes, in seconds; without that of
    /// the thread that feeds.
    pub total_secs_per_gb: f64,
    /// CPU time of the whole machine for each 10^9 bytes, in seconds: where it is far above the total, somebody
    /// else was at work.
    pub machine_secs_per_gb: f64,
}

/// Mean time of one call of a program, measured in runs of their own because counting costs some 20 ns a call.
#[derive(Clone, Debug, Serialize)]
pub struct CallCost {
    /// Fed or not.
    pub contender: Contender,
    /// The limit in bit/s; `None` for full speed.
    pub limit_bits_per_sec: Option<u64>,
    /// Which operation of the congestion control.
    pub program: &'static str,
    /// How often it was called.
    pub calls: u64,
    /// Mean time of a call in nanoseconds, counting included.
    pub nanos_per_call: f64,
    /// Time of all calls for each 10^9 bytes, in seconds: what is left of it without BBR's own work is the most that
    /// being a BPF program can cost.
    pub secs_per_gb: f64,
}

/// Everything measured.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Report {
    /// Every run, in the order they went.
    pub runs: Vec<Run>,
    /// What calls cost.
    pub calls: Vec<CallCost>,
    /// Load average over the last minute before the first run.
    pub load_before: f64,
}

/// Why the cost could not be measured.
#[derive(Debug, thiserror::Error)]
pub enum CostError {
    /// BISCAY cannot be loaded here.
    #[error("{source}; {}", source.cure())]
    Load {
        /// Why.
        #[from]
        source: LoadError,
    },
    /// The pair of namespaces does not work.
    #[error(transparent)]
    Rig(#[from] RigError),
    /// The kernel's accounts cannot be read.
    #[error(transparent)]
    Account(#[from] ReadError),
    /// Calls cannot be counted.
    #[error("statistics of BPF programs: {source}")]
    Statistics {
        /// What the kernel said.
        source: std::io::Error,
    },
}

/// Measures, and tells of each run as it ends.
pub fn measure(plan: &Plan, mut tell: impl FnMut(&Run)) -> Result<Report, CostError> {
    let name = format!("cost{:x}", std::process::id() & 0xff_ffff);
    let biscay = Biscay::load(&Config { name, ..Config::default() })?;
    let pair = Pair::new()?;
    let mut report = Report { load_before: cpu::load()?, ..Report::default() };
    for repetition in 0..plan.repetitions {
        for &limit in &plan.limits {
            let mut reached = Rate::from_bits_per_sec(1_000_000_000);
            for contender in Contender::ALL {
                if contender == Contender::BbrPaced && limit.is_some() {
                    continue;
                }
                let run = run(plan, &pair, &biscay, contender, limit, repetition, reached)?;
                if contender == Contender::Bbr {
                    reached = Rate::from_bits_per_sec(run.goodput_bits_per_sec);
                }
                tell(&run);
                report.runs.push(run);
            }
        }
    }
    for &limit in &plan.limits {
        let bbr =
            report.runs.iter().rev().find(|run| {
                run.contender == Contender::Bbr && run.limit_bits_per_sec == bits(limit)
            });
        let reached = Rate::from_bits_per_sec(bbr.map_or(0, |run| run.goodput_bits_per_sec));
        for contender in [Contender::BiscayUnfed, Contender::BiscayFed] {
            report.calls.extend(count_calls(plan, &pair, &biscay, contender, limit, reached)?);
        }
    }
    Ok(report)
}

fn bits(limit: Option<Rate>) -> Option<u64> {
    limit.map(Rate::bits_per_sec)
}

fn sender<'a>(
    biscay: &'a Biscay,
    contender: Contender,
    limit: Option<Rate>,
    reached: Rate,
) -> Sender<'a> {
    let congestion = match contender {
        Contender::Cubic => "cubic",
        Contender::Bbr | Contender::BbrPaced => "bbr",
        Contender::BiscayUnfed | Contender::BiscayFed => biscay.name(),
    };
    let goal = limit.unwrap_or(reached.scaled(9, 10));
    // Headers come on top of the goodput, and the law takes its percent off.
    let fed = (contender == Contender::BiscayFed).then(|| (biscay.feed(), goal.scaled(105, 100)));
    let limit = if contender == Contender::BbrPaced { Some(goal) } else { limit };
    Sender { congestion, limit, fed }
}

fn run(
    plan: &Plan,
    pair: &Pair,
    biscay: &Biscay,
    contender: Contender,
    limit: Option<Rate>,
    repetition: u32,
    reached: Rate,
) -> Result<Run, CostError> {
    let sender = sender(biscay, contender, limit, reached);
    let spent = pair.run(&sender, plan.warm_up, plan.span)?;
    let per_gb = |time: Duration| time.as_secs_f64() / (spent.received.count().max(1) as f64 / 1e9);
    Ok(Run {
        contender,
        limit_bits_per_sec: bits(limit),
        repetition,
        goodput_bits_per_sec: spent.received.per(spent.took).bits_per_sec(),
        sender_secs_per_gb: per_gb(spent.sender),
        total_secs_per_gb: per_gb(spent.process + spent.softirq),
        machine_secs_per_gb: per_gb(spent.machine),
    })
}

fn count_calls(
    plan: &Plan,
    pair: &Pair,
    biscay: &Biscay,
    contender: Contender,
    limit: Option<Rate>,
    reached: Rate,
) -> Result<Vec<CallCost>, CostError> {
    let statistics = |source| CostError::Statistics { source };
    let counting = RunStats::enable().map_err(statistics)?;
    let before = biscay.programs().map_err(statistics)?;
    // Calls are counted from the first packet on, and so are bytes here.
    let whole = plan.warm_up + plan.span;
    let sender = sender(biscay, contender, limit, reached);
    let spent = pair.run(&sender, Duration::ZERO, whole)?;
    let gigabytes = spent.received.count().max(1) as f64 / 1e9;
    let after = biscay.programs().map_err(statistics)?;
    drop(counting);
    let costs = before.iter().zip(&after).filter(|(before, after)| after.calls > before.calls);
    Ok(costs
        .map(|(before, after)| {
            let calls = after.calls - before.calls;
            let nanos = (after.run_time - before.run_time).as_nanos() as f64;
            CallCost {
                contender,
                limit_bits_per_sec: bits(limit),
                program: after.name,
                calls,
                nanos_per_call: nanos / calls as f64,
                secs_per_gb: nanos / 1e9 / gigabytes,
            }
        })
        .collect())
}

/// Median, least and most of a set of numbers; all zero for an empty one.
fn spread(mut values: Vec<f64>) -> (f64, f64, f64) {
    values.sort_by(f64::total_cmp);
    let at = |index: usize| values.get(index).copied().unwrap_or(0.0);
    (at(values.len() / 2), at(0), at(values.len().saturating_sub(1)))
}

impl Report {
    /// CPU time per gigabyte over BBR's of the same repetition and limit: the median of the ratios, and the least and
    /// the most; `None` without both. At full speed a fed flow is compared with a BBR that is paced as well.
    pub fn over_bbr(&self, contender: Contender, limit: Option<Rate>) -> Option<(f64, f64, f64)> {
        let bbr = match (contender, limit) {
            (Contender::BiscayFed, None) => Contender::BbrPaced,
            _ => Contender::Bbr,
        };
        let pairs = self.of(contender, bits(limit)).filter_map(|run| {
            let twin = self.of(bbr, bits(limit)).find(|twin| twin.repetition == run.repetition)?;
            Some(run.total_secs_per_gb / twin.total_secs_per_gb)
        });
        let ratios: Vec<f64> = pairs.collect();
        (!ratios.is_empty()).then(|| spread(ratios))
    }

    fn of(&self, contender: Contender, limit: Option<u64>) -> impl Iterator<Item = &Run> {
        self.runs
            .iter()
            .filter(move |run| run.contender == contender && run.limit_bits_per_sec == limit)
    }
}

impl fmt::Display for Report {
    /// A table a limit: medians, with least and most in brackets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut limits: Vec<_> = self.runs.iter().map(|run| run.limit_bits_per_sec).collect();
        limits.sort_unstable();
        limits.dedup();
        writeln!(f, "load before: {:.2}", self.load_before)?;
        for limit in limits {
            let rate = limit.map(Rate::from_bits_per_sec);
            match rate {
                None => writeln!(f, "\nfull speed")?,
                Some(rate) => writeln!(f, "\nat {rate}")?,
            }
            writeln!(
                f,
                "{:<16}{:>24}{:>26}{:>26}{:>22}",
                "", "Gbit/s", "sender CPU s/GB", "total CPU s/GB", "over BBR"
            )?;
            for contender in Contender::ALL {
                if self.of(contender, limit).next().is_none() {
                    continue;
                }
                let column = |value: fn(&Run) -> f64| {
                    let (median, least, most) =
                        spread(self.of(contender, limit).map(value).collect());
                    format!("{median:.3} [{least:.3} {most:.3}]")
                };
                let over = self.over_bbr(contender, rate).map_or(String::new(), |ratios| {
                    let [median, least, most] =
                        [ratios.0, ratios.1, ratios.2].map(|ratio| (ratio - 1.0) * 100.0);
                    format!("{median:+.1}% [{least:+.0} {most:+.0}]")
                });
                writeln!(
                    f,
                    "{contender:<16}{:>24}{:>26}{:>26}{over:>22}",
                    column(|run| run.goodput_bits_per_sec as f64 / 1e9),
                    column(|run| run.sender_secs_per_gb),
                    column(|run| run.total_secs_per_gb),
                )?;
            }
            for cost in self.calls.iter().filter(|cost| cost.limit_bits_per_sec == limit) {
                writeln!(
                    f,
                    "{:<16}{:<14}{:>8.0} ns a call, {} calls, {:.4} s/GB",
                    cost.contender, cost.program, cost.nanos_per_call, cost.calls, cost.secs_per_gb
                )?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(contender: Contender, total: f64) -> Run {
        Run {
            contender,
            limit_bits_per_sec: None,
            repetition: 0,
            goodput_bits_per_sec: 1_000_000_000,
            sender_secs_per_gb: 1.0,
            total_secs_per_gb: total,
            machine_secs_per_gb: total,
        }
    }

    #[test]
    fn a_ratio_is_the_median_of_those_of_each_repetition() {
        let numbered = |runs: [Run; 3]| {
            runs.into_iter().zip(0..).map(|(run, repetition)| Run { repetition, ..run })
        };
        let bbr = numbered([1.0, 9.0, 2.0].map(|total| run(Contender::BbrPaced, total)));
        let fed = numbered([1.1, 9.0, 3.0].map(|total| run(Contender::BiscayFed, total)));
        let report = Report { runs: bbr.chain(fed).collect(), ..Report::default() };
        assert_eq!(report.over_bbr(Contender::BiscayFed, None), Some((1.1, 1.0, 1.5)));
        assert_eq!(report.over_bbr(Contender::Cubic, None), None);
    }
}
