//! A modelled cell: carriers, and devices with their modems.

use std::fmt;
use std::time::Duration;

use serde::Deserialize;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserializer, Error, MapAccess, Visitor};
use sounding_cell::config::{CarrierConfig, DeviceConfig};
use sounding_cell::quantity as time;
use sounding_cell::sniffer::SnifferConfig;
use sounding_link::Method;
use sounding_units::HostInstant;

use super::shape::ShapePlan;
use super::split::{Own, split};

/// A modelled radio access network.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cell {
    /// Its carriers, counted from zero.
    pub carriers: Vec<CarrierConfig>,
    /// Its devices; those without flows only take resource blocks.
    pub devices: Vec<DevicePlan>,
    /// The sniffer of every carrier's control channel, if there is one.
    #[serde(default, deserialize_with = "sniffer")]
    pub sniffer: Option<SnifferConfig>,
}

/// One device, or several that are alike.
#[derive(Clone, Debug)]
pub struct DevicePlan {
    /// Its name in flows.
    pub name: Option<String>,
    /// Number of such devices.
    pub count: u16,
    /// Its modem, if its host reads one.
    pub modem: Option<ModemPlan>,
    /// Random places of the devices, instead of a trajectory.
    pub scatter: Option<Scatter>,
    /// Its shapers, as a router's.
    pub shape: Option<ShapePlan>,
    /// The name of devices before it: each stands where the one of the same number does, as a
    /// second bearer of it would.
    pub beside: Option<String>,
    /// Everything else.
    pub config: DeviceConfig,
}

/// A modem, and how its host listens.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ModemPlan {
    /// Whether the host listens at all: for plans that compare both.
    pub on: bool,
    /// Interval at which the host drains the port: BISCAY §4, 1 ms if the modem allows it.
    #[serde(deserialize_with = "time::duration")]
    pub drain: Duration,
    /// Interval at which an estimate is published, if the plan sets it; otherwise what the
    /// controllers of its flows want, mostly 10 ms.
    #[serde(deserialize_with = "some_time")]
    pub every: Option<Duration>,
    /// From its publication to the controller: the host's own time, and the way to the sender
    /// where that is elsewhere.
    #[serde(deserialize_with = "time::duration")]
    pub latency: Duration,
    /// How granted bytes are counted, if the plan sets it.
    #[serde(deserialize_with = "method")]
    pub method: Option<Method>,
    /// Whether estimates use the cell's sniffer too.
    pub sniffer: bool,
    /// Part of a transport block that is not IP, as estimates assume it, where the plan says so: γ
    /// of PBE-CC's Equation 5, without IP's own headers.
    pub overhead: Option<f64>,
    /// How much faster the modem's clock runs than the host's, in millionths.
    pub drift_ppm: f64,
    /// For how long the clock is unset.
    #[serde(deserialize_with = "time::duration")]
    pub unset_for: Duration,
}

impl Default for ModemPlan {
    fn default() -> Self {
        Self {
            on: true,
            drain: Duration::from_millis(1),
            every: None,
            latency: Duration::ZERO,
            method: None,
            sniffer: false,
            overhead: None,
            drift_ppm: 0.0,
            unset_for: Duration::ZERO,
        }
    }
}

/// Random places, uniform in a disc; each device stays at its place.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scatter {
    /// Metres from the first carrier's site at most; above zero.
    pub radius_m: f64,
}

/// How well a sniffer receives.
#[derive(Deserialize)]
#[serde(default, deny_unknown_fields)]
struct SnifferPlan {
    missed: f64,
    false_per_sec: f64,
    #[serde(deserialize_with = "time::duration")]
    lag: Duration,
    #[serde(deserialize_with = "time::duration")]
    ahead: Duration,
    drift_ppm: f64,
    #[serde(deserialize_with = "time::duration")]
    dies: Duration,
    hides: Option<[u16; 2]>,
}

impl Default for SnifferPlan {
    fn default() -> Self {
        Self {
            missed: 0.0,
            false_per_sec: 0.0,
            lag: Duration::ZERO,
            ahead: Duration::ZERO,
            drift_ppm: 0.0,
            dies: Duration::MAX,
            hides: None,
        }
    }
}

impl SnifferPlan {
    fn config(&self) -> Result<SnifferConfig, &'static str> {
        let in_range = (0.0..=1.0).contains(&self.missed)
            && (0.0..=1_000.0).contains(&self.false_per_sec)
            && self.drift_ppm.abs() <= 1_000.0;
        if !in_range {
            return Err(
                "missed is 0 to 1, false_per_sec is 0 to 1000, and drift_ppm is -1000 to 1000",
            );
        }
        let dies_at = (self.dies != Duration::MAX).then(|| HostInstant::default() + self.dies);
        Ok(SnifferConfig {
            missed: self.missed,
            false_per_sec: self.false_per_sec,
            lag: self.lag,
            ahead: self.ahead,
            drift_ppm: self.drift_ppm,
            dies_at,
            hides: self.hides,
        })
    }
}

/// A sniffer: `true` for one that receives all, or how well it receives.
fn sniffer<'de, D: Deserializer<'de>>(input: D) -> Result<Option<SnifferConfig>, D::Error> {
    struct WhetherOrHow;

    impl<'de> Visitor<'de> for WhetherOrHow {
        type Value = Option<SnifferPlan>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("true, false, or a table of its faults")
        }

        fn visit_bool<E: Error>(self, whether: bool) -> Result<Self::Value, E> {
            Ok(whether.then(SnifferPlan::default))
        }

        fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
            SnifferPlan::deserialize(MapAccessDeserializer::new(map)).map(Some)
        }
    }

    let plan = input.deserialize_any(WhetherOrHow)?;
    plan.map(|plan| plan.config()).transpose().map_err(D::Error::custom)
}

fn some_time<'de, D: Deserializer<'de>>(input: D) -> Result<Option<Duration>, D::Error> {
    time::duration(input).map(Some)
}

fn method<'de, D: Deserializer<'de>>(input: D) -> Result<Option<Method>, D::Error> {
    #[derive(Deserialize)]
    #[serde(rename_all = "lowercase")]
    enum Word {
        Grants,
        Formula,
        Cqi,
        Cell,
    }
    Word::deserialize(input).map(|word| match word {
        Word::Grants => Some(Method::Grants),
        Word::Formula => Some(Method::Formula),
        Word::Cqi => Some(Method::Cqi),
        Word::Cell => Some(Method::Cell),
    })
}

#[derive(Default)]
struct Extra {
    name: Option<String>,
    count: Option<u16>,
    modem: Option<ModemPlan>,
    scatter: Option<Scatter>,
    shape: Option<ShapePlan>,
    beside: Option<String>,
}

impl Own for Extra {
    const KEYS: &'static [&'static str] = &["name", "count", "modem", "scatter", "shape", "beside"];

    fn take<'de, A: MapAccess<'de>>(&mut self, key: &str, map: &mut A) -> Result<(), A::Error> {
        match key {
            "name" => self.name = Some(map.next_value()?),
            "count" => self.count = Some(map.next_value()?),
            "modem" => self.modem = Some(map.next_value()?),
            "shape" => self.shape = Some(map.next_value()?),
            "beside" => self.beside = Some(map.next_value()?),
            _ => self.scatter = Some(map.next_value()?),
        }
        Ok(())
    }
}

impl<'de> Deserialize<'de> for DevicePlan {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        let (extra, config) = split::<Extra, DeviceConfig, D>(input)?;
        let Extra { name, count, modem, scatter, shape, beside } = extra;
        Ok(Self { name, count: count.unwrap_or(1), modem, scatter, shape, beside, config })
    }
}
