use core::time::Duration;

use sounding_units::{Bytes, HostInstant, Rate};

use crate::controller::Ack;

/// Rounds each half of the window lasts, so that it remembers five to ten (Linux
/// `bbr_extra_acked_win_rtts`).
const HALF_ROUNDS: u32 = 5;
/// The most the window makes room for, as time at the bandwidth (Linux `bbr_extra_acked_max_us`).
const MOST: Duration = Duration::from_millis(100);
/// The most that is counted of one clump before the next begins (Linux
/// `bbr_ack_epoch_acked_reset_thresh`, in segments there).
const LONGEST: u64 = 1 << 30;

/// Measures how much acknowledgements deliver at once, beyond the bandwidth: links may aggregate
/// them, or grant in bursts.
///
/// Linux uses this in BBR v1, whose draft does not have it; v3 has it. Without this allowance, a
/// window of twice the BDP is used up too early on such links.
#[derive(Clone, Copy, Debug)]
pub struct Aggregation {
    /// The start of the current burst, and its delivered bytes.
    since: HostInstant,
    acked: Bytes,
    /// The most of this half of the window, and of the one before.
    most: [Bytes; 2],
    rounds: u32,
}

impl Aggregation {
    /// A new, empty state.
    pub fn new(now: HostInstant) -> Self {
        Self { since: now, acked: Bytes::ZERO, most: [Bytes::ZERO; 2], rounds: 0 }
    }

    /// Applies an acknowledgement, as far as it exceeds `bandwidth`.
    #[inline]
    pub fn handle_ack(
        &mut self,
        ack: &Ack,
        round_began: bool,
        bandwidth: Rate,
        cwnd: Bytes,
        full_pipe: bool,
    ) {
        if round_began {
            self.rounds += 1;
            if self.rounds >= HALF_ROUNDS {
                self.rounds = 0;
                self.most = [Bytes::ZERO, self.most[0]];
            }
        }
        let mut expected = bandwidth * (ack.now - self.since);
        if self.acked <= expected || self.acked.count() >= LONGEST {
            (self.since, self.acked, expected) = (ack.now, Bytes::ZERO, Bytes::ZERO);
        }
        self.acked += ack.acked;
        if full_pipe {
            let extra = (self.acked - expected).min(cwnd);
            self.most[0] = self.most[0].max(extra);
        }
    }

    /// Additional bytes to have in flight.
    #[inline]
    pub fn allowance(&self, bandwidth: Rate) -> Bytes {
        self.most[0].max(self.most[1]).min(bandwidth * MOST)
    }
}
