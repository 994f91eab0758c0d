use sounding_cc::{Ack, Controller};
use sounding_link::LinkEstimate;
use sounding_units::HostInstant;

use super::FlowId;
use crate::{Carried, Lost};

/// Events of a world, in order of time: the source of a series or a log.
#[derive(Clone, Copy, Debug)]
pub enum Event<'a> {
    /// A data packet came out of the network.
    Arrived {
        /// Its flow.
        flow: FlowId,
        /// The packet, with its times in the network.
        packet: Carried<()>,
    },
    /// The network dropped a data packet.
    Dropped {
        /// Its flow.
        flow: FlowId,
        /// When.
        packet: Lost<()>,
    },
    /// A sender processed an acknowledgement.
    Acked {
        /// Its flow.
        flow: FlowId,
        /// The acknowledgement as its controller received it.
        ack: &'a Ack,
        /// The controller after it.
        controller: &'a dyn Controller,
    },
    /// A controller received an estimate of its link.
    Told {
        /// Its flow.
        flow: FlowId,
        /// The estimate.
        estimate: &'a LinkEstimate,
    },
}

/// Receives the events of a world; `()` ignores them.
pub trait Observer {
    /// Receives an event.
    fn handle_event(&mut self, now: HostInstant, event: &Event<'_>);
}

impl Observer for () {
    fn handle_event(&mut self, _now: HostInstant, _event: &Event<'_>) {}
}

impl<F: FnMut(HostInstant, &Event<'_>)> Observer for F {
    fn handle_event(&mut self, now: HostInstant, event: &Event<'_>) {
        self(now, event);
    }
}
