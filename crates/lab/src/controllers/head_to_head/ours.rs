//! Our controller over the link, in virtual time.

use std::time::Duration;

use sounding_sim::world::{Event, Flow};
use sounding_sim::{Device, Links, Port, World};
use sounding_units::HostInstant;

use super::Link;
use super::measure::{Passage, Side};

/// Duration of a handshake before the first data: a round trip and a packet either way.
const HANDSHAKE: Duration = Duration::from_millis(42);

/// A bulk flow whose first data packet enters about when theirs did.
pub(super) fn run(
    controller: &str,
    link: &Link,
    started: Duration,
    duration: Duration,
    seed: u64,
) -> Side {
    let origin = HostInstant::default();
    let make = sounding_baselines::by_name(controller)
        .unwrap_or_else(|| panic!("no controller is called {controller}"));
    let mut world = World::new(Links::one(&link.up(), &Link::down(), origin), seed);
    let begins = origin + started.saturating_sub(HANDSHAKE);
    let flow = world.add_flow(Flow::bulk(Port::up(Device(0)), make).begins(begins));
    let mut passages = Vec::new();
    // A handshake can meet an outage.
    let until = begins + duration + Duration::from_secs(120);
    let mut ends = until;
    world.observe_until(until, &mut |_: HostInstant, event: &Event<'_>| {
        if let Event::Arrived { flow: whose, packet } = event
            && *whose == flow
            && packet.entered < ends
        {
            if passages.is_empty() {
                ends = packet.entered + duration;
            }
            passages.push(Passage {
                entered: packet.entered,
                joined: packet.joined,
                left: packet.left,
                arrived: packet.exits,
                size: packet.size,
            });
        }
    });
    Side::of(&passages, origin, duration).unwrap_or_else(|| {
        // The link has capacity in every two minutes of its trace.
        panic!("{controller} sent nothing over {}", link.name)
    })
}
