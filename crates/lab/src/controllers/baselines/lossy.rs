//! A path that loses packets by chance, before its queue.

use std::collections::VecDeque;

use sounding_sim::{Backlog, Lost, Output, Path, Pipe};
use sounding_units::{Bytes, HostInstant};

/// Acknowledgements pass.
const SMALL: Bytes = Bytes::new(200);

/// A path that loses this many packets in a thousand before the queue.
#[derive(Debug)]
pub(super) struct Lossy<P> {
    path: Path<P>,
    per_mille: u64,
    lot: u64,
    lost: VecDeque<Output<P>>,
}

impl<P> Lossy<P> {
    pub(super) fn new(path: Path<P>, per_mille: u64) -> Self {
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
        if size > SMALL && self.draw() {
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
