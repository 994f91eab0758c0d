//! Rates in plans.

use serde::de::{Deserialize, Deserializer, Error};
use sounding_units::Rate;

/// A rate: `"20Mbit"`.
pub(super) fn rate<'de, D: Deserializer<'de>>(input: D) -> Result<Rate, D::Error> {
    let text = String::deserialize(input)?;
    text.parse().map_err(|error| D::Error::custom(format_args!("{text:?} is not a rate: {error}")))
}

/// Name of the only controller that knows the truth; it is not in the registry.
pub const ORACLE: &str = "oracle";
