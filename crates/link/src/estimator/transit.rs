use core::time::Duration;

use sounding_units::{HostInstant, ModemInstant};

/// How much longer some records were on their way than others: a port that hands them over in batches holds the first of
/// each back for longest.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Transit {
    began: HostInstant,
    /// The least and the most since then, and in the time before it.
    recent: Option<(i64, i64)>,
    before: Option<(i64, i64)>,
}

impl Transit {
    /// Forgotten after once to twice as long: many batches, and too short for two clocks to drift apart.
    const LASTS: Duration = Duration::from_secs(1);

    /// A record of `at` came in.
    pub(super) fn handle_record(&mut self, now: HostInstant, at: ModemInstant) {
        if now - self.began > Self::LASTS {
            *self = Self { began: now, recent: None, before: self.recent };
        }
        // The clocks have different origins, so that only differences of this say something.
        let took = now.as_nanos().wrapping_sub(at.as_nanos()).cast_signed();
        self.recent = wider(self.recent, Some((took, took)));
    }

    /// The difference between the longest and the shortest way of late.
    pub(super) fn spread(&self) -> Duration {
        let (least, most) = wider(self.recent, self.before).unwrap_or_default();
        Duration::from_nanos(most.abs_diff(least))
    }
}

fn wider(one: Option<(i64, i64)>, other: Option<(i64, i64)>) -> Option<(i64, i64)> {
    let both = |((a, b), (c, d)): ((i64, i64), (i64, i64))| (a.min(c), b.max(d));
    one.zip(other).map(both).or(one).or(other)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arrives(transit: &mut Transit, now_ms: u64, at_ms: u64) {
        let at = ModemInstant::from_nanos((1_000_000 + at_ms) * 1_000_000);
        transit.handle_record(HostInstant::from_nanos(now_ms * 1_000_000), at);
    }

    #[test]
    fn what_comes_in_batches_is_held_back_for_as_long() {
        let mut transit = Transit::default();
        for ms in 0..200 {
            arrives(&mut transit, (ms / 50 + 1) * 50, ms);
        }
        assert_eq!(transit.spread(), Duration::from_millis(49));
    }

    #[test]
    fn what_always_takes_as_long_is_held_back_by_nothing() {
        let mut transit = Transit::default();
        for ms in [0, 1, 70, 71, 500] {
            arrives(&mut transit, ms + 30, ms);
        }
        assert_eq!(transit.spread(), Duration::ZERO);
    }

    #[test]
    fn what_was_held_back_once_is_forgotten() {
        let mut transit = Transit::default();
        arrives(&mut transit, 80, 0);
        for ms in 1..=20 {
            arrives(&mut transit, ms * 100, ms * 100);
        }
        assert_eq!(transit.spread(), Duration::from_millis(80));
        for ms in 21..=23 {
            arrives(&mut transit, ms * 100, ms * 100);
        }
        assert_eq!(transit.spread(), Duration::ZERO);
    }
}
