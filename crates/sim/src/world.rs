//! Hosts and flows in virtual time over any [`Network`].
//!
//! Events happen in an order that depends on the inputs alone. At equal times, packets leave the
//! network first, then estimates from modems arrive, then timers run in order of flows. The same
//! world has the same [`digest`](World::digest) on every machine.

mod digest;
mod event;
mod far_end;
mod flow;
mod host;
mod modem_feed;
mod receiver;
mod report;
mod scoreboard;
mod segment;
mod sender;
mod timers;
mod traffic;

use alloc::vec::Vec;
use core::time::Duration;

use sounding_cc::sharing::Policy;
use sounding_kpi::Direction;
use sounding_units::HostInstant;

pub use event::{Event, Observer};
pub use flow::{Acks, Flow, FlowId, MakeController, Receipt, Tcp, Transport};
pub use modem_feed::{Feedback, Listening};
pub use report::Report;
pub use segment::Segment;
pub use traffic::Traffic;

use crate::soonest::soonest;
use crate::{Carried, Network, Output, Port};
use digest::Digest;
use far_end::{FarEnds, Travel};
use host::{Host, Outbox};
use modem_feed::ModemFeed;
use segment::{Kind, SegmentStore};
use timers::Timers;

/// How long a flow that sends no data still counts among those that share a link: two epochs of 134
/// ms, as in the kernel (BISCAY §A.5.2 gives no number; interpretation 7).
const ACTIVE_FOR: Duration = Duration::from_millis(268);

/// Flows, their hosts and the network between them.
#[derive(Debug)]
pub struct World<N> {
    network: N,
    now: HostInstant,
    seed: u64,
    flows: Vec<Host>,
    timers: Timers,
    feeds: Vec<ModemFeed>,
    outbox: Outbox,
    far_ends: FarEnds,
    said: SegmentStore,
    policy: Policy,
    digest: Digest,
}

impl<N: Network<Segment>> World<N> {
    /// A world at time zero without flows. `seed` determines all its random numbers.
    pub fn new(network: N, seed: u64) -> Self {
        Self {
            network,
            now: HostInstant::default(),
            seed,
            flows: Vec::new(),
            timers: Timers::default(),
            feeds: Vec::new(),
            outbox: Outbox::default(),
            far_ends: FarEnds::default(),
            said: SegmentStore::default(),
            policy: Policy::default(),
            digest: Digest::default(),
        }
    }

    /// The flows of each device share its link by this policy, if their controllers use their part.
    pub fn share_by(&mut self, policy: Policy) {
        self.policy = policy;
    }

    /// Adds a flow. One that should have begun earlier begins at once.
    pub fn add_flow(&mut self, flow: Flow) -> FlowId {
        let id = FlowId(u32::try_from(self.flows.len()).unwrap_or(u32::MAX));
        // Flows of one world have different random numbers.
        let seed = self.seed.wrapping_add(u64::from(id.0).wrapping_mul(0x9E37_79B9_7F4A_7C15));
        self.flows.push(Host::new(id, flow, self.now, seed));
        self.timers.add();
        self.schedule(id);
        id
    }

    /// Puts a flow's far end so far from the network, one way, beyond any wire that the network
    /// has. What a device's host reports to controllers directly does not go that way: that
    /// takes [`Listening::latency`].
    pub fn delay_far_end(&mut self, flow: FlowId, delay: Duration) {
        self.far_ends.set(flow, delay);
    }

    /// Feeds controllers with the estimates from a device's modem.
    pub fn listen(&mut self, listening: Listening) {
        self.feeds.push(ModemFeed::new(listening, self.now));
    }

    /// Lets time pass until `until`, that moment included.
    pub fn run_until(&mut self, until: HostInstant) {
        self.observe_until(until, &mut ());
    }

    /// Lets time pass until `until`, and reports all events to `observer`.
    pub fn observe_until<O: Observer>(&mut self, until: HostInstant, observer: &mut O) {
        while let Some(at) = self.wakeup().filter(|&at| at <= until) {
            self.now = self.now.max(at);
            self.step(observer);
        }
        self.now = self.now.max(until);
        self.flows.iter_mut().for_each(|host| host.report_mut().until = until);
    }

    /// The measurements of a flow.
    ///
    /// # Panics
    ///
    /// If the flow belongs to another world.
    pub fn report(&self, flow: FlowId) -> &Report {
        self.flows[flow.0 as usize].report()
    }

