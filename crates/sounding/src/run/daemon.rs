//! The daemon: modems, if there are any, and lists of outputs.
//!
//! ```text
//! start:  reports, files, sniffers, ports, outputs, priority, rights, ready
//! serve:  congestion controls, devices, events; in each modem's thread: bytes, sniffers,
//!         estimates, heartbeats, its outputs
//! stop:   in each modem's thread: log mask, rates, its outputs; congestion controls, last words
//! ```

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use miette::{IntoDiagnostic, Result, WrapErr};
use sounding_host::{Wakefulness, monotonic_now, prefer_this_thread};
use sounding_units::HostInstant;

use super::config::{Config, ModemPlan};
use super::devices::{Devices, Radio};
use super::events::{Account, Events, LastWords};
use super::hardware::Hardware;
use super::loader::Loader;
use super::modem::{Modem, Opened};
use super::output::Needs;
use super::outputs::{self, Begun, Outputs};
use super::reader::{Order, Reader};
use super::subordinates::Followed;
use super::supervisor::Supervisor;
use crate::{cli_types, rights, signals};

/// How often the main thread looks at flows' reports and at the modems' threads. None of them waits
/// for it.
const TICK: Duration = Duration::from_millis(5);

/// The same without a modem.
const SLOW_TICK: Duration = Duration::from_millis(20);

/// A modem's thread that did not turn for so long is stuck.
const STUCK: Duration = Duration::from_secs(1);

/// A modem that is read, and what the main thread knows of it.
pub(super) struct Read {
    plan: ModemPlan,
    devices: Devices,
    reader: Reader,
}

/// A panic drops the fields in this order. It is that of [`stop`](Self::stop).
pub(super) struct Daemon {
    modems: Vec<Read>,
    /// The congestion controls.
    outputs: Outputs,
    subordinates: Followed,
    supervisor: Supervisor,
    events: Events,
    loader: Option<Loader>,
    _awake: Option<Wakefulness>,
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
        name(&config.modems, &events);
        // The ports before the outputs: a wrong device then leaves the kernel untouched.
        let opened = open(&config.modems)?;
        let devices = find_devices(&mut config, &mut events)?;

        let asked = config.sections();
        let algorithms: Vec<_> = asked
            .iter()
            .filter(|asked| asked.section.is_algorithm())
            .map(|asked| asked.section.name())
            .collect();
        events.fall_back_to(asked.iter().filter_map(|asked| asked.section.stock()));
        let names: Vec<_> = config.modems.iter().map(|plan| plan.name.clone()).collect();
        let begun = outputs::start(asked, &names, false, monotonic_now(), &mut events)?;
        let Begun { names, algorithms: outputs, of_modems, subordinates, loader } = begun;

        let latency = config.modems.iter().filter_map(|plan| plan.cpu_latency).min();
        let awake = cli_types::awake(latency)?;
        let no_priority = prefer_this_thread().err();
        rights::drop_for_reading().wrap_err("capabilities cannot be dropped")?;

