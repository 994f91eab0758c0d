//! The controller that knows the link: where a plan may have it, and how it gets its input.

use std::time::Duration;

use sounding_baselines::Oracle;
use sounding_cc::{Controller, Start};
use sounding_kpi::Direction;
use sounding_sim::Port;
use sounding_trace::OPPORTUNITY_PAYLOAD;
use sounding_units::{Bytes, HostInstant};

use super::quantity::ORACLE;
use super::{Actors, Plan, Run, Wrong, given};

/// It must be the only flow of a given link: its share with other flows, or the grants of a cell,
/// are unknown.
pub(super) fn check(plan: &Plan, actors: &Actors) -> Result<(), Wrong> {
    for actor in &actors.flows {
        let flow = &plan.flows[actor.plan];
        let is_oracle = flow.controller.name() == ORACLE && flow.traffic.stream().is_ok();
        if !is_oracle {
            continue;
        }
        let wrong = |message| Err(Wrong::new(format!("flows.{}.controller", actor.plan), message));
        if plan.links.is_empty() || plan.wire.is_some() {
            return wrong("the oracle needs links that are given, without a wire behind them");
        }
        if !flow.delay.is_zero() {
            return wrong("the oracle knows its link alone: its flow has no `delay`");
        }
        if actors.flows.iter().filter(|other| other.port == actor.port).count() > 1 {
            return wrong("the oracle needs a link for itself: no other flow goes the same way");
        }
    }
    Ok(())
}

/// A packet that arrives at a link is carried in the next millisecond at the earliest.
const NEXT: Duration = Duration::from_millis(1);

/// Makes the oracle of a port; it sends so that its packets arrive just when the link can carry
/// them.
pub(crate) fn oracle(
    run: &Run,
    port: Port,
) -> Result<impl FnOnce(&Start) -> Box<dyn Controller> + Send + 'static, Wrong> {
    let path = given(run, port)?.into_iter().next();
    let path = path.ok_or_else(|| Wrong::new("links", "the oracle needs links that are given"))?;
    let lead = match port.direction {
        Direction::Uplink => NEXT,
        Direction::Downlink => path.delay + NEXT,
    };
    Ok(move |start: &Start| -> Box<dyn Controller> {
        let mss = start.mss.count();
        let carried = move |until: HostInstant| {
            let until = Duration::from_nanos(until.as_nanos());
            let packets = path.schedule.capacity(Duration::ZERO, until).count();
            Bytes::new(packets / OPPORTUNITY_PAYLOAD.count() * mss)
        };
        Box::new(Oracle::new(start, lead, carried))
    })
}
