use core::time::Duration;

use sounding_cc::part::FullPipe;
use sounding_cc::{Ack, Loss};
use sounding_units::{Bytes, HostInstant};

use super::signals::BETA;
use super::{Bbr3, Mode};
use rand_chacha::rand_core::Rng;

/// Thousandths of the bytes in flight: more lost in a round is too much (§2: LossThresh).
pub(super) const LOSS_THRESHOLD: u64 = 20;
/// Part of the safe flight that is left to other flows, in hundredths (§2: Headroom).
const HEADROOM: u64 = 15;
/// Longest time without a probe: this and up to a second more (§5.3.3.8).
const PROBE_AFTER: Duration = Duration::from_secs(2);
/// The rounds' bound: as often as a Reno flow of this BDP cuts its window, but no fewer times
/// (§5.3.3.8).
const MAX_ROUNDS: u64 = 63;

/// Whether acknowledgements are of packets that probed (§5.3.3.9: ack_phase).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Feedback {
    #[default]
    None,
    Refilling,
    Starting,
    Coming,
    Stopping,
}

/// The long-term limit on the flight, and how it is probed (§5.3.3).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Probe {
    /// The most that the path held without losing too much; `None` before any.
    pub(super) bound: Option<Bytes>,
    pub(super) feedback: Feedback,
    /// Packets of the probe have not yet been found too many.
    is_sample: bool,
    too_high: bool,
    precautionary: bool,
    acked: Bytes,
    /// Acknowledged for each segment that the bound grows; `None` while it does not.
    per_increment: Option<Bytes>,
    growth_rounds: u32,
    began_at: HostInstant,
    wait: Duration,
    pub(super) rounds: u64,
}

impl Probe {
    /// A limit that leaves space for other flows; `None` if there is no limit.
    pub(super) fn with_headroom(&self, mss: Bytes, least: Bytes) -> Option<Bytes> {
        let bound = self.bound?;
        let headroom = Bytes::new(bound.count() / 100 * HEADROOM).max(mss);
        Some((bound - headroom).max(least))
    }

    fn raise_slope(&mut self, cwnd: Bytes, mss: Bytes) {
        let growth = 1_u64 << self.growth_rounds;
        self.growth_rounds = (self.growth_rounds + 1).min(30);
        self.per_increment = Some(Bytes::new(cwnd.count() / growth).max(mss));
    }

    fn grow(&mut self, ack: &Ack, cwnd: Bytes, mss: Bytes, round_began: bool) {
        let (Some(bound), Some(each)) = (self.bound, self.per_increment) else { return };
        if !ack.cwnd_limited || cwnd < bound {
            return;
        }
        self.acked += ack.acked;
        let increments = self.acked.count() / each.count().max(1);
        self.acked = Bytes::new(self.acked.count() % each.count().max(1));
        self.bound = Some(bound + Bytes::new(increments.saturating_mul(mss.count())));
        if round_began {
            self.raise_slope(cwnd, mss);
        }
    }
}

fn too_much(lost: Bytes, in_flight: Bytes) -> bool {
    u128::from(lost.count()) * 1000 > u128::from(in_flight.count()) * u128::from(LOSS_THRESHOLD)
}

/// §5.3.3.9.
impl Bbr3 {
    pub(super) fn start_down(&mut self, now: HostInstant) {
        self.signals.reset_round();
        self.probe.per_increment = None;
        self.probe.rounds = u64::from(self.lots.next_u32() % 2);
        self.probe.wait =
            PROBE_AFTER + Duration::from_millis(u64::from(self.lots.next_u32() % 1000));
        self.probe.began_at = now;
        self.probe.feedback = Feedback::Stopping;
        self.round.restart(self.delivered);
        self.mode = Mode::Down;
    }

    pub(super) fn start_refill(&mut self) {
        self.signals.bounds = super::signals::ShortTerm::default();
        self.probe.growth_rounds = 0;
        self.probe.acked = Bytes::ZERO;
        self.probe.precautionary = false;
        self.probe.feedback = Feedback::Refilling;
        self.round.restart(self.delivered);
        self.mode = Mode::Refill;
    }

    fn start_up(&mut self, ack: &Ack) {
        self.probe.is_sample = true;
        self.probe.feedback = Feedback::Starting;
        self.round.restart(self.delivered);
        self.full = FullPipe::beyond(ack.rate.unwrap_or_default());
        self.probe.raise_slope(self.cwnd, self.mss);
        self.mode = Mode::Up;
    }

    pub(super) fn advance_probe(&mut self, ack: &Ack, round_began: bool) {
        if !self.reached || self.adapt_long_term(ack, round_began) {
            return;
        }
        match self.mode {
            Mode::Down | Mode::Cruise if self.is_time_to_probe(ack.now) => self.start_refill(),
            Mode::Down if self.is_time_to_cruise(ack) => self.mode = Mode::Cruise,
            Mode::Refill if round_began => return self.start_up(ack),
            _ => {}
        }
        if self.mode == Mode::Up && self.is_time_to_go_down(ack) {
            self.probe.too_high = false;
            self.start_down(ack.now);
        }
    }

