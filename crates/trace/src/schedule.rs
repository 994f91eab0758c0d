use alloc::sync::Arc;
use alloc::vec::Vec;
use core::time::Duration;

use sounding_units::{Bytes, Rate};

use crate::{InvalidTrace, MAX_MILLIS, MAX_OPPORTUNITIES, OPPORTUNITY_PAYLOAD, Steps, Trace};

/// A link over time. Cheap to clone: both forms are shared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Schedule {
    /// Packets leave at the opportunities of a trace.
    Trace(Arc<Trace>),
    /// Packets leave as fast as a rate allows.
    Steps(Arc<Steps>),
}

impl Schedule {
    /// Every delivery opportunity from the beginning on, without end: a trace repeats from its last
    /// moment, steps yield one for every [`OPPORTUNITY_PAYLOAD`] they carry and end only when
    /// they end in an outage.
    pub fn opportunities(&self) -> Opportunities {
        Opportunities { schedule: self.clone(), index: 0, base: Duration::ZERO, credit: 0 }
    }

    /// The first `span` as a trace, so that a tool that knows only traces can replay it.
    ///
    /// # Errors
    ///
    /// [`InvalidTrace`] if no packet leaves within `span`, or more than a trace can hold.
    pub fn to_trace(&self, span: Duration) -> Result<Trace, InvalidTrace> {
        let mut millis = Vec::new();
        for at in self.opportunities().take_while(|&at| at <= span) {
            if millis.len() == MAX_OPPORTUNITIES {
                return Err(InvalidTrace::TooMany);
            }
            let at = u32::try_from(at.as_millis()).unwrap_or(u32::MAX).min(MAX_MILLIS + 1);
            millis.push(at);
        }
        Trace::from_millis(millis)
    }

    /// Capacity of the link in 1500-byte packets between `from` and `to` after its beginning.
    pub fn capacity(&self, from: Duration, to: Duration) -> Bytes {
        match self {
            Self::Trace(trace) => {
                let before = |at: Duration| opportunities_before(trace, at);
                let count = before(to).saturating_sub(before(from));
                Bytes::new(count.saturating_mul(OPPORTUNITY_PAYLOAD.count()))
            }
            Self::Steps(steps) => {
                let ends = steps.steps().iter().skip(1).map(|step| step.at);
                let ends = ends.chain([Duration::MAX]);
                steps
                    .steps()
                    .iter()
                    .zip(ends)
                    .map(|(step, end)| step.rate * end.min(to).saturating_sub(step.at.max(from)))
                    .sum()
            }
        }
    }
}

/// The number of opportunities before `at` in a repeated trace.
fn opportunities_before(trace: &Trace, at: Duration) -> u64 {
    let period = u128::from(trace.period_millis());
    // An opportunity at millisecond `m` is before `at` if `m` is less than `at` rounded up to
    // milliseconds.
    let millis = at.as_nanos().div_ceil(1_000_000);
    // The last opportunity of a lap is at the very moment the next lap begins, so it belongs to the
    // lap it ends.
    let full = millis.saturating_sub(1) / period;
    let inside = millis - full * period;
    let partial = trace.millis().partition_point(|&at| u128::from(at) < inside) as u64;
    // In laps after the first, opportunities at 0 fall on the moment of the lap before's last one.
    u64::try_from(full).unwrap_or(u64::MAX).saturating_mul(trace.millis().len() as u64) + partial
}

impl From<Trace> for Schedule {
    fn from(trace: Trace) -> Self {
        Self::Trace(Arc::new(trace))
    }
}

impl From<Steps> for Schedule {
    fn from(steps: Steps) -> Self {
        Self::Steps(Arc::new(steps))
    }
}

impl From<Rate> for Schedule {
    fn from(rate: Rate) -> Self {
        Steps::constant(rate).into()
    }
}

/// The moments of [`Schedule::opportunities`], from the beginning of the link, never decreasing.
#[derive(Clone, Debug)]
pub struct Opportunities {
    schedule: Schedule,
    /// Trace: the next line. Steps: the step in force.
    index: usize,
    /// Trace: when the current lap began. Steps: the moment of the last opportunity.
    base: Duration,
    /// Only for steps: the capacity since the last opportunity, in bits times 10^9.
    credit: u128,
}

impl Iterator for Opportunities {
    type Item = Duration;

