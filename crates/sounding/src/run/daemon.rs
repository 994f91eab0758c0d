//! The daemon: a modem, if there is one, and a list of outputs.
//!
//! ```text
//! start:  reports, files, sniffers, port, outputs, priority, rights, ready
//! serve:  bytes, sniffers, estimates, heartbeats, devices, events
//! stop:   log mask, rates, outputs, last words
//! ```

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use miette::{IntoDiagnostic, Result, WrapErr, miette};
use sounding_bpf::MAX_RADIOS;
use sounding_host::{Wakefulness, monotonic_now, prefer_this_thread};
use sounding_units::HostInstant;

use super::config::Config;
use super::devices::Devices;
use super::events::Events;
use super::hardware::Hardware;
use super::modem::{Modem, Opened};
use super::outputs::Outputs;
use super::supervisor::Supervisor;
use crate::{cli_types, rights, signals};

/// A heartbeat at least this often: the kernel side takes 60 ms of silence for a dead daemon.
const TICK: Duration = Duration::from_millis(5);

/// The same without a modem. Then no flow waits for a heartbeat.
const SLOW_TICK: Duration = Duration::from_millis(20);

/// A heartbeat this long after the one before is reported: a fallback for silence may follow, and
/// this is its reason.
const LATE: Duration = Duration::from_millis(40);

/// A panic drops the fields in this order. It is that of [`stop`](Self::stop).
pub(super) struct Daemon {
    modem: Option<Modem>,
    devices: Option<Devices>,
    outputs: Outputs,
    supervisor: Supervisor,
    events: Events,
    _awake: Option<Wakefulness>,
    /// When the last heartbeat was.
    beaten: Option<HostInstant>,
    stop: Arc<AtomicBool>,
}

impl Daemon {
    /// Starts step by step. An error in one ends it, and what the steps before it changed is
    /// restored.
    pub(super) fn start(mut config: Config, json: bool) -> Result<Self> {
        let stop = signals::stop_flag().into_diagnostic()?;
        // Threads come first: they would inherit a real-time priority.
        let mut events = Events::new(json).into_diagnostic()?;
        let supervisor = Supervisor::find().into_diagnostic()?;
        if config.interfaces.len() > MAX_RADIOS {
            return Err(miette!("a modem has at most {MAX_RADIOS} network devices: --interface"));
        }
        // The port before the outputs: a wrong device then leaves the kernel untouched.
        let opened = config.modem.as_ref().map(Opened::open).transpose()?;
        let devices = config.modem.is_some().then(|| find_devices(&mut config, &mut events));

        let sections = config.sections();
        let needs: Vec<_> = sections.iter().map(|section| section.needs()).collect();
        let algorithms: Vec<_> = sections
            .iter()
            .filter(|section| section.is_algorithm())
            .map(|section| section.name())
            .collect();
        events.fall_back_to(sections.iter().filter_map(|section| section.stock()));
        let outputs = Outputs::start(sections, monotonic_now(), &mut events)?;

        let awake = cli_types::awake(config.cpu_latency)?;
        let no_priority = prefer_this_thread().err();
        rights::drop_for_reading().wrap_err("capabilities cannot be dropped")?;

        let source = config.modem.as_ref().map(|plan| plan.source.clone());
        let modem = config.modem.zip(opened);
        let modem = modem.map(|(plan, opened)| Modem::new(opened, plan, &needs));
        let mut daemon =
            Self { modem, devices, outputs, supervisor, events, _awake: awake, beaten: None, stop };
        // The devices first: a reader of events may end the daemon once that is ready.
        daemon.attend_devices(monotonic_now());
        let Self { outputs, events, supervisor, .. } = &mut daemon;
        events.ready(&algorithms, &outputs.names(), source.as_ref());
        supervisor.ready();
        if let Some(refused) = no_priority {
            // A heartbeat that waits behind a build sends all flows to BBR.
            events.no_priority(&refused);
        }
        Ok(daemon)
    }

    /// Goes on until `stop`; a port that closes is waited for.
    pub(super) fn serve(&mut self) -> Result<()> {
        while !self.stop.load(Ordering::Relaxed) {
            self.turn()?;
        }
        Ok(())
    }

    /// One wait, and what is due.
    fn turn(&mut self) -> Result<()> {
        let Self { modem, outputs, events, .. } = self;
        match modem {
            Some(modem) => modem.read(TICK, outputs, events)?,
            None => std::thread::sleep(SLOW_TICK),
        }
        let now = monotonic_now();
        self.beat(now);
        let Self { modem, outputs, events, .. } = self;
        if let Some(modem) = modem {
            modem.attend(now, outputs, events);
        }
        self.attend_devices(now);
        Ok(())
    }

    fn beat(&mut self, now: HostInstant) {
        self.outputs.attend(now, &mut self.events);
        self.supervisor.beat(now);
        let gap = self.beaten.replace(now).map_or(Duration::ZERO, |before| now - before);
        // Without a modem no flow waits for one.
        if gap > LATE && self.modem.is_some() {
            self.events.late(now, gap);
        }
    }

    fn attend_devices(&mut self, now: HostInstant) {
        let Self { devices, outputs, events, .. } = self;
        if let Some(devices) = devices {
            devices
                .attend(now, events, |found, moved, events| outputs.follow(found, moved, events));
        }
    }

    /// Gives the modem its log mask back, while everything goes on.
    fn put_back(&mut self) -> Result<()> {
        if let Some(modem) = &mut self.modem {
            modem.handle_end();
        }
        while self.modem.as_ref().is_some_and(|modem| !modem.is_over()) {
            self.turn()?;
        }
        Ok(())
    }

    /// Restores the modem and the machine, also where the port failed, and gives the first error.
    pub(super) fn stop(mut self, served: Result<()>) -> Result<()> {
        self.supervisor.stopping();
        let outcome = served.and(self.put_back());
        let Self { mut modem, outputs, supervisor, mut events, .. } = self;
        if let Some(modem) = &mut modem {
            modem.keep_rates(&mut events);
        }
        let last = outputs.end();
        // Last words wait for their reader.
        drop(supervisor);
        events.done(modem.as_ref().map(Modem::account).as_ref(), last);
        outcome
    }
}

/// The modem's network devices: those that were named, or those of the port's own hardware.
fn find_devices(config: &mut Config, events: &mut Events) -> Devices {
    let source = config.modem.as_ref().map(|plan| &plan.source);
    let hardware = source.filter(|_| config.interfaces.is_empty()).and_then(Hardware::behind);
    if config.interfaces.is_empty() {
        config.interfaces = hardware.as_ref().map(Hardware::network_devices).unwrap_or_default();
        events.interfaces(&config.interfaces);
    }
    config.counts_others |= hardware.is_some() || !config.interfaces.is_empty();
    Devices::new(config.interfaces.clone(), hardware)
}