        let mut daemon = Self {
            modems: Vec::new(),
            outputs,
            subordinates,
            supervisor,
            events,
            loader,
            _awake: awake,
            stop,
        };
        let is_only = config.modems.len() == 1;
        let each = config.modems.iter().zip(opened).zip(devices).zip(of_modems);
        for (place, (((plan, opened), devices), (_, outputs))) in each.enumerate() {
            let needs = needs(&config, &plan.name);
            let mut events = daemon.events.of_modem(&plan.name);
            let modem = Modem::new(opened, plan.clone(), config.base, &needs, &mut events)?;
            let reader = Reader::start(place, modem, outputs, events, is_only)?;
            daemon.modems.push(Read { plan: plan.clone(), devices, reader });
        }
        // The devices first: a reader of events may end the daemon once that is ready.
        daemon.attend_devices(monotonic_now());
        daemon.hand_out_parts();
        let Self { modems, events, supervisor, .. } = &mut daemon;
        let sources: Vec<_> =
            modems.iter().map(|read| (&read.plan.name[..], &read.plan.source)).collect();
        events.ready(&algorithms, &names, &sources);
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
            std::thread::sleep(if self.modems.is_empty() { SLOW_TICK } else { TICK });
            let now = monotonic_now();
            self.outputs.attend(now, &mut self.events);
            self.subordinates.attend(&mut self.events);
            self.hand_out_parts();
            self.attend_devices(now);
            self.beat(now);
            if self.modems.iter().any(|read| read.reader.has_ended()) {
                // Its error is the daemon's.
                return Ok(());
            }
        }
        Ok(())
    }

    /// Reports to the service manager, while the thread of any modem turns.
    fn beat(&mut self, now: HostInstant) {
        let turns = |read: &Read| now - read.reader.beaten() < STUCK;
        if self.modems.is_empty() || self.modems.iter().any(turns) {
            self.supervisor.beat(now);
        }
    }

    /// Gives each modem's thread its parts of the congestion controls.
    fn hand_out_parts(&mut self) {
        let places: Vec<usize> = self.modems.iter().map(|read| read.reader.place).collect();
        for part in self.outputs.parts_for(&places) {
            let of_it = |read: &&Read| read.reader.place == part.place;
            if let Some(read) = self.modems.iter().find(of_it) {
                read.reader.order(Order::Feed(part));
            }
        }
    }

    fn attend_devices(&mut self, now: HostInstant) {
        let Self { modems, outputs, events, .. } = self;
        let (mut looked, mut moved) = (false, false);
        let are_several = modems.len() > 1;
        for read in modems.iter_mut() {
            events.about(Some(&read.plan.name));
            let Some(has_moved) = read.devices.attend(now, events) else { continue };
            (looked, moved) = (true, moved | has_moved);
            read.reader.order(Order::Follow(read.radio(are_several), has_moved));
        }
        events.about(None);
        if looked {
            let radios: Vec<Radio> = modems.iter().map(|read| read.radio(are_several)).collect();
            outputs.follow(&radios, moved, events);
        }
    }

    /// Restores the modems and the machine, also where a port failed, and gives the first error.
    pub(super) fn stop(self, served: Result<()>) -> Result<()> {
        self.supervisor.stopping();
        let Self { mut modems, outputs, subordinates, supervisor, events, loader, .. } = self;
        modems.iter_mut().for_each(|read| read.reader.handle_end());
        let (mut accounts, mut last): (Vec<Account>, _) = (Vec::new(), LastWords::default());
        let mut outcome = served;
        for read in modems {
            match read.reader.join() {
                Ok(ended) => {
                    accounts.push(ended.account);
                    last.join(ended.last);
                }
                Err(failure) => outcome = outcome.and(Err(failure)),
            }
        }
        last.join(outputs.end());
        drop((subordinates, loader));
        // Last words wait for their reader.
        drop(supervisor);
        events.done(&accounts, last);
        outcome
    }
}

impl Read {
    /// Its devices as they are now. Of several modems, one whose devices are gone has one that no
    /// flow leaves by: without any, every device could be its.
    fn radio(&self, are_several: bool) -> Radio {
        let mut devices = self.devices.found().to_vec();
        if devices.is_empty() && are_several {
            devices.push(super::devices::Device::none());
        }
        Radio { place: self.reader.place, devices }
    }
}

/// What the outputs need of a modem: the congestion controls, and those that read it.
fn needs(config: &Config, modem: &str) -> Vec<Needs> {
    let asked = config.sections();
    let of_it = asked.iter().filter(|asked| asked.modem.as_deref().is_none_or(|of| of == modem));
    of_it.map(|asked| asked.section.needs()).collect()
}

/// Opens the modems. A port that does not open is an error, or waited for if another one does.
fn open(plans: &[ModemPlan]) -> Result<Vec<Opened>> {
    let opened: Vec<Opened> = plans.iter().map(Opened::open).collect::<Result<_>>()?;
    if opened.is_empty() || opened.iter().any(Opened::has_port) {
        return Ok(opened);
    }
    let absence = opened.into_iter().find_map(Opened::absence);
    absence.map_or_else(|| Ok(Vec::new()), Err)
}

fn name(plans: &[ModemPlan], events: &Events) {
    events.name_modems(plans.iter().map(|plan| plan.name.clone()).enumerate().collect());
}

/// Each modem's network devices: those that were named, or those of the port's own hardware.
fn find_devices(config: &mut Config, events: &mut Events) -> Result<Vec<Devices>> {
    let mut found = Vec::new();
    for plan in &config.modems {
        let is_named = !plan.interfaces.is_empty();
        let hardware = if is_named { None } else { Hardware::behind(&plan.source) };
        let own = || hardware.as_ref().map(Hardware::network_devices).unwrap_or_default();
        let devices = if is_named { plan.interfaces.clone() } else { own() };
        found.push((plan.name.clone(), devices, hardware));
    }
    config.counts_others |= found.iter().any(|(.., hardware)| hardware.is_some());
    config.find_devices(|plan| {
        let of_it = found.iter().find(|(name, ..)| *name == plan.name);
        of_it.map(|(_, devices, _)| devices.clone()).unwrap_or_default()
    });
    config.check_devices().into_diagnostic()?;
    for plan in config.modems.iter().filter(|plan| plan.interfaces.is_empty()) {
        events.about(Some(&plan.name));
        events.interfaces(&plan.devices);
    }
    events.about(None);
    Ok(found.into_iter().map(|(_, devices, hardware)| Devices::new(devices, hardware)).collect())
}
