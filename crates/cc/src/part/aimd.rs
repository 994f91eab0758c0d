use sounding_units::{Bytes, HostInstant};

use super::{Marks, SlowStart};
use crate::controller::{Ack, Loss, Recovery, Start};

/// The window of RFC 5681: slow start, one segment per round, half after a loss, one segment after
/// a timeout, which may be undone (bytes are counted as in RFC 3465).
///
/// Controllers that also use delay have other rules for growth and cuts.
#[derive(Clone, Copy, Debug)]
pub struct Aimd {
    mss: Bytes,
    cwnd: Bytes,
    ssthresh: Bytes,
    /// Acknowledged in congestion avoidance and not yet turned into window.
    credit: Bytes,
    /// Fraction of a byte that [`shift`](Self::shift) could not turn into window yet.
    fraction: f64,
    marks: Marks,
    /// HyStart++, until the first slow start ends.
    slow_start: Option<SlowStart>,
    before_timeout: Option<(Bytes, Bytes)>,
}

impl Aimd {
    /// Begins with RFC 6928's window, in slow start.
    pub fn new(start: &Start) -> Self {
        Self {
            mss: Bytes::new(start.mss.count().max(1)),
            cwnd: start.initial_cwnd(),
            ssthresh: Bytes::new(u64::MAX),
            credit: Bytes::ZERO,
            fraction: 0.0,
            marks: Marks::default(),
            slow_start: None,
            before_timeout: None,
        }
    }

    /// The same with a first slow start that ends when the RTT rises (RFC 9406).
    #[must_use]
    pub fn with_hystart(self) -> Self {
        Self { slow_start: Some(SlowStart::default()), ..self }
    }

    /// The window.
    #[inline]
    pub fn cwnd(&self) -> Bytes {
        self.cwnd
    }

    /// The window in segments.
    #[inline]
    pub fn segments(&self) -> f64 {
        self.in_segments(self.cwnd)
    }

    /// Bytes in segments.
    #[inline]
    pub fn in_segments(&self, bytes: Bytes) -> f64 {
        bytes.count() as f64 / self.mss.count() as f64
    }

    /// Whether the window doubles every round.
    #[inline]
    pub fn in_slow_start(&self) -> bool {
        self.cwnd < self.ssthresh
    }

    /// Whether the first slow start has not ended yet.
    #[inline]
    pub fn in_first_slow_start(&self) -> bool {
        self.ssthresh == Bytes::new(u64::MAX)
    }

    /// Call it first for every acknowledgement. Returns whether a congestion mark has just cut the
    /// window.
    #[inline]
    pub fn handle_ack(&mut self, ack: &Ack) -> bool {
        if ack.recovery != Recovery::Timeout {
            self.before_timeout = None;
        }
        let marked = self.marks.handle_ack(ack);
        if marked {
            self.cut();
        }
        marked
    }

    /// Grows as Reno does, if the window is what keeps the sender from sending more.
    #[inline]
    pub fn grow(&mut self, ack: &Ack) {
        if ack.recovery == Recovery::Fast || !ack.cwnd_limited {
            return;
        }
        if self.cwnd < self.ssthresh {
            let more = match &mut self.slow_start {
                Some(slow_start) => slow_start.handle_ack(ack),
                None => Some(ack.acked),
            };
            if let Some(more) = more {
                self.cwnd = (self.cwnd + more).min(self.ssthresh.max(self.cwnd + self.mss));
                return;
            }
            self.ssthresh = self.cwnd;
        }
        self.credit += ack.acked;
        if self.credit >= self.cwnd {
            self.credit = self.credit - self.cwnd;
            self.cwnd += self.mss;
        }
    }

    /// Grows or shrinks by this many segments or parts of one, to two segments at least.
    #[inline]
    pub fn shift(&mut self, segments: f64) {
        let wanted = self.cwnd.count() as f64 + self.fraction + segments * self.mss.count() as f64;
        let least = self.least().count() as f64;
        let whole = libm::floor(wanted.max(least));
        self.fraction = (wanted - whole).max(0.0);
        self.set(Bytes::new(whole as u64));
    }

