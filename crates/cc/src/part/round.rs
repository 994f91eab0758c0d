use sounding_units::Bytes;

use crate::controller::Ack;

/// Counts rounds by packets: a round ends when a packet is delivered that left after the round
/// began (BBR draft §4.1.1.3).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Round {
    ends_at: Bytes,
    count: u64,
}

impl Round {
    /// Processes an acknowledgement. Returns whether it begins a round.
    #[inline]
    pub fn handle_ack(&mut self, ack: &Ack) -> bool {
        let over = ack.sent.delivered >= self.ends_at;
        if over {
            self.restart(ack.delivered);
            self.count += 1;
        }
        over
    }

    /// Lets the round end with the first packet that leaves from here on, where `delivered` was
    /// delivered so far.
    #[inline]
    pub fn restart(&mut self, delivered: Bytes) {
        self.ends_at = delivered;
    }

    /// Rounds so far.
    #[inline]
    pub fn count(&self) -> u64 {
        self.count
    }
}
