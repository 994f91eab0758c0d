//! A device's data radio bearer, both directions of it.

use sounding_kpi::Direction;
use sounding_units::HostInstant;

use crate::bearer::Bearer;
use crate::config::RlcConfig;

/// Assumed size of a status PDU before it is written.
const STATUS_SIZE: u64 = 10;

/// Both directions of a bearer. Traffic of a background user has no payload.
#[derive(Debug)]
pub(crate) struct Bearers<P> {
    pub(crate) downlink: Bearer<Option<P>>,
    pub(crate) uplink: Bearer<Option<P>>,
}

impl<P> Bearers<P> {
    pub(crate) fn new(downlink: RlcConfig, uplink: RlcConfig) -> Self {
        Self { downlink: Bearer::new(downlink), uplink: Bearer::new(uplink) }
    }

    pub(crate) fn of(&self, direction: Direction) -> &Bearer<Option<P>> {
        match direction {
            Direction::Downlink => &self.downlink,
            Direction::Uplink => &self.uplink,
        }
    }

    pub(crate) fn of_mut(&mut self, direction: Direction) -> &mut Bearer<Option<P>> {
        match direction {
            Direction::Downlink => &mut self.downlink,
            Direction::Uplink => &mut self.uplink,
        }
    }

    /// Whether anything is queued, in flight or due.
    pub(crate) fn is_busy(&self) -> bool {
        self.downlink.is_busy() || self.uplink.is_busy()
    }

    #[inline]
    pub(crate) fn has_fates(&self) -> bool {
        self.downlink.has_fates() || self.uplink.has_fates()
    }

    /// Bytes that the downlink has to send, the status of the uplink's data included.
    pub(crate) fn downlink_demand(&self, now: HostInstant) -> u64 {
        self.downlink.demand() + if self.uplink.owes_status(now) { STATUS_SIZE } else { 0 }
    }

    /// Bytes that the device has to send, the status of the downlink's data included.
    pub(crate) fn uplink_demand(&self, now: HostInstant) -> u64 {
        self.uplink.demand() + if self.downlink.owes_status(now) { STATUS_SIZE } else { 0 }
    }
}
