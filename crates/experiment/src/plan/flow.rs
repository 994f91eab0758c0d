//! The flows of a plan.

use std::time::Duration;

use serde::{Deserialize, Deserializer};
use sounding_cc::Choice;
use sounding_cell::quantity as time;
use sounding_kpi::Direction;
use sounding_sim::world::{Acks, Receipt, Traffic};
use sounding_units::{Bytes, Rate};

use super::{controller, quantity};

/// A flow, or several that are alike.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FlowPlan {
    /// Its name in tables. Default: its traffic.
    pub name: Option<String>,
    /// The name of its device; where several have this name, each has the flow. Default the first.
    pub device: Option<String>,
    /// Direction of its data.
    #[serde(deserialize_with = "up_or_down")]
    pub direction: Direction,
    /// Its traffic. Default: bulk.
    #[serde(default)]
    pub traffic: TrafficPlan,
    /// The controller. Default cubic; datagrams have none.
    #[serde(default = "cubic", deserialize_with = "controller::choice")]
    pub controller: Choice,
    /// Number of such flows on each device.
    #[serde(default = "one")]
    pub count: u16,
    /// When it begins.
    #[serde(default, deserialize_with = "time::duration")]
    pub start: Duration,
    /// When it stops to produce data. Default never.
    #[serde(default = "never", deserialize_with = "time::duration")]
    pub stop: Duration,
    /// Delay between the starts of consecutive flows.
    #[serde(default, deserialize_with = "time::duration")]
    pub stagger: Duration,
    /// One-way delay between its far end and the network, in each direction, in addition to the
    /// network's. Default none.
    #[serde(default, deserialize_with = "time::duration")]
    pub delay: Duration,
    /// When its receiver acknowledges.
    #[serde(default)]
    pub acks: Acknowledged,
    /// The resolution of its receiver's time stamps. Default 1 ms.
    #[serde(default = "millisecond", deserialize_with = "time::duration")]
    pub tick: Duration,
    /// Packets that arrive within this time are processed together, as GRO does. Default: each
    /// packet by itself.
    #[serde(default, deserialize_with = "time::duration")]
    pub batch: Duration,
    /// Limit on unacknowledged data, besides the window. Default: no limit.
    #[serde(default = "endless", deserialize_with = "time::bytes")]
    pub buffer: Bytes,
}

/// `up` or `down`, as a plan writes a direction.
fn up_or_down<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Direction, D::Error> {
    #[derive(Deserialize)]
    #[serde(rename_all = "lowercase")]
    enum Written {
        Up,
        Down,
    }
    Ok(match Written::deserialize(deserializer)? {
        Written::Up => Direction::Uplink,
        Written::Down => Direction::Downlink,
    })
}

/// When a receiver acknowledges.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Acknowledged {
    /// Every second packet, as TCP does.
    #[default]
    Delayed,
    /// Every packet.
    EveryPacket,
    /// Every fourth packet.
    EveryFourth,
    /// Every sixteenth packet.
    EverySixteenth,
}

impl From<Acknowledged> for Acks {
    fn from(acks: Acknowledged) -> Self {
        match acks {
            Acknowledged::Delayed => Self::Delayed,
            Acknowledged::EveryPacket => Self::EveryPacket,
            Acknowledged::EveryFourth => Self::Every(4),
            Acknowledged::EverySixteenth => Self::Every(16),
        }
    }
}

fn millisecond() -> Duration {
    Duration::from_millis(1)
}

