//! Flows over a given link, with estimates from its modem's records, in virtual time.

use std::sync::Arc;
use std::time::Duration;

use sounding_baselines::oracle::{Oracle, Present};
use sounding_cc::{Controller, Start};
use sounding_experiment::observe::{Packets, Sink, States};
use sounding_kpi::Direction;
use sounding_laws::RadioController;
use sounding_link::Bound;
use sounding_sim::world::{Event, Flow, Listening, MakeController, Segment};
use sounding_sim::{Device, Links, Network, PathConfig, Port, Wired, World};
use sounding_testbed::radio::{RadioLink, Scripted};
use sounding_trace::{Schedule, Steps};
use sounding_units::{Bytes, HostInstant, Rate};

use crate::controllers::reference::Reference;

/// The flow begins this long after the link, as the modem's first reports arrive.
pub(super) const HEAD_START: Duration = Duration::from_millis(300);
/// Rate of the return path, which does not limit acknowledgements.
pub(super) const WIDE: Rate = Rate::from_bits_per_sec(1_000_000_000);

/// Seed of the controllers' random numbers.
const SEED: u64 = 1;

/// Settings of flows over a link.
#[derive(Clone, Debug)]
pub(super) struct PathSetup {
    /// One-way propagation delay of either direction.
    pub(super) delay: Duration,
    /// The end.
    pub(super) until: Duration,
    /// Interval of estimates; default: the daemon's.
    pub(super) every: Option<Duration>,
    /// Rate of a wire behind the radio, if one is to be narrower at times.
    pub(super) wire: Option<Steps>,
}

/// A flow and its controller.
#[derive(Clone, Copy, Debug)]
pub(super) struct FlowStart<'a> {
    pub(super) controller: &'a str,
    /// The start, relative to the start of all flows.
    pub(super) begins: Duration,
}

/// What was observed: packets that arrived, and the states of controllers.
pub(super) type Observed = (Packets, States);

/// Name of the sender that knows the future of a link.
pub(super) const ORACLE: &str = "oracle";

