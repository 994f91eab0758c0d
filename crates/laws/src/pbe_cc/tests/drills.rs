//! What a sender does upon each thing that may be wrong with a report.

use sounding_estimate::{Direction, MAX_RATE, Source, State as Link};

use super::*;

const EVERY: u64 = 10;

fn reported(rate: Rate) -> LinkEstimate {
    LinkEstimate::new(Direction::Downlink, rate, Bound::Capacity)
        .with_age(Duration::from_millis(20))
        .with_source(Source::Cell)
        .with_fair(Some(FairShare::new(rate, 1, 1)))
}

/// A sender and its clock.
struct Sender {
    controller: PbeCc,
    now: u64,
}

impl Sender {
    /// One that has sent what the device reports for half a second.
    fn of(rate: Rate) -> Self {
        let every = Duration::from_millis(EVERY);
        let start = Start::tcp(ms(1_000), Some(RTT), 1);
        let controller = PbeCc::new(Config::default(), Fallback::Bbr, &start, every);
        let mut sender = Self { controller, now: 1_000 };
        sender.run(500, Some(reported(rate)));
        assert_eq!(sender.controller.state(), "radio-limited");
        sender
    }

    /// Reports, or their absence, for so many milliseconds.
    fn run(&mut self, millis: u64, report: Option<LinkEstimate>) {
        let until = self.now + millis;
        while self.now < until {
            self.now += EVERY;
            match report {
                Some(report) => self.controller.handle_estimate(ms(self.now), &report, 1),
                // Time is seen at each packet.
                None => self.controller.check_silence(ms(self.now)),
            }
        }
    }

    fn mbit(&self) -> f64 {
        self.controller.pacing_rate().map_or(f64::INFINITY, Rate::mbit_per_sec)
    }
}

#[test]
fn reports_that_are_missing_old_or_absurd_leave_bbr_until_the_next_good_one() {
    let good = reported(mbit(40));
    let absurd = Rate::from_bytes_per_sec(MAX_RATE.bytes_per_sec() + 1);
    let bad = [
        ("none", None),
        ("old", Some(good.with_age(Duration::from_millis(211)))),
        ("absurd", Some(reported(absurd))),
        ("most absurd", Some(reported(Rate::from_bytes_per_sec(u64::MAX)))),
        ("of a silent modem", Some(good.with_state(Link::Stale))),
        ("of nothing", Some(good.with_source(Source::None))),
    ];
    for (what, report) in bad {
        let mut sender = Sender::of(mbit(40));
        sender.run(100, report);
        assert_eq!(sender.controller.state(), "no-estimate", "{what}");
        sender.run(200, Some(good));
        assert_eq!(sender.controller.state(), "radio-limited", "{what}");
        assert!((sender.mbit() / (40.0 * PAYLOAD) - 1.0).abs() < 0.01, "{what}: {}", sender.mbit());
    }
}

#[test]
fn a_handover_keeps_the_pace_and_the_new_cell_begins_at_the_lower_rate() {
    let mut sender = Sender::of(mbit(40));
    sender.run(50, Some(reported(mbit(40)).with_state(Link::Handover)));
    assert_eq!(sender.controller.state(), "handover");
    assert!((sender.mbit() / (40.0 * PAYLOAD) - 1.0).abs() < 0.01, "{}", sender.mbit());
    sender.run(EVERY, Some(reported(mbit(10))));
    assert!(sender.mbit() <= 10.0 * PAYLOAD + 0.01, "{}", sender.mbit());
    sender.run(50, Some(reported(mbit(10)).with_state(Link::Handover)));
    sender.run(EVERY, Some(reported(mbit(80))));
    assert_eq!(sender.controller.state(), "ramp");
    sender.run(3 * 40 + EVERY, Some(reported(mbit(80))));
    assert!((sender.mbit() / (80.0 * PAYLOAD) - 1.0).abs() < 0.01, "{}", sender.mbit());
}