/// The traffic of a flow.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum TrafficPlan {
    /// More than the network carries, without end.
    #[default]
    Bulk,
    /// A number of bytes, at once.
    Finite {
        /// Number of bytes.
        #[serde(deserialize_with = "time::bytes")]
        size: Bytes,
    },
    /// A steady stream.
    Steady {
        /// The rate.
        #[serde(deserialize_with = "quantity::rate")]
        rate: Rate,
    },
    /// Alternates between bulk and pauses.
    OnOff {
        /// Duration of a bulk period.
        #[serde(deserialize_with = "time::duration")]
        on: Duration,
        /// Duration of a pause.
        #[serde(deserialize_with = "time::duration")]
        off: Duration,
    },
    /// Responses to a peer, which requests the next one some time after it has received the last.
    Responses {
        /// Size of a response.
        #[serde(deserialize_with = "time::bytes")]
        size: Bytes,
        /// Time from a response to the next request.
        #[serde(deserialize_with = "time::duration")]
        think: Duration,
    },
    /// Transfers that arrive at random (Poisson). Each is a fresh flow to a random device of the
    /// group.
    Arrivals {
        /// The load of all together, payload.
        #[serde(deserialize_with = "quantity::rate")]
        load: Rate,
        /// Their sizes, and the part of the load that each has.
        sizes: Vec<Portion>,
    },
    /// Packets of 1500 bytes without a controller, regardless of losses.
    Datagrams {
        /// The rate, in bytes of IP.
        #[serde(deserialize_with = "quantity::rate")]
        rate: Rate,
    },
}

impl FlowPlan {
    /// Its receiver.
    pub fn receipt(&self) -> Receipt {
        Receipt { acks: self.acks.into(), tick: self.tick, batch: self.batch }
    }
}

impl TrafficPlan {
    /// Its name in plans.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Bulk => "bulk",
            Self::Finite { .. } => "finite",
            Self::Steady { .. } => "steady",
            Self::OnOff { .. } => "on-off",
            Self::Responses { .. } => "responses",
            Self::Arrivals { .. } => "arrivals",
            Self::Datagrams { .. } => "datagrams",
        }
    }

    /// The traffic as a byte stream; of arrivals, one of them. An error with the rate for
    /// datagrams.
    ///
    /// # Errors
    ///
    /// The rate of datagrams, which are no byte stream.
    pub fn stream(&self) -> Result<Traffic, Rate> {
        Ok(match *self {
            Self::Arrivals { ref sizes, .. } => {
                Traffic::Finite(sizes.first().map_or(Bytes::ZERO, |portion| portion.0))
            }
            Self::Bulk => Traffic::Bulk,
            Self::Finite { size } => Traffic::Finite(size),
            Self::Steady { rate } => Traffic::Steady(rate),
            Self::OnOff { on, off } => Traffic::OnOff { on, off },
            Self::Responses { size, think } => Traffic::Responses { size, think },
            Self::Datagrams { rate } => return Err(rate),
        })
    }
}

/// How long a transfer is, and which part of the load such transfers are.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
pub struct Portion(
    /// The size.
    #[serde(deserialize_with = "time::bytes")]
    pub Bytes,
    /// The part of the load, 0 to 1.
    pub f64,
);

/// Transfers a second of one size.
pub(super) fn per_sec(load: Rate, Portion(size, part): Portion) -> f64 {
    load.bits_per_sec() as f64 / 8.0 * part / size.count() as f64
}

/// How many transfers are to be expected; fails where the mix is none.
pub(super) fn expected(load: Rate, sizes: &[Portion], span: Duration) -> Result<f64, &'static str> {
    let parts: f64 = sizes.iter().map(|portion| portion.1).sum();
    if sizes.iter().any(|&Portion(size, part)| size == Bytes::ZERO || !(0.0..=1.0).contains(&part))
        || (parts - 1.0).abs() > 1e-6
    {
        return Err("each size is above zero, and the parts of the load are 1 together");
    }
    Ok(sizes.iter().map(|&portion| per_sec(load, portion)).sum::<f64>() * span.as_secs_f64())
}

fn cubic() -> Choice {
    Choice::plain("cubic")
}

fn one() -> u16 {
    1
}

fn never() -> Duration {
    Duration::MAX
}

fn endless() -> Bytes {
    Bytes::new(u64::MAX)
}

impl FlowPlan {
    /// Its name in tables.
    pub fn label(&self) -> &str {
        self.name.as_deref().unwrap_or(self.traffic.name())
    }

    /// The most that may be unacknowledged, if that is limited.
    pub fn limit(&self) -> Option<Bytes> {
        (self.buffer != endless()).then_some(self.buffer)
    }
}
