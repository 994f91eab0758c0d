//! A controller whose delays are a mean over a short time, without any knowledge of the radio: the
//! control that knowledge has to beat.

use core::time::Duration;

use sounding_cc::parameter::{Kind, Parameter, Values};
use sounding_cc::part::Boxcar;
use sounding_cc::{Ack, Controller, forward};

const WINDOW: Parameter = Parameter {
    name: "window",
    kind: Kind::millis(10, 1, 200),
    unit: "",
    about: "delays are a mean over this",
    source: "chosen: two intervals of buffer status reports",
};

pub(crate) const PARAMETERS: &[Parameter] = &[WINDOW];

pub(crate) fn window(values: &Values) -> Duration {
    values.time(&WINDOW)
}

/// A controller that receives smoothed delays.
#[derive(Debug)]
pub struct Smoothed<C> {
    inner: C,
    rtt: Boxcar,
    one_way: Boxcar,
}

impl<C: Controller> Smoothed<C> {
    /// A controller that receives means over `window`.
    pub fn new(inner: C, window: Duration) -> Self {
        Self { inner, rtt: Boxcar::new(window), one_way: Boxcar::new(window) }
    }
}

impl<C: Controller> Controller for Smoothed<C> {
    forward!(inner; but handle_ack);

    fn handle_ack(&mut self, ack: &Ack) {
        let rtt = ack.rtt.map(|rtt| self.rtt.push(ack.now, rtt));
        let one_way = ack.one_way.map(|way| self.one_way.push(ack.now, way));
        self.inner.handle_ack(&Ack { rtt, one_way, ..*ack });
    }
}
