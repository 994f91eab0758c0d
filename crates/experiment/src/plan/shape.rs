//! A shaper in front of a device, as at a router, in virtual time.

use serde::Deserialize;
use sounding_kpi::Direction;
use sounding_shape::{Limits, ShaperLaw, Tuning, cake_interval};
use sounding_sim::shaper::{Discipline, Governor, Naive, Scheduled, ShapedBy};
use sounding_units::Rate;

use super::{Wrong, quantity};

/// The shapers of a device: one for each direction that has one.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ShapePlan {
    /// Before its modem.
    pub uplink: Option<SidePlan>,
    /// Behind its modem.
    pub downlink: Option<SidePlan>,
}

/// One of them.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SidePlan {
    /// What sets its rate.
    #[serde(default)]
    pub rule: RulePlan,
    /// How its queue is served.
    #[serde(default)]
    pub queue: QueuePlan,
    /// The least rate. Default 100 kbit/s.
    #[serde(default = "least", deserialize_with = "quantity::rate")]
    pub min: Rate,
    /// The rate at the beginning and without an estimate; the only one with `fixed`.
    #[serde(deserialize_with = "quantity::rate")]
    pub base: Rate,
    /// The highest rate. Default 1 Gbit/s.
    #[serde(default = "most", deserialize_with = "quantity::rate")]
    pub max: Rate,
}

/// What sets a shaper's rate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RulePlan {
    /// The law of `sounding shape`, from the device's modem.
    #[default]
    Modem,
    /// Nothing: it stays.
    Fixed,
    /// 95 % of each estimate, floors too: the rule that collapses.
    Naive,
}

/// How a shaper's queue is served.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum QueuePlan {
    /// CAKE: by flow, with COBALT. Its interval is 200 ms in an uplink under `modem`, 100 ms
    /// otherwise.
    #[default]
    Cake,
    /// HTB over a queue in order of arrival, of 1,000 packets.
    Fifo,
}

fn least() -> Rate {
    Rate::from_bits_per_sec(100_000)
}

fn most() -> Rate {
    Rate::from_bits_per_sec(1_000_000_000)
}

impl SidePlan {
    pub(super) fn shaper(&self, direction: Direction, key: &str) -> Result<ShapedBy, Wrong> {
        let Self { rule, queue, min, base, max } = *self;
        let limits =
            Limits::new(min, base, max).map_err(|error| Wrong::new(key, error.to_string()))?;
        let governor: Box<dyn Governor> = match rule {
            RulePlan::Modem => Box::new(ShaperLaw::new(direction, limits)),
            RulePlan::Fixed => Box::new(Scheduled::fixed(base)),
            RulePlan::Naive => Box::new(Naive { base, min }),
        };
        let discipline = match queue {
            QueuePlan::Cake if rule == RulePlan::Modem => {
                Discipline::Cake { interval: cake_interval(direction) }
            }
            QueuePlan::Cake => Discipline::CAKE,
            QueuePlan::Fifo => Discipline::Fifo { packets: 1_000 },
        };
        let span = Tuning::of(direction).span;
        Ok(ShapedBy { discipline, rate: base, span, governor })
    }
}