/// Sends flows over a link.
pub(super) fn run(link: &RadioLink, setup: &PathSetup, starts: &[FlowStart<'_>]) -> Observed {
    let origin = HostInstant::default();
    let path = |schedule: Schedule| PathConfig { delay: setup.delay, ..PathConfig::new(schedule) };
    let there = path(Schedule::from(link.offered.clone()));
    let back = path(Schedule::from(Steps::constant(WIDE)));
    let (up, down) = match link.direction {
        Direction::Uplink => (there, back),
        Direction::Downlink => (back, there),
    };
    match &setup.wire {
        None => {
            let links = Links::one(&up, &down, origin);
            send(Scripted::new(links, link), link, setup, starts)
        }
        Some(steps) => {
            let links = Links::one(&up, &down, origin);
            let wire = PathConfig::new(steps.clone());
            let back = PathConfig::new(Steps::constant(WIDE));
            let wired = Wired::new(links, &wire, &back, origin);
            send(Scripted::new(wired, link), link, setup, starts)
        }
    }
}

fn send<N: Network<Segment>>(
    network: N,
    link: &RadioLink,
    setup: &PathSetup,
    starts: &[FlowStart<'_>],
) -> Observed {
    let mut world = World::new(network, SEED);
    let port = Port { device: Device(0), direction: link.direction };
    // A sender elsewhere receives estimates over the way back (BISCAY §5.4), and its packets take
    // as long to the link.
    let away = match link.direction {
        Direction::Uplink => Duration::ZERO,
        Direction::Downlink => setup.delay,
    };
    let mut listening = Listening { latency: away, ..Listening::new(port) }
        .told(starts.iter().map(|start| sounding_baselines::needs(start.controller)));
    if let Some(every) = setup.every {
        listening.every = every;
    }
    // The link was made from the grants, or both are of a flow that saturated it: they are its
    // capacity.
    listening.estimator.assume = Some(Bound::Capacity);
    world.listen(listening);
    let offered = Arc::new(Schedule::from(link.offered.clone()));
    let flows = starts.len() as u64;
    for start in starts {
        let (name, every) = (start.controller, setup.every.unwrap_or_default());
        let make: MakeController =
            match (RadioController::by_name(name), sounding_baselines::by_name(name)) {
                (Some(listener), _) => Box::new(move |start| listener.make(start, every)),
                (None, Some(make)) => Box::new(make),
                (None, None) => {
                    let knows = Knows { offered: Arc::clone(&offered), flows, away };
                    Box::new(knows.make(Reference::by_name(name)))
                }
            };
        let begins = HostInstant::default() + HEAD_START + start.begins;
        world.add_flow(Flow::bulk(port, make).begins(begins));
    }
    let (mut observed, origin) = (Observed::default(), HostInstant::default());
    world.observe_until(origin + setup.until, &mut |now: HostInstant, event: &Event<'_>| {
        observed.handle_event(now, event);
    });
    observed
}

/// The link's capacity, for senders that know the truth.
struct Knows {
    offered: Arc<Schedule>,
    /// The number of flows that share equally.
    flows: u64,
    /// From the sender to the link, and from the link to the sender.
    away: Duration,
}

/// No packet leaves a link in the millisecond in which it came.
const NEXT: Duration = Duration::from_millis(1);
/// The shortest time step.
const INSTANT: Duration = Duration::from_nanos(1);

impl Knows {
    /// The payload that the link can carry for a flow before this time.
    fn before(&self, until: HostInstant, start: &Start) -> Bytes {
        let (mss, all) = (start.mss.count(), start.mss.count() + start.headers.count());
        let carried = self.offered.capacity(Duration::ZERO, until - HostInstant::default());
        Bytes::new(carried.count() * mss / all / self.flows)
    }

    /// The oracle, or a reference.
    fn make(
        self,
        reference: Option<Reference>,
    ) -> impl FnOnce(&Start) -> Box<dyn Controller> + Send + 'static {
        move |start| match reference {
            Some(reference) => Box::new(self.present(reference, start)),
            None => {
                let (start, lead) = (*start, self.away + NEXT);
                let before = move |until| self.before(until, &start);
                Box::new(Oracle::new(&start, lead, before))
            }
        }
    }

    /// A link uses up the opportunities of a moment before a packet of that moment joins its queue.
    fn present(
        self,
        reference: Reference,
        start: &Start,
    ) -> Present<impl Fn(HostInstant) -> Bytes + use<>> {
        let (start, word) = (*start, reference.word(self.away, self.away));
        Present::new(&start, word, move |until| self.before(until + INSTANT, &start))
    }
}

/// Whether a controller has this name.
pub(super) fn is_known(name: &str) -> bool {
    is_truthful(name) || sounding_baselines::by_name(name).is_some()
}

/// Whether the controller with this name knows the truth of its link.
pub(super) fn is_truthful(name: &str) -> bool {
    name == ORACLE || Reference::by_name(name).is_some()
}

#[cfg(test)]
mod tests {
    use std::sync::{Mutex, PoisonError};

    use sounding_cc::{Ack, forward};
    use sounding_trace::Trace;

    use super::*;

    /// Computed queue lengths, with their times.
    type Beliefs = Arc<Mutex<Vec<(HostInstant, u64)>>>;

    /// When a packet joined the queue, and when it left.
    type Passed = (HostInstant, HostInstant);

    /// A reference that records its computed queue.
    struct Watched<F: Fn(HostInstant) -> Bytes + Send> {
        present: Present<F>,
        beliefs: Beliefs,
    }

