//! Acknowledgements that go on at once, with what is known on average, and corrections of them
//! later.

use sounding_cc::{Ack, Controller, Revision};
use sounding_units::HostInstant;

use super::{Compensated, PATIENCE, RAISED, WAITING};

impl<C: Controller> Compensated<C> {
    /// Tells the controller of a path that is longer than it was. It learns of a shorter one by
    /// itself.
    pub(super) fn raise(&mut self, now: HostInstant) {
        if self.active && self.floor() > self.told + RAISED {
            self.told = self.floor();
            self.inner.handle_revision(&Revision::Rebase { now, least: self.told });
        }
        self.told = self.told.min(self.floor());
    }

    /// An acknowledgement for the controller at once.
    pub(super) fn show(&mut self, ack: &Ack) -> Ack {
        let before = self.before(ack);
        let Some(mut sample) = self.sample(ack, before) else { return *ack };
        let recent = if self.smoothing.assumes_most {
            self.most.best()
        } else {
            self.recent.mean().unwrap_or_default()
        };
        let mean = self.raw.push(ack.now, sample.rtt);
        if let (true, Some(least)) = (self.active, self.least.best()) {
            sample.shown = mean.saturating_sub(recent).max(least);
        }
        if self.samples.len() == WAITING {
            self.samples.pop_front();
        }
        self.samples.push_back(sample);
        if !self.active {
            return *ack;
        }
        let less = sample.rtt.saturating_sub(sample.shown);
        let one_way = ack.one_way.map(|way| way.saturating_sub(less));
        Ack { rtt: Some(sample.shown), one_way, ..*ack }
    }

    /// Corrects the RTTs that the controller received, as far as their delays are known now.
    pub(super) fn revise(&mut self, now: HostInstant) {
        while let Some(sample) = self.samples.front().copied() {
            if !self.is_settled(now, &sample, PATIENCE) {
                return;
            }
            self.samples.pop_front();
            let (_, after) = self.settle(&sample);
            if self.smoothing.assumes_most {
                // The first RTTs of a flow are those that end slow start.
                self.switch(now);
            }
            if self.active {
                let (seen_at, before) = (sample.at, sample.shown);
                self.inner.handle_revision(&Revision::Sample { now, seen_at, before, after });
            }
        }
    }
}
