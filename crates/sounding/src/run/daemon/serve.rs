//! The daemon while it serves: it reads the port, publishes estimates, and does what is due.

use std::sync::atomic::Ordering;
use std::time::Duration;

use miette::{IntoDiagnostic, Result};
use sounding_bpf::Feed;
use sounding_host::monotonic_now;
use sounding_link::{Arrival, Seen, Sounder};
use sounding_modem::{Framing, READ_SIZE, Read};
use sounding_units::HostInstant;

use super::Daemon;
use crate::run::PUBLISH_EVERY;
use crate::run::TICK;
use crate::run::reopen::Reopening;
use crate::session_report::sniffed;

/// A heartbeat this long after the one before is reported: a fallback for silence may follow, and this is its reason.
const LATE: Duration = Duration::from_millis(40);

/// A port without one valid frame for this long is not a modem's, or its modem logs nothing.
const MUTE_AFTER: Duration = Duration::from_secs(5);

/// A modem that does not take its masks back within this keeps those of this daemon.
const PUT_BACK: Duration = Duration::from_secs(2);

impl Daemon {
    /// Reads the port until `stop`; a port that closes is waited for.
    pub(in crate::run) fn serve(&mut self) -> Result<()> {
        let mut reopening = None;
        let mut buffer = vec![0; READ_SIZE];
        while !self.stop.load(Ordering::Relaxed) {
            if self.live.is_open() {
                if self.read(&mut buffer)? == Read::Closed {
                    self.forget_link();
                    let wait = self.retry.handle_closed(monotonic_now());
                    self.events.closed(&self.source, wait);
                    if self.source.may_return() {
                        let again = Reopening::start(self.source.clone(), wait);
                        reopening = Some(again.into_diagnostic()?);
                    }
                }
            } else {
                std::thread::sleep(TICK);
                if let Some(transport) = reopening.as_ref().and_then(Reopening::poll) {
                    reopening = None;
                    self.live.reopen(transport);
                    self.opened = monotonic_now();
                    self.retry.handle_opened(self.opened);
                    self.warned_mute = false;
                    self.events.reopened(&self.source);
                }
            }
            self.attend();
        }
        Ok(())
    }

    /// Gives the modem its masks back, while everything goes on.
    pub(super) fn put_back(&mut self) -> Result<()> {
        let begin = monotonic_now();
        self.live.handle_end(begin);
        let mut buffer = vec![0; READ_SIZE];
        while !self.live.is_over() && monotonic_now() - begin < PUT_BACK {
            self.read(&mut buffer)?;
            self.attend();
        }
        Ok(())
    }

    /// One wait for bytes, and what was in them.
    fn read(&mut self, buffer: &mut [u8]) -> Result<Read> {
        let read = self.live.read(buffer, TICK).into_diagnostic()?;
        if let Read::Bytes(count) = read {
            let now = monotonic_now();
            let Self { live, posts, .. } = self;
            let framing = live.framing();
            let watch = |_: &Sounder, seen: Seen<'_>| match seen {
                Seen::Record(record) => {
                    live.handle_log(now, record);
                    if let Some(posts) = posts.as_mut() {
                        posts.handle(now, record);
                    }
                }
                Seen::Other { command, body } => live.handle_other(now, command, body),
                Seen::Next(_) | Seen::Kpi(_) => {}
            };
            let (arrival, bytes) = (Arrival::At(now), &buffer[..count]);
            match framing {
                Framing::Hdlc => self.sounder.handle_bytes(arrival, bytes, watch),
                Framing::Packet => self.sounder.handle_payload(arrival, bytes, watch),
            }
            if let Some(receiving) = &mut self.receiving {
                receiving.handle_bytes(now, framing, bytes);
            }
            if let Some(posts) = &mut self.posts {
                posts.post(monotonic_now());
            }
        }
        Ok(read)
    }

    fn attend_devices(&mut self, now: HostInstant) {
        let Self { others, instance, receiving, events, .. } = self;
        others.attend(now, instance, receiving.as_mut(), events);
    }

    /// What is due whether bytes came or not.
    fn attend(&mut self) {
        let now = monotonic_now();
        self.live.tick(now);
        if let Some(slept) = self.sleep.look() {
            self.forget_link();
            self.events.slept(slept);
        }
        let Self { sniffers, sounder, receiving, events, .. } = self;
        sniffers.attend(now, events, |at, heard| {
            sounder.handle_heard(at, heard);
            if let Some(receiving) = receiving {
                receiving.handle_heard(at, heard);
            }
        });
        self.beat(now);
        self.publish(now);
        if let Some(receiving) = &mut self.receiving {
            receiving.attend(now, &mut self.events);
        }
        self.attend_devices(now);
        while let Some(event) = self.live.poll_event() {
            self.events.session(&event);
        }
        while let Some(transition) = self.instance.poll_transition() {
            self.events.transition(&transition);
        }
        if let Some(hearing) = &mut self.hearing {
            hearing.attend(now, &mut self.events);
        }
        self.subordinates.attend(&mut self.events);
        self.warn_if_mute(now);
        if self.rates.as_mut().is_some_and(|rates| rates.is_due(now)) {
            self.keep_rates();
        }
    }

    /// Keeps what is known of cells' rates by CQI, if that is wanted.
    pub(super) fn keep_rates(&mut self) {
        let Self { rates, sounder, events, .. } = self;
        if let Some(error) = rates.as_mut().and_then(|rates| rates.keep(sounder.rates()).err()) {
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

    /// Withdraws what is known of the link: it is of before.
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
        self.events.estimate(now, &estimate, || sniffed(&self.sounder, now));
    }

    fn warn_if_mute(&mut self, now: HostInstant) {
        let stream = self.sounder.counts().stream;
        if self.warned_mute || stream.frames.good > 0 || now - self.opened < MUTE_AFTER {
            return;
        }
        self.warned_mute = true;
        self.events.mute(&self.source, stream.frames.bytes);
    }
}
