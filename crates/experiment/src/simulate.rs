//! Runs plans in virtual time: outcomes of flows, and files of runs.
//!
//! [`simulate`] makes one run, [`all`] makes every run of a plan on several threads. Results do not
//! depend on the number of threads, the build or the machine.

mod beside;
mod capture;
mod carriers;
mod gauge;
mod keep;
mod logs;
mod outcome;
mod radio;
mod recorded;
mod runs;
mod table;
mod watch;

use std::cell::RefCell;
use std::ops::ControlFlow;
use std::rc::Rc;
use std::time::Duration;

use sounding_export::table::TableError;
use sounding_kpi::Direction;
use sounding_sim::world::{Event, Flow, FlowId, Listening, Observer, Segment, Traffic};
use sounding_sim::{Port, World};
use sounding_units::{Bytes, HostInstant, Rate};
use thiserror::Error;

pub(crate) use beside::compare;
pub use capture::capture;
pub use keep::{About, Files, Keep, Output};
pub use outcome::{Delays, FlowOutcome, FromOracle, Jain, Outcome, Pantheon, Tuned};
pub use runs::{Finished, Place, all};
pub use table::{json, parquet, table};

use gauge::Gauge;
use logs::Logs;
use recorded::Recorded;
use watch::Watch;

use crate::plan::{self, Actor, Actors, Arrival, Built, Run, Wrong, network};

/// Interval at which a run checks whether it should stop.
const SLICE: Duration = Duration::from_millis(100);

/// Why a run has no outcome.
#[derive(Debug, Error)]
pub enum SimulateError {
    /// Something in the plan cannot be.
    #[error("{}: {}", .0.key, .0.message)]
    Plan(Wrong),
    /// A file cannot be written.
    #[error("run {run}: cannot write {file}: {source}")]
    Write {
        /// The run.
        run: usize,
        /// The file.
        file: String,
        /// Why.
        source: TableError,
    },
    /// It was stopped.
    #[error("stopped")]
    Stopped,
}

impl From<Wrong> for SimulateError {
    fn from(wrong: Wrong) -> Self {
        Self::Plan(wrong)
    }
}

/// Makes one run and keeps the requested outputs in `files`; `go_on` receives its progress and returns whether to
/// continue.
pub fn simulate(
    run: &Run,
    keep: &Keep,
    about: &About,
    files: &mut dyn Files,
    go_on: &mut dyn FnMut(Duration) -> ControlFlow<()>,
) -> Result<Outcome, SimulateError> {
    let plan = &run.plan;
    let actors = Actors::new(plan)?;
    let mut built: Built<Segment> = network(plan, &run.folder, run.seed)?;
    let failed = |(file, source)| SimulateError::Write { run: run.number, file, source };
    let about = about.of(run);
    let logs = Logs::open(plan, &actors, keep, &about, files).map_err(failed)?;
    if logs.wants_events() {
        built.show(&actors.busy(), logs.wants_every_dci());
    }
    if logs.wants_use() {
        built.show_use();
    }
    let logs = Rc::new(RefCell::new(logs));
    let network = Recorded::new(built, Rc::clone(&logs));
    let mut world = World::new(network, run.seed);
    populate(&mut world, run, &actors);
    let end = at(plan.duration);
    let mut watch = Watch::open(plan, &actors, keep, &about, files).map_err(failed)?;
    let mut gauge = Gauge::new(run, &actors)?;
    watch.measure_against(run, &actors)?;
    let mut measured = plan.warmup.is_zero();
    while world.now() < end {
        let mut next = (world.now() + SLICE).min(end);
        if !measured {
            next = next.min(at(plan.warmup));
        }
        world.observe_until(next, &mut |now: HostInstant, event: &Event<'_>| {
            watch.handle_event(now, event);
            gauge.handle_event(now, event);
        });
        if !measured && next == at(plan.warmup) {
            world.measure_afresh();
            measured = true;
        }
        watch.error().map_err(failed)?;
        logs.borrow_mut().error().map_err(failed)?;
        if go_on(next - HostInstant::default()).is_break() {
            return Err(SimulateError::Stopped);
        }
    }
    watch.finish(end).map_err(failed)?;
    let outcome = Outcome::of(run, &actors, &world, gauge);
    drop(world);
    // The world that shared them has been dropped.
    if let Some(logs) = Rc::into_inner(logs) {
        logs.into_inner().finish().map_err(failed)?;
    }
    Ok(outcome)
}

