//! What the fuzz target does with its input. The test `corpus` does the same with its seeds.

use std::time::Duration;

use sounding_quic::{EstimateHandle, Intake, Report};
use sounding_units::HostInstant;

/// A length in a byte and as many bytes of a datagram, repeatedly: a peer's input. Returns how many were used.
pub(crate) fn quic(data: &[u8]) -> u64 {
    let handle = EstimateHandle::new();
    let mut intake = Intake::new(handle.clone());
    let mut now = HostInstant::from_nanos(1 << 40);
    let mut rest = data;
    while let Some((&length, after)) = rest.split_first() {
        let (datagram, after) = after.split_at(usize::from(length).min(after.len()));
        rest = after;
        now = now + Duration::from_millis(10);
        if intake.handle_datagram(now, Duration::from_millis(20), datagram).is_err() {
            continue;
        }
        let report = Report::parse(datagram).expect("what was taken can be read");
        // What is written of it says the same.
        assert_eq!(Report::parse(&report.emit()), Ok(report));
        let estimate = handle.estimate(now).expect("it was set");
        // No report is used for more than a second, whatever it says.
        let later = handle.estimate(now + Duration::from_millis(1001)).expect("it was set");
        assert!(!later.is_usable() && estimate.age <= later.age);
    }
    let counts = intake.counts();
    assert!(counts.taken + counts.late + counts.refused <= data.len() as u64);
    counts.taken
}
