use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::vec::Vec;
use core::time::Duration;

use sounding_kpi::Direction;
use sounding_link::{Arrival, Config, LinkEstimate, Sounder};
use sounding_shape::Decision;
use sounding_trace::dci::Heard;
use sounding_units::{Bytes, HostInstant, Rate};

use super::{Discipline, Governor, Item, Shaper};
use crate::soonest::soonest;
use crate::world::Segment;
use crate::{Carried, Device, Diag, Lost, Network, Output, Port};

/// A network whose device has a shaper in front: what it sends waits there before the modem, and
/// what it receives waits there behind it, as at a router.
///
/// The router reads the device's modem, and its shapers' rates follow from that every 10 ms.
#[derive(Debug)]
pub struct Shaped<N, P> {
    network: N,
    device: Device,
    up: Option<Governed<P>>,
    down: Option<Governed<P>>,
    sounder: Sounder,
    decide_at: HostInstant,
    outputs: VecDeque<(Port, Output<P>)>,
    diag: VecDeque<Diag>,
    shown: Option<Vec<Shown>>,
}

/// A packet behind its shaper, or on its way to one, as the inner network carries it.
#[derive(Clone, Copy, Debug)]
pub struct Behind<P> {
    payload: P,
    entered: HostInstant,
    waited: Duration,
}

/// A shaper and what sets its rate.
#[derive(Debug)]
pub struct ShapedBy {
    /// How its queue is served.
    pub discipline: Discipline,
    /// The rate at the beginning.
    pub rate: Rate,
    /// The span of time that its estimates look back.
    pub span: Duration,
    /// What sets it.
    pub governor: Box<dyn Governor>,
}

#[derive(Debug)]
struct Governed<P> {
    shaper: Shaper<Behind<P>>,
    governor: Box<dyn Governor>,
}

/// A decision, and what it was made of.
#[derive(Clone, Copy, Debug)]
pub struct Shown {
    /// When.
    pub at: HostInstant,
    /// For which direction.
    pub direction: Direction,
    /// The estimate.
    pub estimate: LinkEstimate,
    /// What the shaper held.
    pub queue: sounding_shape::Queue,
    /// The decision.
    pub decision: Decision,
}

/// The flow of a packet, by which a shaper queues it.
pub trait Keyed {
    /// Packets with the same key are one flow.
    fn key(&self) -> u32;
}

impl Keyed for Segment {
    fn key(&self) -> u32 {
        self.flow().0
    }
}

/// As the daemon does it.
const EVERY: Duration = Duration::from_millis(10);

impl<N: Network<Behind<P>>, P: Keyed> Shaped<N, P> {
    /// Puts shapers before and behind a device.
    pub fn new(network: N, device: Device, up: Option<ShapedBy>, down: Option<ShapedBy>) -> Self {
        let governed = |by: ShapedBy| Governed {
            shaper: Shaper::new(by.discipline, by.rate),
            governor: by.governor,
        };
        let span = |by: &Option<ShapedBy>| by.as_ref().map(|by| by.span);
        let up_link = Config::new(Direction::Uplink).over(span(&up));
        let down_link = Config::new(Direction::Downlink).over(span(&down));
        Self {
            network,
            device,
            up: up.map(governed),
            down: down.map(governed),
            sounder: Sounder::new(up_link).beside(down_link),
            decide_at: HostInstant::default() + EVERY,
            outputs: VecDeque::new(),
            diag: VecDeque::new(),
            shown: None,
        }
    }

    /// Keeps all decisions for [`drain_decisions`](Self::drain_decisions).
    pub fn show_decisions(&mut self) {
        self.shown.get_or_insert_default();
    }

    /// The decisions since the last call.
    pub fn drain_decisions(&mut self) -> Vec<Shown> {
        self.shown.as_mut().map(core::mem::take).unwrap_or_default()
    }

    /// The network behind the shapers.
    pub fn network_mut(&mut self) -> &mut N {
        &mut self.network
    }

    fn port(&self, direction: Direction) -> Port {
        Port { device: self.device, direction }
    }

    /// Packets that left the network: those of the shaped device's downlink join its shaper.
    fn carry(&mut self) {
        let down = self.port(Direction::Downlink);
        while let Some((port, output)) = self.network.poll_output() {
            match (output, &mut self.down) {
                (Output::Carried(out), Some(governed)) if port == down => {
                    let Carried { payload: behind, size, exits, joined, left, .. } = out;
                    let key = behind.payload.key();
                    let behind = Behind { waited: behind.waited + (left - joined), ..behind };
                    let item = Item { payload: behind, size, at: exits };
                    let outputs = &mut self.outputs;
                    governed
                        .shaper
                        .push(key, item, |item| outputs.push_back((down, lost(item, exits))));
                }
                (output, _) => self.outputs.push_back((port, ended(output))),
            }
        }
    }

