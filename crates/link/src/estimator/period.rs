use core::time::Duration;

use sounding_units::ModemInstant;

/// Detects modems that write the records of an estimate rarely.
///
/// Most modems report a block within 300 ms. Some NB-IoT modems write one record per second with
/// all blocks of that second. Their rate has to be a mean over that second, and holds until the
/// next record. If a record lists only one block, rare records and rare traffic look alike. A block
/// that was old when it was reported shows the difference.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Period {
    /// The newest records, in a ring.
    records: [Reported; 4],
    next: usize,
    /// When the newest record was stamped.
    stamped: Option<ModemInstant>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Reported {
    /// Since the record before, zero where there was none.
    gap: Duration,
    /// Age of its oldest block.
    reach: Duration,
}

impl Period {
    /// Blocks are usually reported within this: PDSCH statistics come every 300 ms at most.
    const USUAL: Duration = Duration::from_millis(400);

    /// No estimate is a mean over more than this. Chosen.
    const LONGEST: Duration = Duration::from_secs(5);

    /// A block of a record that was stamped then.
    pub(super) fn handle_block(&mut self, stamped: ModemInstant, at: ModemInstant) {
        if self.stamped != Some(stamped) {
            let gap = self.stamped.map_or(Duration::ZERO, |before| stamped - before);
            self.next = (self.next + 1) % self.records.len();
            self.records[self.next] = Reported { gap, reach: Duration::ZERO };
            self.stamped = Some(stamped);
        }
        let reach = &mut self.records[self.next].reach;
        *reach = (*reach).max(stamped - at);
    }

    /// The time between two records; zero if records are so frequent that it has no effect.
    pub(super) fn get(&self) -> Duration {
        let reach = self.records.iter().map(|record| record.reach).max().unwrap_or_default();
        if reach <= Self::USUAL {
            return Duration::ZERO;
        }
        // A longer gap is a pause of the traffic.
        let gaps = self.records.iter().map(|record| record.gap);
        let gap = gaps.filter(|gap| (Self::USUAL..=Self::LONGEST).contains(gap)).min();
        reach.max(gap.unwrap_or_default()).min(Self::LONGEST)
    }

    /// The time up to which all grants have been reported, if records are rare. It is the newest
    /// record, plus a period for each record that was due and missing, because there was no
    /// grant in that period.
    pub(super) fn reported_until(&self, now: ModemInstant) -> Option<ModemInstant> {
        let period = self.get();
        let stamped = self.stamped.filter(|_| period > Duration::ZERO)?;
        // Records are written a few milliseconds late.
        let since = (now - stamped).saturating_sub(period / 20);
        let missed = since.as_nanos() / period.as_nanos();
        Some(stamped + period * u32::try_from(missed).unwrap_or(u32::MAX))
    }

    /// The time after the newest record when the next one is overdue. A block that it does not list
    /// was then not granted.
    pub(super) fn overdue(&self) -> Duration {
        self.get() * 3 / 2
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> ModemInstant {
        ModemInstant::from_nanos(ms * 1_000_000)
    }

    /// Records stamped then, each with blocks of so long before, in milliseconds.
    fn after(records: &[(u64, &[u64])]) -> u64 {
        let mut period = Period::default();
        for (stamped, blocks) in records {
            for ago in *blocks {
                period.handle_block(at(*stamped), at(stamped - ago));
            }
        }
        period.get().as_millis() as u64
    }

    #[test]
    fn records_that_come_often_have_no_period() {
        assert_eq!(after(&[(10_000, &[90, 10]), (10_100, &[99, 0]), (10_400, &[300, 0])]), 0);
    }

    #[test]
    fn rare_traffic_is_not_a_rare_record() {
        assert_eq!(after(&[(10_000, &[5]), (11_000, &[5]), (12_000, &[5])]), 0);
    }

    #[test]
    fn a_record_a_second_is_known_from_the_first_on() {
        let blocks: &[u64] = &[950, 500, 50];
        assert_eq!(after(&[(10_000, blocks)]), 950);
        assert_eq!(after(&[(10_000, blocks), (11_000, blocks)]), 1_000);
        assert_eq!(after(&[(10_000, blocks), (11_000, &[3]), (13_000, &[7])]), 1_000);
    }

    #[test]
    fn a_modem_that_reports_often_again_is_followed_at_once() {
        let rare: (u64, &[u64]) = (10_000, &[950, 50]);
        let often: &[u64] = &[9, 0];
        let records = [rare, (10_010, often), (10_020, often), (10_030, often), (10_040, often)];
        assert_eq!(after(&records), 0);
    }
}
