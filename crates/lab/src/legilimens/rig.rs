//! A run of a plan's cell, seen from outside: what each flow got every 100 ms, how much waited for it at the radio, and
//! who had the resource blocks.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::Duration;

use sounding_cell::Event as Radio;
use sounding_cell::event::{Rrc, SlotUse};
use sounding_experiment::plan::{Actors, Built, Run, TrafficPlan, Wrong, network};
use sounding_experiment::simulate::populate;
use sounding_sim::world::{Event, FlowId, Report, Segment};
use sounding_sim::{Diag, Network, Output, Port, World};
use sounding_units::{Bytes, HostInstant};

/// The width of a window. The paper plots seconds; a yield takes less.
pub(crate) const WINDOW: Duration = Duration::from_millis(100);

/// Resource blocks of the downlink, in windows.
#[derive(Clone, Debug, Default)]
pub(crate) struct Account {
    /// All that there were.
    pub(crate) all: Vec<u64>,
    /// Those of each device.
    pub(crate) of: BTreeMap<u16, Vec<u64>>,
    /// Slots of all carriers, and those in which data waited for each device.
    slots: Vec<u64>,
    waited: BTreeMap<u16, Vec<u64>>,
    /// Of the first device.
    pub(crate) handovers: u64,
}

impl Account {
    fn handle(&mut self, event: &Radio) {
        if let Radio::Rrc { device, change: Rrc::Handover { .. }, .. } = event {
            self.handovers += u64::from(device.0 == 0);
        }
        let Radio::Use(used) = event else { return };
        let at = window_of(used.slot.at);
        add(&mut self.all, at, used.prb.into());
        add(&mut self.slots, at, 1);
        for share in used.users.iter().filter(|share| share.waits) {
            add(self.waited.entry(share.device.0).or_default(), at, 1);
        }
        for share in used.users.iter().filter(|share| share.prb > 0) {
            add(self.of.entry(share.device.0).or_default(), at, share.prb.into());
        }
    }

    /// The part of a window that other devices than this one had.
    pub(crate) fn others(&self, device: u16, window: usize) -> f64 {
        let all = self.all.get(window).copied().unwrap_or(0);
        let others = self.of.iter().filter(|(other, _)| **other != device);
        let others: u64 = others.filter_map(|(_, had)| had.get(window)).sum();
        others as f64 / all.max(1) as f64
    }

    /// The part of a window in which data waited for one other device than this one, the one with the most.
    pub(crate) fn others_waited(&self, device: u16, window: usize) -> f64 {
        let slots = self.slots.get(window).copied().unwrap_or(0);
        let others = self.waited.iter().filter(|(other, _)| **other != device);
        let most = others.filter_map(|(_, waited)| waited.get(window)).max();
        most.copied().unwrap_or(0) as f64 / slots.max(1) as f64
    }

    /// The part of all resource blocks between two times that was used.
    pub(crate) fn used_until(&self, from: Duration, to: Duration) -> f64 {
        let [first, last] = [from, to].map(|at| window_of(HostInstant::default() + at));
        let sum = |had: &Vec<u64>| had.iter().take(last).skip(first).sum::<u64>();
        let used: u64 = self.of.values().map(sum).sum();
        used as f64 / sum(&self.all).max(1) as f64
    }
}

fn window_of(at: HostInstant) -> usize {
    (at.as_nanos() / WINDOW.as_nanos() as u64) as usize
}

fn add(windows: &mut Vec<u64>, at: usize, what: u64) {
    if windows.len() <= at {
        windows.resize(at + 1, 0);
    }
    windows[at] += what;
}

/// A flow of a run.
#[derive(Clone, Debug, Default)]
pub(crate) struct Seen {
    /// The size of its transfers, of arrivals.
    pub(crate) size: Option<Bytes>,
    /// What was measured after the warm-up.
    pub(crate) report: Report,
    /// IP bytes that arrived in each window.
    pub(crate) arrived: Vec<u64>,
    /// Bytes that came to wait at the radio in each millisecond, less those that left it.
    waiting: Vec<i64>,
}

impl Seen {
    /// Mean throughput between two times, Mbit/s.
    pub(crate) fn rate(&self, from: Duration, to: Duration) -> f64 {
        let [first, last] = [from, to].map(|at| window_of(HostInstant::default() + at));
        let bytes: u64 = self.arrived.iter().skip(first).take(last.saturating_sub(first)).sum();
        bytes as f64 * 8e-6 / (to - from).as_secs_f64()
    }

