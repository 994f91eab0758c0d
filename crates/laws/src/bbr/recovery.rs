use sounding_cc::{Ack, Recovery};
use sounding_units::Bytes;

use super::Bbr;

/// What loss does to BBR's window (§4.2.3.4).
///
/// ```text
/// None ──(loss)────▶ Entering ──(first ACK)──▶ Conserving ──(a round)──▶ Repairing ──(all
/// repaired)──▶ None
///   └───(timeout)──────────────────────────────────────────────────────▶ Repairing
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Conservation {
    #[default]
    None,
    Entering,
    /// Packet conservation: one packet leaves for each delivered one. It ends when a packet is
    /// delivered that left after this number of delivered bytes.
    Conserving {
        ends_at: Bytes,
    },
    Repairing,
}

impl Conservation {
    pub(super) fn begin() -> Self {
        Self::Entering
    }

    pub(super) fn after_timeout() -> Self {
        Self::Repairing
    }

    pub(super) fn is_recovering(&self) -> bool {
        *self != Self::None
    }
}

impl Bbr {
    /// Fits the window to recovery; whether it is thereby settled.
    pub(super) fn modulate_for_recovery(&mut self, ack: &Ack) -> bool {
        if ack.newly_lost > Bytes::ZERO {
            self.cwnd = (self.cwnd - ack.newly_lost).max(self.mss);
        }
        if ack.recovery == Recovery::None && self.conservation.is_recovering() {
            self.conservation = Conservation::None;
            self.cwnd = self.cwnd.max(self.prior_cwnd);
        }
        match self.conservation {
            Conservation::Entering => {
                self.conservation = Conservation::Conserving { ends_at: ack.delivered };
                self.cwnd = ack.in_flight + ack.acked.max(self.mss);
                true
            }
            Conservation::Conserving { ends_at } if ack.sent.delivered < ends_at => {
                self.cwnd = self.cwnd.max(ack.in_flight + ack.acked);
                true
            }
            Conservation::Conserving { .. } => {
                self.conservation = Conservation::Repairing;
                false
            }
            Conservation::Repairing | Conservation::None => false,
        }
    }
}
