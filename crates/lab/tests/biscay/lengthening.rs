//! A way back that gets longer, as after a handover to a slower cell.

use std::collections::VecDeque;
use std::time::Duration;

use sounding_emu::Slot;
use sounding_kpi::Direction;
use sounding_sim::{Links, Network, Output, Path, PathConfig, Port};
use sounding_units::{Bytes, HostInstant};

/// Links whose downlink takes so much longer from `turn` on.
pub(crate) struct Lengthening {
    links: Links<Path<Slot>>,
    turn: HostInstant,
    longer: Duration,
    /// What the downlink has let through, and when it comes out.
    held: VecDeque<(HostInstant, Port, Output<Slot>)>,
    out: VecDeque<(Port, Output<Slot>)>,
}

impl Lengthening {
    pub(crate) fn new(
        up: &PathConfig,
        down: &PathConfig,
        turn: Duration,
        longer: Duration,
    ) -> Self {
        let begin = HostInstant::default();
        let (links, turn) = (Links::one(up, down, begin), begin + turn);
        Self { links, turn, longer, held: VecDeque::new(), out: VecDeque::new() }
    }
}

impl Network<Slot> for Lengthening {
    fn handle_packet(&mut self, now: HostInstant, port: Port, size: Bytes, payload: Slot) {
        self.links.handle_packet(now, port, size, payload);
    }

    fn handle_time(&mut self, now: HostInstant) {
        self.links.handle_time(now);
        while let Some((port, mut output)) = self.links.poll_output() {
            let due = match &mut output {
                Output::Carried(carried) => {
                    if port.direction == Direction::Downlink && carried.exits >= self.turn {
                        carried.exits = carried.exits + self.longer;
                    }
                    carried.exits
                }
                Output::Lost(_) => now,
            };
            let place = self.held.partition_point(|(at, ..)| *at <= due);
            self.held.insert(place, (due, port, output));
        }
        while let Some((_, port, output)) = self.held.pop_front_if(|(at, ..)| *at <= now) {
            self.out.push_back((port, output));
        }
    }

    fn poll_output(&mut self) -> Option<(Port, Output<Slot>)> {
        self.out.pop_front()
    }

    fn wakeup(&self) -> Option<HostInstant> {
        let held = self.held.front().map(|(at, ..)| *at);
        [self.links.wakeup(), held].into_iter().flatten().min()
    }
}
