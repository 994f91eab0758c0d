use core::time::Duration;

use sounding_units::{Axis, ModemInstant};

/// Cuts the modem's time into bins, for a series with a row at the end of each.
///
/// The first record starts the first bin. A long pause without records is one row, whatever the
/// length of a bin. If the modem sets its clock, a new bin starts at the new time. Give it times
/// that are believed: those of [`Sounder::clock`](crate::Sounder).
#[derive(Clone, Debug)]
pub struct Bins {
    bin: Duration,
    clock: Option<Clock>,
    elapsed: Duration,
}

#[derive(Clone, Copy, Debug)]
struct Clock {
    /// When the current bin began.
    start: ModemInstant,
    /// The newest record.
    newest: ModemInstant,
    /// The latest time, with or without a record.
    latest: ModemInstant,
}

impl Clock {
    const fn begin(at: ModemInstant) -> Self {
        Self { start: at, newest: at, latest: at }
    }
}

/// A bin or pause that ends when time advances.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// A bin, or a stretch without records.
    Bin(Bin),
    /// The modem set its clock.
    Jump(Jump),
}

/// The modem set its clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Jump {
    /// Time from the first record, without jumps.
    pub elapsed: Duration,
    /// The newest record on the old clock.
    pub from: ModemInstant,
    /// The first record on the new one.
    pub to: ModemInstant,
}

impl Jump {
    /// Distance in seconds; negative if the clock was set back.
    pub fn seconds(&self) -> f64 {
        (self.to - self.from).as_secs_f64() - (self.from - self.to).as_secs_f64()
    }
}

/// A span of the modem's time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bin {
    /// Time from the first record to the end, without jumps of the clock.
    pub elapsed: Duration,
    /// Its end on the modem's clock. It belongs to the next bin.
    pub end: ModemInstant,
    /// Its length: longer than the others where no record came for long, shorter at the end of a
    /// capture.
    pub span: Duration,
}

impl Bin {
    /// Its beginning, which belongs to it.
    pub fn start(&self) -> ModemInstant {
        self.end.saturating_before(self.span)
    }
}

impl Bins {
    /// Bins continue for this time after a record; the rest of a longer pause is one row. After
    /// such a silence an estimator also starts anew.
    pub const QUIET_AFTER: Duration = Duration::from_secs(10);

    /// Bins of this length, which is not zero.
    pub const fn new(bin: Duration) -> Self {
        Self { bin, clock: None, elapsed: Duration::ZERO }
    }

    /// Takes the time of the next record, and hands over what ended before it.
    pub fn handle_record(&mut self, at: ModemInstant, mut ended: impl FnMut(Step)) {
        let Some(clock) = self.clock else {
            self.clock = Some(Clock::begin(at));
            return;
        };
        let from = clock.newest;
        if from - at > Axis::OVERTAKEN || at - from > Axis::SET_AHEAD {
            self.handle_end(&mut ended);
            ended(Step::Jump(Jump { elapsed: self.elapsed, from, to: at }));
            self.clock = Some(Clock::begin(at));
            return;
        }
        let quiet_from = from + Self::QUIET_AFTER;
        self.end_bins(at.min(quiet_from), &mut ended);
        if at > quiet_from {
            self.end_stretch(at, &mut ended);
        }
        if let Some(clock) = &mut self.clock {
            clock.newest = clock.newest.max(at);
            clock.latest = clock.latest.max(at);
        }
    }

    /// Time advanced to `now` without a record: reports the bins that ended before it. The rest of
    /// a long silence is reported as one row when it ends.
    pub fn handle_time(&mut self, now: ModemInstant, mut ended: impl FnMut(Step)) {
        let Some(clock) = &mut self.clock else { return };
        clock.latest = clock.latest.max(now);
        let until = now.min(clock.newest + Self::QUIET_AFTER);
        self.end_bins(until, &mut ended);
    }

