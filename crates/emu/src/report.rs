use std::time::Duration;

use sounding_sim::Device;
use sounding_units::{Bytes, HostInstant};

use crate::{ClockLag, Lateness, PacketRecord};

/// The report of an emulation.
#[derive(Debug)]
pub struct Report {
    /// When the links began.
    pub started: HostInstant,
    /// Duration of the run.
    pub ran: Duration,
    /// From near to far, all devices together.
    pub up: DirectionReport,
    /// From far to near, all devices together.
    pub down: DirectionReport,
    /// Each device that had a host.
    pub devices: Vec<DeviceReport>,
    /// How well the network kept up with the clock.
    pub pace: ClockLag,
    /// Pieces of modem output that were not taken fast enough.
    pub diag_lost: u64,
    /// How the thread that moved packets was scheduled.
    pub scheduling: Scheduling,
    /// CPU time of the thread that moved packets.
    pub cpu: Duration,
    /// How often that thread slept.
    pub sleeps: u64,
    /// The fate of each packet, in the order in which it was settled; empty unless requested.
    pub records: Vec<PacketRecord>,
    /// Records and log lines that were lost because they could not be taken away fast enough.
    pub records_lost: u64,
}

impl Report {
    /// Whether anything but the queue of a link lost packets: then the figures are not those of the
    /// model.
    pub fn has_foreign_loss(&self) -> bool {
        [&self.up, &self.down]
            .iter()
            .any(|way| way.refused + way.unbuffered + way.kernel.total() > 0)
    }
}

/// Both ways of one device.
#[derive(Clone, Debug)]
pub struct DeviceReport {
    /// The device.
    pub device: Device,
    /// From it.
    pub up: DirectionReport,
    /// To it.
    pub down: DirectionReport,
}

/// One direction: `arrived = delivered + dropped + refused + unbuffered + queued`.
#[derive(Clone, Debug, Default)]
pub struct DirectionReport {
    /// Packets read from the sender's device.
    pub arrived: u64,
    /// Their bytes of IP.
    pub arrived_bytes: Bytes,
    /// Packets handed to the receiver's kernel.
    pub delivered: u64,
    /// Their bytes of IP.
    pub delivered_bytes: Bytes,
    /// The times together that they waited for the bottleneck and were carried by it.
    pub queueing: Duration,
    /// The part of these packets that were written as segments of a superpacket.
    pub coalesced: u64,
    /// Packets that the network dropped: the full queue of a link, or a base station or modem that
    /// gave up.
    pub dropped: u64,
    /// Their bytes of IP.
    pub dropped_bytes: Bytes,
    /// Packets that the receiver's device refused.
    pub refused: u64,
    /// Their bytes of IP.
    pub refused_bytes: Bytes,
    /// Packets dropped because more were inside than there are buffers.
    pub unbuffered: u64,
    /// Packets still inside when the emulation ended.
    pub queued: u64,
    /// Their bytes of IP.
    pub queued_bytes: Bytes,
    /// Drops of the kernel outside the emulation.
    pub kernel: KernelDrops,
    /// How late packets were.
    pub lateness: Lateness,
    /// Lateness of the first packet of those due at one moment. The others are later by the
    /// receiver kernel's work on those before them.
    pub first_lateness: Lateness,
    /// The most packets that were due at one moment.
    pub most_at_once: u64,
}

impl DirectionReport {
    /// Adds the counts of another device.
    pub(crate) fn add(&mut self, other: &Self) {
        self.arrived += other.arrived;
        self.arrived_bytes += other.arrived_bytes;
        self.delivered += other.delivered;
        self.delivered_bytes += other.delivered_bytes;
        self.queueing = self.queueing.saturating_add(other.queueing);
        self.coalesced += other.coalesced;
        self.dropped += other.dropped;
        self.dropped_bytes += other.dropped_bytes;
        self.refused += other.refused;
        self.refused_bytes += other.refused_bytes;
        self.unbuffered += other.unbuffered;
        self.queued += other.queued;
        self.queued_bytes += other.queued_bytes;
        self.kernel.before_link += other.kernel.before_link;
        self.kernel.after_link += other.kernel.after_link;
        self.lateness.add(&other.lateness);
        self.first_lateness.add(&other.first_lateness);
        self.most_at_once = self.most_at_once.max(other.most_at_once);
    }
}

/// Packets dropped by the kernel at the two devices of a direction; zero unless the machine is far
/// too slow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KernelDrops {
    /// Packets dropped before the link: the queue of the sender's device was full.
    pub before_link: u64,
    /// After the link: the receiver's kernel did not take the packet from its device.
    pub after_link: u64,
}

impl KernelDrops {
    /// Both together.
    pub fn total(self) -> u64 {
        self.before_link + self.after_link
    }
}

/// How the thread that moves packets is scheduled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Scheduling {
    /// Ahead of every ordinary thread.
    Fifo {
        /// SCHED_FIFO priority, 1..=99.
        priority: u8,
    },
    /// Like any other: timing then depends on the machine's load.
    Normal {
        /// Why.
        why: String,
    },
}
