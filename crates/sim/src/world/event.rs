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
        /// Whose.
        flow: FlowId,
        /// When it passed where.
        packet: Carried<()>,
    },
    /// The network dropped a data packet.
    Dropped {
        /// Whose.
        flow: FlowId,
        /// When.
        packet: Lost<()>,
    },
    /// A sender took an acknowledgement in.
    Acked {
        /// Whose.
        flow: FlowId,
        /// The acknowledgement as its controller received it.
        ack: &'a Ack,
        /// And what that made of it.
        controller: &'a dyn Controller,
    },
    /// A controller received an estimate of its link.
    Told {
        /// Whose.
        flow: FlowId,
        /// What.
        estimate: &'a LinkEstimate,
    },
}

/// Looks on; `()` looks away.
pub trait Observer {
    /// Something happened.
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
