//! A way back that gets longer, as after a handover to a slower cell.

use std::collections::VecDeque;
use std::time::Duration;

use sounding_emu::{Custom, Slot, Way};
use sounding_sim::{Backlog, Carried, Output, Pipe};
use sounding_units::{Bytes, HostInstant};

/// No link, only delay: `before` until `turn`, and `after` from then on.
struct Lengthening {
    turn: HostInstant,
    before: Duration,
    after: Duration,
    inside: VecDeque<Carried<Slot>>,
    out: VecDeque<Output<Slot>>,
}

/// A way of such delays that turns so long after its beginning.
pub(crate) fn way(turn: Duration, before: Duration, after: Duration) -> Way {
    Way::Custom(Custom {
        make: Box::new(move |began| {
            let (inside, out) = (VecDeque::new(), VecDeque::new());
            Box::new(Lengthening { turn: began + turn, before, after, inside, out })
        }),
    })
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
