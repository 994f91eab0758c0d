//! `sounding run --copa`: Copa in the kernel, and what the radio added to packets from the modem's records, until Ctrl-C.

mod serve;

use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use miette::{IntoDiagnostic, Result, WrapErr, miette};
use sounding_bpf::{CopaInstance, MAX_RADIOS};
use sounding_diag::session::Wanted as Records;
use sounding_host::{Wakefulness, prefer_this_thread};
use sounding_kpi::Direction;
use sounding_modem::Pump;

use super::copa_plan::CopaPlan;
use super::events::Events;
use super::hardware::Hardware;
use super::peers::Hearing;
use super::steps;
use super::supervisor::Supervisor;
use crate::guard::Guard;
use crate::{cli_types, signals};
use serve::Modem;

/// The algorithm, and what was changed for it. A panic drops the fields in this order, which is that of the end.
struct Copa {
    modem: Option<Modem>,
    /// Devices that this machine sends to, if their reports are used.
    hearing: Option<Hearing>,
    instance: CopaInstance,
    guard: Guard,
    supervisor: Supervisor,
    events: Events,
    _awake: Option<Wakefulness>,
    stop: Arc<AtomicBool>,
}

/// Runs until an interrupt.
pub(super) fn run(wanted: CopaPlan, json: bool) -> Result<ExitCode> {
    let mut copa = Copa::start(wanted, json)?;
    let served = copa.serve();
    copa.stop(served)?;
    Ok(ExitCode::SUCCESS)
}

impl Copa {
    /// Starts step by step, as the daemon of the laws does.
    fn start(wanted: CopaPlan, json: bool) -> Result<Self> {
        let stop = signals::stop_flag().into_diagnostic()?;
        let mut events = Events::new(json, "plain Copa").into_diagnostic()?;
        let supervisor = Supervisor::find().into_diagnostic()?;
        if wanted.interfaces.len() > MAX_RADIOS {
            return Err(miette!("a modem has at most {MAX_RADIOS} network devices: --interface"));
        }
        // The port first: a wrong device then leaves the kernel untouched.
        let port = wanted.device.as_ref().map(steps::open_port).transpose()?;
        let mut instance = CopaInstance::load(&wanted.name).map_err(|error| {
            let cure = error.cure();
            miette!(help = cure, "{error}")
        })?;
        if wanted.peers.is_some() {
            instance.count_own_namespace();
        }
        let mut guard = Guard::start().into_diagnostic()?;
        guard.keep_name(instance.name(), instance.outlasting()).into_diagnostic()?;
        // Steps that may be refused come before those that change the machine.
        let hearing =
            wanted.peers.as_ref().map(|peers| Hearing::start(&instance, peers, &mut events));
        let hearing = hearing.transpose().wrap_err("peers are not heard")?;
        if wanted.default {
            guard.set_default(&wanted.name).into_diagnostic()?;
        }
        for route in &wanted.routes {
            guard.set_route(route, &wanted.name).into_diagnostic()?;
        }
        guard.close().into_diagnostic()?;
        let awake = cli_types::awake(wanted.cpu_latency)?;
        let no_priority = prefer_this_thread().err();
        steps::drop_rights()?;

        let mut modem = None;
        if let (Some(port), Some(source)) = (port, wanted.device) {
            let records = wanted.mask.then(|| Records {
                // Waits come first, because the budget takes from the end.
                codes: [Direction::Uplink, Direction::Downlink]
                    .into_iter()
                    .flat_map(sounding_kpi::codes)
                    .chain(sounding_kpi::rlc_codes())
                    .copied()
                    .collect(),
                budget_bytes_per_sec: wanted.budget.map(|rate| rate.bits_per_sec() / 8),
            });
            let mut names = wanted.interfaces;
            if names.is_empty() {
                let hardware = Hardware::behind(&source);
                names = hardware.as_ref().map(Hardware::network_devices).unwrap_or_default();
                events.interfaces(&names);
            }
            events.ready(&wanted.name, &source);
            let pump = Pump::over(source, port, records).setting_untold(wanted.sets_untold);
            modem = Some(Modem::new(pump, names));
        } else {
            events.serving_alone(&wanted.name);
        }
        supervisor.ready();
        if let Some(refused) = no_priority {
            events.no_priority(&refused);
        }
        Ok(Self { modem, hearing, instance, guard, supervisor, events, _awake: awake, stop })
    }

    /// Restores the modem and the machine, also where the port failed, and gives the first error.
    fn stop(mut self, served: Result<()>) -> Result<()> {
        self.supervisor.stopping();
        let outcome = served.and(self.put_back());
        let begun = self.instance.begun();
        let counts = self.modem.as_ref().map(Modem::counts).unwrap_or_default();
        let switched_off = self.modem.as_ref().map(Modem::switched_off).unwrap_or_default();
        drop(self.modem);
        let disbelieved = self.hearing.map(Hearing::end);
        drop(self.instance);
        drop((self.guard, self.supervisor));
        self.events.connections(begun);
        self.events.done(&counts, &switched_off, disbelieved, Vec::new());
        outcome
    }
}
