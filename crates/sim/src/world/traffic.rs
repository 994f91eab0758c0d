use core::time::Duration;

use sounding_units::{Bytes, HostInstant, Rate};

/// The data of an application.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Traffic {
    /// More than the network carries, without end.
    Bulk,
    /// This many bytes, available at once.
    Finite(Bytes),
    /// A steady stream, written a segment at a time.
    Steady(Rate),
    /// Alternates between bulk and pauses.
    OnOff {
        /// Duration of a bulk period.
        on: Duration,
        /// Duration of a pause.
        off: Duration,
    },
    /// Responses to a peer that requests the next one after it has received the last in full and
    /// paused.
    Responses {
        /// Size of a response.
        size: Bytes,
        /// Time from a response to the peer's next request.
        think: Duration,
    },
}

/// The application at the sending end.
#[derive(Debug)]
pub(super) struct Source {
    traffic: Traffic,
    began: HostInstant,
    /// When it stops to have new data.
    ends: HostInstant,
    mss: u64,
    /// Responses: bytes requested so far.
    asked: u64,
}

impl Source {
    pub(super) fn new(traffic: Traffic, began: HostInstant, ends: HostInstant, mss: Bytes) -> Self {
        Self { traffic, began, ends, mss: mss.count().max(1), asked: 0 }
    }

    /// The peer requests response `number`, counted from zero. It repeats a request if no response
    /// arrives.
    pub(super) fn handle_request(&mut self, number: u64) {
        if let Traffic::Responses { size, .. } = self.traffic {
            self.asked = self.asked.max((number + 1).saturating_mul(size.count()));
        }
    }

    /// Bytes that can be sent at `now` after the first `sent` bytes.
    pub(super) fn available(&self, now: HostInstant, sent: u64) -> u64 {
        if now >= self.ends {
            // An application completes a response that it has begun.
            return match self.traffic {
                Traffic::Responses { .. } => self.asked.saturating_sub(sent),
                _ => 0,
            };
        }
        match self.traffic {
            Traffic::Bulk => u64::MAX,
            Traffic::Finite(size) => size.count().saturating_sub(sent),
            Traffic::Steady(rate) => {
                let written = (rate * (now - self.began)).count();
                (written / self.mss * self.mss).saturating_sub(sent)
            }
            Traffic::OnOff { on, .. } => {
                if self.since_on(now) < on {
                    u64::MAX
                } else {
                    0
                }
            }
            Traffic::Responses { .. } => self.asked.saturating_sub(sent),
        }
    }

    /// When there is more than `sent` bytes, if time alone brings it.
    pub(super) fn wakeup(&self, now: HostInstant, sent: u64) -> Option<HostInstant> {
        if now >= self.ends {
            return None;
        }
        match self.traffic {
            Traffic::Bulk | Traffic::Finite(_) | Traffic::Responses { .. } => None,
            Traffic::Steady(rate) => {
                let wanted = Bytes::new((sent / self.mss + 1) * self.mss);
                Some(self.began + wanted.time_at(rate)?)
            }
            Traffic::OnOff { on, off } => {
                let into = self.since_on(now);
                (into >= on).then(|| now + ((on + off) - into))
            }
        }
    }

    fn since_on(&self, now: HostInstant) -> Duration {
        let Traffic::OnOff { on, off } = self.traffic else { return Duration::ZERO };
        let period = (on + off).as_nanos().max(1);
        let into = (now - self.began).as_nanos() % period;
        Duration::from_nanos(u64::try_from(into).unwrap_or(u64::MAX))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn millis(millis: u64) -> HostInstant {
        HostInstant::from_nanos(millis * 1_000_000)
    }

    fn source(traffic: Traffic) -> Source {
        Source::new(traffic, millis(1000), millis(60_000), Bytes::new(1000))
    }

    #[test]
    fn a_steady_stream_is_written_a_segment_at_a_time() {
        let source = source(Traffic::Steady(Rate::from_bits_per_sec(800_000)));
        assert_eq!([1009, 1010, 1025].map(|ms| source.available(millis(ms), 0)), [0, 1000, 2000]);
        assert_eq!(source.wakeup(millis(1025), 2000), Some(millis(1030)));
    }

    #[test]
    fn an_application_that_pauses_comes_back() {
        let traffic =
            Traffic::OnOff { on: Duration::from_millis(30), off: Duration::from_millis(70) };
        let source = source(traffic);
        assert!(source.available(millis(1029), 5000) > 0);
        assert_eq!(source.available(millis(1030), 5000), 0);
        assert_eq!(source.wakeup(millis(1040), 5000), Some(millis(1100)));
    }

    #[test]
    fn an_application_that_has_ended_has_nothing_new() {
        for traffic in [Traffic::Bulk, Traffic::Steady(Rate::from_bits_per_sec(800_000))] {
            let source = source(traffic);
            assert!(source.available(millis(59_999), 0) > 0, "{traffic:?}");
            assert_eq!(source.available(millis(60_000), 0), 0, "{traffic:?}");
            assert_eq!(source.wakeup(millis(60_000), 0), None, "{traffic:?}");
        }
    }

    #[test]
    fn a_request_that_is_repeated_asks_for_nothing_more() {
        let traffic = Traffic::Responses { size: Bytes::new(700), think: Duration::ZERO };
        let mut source = source(traffic);
        assert_eq!(source.available(millis(2000), 0), 0);
        source.handle_request(0);
        source.handle_request(0);
        assert_eq!(source.available(millis(2000), 0), 700);
    }
}
