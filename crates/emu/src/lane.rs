//! One way of one device: what became of its packets, and when.

use std::io;
use std::os::fd::OwnedFd;
use std::time::Duration;

use nix::errno::Errno;
use sounding_host::monotonic_now;
use sounding_sim::{Carried, Device, Lost, Port};
use sounding_units::HostInstant;

use crate::gso::Run;
use crate::{Direction, DirectionReport, Outcome, PacketRecord, Slot, burst};

/// Start of a network's time, on the clock.
#[derive(Clone, Copy)]
pub(crate) struct Clock {
    pub(crate) started: HostInstant,
}

impl Clock {
    /// The network's time now.
    pub(crate) fn now(self) -> HostInstant {
        HostInstant::default() + (monotonic_now() - self.started)
    }

    /// A moment of the network by the clock.
    pub(crate) fn host(self, at: HostInstant) -> HostInstant {
        self.started + (at - HostInstant::default())
    }
}

/// One way of one device.
pub(crate) struct Lane {
    pub(crate) port: Port,
    pub(crate) direction: Direction,
    pub(crate) report: DirectionReport,
    /// When the packet before was due, and how many were due then so far.
    moment: (HostInstant, u64),
    /// Whether the kernel takes superpackets of UDP; since Linux 6.2 it does.
    takes_udp: bool,
}

impl Lane {
    /// The ways of a device in the order of its TUN devices.
    pub(crate) fn both(device: Device) -> [Self; 2] {
        let lane = |port, direction| {
            let report = DirectionReport::default();
            Self { port, direction, report, moment: (HostInstant::default(), 0), takes_udp: true }
        };
        [lane(Port::up(device), Direction::Uplink), lane(Port::down(device), Direction::Downlink)]
    }

    /// The report at the end.
    pub(crate) fn into_report(self) -> DirectionReport {
        let mut report = self.report;
        // Each packet that entered the network and has not left is inside.
        report.queued = report.arrived
            - (report.delivered + report.dropped + report.refused + report.unbuffered);
        report.queued_bytes = report.arrived_bytes
            - report.delivered_bytes
            - report.dropped_bytes
            - report.refused_bytes;
        report
    }

    /// The number of packets due at this moment of the network that are delivered.
    pub(crate) fn delivered_of(&self, clock: Clock, due: HostInstant) -> u64 {
        let (moment, count) = self.moment;
        if moment == clock.host(due) { count } else { 0 }
    }

    /// Writes a superpacket. Returns whether the device accepted it: if not, no part of it was
    /// accepted.
    pub(crate) fn write_together<'a>(
        &mut self,
        tun: &OwnedFd,
        run: &Run,
        packets: impl Iterator<Item = &'a [u8]>,
    ) -> bool {
        if run.is_udp() && !self.takes_udp {
            return false;
        }
        let written = burst::write_together(tun, run, packets);
        if written == Err(Errno::EINVAL) && run.is_udp() {
            // Superpackets are not tried again, because each refusal costs a copy.
            self.takes_udp = false;
        }
        written.is_ok()
    }

    /// A packet has been handed to the device at `now`, or refused.
    pub(crate) fn settle(
        &mut self,
        clock: Clock,
        carried: Carried<Slot>,
        now: HostInstant,
        written: Result<(), Errno>,
    ) -> io::Result<PacketRecord> {
        let due = clock.host(carried.exits);
        let outcome = match written {
            Ok(()) => {
                self.report.delivered += 1;
                self.report.delivered_bytes += carried.size;
                let queueing = carried.left - carried.joined;
                self.report.queueing = self.report.queueing.saturating_add(queueing);
                self.record_lateness(due, now - due);
                Outcome::Delivered {
                    joined: clock.host(carried.joined),
                    left: clock.host(carried.left),
                    due,
                    written: now,
                }
            }
            // EIO: the device was set down. EINVAL: no IP packet. The rest: no memory or no room.
            Err(
                Errno::EIO
                | Errno::EINVAL
                | Errno::EAGAIN
                | Errno::ENOBUFS
                | Errno::ENOMEM
                | Errno::EINTR,
            ) => {
                self.report.refused += 1;
                self.report.refused_bytes += carried.size;
                Outcome::Refused { at: now }
            }
            Err(error) => return Err(error.into()),
        };
        Ok(PacketRecord {
            device: self.port.device,
            direction: self.direction,
            size: carried.size,
            flow: carried.payload.flow,
            entered: clock.host(carried.entered),
            outcome,
        })
    }

    fn record_lateness(&mut self, due: HostInstant, late: Duration) {
        self.report.lateness.record(late);
        let (moment, before) = self.moment;
        let at_once = if due == moment { before + 1 } else { 1 };
        self.moment = (due, at_once);
        if at_once == 1 {
            self.report.first_lateness.record(late);
        }
        self.report.most_at_once = self.report.most_at_once.max(at_once);
    }

    /// The network has lost a packet.
    pub(crate) fn settle_lost(&mut self, clock: Clock, lost: Lost<Slot>) -> PacketRecord {
        self.report.dropped += 1;
        self.report.dropped_bytes += lost.size;
        PacketRecord {
            device: self.port.device,
            direction: self.direction,
            size: lost.size,
            flow: lost.payload.flow,
            entered: clock.host(lost.entered),
            outcome: Outcome::Dropped { at: clock.host(lost.dropped) },
        }
    }
}

#[cfg(test)]
mod tests {
    use nix::sys::epoll::{Epoll, EpollCreateFlags};

    use super::*;
    use crate::gso::tests::Packet;
    use crate::gso::{Kind, Run};

    fn run(packets: &[Vec<u8>]) -> Run {
        let mut segments = packets.iter().map(|packet| match Kind::of(packet) {
            Kind::Segment(segment) => segment,
            Kind::Whole(_) => panic!("not a segment: {packet:?}"),
        });
        let mut run = Run::new(segments.next().expect("there are packets"));
        for (packet, segment) in packets[1..].iter().zip(segments) {
            assert!(run.append(&packets[0], packet, &segment));
        }
        run
    }

    #[test]
    fn a_kernel_that_refuses_superpackets_of_udp_is_asked_once_and_for_tcp_each_time() {
        // Writing fails with EINVAL, as on a TUN device that does not know a kind of superpacket.
        let device = Epoll::new(EpollCreateFlags::empty()).expect("an epoll").0;
        let datagrams = [1, 2].map(|id| Packet::udp(id, vec![1; 100]).bytes());
        let segments = [0, 1].map(|at| Packet::tcp(at, u32::from(at) * 100, vec![1; 100]).bytes());
        let [mut lane, _] = Lane::both(Device(0));
        let mut is_asked = |packets: &[Vec<u8>]| {
            let mut asked = false;
            let handed = packets.iter().map(|packet| {
                asked = true;
                &packet[..]
            });
            assert!(!lane.write_together(&device, &run(packets), handed));
            asked
        };
        assert_eq!([is_asked(&datagrams), is_asked(&datagrams)], [true, false]);
        assert_eq!([is_asked(&segments), is_asked(&segments)], [true, true]);
    }
}
