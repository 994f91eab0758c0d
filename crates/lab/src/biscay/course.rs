//! Flows over a link that is given, its modem's records their feed: everything in virtual time.

use std::sync::Arc;
use std::time::Duration;

use sounding_cc::oracle::{Oracle, Present, Word};
use sounding_cc::{Controller, Listener, Start};
use sounding_kpi::Direction;
use sounding_link::Bound;
use sounding_sim::world::{Event, Flow, Listening, MakeController, Segment};
use sounding_sim::{Device, Links, Network, PathConfig, Port, Wired, World};
use sounding_trace::{Schedule, Steps};
use sounding_units::{Bytes, HostInstant, Rate};

use super::scripted::Scripted;
use crate::radio::RadioLink;

/// The flow begins this long after the link, as the modem's first reports arrive.
pub(super) const HEAD_START: Duration = Duration::from_millis(300);
/// What acknowledgements come back over: not what is compared.
pub(super) const WIDE: Rate = Rate::from_bits_per_sec(1_000_000_000);

/// What controllers that draw lots draw from.
const SEED: u64 = 1;

/// How flows are sent over a link.
#[derive(Clone, Debug)]
pub(super) struct Course {
    /// One-way propagation delay of either direction.
    pub(super) delay: Duration,
    /// Until when.
    pub(super) until: Duration,
    /// How often an estimate is published, if not as the daemon does it.
    pub(super) every: Option<Duration>,
    /// What a wire behind the radio carries, if one is to be the narrower at times.
    pub(super) wire: Option<Steps>,
}

/// A flow and who sends it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entrant<'a> {
    pub(super) controller: &'a str,
    /// From when on, after the others.
    pub(super) begins: Duration,
}

/// A packet that arrived.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arrival {
    pub(super) at: Duration,
    pub(super) queueing: Duration,
    pub(super) size: u64,
    pub(super) flow: u32,
}