    /// The input has ended: emits the bins that have begun, up to and with the newest record, and a
    /// silence after it that was long.
    pub fn handle_end(&mut self, mut ended: impl FnMut(Step)) {
        if let Some(clock) = self.clock
            && clock.latest - clock.newest > Self::QUIET_AFTER
        {
            self.end_stretch(clock.latest, &mut ended);
        }
        let Some(Clock { start, newest, .. }) = self.clock.take() else { return };
        // A record that came at the very end of a bin is in the next one.
        let span = (newest - start).max(Duration::from_nanos(1));
        if newest >= start {
            self.elapsed += span;
            ended(Step::Bin(Bin { elapsed: self.elapsed, end: start + span, span }));
        }
    }

    /// Every whole bin that ended by `now`.
    fn end_bins(&mut self, now: ModemInstant, ended: &mut impl FnMut(Step)) {
        let Some(clock) = &mut self.clock else { return };
        loop {
            let end = clock.start + self.bin;
            // Time stamps whose bits are all ones are at the end of time, where no bin ends any
            // more.
            if end > now || end - clock.start < self.bin {
                return;
            }
            clock.start = end;
            self.elapsed += self.bin;
            ended(Step::Bin(Bin { elapsed: self.elapsed, end, span: self.bin }));
        }
    }

