//! Links that are given: traces, rates, rates over time.

use std::path::Path;
use std::time::Duration;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde::Deserialize;
use serde::de::{Deserializer, Error};
use sounding_cell::quantity as time;
use sounding_kpi::Direction;
use sounding_sim::{DropFrom, Losses, PathConfig, QueueLimit};
use sounding_units::Bytes;

use super::capacity::Capacity;
use super::entry::{self, Entry};
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
    /// The queue of the uplink, instead of `queue` and `drop`: as `"codel:target=5ms"`.
    #[serde(default, deserialize_with = "quantity::queue")]
    pub up_queue: Option<QueueLimit>,
    /// The queue of the downlink.
    #[serde(default, deserialize_with = "quantity::queue")]
    pub down_queue: Option<QueueLimit>,
    /// The share of the uplink's packets that is lost before the link. Default none.
    #[serde(default, deserialize_with = "quantity::share")]
    pub up_loss: Option<f64>,
    /// The same of the downlink.
    #[serde(default, deserialize_with = "quantity::share")]
    pub down_loss: Option<f64>,
    /// Times without and with losses of all packets of the uplink: means as `"5s,1s"`, or the
    /// times themselves as `"fixed:5s,1s"`. Default no outage.
    #[serde(default, deserialize_with = "quantity::outages")]
    pub up_outages: Option<Losses>,
    /// The same of the downlink.
    #[serde(default, deserialize_with = "quantity::outages")]
    pub down_outages: Option<Losses>,
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
    /// The queue of the uplink, instead of `queue` and `drop`: as `"codel:target=5ms"`.
    #[serde(deserialize_with = "quantity::queue")]
    pub up_queue: Option<QueueLimit>,
    /// The queue of the downlink.
    #[serde(deserialize_with = "quantity::queue")]
    pub down_queue: Option<QueueLimit>,
    /// The share of the uplink's packets that is lost before the link. Default none.
    #[serde(deserialize_with = "quantity::share")]
    pub up_loss: Option<f64>,
    /// The same of the downlink.
    #[serde(deserialize_with = "quantity::share")]
    pub down_loss: Option<f64>,
    /// Times without and with losses of all packets of the uplink: means as `"5s,1s"`, or the
    /// times themselves as `"fixed:5s,1s"`. Default no outage.
    #[serde(deserialize_with = "quantity::outages")]
    pub up_outages: Option<Losses>,
    /// The same of the downlink.
    #[serde(deserialize_with = "quantity::outages")]
    pub down_outages: Option<Losses>,
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
            up_queue: None,
            down_queue: None,
            up_loss: None,
            down_loss: None,
            up_outages: None,
            down_outages: None,
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
        let Self { up, down, delay, once, from, .. } = self;
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
        let path = |capacity: Capacity, entry: Entry| {
            let schedule = capacity.schedule(begins, lasts);
            let schedule =
                schedule.map_err(|what| Wrong::new(format!("{key}.{}", entry.name), what))?;
            let losses = entry.losses(&key)?;
            let (queue, seed) = (entry.queue, entry.seed(seed, 2 * at as u64));
            Ok::<_, Wrong>(PathConfig { schedule, delay: *delay, queue, once: *once, losses, seed })
        };
        let [up, down] = capacities;
        let [for_up, for_down] = self.entries();
        Ok([path(up, for_up)?, path(down, for_down)?])
    }

    fn entries(&self) -> [Entry; 2] {
        let queues = [self.up_queue, self.down_queue]
            .map(|own| own.unwrap_or(shared(self.queue, self.drop)));
        let shares = [self.up_loss, self.down_loss];
        Entry::both(queues, shares, [self.up_outages, self.down_outages])
    }
}

impl Wire {
    /// The two directions for a run of this duration; files are relative to `folder`.
    pub(super) fn paths(
        &self,
        folder: &Path,
        seed: u64,
        lasts: Duration,
    ) -> Result<[PathConfig; 2], Wrong> {
        let path = |text: &str, direction, entry: Entry| {
            let key = format!("wire.{}", entry.name);
            let capacity = Capacity::read(&key, text, folder, direction)?;
            let schedule = capacity.schedule(Duration::ZERO, lasts);
            let schedule = schedule.map_err(|what| Wrong::new(key, what))?;
            let losses = entry.losses("wire")?;
            let (delay, once) = (self.delay, false);
            let (queue, seed) = (entry.queue, entry.seed(seed, entry::WIRE));
            Ok::<_, Wrong>(PathConfig { schedule, delay, queue, once, losses, seed })
        };
        let [for_up, for_down] = self.entries();
        Ok([
            path(&self.up, Direction::Uplink, for_up)?,
            path(&self.down, Direction::Downlink, for_down)?,
        ])
    }

    fn entries(&self) -> [Entry; 2] {
        let queues = [self.up_queue, self.down_queue]
            .map(|own| own.unwrap_or(shared(self.queue, self.drop)));
        let shares = [self.up_loss, self.down_loss];
        Entry::both(queues, shares, [self.up_outages, self.down_outages])
    }
}

/// The queue of both directions.
fn shared(bytes: Bytes, drop: Drops) -> QueueLimit {
    let bytes = (bytes != endless()).then_some(bytes);
    let drop = match drop {
        Drops::Tail => DropFrom::Tail,
        Drops::Head => DropFrom::Head,
    };
    QueueLimit { bytes, drop, ..QueueLimit::INFINITE }
}
