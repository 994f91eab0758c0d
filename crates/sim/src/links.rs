use alloc::vec::Vec;

use sounding_kpi::Direction;
use sounding_units::{Bytes, HostInstant};

use crate::{Device, LinkEvent, Network, Order, Output, Path, PathConfig, Pipe, Port};

/// A network of independent links: one uplink and one downlink for each device.
#[derive(Debug)]
pub struct Links<Q> {
    /// The uplink of the first device, its downlink, the uplink of the second, and so on.
    pipes: Vec<Slot<Q>>,
    /// Links before this index have no output.
    ready: usize,
}

/// The two directions of a device.
#[derive(Debug)]
pub struct Duplex<Q> {
    /// From the device.
    pub up: Q,
    /// To the device.
    pub down: Q,
}

#[derive(Debug)]
struct Slot<Q> {
    pipe: Q,
    /// The pipe's wakeup at the last call, so that pipes without events cost no time.
    wakeup: Option<HostInstant>,
}

impl<Q> Links<Q> {
    /// Devices are counted in this order.
    pub fn new(devices: Vec<Duplex<Q>>) -> Self {
        let both = devices.into_iter().flat_map(|duplex| [duplex.up, duplex.down]);
        let pipes: Vec<_> = both.map(|pipe| Slot { pipe, wakeup: None }).collect();
        Self { ready: pipes.len(), pipes }
    }

    /// One direction of one device; `None` if there is no such device.
    pub fn pipe(&self, port: Port) -> Option<&Q> {
        self.pipes.get(index(port)).map(|slot| &slot.pipe)
    }
}

fn index(port: Port) -> usize {
    2 * usize::from(port.device.0) + usize::from(port.direction == Direction::Downlink)
}

fn port(index: usize) -> Port {
    // One for each device; devices are counted in 16 bits.
    let device = Device((index / 2) as u16);
    if index.is_multiple_of(2) { Port::up(device) } else { Port::down(device) }
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

impl<Q> Links<Q> {
    /// The same links for a driver that waits for the ends of traces that are played once, even if
    /// nothing enters.
    #[must_use]
    pub fn awaited<P>(mut self) -> Self
    where
        Q: Pipe<P>,
    {
        self.pipes.iter_mut().for_each(|slot| slot.wakeup = slot.pipe.wakeup());
        self
    }
}

impl<P, Q: Pipe<P>> Network<P> for Links<Q> {
    fn handle_packet(&mut self, now: HostInstant, port: Port, size: Bytes, payload: P) {
        let index = index(port);
        let slot = &mut self.pipes[index];
        slot.pipe.handle_packet(now, size, payload);
        slot.wakeup = slot.pipe.wakeup();
        self.ready = self.ready.min(index);
    }

    fn handle_time(&mut self, now: HostInstant) {
        for (index, slot) in self.pipes.iter_mut().enumerate() {
            // A slot that never carried a packet may still have the end of its trace as its wakeup;
            // here it does not matter.
            if slot.wakeup.is_some_and(|at| at <= now) {
                slot.pipe.handle_time(now);
                slot.wakeup = slot.pipe.wakeup();
                self.ready = self.ready.min(index);
            }
        }
    }

    fn poll_output(&mut self) -> Option<(Port, Output<P>)> {
        while let Some(slot) = self.pipes.get_mut(self.ready) {
            if let Some(output) = slot.pipe.poll_output() {
                return Some((port(self.ready), output));
            }
            self.ready += 1;
        }
        None
    }

    fn wakeup(&self) -> Option<HostInstant> {
        self.pipes.iter().filter_map(|slot| slot.wakeup).min()
    }

    fn drain_events(&mut self, port: Port, into: &mut Vec<LinkEvent>) {
        if let Some(slot) = self.pipes.get_mut(index(port)) {
            slot.pipe.drain_events(into);
        }
    }

    fn is_finished(&self, now: HostInstant) -> bool {
        self.pipes.iter().any(|slot| slot.pipe.is_finished(now))
    }
}
