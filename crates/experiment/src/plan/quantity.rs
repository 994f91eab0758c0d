//! Rates in plans.

use serde::de::{Deserializer, Error};
use sounding_cell::quantity::Text;
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

/// Name of the only controller that knows the truth; it is not in the registry.
pub const ORACLE: &str = "oracle";
