use alloc::sync::Arc;

use sounding_trace::Trace;
use sounding_units::{Bytes, HostInstant};

/// Bytes that one opportunity carries: 1500 bytes of IP and the 4-byte header of a TUN device
/// (mahimahi's `PACKET_SIZE`).
pub(crate) const OPPORTUNITY: Bytes = Bytes::new(1504);

/// A packet's cost beyond its bytes of IP: mahimahi counts the header that its TUN device adds.
pub(crate) const TUN_HEADER: Bytes = Bytes::new(4);

/// A link's position in its trace.
#[derive(Debug)]
pub(crate) struct TraceCursor {
    trace: Arc<Trace>,
    /// When the link's clock shows 0 ms.
    origin: HostInstant,
    /// When the current lap of the trace began, in milliseconds of the link's clock.
    lap_began: u64,
    /// The next opportunity; past the end only when a trace that is not repeated is used up.
    index: usize,
    /// Opportunities used or passed so far.
    used: u64,
    once: bool,
}

impl TraceCursor {
    /// A trace that is repeated from `origin` on.
    pub(crate) fn new(trace: Arc<Trace>, origin: HostInstant) -> Self {
        Self { trace, origin, lap_began: 0, index: 0, used: 0, once: false }
    }

    /// Plays the trace once, or over and over.
    pub(crate) fn set_once(&mut self, once: bool) {
        self.once = once;
    }

    /// Begins the first lap `millis` after the origin; only before any opportunity was used.
    pub(crate) fn set_base(&mut self, millis: u64) {
        self.lap_began = millis;
    }

    /// The moment of the next opportunity; `None` once a trace that is not repeated is used up.
    pub(crate) fn next(&self) -> Option<HostInstant> {
        let at = self.trace.millis().get(self.index)?;
        Some(self.instant(self.lap_began.saturating_add(u64::from(*at))))
    }

    /// When a trace that is not repeated is used up; `None` if it is already, or is repeated.
    pub(crate) fn end(&self) -> Option<HostInstant> {
        let ends = self.once && self.index < self.trace.millis().len();
        ends.then(|| self.instant(self.lap_began.saturating_add(self.trace.period_millis().into())))
    }

    /// The first opportunity in a later millisecond than `now`, if the current lap or the next has
    /// one; else `now`.
    pub(crate) fn first_after(&self, now: HostInstant) -> HostInstant {
        let since = now.as_nanos().checked_sub(self.origin.as_nanos());
        let Some(now_millis) = since.map(|nanos| nanos / 1_000_000) else { return now };
        let millis = self.trace.millis();
        let lap = u64::from(self.trace.period_millis());
        for began in [self.lap_began, self.lap_began.saturating_add(lap)] {
            let inside = now_millis.checked_sub(began);
            let passed = |inside| millis.partition_point(|&at| u64::from(at) <= inside);
            if let Some(&at) = millis.get(inside.map_or(0, passed)) {
                return self.instant(began + u64::from(at)).max(now);
            }
        }
        now
    }

    /// Goes past the next opportunity.
    pub(crate) fn take(&mut self) {
        self.index += 1;
        self.used += 1;
        if self.index == self.trace.millis().len() && !self.once {
            self.index = 0;
            self.lap_began += u64::from(self.trace.period_millis());
        }
    }

    /// Goes past every opportunity at or before `now`, in a time that does not depend on how many
    /// there are.
    pub(crate) fn skip_to(&mut self, now: HostInstant) {
        let since = now.as_nanos().checked_sub(self.origin.as_nanos());
        let Some(now) = since.map(|nanos| nanos / 1_000_000) else { return };
        let Some(inside) = now.checked_sub(self.lap_began) else { return };
        let period = u64::from(self.trace.period_millis());
        let len = self.trace.millis().len();
        if !self.once && inside >= period {
            let laps = inside / period;
            // Every opportunity of those laps is used up: the last of them is at the moment the
            // next lap begins.
            self.used += laps * len as u64 - self.index as u64;
            self.index = 0;
            self.lap_began += laps * period;
        }
        let inside = now - self.lap_began;
        let ahead = &self.trace.millis()[self.index..];
        let passed = ahead.partition_point(|&at| u64::from(at) <= inside);
        self.index += passed;
        self.used += passed as u64;
    }

    /// Number of opportunities that were used or missed so far.
    pub(crate) fn used(&self) -> u64 {
        self.used
    }

    fn instant(&self, millis: u64) -> HostInstant {
        HostInstant::from_nanos(
            self.origin.as_nanos().saturating_add(millis.saturating_mul(1_000_000)),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::vec;

    fn at_millis(millis: u64) -> HostInstant {
        HostInstant::from_nanos(millis * 1_000_000)
    }

    #[test]
    fn the_first_opportunity_after_a_moment_may_be_in_the_next_lap() {
        let trace = Arc::new(Trace::from_millis(vec![0, 3, 3, 8]).unwrap());
        let cursor = TraceCursor::new(trace, HostInstant::default());
        for (now, first) in [(0, 3), (2, 3), (3, 8), (8, 11), (11, 16)] {
            assert_eq!(cursor.first_after(at_millis(now)), at_millis(first), "after {now} ms");
        }
    }

    #[test]
    fn a_trace_that_is_not_repeated_ends() {
        let trace = Arc::new(Trace::from_millis(vec![1, 4]).unwrap());
        let mut cursor = TraceCursor::new(trace, HostInstant::default());
        cursor.set_once(true);
        cursor.skip_to(at_millis(100));
        assert_eq!((cursor.next(), cursor.used()), (None, 2));
    }

    proptest! {
        #[test]
        fn skipping_is_taking_one_by_one(
            mut millis in proptest::collection::vec(0..30_u32, 1..12),
            jumps in proptest::collection::vec(0..100_u64, 1..12),
            once: bool,
            base in 0..20_u64,
        ) {
            millis.sort_unstable();
            millis.push(30);
            let trace = Arc::new(Trace::from_millis(millis).unwrap());
            let mut skipped = TraceCursor::new(trace.clone(), at_millis(5));
            let mut taken = TraceCursor::new(trace, at_millis(5));
            for cursor in [&mut skipped, &mut taken] {
                cursor.set_once(once);
                cursor.set_base(base);
            }
            let mut now = 0;
            for jump in jumps {
                now += jump;
                skipped.skip_to(at_millis(now));
                while taken.next().is_some_and(|at| at <= at_millis(now)) {
                    taken.take();
                }
                prop_assert_eq!(skipped.next(), taken.next());
                prop_assert_eq!(skipped.used(), taken.used());
            }
        }
    }
}
