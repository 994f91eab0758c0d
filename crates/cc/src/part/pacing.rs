use core::time::Duration;

use sounding_units::{Bytes, HostInstant, Rate};

/// Below this TCP hands down single segments, above it at least two (BBR draft §4.2.2).
const SLOW: Rate = Rate::from_bits_per_sec(1_200_000);
/// The most that is handed down at once (BBR draft §4.2.2).
const MOST: u64 = 64_000;

/// At a rate of zero one packet goes in this time, so that a rate that rises again is noticed.
const ASK_AGAIN: Duration = Duration::from_secs(1);

/// The burst at a pacing rate: a millisecond's worth in whole segments, two at least (BBR draft
/// §4.2.2; Linux `tcp_tso_autosize`).
#[inline]
pub fn burst(rate: Rate, mss: Bytes) -> Bytes {
    let mss = mss.count().max(1);
    let least = if rate < SLOW { 1 } else { 2 };
    // 1024 to a second: what Linux shifts by.
    let worth = (rate.bytes_per_sec() >> 10).min(MOST) / mss;
    Bytes::new(worth.max(least) * mss)
}

/// Spreads packets over time, a burst at a time.
#[derive(Clone, Copy, Debug, Default)]
pub struct Pacer {
    /// When the next burst may begin.
    next: HostInstant,
    /// Bytes left of the burst that began at `began`.
    left: Bytes,
    began: HostInstant,
}

impl Pacer {
    /// When a packet may leave; now or earlier if at once.
    #[inline]
    pub fn next(&self, now: HostInstant) -> HostInstant {
        let in_burst = self.left > Bytes::ZERO && self.began == now;
        if in_burst { now } else { self.next }
    }

    /// A packet of `size` left.
    #[inline]
    pub fn handle_sent(&mut self, now: HostInstant, size: Bytes, rate: Rate, mss: Bytes) {
        if self.left == Bytes::ZERO || self.began != now {
            self.left = burst(rate, mss);
            self.began = now;
            self.next = now;
        }
        self.left = self.left - size;
        let span = size.time_at(rate).unwrap_or(ASK_AGAIN);
        self.next = self.next + span;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MSS: Bytes = Bytes::new(1500);

    #[test]
    fn bursts_are_a_millisecond_long_and_two_segments_at_least() {
        for (mbit, segments) in [(1, 1), (2, 2), (24, 2), (48, 3), (10_000, 42)] {
            let rate = Rate::from_bits_per_sec(mbit * 1_000_000);
            assert_eq!(burst(rate, MSS).count(), segments * 1500, "{mbit} Mbit/s");
        }
    }

    #[test]
    fn a_second_of_pacing_sends_what_the_rate_says() {
        let rate = Rate::from_bits_per_sec(12_000_000);
        let (mut pacer, mut now, mut sent) = (Pacer::default(), HostInstant::default(), 0);
        while now < HostInstant::from_nanos(1_000_000_000) {
            pacer.handle_sent(now, MSS, rate, MSS);
            sent += 1;
            now = pacer.next(now);
        }
        assert_eq!(sent, 1000);
    }
}
