use alloc::vec::Vec;
use core::time::Duration;

use sounding_units::{Bytes, Rate};

/// IP bytes of one delivery opportunity: mahimahi's 1504 bytes minus the 4 of a TUN header.
pub const OPPORTUNITY_PAYLOAD: Bytes = Bytes::new(1500);

/// The latest time in a trace: seven days, in milliseconds. Chosen: the longest public trace lasts
/// less than a day. A file with larger numbers uses another unit.
pub const MAX_MILLIS: u32 = 7 * 24 * 3600 * 1000;

/// Maximum number of opportunities in a trace: 2^25, which is 128 MiB and 6.7 minutes at 1 Gbit/s.
/// Chosen: it limits the memory that a file can make this process allocate.
pub const MAX_OPPORTUNITIES: usize = 1 << 25;

/// Delivery opportunities: at each of these times the link may carry one packet of full size.
///
/// A trace is never empty, its times never decrease, and it lasts longer than zero milliseconds. So
/// repetition always advances.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trace {
    millis: Vec<u32>,
}

/// Why a list of times is not a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidTrace {
    /// There is no opportunity at all.
    #[error("no delivery opportunity at all")]
    Empty,
    /// A time is smaller than the previous one.
    #[error("opportunity {index} is at {millis} ms, before the previous one at {previous} ms")]
    Decreasing {
        /// Which opportunity, from 0.
        index: usize,
        /// Its time.
        millis: u32,
        /// Time of the previous one.
        previous: u32,
    },
    /// A time is larger than [`MAX_MILLIS`].
    #[error("opportunity {index} is at {millis} ms, past the limit of {MAX_MILLIS} ms")]
    TooLate {
        /// Which opportunity, from 0.
        index: usize,
        /// Its time.
        millis: u32,
    },
    /// Every opportunity is at 0 ms, so the trace could not be repeated.
    #[error("every opportunity is at 0 ms: the trace lasts no time")]
    NoDuration,
    /// There are more than [`MAX_OPPORTUNITIES`].
    #[error("more than {MAX_OPPORTUNITIES} opportunities")]
    TooMany,
}

impl Trace {
    /// A trace of these moments, in milliseconds from its beginning.
    ///
    /// # Errors
    ///
    /// [`InvalidTrace`] if the moments are none, too many, too late, or fall, or if the last is at
    /// zero.
    pub fn from_millis(millis: Vec<u32>) -> Result<Self, InvalidTrace> {
        if millis.len() > MAX_OPPORTUNITIES {
            return Err(InvalidTrace::TooMany);
        }
        let mut previous = 0;
        for (index, &at) in millis.iter().enumerate() {
            if at < previous {
                return Err(InvalidTrace::Decreasing { index, millis: at, previous });
            }
            if at > MAX_MILLIS {
                return Err(InvalidTrace::TooLate { index, millis: at });
            }
            previous = at;
        }
        match millis.last() {
            None => Err(InvalidTrace::Empty),
            Some(0) => Err(InvalidTrace::NoDuration),
            Some(_) => Ok(Self { millis }),
        }
    }

    /// The moments, in milliseconds from the beginning of the trace; at least one, never
    /// decreasing.
    pub fn millis(&self) -> &[u32] {
        &self.millis
    }

    /// When the trace ends and, if repeated, begins again: its last moment, in milliseconds; never
    /// zero.
    pub fn period_millis(&self) -> u32 {
        // A trace is never empty: `from_millis` is the only way to make one.
        self.millis.last().copied().unwrap_or(1)
    }

    /// The same trace, rotated to start at the first opportunity at or after `from`. It is as long
    /// as before.
    #[must_use]
    pub fn beginning_at(&self, from: Duration) -> Self {
        let period = self.period_millis();
        let from = (from.as_millis() % u128::from(period)) as u32;
        let first = self.millis.partition_point(|&at| at < from);
        // The rotation starts at an opportunity, so the last line of the result marks its end. The
        // end is also the beginning.
        let begin = self.millis[first.min(self.millis.len() - 1)] % period;
        let (before, after) = self.millis.split_at(self.millis.partition_point(|&at| at <= begin));
        let after = after.iter().map(|&at| at - begin);
        Self { millis: after.chain(before.iter().map(|&at| at + period - begin)).collect() }
    }

    /// Mean rate of the trace when it is repeated, in packets of 1500 bytes.
    pub fn mean_rate(&self) -> Rate {
        let bytes = Bytes::new(self.millis.len() as u64 * OPPORTUNITY_PAYLOAD.count());
        bytes.per(Duration::from_millis(self.period_millis().into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec;

    #[test]
    fn a_trace_that_begins_later_is_the_same_link_from_there_on() {
        let trace = Trace::from_millis(vec![0, 3, 3, 5, 8]).unwrap();
        for (from, begins) in [(0, 0), (1, 3), (3, 3), (4, 5), (7, 8), (8, 0), (9, 3)] {
            let later = trace.beginning_at(Duration::from_millis(from));
            assert_eq!(later.period_millis(), trace.period_millis());
            let schedule = |trace: &Trace| crate::Schedule::from(trace.clone());
            let after = schedule(&trace).opportunities().map(|at| at.as_millis());
            let expected: Vec<u128> =
                after.filter(|&at| at > begins).map(|at| at - begins).take(12).collect();
            let found: Vec<u128> =
                schedule(&later).opportunities().map(|at| at.as_millis()).take(12).collect();
            assert_eq!(found, expected, "from {from} ms");
        }
    }

    #[test]
    fn a_trace_of_one_line_is_a_packet_per_millisecond() {
        let trace = Trace::from_millis(vec![1]).unwrap();
        assert_eq!(trace.mean_rate(), Rate::from_bits_per_sec(12_000_000));
    }

    #[test]
    fn a_trace_that_lasts_no_time_is_refused() {
        assert_eq!(Trace::from_millis(vec![0, 0]), Err(InvalidTrace::NoDuration));
    }

    #[test]
    fn moments_out_of_order_are_refused_with_their_place() {
        assert_eq!(
            Trace::from_millis(vec![3, 2]),
            Err(InvalidTrace::Decreasing { index: 1, millis: 2, previous: 3 })
        );
    }

    #[test]
    fn moments_past_the_limit_are_refused() {
        assert_eq!(
            Trace::from_millis(vec![MAX_MILLIS + 1]),
            Err(InvalidTrace::TooLate { index: 0, millis: MAX_MILLIS + 1 })
        );
    }
}
