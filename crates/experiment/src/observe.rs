//! A run of a plan that is looked at: what passes its network, and what its flows did, as sinks
//! receive it.
//!
//! A sink keeps what it needs and forgets the rest. Two of them form a pair, which is a sink again.

mod sinks;
pub mod windows;

use std::cell::{RefCell, RefMut};
use std::collections::VecDeque;
use std::rc::Rc;
use std::time::Duration;

use sounding_cell::Event as CellEvent;
use sounding_kpi::Direction;
use sounding_sim::world::{Event, FlowId, Segment};
use sounding_sim::{Carried, Diag, Network, Output, Port, World};
use sounding_trace::dci::Heard;
use sounding_units::{Bytes, HostInstant};

use crate::plan::{Actors, Run, Simulated, Wrong, populate, simulated};

pub use sinks::{Arrival, Packets, States};

/// What looks at a run. Each method ignores what it receives unless the sink has its own.
pub trait Sink {
    /// A packet enters the network.
    fn handle_entered(&mut self, _now: HostInstant, _port: Port, _size: Bytes) {}

    /// The modelled cell reports an event: [`Setup`] says which it reports.
    fn handle_radio(&mut self, _event: &CellEvent) {}

    /// A packet left the network, on either way. All events of the cell until then were received
    /// before.
    fn handle_left(&mut self, _port: Port, _packet: &Carried<Segment>) {}

    /// A modem wrote bytes to its Diag port.
    fn handle_diag(&mut self, _diag: &Diag) {}

    /// A sniffer received a line.
    fn handle_heard(&mut self, _at: HostInstant, _heard: &Heard) {}

    /// The network has reached this time.
    fn handle_time(&mut self, _now: HostInstant) {}

    /// A flow reports an event.
    fn handle_event(&mut self, _now: HostInstant, _event: &Event<'_>) {}
}

impl Sink for () {}

impl<A: Sink, B: Sink> Sink for (A, B) {
    fn handle_entered(&mut self, now: HostInstant, port: Port, size: Bytes) {
        self.0.handle_entered(now, port, size);
        self.1.handle_entered(now, port, size);
    }

    fn handle_radio(&mut self, event: &CellEvent) {
        self.0.handle_radio(event);
        self.1.handle_radio(event);
    }

    fn handle_left(&mut self, port: Port, packet: &Carried<Segment>) {
        self.0.handle_left(port, packet);
        self.1.handle_left(port, packet);
    }

    fn handle_diag(&mut self, diag: &Diag) {
        self.0.handle_diag(diag);
        self.1.handle_diag(diag);
    }

    fn handle_heard(&mut self, at: HostInstant, heard: &Heard) {
        self.0.handle_heard(at, heard);
        self.1.handle_heard(at, heard);
    }

    fn handle_time(&mut self, now: HostInstant) {
        self.0.handle_time(now);
        self.1.handle_time(now);
    }

    fn handle_event(&mut self, now: HostInstant, event: &Event<'_>) {
        self.0.handle_event(now, event);
        self.1.handle_event(now, event);
    }
}

/// What the cell reports, and what is different from the plan.
#[derive(Clone, Copy, Debug, Default)]
pub struct Setup {
    /// Passages, blocks and commands of the devices with flows.
    pub radio: bool,
    /// Control messages of all users.
    pub dcis: bool,
    /// How each slot of each carrier is used.
    pub slots: bool,
    /// From then on no modem writes anything.
    pub modem_dies: Option<Duration>,
    /// How much later acknowledgements of downloads enter the network.
    pub acks_later: Duration,
}

/// The network of a plan with its sink.
pub struct Watched<S> {
    network: Simulated,
    sink: Rc<RefCell<S>>,
    events: Vec<CellEvent>,
    modem_dies: HostInstant,
    acks_later: Duration,
    waiting: VecDeque<(HostInstant, Port, Bytes, Segment)>,
}

impl<S: Sink> Watched<S> {
    fn hand_on(&mut self, then: impl FnOnce(&mut S)) {
        self.network.drain_events(&mut self.events);
        let mut sink = self.sink.borrow_mut();
        self.events.drain(..).for_each(|event| sink.handle_radio(&event));
        then(&mut sink);
    }
}

impl<S: Sink> Network<Segment> for Watched<S> {
    fn handle_packet(&mut self, now: HostInstant, port: Port, size: Bytes, payload: Segment) {
        self.sink.borrow_mut().handle_entered(now, port, size);
        if port.direction == Direction::Uplink && !self.acks_later.is_zero() {
            self.waiting.push_back((now + self.acks_later, port, size, payload));
        } else {
            self.network.handle_packet(now, port, size, payload);
        }
    }

