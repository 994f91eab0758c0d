//! Sizes of transfers, and the part of a load that each has.

use std::time::Duration;

use serde::Deserialize;
use sounding_cell::quantity as time;
use sounding_units::{Bytes, Rate};

/// The size of a transfer, and the part of the load of such transfers.
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

/// The expected number of transfers; an error if the parts are invalid.
pub(super) fn expected(load: Rate, sizes: &[Portion], span: Duration) -> Result<f64, &'static str> {
    let parts: f64 = sizes.iter().map(|portion| portion.1).sum();
    if sizes.iter().any(|&Portion(size, part)| size == Bytes::ZERO || !(0.0..=1.0).contains(&part))
        || (parts - 1.0).abs() > 1e-6
    {
        return Err("each size is above zero, and the parts of the load are 1 together");
    }
    Ok(sizes.iter().map(|&portion| per_sec(load, portion)).sum::<f64>() * span.as_secs_f64())
}
