//! One run of a rule in a scene, and the truth of the scene.

use std::fmt;
use std::ops::Range;
use std::time::Duration;

use serde::Serialize;
use sounding_cell::config::InvalidConfig;
use sounding_experiment::metrics::nearest_rank;
use sounding_kpi::Direction;
use sounding_shape::{Limits, ShaperLaw, Tuning};
use sounding_sim::held::Fixed;
use sounding_sim::shaper::{Discipline, Governor, Naive, Scheduled, ShapedBy};
use sounding_sim::world::{Event, Flow, FlowId};
use sounding_units::{Bytes, HostInstant, Rate};

use super::scene::{Case, SPAN, Scene};
use crate::controllers::closed_loop::Kind;

/// More than the BDP of these links, and less than RLC's queue of 2 MB, so that no packet is lost.
const FLOOD: Bytes = Bytes::new(1_800_000);
/// The truth is the mean of this.
pub(super) const BIN: Duration = Duration::from_millis(100);

/// What sets the shaper.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Rule {
    /// No shaper.
    None,
    /// A quantile of the truth, 0 to 1.
    Fixed(f64),
    /// The capacity of the same scene's cell, so late.
    Truth(Duration),
    /// A part of each estimate, in thousandths: the rule that collapses.
    Naive(u32),
    /// This project's law; with its own constants, or with others.
    Ours(Option<Tuning>),
}

impl Rule {
    /// The rule of this name.
    pub fn named(name: &str) -> Option<Self> {
        Some(match name {
            "none" => Self::None,
            "naive" => Self::Naive(950),
            "ours" => Self::Ours(None),
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
            Self::Naive(_) => f.write_str("naive"),
            Self::Ours(_) => f.write_str("ours"),
        }
    }
}

/// The cell's capacity in each 100 ms, bits per second, for a sender that always has data.
#[derive(Clone, Debug)]
pub(super) struct Truth(pub Vec<u64>);

impl Truth {
    /// Measures it, in one direction.
    ///
    /// # Errors
    ///
    /// [`InvalidConfig`] if a setting of the cell is outside its range.
    pub(super) fn of(scene: &Scene, direction: Direction) -> Result<Self, InvalidConfig> {
        let scene = scene.cell_alone(direction);
        let mut world = scene.world(None, None)?;
        world.add_flow(Flow::bulk(scene.kind.port(), |_| Box::new(Fixed(FLOOD))));
        let mut bins = vec![0; (SPAN.as_nanos() / BIN.as_nanos()) as usize];
        let mut see = |_: HostInstant, event: &Event<'_>| {
            if let Event::Arrived { packet, .. } = event {
                let bin = packet.left.as_nanos() / BIN.as_nanos() as u64;
                if let Some(bin) = bins.get_mut(bin as usize) {
                    *bin += packet.size.count() * 80;
                }
            }
        };
        world.observe_until(HostInstant::default() + SPAN, &mut see);
        Ok(Self(bins))
    }

    /// A quantile of its bins that are above zero.
    pub(super) fn quantile(&self, quantile: f64) -> u64 {
        let mut bins: Vec<u64> = self.0.iter().copied().filter(|bits| *bits > 0).collect();
        bins.sort_unstable();
        let at = (quantile * bins.len() as f64) as usize;
        bins.get(at.min(bins.len().saturating_sub(1))).copied().unwrap_or(0)
    }

