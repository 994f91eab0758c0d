//! A plan in real time: its network between namespaces, its modems on ports that speak Diag, its
//! flows in this kernel.

mod daemons;
mod figures;
mod flows;
mod modems;
mod sniffer;
mod trial;
mod whole;

use std::io;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

use sounding_emu::{Config, Emulation, Report, Slot, StartError, StopError, Tap};
use sounding_experiment::plan::{self, Actors, Built, Run, Wrong};
use sounding_modem::{Behaviour, Place};
use sounding_sim::{Device, Reading};
use thiserror::Error;

pub use figures::{FlowFigures, figures};
pub use flows::Sent;
pub use modems::{ModemPort, Served};
pub use trial::{granted, handovers, load};
pub use whole::whole;

use crate::daemon::DaemonError;
use crate::flow::FlowError;
use daemons::Daemons;
use flows::Shape;
use sniffer::SnifferLogs;

/// Default CPU time of the emulator for punctuality, in percent of a core.
pub const PUNCTUALITY_PERCENT: u8 = 10;

/// Settings of an emulation besides the plan.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The users of the network.
    pub users: Users,
    /// Port of the first modem; the others are on ptys, or on separate ports.
    pub place: Place,
    /// Behaviour of the modems.
    pub behaviour: Behaviour,
    /// Percent of a core for punctuality.
    pub overhead_percent: u8,
    /// Where the logs of the plan's sniffer grow, as `sounding sim --out` names them; without it,
    /// in a folder that goes with the emulation, where a device reads them.
    pub sniffer: Option<PathBuf>,
    /// Settings for all namespaces, as `net.ipv4.ip_forward` and its value.
    pub sysctls: Vec<(String, String)>,
}

impl Settings {
    /// Of the plan's flows, with this program as daemon. Modems are on ptys and behave well.
    pub fn flows(program: impl Into<PathBuf>) -> Self {
        Self {
            users: Users::Flows { program: program.into() },
            place: Place::Pty(None),
            behaviour: Behaviour::default(),
            overhead_percent: PUNCTUALITY_PERCENT,
            sniffer: None,
            sysctls: Vec::new(),
        }
    }
}

/// The users of the network.
#[derive(Clone, Debug)]
pub enum Users {
    /// The plan's flows. BISCAY and `sounding` take a daemon for each modem: this program's `run`.
    Flows {
        /// The program that is run as daemon.
        program: PathBuf,
    },
    /// A program in the namespace of the first device.
    Guest,
}

