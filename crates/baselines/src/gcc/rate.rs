use core::time::Duration;

use sounding_units::{Bytes, HostInstant, Rate};

use super::Config;
use super::detector::Usage;

/// Smallest increase near the rate at which the link was last full, in bit/s per second (libwebrtc
/// `AimdRateControl`, as all constants here).
const MIN_INCREASE: f64 = 4000.0;
/// The response time of the link and the other end, in addition to the RTT.
const RESPONSE: Duration = Duration::from_millis(100);
/// Shortest time between two cuts.
const MIN_APART: Duration = Duration::from_millis(10);
const MAX_APART: Duration = Duration::from_millis(200);
/// The rate is at most this multiple of the acknowledged rate, and a little more.
const AHEAD: f64 = 1.5;
const AHEAD_MORE: f64 = 10_000.0;
/// Weight of a new sample in the capacity, and bounds of its variance (in kbit/s).
const CAPACITY_WEIGHT: f64 = 0.05;
const MIN_VARIANCE: f64 = 0.4;
const MAX_VARIANCE: f64 = 2.5;

/// A rate that grows until the link is overused. In bits a second.
#[derive(Clone, Copy, Debug)]
pub(super) struct RateControl {
    rate: f64,
    decrease: f64,
    increase: f64,
    phase: Phase,
    capacity: Option<Capacity>,
    cut_at: Option<HostInstant>,
    grown_at: HostInstant,
}

/// ```text
/// Hold ──(normal)──▶ Increase ──(overuse)──▶ Decrease ──(at once)──▶ Hold
///   ▲                    │
///   └────(underuse)──────┘
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    Hold,
    Increase,
}

/// The acknowledged rate when the link was overused, in kbit/s, and its normalized variance.
#[derive(Clone, Copy, Debug)]
struct Capacity {
    mean: f64,
    variance: f64,
}

impl Capacity {
    fn deviation(&self) -> f64 {
        libm::sqrt(self.variance * self.mean)
    }

    fn is_near(&self, kbit: f64) -> bool {
        (kbit - self.mean).abs() <= 3.0 * self.deviation()
    }

    fn update(&mut self, kbit: f64) {
        let error = self.mean - kbit;
        self.mean += CAPACITY_WEIGHT * (kbit - self.mean);
        let variance = error * error / self.mean.max(1.0);
        self.variance = ((1.0 - CAPACITY_WEIGHT) * self.variance + CAPACITY_WEIGHT * variance)
            .clamp(MIN_VARIANCE, MAX_VARIANCE);
    }
}

impl RateControl {
    pub(super) fn new(now: HostInstant, config: &Config) -> Self {
        let Config { first_rate, decrease, increase } = *config;
        let rate = first_rate.bits_per_sec() as f64;
        Self {
            rate,
            decrease,
            increase,
            phase: Phase::Hold,
            capacity: None,
            cut_at: None,
            grown_at: now,
        }
    }

    pub(super) fn rate(&self) -> Rate {
        Rate::from_bits_per_sec(self.rate as u64)
    }

    pub(super) fn phase(&self) -> Phase {
        self.phase
    }

    /// Sets the rate: the result of a probe, or a new start.
    pub(super) fn set(&mut self, now: HostInstant, rate: Rate) {
        self.rate = rate.bits_per_sec() as f64;
        self.grown_at = now;
    }

    /// Applies the link's state, with an RTT and the rate acknowledged in a second.
    pub(super) fn handle_usage(
        &mut self,
        now: HostInstant,
        usage: Usage,
        rtt: Duration,
        acked: Rate,
        packet: Bytes,
    ) {
        let acked = acked.bits_per_sec() as f64;
        match usage {
            Usage::Over => self.cut(now, rtt, acked),
            Usage::Under => self.phase = Phase::Hold,
            Usage::Normal => {
                if self.phase == Phase::Hold {
                    self.phase = Phase::Increase;
                    self.grown_at = now;
                }
                self.grow(now, rtt, acked, packet);
            }
        }
    }

