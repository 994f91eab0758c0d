//! A window that is held down hands on every method of its controller, the gate of `not_before`
//! among them.

#[path = "../../baselines/tests/probe/mod.rs"]
mod probe;

use probe::Probe;
use sounding_sim::held::Held;
use sounding_units::{Bytes, HostInstant};

#[test]
fn a_held_window_hands_on_every_method() {
    let (probe, now) = (Probe::default(), HostInstant::default());
    let mut held = Held::new(Box::new(probe.clone()), Bytes::ZERO, now, now);
    assert_eq!(probe.not_heard(&mut held), [""; 0]);
}
