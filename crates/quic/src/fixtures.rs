//! What several tests have in common.

use core::time::Duration;

use sounding_kpi::Direction;
use sounding_link::{Bound, LinkEstimate, Source, State};
use sounding_units::Rate;

/// An uplink's capacity, read from grants just now.
pub(crate) fn estimate(rate: Rate) -> LinkEstimate {
    LinkEstimate {
        direction: Direction::Uplink,
        rate,
        bound: Bound::Capacity,
        age: Duration::ZERO,
        valid_for: Duration::from_millis(200),
        backlog: None,
        state: State::Active,
        source: Source::Grants,
        fair: None,
        own_blocks: None,
    }
}