    /// Limits the window to this, but not below two segments.
    #[inline]
    pub fn cap(&mut self, most: Bytes) {
        self.set(self.cwnd.min(most).max(self.least()));
    }

    /// A window that shrinks in congestion avoidance stays in congestion avoidance.
    #[inline]
    fn set(&mut self, cwnd: Bytes) {
        if !self.in_slow_start() {
            self.ssthresh = self.ssthresh.min(cwnd);
        }
        self.cwnd = cwnd;
    }

    /// Falls to `cwnd`, and slow start ends at `ssthresh`.
    pub fn slow_start_to(&mut self, cwnd: Bytes, ssthresh: Bytes) {
        (self.cwnd, self.ssthresh) = (cwnd.max(self.least()), ssthresh.max(self.least()));
        self.slow_start = None;
        self.credit = Bytes::ZERO;
    }

    /// Slow start ends here.
    pub fn leave_slow_start(&mut self) {
        self.slow_start = None;
        self.ssthresh = self.cwnd;
    }

    /// Falls to `cwnd` and comes back to where it was in slow start.
    pub fn dip(&mut self, cwnd: Bytes) {
        self.ssthresh = self.cwnd;
        self.cwnd = cwnd;
        self.credit = Bytes::ZERO;
    }

    /// Half, two segments at least.
    pub fn cut(&mut self) {
        self.slow_start = None;
        self.ssthresh = Bytes::new(self.cwnd.count() / 2).max(self.least());
        self.cwnd = self.ssthresh;
        self.credit = Bytes::ZERO;
    }

    /// Cuts once for all losses of a round.
    pub fn handle_loss(&mut self, loss: &Loss) {
        if loss.begins_recovery {
            self.cut();
        }
    }

    /// Sets the window to one segment, with slow start to half of the old window.
    pub fn handle_timeout(&mut self, _now: HostInstant) {
        // The first of several timeouts in a row is the one that would be undone.
        self.before_timeout.get_or_insert((self.cwnd, self.ssthresh));
        self.cut();
        self.cwnd = self.mss;
    }

    /// As if the timeout had not been.
    pub fn handle_spurious_timeout(&mut self, _now: HostInstant) {
        if let Some((cwnd, ssthresh)) = self.before_timeout.take() {
            self.cwnd = self.cwnd.max(cwnd);
            self.ssthresh = self.ssthresh.max(ssthresh);
        }
    }

    #[inline]
    fn least(&self) -> Bytes {
        Bytes::new(self.mss.count() * 2)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MSS: u64 = 1448;

    fn window() -> Aimd {
        Aimd::new(&Start::tcp(HostInstant::default(), None, 1))
    }

    #[test]
    fn parts_of_segments_add_up_to_whole_bytes() {
        let mut window = window();
        // A third of a byte at a time.
        (0..3 * MSS).for_each(|_| window.shift(1.0 / (3 * MSS) as f64));
        let grown = window.cwnd().count() - 10 * MSS;
        assert!((MSS - 1..=MSS).contains(&grown), "{grown}");
    }

    #[test]
    fn what_shrinks_keeps_two_segments() {
        let mut window = window();
        window.shift(-100.0);
        assert_eq!(window.cwnd().count(), 2 * MSS);
        window.cap(Bytes::ZERO);
        assert_eq!(window.cwnd().count(), 2 * MSS);
    }

    #[test]
    fn what_shrinks_in_avoidance_does_not_fall_into_slow_start() {
        let mut window = window();
        window.leave_slow_start();
        window.shift(-1.0);
        assert!(!window.in_slow_start());
    }

    #[test]
    fn a_dip_ends_in_slow_start_to_where_it_began() {
        let mut window = window();
        window.leave_slow_start();
        window.dip(Bytes::new(2 * MSS));
        assert!(window.in_slow_start() && !window.in_first_slow_start());
        let ack = Ack { acked: Bytes::new(MSS), cwnd_limited: true, ..Ack::default() };
        (0..8).for_each(|_| window.grow(&ack));
        assert!(!window.in_slow_start());
        assert_eq!(window.cwnd().count(), 10 * MSS);
    }
}
