//! Decorators of controllers hand on every method, except those that they keep on purpose.

mod probe;

use std::time::Duration;

use probe::Probe;
use sounding_baselines::Compensated;
use sounding_baselines::smoothed::Smoothed;
use sounding_cc::{Controller, Start, forward};
use sounding_laws::trust::Trusting;
use sounding_units::HostInstant;

/// A decorator that changes nothing.
#[derive(Debug)]
struct Plain {
    inner: Probe,
}

// It does not pass the lints where `forward!` lacks a method of the trait.
#[deny(clippy::missing_trait_methods, reason = "`forward!` has every method")]
impl Controller for Plain {
    forward!(inner);
}

#[test]
fn a_decorator_without_methods_of_its_own_hands_on_all() {
    let probe = Probe::default();
    assert_eq!(probe.not_heard(&mut Plain { inner: probe.clone() }), [""; 0]);
}

#[test]
fn a_filter_of_round_trip_times_hands_on_all() {
    let probe = Probe::default();
    let mut smoothed = Smoothed::new(probe.clone(), Duration::from_millis(100));
    assert_eq!(probe.not_heard(&mut smoothed), [""; 0]);
}

#[test]
fn doubt_of_peers_hands_on_their_reports_as_estimates() {
    let probe = Probe::default();
    let start = Start::tcp(HostInstant::default(), None, 1);
    let mut trusting = Trusting::new(&start, Box::new(probe.clone()));
    assert_eq!(probe.not_heard(&mut trusting), ["handle_report"]);
}

#[test]
fn compensation_keeps_the_delays_and_the_time_that_it_waits_for() {
    let probe = Probe::default();
    let mut compensated = Compensated::revising(probe.clone());
    assert_eq!(probe.not_heard(&mut compensated), ["handle_delays", "handle_time"]);
}
