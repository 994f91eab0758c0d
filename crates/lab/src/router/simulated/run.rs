//! One run of a rule in a case.

use std::fmt;
use std::time::Duration;

use serde::Serialize;
use sounding_experiment::metrics::nearest_rank;
use sounding_experiment::plan;
use sounding_kpi::Direction;
use sounding_shape::{Limits, ShaperLaw, Tuning, cake_interval};
use sounding_sim::shaper::{Discipline, Governor, Naive, Scheduled, Shaped, ShapedBy};
use sounding_sim::world::{Event, FlowId};
use sounding_sim::{Device, World};
use sounding_units::{HostInstant, Rate};

use super::super::case::{LEAD, SILENCE};
use super::super::truth::{Truth, rate};
use super::Place;
use super::flows::Flows;
use crate::experiment::Failed;

/// The part of the truth that counts as all of it.
const MOST: f64 = 0.9;

/// What sets the shaper.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Rule {
    /// No shaper.
    None,
    /// A quantile of the truth, 0 to 1.
    Fixed(f64),
    /// The capacity of the same scene's cell, so late.
    Truth(Duration),
    /// A part of each estimate: the rule that collapses.
    Naive,
    /// This project's law.
    Ours,
}

impl Rule {
    /// The rule of this name.
    pub fn named(name: &str) -> Option<Self> {
        Some(match name {
            "none" => Self::None,
            "naive" => Self::Naive,
            "ours" => Self::Ours,
            "truth-0" => Self::Truth(Duration::ZERO),
            "truth-50" => Self::Truth(Duration::from_millis(50)),
            _ => {
                let percent: u8 = name.strip_prefix("fixed-")?.parse().ok()?;
                Self::Fixed(f64::from(percent) / 100.0)
            }
        })
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => f.write_str("none"),
            Self::Fixed(quantile) => write!(f, "fixed-{:.0}", quantile * 100.0),
            Self::Truth(late) => write!(f, "truth-{}", late.as_millis()),
            Self::Naive => f.write_str("naive"),
            Self::Ours => f.write_str("ours"),
        }
    }
}

/// What a run showed.
#[derive(Clone, Debug, Serialize)]
pub struct Score {
    /// Of the counted flows, over the whole run.
    pub mbit_per_sec: f64,
    /// One-way delays of the probe, ms: median, 95th and 99th percentile.
    pub probe_ms: [f64; 3],
    /// Of the time without a channel, the part in which the shaper of the bulk had its least rate;
    /// absent where the channel is there throughout.
    pub at_min: Option<f64>,
    /// From the load's beginning with the base until the shaper of the bulk had 90 % of the truth,
    /// ms; absent where it had it from the beginning.
    pub risen_ms: Option<f64>,
    /// The same from the end of a time without a channel.
    pub back_ms: Option<f64>,
}

/// A direction that has a shaper: the truth, and the limits of its rate.
#[derive(Clone, Debug)]
pub(super) struct Side {
    /// The direction.
    pub direction: Direction,
    /// The truth.
    pub truth: Truth,
    /// The limits.
    pub limits: Limits,
}

/// A shaper by a rule; `None` for none.
fn shaper(rule: Rule, side: &Side) -> Option<ShapedBy> {
    let Side { direction, truth, limits } = side;
    let discipline = match rule {
        Rule::Ours => Discipline::Cake { interval: cake_interval(*direction) },
        _ => Discipline::CAKE,
    };
    let governor: Box<dyn Governor> = match rule {
        Rule::None => return None,
        Rule::Fixed(quantile) => {
            Box::new(Scheduled::fixed(limits.clamp(rate(truth.quantile(quantile)))))
        }
        Rule::Truth(late) => Box::new(scheduled(truth, late, *limits)),
        Rule::Naive => Box::new(Naive { base: limits.base(), min: limits.min() }),
        Rule::Ours => Box::new(ShaperLaw::new(*direction, *limits)),
    };
    let span = Tuning::of(*direction).span;
    Some(ShapedBy { discipline, rate: limits.base(), span, governor })
}

