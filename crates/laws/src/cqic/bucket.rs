use sounding_units::{Bytes, HostInstant, Rate};

/// Packets that may leave at once (interpretation 7).
const DEPTH: u64 = 2;

/// The token bucket of §4.1, counted in nanoseconds of the pace: a packet of `P` bytes takes `T_p =
/// P / B` of them.
///
/// It has a debt where it has no tokens: the time until which the packets that left would take, at
/// the pace at which each left.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bucket {
    /// When all that left is paid for.
    paid_at: HostInstant,
    mss: Bytes,
}

impl Bucket {
    pub(super) fn full(now: HostInstant, mss: Bytes) -> Self {
        Self { paid_at: now, mss }
    }

    /// A packet of `size` leaves at this pace.
    #[inline]
    pub(super) fn take(&mut self, now: HostInstant, size: Bytes, pace: Rate) {
        self.paid_at = self.paid_at.max(now) + size.time_at(pace).unwrap_or_default();
    }

    /// When the next packet of `size` may leave: the bucket then has room for what it takes.
    #[inline]
    pub(super) fn not_before(&self, size: Bytes, pace: Rate) -> HostInstant {
        let depth = Bytes::new(self.mss.count().saturating_mul(DEPTH)) - size;
        self.paid_at.saturating_before(depth.time_at(pace).unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MSS: Bytes = Bytes::new(1500);
    /// A packet each millisecond.
    const PACE: Rate = Rate::from_bits_per_sec(12_000_000);

    #[test]
    fn two_packets_leave_at_once_and_then_one_each_time() {
        let begin = HostInstant::from_nanos(5_000_000_000);
        let mut bucket = Bucket::full(begin, MSS);
        let (mut now, mut left) = (begin, std::vec::Vec::new());
        for _ in 0..5 {
            now = now.max(bucket.not_before(MSS, PACE));
            bucket.take(now, MSS, PACE);
            left.push((now - begin).as_micros());
        }
        assert_eq!(left, [0, 0, 1000, 2000, 3000]);
    }

    #[test]
    fn a_pause_saves_no_more_than_two_packets() {
        let begin = HostInstant::from_nanos(5_000_000_000);
        let mut bucket = Bucket::full(begin, MSS);
        bucket.take(begin, MSS, PACE);
        let later = begin + core::time::Duration::from_secs(1);
        for _ in 0..2 {
            assert!(bucket.not_before(MSS, PACE) <= later);
            bucket.take(later, MSS, PACE);
        }
        assert!(bucket.not_before(MSS, PACE) > later);
    }
}