    fn cut(&mut self, now: HostInstant, rtt: Duration, acked: f64) {
        let apart = rtt.clamp(MIN_APART, MAX_APART);
        self.phase = Phase::Hold;
        if self.cut_at.is_some_and(|at| now < at + apart) {
            return;
        }
        self.cut_at = Some(now);
        let kbit = acked / 1e3;
        match &mut self.capacity {
            // If the acknowledged rate is far below the known capacity, the link has changed and
            // the capacity starts anew.
            Some(capacity) if kbit >= capacity.mean - 3.0 * capacity.deviation() => {
                capacity.update(kbit);
            }
            capacity => *capacity = Some(Capacity { mean: kbit, variance: MIN_VARIANCE }),
        }
        self.rate = self.rate.min(self.decrease * acked);
    }

    fn grow(&mut self, now: HostInstant, rtt: Duration, acked: f64, packet: Bytes) {
        let kbit = acked / 1e3;
        if self.capacity.is_some_and(|capacity| kbit > capacity.mean + 3.0 * capacity.deviation()) {
            self.capacity = None;
        }
        let seconds = (now - self.grown_at).as_secs_f64().min(1.0);
        self.grown_at = now;
        let more = if self.capacity.is_some_and(|capacity| capacity.is_near(kbit)) {
            let packet = packet.count() as f64 * 8.0;
            (packet / (rtt + RESPONSE).as_secs_f64()).max(MIN_INCREASE) * seconds
        } else {
            self.rate * (libm::pow(self.increase, seconds) - 1.0)
        };
        // The acknowledged rate never exceeds the sent rate, so any capacity above it is unknown.
        let most = AHEAD * acked + AHEAD_MORE;
        self.rate = (self.rate + more).min(most.max(self.rate));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RTT: Duration = Duration::from_millis(40);
    const PACKET: Bytes = Bytes::new(1448);

    fn at(millis: u64) -> HostInstant {
        HostInstant::from_nanos(millis * 1_000_000)
    }

    fn mbit(mbit: u64) -> Rate {
        Rate::from_bits_per_sec(mbit * 1_000_000)
    }

    fn begun(first_rate: Rate) -> RateControl {
        RateControl::new(at(0), &Config { first_rate, ..Config::default() })
    }

    fn after(control: &mut RateControl, from: u64, until: u64, usage: Usage, acked: Rate) -> f64 {
        for ms in (from..=until).step_by(10) {
            control.handle_usage(at(ms), usage, RTT, acked, PACKET);
        }
        control.rate().mbit_per_sec()
    }

    #[test]
    fn far_from_the_capacity_it_grows_by_eight_percent_a_second() {
        let mut control = begun(mbit(4));
        let rate = after(&mut control, 0, 1000, Usage::Normal, mbit(4));
        assert!((rate / 4.0 - 1.08).abs() < 0.001, "{rate}");
    }

    #[test]
    fn overuse_leaves_85_percent_of_what_arrives_once_an_rtt() {
        let mut control = begun(mbit(12));
        let rate = after(&mut control, 0, 30, Usage::Over, mbit(10));
        assert!((rate - 8.5).abs() < 1e-6, "{rate}");
        assert!((after(&mut control, 40, 40, Usage::Over, mbit(8)) - 6.8).abs() < 1e-6);
    }

    #[test]
    fn near_the_capacity_it_adds_a_packet_a_response() {
        let mut control = begun(mbit(12));
        after(&mut control, 0, 0, Usage::Over, mbit(10));
        let before = control.rate().mbit_per_sec();
        let rate = after(&mut control, 10, 1010, Usage::Normal, mbit(10));
        // 1448 bytes each 140 ms.
        assert!((rate - before - 0.0827).abs() < 0.001, "{before} {rate}");
    }

    #[test]
    fn it_is_never_far_ahead_of_what_arrives_and_holds_while_a_queue_drains() {
        let mut control = begun(mbit(4));
        let rate = after(&mut control, 0, 60_000, Usage::Normal, mbit(4));
        assert!((rate - 6.01).abs() < 1e-6, "{rate}");
        assert!((after(&mut control, 60_010, 70_000, Usage::Under, mbit(4)) - rate).abs() < 1e-6);
        assert_eq!(control.phase(), Phase::Hold);
    }
}
