use core::time::Duration;

use sounding_units::{Bytes, HostInstant};

use super::{Asked, Config, Narrow};
use crate::radio_law::Ack;

/// Bounds of the products below; no path and no setting comes near.
pub(super) const MAX_GAIN: u64 = 4000;
pub(super) const MAX_SEGS: u64 = 1 << 20;
/// Bytes of TCP and IPv4 headers with timestamps in each segment.
pub(super) const HEADERS: u64 = 52;
/// Rounds of a lowered window until the decision: one to drain the queue, one to measure the
/// effect.
const ASK_ROUNDS: u32 = 2;

/// Measurements of one round trip.
#[derive(Clone, Debug)]
pub(super) struct Round {
    ends_at: u32,
    share: Option<u64>,
    rtt_us: u64,
    inflight: u32,
    acked: u32,
    lost: u32,
    limited: bool,
}

/// Evidence of a round for a path narrower than the radio.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Evidence {
    None,
    /// The window was full and came back late.
    Queue,
    /// Much of it never came back.
    Loss,
}

/// The conclusion from the rounds so far.
pub(super) enum Suspicion {
    None,
    Open(Narrow),
    Longer { rtt_us: u64 },
    Narrow,
}

impl Round {
    /// One that ends with the first segment sent from here on.
    pub(super) fn new(delivered: u32) -> Self {
        Self {
            ends_at: delivered,
            share: None,
            rtt_us: 0,
            inflight: 0,
            acked: 0,
            lost: 0,
            limited: false,
        }
    }

    pub(super) fn gather(&mut self, ack: &Ack, share: Option<u64>, mss: u64) {
        let rtt_us = ack.rtt.map_or(0, micros);
        if rtt_us > 0 && (self.rtt_us == 0 || rtt_us < self.rtt_us) {
            self.rtt_us = rtt_us;
        }
        self.inflight = self.inflight.max(segments(ack.in_flight, mss));
        self.acked = self.acked.wrapping_add(segments(ack.acked, mss));
        self.lost = self.lost.wrapping_add(segments(ack.lost, mss));
        self.limited |= ack.is_limited;
        if let Some(share) = share {
            self.share = Some(self.share.map_or(share, |least| least.min(share)));
        }
    }

    pub(super) fn ends_with(&self, ack: &Ack, mss: u64) -> bool {
        segments(ack.prior_delivered, mss).wrapping_sub(self.ends_at) as i32 >= 0
    }

    /// The smallest share in it, if there was any.
    pub(super) fn share(&self) -> Option<u64> {
        self.share
    }

    /// Whether the application was ever the limit.
    pub(super) fn limited(&self) -> bool {
        self.limited
    }

    /// Upper bound of what the path delivered, in payload bytes/s: BBR's filter, and where the
    /// window was the limit, at most the round's largest flight in its smallest RTT (Little's
    /// law). The filter alone remembers ten rounds, each as long as the queue that the flow
    /// builds meanwhile.
    pub(super) fn delivery(&self, e2e: u64, mss: u64) -> u64 {
        let flight = u64::from(self.inflight).min(MAX_SEGS);
        match self.rtt_us {
            0 => e2e,
            rtt_us => e2e.min(flight * mss * 1_000_000 / rtt_us),
        }
    }

