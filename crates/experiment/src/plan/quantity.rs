//! Rates, queues and losses in plans.

use serde::Deserialize;
use serde::de::{Deserializer, Error};
use sounding_cell::quantity::Text;
use sounding_sim::{Losses, QueueLimit};
use sounding_units::Rate;

/// The text of a rate.
const RATE: Text = Text { noun: "a rate", examples: ["Mbit", "kbit"] };

/// A given link: a rate, rates over time, or the name of a file.
pub(super) fn link<'de, D: Deserializer<'de>>(input: D) -> Result<String, D::Error> {
    input.deserialize_any(RATE)
}

/// A rate: `"20Mbit"`.
pub(super) fn rate<'de, D: Deserializer<'de>>(input: D) -> Result<Rate, D::Error> {
    let text = input.deserialize_any(RATE)?;
    text.parse().map_err(|error| D::Error::custom(format_args!("{text:?} is not a rate: {error}")))
}

/// A queue: `"codel:target=5ms"`.
pub(super) fn queue<'de, D: Deserializer<'de>>(input: D) -> Result<Option<QueueLimit>, D::Error> {
    String::deserialize(input)?.parse().map(Some).map_err(D::Error::custom)
}

/// A share of packets: `0.01`.
pub(super) fn share<'de, D: Deserializer<'de>>(input: D) -> Result<Option<f64>, D::Error> {
    let share = f64::deserialize(input)?;
    if !(0.0..=1.0).contains(&share) {
        return Err(D::Error::custom(format_args!("{share} is no share of packets from 0 to 1")));
    }
    Ok(Some(share))
}

/// Times with and without losses: `"5s,1s"`.
pub(super) fn outages<'de, D: Deserializer<'de>>(input: D) -> Result<Option<Losses>, D::Error> {
    Losses::outages(&String::deserialize(input)?).map(Some).map_err(D::Error::custom)
}

/// Name of the only controller that knows the truth; it is not in the registry.
pub const ORACLE: &str = "oracle";
