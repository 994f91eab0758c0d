//! All events of a network, as one stream: those that a modem logs, those that a sniffer receives,
//! and those that only the simulator knows.

use alloc::vec::Vec;

use arrayvec::ArrayVec;
pub use sounding_kpi::Direction;
use sounding_units::HostInstant;

use crate::bearer::{Passage, Pdu, Status};
pub use crate::ids::{CarrierId, DeviceId, SlotId};

/// A grant or an assignment on the PDCCH, for whomever.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Dci {
    /// The slot in which it was sent.
    pub sent_in: SlotId,
    /// The slot of its PDSCH or PUSCH.
    pub data_slot: u64,
    /// RNTI.
    pub rnti: u16,
    /// Uplink or downlink.
    pub direction: Direction,
    /// HARQ process.
    pub harq: u8,
    /// I_MCS.
    pub mcs: u8,
    /// Redundancy version.
    pub rv: u8,
    /// New data indicator.
    pub ndi: bool,
    /// Whether it repeats an earlier block.
    pub again: bool,
    /// Resource blocks.
    pub prb: u16,
    /// The first of them.
    pub first_prb: u16,
    /// Layers.
    pub layers: u8,
    /// Bytes of the block.
    pub size: u32,
}

/// A transport block of a watched device, one transmission of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Transmission {
    /// Where.
    pub slot: SlotId,
    /// Uplink or downlink.
    pub direction: Direction,
    /// HARQ process.
    pub harq: u8,
    /// Number of this transmission, 0 for the first.
    pub number: u8,
    /// Redundancy version.
    pub rv: u8,
    /// New data indicator.
    pub ndi: bool,
    /// I_MCS of the first transmission.
    pub mcs: u8,
    /// Resource blocks.
    pub prb: u16,
    /// The first of them.
    pub first_prb: u16,
    /// Layers.
    pub layers: u8,
    /// Bytes of the block, without its CRC.
    pub size: u32,
    /// Its padding bytes.
    pub padding: u32,
    /// Whether its CRC passed at the receiver.
    pub arrived: bool,
    /// SINR it was received with, in dB.
    pub sinr_db: f32,
    /// Transmit power of an uplink in dBm.
    pub power_dbm: f32,
    /// RLC PDUs in it.
    pub pdus: ArrayVec<Pdu, 2>,
    /// Buffer status report in it.
    pub report: Option<BufferReport>,
}

/// Why a buffer status report was sent (TS 36.321 §5.4.5, TS 38.321 §5.4.5).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReportCause {
    /// Data arrived at an empty buffer, or retxBSR-Timer expired.
    Regular,
    /// periodicBSR-Timer expired.
    Periodic,
    /// There was room.
    Padding,
}

/// A buffer status report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BufferReport {
    /// When it was written: its block may be sent again.
    pub at: HostInstant,
    /// Why.
    pub cause: ReportCause,
    /// Index into the table of the RAT: TS 36.321 Table 6.1.3.1-1 or TS 38.321 Table 6.1.3.1-1.
    pub index: u8,
    /// The true backlog, in bytes.
    pub waiting: u64,
}

/// A device's measurements for the network.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ChannelReport {
    /// Where.
    pub slot: SlotId,
    /// Wideband CQI, 0..=15.
    pub cqi: u8,
    /// Rank.
    pub rank: u8,
}

/// A device's measurements for its own use.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Signal {
    /// When.
    pub at: HostInstant,
    /// The carrier.
    pub carrier: CarrierId,
    /// RSRP in dBm.
    pub rsrp_dbm: f32,
    /// RSRQ in dB.
    pub rsrq_db: f32,
    /// SINR in dB.
    pub sinr_db: f32,
}

/// A change that RRC commands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rrc {
    /// The connection was set up.
    Setup,
    /// A secondary carrier is activated; it can be used from `usable` on.
    Activated {
        /// The carrier.
        carrier: CarrierId,
        /// The start.
        usable: HostInstant,
    },
    /// A secondary carrier is deactivated.
    Deactivated {
        /// The carrier.
        carrier: CarrierId,
    },
    /// A secondary group of NR is added to LTE; its first carrier can be used from `usable` on.
    SecondaryAdded {
        /// The carrier.
        carrier: CarrierId,
        /// The start.
        usable: HostInstant,
    },
    /// The device has lost the secondary group and reports that.
    SecondaryFailed {
        /// Its first carrier.
        carrier: CarrierId,
    },
    /// The secondary group is released.
    SecondaryReleased {
        /// Its first carrier.
        carrier: CarrierId,
    },
    /// The device is commanded to another cell; it is back at `resumes`.
    Handover {
        /// The primary carrier it leaves.
        from: CarrierId,
        /// The primary carrier it goes to.
        to: CarrierId,
        /// End of the interruption.
        resumes: HostInstant,
    },
    /// The connection was released.
    Released,
}

/// The use of a slot of a carrier's downlink: the truth for evaluation, which no device knows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SlotUse {
    /// The slot.
    pub slot: SlotId,
    /// Resource blocks of the carrier.
    pub prb: u16,
    /// Resource blocks of control traffic.
    pub control_prb: u16,
    /// The devices that could use the carrier and had work, in order.
    pub users: Vec<UserShare>,
}

/// A device's part of a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UserShare {
    /// The device.
    pub device: DeviceId,
    /// Resource blocks, repetitions of HARQ included.
    pub prb: u16,
    /// Whether data waited for it when the slot began.
    pub waits: bool,
}

impl SlotUse {
    /// Resource blocks of no user.
    pub fn idle_prb(&self) -> u16 {
        let used =
            self.users.iter().map(|user| user.prb).fold(self.control_prb, u16::saturating_add);
        self.prb.saturating_sub(used)
    }

    /// Devices with data that waited.
    pub fn backlogged(&self) -> usize {
        self.users.iter().filter(|user| user.waits).count()
    }
}

/// One thing that happened.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// On a PDCCH; of all users if the network is sniffed, else of watched devices.
    Dci(Dci),
    /// A block of a watched device.
    Transmission(DeviceId, Transmission),
    /// HARQ feedback for a downlink block.
    Feedback {
        /// The device.
        device: DeviceId,
        /// In which slot.
        slot: SlotId,
        /// For which process.
        harq: u8,
        /// Whether the block arrived.
        ack: bool,
    },
    /// A scheduling request.
    SchedulingRequest {
        /// The device.
        device: DeviceId,
        /// In which slot.
        slot: SlotId,
    },
    /// CSI.
    Channel(DeviceId, ChannelReport),
    /// RLC status PDU for the bearer of `direction`.
    Status {
        /// The device.
        device: DeviceId,
        /// When it was received.
        at: HostInstant,
        /// The direction of the data it is about.
        direction: Direction,
        /// Its contents.
        status: Status,
    },
    /// A measurement.
    Signal(DeviceId, Signal),
    /// RRC.
    Rrc {
        /// The device.
        device: DeviceId,
        /// When.
        at: HostInstant,
        /// The change.
        change: Rrc,
    },
    /// The use of a slot of the downlink, if the network's use is [shown](crate::Ran::show_use).
    Use(SlotUse),
    /// A packet was handed on: the truth about its delay.
    Passage {
        /// The device.
        device: DeviceId,
        /// The direction.
        direction: Direction,
        /// When it passed where.
        passage: Passage,
    },
}
