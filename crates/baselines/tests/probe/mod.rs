//! A controller that notes which of its methods are called, and the check that a decorator hands
//! all of them on.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use forwarded::{Bound, Bytes, DelayUpdate, Direction, HostInstant, LinkEstimate, Rate};
use sounding_cc::sharing::{Part, Pool};
use sounding_cc::{Ack, Controller, Delivered, Departure, Loss, Revision, forwarded};

/// Notes the names of the methods that are called.
#[derive(Clone, Debug, Default)]
pub(crate) struct Probe(Arc<Mutex<Vec<&'static str>>>);

impl Probe {
    fn note(&self, method: &'static str) {
        self.0.lock().expect("no panic").push(method);
    }

    /// Methods of the decorator around this one that it does not hand on.
    pub(crate) fn not_heard(&self, decorator: &mut dyn Controller) -> Vec<&'static str> {
        let lost = CALLS.iter().filter(|(method, call)| {
            self.0.lock().expect("no panic").clear();
            call(decorator);
            !self.0.lock().expect("no panic").contains(method)
        });
        lost.map(|(method, _)| *method).collect()
    }
}

// A method that is new in the trait stands here, in `CALLS` and in `forward!`.
#[deny(clippy::missing_trait_methods, reason = "every method is noted")]
impl Controller for Probe {
    fn handle_sent(&mut self, _: &Departure, _: Bytes) {
        self.note("handle_sent");
    }

    fn handle_delivered(&mut self, _: &Delivered) {
        self.note("handle_delivered");
    }

    fn handle_ack(&mut self, _: &Ack) {
        self.note("handle_ack");
    }

    fn handle_loss(&mut self, _: &Loss) {
        self.note("handle_loss");
    }

    fn handle_timeout(&mut self, _: HostInstant) {
        self.note("handle_timeout");
    }

    fn handle_spurious_timeout(&mut self, _: HostInstant) {
        self.note("handle_spurious_timeout");
    }

    fn handle_estimate(&mut self, _: HostInstant, _: &LinkEstimate, _: u32) {
        self.note("handle_estimate");
    }

    fn handle_report(&mut self, _: HostInstant, _: &LinkEstimate, _: u32) {
        self.note("handle_report");
    }

    fn handle_part(&mut self, _: HostInstant, _: Part) {
        self.note("handle_part");
    }

    fn handle_delays(&mut self, _: HostInstant, _: Direction, _: &DelayUpdate) {
        self.note("handle_delays");
    }

    fn handle_revision(&mut self, _: &Revision) {
        self.note("handle_revision");
    }

    fn handle_time(&mut self, _: HostInstant) {
        self.note("handle_time");
    }

    fn wakeup(&self) -> Option<HostInstant> {
        self.note("wakeup");
        None
    }

    fn not_before(&self) -> Option<HostInstant> {
        self.note("not_before");
        None
    }

    fn cwnd(&self) -> Bytes {
        self.note("cwnd");
        Bytes::new(10_000)
    }

    fn pacing_rate(&self) -> Option<Rate> {
        self.note("pacing_rate");
        None
    }

    fn state(&self) -> &'static str {
        self.note("state");
        "noting"
    }
}

const NOW: HostInstant = HostInstant::from_nanos(1_000_000_000);

fn estimate() -> LinkEstimate {
    LinkEstimate::new(Direction::Uplink, Rate::from_bits_per_sec(1_000_000), Bound::Capacity)
}

fn delays() -> DelayUpdate {
    DelayUpdate::new(NOW, Vec::new()).with_up_until(Some(NOW)).with_down_until(Some(NOW))
}

/// A call of one method.
type Call = fn(&mut dyn Controller);

/// All methods.
const CALLS: &[(&str, Call)] = &[
    ("handle_sent", |to| to.handle_sent(&Departure::default(), Bytes::new(1000))),
    ("handle_delivered", |to| {
        let (size, sent) = (Bytes::new(1000), Departure::default());
        to.handle_delivered(&Delivered { now: NOW, size, sent });
    }),
    ("handle_ack", |to| to.handle_ack(&Ack { now: NOW, ..Ack::default() })),
    ("handle_loss", |to| {
        let (size, sent) = (Bytes::new(1000), Departure::default());
        let in_flight = Bytes::ZERO;
        to.handle_loss(&Loss { now: NOW, size, in_flight, sent, begins_recovery: true });
    }),
    ("handle_timeout", |to| to.handle_timeout(NOW)),
    ("handle_spurious_timeout", |to| to.handle_spurious_timeout(NOW)),
    ("handle_estimate", |to| to.handle_estimate(NOW, &estimate(), 1)),
    ("handle_report", |to| to.handle_report(NOW, &estimate(), 1)),
    ("handle_part", |to| to.handle_part(NOW, Pool::default().part(1))),
    ("handle_delays", |to| to.handle_delays(NOW, Direction::Uplink, &delays())),
    ("handle_revision", |to| {
        let least = Duration::from_millis(40);
        to.handle_revision(&Revision::Rebase { now: NOW, least });
    }),
    ("handle_time", |to| to.handle_time(NOW)),
    ("wakeup", |to| {
        to.wakeup();
    }),
    ("not_before", |to| {
        to.not_before();
    }),
    ("cwnd", |to| {
        to.cwnd();
    }),
    ("pacing_rate", |to| {
        to.pacing_rate();
    }),
    ("state", |to| {
        to.state();
    }),
];