    /// One row for all whole bins up to `now`.
    fn end_stretch(&mut self, now: ModemInstant, ended: &mut impl FnMut(Step)) {
        let Some(clock) = &mut self.clock else { return };
        let bins = (now - clock.start).as_nanos() / self.bin.as_nanos().max(1);
        let nanos = bins.saturating_mul(self.bin.as_nanos());
        let span = Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX));
        if span > Duration::ZERO {
            clock.start = clock.start + span;
            self.elapsed += span;
            ended(Step::Bin(Bin { elapsed: self.elapsed, end: clock.start, span }));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    const SECOND: u64 = 1_000;
    const HOUR: u64 = 3600 * SECOND;
    const YEAR: u64 = 365 * 24 * HOUR;

    fn at(ms: u64) -> ModemInstant {
        ModemInstant::from_nanos(ms * 1_000_000)
    }

    fn steps(bins: &mut Bins, times_ms: &[u64]) -> Vec<Step> {
        let mut steps = Vec::new();
        for &ms in times_ms {
            bins.handle_record(at(ms), |step| steps.push(step));
        }
        steps
    }

    /// Elapsed time, end and length of each bin, in milliseconds.
    fn ends(times_ms: &[u64]) -> Vec<(u64, u64, u64)> {
        let mut bins = Bins::new(Duration::from_millis(100));
        let bin = |step: &Step| match step {
            Step::Bin(bin) => Some((
                bin.elapsed.as_millis() as u64,
                bin.end.as_nanos() / 1_000_000,
                bin.span.as_millis() as u64,
            )),
            Step::Jump(_) => None,
        };
        steps(&mut bins, times_ms).iter().filter_map(bin).collect()
    }

    #[test]
    fn a_bin_ends_when_a_record_comes_from_after_it() {
        assert_eq!(ends(&[1000, 1099]), []);
        assert_eq!(
            ends(&[1000, 1099, 1100, 1350]),
            [(100, 1100, 100), (200, 1200, 100), (300, 1300, 100)]
        );
    }

    #[test]
    fn a_long_stretch_without_a_record_is_one_row_with_its_length() {
        let rows = ends(&[1000, 1000 + 3 * HOUR]);
        assert_eq!(rows.len(), 101);
        let rest = 3 * HOUR - 10 * SECOND;
        assert_eq!(rows.last(), Some(&(3 * HOUR, 1000 + 3 * HOUR, rest)));
        assert_eq!(rows.iter().map(|(_, _, span)| span).sum::<u64>(), 3 * HOUR);
    }

    #[test]
    fn a_clock_that_is_set_is_a_jump_and_rows_go_on_at_the_new_time() {
        let mut bins = Bins::new(Duration::from_millis(100));
        let set = 40 * YEAR;
        let found = steps(&mut bins, &[1000, 1050, set, set + 100]);
        let part = Bin {
            elapsed: Duration::from_millis(50),
            end: at(1050),
            span: Duration::from_millis(50),
        };
        let next = Bin {
            elapsed: Duration::from_millis(150),
            end: at(set + 100),
            span: Duration::from_millis(100),
        };
        let jump = Jump { elapsed: Duration::from_millis(50), from: at(1050), to: at(set) };
        assert_eq!(found, [Step::Bin(part), Step::Jump(jump), Step::Bin(next)]);
        let back = steps(&mut bins, &[set + 100 - 1_500]);
        let elapsed = Duration::from_millis(150) + Duration::from_nanos(1);
        let jump = Jump { elapsed, from: at(set + 100), to: at(set - 1_400) };
        assert!(back.contains(&Step::Jump(jump)), "{back:?}");
    }

    #[test]
    fn the_end_of_time_is_no_row_of_bins_without_end() {
        let mut bins = Bins::new(Duration::from_millis(100));
        for nanos in [u64::MAX - 150_000_000, u64::MAX, u64::MAX] {
            bins.handle_record(ModemInstant::from_nanos(nanos), |_| {});
        }
        assert_eq!(bins.elapsed, Duration::from_millis(100));
    }

    #[test]
    fn a_record_out_of_order_ends_nothing() {
        assert_eq!(ends(&[1000, 1100, 1050, 1199]), [(100, 1100, 100)]);
    }

    #[test]
    fn the_last_bin_is_as_long_as_there_are_records() {
        let mut bins = Bins::new(Duration::from_millis(100));
        steps(&mut bins, &[1000, 1130]);
        let mut last = Vec::new();
        bins.handle_end(|step| last.push(step));
        let elapsed = Duration::from_millis(130);
        assert_eq!(
            last,
            [Step::Bin(Bin { elapsed, end: at(1130), span: Duration::from_millis(30) })]
        );
        bins.handle_end(|step| panic!("{step:?}"));
    }

    #[test]
    fn a_silence_of_hours_is_rows_for_ten_seconds_and_one_row_when_it_ends() {
        type End<'a> = &'a dyn Fn(&mut Bins, &mut dyn FnMut(Step));
        let bins_of = |end: End<'_>| {
            let mut bins = Bins::new(Duration::from_millis(100));
            steps(&mut bins, &[1000]);
            let mut rows = Vec::new();
            for now in [3 * SECOND, 40 * YEAR, 3 * HOUR, 3 * HOUR + 1000] {
                bins.handle_time(at(now), |step| rows.push(step));
            }
            assert_eq!(rows.len(), 100);
            let mut last = Vec::new();
            end(&mut bins, &mut |step| last.push(step));
            let span = |step: &Step| match step {
                Step::Bin(bin) => bin.span,
                Step::Jump(jump) => panic!("{jump:?}"),
            };
            last.iter().map(span).collect::<Vec<_>>()
        };
        let hours = Duration::from_secs(3 * 3600 - 10);
        assert_eq!(bins_of(&|bins, ended| bins.handle_record(at(1000 + 3 * HOUR), ended)), [hours]);
        let years = Duration::from_secs(40 * 365 * 24 * 3600 - 11);
        assert_eq!(bins_of(&|bins, ended| bins.handle_end(ended)), [years]);
    }

    #[test]
    fn time_that_goes_on_without_records_ends_bins_too() {
        let mut bins = Bins::new(Duration::from_millis(100));
        steps(&mut bins, &[1000]);
        let mut count = 0;
        bins.handle_time(at(1250), |_| count += 1);
        assert_eq!(count, 2);
        assert_eq!(steps(&mut bins, &[1260]), []);
    }
}
