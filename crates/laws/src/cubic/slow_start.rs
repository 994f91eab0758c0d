//! What HyStart++ makes of RTTs, seen through a controller that uses it.

use core::time::Duration;

use sounding_cc::{Ack, Controller, Departure, Loss, Revision, Start};
use sounding_units::{Bytes, HostInstant};

use super::Cubic;

const SEGMENT: u64 = 1_448;

/// A flow whose packets come back one a millisecond.
struct Drive {
    flow: Cubic,
    now: u64,
}

fn at(ms: u64) -> HostInstant {
    HostInstant::from_nanos(1_000_000_000 + ms * 1_000_000)
}

impl Drive {
    fn new() -> Self {
        Self { flow: Cubic::new(&Start::tcp(at(0), None, 1)), now: 0 }
    }

    /// By how many segments the window grew for each that was delivered.
    fn run(&mut self, packets: u64, rtt: u64) -> f64 {
        let before = self.flow.cwnd().count();
        for _ in 0..packets {
            self.now += 1;
            let of = |ms: u64| Bytes::new(ms * SEGMENT);
            let sent = self.now.saturating_sub(rtt);
            self.flow.handle_ack(&Ack {
                now: at(self.now),
                acked: of(1),
                rtt: Some(Duration::from_millis(rtt)),
                delivered: of(self.now),
                cwnd_limited: true,
                sent: Departure { at: at(sent), delivered: of(sent), ..Departure::default() },
                ..Ack::default()
            });
        }
        (self.flow.cwnd().count() - before) as f64 / (packets * SEGMENT) as f64
    }

    /// The modem explains the newest packets.
    fn explain(&mut self, packets: u64, after: u64) {
        let now = at(self.now);
        for back in (0..packets).rev() {
            let seen_at = at(self.now - back);
            let (before, after) = (Duration::from_millis(50), Duration::from_millis(after));
            self.flow.handle_revision(&Revision::Sample { now, seen_at, before, after });
        }
    }

    fn leave(&mut self) {
        assert!(self.run(100, 40) > 0.9);
        self.explain(20, 40);
        // A round is begun with other RTTs, and the next one shows them alone.
        self.run(100, 50);
        assert!(self.run(40, 50) < 0.3);
    }
}

#[test]
fn a_rise_that_the_radio_made_is_taken_back() {
    let mut drive = Drive::new();
    drive.leave();
    drive.explain(7, 40);
    assert!(drive.run(20, 50) < 0.3);
    drive.explain(8, 40);
    assert!(drive.run(20, 50) > 0.9);
}

#[test]
fn a_rise_that_is_a_queue_is_not_taken_back() {
    let mut drive = Drive::new();
    drive.leave();
    drive.explain(30, 50);
    assert!(drive.run(20, 50) < 0.3);
}

#[test]
fn after_its_five_rounds_it_goes_on_too_until_a_loss() {
    let mut drive = Drive::new();
    drive.leave();
    drive.run(400, 50);
    let mut lost = Drive { flow: drive.flow.clone(), now: drive.now };
    drive.explain(8, 40);
    assert!(drive.run(20, 50) > 0.9);
    lost.flow.handle_loss(&Loss {
        now: at(lost.now),
        size: Bytes::new(SEGMENT),
        in_flight: Bytes::new(SEGMENT),
        sent: Departure::default(),
        begins_recovery: true,
    });
    lost.explain(8, 40);
    assert!(lost.run(20, 50) < 0.3);
}

#[test]
fn without_explanations_it_is_over_for_good() {
    let mut drive = Drive::new();
    drive.run(100, 40);
    drive.run(540, 50);
    assert!(drive.flow.state() != "slow start");
    drive.explain(30, 40);
    assert!(drive.run(20, 50) < 0.3);
}
