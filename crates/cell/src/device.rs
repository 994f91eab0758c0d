//! A device: its bearers, and its leg on each carrier.

use alloc::vec::Vec;

use rand_chacha::ChaCha8Rng;
use sounding_units::HostInstant;

use crate::bearer::Bearer;
use crate::buffer_status::{Asking, Belief};
use crate::config::DeviceConfig;
use crate::dual::Secondary;
use crate::leg::Leg;
use crate::mobility::{Attention, Handover};
use crate::radio::Trajectory;
use crate::traffic::Source;

/// A device and all that the network keeps of it.
#[derive(Debug)]
pub(crate) struct Device<P> {
    pub(crate) config: DeviceConfig,
    pub(crate) downlink: Bearer<Option<P>>,
    pub(crate) uplink: Bearer<Option<P>>,
    pub(crate) asking: Asking,
    pub(crate) belief: Belief,
    pub(crate) legs: Vec<Leg>,
    /// Where it is.
    pub(crate) place: Trajectory,
    /// The cell it is on, and its primary leg there.
    pub(crate) serving: usize,
    pub(crate) primary: usize,
    pub(crate) secondary: Secondary,
    pub(crate) handover: Handover,
    /// Handovers of the script that are done.
    pub(crate) scripted: usize,
    pub(crate) attention: Attention,
    pub(crate) source: Option<Source>,
    pub(crate) rng: ChaCha8Rng,
    pub(crate) aggregation: Aggregation,
    /// Whether its blocks, reports and signalling become events.
    pub(crate) watched: bool,
    /// Whether it is among the active ones of its carriers.
    pub(crate) active: bool,
    /// Cut off by a handover until then.
    pub(crate) away_until: HostInstant,
    /// When neighbours are measured and the signal is told next.
    pub(crate) next_measured: HostInstant,
}

/// When secondary carriers are wanted.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Aggregation {
    /// More than the threshold has waited since.
    pub(crate) crowded_since: Option<HostInstant>,
}

impl<P> Device<P> {
    /// Whether anything waits, is under way or is owed.
    pub(crate) fn is_busy(&self) -> bool {
        self.downlink.is_busy()
            || self.uplink.is_busy()
            || !self.belief.is_empty()
            || self
                .legs
                .iter()
                .any(|leg| leg.down.processes.is_busy() || leg.up.processes.is_busy())
    }

    /// Whether anything may happen to it in the next slot. One on several carriers is looked at in each.
    pub(crate) fn is_active(&self) -> bool {
        self.legs.len() > 1
            || self.is_busy()
            || self.downlink.demand() > 0
            || self.uplink.demand() > 0
            || self.asking.requests()
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

/// What a status PDU is taken for before it is written.
const STATUS_SIZE: u64 = 10;
