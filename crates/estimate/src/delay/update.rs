use alloc::vec::Vec;

use sounding_units::HostInstant;

use super::RanDelay;

/// What a modem newly shows of the delays that its radio made, on one clock.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DelayUpdate {
    /// New events of both directions, in any order. One of the same direction, kind and begin replaces
    /// an earlier one.
    pub events: Vec<RanDelay>,
    /// All events of the uplink up to this time are known; `None` if nothing is.
    pub up_until: Option<HostInstant>,
    /// All events of the downlink up to this time are known; `None` if nothing is.
    pub down_until: Option<HostInstant>,
    /// When the host that has the update heard of the modem's newest record, on its own clock. A way
    /// from the modem's host is no silence, however long it is.
    pub heard_at: HostInstant,
}

impl DelayUpdate {
    /// Moves all times of events to another clock. `heard_at` stays.
    #[must_use]
    pub fn on_clock(mut self, clock: impl Fn(HostInstant) -> HostInstant) -> Self {
        for event in &mut self.events {
            (event.from, event.to) = (clock(event.from), clock(event.to));
        }
        self.up_until = self.up_until.map(&clock);
        self.down_until = self.down_until.map(&clock);
        self
    }
}
