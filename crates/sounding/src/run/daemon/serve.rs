//! The daemon while it serves: it reads the port, publishes estimates, and does what is due.

use std::sync::atomic::Ordering;
use std::time::Duration;

use miette::{IntoDiagnostic, Result};
use sounding_bpf::Feed;
use sounding_host::monotonic_now;
use sounding_link::{Arrival, Estimator, Seen};
use sounding_modem::{Bytes, Turn};
use sounding_units::HostInstant;

use super::Daemon;
use crate::run::PUBLISH_EVERY;
use crate::run::TICK;

/// A heartbeat this long after the one before is reported: a fallback for silence may follow, and this is its reason.
const LATE: Duration = Duration::from_millis(40);

impl Daemon {
    /// Reads the port until `stop`; a port that closes is waited for.
    pub(in crate::run) fn serve(&mut self) -> Result<()> {
        while !self.stop.load(Ordering::Relaxed) {
            self.read()?;
            self.attend();
        }
        Ok(())
    }

    /// Gives the modem its masks back, while everything goes on.
    pub(super) fn put_back(&mut self) -> Result<()> {
        self.pump.handle_end();
        while !self.pump.is_over() {
            self.read()?;
            self.attend();
        }
        Ok(())
    }

    /// One wait for bytes, and what was in them.
    fn read(&mut self) -> Result<()> {
        let Self { pump, posts, sounder, receiving, events, .. } = self;
        match pump.turn(TICK).into_diagnostic()? {
            Turn::Idle => {}
            Turn::Reopened => events.reopened(pump.source()),
            Turn::Closed(wait) => {
                self.forget_link();
                self.events.closed(self.pump.source(), wait.unwrap_or_default());
            }
            Turn::Bytes(Bytes { now, framing, bytes, mut session }) => {
                sounder.handle_read(framing, Arrival::At(now), bytes, |_, seen| {
                    seen.packet().iter().for_each(|packet| session.handle(packet));
                    if let (Seen::Record(record), Some(posts)) = (seen, posts.as_mut()) {
                        posts.handle(now, record);
                    }
                });
                if let Some(receiving) = receiving {
                    receiving.handle_records(sounder);
                }
                if let Some(posts) = posts {
                    posts.post(monotonic_now());
                }
            }
        }
        Ok(())
    }

    fn attend_devices(&mut self, now: HostInstant) {
        let Self { others, instance, receiving, events, .. } = self;
        others.attend(now, instance, receiving.as_mut(), events);
    }

    /// What is due whether bytes came or not.
    fn attend(&mut self) {
        let now = monotonic_now();
        if let Some(slept) = self.sleep.look() {
            self.forget_link();
            self.events.slept(slept);
        }
        let Self { sniffers, sounder, events, .. } = self;
        sniffers.attend(now, events, |at, heard| sounder.handle_heard(at, heard));
        self.beat(now);
        self.publish(now);
        if let Some(receiving) = &mut self.receiving {
            receiving.attend(now, &self.sounder, &mut self.events);
        }
        self.attend_devices(now);
        while let Some(event) = self.pump.poll_event() {
            self.events.session(&event);
        }
        while let Some(transition) = self.instance.poll_transition() {
            self.events.transition(&transition);
        }
        if let Some(hearing) = &mut self.hearing {
            hearing.attend(now, &mut self.events);
        }
        self.subordinates.attend(&mut self.events);
        if let Some(bytes) = self.pump.poll_mute() {
            self.events.mute(self.pump.source(), bytes);
        }
        if self.rates.as_mut().is_some_and(|rates| rates.is_due(now)) {
            self.keep_rates();
        }
    }

    /// Keeps what is known of cells' rates by CQI, if that is wanted.
    pub(super) fn keep_rates(&mut self) {
        let Self { rates, sounder, events, .. } = self;
        if let Some(error) = rates.as_mut().and_then(|rates| {
            rates.keep(sounder.estimators().take(1).flat_map(Estimator::rates)).err()
        }) {
            events.rates_not_kept(&error);
        }
    }

    fn beat(&mut self, now: HostInstant) {
        self.feed().heartbeat(now);
        self.supervisor.beat(now);
        if let Some(posts) = &mut self.posts {
            posts.heartbeat(now);
        }
        let gap = self.beaten.replace(now).map_or(Duration::ZERO, |before| now - before);
        if gap > LATE {
            self.events.late(now, gap);
        }
    }

    /// Withdraws the knowledge of the link: it is outdated.
    fn forget_link(&mut self) {
        self.sounder.handle_disconnect();
        self.feed().invalidate();
        if let Some(receiving) = &mut self.receiving {
            receiving.handle_disconnect();
        }
    }

    fn feed(&self) -> &Feed {
        self.instance.feed()
    }

    fn publish(&mut self, now: HostInstant) {
        if now - self.published < PUBLISH_EVERY {
            return;
        }
        self.published = now;
        let estimate = self.sounder.estimate(now);
        self.feed().publish_link(&estimate, now);
        self.events.estimate(now, &estimate, || self.sounder.cell(now)?.heard);
    }
}
