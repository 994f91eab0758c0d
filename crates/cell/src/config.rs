//! The parts of a network. Every part has defaults that a commercial network would recognise.

mod bearer;
mod carrier;
mod device;
mod mobility;
mod transmission;
mod uplink;

pub use bearer::{RlcConfig, RlcMode};
pub(crate) use carrier::SUB_BANDS;
pub use carrier::{CarrierConfig, Policy};
pub use device::DeviceConfig;
pub use mobility::{AggregationConfig, DualConfig, HandoverConfig, PrimaryPath, SleepConfig};
pub use transmission::{HarqConfig, HarqPreset, PowerConfig};
pub use uplink::{NetworkKind, UplinkConfig};

use serde::Deserialize;

use crate::frame::PatternError;
use crate::radio;

/// LTE or NR.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Rat {
    /// TS 36 series.
    Lte,
    /// TS 38 series.
    Nr,
}

/// A network that cannot be built, and why.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InvalidConfig {
    /// A setting outside its range.
    Value(radio::InvalidConfig),
    /// A TDD pattern.
    Pattern(PatternError),
    /// A device names an unknown carrier.
    NoCarrier(usize),
    /// A device has no cell, or a cell no carrier.
    NoCell,
    /// More carriers or devices than can be numbered.
    TooMany,
}

impl core::fmt::Display for InvalidConfig {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::Value(value) => value.fmt(f),
            Self::Pattern(pattern) => write!(f, "carrier.tdd: {pattern}"),
            Self::NoCarrier(number) => write!(f, "device.cells: there is no carrier {number}"),
            Self::NoCell => f.write_str("device.cells: needs a cell, and each cell a carrier"),
            Self::TooMany => f.write_str("more than 255 carriers or 15000 devices"),
        }
    }
}

impl core::error::Error for InvalidConfig {}

impl From<radio::InvalidConfig> for InvalidConfig {
    fn from(value: radio::InvalidConfig) -> Self {
        Self::Value(value)
    }
}

impl From<PatternError> for InvalidConfig {
    fn from(pattern: PatternError) -> Self {
        Self::Pattern(pattern)
    }
}
