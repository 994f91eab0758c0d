//! Words of the command line and of configuration files, and what they stand for.

use std::io;

use clap::ValueEnum;
use serde::Deserialize;
use sounding_kpi::Direction;
use sounding_link::Method;

/// Which way the data goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum DirectionWord {
    /// Device to network
    Uplink,
    /// Network to device
    Downlink,
}

impl From<DirectionWord> for Direction {
    fn from(word: DirectionWord) -> Self {
        match word {
            DirectionWord::Uplink => Self::Uplink,
            DirectionWord::Downlink => Self::Downlink,
        }
    }
}

/// How granted bytes are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum MethodWord {
    /// Sizes of the granted transport blocks, summed
    Grants,
    /// Resource blocks × table row × layers (BISCAY, Equation 1)
    Formula,
}

impl From<MethodWord> for Method {
    fn from(word: MethodWord) -> Self {
        match word {
            MethodWord::Grants => Self::Grants,
            MethodWord::Formula => Self::Formula,
        }
    }
}

/// What an estimate means.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum BoundWord {
    /// Judge whether the device had more to send than it was granted
    Auto,
    /// Take every estimate for all that the radio had
    Capacity,
}

/// Why a modem may be read late.
pub(crate) fn no_priority(refused: &io::Error) -> String {
    format!(
        "no real-time priority ({refused}): on a busy machine the modem is read late; run as root, or give CAP_SYS_NICE"
    )
}
