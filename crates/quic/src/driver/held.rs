//! Acknowledgements that wait until it is known when the receiver got their packets.
//!
//! The datagram with the times comes after the acknowledgement, because an application reads it.
//! While such datagrams come, the controller receives each acknowledgement with the receiver's
//! stamps, in as many parts as the stamps differ. An acknowledgement that covers 20 ms at once
//! shows 20 readings of the receiver's clock then. It is [`HOLD`] late at most.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use sounding_cc::{Ack, Controller, Delivered, Departure, Stamp};
use sounding_estimate::delay::SILENT;
use sounding_units::{Bytes, HostInstant};

use crate::PeerTimes;
use crate::flights::Flights;

/// Chosen: ten intervals of datagrams.
const HOLD: Duration = Duration::from_millis(50);
/// Packets whose time is remembered, and that wait.
const KEPT: usize = 8192;
/// The receiver's clock is fitted anew where it is so far off: its packets cannot arrive after
/// their acknowledgement, nor so long before.
const AHEAD: i128 = 100_000_000;
const BEHIND: i128 = 2_000_000_000;
/// The tick of the stamps: that of TCP's in Linux, which the laws are made for.
const TICK: Duration = Duration::from_millis(1);

#[derive(Debug)]
pub(super) struct Held {
    times: PeerTimes,
    version: u64,
    heard_at: Option<HostInstant>,
    /// Whether the receiver's datagrams come, as far as is known: where no packet arrives there is
    /// none.
    speaks: bool,
    /// By number: the receiver's clock in us, and whether an acknowledged packet was found to be
    /// it.
    known: BTreeMap<u64, (u64, bool)>,
    /// Receiver's clock to this host's, ns: such that the first packet arrived when its
    /// acknowledgement did. One-way delays are those of both ways then, and only their changes
    /// are meaningful.
    offset: Option<i128>,
    /// Packets of the acknowledgement that is being reported, and of those that wait.
    packets: VecDeque<Packet>,
    waiting: VecDeque<Waiting>,
    /// Of `packets`, those that belong to `waiting`.
    counted: usize,
}

#[derive(Clone, Copy, Debug)]
struct Packet {
    left: HostInstant,
    size: Bytes,
    sent: Departure,
    /// Its number, or those that left together with it.
    numbers: (u64, u64),
    /// On the receiver's clock, us.
    arrived: Option<u64>,
}

#[derive(Clone, Copy, Debug)]
struct Waiting {
    ack: Ack,
    packets: usize,
}

impl Held {
    pub(super) fn new(times: PeerTimes) -> Self {
        Self {
            times,
            version: 0,
            heard_at: None,
            speaks: false,
            known: BTreeMap::new(),
            offset: None,
            packets: VecDeque::new(),
            waiting: VecDeque::new(),
            counted: 0,
        }
    }

    /// The same connection on another path.
    pub(super) fn renewed(&self) -> Self {
        Self::new(self.times.clone())
    }

    /// From the receiver's clock to this host's, in nanoseconds, while it is known.
    pub(super) fn offset(&self) -> Option<i128> {
        self.offset
    }

    /// Takes in what datagrams said. Whether something is new.
    fn read(&mut self) -> bool {
        let Some(inbox) = self.times.take(&mut self.version) else { return false };
        (self.heard_at, self.speaks) = (inbox.heard_at, true);
        for arrived in inbox.arrived {
            self.known.entry(arrived.number).or_insert((arrived.at, false));
            if self.known.len() > KEPT {
                self.known.pop_first();
            }
        }
        true
    }

    /// A packet of the acknowledgement that is being reported.
    pub(super) fn handle_acked(
        &mut self,
        left: HostInstant,
        size: Bytes,
        sent: Departure,
        number: Option<u64>,
        flights: &Flights,
    ) {
        // More than a stack acknowledges at once.
        if self.packets.len() >= 2 * KEPT {
            return;
        }
        // An unknown packet has no number.
        let numbers = match number {
            Some(number) => (number, number),
            None => flights.numbers(left).unwrap_or((u64::MAX, 0)),
        };
        self.packets.push_back(Packet { left, size, sent, numbers, arrived: None });
    }

    /// The acknowledgement of those packets.
    pub(super) fn handle_ack(
        &mut self,
        now: HostInstant,
        ack: Ack,
        controller: &mut dyn Controller,
    ) {
        let packets = self.packets.len() - self.counted;
        self.counted += packets;
        self.waiting.push_back(Waiting { ack, packets });
        self.read();
        self.find();
        self.release(now, controller, self.packets.len() > KEPT);
    }

    /// There is no acknowledgement of those packets after all.
    pub(super) fn drop_ack(&mut self, now: HostInstant, controller: &mut dyn Controller) {
        for packet in self.packets.drain(self.counted..) {
            let Packet { size, sent, .. } = packet;
            controller.handle_delivered(&Delivered { now, size, sent });
        }
    }