    /// The measurements of a flow and of all flows that count as it ([`Flow::as_part_of`]).
    ///
    /// # Panics
    ///
    /// If the flow belongs to another world.
    pub fn total(&self, flow: FlowId) -> Report {
        let mut total = self.report(flow).clone();
        let parts = self.flows.iter().filter(|host| host.shown() == flow && host.id() != flow);
        parts.for_each(|host| total.add(host.report()));
        total
    }

    /// Restarts the measurements now.
    pub fn measure_afresh(&mut self) {
        let now = self.now;
        self.flows.iter_mut().for_each(|host| host.measure_afresh(now));
    }

    /// The time.
    pub fn now(&self) -> HostInstant {
        self.now
    }

    /// The network between the hosts.
    pub fn network(&self) -> &N {
        &self.network
    }

    /// The network, for calls other than packets and time.
    pub fn network_mut(&mut self) -> &mut N {
        &mut self.network
    }

    /// A number that follows from all that happened so far, in its order.
    pub fn digest(&self) -> u64 {
        self.digest.value()
    }

    fn wakeup(&self) -> Option<HostInstant> {
        let feeds = self.feeds.iter().map(ModemFeed::wakeup).min();
        soonest([self.network.wakeup(), feeds, self.timers.next(), self.far_ends.wakeup()])
    }

    fn step<O: Observer>(&mut self, observer: &mut O) {
        let now = self.now;
        self.network.handle_time(now);
        self.carry(observer);
        while let Some(travel) = self.far_ends.poll(now) {
            self.arrive(travel, observer);
        }
        while let Some(diag) = self.network.poll_diag() {
            self.digest.fold(diag.at.as_nanos(), diag.bytes.len() as u64);
            self.feeds.iter_mut().for_each(|feed| feed.handle_diag(&diag));
        }
        while let Some((at, heard)) = self.network.poll_heard() {
            self.feeds.iter_mut().for_each(|feed| feed.handle_heard(at, &heard));
        }
        for feed in 0..self.feeds.len() {
            self.hear(feed, observer);
        }
        while let Some(flow) = self.timers.pop_due(now) {
            self.flows[flow].handle_time(now, &mut self.outbox);
            self.settle(self.flows[flow].id(), observer);
        }
    }

    /// Delivers packets that left the network, and sends the responses, until no more packets leave
    /// now.
    fn carry<O: Observer>(&mut self, observer: &mut O) {
        // Packets of a flow leave together, and only its last timer counts.
        let mut changed: Option<FlowId> = None;
        while let Some((port, output)) = self.network.poll_output() {
            match output {
                Output::Carried(mut out) => {
                    let flow = out.payload.flow;
                    if let Some(delay) = self.far_ends.of(flow) {
                        if port.direction == Direction::Uplink {
                            self.far_ends.send(out.exits + delay, Travel::Out(out));
                            continue;
                        }
                        out = FarEnds::carried(delay, out);
                    }
                    if let Some(before) = changed.replace(flow).filter(|before| *before != flow) {
                        self.schedule(before);
                    }
                    self.digest
                        .fold(out.exits.as_nanos(), u64::from(flow.0) << 32 | out.size.count());
                    let kind = self.said.take(out.payload);
                    let host = &mut self.flows[flow.0 as usize];
                    host.handle_segment(self.now, kind, &out, &mut self.outbox, observer);
                    self.send(flow);
                }
                Output::Lost(mut out) => {
                    let flow = out.payload.flow;
                    if let Some(delay) = self.far_ends.of(flow)
                        && port.direction == Direction::Downlink
                    {
                        out = FarEnds::lost(delay, out);
                    }
                    self.digest.fold(out.dropped.as_nanos(), !u64::from(flow.0));
                    let kind = self.said.take(out.payload);
                    self.flows[flow.0 as usize].handle_drop(self.now, kind, &out, observer);
                }
            }
        }
        if let Some(flow) = changed {
            self.schedule(flow);
        }
    }

