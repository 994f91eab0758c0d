use alloc::vec::Vec;

use sounding_kpi::Direction;
use sounding_units::{Bytes, HostInstant};

use crate::{Device, Network, Order, Output, Path, PathConfig, Pipe, Port};

/// A network of links that know nothing of each other: one uplink and one downlink for each device.
#[derive(Debug)]
pub struct Links<Q> {
    devices: Vec<Duplex<Q>>,
}

/// The two directions of a device.
#[derive(Debug)]
pub struct Duplex<Q> {
    /// From the device.
    pub up: Q,
    /// To the device.
    pub down: Q,
}

impl<Q> Links<Q> {
    /// Devices are counted in this order.
    pub fn new(devices: Vec<Duplex<Q>>) -> Self {
        Self { devices }
    }

    /// One direction of one device; `None` if there is no such device.
    pub fn pipe(&self, port: Port) -> Option<&Q> {
        let duplex = self.devices.get(usize::from(port.device.0))?;
        Some(match port.direction {
            Direction::Uplink => &duplex.up,
            Direction::Downlink => &duplex.down,
        })
    }

    fn each(&mut self) -> impl Iterator<Item = (Port, &mut Q)> {
        (0..).zip(&mut self.devices).flat_map(|(device, duplex)| {
            let device = Device(device);
            [(Port::up(device), &mut duplex.up), (Port::down(device), &mut duplex.down)]
        })
    }
}

impl<P> Links<Path<P>> {
    /// One device behind `mm-delay D mm-link UP DOWN`: the links are on its side of the delay.
    pub fn one(up: &PathConfig, down: &PathConfig, origin: HostInstant) -> Self {
        Self::new(alloc::vec![Duplex {
            up: Path::new(up, Order::LinkThenDelay, origin),
            down: Path::new(down, Order::DelayThenLink, origin),
        }])
    }
}

impl<P, Q: Pipe<P>> Network<P> for Links<Q> {
    fn handle_packet(&mut self, now: HostInstant, port: Port, size: Bytes, payload: P) {
        let duplex = &mut self.devices[usize::from(port.device.0)];
        let pipe = match port.direction {
            Direction::Uplink => &mut duplex.up,
            Direction::Downlink => &mut duplex.down,
        };
        pipe.handle_packet(now, size, payload);
    }

    fn handle_time(&mut self, now: HostInstant) {
        self.each().for_each(|(_, pipe)| pipe.handle_time(now));
    }

    fn poll_output(&mut self) -> Option<(Port, Output<P>)> {
        self.each().find_map(|(port, pipe)| Some((port, pipe.poll_output()?)))
    }

    fn wakeup(&self) -> Option<HostInstant> {
        let wakeups = |duplex: &Duplex<Q>| [duplex.up.wakeup(), duplex.down.wakeup()];
        self.devices.iter().flat_map(wakeups).flatten().min()
    }
}
