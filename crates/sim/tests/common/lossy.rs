//! A path that loses packets by chance, before its queue.

use std::collections::VecDeque;

use sounding_sim::world::Segment;
use sounding_sim::{Backlog, Duplex, Links, Lost, Order, Output, Path, PathConfig, Pipe, World};
use sounding_units::{Bytes, HostInstant, Rate};

/// Acknowledgements pass.
const SMALL: u64 = 200;

#[derive(Debug)]
pub(crate) struct Lossy<P> {
    path: Path<P>,
    per_mille: u64,
    lot: u64,
    lost: VecDeque<Output<P>>,
}

impl<P> Lossy<P> {
    pub(crate) fn new(path: Path<P>, per_mille: u64) -> Self {
        Self { path, per_mille, lot: 1, lost: VecDeque::new() }
    }

    /// Whether the next packet is lost (an xorshift of 64 bits, Marsaglia 2003).
    fn draw(&mut self) -> bool {
        self.lot ^= self.lot << 13;
        self.lot ^= self.lot >> 7;
        self.lot ^= self.lot << 17;
        self.lot % 1000 < self.per_mille
    }
}

impl<P> Pipe<P> for Lossy<P> {
    fn handle_packet(&mut self, now: HostInstant, size: Bytes, payload: P) {
        if size.count() > SMALL && self.draw() {
            let lost = Lost { payload, size, entered: now, dropped: now };
            self.lost.push_back(Output::Lost(lost));
        } else {
            self.path.handle_packet(now, size, payload);
        }
    }

    fn handle_time(&mut self, now: HostInstant) {
        self.path.handle_time(now);
    }

    fn poll_output(&mut self) -> Option<Output<P>> {
        self.lost.pop_front().or_else(|| self.path.poll_output())
    }

    fn wakeup(&self) -> Option<HostInstant> {
        self.path.wakeup()
    }

    fn backlog(&self) -> Backlog {
        self.path.backlog()
    }
}

/// The path of most tests, of which so many packets in a thousand do not reach the queue.
pub(crate) fn lossy_world(
    bottleneck: Rate,
    buffer: u64,
    per_mille: u64,
) -> World<Links<Lossy<Segment>>> {
    let origin = HostInstant::default();
    let lossy = |config: &PathConfig, order, per_mille| {
        Lossy::new(Path::new(config, order, origin), per_mille)
    };
    let (up, down) = super::directions(bottleneck, buffer);
    let up = lossy(&up, Order::LinkThenDelay, per_mille);
    let down = lossy(&down, Order::DelayThenLink, 0);
    World::new(Links::new(vec![Duplex { up, down }]), 1)
}