    /// A packet is through between the network and a far end.
    fn arrive<O: Observer>(&mut self, travel: Travel, observer: &mut O) {
        match travel {
            Travel::In(port, size, segment) => {
                let now = self.now;
                self.network.handle_packet(now, port, size, segment);
                self.carry(observer);
            }
            Travel::Out(out) => {
                let (flow, out) = (out.payload.flow, Carried { exits: self.now, ..out });
                self.digest.fold(out.exits.as_nanos(), u64::from(flow.0) << 32 | out.size.count());
                let kind = self.said.take(out.payload);
                let host = &mut self.flows[flow.0 as usize];
                host.handle_segment(self.now, kind, &out, &mut self.outbox, observer);
                self.settle(flow, observer);
            }
        }
    }

    fn hear<O: Observer>(&mut self, feed: usize, observer: &mut O) {
        let now = self.now;
        self.feeds[feed].handle_time(now);
        while let Some(delays) = self.feeds[feed].poll_delays(now) {
            let port = self.feeds[feed].port();
            for flow in 0..self.flows.len() {
                if self.flows[flow].port() == port {
                    self.flows[flow].handle_delays(now, &delays, &mut self.outbox);
                    self.settle(self.flows[flow].id(), observer);
                }
            }
        }
        while let Some(estimate) = self.feeds[feed].poll_estimate(now) {
            let port = self.feeds[feed].port();
            if self.feeds[feed].feedback() == Feedback::Acks {
                self.report_on_acks(feed, port);
                continue;
            }
            let sharing = self
                .flows
                .iter()
                .filter(|host| host.port() == port && host.is_active(now, ACTIVE_FOR));
            let sharing = u32::try_from(sharing.count()).unwrap_or(u32::MAX);
            let those = (0..self.flows.len()).filter(|&flow| self.flows[flow].port() == port);
            let those: Vec<usize> = those.collect();
            let members: Vec<_> = those.iter().map(|&flow| self.flows[flow].member(now)).collect();
            for (flow, part) in those.into_iter().zip(self.policy.parts(&members)) {
                {
                    self.flows[flow].handle_part(now, part);
                    self.flows[flow].handle_estimate(
                        now,
                        &estimate,
                        sharing,
                        &mut self.outbox,
                        observer,
                    );
                    self.settle(self.flows[flow].id(), observer);
                }
            }
        }
    }

    /// From now on the acknowledgements of a device's flows carry its estimate of the link.
    fn report_on_acks(&mut self, feed: usize, port: Port) {
        let now = self.now;
        let feed = &self.feeds[feed];
        let those = self.flows.iter_mut().filter(|host| host.port() == port);
        let mut those: Vec<&mut Host> = those.collect();
        let members: Vec<_> = those.iter().map(|host| host.member(now)).collect();
        for (host, part) in those.iter_mut().zip(self.policy.parts(&members)) {
            let estimate = feed.estimate_over(now, host.rtprop());
            let fair = estimate.fair.map(|fair| fair.with_rate(part.of(fair.rate)));
            let rate = part.of(estimate.rate);
            // A report has no room for the blocks.
            host.set_report(now, estimate.with_rate(rate).with_fair(fair).with_own_blocks(None));
        }
    }

    /// Sends a flow's packets, processes immediate results, and sets the flow's timer.
    fn settle<O: Observer>(&mut self, flow: FlowId, observer: &mut O) {
        self.send(flow);
        self.schedule(flow);
        self.carry(observer);
    }

    fn send(&mut self, flow: FlowId) {
        let now = self.now;
        while let Some((way, size, mut kind)) = self.outbox.pop_front() {
            let port: Port = self.flows[flow.0 as usize].port();
            let port = match way {
                host::FlowEnd::Receiver => port,
                host::FlowEnd::Sender => port.reverse(),
            };
            let stamps = self.feeds.iter_mut().map(|feed| feed.handle_entered(now, port, size));
            if let (Kind::Ack(said), Some(stamp)) = (&mut kind, stamps.flatten().last())
                && said.received_at == now
            {
                // Its packet came just before it, and after the packets that the host answered
                // before.
                said.received_at = stamp;
            }
            let segment = self.said.put(flow, kind);
            let far = self.far_ends.of(flow).filter(|_| port.direction == Direction::Downlink);
            if let Some(delay) = far {
                self.far_ends.send(now + delay, Travel::In(port, size, segment));
            } else {
                self.network.handle_packet(now, port, size, segment);
            }
        }
    }

    fn schedule(&mut self, flow: FlowId) {
        let index = flow.0 as usize;
        let at = self.flows[index].wakeup(self.now).map(|at| at.max(self.now));
        self.timers.set(index, at);
    }
}
