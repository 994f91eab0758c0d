use alloc::vec::Vec;
use core::time::Duration;

use sounding_units::HostInstant;

use super::RanDelay;

/// What a modem newly shows of the delays that its radio made, on one clock.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct DelayUpdate {
    /// New events of both directions, in any order. One of the same direction, kind and begin
    /// replaces an earlier one.
    pub events: Vec<RanDelay>,
    /// All events of the uplink up to this time are known; `None` if nothing is.
    pub up_until: Option<HostInstant>,
    /// All events of the downlink up to this time are known; `None` if nothing is.
    pub down_until: Option<HostInstant>,
    /// When the host that has the update heard of the modem's newest record, on its own clock. A
    /// way from the modem's host is no silence, however long it is.
    pub heard_at: HostInstant,
    /// Between two periodic reports of the buffer's status (periodicBSR-Timer, Gandalf §B.2);
    /// `None` while it is not known.
    pub report_interval: Option<Duration>,
}

impl DelayUpdate {
    /// Events that a record showed at this time; no time up to which all are known.
    pub const fn new(heard_at: HostInstant, events: Vec<RanDelay>) -> Self {
        Self { events, up_until: None, down_until: None, heard_at, report_interval: None }
    }

    /// The same with other events.
    #[must_use]
    pub const fn with_events(&self, events: Vec<RanDelay>) -> Self {
        let Self { up_until, down_until, heard_at, report_interval, .. } = *self;
        Self { events, up_until, down_until, heard_at, report_interval }
    }

    setters! {
        with_up_until: up_until, Option<HostInstant>;
        with_down_until: down_until, Option<HostInstant>;
        with_heard_at: heard_at, HostInstant;
        with_report_interval: report_interval, Option<Duration>;
    }

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
