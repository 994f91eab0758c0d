//! The data that an application at a kernel's socket sends, as in `sounding_sim::world::Traffic`.

use std::time::Duration;

use sounding_sim::world::Traffic;
use sounding_units::Bytes;

/// A stream is written this many bytes at a time: a segment of TCP over IPv4 with time stamps.
const PIECE: u64 = 1448;

/// The application at the sending end.
#[derive(Clone, Copy, Debug)]
pub(super) struct Source {
    traffic: Traffic,
}

impl Source {
    pub(super) fn new(traffic: Traffic) -> Self {
        Self { traffic }
    }

    /// The bytes there have been to send so far, `elapsed` after the beginning.
    pub(super) fn available(&self, elapsed: Duration) -> u64 {
        match self.traffic {
            Traffic::Bulk => u64::MAX,
            Traffic::Finite(size) => size.count(),
            Traffic::Steady(rate) => (rate * elapsed).count() / PIECE * PIECE,
            Traffic::OnOff { on, off } => {
                if in_round(elapsed, on, off) < on {
                    u64::MAX
                } else {
                    0
                }
            }
            Traffic::Responses { .. } => 0,
        }
    }

    /// Time until there is data after the first `sent` bytes; `None` if there never is.
    pub(super) fn next(&self, elapsed: Duration, sent: u64) -> Option<Duration> {
        match self.traffic {
            Traffic::Bulk | Traffic::Finite(_) | Traffic::Responses { .. } => None,
            Traffic::Steady(rate) => {
                let due = Bytes::new((sent / PIECE + 1) * PIECE).time_at(rate)?;
                // At least a moment, because times are rounded.
                Some(due.saturating_sub(elapsed).max(Duration::from_micros(1)))
            }
            Traffic::OnOff { on, off } if !on.is_zero() => {
                Some((on + off) - in_round(elapsed, on, off))
            }
            Traffic::OnOff { .. } => None,
        }
    }
}

fn in_round(elapsed: Duration, on: Duration, off: Duration) -> Duration {
    let round = (on + off).as_nanos().max(1);
    Duration::from_nanos(u64::try_from(elapsed.as_nanos() % round).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;
    use sounding_units::Rate;

    fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    #[test]
    fn a_stream_has_a_segment_whenever_its_rate_has_made_one() {
        let source = Source::new(Traffic::Steady(Rate::from_bits_per_sec(8 * 1_448_000)));
        assert_eq!((source.available(ms(0)), source.available(ms(5))), (0, 5 * PIECE));
        assert_eq!(source.next(ms(5), 5 * PIECE), Some(ms(1)));
    }

    #[test]
    fn what_comes_in_rounds_is_all_or_nothing() {
        let source = Source::new(Traffic::OnOff { on: ms(10), off: ms(30) });
        assert_eq!((source.available(ms(49)), source.available(ms(50))), (u64::MAX, 0));
        assert_eq!(source.next(ms(50), 7), Some(ms(30)));
    }

    #[test]
    fn what_has_an_end_has_nothing_after_it() {
        let source = Source::new(Traffic::Finite(Bytes::new(100)));
        assert_eq!((source.available(ms(1)), source.next(ms(1), 100)), (100, None));
    }
}
