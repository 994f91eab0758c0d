//! CPU cost of the laws and of Copa compared with the kernel's own congestion controls, over a veth
//! pair at full speed and paced to 1 Gbit/s.
//!
//! The aim is a CPU time per gigabyte within 5 % of BBR's. Comparisons of CPU time need a quiet
//! machine. The runs are interleaved, so that a slow drift affects all in the same way, and the
//! spread is part of the report.

pub(crate) mod experiment;
mod table;
mod turn;

use std::fmt;
use std::time::Duration;

use serde::{Serialize, Serializer};
use sounding_experiment::metrics::{nearest_rank, sorted};
use sounding_laws::Law;
use sounding_units::Rate;
use statrs::distribution::{Binomial, DiscreteCDF};

pub use sounding_testbed::pair::RigError;

use crate::experiment::Failed;
use sounding_testbed::cpu;
use sounding_testbed::pair::Pair;
use turn::{Loaded, Turn};

/// Settings of the measurement.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Repetitions of each combination.
    pub repetitions: u32,
    /// Measured time of each run, after [`warm_up`](Self::warm_up).
    pub span: Duration,
    /// Time of each run before the measurement: BBR's startup, and the caches.
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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Contender {
    /// The kernel's CUBIC.
    Cubic,
    /// The kernel's BBR.
    Bbr,
    /// The kernel's BBR, limited to the rate that laws are [fed](Self::Fed) with. Full speed only:
    /// a flow that paces works for each burst, one held by its window does not.
    BbrPaced,
    /// A law without a feed: BBR controls the flow.
    Unfed(Law),
    /// A law with an estimate of the limit. Without a limit the estimate is nine tenths of BBR's
    /// rate in the previous run: with more, this machine would be the bottleneck, and BBR would
    /// take over. The bound is `Capacity`. For a law that [probes](Law::probes) it is
    /// `Floor`, as from a modem without a backlog: with `Capacity` it would lower its queue target
    /// on a constant link until there is a backlog.
    Fed(Law),
    /// Copa without a feed: plain Copa.
    Copa,
    /// Copa with a feed of the radio's delays, so that RTTs are corrected.
    CopaFed,
}

impl Contender {
    /// In the order in which a repetition runs them.
    fn all() -> impl Iterator<Item = Self> {
        let laws = || Law::ALL.iter().copied();
        [Self::Cubic, Self::Bbr, Self::BbrPaced]
            .into_iter()
            .chain(laws().map(Self::Unfed))
            .chain(laws().map(Self::Fed))
            .chain(Self::COPA)
    }

    const COPA: [Self; 2] = [Self::Copa, Self::CopaFed];

    /// The BBR that it is compared with: at full speed a law that keeps to its rate with one that
    /// is paced as well.
    fn twin(self, limit: Option<Rate>) -> Self {
        match self {
            Self::Fed(law) if limit.is_none() && !law.probes() => Self::BbrPaced,
            _ => Self::Bbr,
        }
    }
}

impl fmt::Display for Contender {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cubic => f.pad("cubic"),
            Self::Bbr => f.pad("bbr"),
            Self::BbrPaced => f.pad("bbr, paced"),
            Self::Unfed(law) => f.pad(&format!("{}, no feed", law.name())),
            Self::Fed(law) => f.pad(&format!("{}, fed", law.name())),
            Self::Copa => f.pad("copa, no feed"),
            Self::CopaFed => f.pad("copa, fed"),
        }
    }
}

impl Serialize for Contender {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// One run.
#[derive(Clone, Debug, Serialize)]
pub struct Run {
    /// The congestion control.
    pub contender: Contender,
    /// The limit in bit/s; `None` for full speed.
    pub limit_bits_per_sec: Option<u64>,
    /// From 0.
    pub repetition: u32,
    /// Goodput in bit/s.
    pub goodput_bits_per_sec: u64,
    /// CPU time of the sending thread for each 10^9 bytes, in seconds.
    pub sender_secs_per_gb: f64,
    /// CPU time of the whole machine for each 10^9 bytes, in seconds, without that of the feeding
    /// thread. Other programs' work is included.
    pub total_secs_per_gb: f64,
    /// What a law that was fed set; `None` of others.
    pub fed: Option<FedRun>,
}

/// What a law was fed with, and what it made of that at the end of a run.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct FedRun {
    /// The estimate in bit/s, of IP packets.
    pub fed_bits_per_sec: u64,
    /// Whether the law set window and pacing, and not the algorithm that it falls back to.
    pub law_controls: bool,
    /// The pacing rate in bit/s, of payload.
    pub pacing_bits_per_sec: u64,
    /// The window in segments.
    pub window_segments: u32,
    /// The kernel's smallest RTT in microseconds, if it has one.
    pub least_rtt_us: Option<u64>,
}

/// Mean time of one call of a program, measured in separate runs because counting costs some 20 ns
/// a call.
#[derive(Clone, Debug, Serialize)]
pub struct CallCost {
    /// The law, with or without an estimate.
    pub contender: Contender,
    /// The limit in bit/s; `None` for full speed.
    pub limit_bits_per_sec: Option<u64>,
    /// The operation of the congestion control.
    pub program: &'static str,
    /// Number of calls.
    pub calls: u64,
    /// Mean time of a call in nanoseconds, counting included.
    pub nanos_per_call: f64,
    /// Time of all calls per 10^9 bytes, in seconds. Without BBR's own work, the rest is an upper
    /// limit for the cost of BPF.
    pub secs_per_gb: f64,
}

