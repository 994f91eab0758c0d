//! One run of a plan in virtual time with everything observed that an item may want: packets, states, reports, and what only
//! the simulator knows of the cell.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;
use std::time::Duration;

use sounding_cell::Event as CellEvent;
use sounding_experiment::plan::{self, Actors, Built, Run, Wrong};
use sounding_experiment::simulate::populate;
use sounding_kpi::Direction;
use sounding_link::{CellView, Config, LinkEstimate, Method, Sounder};
use sounding_sim::world::{Event, Flow, FlowId, Listening, MakeController, Segment};
use sounding_sim::{Device, Diag, Network, Output, Port, World};
use sounding_trace::dci::Heard;
use sounding_units::{Bytes, HostInstant, Rate};

/// How often the first device's own view of its cells is noted.
const VIEW_EVERY: Duration = Duration::from_millis(10);

/// What is observed besides packets and states, and what is different from the plan.
#[derive(Default)]
pub(super) struct Setup {
    /// The reports that reached senders.
    pub(super) reports: bool,
    /// What senders did upon each acknowledgement.
    pub(super) paces: bool,
    /// Blocks, commands and passages of the devices with flows.
    pub(super) radio: bool,
    /// Control messages of all users.
    pub(super) dcis: bool,
    /// How each slot of each carrier was used.
    pub(super) slots: bool,
    /// The cells as the first device's monitor sees them, every 10 ms.
    pub(super) views: bool,
    /// From then on no modem writes anything.
    pub(super) modem_dies: Option<Duration>,
    /// How much later acknowledgements of downloads enter the network.
    pub(super) ack_delay: Duration,
    /// The first device has one download under this controller, which receives what PBE-CC does, instead of the plan's flows.
    pub(super) instead: Option<MakeController>,
}

/// A packet that arrived.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arrival {
    pub(super) at: Duration,
    pub(super) delay: Duration,
    pub(super) size: u64,
    pub(super) flow: usize,
}

/// What a sender did upon an acknowledgement.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pace {
    pub(super) at: Duration,
    /// Payload, Mbit/s.
    pub(super) sends: f64,
    pub(super) state: &'static str,
}

/// What was observed.
#[derive(Debug, Default)]
pub(super) struct Observed {
    /// In order of time.
    pub(super) arrivals: Vec<Arrival>,
    /// By flow: since when its controller was in which state.
    pub(super) states: Vec<Vec<(Duration, &'static str)>>,
    /// When which flow's sender received what.
    pub(super) reports: Vec<(Duration, usize, LinkEstimate)>,
    /// By flow.
    pub(super) paces: Vec<Vec<Pace>>,
    /// In order of time.
    pub(super) cell: Vec<CellEvent>,
    /// When the monitor saw what.
    pub(super) views: Vec<(Duration, Option<CellView>)>,
    /// How long the run was.
    pub(super) span: Duration,
}

impl Observed {
    /// Part of a flow's time in states of this name, from its first acknowledgement on.
    pub(super) fn share_of(&self, flow: usize, state: &str) -> f64 {
        let states = self.states.get(flow).map_or(&[][..], Vec::as_slice);
        let Some((begins, _)) = states.first() else { return 0.0 };
        let ends = states.iter().skip(1).map(|(at, _)| *at).chain([self.span]);
        let within = states.iter().zip(ends).filter(|((_, name), _)| *name == state);
        let within: Duration = within.map(|((at, _), end)| end.saturating_sub(*at)).sum();
        within.as_secs_f64() / (self.span - *begins).as_secs_f64().max(1e-9)
    }

    /// When a flow first was in this state from `from` on.
    pub(super) fn first(&self, flow: usize, state: &str, from: Duration) -> Option<Duration> {
        let states = self.states.get(flow)?;
        let ends = states.iter().skip(1).map(|(at, _)| *at).chain([Duration::MAX]);
        let then = states.iter().zip(ends).find(|((_, name), end)| *name == state && *end > from);
        then.map(|((at, _), _)| (*at).max(from))
    }

    /// A flow's packets that arrived in a span of time.
    pub(super) fn arrived(
        &self,
        flow: usize,
        from: Duration,
        to: Duration,
    ) -> impl Iterator<Item = &Arrival> {
        let of = self.arrivals.iter().filter(move |arrival| arrival.flow == flow);
        of.filter(move |arrival| (from..to).contains(&arrival.at))
    }

    /// A flow's throughput in a span of time, IP.
    pub(super) fn mbit_per_sec(&self, flow: usize, from: Duration, to: Duration) -> f64 {
        let bytes: u64 = self.arrived(flow, from, to).map(|arrival| arrival.size).sum();
        bytes as f64 * 8e-6 / (to - from).as_secs_f64()
    }

