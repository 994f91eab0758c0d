//! The daemon: modems, if there are any, and lists of outputs.
//!
//! ```text
//! start:  reports, files, sniffers, ports, outputs, priority, rights, ready
//! serve:  congestion controls, devices, events; in each modem's thread: bytes, sniffers,
//!         estimates, heartbeats, its outputs
//! stop:   in each modem's thread: log mask, rates, its outputs; congestion controls, last words
//! ```

mod reload;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use miette::{IntoDiagnostic, Result, WrapErr};
use sounding_host::{Wakefulness, monotonic_now, prefer_this_thread};
use sounding_units::HostInstant;

use super::How;
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
use reload::Coming;
pub(super) use reload::{Origin, read_config};

/// How often the main thread looks at flows' reports and at the modems' threads. None of them waits
/// for it.
const TICK: Duration = Duration::from_millis(5);

/// The same without a modem.
const SLOW_TICK: Duration = Duration::from_millis(20);

/// A modem's thread that did not turn for so long is stuck.
const STUCK: Duration = Duration::from_secs(1);

/// A modem that is read, and what the main thread knows of it.
pub(super) struct Read {
    pub(super) plan: ModemPlan,
    pub(super) devices: Devices,
    pub(super) reader: Reader,
    /// The values and names of the sections whose outputs its thread has.
    pub(super) sections: Vec<(String, String)>,
}

/// What a modem's thread starts with.
pub(super) struct Start {
    pub(super) place: usize,
    pub(super) plan: ModemPlan,
    pub(super) devices: Devices,
    pub(super) opened: Opened,
    pub(super) outputs: Outputs,
    pub(super) sections: Vec<(String, String)>,
}

/// A panic drops the fields in this order. It is that of [`stop`](Self::stop).
pub(super) struct Daemon {
    pub(super) modems: Vec<Read>,
    /// Modems that the configuration no longer has.
    pub(super) ending: Vec<Read>,
    /// Those that it has now.
    pub(super) coming: Vec<Coming>,
    /// The congestion controls.
    pub(super) outputs: Outputs,
    subordinates: Followed,
    supervisor: Supervisor,
    pub(super) events: Events,
    pub(super) loader: Option<Loader>,
    pub(super) awake: Option<Wakefulness>,
    /// Whether a modem was removed, so that its devices are no modem's.
    pub(super) has_fewer: bool,
    /// What is left to say of modems that have ended.
    pub(super) accounts: Vec<Account>,
    pub(super) last: LastWords,
    pub(super) config: Config,
    /// Where the configuration came from, if that can be read again.
    pub(super) origin: Option<Origin>,
    stop: Arc<AtomicBool>,
    hung_up: Arc<AtomicBool>,
}

