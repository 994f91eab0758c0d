//! Plans: what an experiment is, as a TOML file states it.
//!
//! A plan has one network, flows over it, and how long they are watched: [`Plan`]. Its text may also list values for any
//! of its keys, of which [`Text::runs`] makes every combination, once for each seed. [`network()`] is the way from a plan
//! to something that carries packets, in virtual time or in real; [`Actors`] says which of its devices a flow is at.

mod actors;
mod cell;
mod error;
mod flow;
mod links;
mod network;
mod quantity;
mod seeds;
mod split;
mod text;
mod tree;

use std::time::Duration;

use serde::Deserialize;
use sounding_cell::quantity as time;

pub use actors::{Actor, Actors, Group};
pub use cell::{Cell, DevicePlan, ModemPlan, Scatter};
pub use error::{PlanError, Wrong};
pub use flow::{Acknowledged, FlowPlan, TrafficPlan, Way};
pub use links::{Drops, LinkPlan, Wire};
pub use network::{Built, given, network, offered};
pub use seeds::Seeds;
pub use text::{Run, Text};

/// An experiment.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// What it is about, for people.
    #[serde(default)]
    pub about: String,
    /// How long it lasts.
    #[serde(deserialize_with = "time::duration")]
    pub duration: Duration,
    /// What happens before is not measured. Default none.
    #[serde(default, deserialize_with = "time::duration")]
    pub warmup: Duration,
    /// Each run is made once for each of them. Default 1.
    #[serde(default)]
    pub seeds: Seeds,
    /// A modelled cell: a network, unless `links` are one.
    pub cell: Option<Cell>,
    /// Links that know nothing of each other, one for each device: a network, unless `cell` is one.
    #[serde(default)]
    pub links: Vec<LinkPlan>,
    /// A wired segment at the network's far end, which all devices share.
    pub wire: Option<Wire>,
    /// Who sends what.
    pub flows: Vec<FlowPlan>,
    /// Lists of values by dotted path; runs are all combinations.
    #[serde(default)]
    pub sweep: toml::Table,
}

/// Longest run: what it records is counted in nanoseconds, and a typing error in a unit should not take a week.
const LONGEST: Duration = Duration::from_secs(100_000);

impl Plan {
    /// What no single value can say of itself.
    fn check(&self) -> Result<(), Wrong> {
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
        Actors::new(self)?;
        Ok(())
    }
}

#[cfg(test)]
mod tests;
