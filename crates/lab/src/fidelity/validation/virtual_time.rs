use std::time::Duration;

use sounding_emu::Direction;
use sounding_sim::world::{Event, Flow};
use sounding_sim::{Device, Links, PathConfig, Port, World};
use sounding_trace::Schedule;
use sounding_units::HostInstant;

use crate::fidelity::mahimahi::{Figures, Passage, opportunities};

/// One flow over a recorded link, in virtual time.
#[derive(Clone, Copy, Debug)]
pub struct VirtualFlow<'a> {
    /// The links of the phone.
    pub up: &'a Schedule,
    /// The other way.
    pub down: &'a Schedule,
    /// Direction of the data.
    pub direction: Direction,
    /// Propagation delay each way.
    pub delay: Duration,
    /// A name of [`sounding_baselines::by_name`].
    pub controller: &'a str,
    /// When the first data packet is to reach the link, from the beginning of the trace.
    pub start: Duration,
    /// Measured time from then on.
    pub window: Duration,
    /// Seed of the controller.
    pub seed: u64,
}

/// Mean time that a handshake waits for opportunities, in addition to its two one-way delays.
const HANDSHAKE: Duration = Duration::from_millis(2);

impl VirtualFlow<'_> {
    /// Its figures by the definitions of mahimahi's logs; `None` for an unknown controller, and
    /// without arrivals.
    pub fn run(&self) -> Option<Figures> {
        let path = |schedule: &Schedule| PathConfig {
            delay: self.delay,
            ..PathConfig::new(schedule.clone())
        };
        let links = Links::one(&path(self.up), &path(self.down), HostInstant::default());
        let mut world = World::new(links, self.seed);
        // A handshake comes first, and on the way down the delay too.
        let (port, schedule, ways) = match self.direction {
            Direction::Uplink => (Port::up(Device(0)), self.up, 2),
            Direction::Downlink => (Port::down(Device(0)), self.down, 3),
        };
        let before = ways * (self.delay + HANDSHAKE / 2);
        let begins = HostInstant::default() + self.start.saturating_sub(before);
        let controller = sounding_baselines::by_name(self.controller)?;
        world.add_flow(Flow::bulk(port, controller).begins(begins));
        let mut passages = Vec::new();
        let until = HostInstant::default() + self.start + Duration::from_millis(500) + self.window;
        world.observe_until(until, &mut |_: HostInstant, event: &Event<'_>| {
            if let Event::Arrived { packet, .. } = event {
                let millis = |at: HostInstant| at.as_nanos() / 1_000_000;
                passages.push(Passage {
                    arrived_ms: millis(packet.joined),
                    departed_ms: millis(packet.left),
                    size: packet.size,
                });
            }
        });
        Figures::of(&passages, self.window, |from, to| opportunities(schedule, from, to))
    }
}
