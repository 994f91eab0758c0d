//! What the fuzz target does with its input. The test `corpus` does the same with its seeds.

use std::sync::Arc;
use std::time::Duration;

use sounding_baselines::Maker;
use sounding_cc::Start;
use sounding_quic::driver::Driver;
use sounding_quic::{EstimateHandle, Intake, PeerTimes, Report};
use sounding_units::{Bytes, HostInstant};

const MTU: Bytes = Bytes::new(1200);

/// A sender of a packet every 10 ms, with a controller that uses what peers say of times and
/// delays.
fn sender(name: &str, now: HostInstant, handle: &EstimateHandle, times: &PeerTimes) -> Driver {
    let make = sounding_baselines::by_name(name).expect("it is in the registry");
    let make: Maker = Arc::new(make);
    let start = Start { now, mss: MTU, headers: Bytes::new(28), rtt: None, seed: 1, paced: true };
    Driver::new(&make, start, handle).timed(times.clone())
}

/// A length in a byte and as many bytes of a datagram, repeatedly: a peer's input. Returns how many
/// were used.
pub(crate) fn quic(data: &[u8]) -> u64 {
    let [by_times, by_delays] = ["background", "copa-gandalf"].map(|name| run(data, name));
    assert_eq!(by_times, by_delays);
    by_times
}

fn run(data: &[u8], controller: &str) -> u64 {
    let handle = EstimateHandle::new();
    let times = PeerTimes::new();
    let mut intake = Intake::new(handle.clone()).timing(times.clone());
    let mut now = HostInstant::from_nanos(1 << 40);
    let mut sender = sender(controller, now, &handle, &times);
    let mut number = 0;
    let mut rest = data;
    while let Some((&length, after)) = rest.split_first() {
        let (datagram, after) = after.split_at(usize::from(length).min(after.len()));
        rest = after;
        let before = now;
        now = now + Duration::from_millis(10);
        let taken = intake.handle_datagram(now, Duration::from_millis(20), datagram);
        sender.handle_acked(now, before, MTU);
        sender.handle_acks_end(now, Bytes::ZERO, false);
        sender.handle_sent(now, MTU, number);
        assert!(sender.window() >= 2 * MTU.count());
        number += 1;
        let Ok(report) = Report::parse(datagram) else { continue };
        // Its bytes, written again, say the same.
        assert_eq!(Report::parse(&report.emit()), Ok(report));
        if taken.is_err() {
            continue;
        }
        let estimate = handle.estimate(now).expect("it was set");
        // No report is used for more than a second, whatever it says.
        let later = handle.estimate(now + Duration::from_millis(1001)).expect("it was set");
        assert!(!later.is_usable() && estimate.age <= later.age);
    }
    let counts = intake.counts();
    assert!(counts.taken + counts.late + counts.refused + counts.times <= data.len() as u64);
    counts.taken + counts.times
}
