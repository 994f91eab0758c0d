//! Links that are given: traces, rates, rates over time.

use std::path::Path;
use std::time::Duration;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde::Deserialize;
use serde::de::{Deserializer, Error};
use sounding_cell::quantity as time;
use sounding_kpi::Direction;
use sounding_sim::{DropFrom, PathConfig, QueueLimit};
use sounding_units::Bytes;

use super::capacity::Capacity;
use super::{Wrong, quantity};

/// Both links of a device, as `mm-delay D mm-link UP DOWN` has them.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LinkPlan {
    /// Name of its device in flows.
    pub name: Option<String>,
    /// The uplink: a file beside the plan (mahimahi's packet deliveries, lines of seconds and
    /// Mbit/s, a log of G-NetTrack, or a capture of a modem, whose grants it is), a rate as
    /// `12Mbit`, or steps as `0s 20Mbit, 5s 5Mbit`.
    #[serde(deserialize_with = "quantity::link")]
    pub up: String,
    /// The downlink.
    #[serde(deserialize_with = "quantity::link")]
    pub down: String,
    /// Propagation delay, one way. Default none.
    #[serde(default, deserialize_with = "time::duration")]
    pub delay: Duration,
    /// Capacity of the queue in front of each. Default any number of bytes.
    #[serde(default = "endless", deserialize_with = "time::bytes")]
    pub queue: Bytes,
    /// Which packet is dropped when it is full.
    #[serde(default)]
    pub drop: Drops,
    /// Whether traces are played once instead of over and over.
    #[serde(default)]
    pub once: bool,
    /// Its start in its files. Default: their beginning.
    #[serde(default)]
    pub from: Begin,
}

/// The start of a link in a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Begin {
    /// At this time after the trace's beginning.
    At(Duration),
    /// At a random time from the seed, the same in both directions.
    Lot,
}

impl Default for Begin {
    fn default() -> Self {
        Self::At(Duration::ZERO)
    }
}

impl<'de> Deserialize<'de> for Begin {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        let text = input.deserialize_any(time::TIME)?;
        if text == "lot" {
            return Ok(Self::Lot);
        }
        let at = serde::de::value::StringDeserializer::<D::Error>::new(text);
        time::duration(at).map(Self::At).map_err(|error| {
            D::Error::custom(format_args!("{error}; or \"lot\", where the seed says"))
        })
    }
}

/// A wired segment.
#[derive(Clone, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Wire {
    /// Away from the devices, behind their radio: as a link's `up`.
    #[serde(deserialize_with = "quantity::link")]
    pub up: String,
    /// Towards them, before it.
    #[serde(deserialize_with = "quantity::link")]
    pub down: String,
    /// Propagation delay, one way.
    #[serde(deserialize_with = "time::duration")]
    pub delay: Duration,
    /// Size of the queue of each direction.
    #[serde(deserialize_with = "time::bytes")]
    pub queue: Bytes,
    /// Which packet is dropped when it is full.
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

/// A random stream for the starts of links, separate from those of the network.
const BEGINNINGS: u64 = 1 << 61;

impl LinkPlan {
    /// The two directions for a run of this duration; files are relative to `folder`.
    pub(super) fn paths(
        &self,
        at: usize,
        folder: &Path,
        seed: u64,
        lasts: Duration,
    ) -> Result<[PathConfig; 2], Wrong> {
        let Self { up, down, delay, queue, drop, once, from, .. } = self;
        let key = format!("links.{at}");
        if *once && *from != Begin::default() {
            let key = format!("{key}.once");
            return Err(Wrong::new(key, "a link that is played once begins at its beginning"));
        }
        let capacities = [
            Capacity::read(&format!("{key}.up"), up, folder, Direction::Uplink)?,
            Capacity::read(&format!("{key}.down"), down, folder, Direction::Downlink)?,
        ];
        let begins = match *from {
            Begin::At(begins) => begins,
            Begin::Lot => {
                let mut lots = ChaCha8Rng::seed_from_u64(seed);
                lots.set_stream(BEGINNINGS + at as u64);
                // The shorter of two recordings that were made together has both.
                let shorter = capacities.iter().filter_map(Capacity::lasts).min();
                shorter.unwrap_or_default().mul_f64(lots.random())
            }
        };
        let queue = limit(*queue, *drop);
        let path = |capacity: Capacity, name: &str| {
            let schedule = capacity.schedule(begins, lasts);
            let schedule = schedule.map_err(|what| Wrong::new(format!("{key}.{name}"), what))?;
            Ok::<_, Wrong>(PathConfig { schedule, delay: *delay, queue, once: *once })
        };
        let [up, down] = capacities;
        Ok([path(up, "up")?, path(down, "down")?])
    }
}

impl Wire {
    /// The two directions for a run of this duration; files are relative to `folder`.
    pub(super) fn paths(&self, folder: &Path, lasts: Duration) -> Result<[PathConfig; 2], Wrong> {
        let Self { up, down, delay, queue, drop } = self;
        let path = |name: &str, text: &str, direction| {
            let key = format!("wire.{name}");
            let capacity = Capacity::read(&key, text, folder, direction)?;
            let schedule = capacity.schedule(Duration::ZERO, lasts);
            let schedule = schedule.map_err(|what| Wrong::new(key, what))?;
            let queue = limit(*queue, *drop);
            Ok::<_, Wrong>(PathConfig { schedule, delay: *delay, queue, once: false })
        };
        Ok([path("up", up, Direction::Uplink)?, path("down", down, Direction::Downlink)?])
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