/// The truth, so late; the base until then.
fn scheduled(truth: &Truth, late: Duration, limits: Limits) -> Scheduled {
    let origin = HostInstant::default();
    let steps = truth.steps().map(|(at, rate)| (origin + at + late, limits.clamp(rate)));
    Scheduled::new(std::iter::once((origin, limits.base())).chain(steps).collect())
}

/// Makes a run of a rule with a seed.
///
/// # Errors
///
/// [`Failed`] if the case is no plan.
pub(super) fn run(place: Place, seed: u64, sides: &[Side], rule: Rule) -> Result<Score, Failed> {
    let Place { case, kind, lasts } = place;
    let by = |direction| sides.iter().find(|side| side.direction == direction);
    let [up, down] = [Direction::Uplink, Direction::Downlink]
        .map(|direction| by(direction).and_then(|side| shaper(rule, side)));
    let planned = case.run(kind.rat(), lasts, seed, &[kind.port().direction])?;
    let network = plan::network(&planned.plan, &planned.folder, seed)?;
    let mut world = World::new(Shaped::new(network, Device(0), up, down), seed);
    world.network_mut().show_decisions();
    let flows = Flows::of(case.load, kind.port(), lasts);
    let counted: Vec<FlowId> = flows.counted.into_iter().map(|flow| world.add_flow(flow)).collect();
    let probe = world.add_flow(flows.probe);
    for flow in flows.others {
        world.add_flow(flow);
    }
    let from = HostInstant::default() + LEAD + case.load.idle(lasts);
    let until = HostInstant::default() + LEAD + lasts;
    let mut delays = Vec::new();
    let mut carried = 0;
    let mut see = |_: HostInstant, event: &Event<'_>| {
        let Event::Arrived { flow, packet } = event else { return };
        if packet.exits < from {
            return;
        }
        if *flow == probe {
            delays.push(packet.exits - packet.entered);
        } else if counted.contains(flow) {
            carried += packet.size.count();
        }
    };
    world.observe_until(until, &mut see);
    delays.sort_unstable();
    let probe_ms = [0.5, 0.95, 0.99].map(|quantile| match &delays[..] {
        [] => f64::INFINITY,
        delays => nearest_rank(delays, quantile).as_secs_f64() * 1e3,
    });
    let decisions = world.network_mut().drain_decisions();
    let own = kind.port().direction;
    let [silent, heard] = SILENCE.map(|at| HostInstant::default() + at);
    let rates = decisions.iter().filter(|shown| {
        case.is_silent() && shown.direction == own && shown.at >= silent && shown.at < heard
    });
    let rates: Vec<Rate> = rates.map(|shown| shown.decision.rate).collect();
    let least = by(own).map(|side| side.limits.min());
    let at_min = rates.iter().filter(|rate| Some(**rate) == least).count();
    let at_min = (!rates.is_empty()).then(|| at_min as f64 / rates.len() as f64);
    let reached = |begin: HostInstant| {
        let truth = &by(own)?.truth;
        let mut later =
            decisions.iter().filter(|shown| shown.direction == own && shown.at >= begin);
        let found = later.find(|shown| {
            let truth = truth.at(shown.at - HostInstant::default()).unwrap_or(0.0);
            shown.decision.rate.mbit_per_sec() >= MOST * truth
        });
        Some((found?.at - begin).as_secs_f64() * 1e3)
    };
    let risen_ms = reached(from).filter(|ms| *ms > 0.0);
    let back_ms = reached(heard).filter(|_| case.is_silent());
    let mbit_per_sec = carried as f64 * 8e-6 / (until - from).as_secs_f64();
    Ok(Score { mbit_per_sec, probe_ms, at_min, risen_ms, back_ms })
}