fn at(span: Duration) -> HostInstant {
    HostInstant::default() + span
}

/// Adds the flows of a plan to a world, and lets them listen to the modems of their devices. The flows of the world are
/// those of `actors`, in their order.
pub fn populate<N: sounding_sim::Network<Segment>>(
    world: &mut World<N>,
    run: &Run,
    actors: &Actors,
) -> Vec<FlowId> {
    let stated = &run.plan;
    let arrivals: Vec<_> =
        actors.flows.iter().map(|actor| Arrival::all(run, actors, actor)).collect();
    let mut ports: Vec<Port> = actors.flows.iter().map(|flow| flow.port).collect();
    ports.extend(arrivals.iter().flatten().flatten().map(|arrival| arrival.port));
    ports.sort_unstable();
    ports.dedup();
    for (group, device) in
        actors.groups.iter().zip(stated.cell.iter().flat_map(|cell| &cell.devices))
    {
        let Some(modem) = device.modem.filter(|modem| modem.on) else { continue };
        for &port in ports.iter().filter(|port| group.devices.contains(&port.device.0)) {
            let flows = actors.flows.iter().filter(|flow| flow.port == port);
            let needs =
                flows.map(|flow| run.controllers.needs(stated.flows[flow.plan].controller.name()));
            let mut listening = Listening::new(port).told(needs);
            listening.every = modem.every.unwrap_or(listening.every);
            listening.latency = modem.latency;
            listening.sniffs = modem.sniffer;
            if let Some(overhead) = modem.overhead {
                listening.estimator.ip_share_permille = 1_000 - (overhead * 1e3).round() as u32;
            }
            listening.estimator.method = modem.method.unwrap_or(listening.estimator.method);
            world.listen(listening);
        }
    }
    let flow = |actor: &Actor, port: Port, traffic: Result<Traffic, Rate>| {
        let flow = &stated.flows[actor.plan];
        let mut made = match traffic {
            Ok(traffic) => {
                // This was checked when the plan was read and its network made.
                let made = if flow.controller.name() == plan::ORACLE {
                    Flow::bulk(port, plan::oracle(run, port).ok()?)
                } else {
                    let (_, make) = run.controllers.choose(&flow.controller).ok()?;
                    Flow::bulk(port, move |start| make(start))
                };
                made.sends(traffic).received(flow.receipt())
            }
            Err(rate) => Flow::datagrams(port, rate),
        };
        if let Some(limit) = flow.limit() {
            made = made.buffered(limit);
        }
        Some(made)
    };
    let mut flows = Vec::new();
    for (actor, arrivals) in actors.flows.iter().zip(&arrivals) {
        let plan = &stated.flows[actor.plan];
        let made = if let Some(arrivals) = arrivals {
            // The first stands for all; without any it never begins.
            let never = at(stated.duration) + SLICE;
            let first = arrivals.first();
            let port = first.map_or(actor.port, |first| first.port);
            let size = first.map_or(Bytes::ZERO, |first| first.size);
            let begins = first.map_or(never, |first| at(first.at));
            flow(actor, port, Ok(Traffic::Finite(size))).map(|made| made.begins(begins))
        } else {
            let begins = at(plan.start) + plan.stagger.saturating_mul(actor.number);
            let made = flow(actor, actor.port, plan.traffic.stream());
            let made = made.map(|made| made.begins(begins));
            if plan.stop == Duration::MAX {
                made
            } else {
                made.map(|made| made.ends(at(plan.stop)))
            }
        };
        let Some(made) = made else { continue };
        let id = world.add_flow(made);
        world.delay_far_end(id, plan.delay);
        flows.push(id);
    }
    // Those behind the first come after all flows of the plan, whose numbers are their places.
    for ((actor, arrivals), &first) in actors.flows.iter().zip(&arrivals).zip(&flows) {
        for arrival in arrivals.iter().flatten().skip(1) {
            let made = flow(actor, arrival.port, Ok(Traffic::Finite(arrival.size)));
            let Some(made) = made else { continue };
            let id = world.add_flow(made.begins(at(arrival.at)).as_part_of(first));
            world.delay_far_end(id, stated.flows[actor.plan].delay);
        }
    }
    flows
}

/// Name of a direction in tables.
fn way(direction: Direction) -> &'static str {
    match direction {
        Direction::Uplink => "up",
        Direction::Downlink => "down",
    }
}

#[cfg(test)]
mod measured;
#[cfg(test)]
mod tests;
