//! The daemons that feed BISCAY, one for each modem and way that a flow of the plan needs.

use std::path::Path;

use serde_json::Value as Json;
use sounding_kpi::Direction;
use sounding_link::Method;
use sounding_sim::{Device, Port};

use super::modems::ModemPort;
use super::{EmulateError, Wrong};
use crate::daemon::Daemon;
use crate::plan::{Actors, Plan, Run};

/// The controller in plans that a daemon feeds.
pub(super) const BISCAY: &str = "biscay";

/// Running daemons.
#[derive(Debug, Default)]
pub(super) struct Daemons(Vec<(Port, String, Daemon)>);

/// Starts them.
pub(super) fn start(
    program: &Path,
    run: &Run,
    actors: &Actors,
    modems: &[ModemPort],
) -> Result<Daemons, EmulateError> {
    let mut daemons = Daemons::default();
    for flow in &actors.flows {
        let is_biscay = run.plan.flows[flow.plan].controller == BISCAY;
        if !is_biscay || daemons.0.iter().any(|(port, ..)| *port == flow.port) {
            continue;
        }
        let device = actors.name_of(flow.port.device);
        let Some(modem) = modems.iter().find(|modem| modem.device == flow.port.device) else {
            let key = format!("flows.{}.controller", flow.plan);
            let message = format!("biscay reads a modem, and {device} has none: add modem = {{}}");
            return Err(Wrong::new(key, message).into());
        };
        let name = format!("{BISCAY}{}_{}", std::process::id() % 100_000, daemons.0.len());
        let mut flags = vec!["--direction", way(flow.port.direction)];
        if method(&run.plan, flow.port.device) == Some(Method::Formula) {
            flags.extend(["--method", "formula"]);
        }
        let daemon = Daemon::start(program, Path::new(&modem.source), &name, &flags)
            .map_err(|source| EmulateError::Daemon { device, source })?;
        daemons.0.push((flow.port, name, daemon));
    }
    Ok(daemons)
}

fn way(direction: Direction) -> &'static str {
    match direction {
        Direction::Uplink => "uplink",
        Direction::Downlink => "downlink",
    }
}

/// How the plan has a device's granted bytes counted.
fn method(plan: &Plan, device: Device) -> Option<Method> {
    let mut first = 0;
    let devices = &plan.cell.as_ref()?.devices;
    let entry = devices.iter().find(|entry| {
        first += entry.count;
        device.0 < first
    })?;
    entry.modem.map(|modem| modem.method)
}

impl Daemons {
    /// What the kernel calls the algorithm that is fed for a port.
    pub(super) fn name_for(&self, port: Port) -> Option<&str> {
        self.0.iter().find(|(known, ..)| *known == port).map(|(_, name, _)| name.as_str())
    }

    /// Ends them; what each said, by its name in the kernel.
    pub(super) fn stop(self) -> Vec<(String, Vec<Json>)> {
        self.0.into_iter().map(|(_, name, daemon)| (name, daemon.stop())).collect()
    }
}
