use alloc::vec::Vec;

use sounding_kpi::Direction;
use sounding_trace::dci::Heard;
use sounding_units::{Bytes, HostInstant};

use crate::{LinkEvent, Output};

/// A network that devices reach through their radio: both directions of all devices.
///
/// It is used like a [`Pipe`](crate::Pipe). One object contains all directions and devices, because
/// they may depend on each other.
pub trait Network<P> {
    /// A packet of `size` bytes of IP enters at `now`: at the device on its way up, at the far end
    /// on its way down.
    ///
    /// # Panics
    ///
    /// May panic if the network has no such device.
    fn handle_packet(&mut self, now: HostInstant, port: Port, size: Bytes, payload: P);

    /// Time has reached `now`.
    fn handle_time(&mut self, now: HostInstant);

    /// The next packet that left or was lost; each packet that entered is returned here exactly
    /// once.
    fn poll_output(&mut self) -> Option<(Port, Output<P>)>;

    /// When the next packet may leave, if none enters before.
    fn wakeup(&self) -> Option<HostInstant>;

    /// A packet that enters at `at` cannot leave before this time. The caller may delay the
    /// packet's entry until then.
    fn no_output_before(&self, at: HostInstant) -> HostInstant {
        at
    }

    /// New output of a device's modem on its Diag port, if the network models modems. Poll it after
    /// [`handle_time`](Self::handle_time) until it is empty.
    fn poll_diag(&mut self) -> Option<Diag> {
        None
    }

    /// The next line of a sniffer that receives the network's cells, and when its host received it;
    /// `None` without a sniffer. Poll it like [`poll_diag`](Self::poll_diag).
    fn poll_heard(&mut self) -> Option<(HostInstant, Heard)> {
        None
    }

    /// Moves the bottleneck's events on a port since the last call to the end of `into`; none
    /// unless logging is on.
    fn drain_events(&mut self, port: Port, into: &mut Vec<LinkEvent>) {
        let _ = (port, into);
    }

    /// Whether it has ended: a trace that is not repeated is used up.
    fn is_finished(&self, now: HostInstant) -> bool {
        let _ = now;
        false
    }
}

/// The place where a packet enters a network. It also determines where the packet leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Port {
    /// The device whose radio it passes.
    pub device: Device,
    /// The direction.
    pub direction: Direction,
}

impl Port {
    /// The uplink of a device.
    pub const fn up(device: Device) -> Self {
        Self { device, direction: Direction::Uplink }
    }

    /// The downlink of a device.
    pub const fn down(device: Device) -> Self {
        Self { device, direction: Direction::Downlink }
    }

    /// The way back.
    #[must_use]
    pub const fn reverse(self) -> Self {
        match self.direction {
            Direction::Uplink => Self::down(self.device),
            Direction::Downlink => Self::up(self.device),
        }
    }
}

/// A device of a network, counted from zero.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Device(pub u16);

/// Bytes read from a modem's Diag port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diag {
    /// The modem's device.
    pub device: Device,
    /// When the host could read them.
    pub at: HostInstant,
    /// In the framing of the port.
    pub bytes: Vec<u8>,
}
