//! The daemons that feed the laws, one for each modem, way and law that a flow of the plan needs.

use std::path::Path;

use serde_json::Value as Json;
use sounding_experiment::plan::{Actors, Run};
use sounding_kpi::Direction;
use sounding_laws::RadioController;
use sounding_link::Source;
use sounding_sim::Port;

use super::modems::ModemPort;
use super::sniffer::SnifferLogs;
use super::{EmulateError, Wrong};
use crate::daemon::{Daemon, law_flags};

/// Running daemons.
#[derive(Debug, Default)]
pub(super) struct Daemons(Vec<Fed>);

#[derive(Debug)]
struct Fed {
    port: Port,
    listener: RadioController,
    /// Its name in the kernel.
    name: String,
    daemon: Daemon,
}

/// Starts them.
pub(super) fn start(
    program: &Path,
    run: &Run,
    actors: &Actors,
    modems: &[ModemPort],
    sniffer: Option<&SnifferLogs>,
) -> Result<Daemons, EmulateError> {
    let mut daemons = Daemons::default();
    for flow in &actors.flows {
        let controller = &run.plan.flows[flow.plan].controller;
        let Some(listener) = RadioController::by_name(controller.name()) else { continue };
        if daemons.name_for(flow.port, listener).is_some() {
            continue;
        }
        let device = actors.name_of(flow.port.device);
        let Some(modem) = modems.iter().find(|modem| modem.device == flow.port.device) else {
            let key = format!("flows.{}.controller", flow.plan);
            let message =
                format!("{controller} reads a modem, and {device} has none: add modem = {{}}");
            return Err(Wrong::new(key, message).into());
        };
        let law = listener.law.kernel_name();
        // The kernel's names have 15 letters.
        let name = format!("{law:.8}{}_{}", std::process::id() % 10_000, daemons.0.len());
        let mut flags = vec!["--direction", way(flow.port.direction)];
        flags.extend(law_flags(listener));
        let plan = super::entry(&run.plan, flow.port.device).and_then(|entry| entry.modem);
        let method = plan.and_then(|modem| modem.method).map(|method| method.to_string());
        flags.extend(method.iter().flat_map(|method| ["--method", method]));
        let listens = plan.is_some_and(|modem| {
            modem.sniffer && modem.method.is_some_and(|method| Source::from(method) == Source::Cell)
        });
        let sources = sniffer
            .filter(|_| listens)
            .map(|sniffer| sniffer.sources(&run.plan, flow.port.device, flow.port.direction));
        let sources = sources.unwrap_or_default();
        flags.extend(sources.iter().flat_map(|source| ["--sniffer", source]));
        let daemon = Daemon::start(program, Path::new(&modem.source), &name, &flags)
            .map_err(|source| EmulateError::Daemon { device, source })?;
        daemons.0.push(Fed { port: flow.port, listener, name, daemon });
    }
    Ok(daemons)
}

fn way(direction: Direction) -> &'static str {
    match direction {
        Direction::Uplink => "uplink",
        Direction::Downlink => "downlink",
    }
}

impl Daemons {
    /// The kernel's name of a law that is fed for a port.
    pub(super) fn name_for(&self, port: Port, listener: RadioController) -> Option<&str> {
        let found = self.0.iter().find(|fed| fed.port == port && fed.listener == listener);
        found.map(|fed| fed.name.as_str())
    }

    /// Ends them. Returns the events of each, by its name in the kernel.
    pub(super) fn stop(self) -> Vec<(String, Vec<Json>)> {
        self.0.into_iter().map(|fed| (fed.name, fed.daemon.stop())).collect()
    }
}
