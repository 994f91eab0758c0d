//! Links that are given: traces, rates, rates over time.

use std::fs;
use std::path::Path;
use std::time::Duration;

use serde::Deserialize;
use sounding_cell::quantity as time;
use sounding_sim::{DropFrom, PathConfig, QueueLimit};
use sounding_trace::{Schedule, Steps, mahimahi};
use sounding_units::Bytes;

use super::Wrong;

/// Both links of a device, as `mm-delay D mm-link UP DOWN` has them.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LinkPlan {
    /// What flows call its device.
    pub name: Option<String>,
    /// The uplink: a mahimahi trace beside the plan, a rate as `12Mbit`, or steps as `0s 20Mbit, 5s 5Mbit`.
    pub up: String,
    /// The downlink.
    pub down: String,
    /// Propagation delay, one way. Default none.
    #[serde(default, deserialize_with = "time::duration")]
    pub delay: Duration,
    /// What the queue in front of each holds. Default any number of bytes.
    #[serde(default = "endless", deserialize_with = "time::bytes")]
    pub queue: Bytes,
    /// Which packet goes when it is full.
    #[serde(default)]
    pub drop: Drops,
    /// Whether traces are played once instead of over and over.
    #[serde(default)]
    pub once: bool,
}

/// A wired segment.
#[derive(Clone, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Wire {
    /// Away from the devices, behind their radio: as a link's `up`.
    pub up: String,
    /// Towards them, before it.
    pub down: String,
    /// Propagation delay, one way.
    #[serde(deserialize_with = "time::duration")]
    pub delay: Duration,
    /// What the queue in front of each direction holds.
    #[serde(deserialize_with = "time::bytes")]
    pub queue: Bytes,
    /// Which packet goes when it is full.
    pub drop: Drops,
}

impl Default for Wire {
    /// A gigabit that is no bottleneck.
    fn default() -> Self {
        Self {
            up: "1Gbit".into(),
            down: "1Gbit".into(),
            delay: Duration::ZERO,
            queue: endless(),
            drop: Drops::default(),
        }
    }
}

/// Which packet a full queue drops.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Drops {
    /// The one that arrives.
    #[default]
    Tail,
    /// The oldest.
    Head,
}

fn endless() -> Bytes {
    Bytes::new(u64::MAX)
}

impl LinkPlan {
    /// The two directions; traces are looked for from `folder` on.
    pub(super) fn paths(&self, key: &str, folder: &Path) -> Result<[PathConfig; 2], Wrong> {
        let Self { up, down, delay, queue, drop, once, .. } = self;
        let path = |name: &str, text: &str| {
            let schedule = schedule(&format!("{key}.{name}"), text, folder)?;
            let queue = limit(*queue, *drop);
            Ok(PathConfig { schedule, delay: *delay, queue, once: *once })
        };
        Ok([path("up", up)?, path("down", down)?])
    }
}

impl Wire {
    /// The two directions; traces are looked for from `folder` on.
    pub(super) fn paths(&self, key: &str, folder: &Path) -> Result<[PathConfig; 2], Wrong> {
        let Self { up, down, delay, queue, drop } = self;
        let path = |name: &str, text: &str| {
            let schedule = schedule(&format!("{key}.{name}"), text, folder)?;
            let queue = limit(*queue, *drop);
            Ok(PathConfig { schedule, delay: *delay, queue, once: false })
        };
        Ok([path("up", up)?, path("down", down)?])
    }
}

fn limit(bytes: Bytes, drop: Drops) -> QueueLimit {
    let bytes = (bytes != endless()).then_some(bytes);
    let drop = match drop {
        Drops::Tail => DropFrom::Tail,
        Drops::Head => DropFrom::Head,
    };
    QueueLimit { bytes, drop, ..QueueLimit::INFINITE }
}

/// What a link carries when.
fn schedule(key: &str, text: &str, folder: &Path) -> Result<Schedule, Wrong> {
    let steps = match text.parse::<Steps>() {
        Ok(steps) => return Ok(steps.into()),
        Err(error) => error,
    };
    let path = folder.join(text);
    if !path.is_file() {
        let message = format!(
            "{text:?} is neither a file, looked for as {}, nor a rate or steps: {steps}",
            path.display()
        );
        return Err(Wrong::new(key, message));
    }
    let bytes = fs::read(&path)
        .map_err(|error| Wrong::new(key, format!("cannot read {}: {error}", path.display())))?;
    let trace = mahimahi::parse(&bytes).map_err(|error| {
        Wrong::new(key, format!("{} is not a mahimahi trace: {error}", path.display()))
    })?;
    Ok(trace.into())
}
