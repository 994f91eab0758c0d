//! The daemon of a modem: how it starts, and how it restores the machine.
//!
//! ```text
//! start:  reports, rates, sniffers, hardware, port, board, law, guard, peers, downlink, new flows, rights, ready, session
//! serve:  bytes, sniffers, heartbeat, estimate, devices, events
//! stop:   session, rates, devices, downlink, peers, law, guard, last words
//! ```

mod serve;

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use miette::{IntoDiagnostic, Result};
use sounding_bpf::Instance;
use sounding_host::{Wakefulness, monotonic_now, prefer_this_thread};
use sounding_link::Sounder;
use sounding_modem::{Pump, Source};
use sounding_units::HostInstant;

use super::config::Config;
use super::downlink::Receiving;
use super::events::Events;
use super::foreign_flows::Others;
use super::peers::Hearing;
use super::posts::Posts;
use super::sleep::Sleep;
use super::sniffers::Sniffers;
use super::steps;
use super::subordinates::Watched;
use super::supervisor::Supervisor;
use crate::cqi_rates::Store;
use crate::guard::Guard;
use crate::{cli_types, signals};

/// A modem that is read, a law in the kernel, and what was changed for both.
///
/// A panic drops the fields in this order. It is that of [`stop`](Self::stop): the programs, and then what points to them by
/// name.
pub(super) struct Daemon {
    pump: Pump,
    others: Others,
    /// The downlink, if senders are limited to it.
    receiving: Option<Receiving>,
    /// Devices that this machine sends to, if their reports are used.
    hearing: Option<Hearing>,
    subordinates: Watched,
    instance: Instance,
    guard: Guard,
    supervisor: Supervisor,
    events: Events,
    posts: Option<Posts>,
    _awake: Option<Wakefulness>,
    sounder: Sounder,
    sniffers: Sniffers,
    /// What is learnt of cells' rates by CQI, if that is kept.
    rates: Option<Store>,
    /// When the last estimate was published.
    published: HostInstant,
    /// When the last heartbeat was.
    beaten: Option<HostInstant>,
    sleep: Sleep,
    stop: Arc<AtomicBool>,
}

impl Daemon {
    /// Starts step by step. An error in one ends it, and what the steps before it changed is restored.
    pub(super) fn start(mut config: Config, device: Source, json: bool) -> Result<Self> {
        let stop = signals::stop_flag().into_diagnostic()?;
        let (mut events, supervisor) = steps::start_reports(&config, json)?;
        let (rates, known) = steps::open_rates(&config)?;
        let sniffers = steps::start_sniffers(&config)?;
        let hardware = steps::find_hardware(&mut config, &device);
        steps::limit_interfaces(&config)?;

        // The port first: a wrong device then leaves the kernel untouched.
        let port = steps::open_port(&device)?;
        steps::name_interfaces(&mut config, hardware.as_ref(), &mut events);
        let posts = steps::open_board(&config)?;
        let wanted = steps::list_records(&config, posts.as_ref());

        let mut instance = steps::load_law(&config)?;
        let mut guard = steps::start_guard(&instance)?;
        // Steps that may be refused come before those that change the machine.
        let hearing = config.downlink.listen(&mut instance, &mut events)?;
        let mut receiving = config.downlink.start(&mut guard, &mut events)?;
        let downlink = receiving.as_ref().map(Receiving::subordinates);
        let maps = [Some(instance.subordinates()), downlink].into_iter().flatten();
        let subordinates = steps::follow_subordinates(maps, &mut events)?;
        steps::take_new_flows(&config, &mut guard)?;

        let awake = cli_types::awake(config.cpu_latency)?;
        let no_priority = prefer_this_thread().err();
        steps::drop_rights()?;

        // The devices first: a reader of events may end the daemon once that is ready.
        let opened = monotonic_now();
        let mut sounder = Sounder::new(config.told());
        if receiving.is_some() {
            sounder = sounder.beside(config.told_of_downlink()).with_delays();
        }
        sounder.keep_rates(known);
        let mut others = Others::new(config.interfaces, hardware);
        others.attend(opened, &mut instance, receiving.as_mut(), &mut events);
        events.ready(&config.name, &device);
        supervisor.ready();
        if let Some(refused) = no_priority {
            // A heartbeat that waits behind a build sends all flows to BBR.
            events.no_priority(&refused);
        }
        let pump = Pump::over(device, port, wanted).setting_untold(config.sets_untold);

        Ok(Self {
            pump,
            others,
            receiving,
            hearing,
            subordinates,
            instance,
            guard,
            supervisor,
            events,
            posts,
            _awake: awake,
            sounder,
            sniffers,
            rates,
            published: HostInstant::default(),
            beaten: None,
            sleep: Sleep::default(),
            stop,
        })
    }

    /// Restores the modem and the machine, also where the port failed, and gives the first error.
    pub(super) fn stop(mut self, served: Result<()>) -> Result<()> {
        self.supervisor.stopping();
        let outcome = served.and(self.put_back());
        self.keep_rates();
        drop(self.others);
        // The programs first, then what points to them by name; last words wait for their reader, so they come last.
        drop(self.receiving);
        let disbelieved = self.hearing.map(Hearing::end);
        drop((self.subordinates, self.instance));
        drop((self.guard, self.supervisor));
        let sniffed = self.sniffers.counts();
        self.events.done(&self.sounder.counts(), self.pump.switched_off(), disbelieved, sniffed);
        outcome
    }
}