    /// What waited at the radio in each millisecond between two times, in bytes.
    pub(crate) fn queue(&self, from: Duration, to: Duration) -> Vec<i64> {
        let sums = self.waiting.iter().scan(0, |waits, change| {
            *waits += change;
            Some(*waits)
        });
        let [from, to] = [from, to].map(|at| at.as_millis() as usize);
        sums.skip(from).take(to - from).collect()
    }

    fn handle_wait(&mut self, at: HostInstant, change: i64) {
        let at = (at.as_nanos() / 1_000_000) as usize;
        if self.waiting.len() <= at {
            self.waiting.resize(at + 1, 0);
        }
        self.waiting[at] += change;
    }
}

/// What a run showed.
#[derive(Clone, Debug, Default)]
pub(crate) struct Shown {
    /// Its flows, in the order of the plan.
    pub(crate) flows: Vec<Seen>,
    /// Who had the cell.
    pub(crate) account: Account,
}

struct Watched<F> {
    network: Built<Segment>,
    events: Vec<Radio>,
    account: Rc<RefCell<Account>>,
    see: F,
}

impl<F: FnMut(&SlotUse)> Network<Segment> for Watched<F> {
    fn handle_packet(&mut self, now: HostInstant, port: Port, size: Bytes, payload: Segment) {
        self.network.handle_packet(now, port, size, payload);
    }

    fn handle_time(&mut self, now: HostInstant) {
        self.network.handle_time(now);
        self.network.drain_events(&mut self.events);
        let mut account = self.account.borrow_mut();
        for event in self.events.drain(..) {
            account.handle(&event);
            if let Radio::Use(used) = &event {
                (self.see)(used);
            }
        }
    }

    fn poll_output(&mut self) -> Option<(Port, Output<Segment>)> {
        self.network.poll_output()
    }

    fn wakeup(&self) -> Option<HostInstant> {
        self.network.wakeup()
    }

    fn poll_diag(&mut self) -> Option<Diag> {
        self.network.poll_diag()
    }
}

/// Makes a run; with `queues`, the queues are kept too.
pub(crate) fn run(run: &Run, queues: bool) -> Result<Shown, Wrong> {
    run_seeing(run, queues, |_| {})
}

/// The same; `see` gets the use of each slot when it is known.
pub(crate) fn run_seeing(
    run: &Run,
    queues: bool,
    see: impl FnMut(&SlotUse),
) -> Result<Shown, Wrong> {
    let plan = &run.plan;
    let actors = Actors::new(plan)?;
    let mut network = network(plan, &run.folder, run.seed)?;
    network.show_use();
    let account = Rc::new(RefCell::new(Account::default()));
    let watched = Watched { network, events: Vec::new(), account: Rc::clone(&account), see };
    let mut world = World::new(watched, run.seed);
    populate(&mut world, run, &actors);
    let mut flows: Vec<Seen> = actors
        .flows
        .iter()
        .map(|actor| Seen {
            size: match &plan.flows[actor.plan].traffic {
                TrafficPlan::Arrivals { sizes, .. } => {
                    sizes.get(actor.number as usize).map(|portion| portion.0)
                }
                _ => None,
            },
            ..Seen::default()
        })
        .collect();
    let mut look = |_: HostInstant, event: &Event<'_>| {
        let Event::Arrived { flow, packet } = event else { return };
        let Some(seen) = flows.get_mut(flow.0 as usize) else { return };
        add(&mut seen.arrived, window_of(packet.exits), packet.size.count());
        if queues {
            seen.handle_wait(packet.joined, packet.size.count() as i64);
            seen.handle_wait(packet.left, -(packet.size.count() as i64));
        }
    };
    let origin = HostInstant::default();
    world.observe_until(origin + plan.warmup, &mut look);
    world.measure_afresh();
    world.observe_until(origin + plan.duration, &mut look);
    for (number, seen) in flows.iter_mut().enumerate() {
        let id = FlowId(number as u32);
        seen.report = if seen.size.is_some() { world.total(id) } else { world.report(id).clone() };
    }
    drop(world);
    Ok(Shown { flows, account: account.take() })
}