    fn handle_time(&mut self, now: HostInstant) {
        while let Some((at, port, size, payload)) =
            self.waiting.pop_front_if(|first| first.0 <= now)
        {
            self.network.handle_packet(at, port, size, payload);
        }
        self.network.handle_time(now);
        self.hand_on(|sink| sink.handle_time(now));
    }

    fn poll_output(&mut self) -> Option<(Port, Output<Segment>)> {
        let (port, output) = self.network.poll_output()?;
        if let Output::Carried(packet) = &output {
            self.hand_on(|sink| sink.handle_left(port, packet));
        }
        Some((port, output))
    }

    fn wakeup(&self) -> Option<HostInstant> {
        let waiting = self.waiting.front().map(|first| first.0);
        [self.network.wakeup(), waiting].into_iter().flatten().min()
    }

    fn poll_heard(&mut self) -> Option<(HostInstant, Heard)> {
        let (at, heard) = self.network.poll_heard()?;
        self.sink.borrow_mut().handle_heard(at, &heard);
        Some((at, heard))
    }

    fn poll_diag(&mut self) -> Option<Diag> {
        loop {
            let diag = self.network.poll_diag()?;
            if diag.at < self.modem_dies {
                self.sink.borrow_mut().handle_diag(&diag);
                return Some(diag);
            }
        }
    }
}

/// A run, its world and its sink.
pub struct Observation<S> {
    /// The world, whose network has the sink.
    pub world: World<Watched<S>>,
    /// The flows of the plan.
    pub flows: Vec<FlowId>,
    sink: Rc<RefCell<S>>,
}

impl<S: Sink> Observation<S> {
    /// Begins a run of a plan.
    ///
    /// # Errors
    ///
    /// [`Wrong`] if the plan's cell, links or flows contradict each other, or a trace cannot be
    /// read.
    pub fn new(run: &Run, setup: Setup, sink: S) -> Result<Self, Wrong> {
        let actors = Actors::new(&run.plan)?;
        let mut observation = Self::without_flows(run, &actors, setup, sink)?;
        observation.flows = populate(&mut observation.world, run, &actors);
        Ok(observation)
    }

    /// The same with the network alone.
    ///
    /// # Errors
    ///
    /// As [`new`](Self::new).
    pub fn without_flows(run: &Run, actors: &Actors, setup: Setup, sink: S) -> Result<Self, Wrong> {
        let mut network = simulated(run, actors)?;
        if setup.radio || setup.dcis {
            network.show(&actors.busy(), setup.dcis);
        }
        if setup.slots {
            network.show_use();
        }
        let sink = Rc::new(RefCell::new(sink));
        let never = HostInstant::from_nanos(u64::MAX);
        let network = Watched {
            network,
            sink: Rc::clone(&sink),
            events: Vec::new(),
            modem_dies: setup.modem_dies.map_or(never, |at| HostInstant::default() + at),
            acks_later: setup.acks_later,
            waiting: VecDeque::new(),
        };
        Ok(Self { world: World::new(network, run.seed), flows: Vec::new(), sink })
    }

    /// Lets the time pass until so long after the begin.
    pub fn pass_until(&mut self, span: Duration) {
        let sink = &self.sink;
        let mut see =
            |now: HostInstant, event: &Event<'_>| sink.borrow_mut().handle_event(now, event);
        self.world.observe_until(HostInstant::default() + span, &mut see);
    }

    /// The sink.
    pub fn sink(&self) -> RefMut<'_, S> {
        self.sink.borrow_mut()
    }

    /// Ends the run.
    ///
    /// # Panics
    ///
    /// Never: the world alone shares the sink.
    pub fn end(self) -> S {
        drop(self.world);
        Rc::into_inner(self.sink).expect("the world that shared it is gone").into_inner()
    }
}

/// Makes a whole run, and returns its sink.
///
/// # Errors
///
/// As [`Observation::new`].
pub fn observe<S: Sink>(run: &Run, setup: Setup, sink: S) -> Result<S, Wrong> {
    let mut observation = Observation::new(run, setup, sink)?;
    observation.pass_until(run.plan.duration);
    Ok(observation.end())
}
