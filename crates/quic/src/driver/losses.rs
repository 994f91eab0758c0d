use sounding_cc::{Departure, Loss};
use sounding_units::{Bytes, HostInstant};

use super::Driver;
use super::repair::Repair;

/// Maximum of lost bytes that are reported as segments: more than any window holds.
const MAX_SEGMENTS: u64 = 1 << 20;

impl Driver {
    /// The packet of this number counts as lost, in a stack that reports each packet sent. One
    /// without a size was not in flight: it only acknowledged. One below all numbers sent here
    /// took another path, whose numbering a new path continues.
    pub fn handle_lost(&mut self, now: HostInstant, number: u64, size: Bytes) {
        self.handle_time(now);
        if size == Bytes::ZERO || self.lowest.is_none_or(|lowest| number < lowest) {
            return;
        }
        let flight = self.flights.of(number);
        let left = flight.map_or(now, |flight| flight.left);
        let sent = self.departure(flight.map(|flight| flight.departure));
        self.lose(left, size, sent);
    }

    /// `total` bytes count as lost. The newest of them left at `left`.
    pub fn handle_lost_together(&mut self, now: HostInstant, left: HostInstant, total: Bytes) {
        self.handle_time(now);
        if !self.is_own(left) {
            return;
        }
        let sent = self.departure(self.flights.at(left).map(|flight| flight.departure));
        let mut rest = total;
        for _ in 0..MAX_SEGMENTS {
            let size = rest.min(self.mtu);
            if size == Bytes::ZERO {
                break;
            }
            rest = rest.saturating_sub(size);
            self.lose(left, size, sent);
        }
    }

    fn lose(&mut self, left: HostInstant, size: Bytes, sent: Departure) {
        self.active_at = self.now;
        self.in_flight = self.in_flight.saturating_sub(size);
        self.rate.handle_lost(size);
        self.lost += size;
        let begins_recovery = self.repair == Repair::None || !self.repair.covers(left);
        if begins_recovery {
            self.repair = Repair::Fast { since: self.now };
        }
        let (now, in_flight) = (self.now, self.in_flight);
        self.controller.handle_loss(&Loss { now, size, in_flight, sent, begins_recovery });
    }
}