    fn is_time_to_probe(&self, now: HostInstant) -> bool {
        let target = self.target_inflight().count() / self.mss.count().max(1);
        now > self.probe.began_at + self.probe.wait || self.probe.rounds >= target.min(MAX_ROUNDS)
    }

    fn is_time_to_cruise(&self, ack: &Ack) -> bool {
        let room = self.probe.with_headroom(self.mss, self.least_cwnd());
        room.is_none_or(|room| ack.in_flight <= room) && ack.in_flight <= self.inflight(1000)
    }

    fn is_time_to_go_down(&mut self, ack: &Ack) -> bool {
        if let Some(bound) = self.probe.bound {
            if self.probe.too_high && ack.in_flight >= bound {
                self.probe.precautionary = true;
                return true;
            }
            if ack.cwnd_limited && self.cwnd >= bound {
                // The bound, not the path, is what keeps the rate down.
                self.full = FullPipe::beyond(ack.rate.unwrap_or_default());
                return false;
            }
        }
        self.full.is_full()
    }

    fn in_probe_bw(&self) -> bool {
        matches!(self.mode, Mode::Down | Mode::Cruise | Mode::Refill | Mode::Up)
    }

    /// Whether it changed the state.
    fn adapt_long_term(&mut self, ack: &Ack, round_began: bool) -> bool {
        if self.probe.feedback == Feedback::Starting && round_began {
            self.probe.feedback = Feedback::Coming;
        }
        if self.probe.feedback == Feedback::Stopping && round_began {
            self.probe.is_sample = false;
            self.probe.feedback = Feedback::None;
            if self.in_probe_bw() && !ack.sent.app_limited {
                self.bandwidth = [sounding_units::Rate::ZERO, self.bandwidth[0]];
            }
            if self.in_probe_bw() && self.probe.precautionary && !self.probe.too_high {
                self.start_refill();
                return true;
            }
        }
        if !too_much(ack.lost - ack.sent.lost, ack.sent.in_flight)
            && let Some(bound) = self.probe.bound
        {
            self.probe.bound = Some(bound.max(ack.sent.in_flight));
            if self.mode == Mode::Up {
                self.probe.grow(ack, self.cwnd, self.mss, round_began);
            }
        }
        false
    }

    /// §5.5.10.2: once per probe, sets the limit to the flight that lost too much.
    pub(super) fn judge_loss(&mut self, loss: &Loss) {
        let lost = self.lost - loss.sent.lost;
        if !self.probe.is_sample || !too_much(lost, loss.sent.in_flight) {
            return;
        }
        self.probe.too_high = true;
        self.probe.is_sample = false;
        if !loss.sent.app_limited {
            // The part of the packet that still fits: with it and all before it lost, the loss is
            // exactly at the limit.
            let (before, lost_before) = (loss.sent.in_flight - loss.size, lost - loss.size);
            let fits = (before.count() / 1000 * LOSS_THRESHOLD).saturating_sub(lost_before.count())
                / (1000 - LOSS_THRESHOLD)
                * 1000;
            let least = self.target_inflight().count() / 10 * u64::from(BETA);
            self.probe.bound = Some((before + Bytes::new(fits)).max(Bytes::new(least)));
        }
        if self.mode == Mode::Up {
            self.undo.from = Some(Mode::Up);
            self.start_down(loss.now);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sounding_cc::{Departure, Start};

    const MSS: u64 = 1448;

    fn segments(count: u64) -> Bytes {
        Bytes::new(count * MSS)
    }

    /// A flow in Up with a hundred segments in flight, which loses this many of them.
    fn probing(lost: u64) -> Bbr3 {
        let mut flow = Bbr3::new(&Start::tcp(HostInstant::default(), None, 1));
        flow.mode = Mode::Up;
        flow.probe.is_sample = true;
        flow.cwnd = segments(100);
        let sent = Departure { in_flight: segments(100), ..Departure::default() };
        for _ in 0..lost {
            let now = HostInstant::default();
            let (size, in_flight) = (segments(1), segments(50));
            flow.lost += size;
            flow.judge_loss(&Loss { now, size, in_flight, sent, begins_recovery: false });
        }
        flow
    }

    #[test]
    fn losing_two_in_a_hundred_is_the_price_of_a_probe() {
        assert_eq!((probing(2).probe.bound, probing(2).mode), (None, Mode::Up));
    }

    #[test]
    fn losing_more_ends_the_probe_and_bounds_what_is_in_flight_once() {
        for lost in [3, 20] {
            let flow = probing(lost);
            assert_eq!(flow.mode, Mode::Down);
            let bound = flow.probe.bound.map(|bound| bound.count() / MSS);
            assert_eq!(bound, Some(99));
        }
    }

    #[test]
    fn fifteen_hundredths_are_left_to_others() {
        let probe = Probe { bound: Some(segments(100)), ..Probe::default() };
        assert_eq!(probe.with_headroom(segments(1), segments(4)), Some(segments(85)));
    }
}
