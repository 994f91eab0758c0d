use sounding_cc::Ack;
use sounding_units::{Bytes, Rate};

/// Tenths of a bound that remain after a round with losses (§2: Beta).
pub(super) const BETA: u32 = 7;

/// Deliveries of the newest round, and the bounds from losses outside of probes (§5.5.10.3).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Signals {
    rate_latest: Rate,
    inflight_latest: Bytes,
    round_ends_at: Bytes,
    round_began: bool,
    lost_in_round: bool,
    pub(super) bounds: ShortTerm,
}

/// `None` without a loss since the last probe.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ShortTerm {
    pub(super) rate: Option<Rate>,
    pub(super) inflight: Option<Bytes>,
}

fn seven_tenths(bytes: Bytes) -> Bytes {
    Bytes::new(bytes.count() / 10 * u64::from(BETA))
}

impl Signals {
    /// Near the start of an acknowledgement.
    pub(super) fn update(&mut self, ack: &Ack) {
        self.rate_latest = self.rate_latest.max(ack.rate.unwrap_or_default());
        self.inflight_latest = self.inflight_latest.max(ack.delivered - ack.sent.delivered);
        self.round_began = ack.sent.delivered >= self.round_ends_at;
        if self.round_began {
            self.round_ends_at = ack.delivered;
        }
    }

    /// At the end of a round with losses, unless they are the price of a probe.
    pub(super) fn adapt(&mut self, probing: bool, bandwidth: Rate, cwnd: Bytes) {
        if !self.round_began {
            return;
        }
        if self.lost_in_round && !probing {
            let rate = self.bounds.rate.unwrap_or(bandwidth).scaled(BETA, 10);
            let inflight = seven_tenths(self.bounds.inflight.unwrap_or(cwnd));
            self.bounds = ShortTerm {
                rate: Some(self.rate_latest.max(rate)),
                inflight: Some(self.inflight_latest.max(inflight)),
            };
        }
        self.lost_in_round = false;
    }

    /// Near the end of an acknowledgement.
    pub(super) fn advance(&mut self, ack: &Ack) {
        if self.round_began {
            self.rate_latest = ack.rate.unwrap_or_default();
            self.inflight_latest = ack.delivered - ack.sent.delivered;
        }
    }

    /// Losses belong to the round that ends when a packet that leaves from here on is delivered.
    pub(super) fn handle_loss(&mut self, delivered: Bytes) {
        if !self.lost_in_round {
            self.round_ends_at = delivered;
        }
        self.lost_in_round = true;
    }

    /// A new phase begins: deliveries of the current round belong to the old phase.
    pub(super) fn reset_round(&mut self) {
        self.lost_in_round = false;
        self.rate_latest = Rate::ZERO;
        self.inflight_latest = Bytes::ZERO;
    }

    /// The most that was delivered within one round.
    pub(super) fn inflight_latest(&self) -> Bytes {
        self.inflight_latest
    }
}
