//! What is read, and what is due whether bytes came or not.

use std::sync::atomic::Ordering;
use std::time::Duration;

use miette::{IntoDiagnostic, Result};
use nix::net::if_::if_nametoindex;
use sounding_bpf::CopaInstance;
use sounding_diag::LogCode;
use sounding_host::monotonic_now;
use sounding_kpi::Direction;
use sounding_link::{Arrival, Config, Counts, Sounder};
use sounding_modem::{Bytes, Pump, Turn};
use sounding_units::HostInstant;

use super::Copa;
use crate::run::TICK;
use crate::run::events::Events;
use crate::run::sleep::Sleep;

/// How often the modem's network devices are looked for: one that reboots has a new one under the old name.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// A modem that is read.
pub(super) struct Modem {
    pump: Pump,
    sounder: Sounder,
    names: Vec<String>,
    numbers: Vec<u32>,
    looked: Option<HostInstant>,
    sleep: Sleep,
}

impl Modem {
    pub(super) fn new(pump: Pump, names: Vec<String>) -> Self {
        Self {
            pump,
            sounder: Sounder::new(Config::new(Direction::Uplink)).with_delays(),
            names,
            numbers: Vec::new(),
            looked: None,
            sleep: Sleep::default(),
        }
    }

    pub(super) fn counts(&self) -> Counts {
        self.sounder.counts()
    }

    pub(super) fn switched_off(&self) -> Vec<LogCode> {
        self.pump.switched_off().to_vec()
    }

    /// One wait for bytes, and what was in them.
    fn read(&mut self, instance: &mut CopaInstance, events: &mut Events) -> Result<()> {
        let Self { pump, sounder, .. } = self;
        match pump.turn(TICK).into_diagnostic()? {
            Turn::Idle => {}
            Turn::Reopened => events.reopened(pump.source()),
            Turn::Closed(wait) => {
                self.forget(instance);
                events.closed(self.pump.source(), wait.unwrap_or_default());
            }
            Turn::Bytes(Bytes { now, framing, bytes, mut session }) => {
                sounder.handle_read(framing, Arrival::At(now), bytes, |_, seen| {
                    seen.packet().iter().for_each(|packet| session.handle(packet));
                });
                self.tell(instance);
            }
        }
        Ok(())
    }

    /// Flows learn of the delays that the last bytes had.
    fn tell(&mut self, instance: &mut CopaInstance) {
        if let Some(update) = self.sounder.poll_delays() {
            instance.delays().handle_update(update);
        }
    }

    /// Withdraws the known delays of the radio: they are outdated.
    fn forget(&mut self, instance: &mut CopaInstance) {
        self.sounder.handle_disconnect();
        instance.delays().forget();
    }

    /// Follows the modem's network devices.
    fn look(&mut self, now: HostInstant, instance: &mut CopaInstance) {
        if self.looked.is_some_and(|looked| now - looked < LOOK_EVERY) {
            return;
        }
        self.looked = Some(now);
        let number = |name: &String| if_nametoindex(name.as_str()).unwrap_or_default();
        let numbers: Vec<u32> = self.names.iter().map(number).collect();
        if numbers != self.numbers {
            // Without a way to distinguish namespaces (Linux before 5.14), all flows are the modem's as before.
            let _ = instance.set_radios(&numbers);
            self.numbers = numbers;
        }
    }
}

impl Copa {
    /// Reads the port until `stop`; a port that closes is waited for.
    pub(super) fn serve(&mut self) -> Result<()> {
        while !self.stop.load(Ordering::Relaxed) {
            self.read()?;
            self.attend();
        }
        Ok(())
    }

    /// Gives the modem its masks back, while everything goes on.
    pub(super) fn put_back(&mut self) -> Result<()> {
        if let Some(modem) = &mut self.modem {
            modem.pump.handle_end();
        }
        while self.modem.as_ref().is_some_and(|modem| !modem.pump.is_over()) {
            self.read()?;
            self.attend();
        }
        Ok(())
    }

    /// Bytes of the port, or a wait.
    fn read(&mut self) -> Result<()> {
        match &mut self.modem {
            Some(modem) => modem.read(&mut self.instance, &mut self.events),
            None => {
                std::thread::sleep(TICK);
                Ok(())
            }
        }
    }

    /// What is due.
    fn attend(&mut self) {
        let now = monotonic_now();
        self.supervisor.beat(now);
        if let Some(hearing) = &mut self.hearing {
            hearing.attend(now, &mut self.events);
        }
        let Self { modem: Some(modem), instance, events, .. } = self else { return };
        if let Some(slept) = modem.sleep.look() {
            modem.forget(instance);
            events.slept(slept);
        }
        modem.look(now, instance);
        while let Some(event) = modem.pump.poll_event() {
            events.session(&event);
        }
        if let Some(bytes) = modem.pump.poll_mute() {
            events.mute(modem.pump.source(), bytes);
        }
    }
}
