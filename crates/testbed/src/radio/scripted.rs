//! A given network, with the log of its first device's modem.

use std::ops::Range;
use std::time::Duration;

use sounding_modem::ReplaySchedule;
use sounding_sim::{Device, Diag, Network, Output, Port};
use sounding_trace::dci::Heard;
use sounding_units::{Bytes, HostInstant};

use super::RadioLink;

/// See the module. Records come when the modem made them.
#[derive(Debug)]
pub struct Scripted<'a, N> {
    network: N,
    capture: &'a [u8],
    chunks: Vec<(Range<usize>, Duration)>,
    next: usize,
    now: HostInstant,
}

impl<'a, N> Scripted<'a, N> {
    /// Time zero is when the link begins.
    pub fn new(network: N, link: &'a RadioLink) -> Self {
        let schedule = ReplaySchedule::since(&link.capture, link.begin);
        let chunks = schedule.pieces().collect();
        Self { network, capture: &link.capture, chunks, next: 0, now: HostInstant::default() }
    }

    fn due(&self) -> Option<HostInstant> {
        self.chunks.get(self.next).map(|(_, due)| HostInstant::default() + *due)
    }
}

impl<P, N: Network<P>> Network<P> for Scripted<'_, N> {
    fn handle_packet(&mut self, now: HostInstant, port: Port, size: Bytes, payload: P) {
        self.network.handle_packet(now, port, size, payload);
    }

    fn handle_time(&mut self, now: HostInstant) {
        self.now = self.now.max(now);
        self.network.handle_time(now);
    }

    fn poll_output(&mut self) -> Option<(Port, Output<P>)> {
        self.network.poll_output()
    }

    fn wakeup(&self) -> Option<HostInstant> {
        [self.network.wakeup(), self.due()].into_iter().flatten().min()
    }

    fn no_output_before(&self, at: HostInstant) -> HostInstant {
        self.network.no_output_before(at)
    }

    fn poll_heard(&mut self) -> Option<(HostInstant, Heard)> {
        self.network.poll_heard()
    }

    fn poll_diag(&mut self) -> Option<Diag> {
        let at = self.due().filter(|due| *due <= self.now)?;
        let (bytes, _) = &self.chunks[self.next];
        self.next += 1;
        Some(Diag { device: Device(0), at, bytes: self.capture[bytes.clone()].to_vec() })
    }
}
