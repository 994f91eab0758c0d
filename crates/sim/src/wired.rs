use alloc::collections::VecDeque;
use core::time::Duration;

use sounding_kpi::Direction;
use sounding_trace::dci::Heard;
use sounding_units::{Bytes, HostInstant};

use crate::soonest::soonest;
use crate::{Carried, Diag, Lost, Network, Order, Output, Path, PathConfig, Pipe, Port};

/// A network with a wired segment at its far end, which all devices share: after the radio on the
/// way up, before it on the way down. Where the segment is the narrower of the two, the bottleneck
/// is there.
///
/// A packet leaves the queue of the stage that it passes last. Its time of joining is set back by
/// its waits in both queues.
#[derive(Debug)]
pub struct Wired<N, P> {
    network: N,
    up: Path<(Port, Through<P>)>,
    down: Path<(Port, Through<P>)>,
    outputs: VecDeque<(Port, Output<P>)>,
}

/// A packet on its way through both stages, as the inner network carries it.
#[derive(Debug)]
pub struct Through<P> {
    payload: P,
    entered: HostInstant,
    /// In the queue of the stage before.
    waited: Duration,
}

impl<N: Network<Through<P>>, P> Wired<N, P> {
    /// Puts a segment behind `network`.
    pub fn new(network: N, up: &PathConfig, down: &PathConfig, origin: HostInstant) -> Self {
        Self {
            network,
            up: Path::new(up, Order::LinkThenDelay, origin),
            down: Path::new(down, Order::LinkThenDelay, origin),
            outputs: VecDeque::new(),
        }
    }

    /// The network before the segment.
    pub fn network(&self) -> &N {
        &self.network
    }

    /// The inner network, for calls other than packets.
    pub fn network_mut(&mut self) -> &mut N {
        &mut self.network
    }

    /// Moves packets that have passed the segment into the network, each at its own time. Returns
    /// whether there were any.
    #[inline]
    fn enter(&mut self) -> bool {
        let mut any = false;
        while let Some(output) = self.down.poll_output() {
            any = true;
            match output {
                Output::Carried(out) => {
                    let waited = out.left - out.joined;
                    let (port, through) = out.payload;
                    let through = Through { waited, ..through };
                    self.network.handle_packet(out.exits, port, out.size, through);
                }
                lost => self.outputs.push_back(ended(lost)),
            }
        }
        any
    }

    /// Moves packets that left the network into the segment, and packets that left the segment to
    /// the outputs.
    fn carry(&mut self) {
        while let Some((port, output)) = self.network.poll_output() {
            match output {
                Output::Carried(out) if port.direction == Direction::Uplink => {
                    let through = Through { waited: out.left - out.joined, ..out.payload };
                    self.up.handle_packet(out.exits, out.size, (port, through));
                }
                output => self.outputs.push_back(ended(output.map(|through| (port, through)))),
            }
        }
        self.leave();
    }

    /// Outputs packets that have passed the segment on the way up.
    #[inline]
    fn leave(&mut self) {
        while let Some(output) = self.up.poll_output() {
            self.outputs.push_back(ended(output));
        }
    }
}

/// A packet that has left both stages, in its original form.
fn ended<P>(output: Output<(Port, Through<P>)>) -> (Port, Output<P>) {
    match output {
        Output::Carried(out) => {
            let (port, Through { entered, waited, .. }) = out.payload;
            let joined = out.joined.saturating_before(waited);
            let out = out.map(|(_, through)| through.payload);
            (port, Output::Carried(Carried { entered, joined, ..out }))
        }
        Output::Lost(out) => {
            let (port, Through { entered, .. }) = out.payload;
            let out = out.map(|(_, through)| through.payload);
            (port, Output::Lost(Lost { entered, ..out }))
        }
    }
}

impl<N: Network<Through<P>>, P> Network<P> for Wired<N, P> {
    fn handle_packet(&mut self, now: HostInstant, port: Port, size: Bytes, payload: P) {
        let through = Through { payload, entered: now, waited: Duration::ZERO };
        match port.direction {
            Direction::Uplink => {
                // Packets that left earlier entered the network earlier.
                self.down.handle_time(now);
                self.enter();
                self.network.handle_packet(now, port, size, through);
            }
            Direction::Downlink => {
                self.down.handle_packet(now, size, (port, through));
                if !self.enter() {
                    return;
                }
            }
        }
        self.carry();
    }

    fn handle_time(&mut self, now: HostInstant) {
        self.down.handle_time(now);
        self.enter();
        self.network.handle_time(now);
        self.carry();
        self.up.handle_time(now);
        self.leave();
    }

    fn poll_output(&mut self) -> Option<(Port, Output<P>)> {
        self.outputs.pop_front()
    }

    fn wakeup(&self) -> Option<HostInstant> {
        let entering = self.down.wakeup().map(|at| self.network.no_output_before(at));
        soonest([self.network.wakeup(), self.up.wakeup(), entering])
    }

    fn no_output_before(&self, at: HostInstant) -> HostInstant {
        self.network.no_output_before(at)
    }

    fn poll_heard(&mut self) -> Option<(HostInstant, Heard)> {
        self.network.poll_heard()
    }

    fn poll_diag(&mut self) -> Option<Diag> {
        self.network.poll_diag()
    }

    fn is_finished(&self, now: HostInstant) -> bool {
        self.network.is_finished(now)
    }
}