    /// Time passes.
    pub(super) fn handle_time(&mut self, now: HostInstant, controller: &mut dyn Controller) {
        if self.read() {
            self.find();
        }
        self.release(now, controller, false);
    }

    /// All waiting packets go on, with the times that are known.
    pub(super) fn flush(&mut self, now: HostInstant, controller: &mut dyn Controller) {
        self.release(now, controller, true);
    }

    /// Finds the times of the packets that wait. Of packets that left together those that arrived
    /// are acknowledged in their order.
    fn find(&mut self) {
        for packet in self.packets.iter_mut().filter(|packet| packet.arrived.is_none()) {
            let (first, last) = packet.numbers;
            if first > last {
                continue;
            }
            let mut of_flight = self.known.range_mut(first..=last);
            if let Some((_, (at, used))) = of_flight.find(|(_, (_, used))| !*used) {
                *used = true;
                packet.arrived = Some(*at);
            }
        }
    }

    fn release(&mut self, now: HostInstant, controller: &mut dyn Controller, all: bool) {
        while let Some(&Waiting { ack, packets }) = self.waiting.front() {
            let is_known = self.packets.iter().take(packets).all(|packet| packet.arrived.is_some());
            let is_late = now - ack.now >= HOLD;
            if !all && !is_known && self.speaks && !is_late {
                return;
            }
            if !is_known && is_late && self.heard_at.is_none_or(|at| now - at > SILENT) {
                self.speaks = false;
            }
            self.waiting.pop_front();
            self.counted -= packets;
            let mut packets: Vec<Packet> = self.packets.drain(..packets).collect();
            for &Packet { size, sent, .. } in &packets {
                controller.handle_delivered(&Delivered { now, size, sent });
            }
            self.hand_on(now, &ack, &mut packets, controller);
        }
    }

    /// One acknowledgement for each reading of the receiver's clock.
    fn hand_on(
        &mut self,
        now: HostInstant,
        ack: &Ack,
        packets: &mut [Packet],
        controller: &mut dyn Controller,
    ) {
        // Of packets without a time nothing is known but that they came with the others.
        let Some(newest) = packets.iter().filter_map(|packet| packet.arrived).max() else {
            return controller.handle_ack(&Ack { now, ..*ack });
        };
        packets.sort_by_key(|packet| packet.arrived.unwrap_or(newest));
        let offset = self.fit(newest, ack.now);
        let stamp = |packet: &Packet| {
            let nanos = i128::from(packet.arrived.unwrap_or(newest)) * 1000 + offset;
            u64::try_from(nanos).unwrap_or(0)
        };
        let reading = |packet: &Packet| stamp(packet) / TICK.as_nanos() as u64;
        let mut rest: Bytes = packets.iter().fold(Bytes::ZERO, |sum, packet| sum + packet.size);
        let mut prior = ack.prior_in_flight;
        let groups = packets.chunk_by(|one, next| reading(one) == reading(next));
        for group in groups {
            let acked = group.iter().fold(Bytes::ZERO, |sum, packet| sum + packet.size);
            rest = rest.saturating_sub(acked);
            let Some(newest) = group.iter().max_by_key(|packet| packet.left) else { continue };
            let is_last = rest == Bytes::ZERO;
            let one_way = stamp(newest).checked_sub(newest.left.as_nanos());
            let in_flight = ack.in_flight + rest;
            controller.handle_ack(&Ack {
                now,
                acked,
                newly_lost: if is_last { ack.newly_lost } else { Bytes::ZERO },
                // Others waited for it at the receiver.
                rtt: ack.rtt.filter(|_| newest.left == ack.sent.at),
                one_way: one_way.map(Duration::from_nanos),
                // It wraps, as a receiver's does.
                stamp: Some(Stamp { value: reading(newest) as u32, tick: TICK }),
                rate: ack.rate.filter(|_| is_last),
                delivered: ack.delivered.saturating_sub(rest),
                prior_in_flight: prior,
                in_flight,
                ce: if is_last { ack.ce } else { Bytes::ZERO },
                sent: newest.sent,
                ..*ack
            });
            prior = in_flight;
        }
    }

    /// The offset of the clocks, with a packet that arrived then at the receiver and was
    /// acknowledged at `acked_at`.
    fn fit(&mut self, arrived: u64, acked_at: HostInstant) -> i128 {
        let exact = i128::from(acked_at.as_nanos()) - i128::from(arrived) * 1000;
        let is_off = |offset: i128| offset - exact > AHEAD || exact - offset > BEHIND;
        let offset = self.offset.filter(|offset| !is_off(*offset)).unwrap_or(exact);
        self.offset = Some(offset);
        offset
    }
}
