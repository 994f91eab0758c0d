//! The link's log of a load, and the same arrivals in the simulator's link.

use std::time::Duration;

use sounding_sim::{Link, QueueLimit};
use sounding_trace::Schedule;
use sounding_trace::log::{About, Line, TUN_HEADER, parse_line};
use sounding_units::{Bytes, HostInstant};

use super::site::REPORT_BYTES;
use crate::experiment::Failed;

/// The largest packet of TCP over IPv4 without data: both headers, and all options of TCP.
const WITHOUT_DATA: u64 = 80;

/// A packet that left the link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Departure {
    pub(super) at_ms: u64,
    /// Bytes of IP.
    pub(super) bytes: u64,
    pub(super) waited_ms: u64,
}

/// One direction's log. Times are milliseconds since the link began.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Log {
    /// When the link began, in milliseconds of Unix time.
    pub(super) began_unix_ms: Option<f64>,
    /// When its trace began.
    base_ms: u64,
    /// Time and bytes of IP of each arrival.
    arrivals: Vec<(u64, u64)>,
    pub(super) departures: Vec<Departure>,
}

impl Log {
    /// Of the text that `sounding emu` writes. A log with drops has no replay: the queue of the
    /// experiment is infinite.
    pub(super) fn parse(text: &str) -> Result<Self, Failed> {
        let mut log = Self::default();
        for (index, line) in text.lines().enumerate() {
            if let Some(began) = line.strip_prefix("# init timestamp: ") {
                log.began_unix_ms = began.trim().parse().ok();
                continue;
            }
            let place = format!("line {} of the link's log", index + 1);
            match parse_line(line.as_bytes()).map_err(|error| Failed::at(&place, error))? {
                Some(Line::Arrived { at, size, .. }) => {
                    log.arrivals.push((millis(at), (size - TUN_HEADER).count()));
                }
                Some(Line::Departed { at, size, delay, .. }) => log.departures.push(Departure {
                    at_ms: millis(at),
                    bytes: (size - TUN_HEADER).count(),
                    waited_ms: millis(delay),
                }),
                Some(Line::About(About::Base(base))) => log.base_ms = millis(base),
                Some(Line::Dropped { .. }) => {
                    return Err(Failed::at(place, "a drop, which an infinite queue does not make"));
                }
                Some(Line::About(_) | Line::Opportunity { .. }) | None => {}
            }
        }
        Ok(log)
    }

    /// When the page's report came to this direction's link.
    pub(super) fn report_ms(&self) -> Option<u64> {
        let long = |&&(_, bytes): &&(u64, u64)| bytes >= REPORT_BYTES;
        self.arrivals.iter().find(long).map(|&(at, _)| at)
    }

    /// The number of the last packet with data that departed by then.
    ///
    /// A queue without drops keeps the order, so it is the same among arrivals and departures.
    pub(super) fn last_by(&self, by_ms: u64) -> Option<usize> {
        self.departures.iter().rposition(|it| it.at_ms <= by_ms && it.bytes > WITHOUT_DATA)
    }

    /// The departures of all arrivals from a link that follows `schedule` from `later` after the
    /// log's trace on. The emulator's link is this one, with the same queue and without delay.
    pub(super) fn replay(&self, schedule: &Schedule, later: Duration) -> Vec<Departure> {
        let at = |millis: u64| HostInstant::from_nanos(millis.saturating_mul(1_000_000));
        let mut link = Link::new(schedule, QueueLimit::INFINITE, HostInstant::default())
            .based_at(self.base_ms.saturating_add(millis(later)));
        for &(arrival, bytes) in &self.arrivals {
            link.handle_packet(at(arrival), Bytes::new(bytes), ());
        }
        while let Some(wakeup) = link.wakeup() {
            link.handle_time(wakeup);
        }
        let out = std::iter::from_fn(|| link.poll_departure());
        out.map(|out| {
            let [at_ms, arrival_ms] = [out.at, out.arrival].map(|it| it.as_nanos() / 1_000_000);
            Departure { at_ms, bytes: out.size.count(), waited_ms: at_ms - arrival_ms }
        })
        .collect()
    }

    /// How many of the log's departures a replay repeats, and of how many.
    pub(super) fn repeated(&self, replayed: &[Departure]) -> [usize; 2] {
        let same = self.departures.iter().zip(replayed).filter(|(ours, theirs)| ours == theirs);
        [same.count(), self.departures.len()]
    }
}

fn millis(at: Duration) -> u64 {
    u64::try_from(at.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use sounding_trace::mahimahi;

    use super::*;

    /// Two packets with data, an acknowledgement, and one more packet.
    const LOG: &str = "\
# mahimahi mm-link (Downlink) [a] > b
# queue: infinite
# init timestamp: 5000
# base timestamp: 0
2 + 1504
3 # 1504
3 - 1504 1
4 + 504
4 + 56
6 # 1504
6 - 504 2
6 - 56 2
9 # 1504
9 + 1504
12 # 1504
12 - 1504 3
";

    fn every(millis: u32) -> Schedule {
        mahimahi::parse(format!("{millis}\n").as_bytes()).expect("a trace").into()
    }

    fn ends(departures: &[Departure]) -> Vec<u64> {
        departures.iter().map(|it| it.at_ms).collect()
    }

    #[test]
    fn a_log_replayed_over_its_own_trace_has_its_own_departures() {
        let log = Log::parse(LOG).expect("a log");
        let replayed = log.replay(&every(3), Duration::ZERO);
        assert_eq!(log.repeated(&replayed), [4, 4]);
        assert_eq!((replayed, log.began_unix_ms), (log.departures.clone(), Some(5000.0)));
    }

    #[test]
    fn another_trace_and_another_start_give_other_departures() {
        let log = Log::parse(LOG).expect("a log");
        assert_eq!(ends(&log.replay(&every(20), Duration::ZERO)), [20, 40, 40, 60]);
        let later = log.replay(&every(3), Duration::from_millis(10));
        assert_eq!(ends(&later), [13, 16, 16, 19]);
        assert_eq!(log.repeated(&later), [0, 4]);
    }

    #[test]
    fn an_acknowledgement_and_what_leaves_after_the_report_are_not_the_loads_end() {
        let log = Log::parse(LOG).expect("a log");
        let last = |by| log.last_by(by);
        assert_eq!(
            [last(2), last(5), last(6), last(11), last(12)],
            [None, Some(0), Some(1), Some(1), Some(3)]
        );
        let up = Log::parse("1 + 600\n5 + 1204\n7 + 1304\n").expect("a log");
        assert_eq!((up.report_ms(), Log::default().report_ms()), (Some(5), None));
    }

    #[test]
    fn a_drop_and_a_line_that_is_none_are_refused() {
        let error = Log::parse("1 + 600\n# d 2 1 1504\n").expect_err("a drop").to_string();
        assert!(error.starts_with("line 2 "), "{error}");
        Log::parse("1 + 600\nnothing\n").expect_err("no line");
    }
}
