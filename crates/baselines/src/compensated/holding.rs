//! Acknowledgements that wait until their delay is known.

use sounding_cc::{Ack, Controller, Delivered};
use sounding_units::HostInstant;

use super::{Compensated, HELD_FOR, WAITING, Way};

/// An event for the controller that waits.
#[derive(Clone, Copy, Debug)]
pub(super) enum Held {
    Delivered(Delivered),
    /// With how many of its time came before it.
    Ack(Ack, u32),
}

impl Held {
    pub(super) fn now(&self) -> HostInstant {
        match self {
            Self::Delivered(delivered) => delivered.now,
            Self::Ack(ack, _) => ack.now,
        }
    }
}

impl<C: Controller> Compensated<C> {
    /// Hands held events on whose delay is known; all of them if the modem is silent.
    pub(super) fn release(&mut self, now: HostInstant) {
        let all = !self.is_heard(now);
        while let Some(next) = self.held.front().copied() {
            let is_due = match next {
                Held::Delivered(_) => true,
                Held::Ack(ack, before) => match self.sample(&ack, before) {
                    Some(sample) => all || self.is_settled(now, &sample, HELD_FOR),
                    None => true,
                },
            };
            if !is_due {
                return;
            }
            self.held.pop_front();
            self.hand_on(now, &next, all);
        }
    }

    /// An event goes on: an acknowledgement with its exact RTT, or with the measured one.
    pub(super) fn hand_on(&mut self, now: HostInstant, event: &Held, as_is: bool) {
        let (ack, before) = match event {
            Held::Delivered(delivered) => return self.inner.handle_delivered(delivered),
            Held::Ack(ack, before) => (ack, *before),
        };
        let mut shown = Ack { now, ..*ack };
        if let (false, Some(sample)) = (as_is, self.sample(ack, before)) {
            let (added, _) = self.settle(&sample);
            self.switch(now);
            // Not smoothed: a mean would carry the delays of one interval into the next.
            shown.rtt = Some((sample.rtt - added.all).max(self.floor()));
            shown.one_way = ack.one_way.map(|way| way.saturating_sub(added.data));
        }
        self.inner.handle_ack(&shown);
    }

    pub(super) fn hold(&mut self, event: Held) {
        if self.held.len() == WAITING
            && let Some(oldest) = self.held.pop_front()
        {
            self.hand_on(event.now(), &oldest, false);
        }
        self.held.push_back(event);
    }

    /// Whether events are held now.
    pub(super) fn holds(&self, now: HostInstant) -> bool {
        self.way == Way::Hold && (self.is_heard(now) || !self.held.is_empty())
    }
}
