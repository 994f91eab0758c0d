//! Readers beside the daemon: other commands that look at the modem that it holds.

use std::time::Duration;

use sounding_diag::packet::Packet;
use sounding_host::monotonic_now;
use sounding_modem::beside::{ServeError, Server};
use sounding_modem::{Pump, Source};
use sounding_units::HostInstant;

use super::events::Events;

/// Readers learn this often which of their codes are not on.
const TELL_EVERY: Duration = Duration::from_millis(100);

/// The socket of one modem, if there is one.
pub(super) struct Readers {
    server: Option<Server>,
    told: HostInstant,
}

impl Readers {
    /// Says why there is no socket, if there is none.
    pub(super) fn new(server: Result<Server, ServeError>, events: &mut Events) -> Self {
        if let Err(why) = &server
            && !matches!(why, ServeError::Absent)
        {
            events.not_beside(why);
        }
        Self { server: server.ok(), told: HostInstant::default() }
    }

    pub(super) fn handle_packet(&mut self, now: HostInstant, packet: &Packet<'_>) {
        if let Some(server) = &mut self.server {
            server.handle_packet(now, packet);
        }
    }

    /// All packets of one read were handled.
    pub(super) fn handle_read(&mut self, now: HostInstant) {
        if let Some(server) = &mut self.server {
            server.flush(now);
        }
    }

    pub(super) fn handle_closed(&mut self) {
        if let Some(server) = &mut self.server {
            server.handle_closed(monotonic_now());
        }
    }

    /// The port is open, for the first time where it was absent at the start.
    pub(super) fn handle_reopened(&mut self, source: &Source, events: &mut Events) {
        match &mut self.server {
            Some(server) => {
                if let Err(why) = server.handle_reopened(monotonic_now()) {
                    events.not_beside(&why);
                }
            }
            None => *self = Self::new(Server::start(source), events),
        }
    }

    /// Asks the modem for the codes that readers want.
    pub(super) fn ask(&self, pump: &mut Pump) {
        if let Some(server) = &self.server {
            pump.handle_guests(&server.codes());
        }
    }

    /// What is due every few milliseconds. Nothing of it waits for a reader.
    pub(super) fn attend(&mut self, now: HostInstant, pump: &mut Pump, events: &mut Events) {
        let Some(server) = &mut self.server else { return };
        if server.attend(now) {
            pump.handle_guests(&server.codes());
            events.beside(now, server.readers());
            if let Some(identity) = pump.identity() {
                server.introduce(identity);
            }
        }
        if now - self.told >= TELL_EVERY {
            self.told = now;
            server.tell_lacks(now, |code| pump.lack(code));
            if let Some(identity) = pump.identity() {
                server.introduce(identity);
            }
        }
    }
}
