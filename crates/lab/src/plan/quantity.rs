//! Rates, courses of links and names in plans.

use serde::de::{Deserialize, Deserializer, Error};
use sounding_units::Rate;

/// A rate: `"20Mbit"`.
pub(super) fn rate<'de, D: Deserializer<'de>>(input: D) -> Result<Rate, D::Error> {
    let text = String::deserialize(input)?;
    text.parse().map_err(|error| D::Error::custom(format_args!("{text:?} is no rate: {error}")))
}

/// What the one controller is called that is told the truth; it is not in the registry.
pub const ORACLE: &str = "oracle";

/// The name of a controller.
pub(super) fn controller<'de, D: Deserializer<'de>>(input: D) -> Result<String, D::Error> {
    let name = String::deserialize(input)?;
    if name != ORACLE && sounding_cc::by_name(&name).is_none() {
        let known: Vec<_> =
            sounding_cc::names().chain([ORACLE]).map(|name| format!("`{name}`")).collect();
        let known = known.join(", ");
        return Err(D::Error::custom(format_args!(
            "unknown controller `{name}`, there are {known}"
        )));
    }
    Ok(name)
}
