use sounding_cc::{Ack, Controller};
use sounding_link::LinkEstimate;
use sounding_units::HostInstant;

use super::FlowId;
use crate::{Carried, Lost};

/// What happens in a world, as it happens: what a series or a log is made of.
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
        /// What its controller was told.
        ack: &'a Ack,
        /// And what that made of it.
        controller: &'a dyn Controller,
    },
    /// A controller was told of its link.
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
