//! A controller whose state is looked at after what it hears.

use std::fmt;

use sounding_cc::{Ack, Controller, Departure, forward};
use sounding_units::{Bytes, HostInstant};

/// What a controller has heard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum On {
    /// A packet left.
    Sent,
    /// An acknowledgement, a timeout, or the time.
    Heard,
}

/// The controller, and what looks at it.
pub(crate) struct Noted<F> {
    law: Box<dyn Controller>,
    note: F,
}

impl<F: FnMut(On, HostInstant, &dyn Controller) + Send> Noted<F> {
    pub(crate) fn new(law: Box<dyn Controller>, note: F) -> Self {
        Self { law, note }
    }

    fn look(&mut self, on: On, now: HostInstant) {
        (self.note)(on, now, &*self.law);
    }
}

impl<F> fmt::Debug for Noted<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Noted").field(&self.law).finish()
    }
}

impl<F: FnMut(On, HostInstant, &dyn Controller) + Send> Controller for Noted<F> {
    forward!(law; but handle_sent, handle_ack, handle_timeout, handle_time);

    fn handle_sent(&mut self, sent: &Departure, size: Bytes) {
        self.law.handle_sent(sent, size);
        self.look(On::Sent, sent.at);
    }

    fn handle_ack(&mut self, ack: &Ack) {
        self.law.handle_ack(ack);
        self.look(On::Heard, ack.now);
    }

    fn handle_timeout(&mut self, now: HostInstant) {
        self.law.handle_timeout(now);
        self.look(On::Heard, now);
    }

    fn handle_time(&mut self, now: HostInstant) {
        self.law.handle_time(now);
        self.look(On::Heard, now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::probe::Probe;

    #[test]
    fn a_noted_law_hears_every_method() {
        let probe = Probe::default();
        let mut noted = Noted::new(Box::new(probe.clone()), |_, _, _: &dyn Controller| {});
        assert_eq!(probe.not_heard(&mut noted), [""; 0]);
    }
}
