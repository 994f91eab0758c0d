//! PBE-CC: a receiver reports what its cells carry and its fair share of them, and the sender sends
//! that.

use sounding_link::FairShare;

use super::*;
use crate::{Intake, Report};

/// Of so many packets a millisecond, as a receiver reports it.
fn claim(packets_per_ms: u64) -> LinkEstimate {
    let rate = capacity(packets_per_ms);
    let fair = Some(FairShare::new(rate, 2, 1));
    estimate(rate).with_direction(Direction::Downlink).with_source(Source::Cell).with_fair(fair)
}

/// A sender, and the receiver whose reports reach it half a round trip later.
struct Path {
    stack: Stack,
    intake: Intake,
    under_way: VecDeque<(u64, Vec<u8>)>,
    sequence: u32,
    /// Whether the stack's pacer does what the controller says, as noq's; and what may leave by
    /// it.
    paced: bool,
    credit: f64,
}

impl Path {
    fn new(name: &str, link: u64, paced: bool) -> Self {
        let handle = EstimateHandle::new();
        let make = sounding_baselines::make(&name.parse().expect("a name"))
            .expect("it is in the registry");
        let driver = Driver::new(&make, start(), &handle);
        let driver = if paced { driver } else { driver.without_pacing_rates() };
        Self {
            stack: Stack::new(driver, link),
            intake: Intake::new(handle),
            under_way: VecDeque::new(),
            sequence: 0,
            paced,
            credit: 0.0,
        }
    }

    /// Runs until then; the receiver reports this every 10 ms.
    fn run(&mut self, until_ms: u64, reported: Option<LinkEstimate>) {
        while self.stack.now_ms < until_ms {
            let now_ms = self.stack.now_ms;
            if let Some(estimate) = reported.filter(|_| now_ms.is_multiple_of(10)) {
                let report = Report { sequence: self.sequence, estimate };
                self.sequence += 1;
                self.under_way.push_back((now_ms + RTT_MS / 2, report.emit().to_vec()));
            }
            while self.under_way.front().is_some_and(|(due, _)| *due <= now_ms) {
                let (_, datagram) = self.under_way.pop_front().expect("it is there");
                let half = Duration::from_millis(RTT_MS / 2);
                self.intake.handle_datagram(at(now_ms), half, &datagram).expect("a report");
            }
            let mut most = u64::MAX;
            if self.paced {
                let rate = self.stack.driver.pacing_rate().expect("it has one") as f64;
                self.credit = (self.credit + rate / 1000.0 / MTU as f64).min(20.0);
                most = self.credit as u64;
            }
            let before = self.stack.next;
            self.stack.pass(most);
            self.credit -= (self.stack.next - before) as f64;
            // The application has the packets that a pacer holds back.
            self.stack.app_limited = false;
        }
    }

    /// Packets a millisecond that arrive until then.
    fn rate(&mut self, until_ms: u64, reported: Option<LinkEstimate>) -> f64 {
        let (began, delivered) = (self.stack.now_ms, self.stack.delivered);
        self.run(until_ms, reported);
        (self.stack.delivered - delivered) as f64 / MTU as f64 / (until_ms - began) as f64
    }

    fn state(&self) -> &'static str {
        self.stack.driver.state()
    }
}

/// Round trips in which the sender has to follow: half of one for the report, three of the ramp,
/// one for what it sends.
const FOLLOWS: u64 = 5 * RTT_MS;

#[test]
fn a_sender_follows_the_reported_share_within_five_round_trips() {
    for name in ["pbe-cc", "pbe-cc:late_by=30ms", "pbe-cc-published"] {
        let mut path = Path::new(name, 8, true);
        let mut now = 0;
        for share in [2, 6, 3] {
            path.run(now + FOLLOWS, Some(claim(share)));
            let rate = path.rate(now + FOLLOWS + 400, Some(claim(share)));
            let (least, most) = (0.9 * share as f64, 1.1 * share as f64);
            assert!((least..=most).contains(&rate), "{name}: {rate} of {share}, {}", path.state());
            now += FOLLOWS + 400;
        }
        assert!(path.stack.queue_ms() < 2.0, "{name} queues {} ms", path.stack.queue_ms());
    }
}

#[test]
fn a_stack_that_has_no_rate_fills_the_share_with_a_short_queue() {
    let mut path = Path::new("pbe-cc", 3, false);
    path.run(FOLLOWS, Some(claim(3)));
    let rate = path.rate(2_000, Some(claim(3)));
    assert!(rate > 0.95 * 3.0, "{rate}, {}", path.state());
    // Without a pace the window is full: the queue is its slack of 40 ms.
    assert!(path.stack.queue_ms() < 45.0, "it queues {} ms", path.stack.queue_ms());
}

#[test]
fn when_reports_stop_the_stock_algorithm_goes_on_and_the_next_report_is_used_again() {
    for paced in [true, false] {
        let mut path = Path::new("pbe-cc", 3, paced);
        path.run(1_000, Some(claim(3)));
        assert_ne!(path.state(), "no-estimate");
        // The last report is 20 ms on its way, and valid for 200 ms.
        path.run(1_300, None);
        assert_eq!(path.state(), "no-estimate");
        let rate = path.rate(2_500, None);
        assert!(rate > 0.7 * 3.0, "{rate} without reports");
        path.run(2_530, Some(claim(3)));
        assert_ne!(path.state(), "no-estimate");
    }
}

#[test]
fn a_fair_share_above_what_the_server_allows_is_not_sent() {
    let mut path = Path::new("pbe-cc", 8, true);
    let limited = std::mem::replace(&mut path.intake, Intake::new(EstimateHandle::new()));
    path.intake = limited.at_most(capacity(2));
    path.run(FOLLOWS, Some(claim(6)));
    let rate = path.rate(FOLLOWS + 400, Some(claim(6)));
    assert!(rate < 2.3, "{rate}");
}