/// Everything measured.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Report {
    /// Every run, in the order they went.
    pub runs: Vec<Run>,
    /// The cost of calls.
    pub calls: Vec<CallCost>,
    /// Load average over the last minute before the first run.
    pub load_before: f64,
}

/// Measures, and calls `tell` after each run.
pub fn measure(plan: &Plan, mut tell: impl FnMut(&Run)) -> Result<Report, Failed> {
    let loaded = Loaded::load().map_err(|error| format!("{error}; {}", error.cure()))?;
    let pair = Pair::new()?;
    let mut report = Report { load_before: cpu::load()?, ..Report::default() };
    for repetition in 0..plan.repetitions {
        for &limit in &plan.limits {
            let mut reached = Rate::from_bits_per_sec(1_000_000_000);
            for contender in Contender::all() {
                if contender == Contender::BbrPaced && limit.is_some() {
                    continue;
                }
                let turn = Turn { loaded: &loaded, contender, limit, reached };
                let run = turn.run(plan, &pair, repetition)?;
                if contender == Contender::Bbr {
                    reached = Rate::from_bits_per_sec(run.goodput_bits_per_sec);
                }
                tell(&run);
                report.runs.push(run);
            }
        }
    }
    for &limit in &plan.limits {
        let bbr = report.of(Contender::Bbr, bits(limit)).last();
        let reached = Rate::from_bits_per_sec(bbr.map_or(0, |run| run.goodput_bits_per_sec));
        let laws = Law::ALL.iter().flat_map(|&law| [Contender::Unfed(law), Contender::Fed(law)]);
        for contender in laws.chain(Contender::COPA) {
            let turn = Turn { loaded: &loaded, contender, limit, reached };
            report.calls.extend(turn.count_calls(plan, &pair)?);
        }
    }
    Ok(report)
}

fn bits(limit: Option<Rate>) -> Option<u64> {
    limit.map(Rate::bits_per_sec)
}

/// Median, least and most of a set of numbers; all zero for an empty one.
fn spread(mut values: Vec<f64>) -> (f64, f64, f64) {
    values.sort_by(f64::total_cmp);
    match values[..] {
        [least, .., most] => (nearest_rank(&values, 0.5), least, most),
        [one] => (one, one, one),
        [] => (0.0, 0.0, 0.0),
    }
}

/// The indices of the two sorted values between which the true median is with 95 % confidence, for
/// any distribution. With fewer than six values they are the first and the last, with less
/// confidence.
fn around_the_median(count: usize) -> (usize, usize) {
    let below = Binomial::new(0.5, count as u64).map_or(0, |below| below.inverse_cdf(0.025));
    let least = (below as usize).saturating_sub(1);
    (least, count.saturating_sub(1 + least))
}

impl Report {
    /// CPU time per gigabyte over BBR's of the same repetition and limit: the median of the ratios,
    /// and between which the true one is with a confidence of 95 %; `None` without both.
    pub fn over_bbr(&self, contender: Contender, limit: Option<Rate>) -> Option<(f64, f64, f64)> {
        let bbr = contender.twin(limit);
        let pairs = self.of(contender, bits(limit)).filter_map(|run| {
            let twin = self.of(bbr, bits(limit)).find(|twin| twin.repetition == run.repetition)?;
            Some(run.total_secs_per_gb / twin.total_secs_per_gb)
        });
        let ratios = sorted(pairs);
        let (least, most) = around_the_median(ratios.len());
        (!ratios.is_empty()).then(|| (nearest_rank(&ratios, 0.5), ratios[least], ratios[most]))
    }

    fn of(&self, contender: Contender, limit: Option<u64>) -> impl Iterator<Item = &Run> {
        self.runs
            .iter()
            .filter(move |run| run.contender == contender && run.limit_bits_per_sec == limit)
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
            fed: None,
        }
    }

    #[test]
    fn a_ratio_is_the_median_of_those_of_each_repetition() {
        let numbered = |runs: [Run; 3]| {
            runs.into_iter().zip(0..).map(|(run, repetition)| Run { repetition, ..run })
        };
        let bbr = numbered([1.0, 9.0, 2.0].map(|total| run(Contender::BbrPaced, total)));
        let fed = numbered([1.1, 9.0, 3.0].map(|total| run(Contender::Fed(Law::Biscay), total)));
        let report = Report { runs: bbr.chain(fed).collect(), ..Report::default() };
        assert_eq!(report.over_bbr(Contender::Fed(Law::Biscay), None), Some((1.1, 1.0, 1.5)));
        assert_eq!(report.over_bbr(Contender::Cubic, None), None);
    }

    #[test]
    fn the_median_is_as_sure_as_the_signs_of_so_many_differences() {
        // The tables of the sign test: of ten at least the second and at most the ninth.
        for (count, expected) in [(1, (0, 0)), (6, (0, 5)), (10, (1, 8)), (20, (5, 14))] {
            assert_eq!(around_the_median(count), expected, "{count}");
        }
    }
}
