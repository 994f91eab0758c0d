//! What several tests have in common.

use sounding_kpi::Direction;
use sounding_link::{Bound, LinkEstimate};
use sounding_units::Rate;

/// An uplink's capacity, read from grants just now.
pub(crate) fn estimate(rate: Rate) -> LinkEstimate {
    LinkEstimate::new(Direction::Uplink, rate, Bound::Capacity)
}