    /// Evidence of the round for a path narrower than the radio.
    ///
    /// BISCAY §A.5.1 line 26 compares `cellular_bw > end_to_end_bw`. Literally this is always true:
    /// the flow's own window limits the delivery, and a share that has just grown is above
    /// every delivery so far. So a round counts only under stricter conditions:
    ///
    /// * the application was never the limit;
    /// * the flight filled the window, and even the smallest RTT of the round was so long that
    ///   flight ÷ RTT stays below the share. A window of share × (RTTmin + allowance) takes that
    ///   long only behind a queue, or on a path longer than RTTmin. If the end-to-end rate is only
    ///   old, or the application sent less, the RTT stays short;
    /// * or, with a shallow buffer or a policer, which never queue, a tenth of the round was lost;
    /// * the share is the smallest of this round and of the one before, because what is
    ///   acknowledged in one round was sent in the one before.
    pub(super) fn evidence(
        &self,
        config: &Config,
        cwnd: u32,
        prior_share: Option<u64>,
        delivery: u64,
        mss: u64,
    ) -> Evidence {
        let (Some(this), Some(before)) = (self.share, prior_share) else {
            // A share that was seen in one round only does not describe what was sent in the other.
            return Evidence::None;
        };
        let margin = 1000 + u64::from(config.narrow_permille).min(MAX_GAIN);
        let below = payload(this.min(before), mss) * 1000 > delivery * margin;
        let (lost, acked) = (u64::from(self.lost), u64::from(self.acked));
        let full = u64::from(self.inflight) * 10 >= u64::from(cwnd) * 9;
        let tolerated = u64::from(config.narrow_loss_permille).min(1000);
        let lossy = lost * 1000 > (lost + acked) * tolerated;
        match (lossy, full) {
            _ if self.limited || self.rtt_us == 0 || !below => Evidence::None,
            (true, _) => Evidence::Loss,
            (false, true) => Evidence::Queue,
            (false, false) => Evidence::None,
        }
    }

    /// Combines the round with the previous ones.
    ///
    /// If a window is full and comes back late, either a queue holds it up or the path has become
    /// longer, as after a handover. The kernel's minimum remembers the shorter path for
    /// minutes, and a BBR that uses it starves itself. To distinguish the two, continue with
    /// three quarters of the window: that shortens a queue, but not a path.
    pub(super) fn suspect(
        &self,
        config: &Config,
        now: HostInstant,
        before: Option<Narrow>,
        evidence: Evidence,
    ) -> Suspicion {
        if let Some(Narrow { rounds, since, asked: Some(asked) }) = before {
            return self.answer(rounds, since, asked);
        }
        if evidence == Evidence::None {
            return Suspicion::None;
        }
        let mut seen = match before {
            Some(seen) => Narrow { rounds: seen.rounds.wrapping_add(1), ..seen },
            None => Narrow { rounds: 1, since: now, asked: None },
        };
        if seen.rounds >= config.narrow_rounds && now - seen.since >= config.narrow_for {
            if evidence == Evidence::Loss {
                return Suspicion::Narrow;
            }
            seen.asked = Some(Asked { rounds: 0, rtt: Duration::from_micros(self.rtt_us) });
        }
        Suspicion::Open(seen)
    }

    fn answer(&self, rounds: u32, since: HostInstant, asked: Asked) -> Suspicion {
        if self.limited || self.rtt_us == 0 {
            return Suspicion::None;
        }
        if asked.rounds + 1 < ASK_ROUNDS {
            let asked = Some(Asked { rounds: asked.rounds + 1, ..asked });
            return Suspicion::Open(Narrow { rounds, since, asked });
        }
        let asked_us = micros(asked.rtt);
        if self.rtt_us * 10 <= asked_us * 9 {
            return Suspicion::Narrow;
        }
        Suspicion::Longer { rtt_us: self.rtt_us.min(asked_us) }
    }
}

/// Payload's part of a rate of IP packets.
pub(super) fn payload(rate: u64, mss: u64) -> u64 {
    rate * mss / (mss + HEADERS)
}

/// Whole segments, in 32 bits that wrap, as the kernel counts them.
pub(super) fn segments(bytes: Bytes, mss: u64) -> u32 {
    (bytes.count() / mss) as u32
}

/// Whole microseconds, saturating where the kernel's 32 bits do.
pub(super) fn micros(span: Duration) -> u64 {
    u64::try_from(span.as_micros()).unwrap_or(u64::MAX).min(u64::from(u32::MAX))
}
