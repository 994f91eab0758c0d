//! A network that records the packets passing by.

use std::cell::RefCell;
use std::rc::Rc;

use sounding_cell::Event;
use sounding_sim::world::Segment;
use sounding_sim::{Diag, Network, Output, Port};
use sounding_trace::dci::Heard;
use sounding_units::{Bytes, HostInstant};

use super::logs::Logs;
use crate::plan::Built;

/// A plan's network and the logs of a run.
pub(super) struct Recorded {
    network: Built<Segment>,
    logs: Rc<RefCell<Logs>>,
    events: Vec<Event>,
}

impl Recorded {
    pub(super) fn new(network: Built<Segment>, logs: Rc<RefCell<Logs>>) -> Self {
        Self { network, logs, events: Vec::new() }
    }
}

impl Network<Segment> for Recorded {
    fn handle_packet(&mut self, now: HostInstant, port: Port, size: Bytes, payload: Segment) {
        self.network.handle_packet(now, port, size, payload);
    }

    fn handle_time(&mut self, now: HostInstant) {
        self.network.handle_time(now);
        self.network.drain_events(&mut self.events);
        if !self.events.is_empty() {
            let mut logs = self.logs.borrow_mut();
            self.events.drain(..).for_each(|event| logs.handle_event(&event));
        }
    }

    fn poll_output(&mut self) -> Option<(Port, Output<Segment>)> {
        self.network.poll_output()
    }

    fn wakeup(&self) -> Option<HostInstant> {
        self.network.wakeup()
    }

    fn poll_heard(&mut self) -> Option<(HostInstant, Heard)> {
        self.network.poll_heard()
    }

    fn poll_diag(&mut self) -> Option<Diag> {
        let diag = self.network.poll_diag()?;
        self.logs.borrow_mut().handle_diag(&diag);
        Some(diag)
    }
}