impl Daemon {
    /// Starts step by step. An error in one ends it, and what the steps before it changed is
    /// restored.
    pub(super) fn start(mut config: Config, origin: Option<Origin>, how: &How) -> Result<Self> {
        let (stop, hung_up) = signals::daemon_flags().into_diagnostic()?;
        // Threads come first: they would inherit a real-time priority.
        let mut events = Events::new(how.json).into_diagnostic()?;
        if how.quiet {
            events.be_quiet();
        }
        let supervisor = Supervisor::find().into_diagnostic()?;
        let names: Vec<_> = config.modems.iter().map(|plan| plan.name.clone()).collect();
        events.name_modems(names.iter().cloned().enumerate().collect());
        // The ports before the outputs: a wrong device then leaves the kernel untouched.
        let opened = open(&config.modems)?;
        let devices = find_devices(&mut config, |_| None)?;
        for plan in config.modems.iter().filter(|plan| plan.interfaces.is_empty()) {
            events.about(Some(&plan.name));
            events.interfaces(&plan.devices);
        }
        events.about(None);

        let asked = config.sections();
        let algorithms: Vec<_> = asked
            .iter()
            .filter(|asked| asked.section.is_algorithm())
            .map(|asked| asked.section.name())
            .collect();
        events.fall_back_to(asked.iter().filter_map(|asked| asked.section.stock()));
        let sections: Vec<_> = asked
            .iter()
            .map(|asked| (asked.modem.clone(), reload::named(&asked.section)))
            .collect();
        let may_reload = origin.is_some();
        let begun = outputs::start(asked, &names, may_reload, monotonic_now(), &mut events)?;
        let Begun { names, algorithms: outputs, of_modems, subordinates, loader } = begun;

        let awake = cli_types::awake(min_latency(&config))?;
        let no_priority = prefer_this_thread().err();
        rights::drop_for_reading().wrap_err("capabilities cannot be dropped")?;

        let mut daemon = Self {
            modems: Vec::new(),
            ending: Vec::new(),
            coming: Vec::new(),
            outputs,
            subordinates,
            supervisor,
            events,
            loader,
            awake,
            has_fewer: false,
            accounts: Vec::new(),
            last: LastWords::default(),
            config,
            origin,
            stop,
            hung_up,
        };
        let plans = daemon.config.modems.clone();
        let each = plans.into_iter().zip(opened).zip(devices).zip(of_modems);
        for (place, (((plan, opened), devices), (_, outputs))) in each.enumerate() {
            let own = sections.iter().filter(|(modem, _)| modem.as_ref() == Some(&plan.name));
            let sections = own.map(|(_, section)| section.clone()).collect();
            daemon.start_modem(Start { place, plan, devices, opened, outputs, sections })?;
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

    /// Begins to read a modem.
    pub(super) fn start_modem(&mut self, start: Start) -> Result<()> {
        let Start { place, plan, devices, opened, outputs, sections } = start;
        let needs = needs(&self.config, &plan.name);
        let mut events = self.events.of_modem(&plan.name);
        let modem = Modem::new(opened, plan.clone(), self.config.base, &needs, &mut events)?;
        let reader = Reader::start(place, modem, outputs, events)?;
        self.modems.push(Read { plan, devices, reader, sections });
        Ok(())
    }

    /// Tells events the names of the modems that are read.
    pub(super) fn name_modems(&self) {
        let named = |read: &Read| (read.reader.place, read.plan.name.clone());
        self.events.name_modems(self.modems.iter().map(named).collect());
    }

    /// Goes on until `stop`; a port that closes is waited for.
    pub(super) fn serve(&mut self) -> Result<()> {
        while !self.stop.load(Ordering::Relaxed) {
            std::thread::sleep(if self.modems.is_empty() { SLOW_TICK } else { TICK });
            let now = monotonic_now();
            self.outputs.attend(now, &mut self.events);
            self.subordinates.attend(&mut self.events);
            // The devices first: the kernel then knows whose flows the parts are for.
            self.attend_devices(now);
            self.hand_out_parts();
            self.beat(now);
            if self.is_settled() && self.hung_up.swap(false, Ordering::Relaxed) {
                if self.origin.as_ref().is_none_or(Origin::has_lost_its_terminal) {
                    return Ok(());
                }
                self.reload();
            }
            self.attend_changes()?;
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
        let Self { modems, outputs, events, has_fewer, .. } = self;
        let mut moved = std::mem::take(has_fewer);
        let mut looked = moved || outputs.has_new();
        let mut found = Vec::new();
        for (at, read) in modems.iter_mut().enumerate() {
            events.about(Some(&read.plan.name));
            let Some(has_moved) = read.devices.attend(now, events) else { continue };
            (looked, moved) = (true, moved | has_moved);
            found.push((at, has_moved));
        }
        events.about(None);
        if looked {
            let radios: Vec<Radio> = modems.iter().map(Read::radio).collect();
            outputs.follow(&radios, moved, events);
        }
        // A modem's thread begins with this order: what follows the modem has been said by then.
        for (at, has_moved) in found {
            modems[at].reader.order(Order::Follow(modems[at].radio(), has_moved));
        }
    }

    /// Restores the modems and the machine, also where a port failed, and gives the first error.
    pub(super) fn stop(self, served: Result<()>) -> Result<()> {
        self.supervisor.stopping();
        let Self { mut modems, ending, mut accounts, mut last, .. } = self;
        let Self { mut outputs, subordinates, supervisor, mut events, loader, .. } = self;
        modems.iter_mut().for_each(|read| read.reader.handle_end());
        // Flows go on meanwhile.
        while ending.iter().chain(&modems).any(|read| !read.reader.has_ended()) {
            outputs.attend(monotonic_now(), &mut events);
            std::thread::sleep(TICK);
        }
        let mut outcome = served;
        for read in ending.into_iter().chain(modems) {
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
    /// Its devices as they are now.
    fn radio(&self) -> Radio {
        let (place, name) = (self.reader.place, self.plan.name.clone());
        Radio { place, name, devices: self.devices.found().to_vec() }
    }
}

/// What the outputs need of a modem: the congestion controls, and those that read it.
pub(super) fn needs(config: &Config, modem: &str) -> Vec<Needs> {
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

/// How long a processor may take to wake for any modem, if that is limited.
pub(super) fn min_latency(config: &Config) -> Option<Duration> {
    config.modems.iter().filter_map(|plan| plan.cpu_latency).min()
}

/// Each modem's network devices: those that are `known`, that were named, or of the port's own
/// hardware.
pub(super) fn find_devices(
    config: &mut Config,
    known: impl Fn(&ModemPlan) -> Option<Devices>,
) -> Result<Vec<Devices>> {
    let find = |plan: &ModemPlan| {
        let is_named = !plan.interfaces.is_empty();
        let hardware = if is_named { None } else { Hardware::behind(&plan.source) };
        let own = || hardware.as_ref().map(Hardware::network_devices).unwrap_or_default();
        let devices = if is_named { plan.interfaces.clone() } else { own() };
        Devices::new(devices, hardware)
    };
    let found: Vec<Devices> =
        config.modems.iter().map(|plan| known(plan).unwrap_or_else(|| find(plan))).collect();
    config.counts_others |= found.iter().any(Devices::have_hardware);
    for (plan, devices) in config.modems.iter_mut().zip(&found) {
        plan.devices = devices.found().iter().map(|device| device.name.clone()).collect();
        config.counts_others |= !plan.devices.is_empty();
    }
    config.check_devices().into_diagnostic()?;
    Ok(found)
}
