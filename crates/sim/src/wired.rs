use alloc::collections::VecDeque;

use sounding_kpi::Direction;
use sounding_units::{Bytes, HostInstant};

use crate::{Diag, Network, Order, Output, Path, PathConfig, Pipe, Port};

/// A network with a wired segment at its far end, which all devices share: after the radio on the way up, before it on
/// the way down. Where the segment is the narrower of the two, the bottleneck is there.
///
/// A packet counts as having joined and left the queue of the stage that it passed last.
#[derive(Debug)]
pub struct Wired<N, P> {
    network: N,
    up: Path<Through<P>>,
    down: Path<Through<P>>,
    outputs: VecDeque<(Port, Output<P>)>,
}

#[derive(Debug)]
struct Through<P> {
    payload: P,
    port: Port,
    entered: HostInstant,
}

impl<N: Network<P>, P> Wired<N, P> {
    /// Puts a segment behind `network`.
    pub fn new(network: N, up: &PathConfig, down: &PathConfig, origin: HostInstant) -> Self {
        Self {
            network,
            up: Path::new(up, Order::LinkThenDelay, origin),
            down: Path::new(down, Order::LinkThenDelay, origin),
            outputs: VecDeque::new(),
        }
    }

    /// What is before the segment.
    pub fn network(&self) -> &N {
        &self.network
    }

    fn carry(&mut self) {
        while let Some((port, output)) = self.network.poll_output() {
            match output {
                Output::Carried(out) if port.direction == Direction::Uplink => {
                    let through = Through { payload: out.payload, port, entered: out.entered };
                    self.up.handle_packet(out.exits, out.size, through);
                }
                output => self.outputs.push_back((port, output)),
            }
        }
        while let Some(output) = self.up.poll_output() {
            self.outputs.push_back(ended(output));
        }
        while let Some(output) = self.down.poll_output() {
            match output {
                Output::Carried(out) => {
                    let Through { payload, port, .. } = out.payload;
                    self.network.handle_packet(out.exits, port, out.size, payload);
                }
                lost => self.outputs.push_back(ended(lost)),
            }
        }
    }
}

fn ended<P>(output: Output<Through<P>>) -> (Port, Output<P>) {
    let end = |through: Through<P>, _| (through.payload, through.entered);
    match output {
        Output::Carried(out) => (out.payload.port, Output::Carried(out.map(end))),
        Output::Lost(out) => (out.payload.port, Output::Lost(out.map(end))),
    }
}

impl<N: Network<P>, P> Network<P> for Wired<N, P> {
    fn handle_packet(&mut self, now: HostInstant, port: Port, size: Bytes, payload: P) {
        match port.direction {
            Direction::Uplink => self.network.handle_packet(now, port, size, payload),
            Direction::Downlink => {
                self.down.handle_packet(now, size, Through { payload, port, entered: now });
            }
        }
        self.carry();
    }

    fn handle_time(&mut self, now: HostInstant) {
        self.down.handle_time(now);
        self.carry();
        self.network.handle_time(now);
        self.carry();
        self.up.handle_time(now);
        self.carry();
    }

    fn poll_output(&mut self) -> Option<(Port, Output<P>)> {
        self.outputs.pop_front()
    }

    fn wakeup(&self) -> Option<HostInstant> {
        [self.network.wakeup(), self.up.wakeup(), self.down.wakeup()].into_iter().flatten().min()
    }

    fn poll_diag(&mut self) -> Option<Diag> {
        self.network.poll_diag()
    }
}