    impl<F: Fn(HostInstant) -> Bytes + Send> std::fmt::Debug for Watched<F> {
        fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.debug_struct("Watched").field("present", &self.present).finish_non_exhaustive()
        }
    }

    impl<F: Fn(HostInstant) -> Bytes + Send> Watched<F> {
        fn keep(&self, now: HostInstant) {
            let mut beliefs = self.beliefs.lock().unwrap_or_else(PoisonError::into_inner);
            beliefs.push((now, self.present.backlog().count()));
        }
    }

    impl<F: Fn(HostInstant) -> Bytes + Send> Controller for Watched<F> {
        forward!(present; but handle_ack, handle_time);

        fn handle_ack(&mut self, ack: &Ack) {
            self.present.handle_ack(ack);
            self.keep(ack.now);
        }

        fn handle_time(&mut self, now: HostInstant) {
            self.present.handle_time(now);
            self.keep(now);
        }
    }

    const DELAY: Duration = Duration::from_millis(20);
    const MSS: u64 = 1448;
    /// Packets that are still on their way at the end of a run are not known.
    const KNOWN: Duration = Duration::from_secs(9);

    /// Runs a flow of this reference over the link, in one of the two directions. Returns its
    /// computed queue, and when packets joined the link's queue and left it.
    fn watched(
        trace: &Trace,
        direction: Direction,
        reference: Reference,
    ) -> (Vec<(HostInstant, u64)>, Vec<Passed>) {
        let origin = HostInstant::default();
        let path = |schedule: Schedule| PathConfig { delay: DELAY, ..PathConfig::new(schedule) };
        let there = path(Schedule::from(trace.clone()));
        let back = path(Schedule::from(Steps::constant(WIDE)));
        let (up, down, away) = match direction {
            Direction::Uplink => (there, back, Duration::ZERO),
            Direction::Downlink => (back, there, DELAY),
        };
        let mut world = World::new(Links::one(&up, &down, origin), SEED);
        let offered = Arc::new(Schedule::from(trace.clone()));
        let knows = Knows { offered, flows: 1, away };
        let beliefs = Beliefs::default();
        let kept = Arc::clone(&beliefs);
        let make = move |start: &Start| -> Box<dyn Controller> {
            Box::new(Watched { present: knows.present(reference, start), beliefs: kept })
        };
        let port = Port { device: Device(0), direction };
        world.add_flow(Flow::bulk(port, make).begins(origin + HEAD_START));
        let mut passed = Vec::new();
        let until = origin + Duration::from_secs(10);
        world.observe_until(until, &mut |_: HostInstant, event: &Event<'_>| {
            if let Event::Arrived { packet, .. } = event {
                passed.push((packet.joined, packet.left));
            }
        });
        let beliefs = beliefs.lock().unwrap_or_else(PoisonError::into_inner).clone();
        (beliefs, passed)
    }

    /// Bursts of up to nine opportunities in a millisecond and pauses of 40 ms, and a rate that
    /// halves and doubles.
    fn bursty() -> Trace {
        let millis = (1..5_000_u32).filter(|ms| ms % 200 < 160);
        let count = |ms: u32| if (ms / 1_000).is_multiple_of(2) { ms * 7 % 10 } else { ms % 3 };
        let opportunities = millis.flat_map(|ms| vec![ms; count(ms) as usize]);
        Trace::from_millis(opportunities.collect()).expect("a trace")
    }

    #[test]
    fn a_reference_computes_its_queue_exactly() {
        let trace = bursty();
        for direction in [Direction::Uplink, Direction::Downlink] {
            for name in ["present-3ms-over-10ms", "reported-15ms-over-100ms"] {
                let reference = Reference::by_name(name).expect("a name");
                let (beliefs, passed) = watched(&trace, direction, reference);
                assert!(beliefs.len() > 9_000 && passed.len() > 10_000, "{name} {direction}");
                let away = if direction == Direction::Uplink { Duration::ZERO } else { DELAY };
                let origin = HostInstant::default();
                let word = reference.word(away, away);
                let (mut worst, mut often) = (0, 0);
                let known = |(now, _): &&(HostInstant, u64)| *now - origin < KNOWN;
                for (now, believed) in beliefs.iter().filter(known) {
                    let told = word.told(*now);
                    let left = passed.partition_point(|(_, left)| *left <= told);
                    // A packet that leaves the sender at the moment of a look may count before it
                    // or after.
                    let [before, after] = [
                        passed.partition_point(|(joined, _)| *joined < told),
                        passed.partition_point(|(joined, _)| *joined <= told),
                    ]
                    .map(|joined| joined.saturating_sub(left) as u64 * MSS);
                    let error = believed.abs_diff(*believed.clamp(&before, &after));
                    worst = worst.max(error);
                    often += u32::from(error > 0);
                }
                println!(
                    "{name} {direction}: {often} of {} are wrong, by {worst} bytes at most",
                    beliefs.len()
                );
                assert_eq!(worst, 0, "{name} {direction}");
            }
        }
    }
}
