//! The daemons that feed the laws, one for each modem, way and law that a flow of the plan needs.

use std::path::Path;

use serde_json::Value as Json;
use sounding_cc::RadioController;
use sounding_experiment::plan::{Actors, Plan, Run};
use sounding_kpi::Direction;
use sounding_link::Method;
use sounding_sim::{Device, Port};

use super::modems::ModemPort;
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
        let law = listener.law.name();
        // The kernel's names have 15 letters.
        let name = format!("{law:.8}{}_{}", std::process::id() % 10_000, daemons.0.len());
        let mut flags = vec!["--direction", way(flow.port.direction)];
        flags.extend(law_flags(listener));
        if method(&run.plan, flow.port.device) == Some(Method::Formula) {
            flags.extend(["--method", "formula"]);
        }
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

/// The plan's method for a device, if it sets one.
fn method(plan: &Plan, device: Device) -> Option<Method> {
    let mut first = 0;
    let devices = &plan.cell.as_ref()?.devices;
    let entry = devices.iter().find(|entry| {
        first += entry.count;
        device.0 < first
    })?;
    entry.modem.and_then(|modem| modem.method)
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
