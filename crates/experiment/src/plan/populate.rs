//! The flows of a plan, and the modems that they listen to.

use std::time::Duration;

use sounding_sim::world::{Flow, FlowId, Listening, Segment, Traffic};
use sounding_sim::{Network, Port, World};
use sounding_units::{Bytes, HostInstant, Rate};

use super::{Actor, Actors, Arrival, ORACLE, Run, oracle};

/// A flow that never begins begins so long after the end.
const LATER: Duration = Duration::from_millis(100);

fn at(span: Duration) -> HostInstant {
    HostInstant::default() + span
}

/// Adds the flows of a plan to a world, and lets them listen to the modems of their devices. The
/// flows of the world are those of `actors`, in their order.
pub fn populate<N: Network<Segment>>(
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
                let made = if flow.controller.name() == ORACLE {
                    Flow::bulk(port, oracle(run, port).ok()?)
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
            let never = at(stated.duration) + LATER;
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
