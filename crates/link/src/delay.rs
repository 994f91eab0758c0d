//! The delays that the radio itself makes, as events: retransmissions of HARQ, and the uplink's
//! wait for a grant (Gandalf §4.3).
//!
//! Nothing here knows packets: an event says when data that passed a point of the radio at some
//! time went on, and which part of that was the network's own. Who measures delays matches them
//! (`sounding-cc`, `delay`).
//!
//! Retransmissions come from PHY's records, which list every transmission of a block. The wait for
//! a grant comes from the uplink's MAC records, because they alone say how much a block left
//! behind. Records come up to 300 ms after the event.
//!
//! RLC's repeats, which begin where HARQ gives up, come from RLC's records, where a modem sends
//! them.

pub mod align;
mod handed;
mod harq;
mod overhead;
pub mod packets;
mod rlc;
mod scheduling;
pub mod shift;

use alloc::collections::VecDeque;
use core::time::Duration;

use sounding_estimate::{Confidence, DelayKind, DelayUpdate, RanDelay};
use sounding_kpi::{Direction, Grant, Kpi, Layer, RlcPdu};
use sounding_units::{Bytes, ClockMap, HostInstant, ModemInstant};

use harq::Harq;
use rlc::Rlc;
use scheduling::Scheduling;

/// Events that wait for [`Delays::poll`]; when it is not called the oldest are dropped.
const WAITING: usize = 4_096;

/// Packets of the host that wait until records show what became of them; of more, the oldest are
/// dropped.
const ENTERED: usize = 16_384;

/// No records are so far apart in a connection, and none comes so late.
const CLOCK_SET: Duration = Duration::from_secs(2);

/// An event on the modem's clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Event {
    from: ModemInstant,
    to: ModemInstant,
    amount: Duration,
    is_decoded: bool,
}

/// Makes delay events of a modem's KPIs.
#[derive(Clone, Debug, Default)]
pub struct Delays {
    clock: ClockMap,
    now: HostInstant,
    stamped: Option<ModemInstant>,
    down: Harq,
    up: Harq,
    scheduling: Scheduling,
    rlc: Rlc,
    /// When the newest record came that [`poll_update`](Self::poll_update) has shown.
    shown: HostInstant,
    ready: VecDeque<RanDelay>,
    /// Packets that the host handed to the modem, later than the newest block.
    entered: VecDeque<(HostInstant, Bytes)>,
}

impl Delays {
    /// Bytes of a modem's stream after which [`poll`](Self::poll) has to be called until it is
    /// empty: fewer than those of as many events as wait for it.
    pub const PIECE: usize = 1 << 14;

    /// A PDU of RLC in the record that was handed in last.
    pub fn handle_pdu(&mut self, pdu: &RlcPdu) {
        self.rlc.handle_pdu(pdu);
        while let Some((direction, event)) = self.rlc.poll() {
            self.tell(direction, DelayKind::Rlc, &event);
        }
    }

    /// The device's host handed an IP packet of this size to its modem. Packets come in order of
    /// time, before the records that show what became of them. If all of them are reported,
    /// waits are those of packets; otherwise reports alone say when bytes entered.
    pub fn handle_entered(&mut self, now: HostInstant, size: Bytes) {
        if self.entered.len() == ENTERED {
            self.entered.pop_front();
        }
        self.entered.push_back((now, size));
    }

    /// Any record of the modem, stamped `at`, arrived.
    pub fn handle_record(&mut self, now: HostInstant, at: ModemInstant) {
        // Times before and after a modem's clock was set do not compare.
        let far = |before: ModemInstant| (at - before).max(before - at) > CLOCK_SET;
        if self.stamped.is_some_and(far) {
            self.reset();
        }
        self.stamped = Some(at);
        self.now = now;
        self.clock.handle_record(now, at);
    }

    /// One KPI of the record that was handed in last.
    pub fn handle_kpi(&mut self, kpi: &Kpi) {
        match kpi {
            Kpi::Grant(grant) => self.handle_grant(grant),
            // Another cell has other processes, and RLC begins again.
            Kpi::Connection(_) => {
                (self.down, self.up) = (Harq::default(), Harq::default());
                self.scheduling = Scheduling::default();
                self.rlc = Rlc::default();
            }
            _ => {}
        }
    }

    fn handle_grant(&mut self, grant: &Grant) {
        let direction = grant.direction;
        match (direction, grant.layer) {
            (Direction::Downlink, Layer::Phy) => {
                if let Some(event) = self.down.handle_received(grant) {
                    self.tell(direction, DelayKind::Harq, &event);
                }
            }
            (Direction::Uplink, Layer::Phy) => {
                if let Some(event) = self.up.handle_sent(grant) {
                    self.tell(direction, DelayKind::Harq, &event);
                }
            }
            (Direction::Uplink, Layer::Mac) => {
                while let Some((now, size)) = self.entered.front().copied()
                    && let Some(at) = self.clock.modem(now).filter(|at| *at <= grant.at)
                {
                    self.entered.pop_front();
                    self.scheduling.handle_entered(at, size);
                }
                self.scheduling.handle_block(grant);
                while let Some(event) = self.scheduling.poll() {
                    self.tell(direction, DelayKind::Scheduling, &event);
                }
            }
            (Direction::Downlink, Layer::Mac) => {}
        }
    }

    fn tell(&mut self, direction: Direction, kind: DelayKind, event: &Event) {
        let (Some(from), Some(to)) = (self.clock.host(event.from), self.clock.host(event.to))
        else {
            return;
        };
        if self.ready.len() == WAITING {
            self.ready.pop_front();
        }
        let confidence = if event.is_decoded { Confidence::Decoded } else { Confidence::Inferred };
        let delay = RanDelay::new(direction, kind, from, to)
            .with_amount(event.amount.min(to - from))
            .with_age(self.now - to)
            .with_confidence(confidence);
        self.ready.push_back(delay);
    }

    /// The next event. A later one of the same direction, kind and begin replaces an earlier one:
    /// its block was sent once more.
    pub fn poll(&mut self) -> Option<RanDelay> {
        self.ready.pop_front()
    }

    /// All events that were not polled yet, and up to when they are known.
    pub fn take_update(&mut self) -> DelayUpdate {
        self.shown = self.now;
        DelayUpdate::new(self.now, self.ready.drain(..).collect())
            .with_up_until(self.known_until(Direction::Uplink))
            .with_down_until(self.known_until(Direction::Downlink))
            .with_report_interval(self.scheduling.report_interval())
    }

    /// The same, if records came since the last update.
    pub fn poll_update(&mut self) -> Option<DelayUpdate> {
        (self.now > self.shown || !self.ready.is_empty()).then(|| self.take_update())
    }

    /// Up to when all events of a direction are known, on the host's clock; `None` before its first
    /// records.
    pub fn known_until(&self, direction: Direction) -> Option<HostInstant> {
        let until = match direction {
            Direction::Downlink => self.down.newest(),
            Direction::Uplink => match (self.up.newest(), self.scheduling.newest()) {
                (Some(phy), Some(mac)) => Some(phy.min(mac)),
                (phy, mac) => phy.or(mac),
            },
        };
        self.clock.host(until?)
    }

    /// When the newest record of any kind arrived.
    pub fn heard_at(&self) -> HostInstant {
        self.now
    }

    /// The modem closed its port, or its clock was set.
    pub fn reset(&mut self) {
        *self = Self::default();
    }
}

#[cfg(test)]
mod tests;