    /// What the shapers let through by now.
    fn serve(&mut self, now: HostInstant) {
        let (up, down) = (self.port(Direction::Uplink), self.port(Direction::Downlink));
        let Self { network, outputs, .. } = self;
        if let Some(governed) = &mut self.up {
            let dropped = |at, item| outputs.push_back((up, lost(item, at)));
            governed.shaper.serve(now, dropped, |at, item: Item<Behind<P>>| {
                let behind = Behind { waited: at - item.at, ..item.payload };
                network.handle_packet(at, up, item.size, behind);
            });
        }
        if let Some(governed) = &mut self.down {
            let mut left = Vec::new();
            let dropped = |at, item| outputs.push_back((down, lost(item, at)));
            governed.shaper.serve(now, dropped, |at, item: Item<Behind<P>>| left.push((at, item)));
            for (at, item) in left {
                let Behind { payload, entered, waited } = item.payload;
                let joined = at.saturating_before(waited + (at - item.at));
                let size = item.size;
                let out = Carried { payload, size, entered, joined, left: at, exits: at };
                outputs.push_back((down, Output::Carried(out)));
            }
        }
        self.carry();
    }

    fn hear(&mut self) {
        while let Some(diag) = self.network.poll_diag() {
            if diag.device == self.device {
                self.sounder.handle_bytes(Arrival::At(diag.at), &diag.bytes, |_, _| {});
            }
            self.diag.push_back(diag);
        }
    }

    fn decide(&mut self, now: HostInstant) {
        while self.decide_at <= now {
            let at = self.decide_at;
            self.decide_at = at + EVERY;
            let governed = [self.up.as_mut(), self.down.as_mut()];
            for (governed, by) in governed.into_iter().zip(self.sounder.estimators()) {
                let Some(governed) = governed else { continue };
                let (estimate, queue) = (by.estimate(at), governed.shaper.queue());
                let decision = governed.governor.decide(at, &estimate, queue);
                governed.shaper.set_rate(decision.rate);
                if let Some(shown) = &mut self.shown {
                    let direction = estimate.direction;
                    shown.push(Shown { at, direction, estimate, queue, decision });
                }
            }
        }
    }
}

/// A packet that its shaper dropped.
fn lost<P>(item: Item<Behind<P>>, dropped: HostInstant) -> Output<P> {
    let Behind { payload, entered, .. } = item.payload;
    Output::Lost(Lost { payload, size: item.size, entered, dropped })
}

/// A packet that has left the network, in its original form.
fn ended<P>(output: Output<Behind<P>>) -> Output<P> {
    match output {
        Output::Carried(out) => {
            let Behind { entered, waited, .. } = out.payload;
            let joined = out.joined.saturating_before(waited);
            Output::Carried(Carried { entered, joined, ..out.map(|behind| behind.payload) })
        }
        Output::Lost(out) => {
            let entered = out.payload.entered;
            Output::Lost(Lost { entered, ..out.map(|behind| behind.payload) })
        }
    }
}

impl<N: Network<Behind<P>>, P: Keyed> Network<P> for Shaped<N, P> {
    fn handle_packet(&mut self, now: HostInstant, port: Port, size: Bytes, payload: P) {
        let key = payload.key();
        let behind = Behind { payload, entered: now, waited: Duration::ZERO };
        let up = self.port(Direction::Uplink);
        match &mut self.up {
            Some(governed) if port == up => {
                let item = Item { payload: behind, size, at: now };
                let outputs = &mut self.outputs;
                governed.shaper.push(key, item, |item| outputs.push_back((up, lost(item, now))));
            }
            _ => self.network.handle_packet(now, port, size, behind),
        }
        self.carry();
        self.serve(now);
    }

    fn handle_time(&mut self, now: HostInstant) {
        self.network.handle_time(now);
        self.carry();
        self.hear();
        self.decide(now);
        self.serve(now);
    }

    fn poll_output(&mut self) -> Option<(Port, Output<P>)> {
        self.outputs.pop_front()
    }

    fn wakeup(&self) -> Option<HostInstant> {
        let shapers = [&self.up, &self.down];
        let [up, down] = shapers.map(|by| by.as_ref().and_then(|by| by.shaper.wakeup()));
        soonest([self.network.wakeup(), Some(self.decide_at), up, down])
    }

    fn poll_heard(&mut self) -> Option<(HostInstant, Heard)> {
        self.network.poll_heard()
    }

    fn poll_diag(&mut self) -> Option<Diag> {
        self.diag.pop_front()
    }

    fn is_finished(&self, now: HostInstant) -> bool {
        self.network.is_finished(now)
    }
}
