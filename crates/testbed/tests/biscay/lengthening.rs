//! A return path that gets longer, as after a handover to a slower cell.

use std::collections::VecDeque;
use std::time::Duration;

use sounding_emu::Slot;
use sounding_sim::{Backlog, Carried, Duplex, Links, Order, Output, Path, PathConfig, Pipe};
use sounding_units::{Bytes, HostInstant};

/// A path with delay and no rate limit: `before` until `turn`, and `after` from then on.
struct Lengthening {
    turn: HostInstant,
    before: Duration,
    after: Duration,
    inside: VecDeque<Carried<Slot>>,
    out: VecDeque<Output<Slot>>,
}

/// A link, and a return path whose delay changes at this time after the beginning.
pub(crate) fn beside(
    up: &PathConfig,
    turn: Duration,
    before: Duration,
    after: Duration,
) -> Links<Box<dyn Pipe<Slot> + Send>> {
    let began = HostInstant::default();
    let (inside, out) = (VecDeque::new(), VecDeque::new());
    let down = Lengthening { turn: began + turn, before, after, inside, out };
    let up = Path::new(up, Order::LinkThenDelay, began);
    Links::new(vec![Duplex {
        up: Box::new(up) as Box<dyn Pipe<Slot> + Send>,
        down: Box::new(down),
    }])
}

impl Pipe<Slot> for Lengthening {
    fn handle_packet(&mut self, now: HostInstant, size: Bytes, payload: Slot) {
        let delay = if now < self.turn { self.before } else { self.after };
        self.inside.push_back(Carried {
            payload,
            size,
            entered: now,
            joined: now,
            left: now,
            exits: now + delay,
        });
    }

    fn handle_time(&mut self, now: HostInstant) {
        while let Some(due) = self.inside.pop_front_if(|packet| packet.exits <= now) {
            self.out.push_back(Output::Carried(due));
        }
    }

    fn poll_output(&mut self) -> Option<Output<Slot>> {
        self.out.pop_front()
    }

    fn wakeup(&self) -> Option<HostInstant> {
        self.inside.front().map(|packet| packet.exits)
    }

    fn backlog(&self) -> Backlog {
        let bytes = self.inside.iter().map(|packet| packet.size).sum();
        Backlog { packets: self.inside.len() as u64, bytes }
    }
}