/// Why a plan is not emulated.
#[derive(Debug, Error)]
pub enum EmulateError {
    /// The plan has a value that a kernel cannot apply.
    #[error(transparent)]
    Plan(#[from] Wrong),
    /// There is no port for a modem.
    #[error("no port for the modem of {device}: {source}: is its name taken?")]
    Modem {
        /// The device.
        device: String,
        /// The system's error.
        source: io::Error,
    },
    /// The sniffer's logs are not written.
    #[error("the logs of the sniffer: {0}")]
    Sniffer(io::Error),
    /// The daemon does not run.
    #[error("the daemon at the modem of {device}: {source}")]
    Daemon {
        /// The device.
        device: String,
        /// Why.
        source: DaemonError,
    },
    /// The emulation does not start.
    #[error(transparent)]
    Start(#[from] StartError),
    /// A flow failed.
    #[error("flow {name}: {source}")]
    Flow {
        /// The name.
        name: String,
        /// Why.
        source: FlowError,
    },
    /// The emulation broke.
    #[error(transparent)]
    Stop(#[from] StopError),
}

/// A plan that is being emulated. Dropping it ends it and removes all its resources.
#[derive(Debug)]
pub struct Emulated {
    // In the order in which they end: first the readers of modems, then their writers.
    daemons: Daemons,
    emulation: Emulation,
    modems: Vec<ModemPort>,
    sniffer: Option<SnifferLogs>,
    shapes: Vec<Shape>,
}

/// The result.
#[derive(Debug)]
pub struct Ended {
    /// The emulator's report.
    pub report: Report,
    /// Counts of the modems' records.
    pub modems: Vec<Served>,
    /// The daemons' events, by the name of the device.
    pub daemons: Vec<(String, Vec<serde_json::Value>)>,
}

impl Emulated {
    /// Starts the network, the modems and the daemons; its time begins before this returns.
    pub fn start(run: &Run, settings: &Settings) -> Result<Self, EmulateError> {
        // Before unused ports and daemons are made.
        sounding_emu::refuse_inside()?;
        plan::refuse_shapers(&run.plan)?;
        let actors = Actors::new(&run.plan)?;
        let with_flows = matches!(settings.users, Users::Flows { .. });
        let shapes = if with_flows { flows::shapes(run, &actors)? } else { Vec::new() };
        let mut network: Built<Slot> = plan::network(&run.plan, &run.folder, run.seed)?;
        // The port determines which records wait in a modem, and for how long.
        network.read_modems(Reading::AT_ONCE);
        let hosts = match settings.users {
            Users::Flows { .. } => actors.busy(),
            Users::Guest => vec![Device(0)],
        };

        let (modems, feeds) = modems::open(&network.listened(), &actors, settings)?;
        let sniffer = match reads_sniffer(&run.plan) || settings.sniffer.is_some() {
            true => Some(SnifferLogs::start(run, settings.sniffer.as_deref())),
            false => None,
        };
        let sniffer = sniffer.transpose().map_err(EmulateError::Sniffer)?;
        let daemons = match &settings.users {
            Users::Flows { program } => {
                daemons::start(program, run, &actors, &modems, sniffer.as_ref())?
            }
            Users::Guest => Daemons::default(),
        };
        let mut config = Config::over(network, hosts);
        config.record = with_flows;
        config.sysctls.clone_from(&settings.sysctls);
        config.realtime.overhead_percent = settings.overhead_percent;
        config.tap = Some(Tap::new(move |diag| {
            feeds
                .iter()
                .find(|(device, _)| *device == diag.device)
                .is_none_or(|(_, feed)| feed.send(diag.at, diag.bytes))
        }));
        config.sniffer = sniffer.as_ref().and_then(SnifferLogs::tap);
        let emulation = Emulation::start(config)?;
        Ok(Self { daemons, emulation, modems, sniffer, shapes })
    }

    /// The network, and the namespaces at its ends.
    pub fn emulation(&self) -> &Emulation {
        &self.emulation
    }

    /// The modems' ports.
    pub fn modems(&self) -> &[ModemPort] {
        &self.modems
    }

    /// Runs the plan's flows until they end or `stop` rises. Returns the result of each.
    pub fn send(&self, stop: &AtomicBool) -> Result<Vec<Sent>, EmulateError> {
        flows::run(self, stop)
    }

    /// Ends it.
    pub fn stop(self) -> Result<Ended, EmulateError> {
        let Self { daemons, emulation, modems, sniffer, .. } = self;
        let daemons = daemons.stop();
        let report = emulation.stop()?;
        // Its lines end with the emulation.
        drop(sniffer);
        let modems = modems.into_iter().map(ModemPort::stop).collect();
        Ok(Ended { report, modems, daemons })
    }
}

/// Whether a device's host is to read the plan's sniffer.
fn reads_sniffer(plan: &plan::Plan) -> bool {
    let devices = plan.cell.iter().flat_map(|cell| &cell.devices);
    devices.filter_map(|device| device.modem).any(|modem| modem.on && modem.sniffer)
}

/// The plan's entry of a device.
fn entry(plan: &plan::Plan, device: Device) -> Option<&plan::DevicePlan> {
    let mut first = 0;
    let devices = &plan.cell.as_ref()?.devices;
    devices.iter().find(|entry| {
        first += entry.count;
        device.0 < first
    })
}
