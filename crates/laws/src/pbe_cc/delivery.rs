use sounding_units::Bytes;

/// A flow that delivers less than this many hundredths of the claim is not limited by the radio.
/// Chosen: Equation 5 and the average over a round trip are off by some 10 %.
const NARROW: u64 = 85;

/// A claim is no more than so many hundredths of what arrives, or it is not believed
/// (interpretation 12).
const BELIEVED: u64 = 125;

/// So many rounds in a row have to show a claim that is too high.
const ROUNDS: u32 = 3;

/// So many claims of a round count, for their sum to fit.
const MOST_CLAIMS: u32 = 1 << 20;

/// The claims of a round.
#[derive(Clone, Copy, Debug, Default)]
struct Claims {
    sum: u64,
    count: u32,
    least: u64,
}

impl Claims {
    fn add(&mut self, rate: u64) {
        self.least = if self.count == 0 { rate } else { self.least.min(rate) };
        if self.count < MOST_CLAIMS {
            self.sum += rate;
            self.count += 1;
        }
    }

    /// Zero where there were none.
    fn mean(&self) -> u64 {
        self.sum / u64::from(self.count.max(1))
    }
}

/// What the device claims beside what arrives, round by round.
///
/// What arrives in a round left in the one before, at a rate that was claimed by then. Where a
/// queue shows that too much is sent, it is compared with the mean claim of either round, whichever
/// is less; where only a device's word is in doubt, with the least claim of both. All rates are
/// payload, in bytes a second.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Delivery {
    /// The round ends once this is delivered.
    round_ends_at: u32,
    /// This round's.
    claims: Claims,
    /// And of the round before.
    prior_claims: Claims,
    /// The highest rate at which this round arrived.
    best: u64,
    limited: bool,
    /// The last whole round arrived at this rate; zero: unknown.
    last: u64,
    /// What was claimed of it and sent; zero: it says nothing.
    wanted: u64,
    excess: u32,
}

impl Delivery {
    pub(super) fn new(delivered: u32) -> Self {
        Self { round_ends_at: delivered, ..Self::default() }
    }

    /// The flow is to send at this rate, of what the device claims.
    pub(super) fn handle_claim(&mut self, rate: u64) {
        self.claims.add(rate);
    }

    /// There is no claim now, or it belongs to another link.
    pub(super) fn forget(&mut self) {
        (self.claims, self.prior_claims) = (Claims::default(), Claims::default());
        (self.wanted, self.excess) = (0, 0);
    }

    /// Folds an acknowledgement in; whether it ends a round.
    pub(super) fn handle_ack(
        &mut self,
        rate: Option<u64>,
        delivered: u32,
        prior_delivered: u32,
        is_limited: bool,
    ) -> bool {
        self.best = self.best.max(rate.unwrap_or_default());
        self.limited |= is_limited;
        if (prior_delivered.wrapping_sub(self.round_ends_at) as i32) < 0 {
            return false;
        }
        self.round_ends_at = delivered;
        if self.best > 0 {
            self.last = self.best;
        }
        // A round without a claim wanted nothing.
        let wanted = self.claims.mean().min(self.prior_claims.mean());
        let least = self.claims.least.min(self.prior_claims.least);
        if self.best > 0 && !self.limited {
            self.wanted = wanted;
            let excess = least * 100 > self.best * BELIEVED;
            self.excess = if excess { self.excess + 1 } else { 0 };
        } else {
            (self.wanted, self.excess) = (0, 0);
        }
        (self.prior_claims, self.claims) = (self.claims, Claims::default());
        (self.best, self.limited) = (0, false);
        true
    }

    /// How fast the last whole round arrived; `None` before the first.
    pub(super) fn last(&self) -> Option<u64> {
        (self.last > 0).then_some(self.last)
    }

    /// At most so much arrived in this round and the one before; zero: unknown.
    pub(super) fn arrives(&self) -> u64 {
        self.last.max(self.best)
    }

    /// Whether less arrived in the last round than was claimed and sent, and than is claimed now: a
    /// radio that fades is reported later than it delivers less.
    pub(super) fn is_narrow(&self, claimed: u64) -> bool {
        self.last * 100 < self.wanted.min(claimed) * NARROW
    }

    /// Whether the claim was too high for rounds.
    pub(super) fn is_overstated(&self) -> bool {
        self.excess >= ROUNDS
    }

    /// The most that is sent upon a claim that is too high.
    pub(super) fn believed(&self) -> u64 {
        most_of(self.last)
    }
}

/// The most that is believed or sent where so much arrives.
pub(super) const fn most_of(arrives: u64) -> u64 {
    arrives * BELIEVED / 100
}

/// Bytes that are delivered in `micros` at a rate.
pub(super) const fn over(rate: u64, micros: u64) -> Bytes {
    Bytes::new(rate * micros / 1_000_000)
}
