//! Tests whether a network keeps up with the clock on this machine, before a run depends on it.

use std::time::Duration;

use sounding_cell::Event;
use sounding_cell::event::Rrc;
use sounding_experiment::plan::{self, Actors, Built, Run};
use sounding_sim::{Network, Port};
use sounding_units::{Bytes, HostInstant, Rate};

use super::Wrong;
use crate::flow::thread_cpu;

/// Duration of the trial in the network's time: within it carriers are added and windows filled.
const SPAN: Duration = Duration::from_millis(500);

/// Backlog at each port, in packets: more than any cell carries in a slot.
const WAITING: u64 = 300;

/// Size of a packet.
const SIZE: Bytes = Bytes::new(1500);

/// The part of a processor that the plan's network takes in real time while all its flows are
/// saturated; 1 is a whole processor. The cost of moving packets is not included.
pub fn load(run: &Run) -> Result<f64, Wrong> {
    let mut network: Built<()> = plan::network(&run.plan, &run.folder, run.seed)?;
    let began = thread_cpu();
    fill(&mut network, &Actors::new(&run.plan)?, SPAN, |_| {}, |_, _| {});
    Ok((thread_cpu() - began).as_secs_f64() / SPAN.as_secs_f64())
}

/// Number of handovers of the plan's devices until its end, while its flows always have data to
/// send.
pub fn handovers(run: &Run) -> Result<usize, Wrong> {
    let mut network: Built<()> = plan::network(&run.plan, &run.folder, run.seed)?;
    let actors = Actors::new(&run.plan)?;
    network.show(&actors.busy(), false);
    let (mut count, mut events) = (0, Vec::new());
    let look = |network: &mut Built<()>| {
        network.drain_events(&mut events);
        let gone = |event: &Event| matches!(event, Event::Rrc { change: Rrc::Handover { .. }, .. });
        count += events.drain(..).filter(gone).count();
    };
    fill(&mut network, &actors, run.plan.duration, look, |_, _| {});
    Ok(count)
}

/// The rate that the plan's network grants a port while all flows of the plan always have data to
/// send: one rate for each window from the network's start on.
pub fn granted(run: &Run, port: Port, window: Duration) -> Result<Vec<Rate>, Wrong> {
    let mut network: Built<()> = plan::network(&run.plan, &run.folder, run.seed)?;
    let windows = run.plan.duration.as_nanos() / window.as_nanos().max(1);
    let mut bytes = vec![0_u64; usize::try_from(windows).unwrap_or(0)];
    let origin = HostInstant::default();
    fill(
        &mut network,
        &Actors::new(&run.plan)?,
        run.plan.duration,
        |_| {},
        |at, from| {
            let number = (at - origin).as_nanos() / window.as_nanos().max(1);
            let count = usize::try_from(number).ok().and_then(|number| bytes.get_mut(number));
            if let Some(count) = count.filter(|_| from == port) {
                *count += SIZE.count();
            }
        },
    );
    Ok(bytes.into_iter().map(|bytes| Bytes::new(bytes).per(window)).collect())
}

/// Runs the network for this virtual time, with a backlog at each port that a flow enters; calls
/// `look` after each step, and `arrived` for each packet that has passed.
fn fill(
    network: &mut Built<()>,
    actors: &Actors,
    span: Duration,
    mut look: impl FnMut(&mut Built<()>),
    mut arrived: impl FnMut(HostInstant, Port),
) {
    let mut waiting: Vec<(Port, u64)> = Vec::new();
    for flow in &actors.flows {
        if !waiting.iter().any(|(port, _)| *port == flow.port) {
            waiting.push((flow.port, 0));
        }
    }
    let origin = HostInstant::default();
    let mut now = origin;
    while now - origin < span {
        for (port, inside) in &mut waiting {
            while *inside < WAITING {
                network.handle_packet(now, *port, SIZE, ());
                *inside += 1;
            }
        }
        // Often enough that no queue runs empty.
        let next = now + Duration::from_millis(1);
        now = network.wakeup().filter(|at| *at > now).unwrap_or(next).min(next);
        network.handle_time(now);
        while let Some((port, _)) = network.poll_output() {
            arrived(now, port);
            let found = waiting.iter_mut().find(|(known, _)| *known == port);
            if let Some((_, inside)) = found {
                *inside -= 1;
            }
        }
        while network.poll_diag().is_some() {}
        while network.poll_heard().is_some() {}
        look(network);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sounding_experiment::plan::Text;

    fn load_of(carrier: &str) -> f64 {
        let text = format!(
            "duration = \"1s\"\n[[cell.carriers]]\n{carrier}\n[[cell.devices]]\n[[flows]]\ndirection = \"down\"\n"
        );
        let runs = Text::new("plan", text, ".".into()).runs().expect("a plan");
        load(&runs[0]).expect("a network")
    }

    #[test]
    fn slots_that_are_eight_times_as_short_cost_more() {
        // By far, so that a busy machine does not matter: CPU time counts, not the clock.
        let lte = load_of("");
        let fine = load_of("rat = \"nr\"\nnumerology = 3\nprb = 66");
        assert!(fine > 2.0 * lte && lte > 0.0, "{fine} {lte}");
    }
}
