//! Sinks for what many judges need: packets that arrived, and the states of controllers.

use std::time::Duration;

use sounding_sim::Carried;
use sounding_sim::world::{Event, FlowId};
use sounding_units::HostInstant;

use super::Sink;
use crate::metrics::sorted;

/// A data packet that arrived. Its times are those since the begin of the run.
#[derive(Clone, Copy, Debug)]
pub struct Arrival {
    /// Its flow.
    pub flow: FlowId,
    /// The packet, with its times in the network.
    pub packet: Carried<()>,
}

impl Arrival {
    /// When it arrived.
    pub fn at(&self) -> Duration {
        self.packet.exits - HostInstant::default()
    }

    /// When its sender sent it.
    pub fn sent(&self) -> Duration {
        self.packet.entered - HostInstant::default()
    }

    /// When the bottleneck had sent its last byte once.
    pub fn left(&self) -> Duration {
        self.packet.left - HostInstant::default()
    }

    /// Its one-way delay.
    pub fn delay(&self) -> Duration {
        self.packet.exits - self.packet.entered
    }

    /// What it waited for the bottleneck until its last byte had been sent once.
    pub fn queueing(&self) -> Duration {
        self.packet.left - self.packet.joined
    }

    /// Its size, bytes of IP.
    pub fn size(&self) -> u64 {
        self.packet.size.count()
    }
}

/// Data packets that arrived, in order of time.
#[derive(Clone, Debug, Default)]
pub struct Packets {
    /// All of them.
    pub arrivals: Vec<Arrival>,
}

impl Packets {
    /// A flow's packets that arrived in a span of time.
    pub fn of(&self, flow: usize, from: Duration, to: Duration) -> impl Iterator<Item = &Arrival> {
        let of = self.arrivals.iter().filter(move |arrival| arrival.flow.0 as usize == flow);
        of.filter(move |arrival| (from..to).contains(&arrival.at()))
    }

    /// A flow's throughput in a span of time, IP.
    pub fn mbit_per_sec(&self, flow: usize, from: Duration, to: Duration) -> f64 {
        let bytes: u64 = self.of(flow, from, to).map(Arrival::size).sum();
        bytes as f64 * 8e-6 / (to - from).as_secs_f64()
    }

    /// A flow's one-way delays in a span of time, ms, sorted.
    pub fn delays_ms(&self, flow: usize, from: Duration, to: Duration) -> Vec<f64> {
        let delays = self.of(flow, from, to).map(Arrival::delay);
        sorted(delays.map(|delay| delay.as_secs_f64() * 1e3))
    }
}

impl Sink for Packets {
    fn handle_event(&mut self, _: HostInstant, event: &Event<'_>) {
        if let Event::Arrived { flow, packet } = event {
            self.arrivals.push(Arrival { flow: *flow, packet: *packet });
        }
    }
}

/// By flow: since when its controller was in which state, from its first acknowledgement on.
#[derive(Clone, Debug, Default)]
pub struct States {
    flows: Vec<Vec<(Duration, &'static str)>>,
}

impl States {
    /// Those of a flow.
    pub fn of(&self, flow: usize) -> &[(Duration, &'static str)] {
        self.flows.get(flow).map_or(&[], Vec::as_slice)
    }

    /// Part of a flow's time until `end` in states of this name.
    pub fn share_of(&self, flow: usize, state: &str, end: Duration) -> f64 {
        let states = self.of(flow);
        let Some((begins, _)) = states.first() else { return 0.0 };
        let ends = states.iter().skip(1).map(|(at, _)| *at).chain([end]);
        let within = states.iter().zip(ends).filter(|((_, name), _)| *name == state);
        let within: Duration = within.map(|((at, _), end)| end.saturating_sub(*at)).sum();
        within.as_secs_f64() / (end - *begins).as_secs_f64().max(1e-9)
    }

    /// When a flow first was in this state from `from` on.
    pub fn first(&self, flow: usize, state: &str, from: Duration) -> Option<Duration> {
        let states = self.of(flow);
        let ends = states.iter().skip(1).map(|(at, _)| *at).chain([Duration::MAX]);
        let then = states.iter().zip(ends).find(|((_, name), end)| *name == state && *end > from);
        then.map(|((at, _), _)| (*at).max(from))
    }
}

impl Sink for States {
    fn handle_event(&mut self, now: HostInstant, event: &Event<'_>) {
        let Event::Acked { flow, controller, .. } = event else { return };
        let flow = flow.0 as usize;
        if self.flows.len() <= flow {
            self.flows.resize(flow + 1, Vec::new());
        }
        let (states, state) = (&mut self.flows[flow], controller.state());
        if states.last().is_none_or(|(_, last)| *last != state) {
            states.push((now - HostInstant::default(), state));
        }
    }
}
