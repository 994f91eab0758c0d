//! What a reader of a board saw, and when.

use std::time::Duration;

use serde::Serialize;
use sounding_modem::Made;
use sounding_units::{HostInstant, ModemInstant};

/// When a reader saw which record as the latest.
#[derive(Clone, Debug, Default)]
pub(super) struct Sightings(Vec<Sighting>);

/// A look at the board.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sighting {
    /// When it was taken.
    pub(super) at: HostInstant,
    /// The latest record's stamp.
    pub(super) latest: ModemInstant,
    /// When the process that reads the modem had it.
    pub(super) received: HostInstant,
    /// When that process had put it on the board.
    pub(super) posted: HostInstant,
}

/// Sightings this close together are one delivery: a batch comes in as many reads as it takes.
/// Chosen; a fifth of the time between records.
const ONE_BATCH: Duration = Duration::from_millis(2);

impl Sightings {
    /// Keeps what shows something new.
    pub(super) fn see(&mut self, sighting: Sighting) {
        if self.0.last().is_none_or(|before| before.latest < sighting.latest) {
            self.0.push(sighting);
        }
    }

    /// Forgets what was seen within so long of the first.
    pub(super) fn skip(&mut self, warm_up: Duration) {
        if let Some(&Sighting { at: begin, .. }) = self.0.first() {
            self.0.retain(|sighting| sighting.at - begin >= warm_up);
        }
    }

    /// Deliveries: when each was complete, and the latest record of it.
    fn deliveries(&self) -> Vec<Sighting> {
        let batches = self.0.chunk_by(|before, after| after.at - before.at < ONE_BATCH);
        batches.filter_map(|batch| batch.last().copied()).collect()
    }

    /// Time from each delivery to the next.
    pub(super) fn gaps(&self) -> Vec<Duration> {
        self.deliveries().windows(2).map(|pair| pair[1].at - pair[0].at).collect()
    }

    /// Number of records in each delivery, sorted. `made` is in order of stamps.
    pub(super) fn records(&self, made: &[Made]) -> Vec<usize> {
        let until = |stamp| made.partition_point(|made| made.stamp <= stamp);
        let deliveries = self.deliveries();
        let mut counts: Vec<usize> = deliveries
            .windows(2)
            .map(|pair| until(pair[1].latest) - until(pair[0].latest))
            .collect();
        counts.sort_unstable();
        counts
    }

    /// From the moment each record was made until it, or one after it, was seen.
    pub(super) fn ages(&self, made: &[Made]) -> Vec<Duration> {
        self.since_made(made, |sighting| sighting.at)
    }

    /// From the moment each record was made until the process that reads the modem had it, or one
    /// after it.
    pub(super) fn received(&self, made: &[Made]) -> Vec<Duration> {
        self.since_made(made, |sighting| sighting.received)
    }

    /// From the moment each record was made until it, or one after it, was on the board.
    pub(super) fn posted(&self, made: &[Made]) -> Vec<Duration> {
        self.since_made(made, |sighting| sighting.posted)
    }

    fn since_made(&self, made: &[Made], when: impl Fn(&Sighting) -> HostInstant) -> Vec<Duration> {
        let first = self.0.first().map_or(ModemInstant::default(), |first| first.latest);
        let seen = |made: &Made| {
            let at = self.0.partition_point(|sighting| sighting.latest < made.stamp);
            self.0.get(at).map(|sighting| when(sighting) - made.at)
        };
        made.iter().filter(|made| made.stamp > first).filter_map(seen).collect()
    }
}

/// How times are spread, in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Spread {
    /// Half of them are shorter.
    pub median: f64,
    /// One in a hundred is longer.
    pub p99: f64,
    /// The longest.
    pub max: f64,
}

impl Spread {
    /// From at least three times.
    pub(crate) fn of(mut times: Vec<Duration>) -> Option<Self> {
        times.sort();
        let at = |permille: usize| {
            times
                .get((times.len().max(1) - 1) * permille / 1000)
                .map(|time| time.as_secs_f64() * 1e3)
        };
        (times.len() >= 3).then_some(())?;
        Some(Self { median: at(500)?, p99: at(990)?, max: at(1000)? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn host(us: u64) -> HostInstant {
        HostInstant::from_nanos(us * 1_000)
    }

    fn modem(ms: u64) -> ModemInstant {
        ModemInstant::from_nanos(1_000_000_000_000_000 + ms * 1_000_000)
    }

    fn look(us: u64, latest: u64) -> Sighting {
        Sighting {
            at: host(us),
            latest: modem(latest),
            received: host(us - 40),
            posted: host(us - 30),
        }
    }

    /// A record every 10 ms.
    fn made() -> Vec<Made> {
        (0..10).map(|n| Made { stamp: modem(10 * n), at: host(10_000 * n) }).collect()
    }

    #[test]
    fn a_record_is_seen_when_it_or_a_later_one_is_the_latest() {
        let mut sightings = Sightings::default();
        for (us, latest) in [(100, 0), (150, 0), (10_300, 10), (40_200, 40)] {
            sightings.see(look(us, latest));
        }
        let ages: Vec<u128> = sightings.ages(&made()).iter().map(Duration::as_micros).collect();
        assert_eq!(ages, [300, 20_200, 10_200, 200]);
        assert_eq!(sightings.received(&made())[0], Duration::from_micros(260));
        assert_eq!(sightings.posted(&made())[0], Duration::from_micros(270));
        assert_eq!(sightings.records(&made()), [1, 3]);
    }

    #[test]
    fn a_batch_that_comes_in_parts_is_one_delivery() {
        let mut sightings = Sightings::default();
        for (us, latest) in [(100, 0), (50_000, 30), (50_900, 40), (51_500, 50), (60_000, 60)] {
            sightings.see(look(us, latest));
        }
        let gaps: Vec<u128> = sightings.gaps().iter().map(Duration::as_micros).collect();
        assert_eq!(gaps, [51_400, 8_500]);
        assert_eq!(sightings.records(&made()), [1, 5]);
    }

    #[test]
    fn what_was_seen_before_all_was_warm_counts_for_nothing() {
        let mut sightings = Sightings::default();
        (0..10).for_each(|n| sightings.see(look(10_000 * n + 5_000, 10 * n)));
        sightings.skip(Duration::from_millis(50));
        assert_eq!(sightings.ages(&made()).len(), 4);
    }

    #[test]
    fn two_times_are_no_spread() {
        let times =
            |ms: &[u64]| Spread::of(ms.iter().copied().map(Duration::from_millis).collect());
        assert_eq!(times(&[1, 2]), None);
        assert_eq!(times(&[30, 10, 20]), Some(Spread { median: 20.0, p99: 20.0, max: 30.0 }));
    }
}
