use core::time::Duration;

use sounding_units::{Bytes, HostInstant, Rate};

/// Loss rates: no loss below, too much above (draft-ietf-rmcat-gcc-02).
const NO_LOSS: f64 = 0.02;
const MUCH_LOSS: f64 = 0.1;
/// Packets over which loss is taken at least (libwebrtc `SendSideBandwidthEstimation`, as all that
/// follow).
const MIN_PACKETS: u64 = 20;
/// Growth above the smallest rate of the last second, and a little more.
const GROWTH: f64 = 1.08;
const GROWTH_MORE: f64 = 1000.0;
const GROWS_EVERY: Duration = Duration::from_secs(1);
/// Shortest time between two cuts, in addition to an RTT.
const CUT_EVERY: Duration = Duration::from_millis(300);

/// The rate that loss leaves. In bits per second.
#[derive(Clone, Copy, Debug)]
pub(super) struct LossControl {
    rate: f64,
    delivered: Bytes,
    lost: Bytes,
    cut_at: Option<HostInstant>,
    /// The least rate of the second that began then.
    least: (HostInstant, f64),
}

impl LossControl {
    pub(super) fn new(now: HostInstant, rate: Rate) -> Self {
        let rate = rate.bits_per_sec() as f64;
        let (delivered, lost) = (Bytes::ZERO, Bytes::ZERO);
        Self { rate, delivered, lost, cut_at: None, least: (now, rate) }
    }

    pub(super) fn rate(&self) -> Rate {
        Rate::from_bits_per_sec(self.rate as u64)
    }

    pub(super) fn set(&mut self, now: HostInstant, rate: Rate) {
        self.rate = rate.bits_per_sec() as f64;
        self.least = (now, self.rate);
    }

    pub(super) fn handle_feedback(
        &mut self,
        now: HostInstant,
        delivered: Bytes,
        lost: Bytes,
        packet: Bytes,
        rtt: Duration,
    ) {
        self.delivered += delivered;
        self.lost += lost;
        let all = self.delivered + self.lost;
        if all.count() < packet.count().saturating_mul(MIN_PACKETS) {
            return;
        }
        let loss = self.lost.count() as f64 / all.count() as f64;
        (self.delivered, self.lost) = (Bytes::ZERO, Bytes::ZERO);
        if loss <= NO_LOSS {
            if now >= self.least.0 + GROWS_EVERY {
                self.least = (now, self.rate);
            }
            self.least.1 = self.least.1.min(self.rate);
            self.rate = self.rate.max(self.least.1 * GROWTH + GROWTH_MORE);
        } else if loss > MUCH_LOSS && self.cut_at.is_none_or(|at| now >= at + CUT_EVERY + rtt) {
            self.cut_at = Some(now);
            self.rate *= 1.0 - loss / 2.0;
        }
    }

    /// Not above what delays leave: it would have to come down first when it is needed.
    pub(super) fn cap(&mut self, rate: Rate) {
        self.rate = self.rate.min(rate.bits_per_sec() as f64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PACKET: Bytes = Bytes::new(1000);

    fn after(per_cent: u64, millis: u64) -> f64 {
        let start = Rate::from_bits_per_sec(1_000_000);
        let mut control = LossControl::new(HostInstant::default(), start);
        for ms in (0..millis).step_by(20) {
            let now = HostInstant::from_nanos(ms * 1_000_000);
            let lost = Bytes::new(200 * per_cent);
            let delivered = Bytes::new(20_000) - lost;
            control.handle_feedback(now, delivered, lost, PACKET, Duration::from_millis(40));
        }
        control.rate
    }

    #[test]
    fn a_little_loss_is_none_some_holds_and_much_cuts_by_half_of_it() {
        assert!((after(2, 20) - 1_081_000.0).abs() < 1.0);
        assert!((after(5, 5000) - 1e6).abs() < 1.0);
        assert!((after(20, 300) - 0.9e6).abs() < 1.0);
        assert!((after(20, 400) - 0.81e6).abs() < 1.0);
    }

    #[test]
    fn growth_is_once_a_second() {
        assert!((after(0, 900) - 1_081_000.0).abs() < 1.0);
        assert!(after(0, 1200) > 1.15e6);
    }
}
