//! One run of a contender.

use std::cell::RefCell;
use std::io;
use std::time::Duration;

use sounding_bpf::{Bound, Config, CopaInstance, Instance, LoadError, Program, RunStats};
use sounding_laws::Law;
use sounding_units::Rate;

use super::{CallCost, Contender, FedRun, Plan, Run, bits};
use crate::experiment::Failed;
use sounding_testbed::pair::{Fed, Pair, Sender, Spent};

/// Every law in this kernel, in the order of [`Law::ALL`], and Copa.
pub(super) struct Loaded {
    laws: Vec<Instance>,
    /// Its feed has one writer at a time.
    copa: RefCell<CopaInstance>,
}

impl Loaded {
    pub(super) fn load() -> Result<Self, LoadError> {
        // The kernel's names have 15 letters.
        let name = |of: &str| format!("{of:.8}{:x}", std::process::id() & 0xff_ffff);
        let load = |&law: &Law| {
            let name = name(&law.kernel_name());
            Instance::load(&Config { name, law, ..Config::default() })
        };
        Ok(Self {
            laws: Law::ALL.iter().map(load).collect::<Result<_, _>>()?,
            copa: RefCell::new(CopaInstance::load(&name("copa"))?),
        })
    }

    fn of(&self, law: Law) -> &Instance {
        self.laws.iter().find(|instance| instance.law() == law).expect("every law is loaded")
    }

    /// What the programs of a contender cost so far.
    fn programs(&self, contender: Contender) -> io::Result<Vec<Program>> {
        match contender {
            Contender::Unfed(law) | Contender::Fed(law) => self.of(law).programs(),
            Contender::Copa | Contender::CopaFed => self.copa.borrow().programs(),
            Contender::Cubic | Contender::Bbr | Contender::BbrPaced => Ok(Vec::new()),
        }
    }
}

/// The sender, and its rate.
pub(super) struct Turn<'a> {
    pub(super) loaded: &'a Loaded,
    pub(super) contender: Contender,
    pub(super) limit: Option<Rate>,
    /// By BBR, in the run before.
    pub(super) reached: Rate,
}

impl Turn<'_> {
    fn goal(&self) -> Rate {
        self.limit.unwrap_or(self.reached.scaled(9, 10))
    }

    /// Headers come on top of the goodput, and a law takes its percent off.
    fn estimate(&self) -> Rate {
        self.goal().scaled(105, 100)
    }

    fn send(&self, pair: &Pair, warm_up: Duration, span: Duration) -> Result<Spent, Failed> {
        let goal = self.goal();
        let mut copa = self.loaded.copa.borrow_mut();
        let copa_name = copa.name().to_owned();
        let (congestion, limit, fed) = match self.contender {
            Contender::Cubic => ("cubic", self.limit, None),
            Contender::Bbr => ("bbr", self.limit, None),
            Contender::BbrPaced => ("bbr", Some(goal), None),
            Contender::Unfed(law) => (self.loaded.of(law).name(), self.limit, None),
            Contender::Fed(law) => {
                let bound = if law.probes() { Bound::Floor } else { Bound::Capacity };
                let instance = self.loaded.of(law);
                let fed = Fed::Estimate { feed: instance.feed(), rate: self.estimate(), bound };
                (instance.name(), self.limit, Some(fed))
            }
            Contender::Copa => (copa_name.as_str(), self.limit, None),
            Contender::CopaFed => {
                (copa_name.as_str(), self.limit, Some(Fed::Delays(copa.delays())))
            }
        };
        let spent = pair.run(Sender { congestion, limit, fed }, warm_up, span)?;
        let corrected = || copa.flow(&spent.socket).ok().flatten().map(|flow| flow.corrections);
        if self.contender == Contender::CopaFed && corrected().is_none_or(|count| count == 0) {
            return Err("no RTT of Copa was corrected although delays were reported".into());
        }
        Ok(spent)
    }

    /// What a law that was fed set last.
    fn set(&self, spent: &Spent) -> Option<FedRun> {
        let Contender::Fed(law) = self.contender else { return None };
        let flow = self.loaded.of(law).flow(&spent.socket).ok()??;
        Some(FedRun {
            fed_bits_per_sec: self.estimate().bits_per_sec(),
            law_controls: flow.phase.law_controls(),
            pacing_bits_per_sec: flow.pacing.bits_per_sec(),
            window_segments: flow.cwnd,
            least_rtt_us: flow.rtt_min.and_then(|rtt| u64::try_from(rtt.as_micros()).ok()),
        })
    }

    pub(super) fn run(&self, plan: &Plan, pair: &Pair, repetition: u32) -> Result<Run, Failed> {
        let spent = self.send(pair, plan.warm_up, plan.span)?;
        let gigabytes = gigabytes(&spent);
        let per_gb = |time: Duration| time.as_secs_f64() / gigabytes;
        Ok(Run {
            contender: self.contender,
            limit_bits_per_sec: bits(self.limit),
            repetition,
            goodput_bits_per_sec: spent.received.per(spent.took).bits_per_sec(),
            sender_secs_per_gb: per_gb(spent.sender),
            total_secs_per_gb: per_gb(spent.total),
            fed: self.set(&spent),
        })
    }

    pub(super) fn count_calls(&self, plan: &Plan, pair: &Pair) -> Result<Vec<CallCost>, Failed> {
        let statistics = |error: io::Error| Failed::at("statistics of BPF programs", error);
        let counting = RunStats::enable().map_err(statistics)?;
        let before = self.loaded.programs(self.contender).map_err(statistics)?;
        // Calls are counted from the first packet on, and so are bytes here.
        let whole = plan.warm_up + plan.span;
        let spent = self.send(pair, Duration::ZERO, whole)?;
        let gigabytes = gigabytes(&spent);
        let after = self.loaded.programs(self.contender).map_err(statistics)?;
        drop(counting);
        let costs = before.iter().zip(&after).filter(|(before, after)| after.calls > before.calls);
        Ok(costs
            .map(|(before, after)| {
                let calls = after.calls - before.calls;
                let nanos = (after.run_time - before.run_time).as_nanos() as f64;
                CallCost {
                    contender: self.contender,
                    limit_bits_per_sec: bits(self.limit),
                    program: after.name,
                    calls,
                    nanos_per_call: nanos / calls as f64,
                    secs_per_gb: nanos / 1e9 / gigabytes,
                }
            })
            .collect())
    }
}

fn gigabytes(spent: &Spent) -> f64 {
    spent.received.count().max(1) as f64 / 1e9
}