    fn scheduled(&self, late: Duration, limits: Limits) -> Scheduled {
        let begin = (HostInstant::default(), limits.base());
        let steps = self.0.iter().zip(0..).map(|(bits, at)| {
            let rate = Rate::from_bits_per_sec(*bits).max(limits.min());
            (HostInstant::default() + BIN * at + late, rate)
        });
        Scheduled::new(std::iter::once(begin).chain(steps).collect())
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
    let governor: Box<dyn Governor> = match rule {
        Rule::None => return None,
        Rule::Fixed(quantile) => {
            let rate = Rate::from_bits_per_sec(truth.quantile(quantile)).max(limits.min());
            Box::new(Scheduled::fixed(rate))
        }
        Rule::Truth(late) => Box::new(truth.scheduled(late, *limits)),
        Rule::Naive(share) => Box::new(Naive { share, base: limits.base(), min: limits.min() }),
        Rule::Ours(tuning) => {
            Box::new(ShaperLaw::tuned(tuning.unwrap_or(Tuning::of(*direction)), *limits))
        }
    };
    let span = match rule {
        Rule::Ours(Some(tuning)) => tuning.span,
        _ => Tuning::of(*direction).span,
    };
    Some(ShapedBy { discipline: Discipline::Cake, rate: limits.base(), span, governor })
}

/// Makes a run of a rule.
///
/// # Errors
///
/// [`InvalidConfig`] if a setting of the cell is outside its range.
pub(super) fn run(
    scene: &Scene,
    sides: &[Side],
    rule: Rule,
    bulk: impl Fn(sounding_sim::Port) -> Flow,
) -> Result<Score, InvalidConfig> {
    let by = |direction| sides.iter().find(|side| side.direction == direction);
    let [up, down] = [Direction::Uplink, Direction::Downlink]
        .map(|direction| by(direction).and_then(|side| shaper(rule, side)));
    let mut world = scene.world(up, down)?;
    world.network_mut().show_decisions();
    let flows = scene.flows(bulk);
    let counted: Vec<FlowId> = flows.counted.into_iter().map(|flow| world.add_flow(flow)).collect();
    let probe = world.add_flow(flows.probe);
    for flow in flows.others {
        world.add_flow(flow);
    }
    let mut delays = Vec::new();
    let mut carried = 0;
    let mut see = |_: HostInstant, event: &Event<'_>| {
        let Event::Arrived { flow, packet } = event else { return };
        if *flow == probe {
            delays.push(packet.exits - packet.entered);
        } else if counted.contains(flow) {
            carried += packet.size.count();
        }
    };
    world.observe_until(HostInstant::default() + SPAN, &mut see);
    delays.sort_unstable();
    let probe_ms = [0.5, 0.95, 0.99].map(|quantile| match &delays[..] {
        [] => f64::INFINITY,
        delays => nearest_rank(delays, quantile).as_secs_f64() * 1e3,
    });
    let decisions = world.network_mut().drain_decisions();
    let own = scene.kind.port().direction;
    let silences = scene.silences();
    let rates = decisions.iter().filter(|shown| {
        let at = shown.at - HostInstant::default();
        shown.direction == own && silences.iter().any(|silence| silence.contains(&at))
    });
    let rates: Vec<Rate> = rates.map(|shown| shown.decision.rate).collect();
    let least = by(own).map(|side| side.limits.min());
    let at_min = rates.iter().filter(|rate| Some(**rate) == least).count();
    let at_min = (!rates.is_empty()).then(|| at_min as f64 / rates.len() as f64);
    let mbit_per_sec = carried as f64 * 8e-6 / SPAN.as_secs_f64();
    Ok(Score { mbit_per_sec, probe_ms, at_min })
}

/// The limits that all shapers of a case get: from the truth of other seeds.
///
/// # Errors
///
/// [`InvalidConfig`] if a setting of a cell is outside its range.
pub(super) fn limits(
    (kind, case): (Kind, Case),
    direction: Direction,
    seeds: Range<u64>,
) -> Result<Limits, InvalidConfig> {
    let mut bins = Vec::new();
    for seed in seeds {
        bins.extend(Truth::of(&Scene::of(kind, case, seed), direction)?.0);
    }
    let all = Truth(bins);
    let [p10, p50, p99] = [0.1, 0.5, 0.99].map(|quantile| all.quantile(quantile));
    let rate = Rate::from_bits_per_sec;
    let min = rate((p10 / 2).max(64_000));
    let base = rate(p50).max(min);
    let limits = Limits::new(min, base, rate(p99 * 12 / 10).max(base));
    Ok(limits.unwrap_or_else(|error| unreachable!("they are sorted: {error}")))
}
