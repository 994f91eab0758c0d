//! Plans: experiments, described in TOML files.
//!
//! A plan has one network, flows over it, and a duration: [`Plan`]. Its text may also list values
//! for any of its keys; [`Text::runs`] makes every combination, once for each seed. [`network()`]
//! makes the network of a plan, for virtual time or for real time. [`Actors`] lists the flows of
//! its devices.

mod actors;
mod arrivals;
mod capacity;
mod cell;
mod controller;
mod entry;
mod error;
mod flow;
mod links;
mod network;
mod oracle;
mod populate;
mod quantity;
mod seeds;
mod set;
mod shape;
mod simulated;
mod split;
mod text;
mod tree;

use std::ops::RangeInclusive;
use std::time::Duration;

use serde::Deserialize;
use sounding_baselines::Registry;
use sounding_cell::quantity as time;

pub use actors::{Actor, Actors, Group};
pub use arrivals::Arrival;
pub use cell::{Cell, DevicePlan, ModemPlan, Scatter};
pub use controller::names_controller;
pub use error::{PlanError, Wrong};
pub use flow::{Acknowledged, FlowPlan, Portion, TrafficPlan};
pub use links::{Begin, Drops, LinkPlan, Wire};
pub use network::{Built, given, network, offered};
pub(crate) use oracle::oracle;
pub use populate::populate;
pub use quantity::ORACLE;
pub use seeds::Seeds;
#[cfg(feature = "lab")]
pub(crate) use set::names_files;
pub use shape::{QueuePlan, RulePlan, ShapePlan, SidePlan};
pub use simulated::{Simulated, refuse_shapers, simulated};
pub use text::{Run, Text};

/// An experiment.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// A description.
    #[serde(default)]
    pub about: String,
    /// Duration of a run.
    #[serde(deserialize_with = "time::duration")]
    pub duration: Duration,
    /// Time at the start that is not measured. Default none.
    #[serde(default, deserialize_with = "time::duration")]
    pub warmup: Duration,
    /// Width of the windows in which shares of flows are compared with each other and with the
    /// fair share. Default 500 ms.
    #[serde(default = "half_second", deserialize_with = "time::duration")]
    pub window: Duration,
    /// Each run is made once for each of them. Default 1.
    #[serde(default)]
    pub seeds: Seeds,
    /// A modelled cell: a network, unless `links` are one.
    pub cell: Option<Cell>,
    /// Independent links, one for each device: the network, unless `cell` is given.
    #[serde(default)]
    pub links: Vec<LinkPlan>,
    /// A wired segment at the network's far end, which all devices share.
    pub wire: Option<Wire>,
    /// The flows of the plan.
    pub flows: Vec<FlowPlan>,
    /// Lists of values by dotted path; runs are all combinations.
    #[serde(default)]
    pub sweep: toml::Table,
}

fn half_second() -> Duration {
    Duration::from_millis(500)
}

/// Longest run: what it records is counted in nanoseconds, and a typing error in a unit should not
/// take a week.
const LONGEST: Duration = Duration::from_secs(100_000);

/// From a far end to the network at most: farther than any on Earth by far.
const FARTHEST: Duration = Duration::from_secs(10);

/// Resolutions of time stamps: RFC 7323 §5.4 has 1 ms to 1 s, and QUIC's extensions have
/// microseconds.
const TICKS: RangeInclusive<Duration> = Duration::from_micros(1)..=Duration::from_secs(1);

/// A longer one would be an outage.
const LONGEST_BATCH: Duration = Duration::from_millis(100);

impl Plan {
    /// Number of carriers, devices, links and flows in it.
    fn entries(&self) -> usize {
        let cell = self.cell.as_ref().map_or(0, |cell| cell.carriers.len() + cell.devices.len());
        cell + self.links.len() + self.flows.len()
    }

    /// Checks that involve several values. Also puts controllers into their canonical form.
    fn check(&mut self, controllers: &Registry) -> Result<(), Wrong> {
        if self.duration.is_zero() || self.duration > LONGEST {
            return Err(Wrong::new("duration", "is above zero and at most 100000s"));
        }
        if self.warmup >= self.duration {
            return Err(Wrong::new("warmup", "is shorter than the duration"));
        }
        match (&self.cell, self.links.is_empty()) {
            (None, true) => {
                let wrong = Wrong::new("", "a plan needs a network: [cell] or [[links]]");
                return Err(wrong);
            }
            (Some(_), false) => {
                return Err(Wrong::new("links", "a plan has one network: [cell] or [[links]]"));
            }
            _ => {}
        }
        if self.flows.is_empty() {
            return Err(Wrong::new("flows", "a plan needs at least one of [[flows]]"));
        }
        for (at, flow) in self.flows.iter_mut().enumerate() {
            flow.controller = controller::settle(&flow.controller, controllers)
                .map_err(|wrong| Wrong { key: format!("flows.{at}.{}", wrong.key), ..wrong })?;
            if flow.delay > FARTHEST {
                return Err(Wrong::new(format!("flows.{at}.delay"), "is at most 10s"));
            }
            if let TrafficPlan::Arrivals { load, sizes } = &flow.traffic {
                flow::expected(*load, sizes, self.duration)
                    .map_err(|why| Wrong::new(format!("flows.{at}.traffic.sizes"), why))?;
                if flow.count != 1 {
                    let why = "is 1 of arrivals: a load is for all devices together";
                    return Err(Wrong::new(format!("flows.{at}.count"), why));
                }
            }
            if !TICKS.contains(&flow.tick) {
                return Err(Wrong::new(format!("flows.{at}.tick"), "is 1us to 1s"));
            }
            if flow.batch > LONGEST_BATCH {
                return Err(Wrong::new(format!("flows.{at}.batch"), "is at most 100ms"));
            }
        }
        // Narrower ones would hold a packet or two.
        if self.window < Duration::from_millis(10) || self.window > self.duration {
            return Err(Wrong::new("window", "is 10ms to the whole duration"));
        }
        for (at, device) in self.cell.iter().flat_map(|cell| cell.devices.iter().enumerate()) {
            let overhead = device.modem.and_then(|modem| modem.overhead);
            if overhead.is_some_and(|overhead| !(0.0..=0.5).contains(&overhead)) {
                let key = format!("cell.devices.{at}.modem.overhead");
                return Err(Wrong::new(key, "is 0 to 0.5"));
            }
        }
        let actors = Actors::new(self)?;
        oracle::check(self, &actors)
    }
}

#[cfg(test)]
mod tests;
