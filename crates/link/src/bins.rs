use core::time::Duration;

use sounding_units::ModemInstant;

/// Cuts the modem's time into bins, for a series of estimates with one at the end of each.
///
/// The first record starts the first bin. A clock that jumps by more than a minute, as where two captures were put
/// into one file, starts a bin of its own instead of one for every bin of the gap.
#[derive(Clone, Debug)]
pub struct Bins {
    bin: Duration,
    /// The last jump of the clock, and when the current bin ends.
    clock: Option<(ModemInstant, ModemInstant)>,
    elapsed: Duration,
}

impl Bins {
    const LONGEST_GAP: Duration = Duration::from_secs(60);

    /// Bins of this length, which is not zero.
    pub const fn new(bin: Duration) -> Self {
        Self { bin, clock: None, elapsed: Duration::ZERO }
    }

    /// Takes the time of the next record, and hands over each bin that ended before it: the time since the first
    /// record, and the end on the modem's clock.
    pub fn handle_record(
        &mut self,
        at: ModemInstant,
        mut ended: impl FnMut(Duration, ModemInstant),
    ) {
        let Some((start, due)) = &mut self.clock else {
            self.clock = Some((at, at + self.bin));
            return;
        };
        if at - *due > Self::LONGEST_GAP || *start - at > Self::LONGEST_GAP {
            (*start, *due) = (at, at + self.bin);
        }
        while *due <= at {
            let next = *due + self.bin;
            // Time stamps of nothing but ones are at the end of time, where no bin ends any more.
            if next == *due {
                return;
            }
            self.elapsed += self.bin;
            ended(self.elapsed, *due);
            *due = next;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    fn ends(times_ms: &[u64]) -> Vec<(u64, u64)> {
        let mut bins = Bins::new(Duration::from_millis(100));
        let mut ends = Vec::new();
        for ms in times_ms {
            bins.handle_record(ModemInstant::from_nanos(ms * 1_000_000), |elapsed, at| {
                ends.push((elapsed.as_millis() as u64, at.as_nanos() / 1_000_000));
            });
        }
        ends
    }

    #[test]
    fn a_bin_ends_when_a_record_comes_from_after_it() {
        assert_eq!(ends(&[1000, 1099]), []);
        assert_eq!(ends(&[1000, 1099, 1100, 1350]), [(100, 1100), (200, 1200), (300, 1300)]);
    }

    #[test]
    fn a_jump_of_the_clock_is_no_row_of_bins() {
        let set = 1_000_000_000;
        assert_eq!(ends(&[1000, set, set + 100]), [(100, set + 100)]);
        assert_eq!(ends(&[set, 1000, 1100]), [(100, 1100)]);
    }

    #[test]
    fn the_end_of_time_is_no_row_of_bins_without_end() {
        let mut bins = Bins::new(Duration::from_millis(100));
        for nanos in [u64::MAX - 150_000_000, u64::MAX, u64::MAX] {
            bins.handle_record(ModemInstant::from_nanos(nanos), |_, _| {});
        }
        assert_eq!(bins.elapsed, Duration::from_millis(100));
    }

    #[test]
    fn a_record_out_of_order_ends_nothing() {
        assert_eq!(ends(&[1000, 1100, 1050, 1199]), [(100, 1100)]);
    }
}
