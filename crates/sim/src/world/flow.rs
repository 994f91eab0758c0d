use alloc::boxed::Box;
use core::fmt;
use core::time::Duration;

use sounding_cc::sharing::WEIGHT;
use sounding_cc::{Controller, Start};
use sounding_units::{Bytes, HostInstant, Rate};

use super::traffic::Traffic;
use crate::Port;

/// A flow of a world, counted from zero in order of [`World::add_flow`](super::World::add_flow).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FlowId(pub u32);

/// One flow: where, when, what, and under whose control.
#[derive(Debug)]
pub struct Flow {
    /// The way its data goes; acknowledgements go the other.
    pub port: Port,
    /// When it connects.
    pub begins: HostInstant,
    /// When it stops to send new data, if ever.
    pub ends: Option<HostInstant>,
    /// Its transport and traffic.
    pub transport: Transport,
    /// Its application, if applications share the link equally.
    pub application: u32,
    /// Its weight, where flows share by weights; [`WEIGHT`](sounding_cc::sharing::WEIGHT) is
    /// ordinary.
    pub weight: u32,
    /// An earlier flow in whose name it is shown and counted, as one of several transfers of an
    /// application.
    pub of: Option<FlowId>,
}

/// The transport and traffic of a flow.
#[derive(Debug)]
pub enum Transport {
    /// A byte stream that is acknowledged, repaired and controlled.
    Tcp(Tcp),
    /// Packets at a rate of IP, regardless of losses.
    Datagrams {
        /// The rate.
        rate: Rate,
        /// Bytes of each.
        size: Bytes,
    },
}

/// Bytes of IP of a datagram that names no size.
const DATAGRAM: Bytes = Bytes::new(1_500);

/// Makes a controller for one flow.
pub type MakeController = Box<dyn FnOnce(&Start) -> Box<dyn Controller> + Send>;

/// A byte stream.
pub struct Tcp {
    /// Makes its controller once the handshake is done.
    pub controller: MakeController,
    /// The application's data.
    pub traffic: Traffic,
    /// When the receiver acknowledges, and what its clock is like.
    pub receipt: Receipt,
    /// Limit on unacknowledged data, besides the window: the smaller of the buffers at both ends.
    pub buffer: Option<Bytes>,
}

/// When a receiver acknowledges.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Acks {
    /// Every second segment, after at most 40 ms, and at once if a segment is missing.
    #[default]
    Delayed,
    /// Every segment.
    EveryPacket,
    /// Every so many segments, with the same exceptions.
    Every(u32),
}

/// How a receiver acknowledges and stamps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Receipt {
    /// When it acknowledges.
    pub acks: Acks,
    /// The resolution of its time stamps: 1 ms on Linux, up to 10 ms on other systems.
    pub tick: Duration,
    /// Segments that arrive within this time are processed together, as GRO does; zero for each
    /// segment by itself.
    pub batch: Duration,
}

impl Default for Receipt {
    fn default() -> Self {
        Self { acks: Acks::default(), tick: Duration::from_millis(1), batch: Duration::ZERO }
    }
}

impl Flow {
    /// A flow that sends all it can from the beginning of the world.
    pub fn bulk(
        port: Port,
        controller: impl FnOnce(&Start) -> Box<dyn Controller> + Send + 'static,
    ) -> Self {
        let tcp = Tcp {
            controller: Box::new(controller),
            traffic: Traffic::Bulk,
            receipt: Receipt::default(),
            buffer: None,
        };
        Self::of(port, Transport::Tcp(tcp))
    }

    /// Datagrams of 1500 bytes from the beginning of the world.
    pub fn datagrams(port: Port, rate: Rate) -> Self {
        Self::of(port, Transport::Datagrams { rate, size: DATAGRAM })
    }

    /// The same with datagrams of this size; a byte stream does not change.
    #[must_use]
    pub fn sized(mut self, bytes: Bytes) -> Self {
        if let Transport::Datagrams { size, .. } = &mut self.transport {
            *size = bytes;
        }
        self
    }

    fn of(port: Port, transport: Transport) -> Self {
        let begins = HostInstant::default();
        Self { port, begins, ends: None, transport, application: 0, weight: WEIGHT, of: None }
    }

    /// The same, with this application.
    #[must_use]
    pub fn of_application(self, application: u32) -> Self {
        Self { application, ..self }
    }

    /// The same, with this weight.
    #[must_use]
    pub fn weighs(self, weight: u32) -> Self {
        Self { weight, ..self }
    }

    /// The same, shown and counted as this earlier flow: see [`World::total`](super::World::total).
    #[must_use]
    pub fn as_part_of(self, flow: FlowId) -> Self {
        Self { of: Some(flow), ..self }
    }

    /// The same, with a later start.
    #[must_use]
    pub fn begins(self, at: HostInstant) -> Self {
        Self { begins: at, ..self }
    }

    /// The same, without new data from `at` on.
    #[must_use]
    pub fn ends(self, at: HostInstant) -> Self {
        Self { ends: Some(at), ..self }
    }

    /// The same with other traffic; datagrams do not change.
    #[must_use]
    pub fn sends(self, traffic: Traffic) -> Self {
        self.tcp(|tcp| tcp.traffic = traffic)
    }

    /// The same, with another policy for acknowledgements.
    #[must_use]
    pub fn acknowledged(self, acks: Acks) -> Self {
        self.tcp(|tcp| tcp.receipt.acks = acks)
    }

    /// The same with another kind of receiver.
    #[must_use]
    pub fn received(self, receipt: Receipt) -> Self {
        self.tcp(|tcp| tcp.receipt = receipt)
    }

    /// The same with a limit on unacknowledged data.
    #[must_use]
    pub fn buffered(self, most: Bytes) -> Self {
        self.tcp(|tcp| tcp.buffer = Some(most))
    }

    fn tcp(mut self, change: impl FnOnce(&mut Tcp)) -> Self {
        if let Transport::Tcp(tcp) = &mut self.transport {
            change(tcp);
        }
        self
    }
}

impl fmt::Debug for Tcp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { traffic, receipt, buffer, .. } = self;
        f.debug_struct("Tcp")
            .field("traffic", traffic)
            .field("receipt", receipt)
            .field("buffer", buffer)
            .finish_non_exhaustive()
    }
}