    fn next(&mut self) -> Option<Duration> {
        match &self.schedule {
            Schedule::Trace(trace) => {
                let millis = trace.millis();
                let at = self.base + Duration::from_millis(millis[self.index].into());
                self.index += 1;
                if self.index == millis.len() {
                    self.index = 0;
                    self.base = at;
                }
                Some(at)
            }
            Schedule::Steps(steps) => {
                let steps = steps.steps();
                let mut need = (u128::from(OPPORTUNITY_PAYLOAD.count()) * 8_000_000_000)
                    .saturating_sub(self.credit);
                loop {
                    let rate = u128::from(steps[self.index].rate.bits_per_sec());
                    let end = steps.get(self.index + 1).map(|step| step.at);
                    let left = end.map(|end| (end - self.base).as_nanos());
                    let span = if rate == 0 { None } else { Some(need.div_ceil(rate)) };
                    match (span, left) {
                        (Some(span), left) if left.is_none_or(|left| span <= left) => {
                            self.credit = span * rate - need;
                            self.base += Duration::from_nanos(u64::try_from(span).ok()?);
                            return Some(self.base);
                        }
                        (_, Some(left)) => {
                            need = need.saturating_sub(left * rate);
                            self.base = end?;
                            self.index += 1;
                        }
                        // The last step is an outage.
                        (_, None) => return None,
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::vec;

    fn millis(schedule: &Schedule, count: usize) -> Vec<u128> {
        schedule.opportunities().take(count).map(|at| at.as_millis()).collect()
    }

    #[test]
    fn a_trace_begins_again_at_its_last_moment() {
        let schedule = Schedule::from(Trace::from_millis(vec![0, 2, 5]).unwrap());
        assert_eq!(millis(&schedule, 7), [0, 2, 5, 5, 7, 10, 10]);
    }

    #[test]
    fn twelve_megabits_are_a_packet_a_millisecond() {
        let schedule = Schedule::from(Rate::from_bits_per_sec(12_000_000));
        assert_eq!(millis(&schedule, 4), [1, 2, 3, 4]);
        assert_eq!(schedule.to_trace(Duration::from_millis(3)).unwrap().millis(), [1, 2, 3]);
    }

    #[test]
    fn a_rate_that_divides_badly_does_not_drift() {
        let schedule = Schedule::from(Rate::from_bits_per_sec(7_000_001));
        let last = schedule.opportunities().nth(699_999).unwrap();
        let exact = 700_000.0 * 12_000.0 / 7_000_001.0;
        assert!((last.as_secs_f64() - exact).abs() < 1e-8, "{last:?} is not {exact}");
    }

    #[test]
    fn an_outage_in_the_middle_only_delays() {
        let steps: Steps = "0s 12Mbit, 1500us 0bit, 10ms 12Mbit".parse().unwrap();
        let schedule = Schedule::from(steps);
        let at: Vec<_> = schedule.opportunities().take(3).map(|at| at.as_micros()).collect();
        assert_eq!(at, [1000, 10_500, 11_500]);
    }

    #[test]
    fn an_outage_at_the_end_ends_the_opportunities() {
        let steps: Steps = "0s 12Mbit, 2ms 0bit".parse().unwrap();
        assert_eq!(Schedule::from(steps).opportunities().count(), 2);
    }

    #[test]
    fn the_capacity_of_steps_is_rate_times_time() {
        let steps: Steps = "0s 8Mbit, 1s 16Mbit".parse().unwrap();
        let capacity =
            Schedule::from(steps).capacity(Duration::from_millis(500), Duration::from_millis(1500));
        assert_eq!(capacity, Bytes::new(500_000 + 1_000_000));
    }

    proptest! {
        #[test]
        fn the_capacity_of_a_trace_counts_its_opportunities(
            mut millis in proptest::collection::vec(0..50_u32, 1..20),
            from in 0..300_u64,
            span in 0..300_u64,
        ) {
            millis.sort_unstable();
            millis.push(50);
            let schedule = Schedule::from(Trace::from_millis(millis).unwrap());
            let (from, to) = (Duration::from_millis(from), Duration::from_millis(from + span));
            let counted = schedule
                .opportunities()
                .take_while(|&at| at < to)
                .filter(|&at| at >= from)
                .count() as u64;
            prop_assert_eq!(schedule.capacity(from, to), Bytes::new(counted * 1500));
        }
    }
}
