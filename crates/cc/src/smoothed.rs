//! A controller whose delays are a mean over a short time, without any knowledge of the radio: the control that knowledge has
//! to beat.

use core::time::Duration;

use sounding_estimate::LinkEstimate;
use sounding_units::{Bytes, HostInstant, Rate};

use crate::parameter::{Kind, Parameter, Values};
use crate::part::Boxcar;
use crate::sharing::Part;
use crate::{Ack, Controller, Delivered, Departure, Loss};

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
    fn handle_sent(&mut self, sent: &Departure, size: Bytes) {
        self.inner.handle_sent(sent, size);
    }

    fn handle_delivered(&mut self, delivered: &Delivered) {
        self.inner.handle_delivered(delivered);
    }

    fn handle_ack(&mut self, ack: &Ack) {
        let rtt = ack.rtt.map(|rtt| self.rtt.push(ack.now, rtt));
        let one_way = ack.one_way.map(|way| self.one_way.push(ack.now, way));
        self.inner.handle_ack(&Ack { rtt, one_way, ..*ack });
    }

    fn handle_loss(&mut self, loss: &Loss) {
        self.inner.handle_loss(loss);
    }

    fn handle_timeout(&mut self, now: HostInstant) {
        self.inner.handle_timeout(now);
    }

    fn handle_spurious_timeout(&mut self, now: HostInstant) {
        self.inner.handle_spurious_timeout(now);
    }

    fn handle_estimate(&mut self, now: HostInstant, estimate: &LinkEstimate, flows: u32) {
        self.inner.handle_estimate(now, estimate, flows);
    }

    fn handle_part(&mut self, now: HostInstant, part: Part) {
        self.inner.handle_part(now, part);
    }

    fn handle_time(&mut self, now: HostInstant) {
        self.inner.handle_time(now);
    }

    fn wakeup(&self) -> Option<HostInstant> {
        self.inner.wakeup()
    }

    fn not_before(&self) -> Option<HostInstant> {
        self.inner.not_before()
    }

    fn cwnd(&self) -> Bytes {
        self.inner.cwnd()
    }

    fn pacing_rate(&self) -> Option<Rate> {
        self.inner.pacing_rate()
    }

    fn state(&self) -> &'static str {
        self.inner.state()
    }
}