    /// A flow's one-way delays in a span of time, ms, sorted.
    pub(super) fn delays_ms(&self, flow: usize, from: Duration, to: Duration) -> Vec<f64> {
        let delays = self.arrived(flow, from, to).map(|arrival| arrival.delay);
        let mut delays: Vec<f64> = delays.map(|delay| delay.as_secs_f64() * 1e3).collect();
        delays.sort_by(f64::total_cmp);
        delays
    }
}

/// What is shared with the network of a world.
#[derive(Default)]
struct Kept {
    events: Vec<CellEvent>,
    views: Vec<(Duration, Option<CellView>)>,
}

/// The network of a plan, and a record of the packets passing by.
struct Seen {
    network: Built<Segment>,
    kept: Rc<RefCell<Kept>>,
    modem_dies: HostInstant,
    ack_delay: Duration,
    waiting: VecDeque<(HostInstant, Port, Bytes, Segment)>,
    /// The first device's monitor, and when it is next asked.
    monitor: Option<(Sounder, HostInstant)>,
}

impl Network<Segment> for Seen {
    fn handle_packet(&mut self, now: HostInstant, port: Port, size: Bytes, payload: Segment) {
        if port.direction == Direction::Uplink && !self.ack_delay.is_zero() {
            self.waiting.push_back((now + self.ack_delay, port, size, payload));
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
        let mut kept = self.kept.borrow_mut();
        self.network.drain_events(&mut kept.events);
        if let Some((sounder, next)) = &mut self.monitor {
            while *next <= now {
                kept.views.push((*next - HostInstant::default(), sounder.cell(*next)));
                *next = *next + VIEW_EVERY;
            }
        }
    }

    fn poll_output(&mut self) -> Option<(Port, Output<Segment>)> {
        self.network.poll_output()
    }

    fn wakeup(&self) -> Option<HostInstant> {
        let waiting = self.waiting.front().map(|first| first.0);
        [self.network.wakeup(), waiting].into_iter().flatten().min()
    }

    fn poll_heard(&mut self) -> Option<(HostInstant, Heard)> {
        let (at, heard) = self.network.poll_heard()?;
        if let Some((sounder, _)) = &mut self.monitor {
            sounder.handle_heard(at, &heard);
        }
        Some((at, heard))
    }

    fn poll_diag(&mut self) -> Option<Diag> {
        loop {
            let diag = self.network.poll_diag()?;
            if diag.at >= self.modem_dies {
                continue;
            }
            if let Some((sounder, _)) = self.monitor.as_mut().filter(|_| diag.device == Device(0)) {
                sounder.handle_bytes(sounding_link::Arrival::At(diag.at), &diag.bytes, |_, _| {});
            }
            return Some(diag);
        }
    }
}

/// Makes a run.
pub(super) fn observe(run: &Run, setup: Setup) -> Result<Observed, Wrong> {
    let actors = Actors::new(&run.plan)?;
    let mut network: Built<Segment> = plan::network(&run.plan, &run.folder, run.seed)?;
    if setup.radio || setup.dcis {
        network.show(&actors.busy(), setup.dcis);
    }
    if setup.slots {
        network.show_use();
    }
    let kept = Rc::new(RefCell::new(Kept::default()));
    let origin = HostInstant::default();
    let monitor = setup.views.then(|| {
        let config = Config { method: Method::Cell, ..Config::new(Direction::Downlink) };
        (Sounder::new(config), origin + VIEW_EVERY)
    });
    let seen = Seen {
        network,
        kept: Rc::clone(&kept),
        modem_dies: setup.modem_dies.map_or(HostInstant::from_nanos(u64::MAX), |at| origin + at),
        ack_delay: setup.ack_delay,
        waiting: VecDeque::new(),
        monitor,
    };
    let mut world = World::new(seen, run.seed);
    let flows = match setup.instead {
        Some(make) => {
            let port = Port::down(Device(0));
            let mut listening = Listening::new(port).told([sounding_baselines::needs("pbe-cc")]);
            listening.sniffs = true;
            world.listen(listening);
            vec![world.add_flow(Flow::bulk(port, make))]
        }
        None => populate(&mut world, run, &actors),
    };
    let mut observed = Observed {
        states: vec![Vec::new(); flows.len()],
        paces: vec![Vec::new(); flows.len()],
        span: run.plan.duration,
        ..Observed::default()
    };
    let end = origin + run.plan.duration;
    let (reports, paces) = (setup.reports, setup.paces);
    world.observe_until(end, &mut |now: HostInstant, event: &Event<'_>| {
        observed.handle_event(now - origin, event, reports, paces);
    });
    drop(world);
    // The world that shared it is gone.
    if let Some(kept) = Rc::into_inner(kept) {
        let Kept { events, views } = kept.into_inner();
        (observed.cell, observed.views) = (events, views);
    }
    Ok(observed)
}

impl Observed {
    fn handle_event(&mut self, now: Duration, event: &Event<'_>, reports: bool, paces: bool) {
        let at = |flow: &FlowId| flow.0 as usize;
        match event {
            Event::Arrived { packet, flow } => self.arrivals.push(Arrival {
                at: packet.exits - HostInstant::default(),
                delay: packet.exits - packet.entered,
                size: packet.size.count(),
                flow: at(flow),
            }),
            Event::Acked { controller, flow, .. } => {
                let state = controller.state();
                let states = &mut self.states[at(flow)];
                if states.last().is_none_or(|(_, last)| *last != state) {
                    states.push((now, state));
                }
                if paces {
                    let sends = controller.pacing_rate();
                    let sends = sends.map_or(f64::INFINITY, Rate::mbit_per_sec);
                    self.paces[at(flow)].push(Pace { at: now, sends, state });
                }
            }
            Event::Told { flow, estimate } if reports => {
                self.reports.push((now, at(flow), **estimate));
            }
            _ => {}
        }
    }
}