/// What came of it.
#[derive(Clone, Debug, Default)]
pub(super) struct Passage {
    /// In order of time.
    pub(super) arrivals: Vec<Arrival>,
    /// When the first flow's controller was in another state than before, and in which.
    pub(super) states: Vec<(Duration, &'static str)>,
}

impl Passage {
    pub(super) fn handle_event(&mut self, now: HostInstant, event: &Event<'_>) {
        let origin = HostInstant::default();
        match event {
            Event::Arrived { packet, flow } => self.arrivals.push(Arrival {
                at: packet.exits - origin,
                queueing: packet.left - packet.joined,
                size: packet.size.count(),
                flow: flow.0,
            }),
            Event::Acked { controller, flow, .. } if flow.0 == 0 => {
                let state = controller.state();
                if self.states.last().is_none_or(|(_, last)| *last != state) {
                    self.states.push((now - origin, state));
                }
            }
            _ => {}
        }
    }
}

/// Who knows what a link will carry.
pub(super) const ORACLE: &str = "oracle";
/// Who knows what it carries now.
pub(super) const PRESENT: &str = "present";
/// Who knows what it carried when the modem last wrote a record.
pub(super) const REPORTED: &str = "reported";
/// All who are told the truth.
pub(super) const TRUTHFUL: [&str; 3] = [ORACLE, PRESENT, REPORTED];
/// Of [`PRESENT`]. Chosen, as that of [`REPORTED`]: with it that carries about what the controllers do that are compared with it.
const ROOM: Duration = Duration::from_millis(6);
/// BISCAY §4: the record that is written the most often comes every 10 ms.
const REPORTS_EVERY: Duration = Duration::from_millis(10);
/// Of [`REPORTED`]. Chosen: over recorded links it has longer queues at the same throughput with a span that is shorter.
const REPORTED_SPAN: Duration = Duration::from_millis(100);
const REPORTED_ROOM: Duration = Duration::from_millis(35);

/// Sends flows over a link.
pub(super) fn run(link: &RadioLink, course: &Course, entrants: &[Entrant<'_>]) -> Passage {
    let origin = HostInstant::default();
    let path = |schedule: Schedule| PathConfig { delay: course.delay, ..PathConfig::new(schedule) };
    let there = path(Schedule::from(link.offered.clone()));
    let back = path(Schedule::from(Steps::constant(WIDE)));
    let (up, down) = match link.direction {
        Direction::Uplink => (there, back),
        Direction::Downlink => (back, there),
    };
    match &course.wire {
        None => {
            let links = Links::one(&up, &down, origin);
            send(Scripted::new(links, link), link, course, entrants)
        }
        Some(steps) => {
            let links = Links::one(&up, &down, origin);
            let wire = PathConfig::new(steps.clone());
            let back = PathConfig::new(Steps::constant(WIDE));
            let wired = Wired::new(links, &wire, &back, origin);
            send(Scripted::new(wired, link), link, course, entrants)
        }
    }
}

fn send<N: Network<Segment>>(
    network: N,
    link: &RadioLink,
    course: &Course,
    entrants: &[Entrant<'_>],
) -> Passage {
    let mut world = World::new(network, SEED);
    let port = Port { device: Device(0), direction: link.direction };
    // A sender elsewhere is told over the way back (BISCAY §5.4), and what it sends is as long on its way to the link.
    let away = match link.direction {
        Direction::Uplink => Duration::ZERO,
        Direction::Downlink => course.delay,
    };
    let mut listening = Listening { latency: away, ..Listening::new(port) }
        .told(entrants.iter().map(|entrant| entrant.controller));
    if let Some(every) = course.every {
        listening.every = every;
    }
    // The link was made from the grants, or both are of a flow that saturated it: they are its capacity.
    listening.estimator.assume = Some(Bound::Capacity);
    world.listen(listening);
    let offered = Arc::new(Schedule::from(link.offered.clone()));
    let flows = entrants.len() as u64;
    // Nothing leaves a link in the millisecond in which it came.
    let lead = away + Duration::from_millis(1);
    for entrant in entrants {
        let (name, every) = (entrant.controller, course.every.unwrap_or_default());
        let make: MakeController = match (Listener::by_name(name), sounding_cc::by_name(name)) {
            (Some(listener), _) => Box::new(move |start| listener.make(start, every)),
            (None, Some(make)) => Box::new(make),
            (None, None) => {
                let knows = Knows { offered: Arc::clone(&offered), flows, lead, late: away };
                let word = knows.word(name);
                Box::new(knows.make(word))
            }
        };
        let begins = HostInstant::default() + HEAD_START + entrant.begins;
        world.add_flow(Flow::bulk(port, make).begins(begins));
    }
    let (mut passage, origin) = (Passage::default(), HostInstant::default());
    world.observe_until(origin + course.until, &mut |now: HostInstant, event: &Event<'_>| {
        passage.handle_event(now, event);
    });
    passage
}

/// What the link carries, for who is told the truth.
struct Knows {
    offered: Arc<Schedule>,
    /// Of how many flows each has an equal part.
    flows: u64,
    /// From leaving the sender to being carried by the link.
    lead: Duration,
    /// From the link to the sender, of what is told.
    late: Duration,
}

impl Knows {
    /// How somebody of this name hears of it; `None`: knows what comes.
    fn word(&self, name: &str) -> Option<Word> {
        let present = Word::steady(self.lead, self.late, ROOM);
        match name {
            PRESENT => Some(present),
            REPORTED => {
                let (every, span) = (REPORTS_EVERY, REPORTED_SPAN + self.late);
                Some(Word { every, span, room: REPORTED_ROOM, ..present })
            }
            _ => None,
        }
    }

    fn make(
        self,
        word: Option<Word>,
    ) -> impl FnOnce(&Start) -> Box<dyn Controller> + Send + 'static {
        move |start| {
            let (mss, all) = (start.mss.count(), start.mss.count() + start.headers.count());
            let by = move |until: HostInstant| {
                let carried = self.offered.capacity(Duration::ZERO, until - HostInstant::default());
                Bytes::new(carried.count() * mss / all / self.flows)
            };
            match word {
                Some(word) => Box::new(Present::new(start, word, by)),
                None => Box::new(Oracle::new(start, self.lead, by)),
            }
        }
    }
}

/// Whether somebody of this name can be sent.
pub(super) fn is_known(name: &str) -> bool {
    TRUTHFUL.contains(&name) || sounding_cc::by_name(name).is_some()
}
