//! Runs one flow of this kernel over a radio link, with a daemon and the link's modem if the flow
//! needs them.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use sounding_emu::{Config, Direction, Emulation, Report};
use sounding_laws::RadioController;
use sounding_modem::{Pty, Replay, ReplaySchedule};
use sounding_sim::PathConfig;
use sounding_trace::Steps;
use sounding_units::{HostInstant, Rate};
use thiserror::Error;

use crate::daemon::{Daemon, DaemonError, law_flags};
use crate::flow::{FlowError, TcpFlow, TcpResult};
use crate::radio::RadioLink;

/// Settings of a flow's run.
#[derive(Clone, Debug)]
pub struct FlowSetup {
    /// One-way propagation delay of either direction.
    pub delay: Duration,
    /// Duration of each flow.
    pub duration: Duration,
    /// Additional flags for the daemon, for instance `--method formula`.
    pub flags: Vec<String>,
    /// The program that is run as daemon.
    pub program: PathBuf,
    /// Part of the algorithm's name in the kernel, so that parallel runs have different names.
    pub tag: String,
}

/// The sender.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sender {
    /// A congestion control of this kernel.
    Kernel(String),
    /// A law of this project, fed by a daemon that reads the link's modem.
    Fed(RadioController),
}

impl Sender {
    /// The sender with this name: a controller that uses a modem, or a congestion control of the
    /// kernel.
    pub fn by_name(name: &str) -> Self {
        RadioController::by_name(name).map_or_else(|| Self::Kernel(name.into()), Self::Fed)
    }

    /// The name in tables.
    pub fn name(&self) -> &str {
        match self {
            Self::Kernel(name) => name,
            Self::Fed(listener) => listener.name,
        }
    }
}

/// The result of one run.
#[derive(Debug)]
pub struct FlowRun {
    /// The sender.
    pub name: String,
    /// The emulator's report, with all packet records.
    pub report: Report,
    /// The sender's result.
    pub flow: TcpResult,
    /// The daemon's events, if there was one.
    pub events: Vec<serde_json::Value>,
}

/// Why a run failed.
#[derive(Debug, Error)]
pub enum KernelRunError {
    /// The emulated link does not start.
    #[error(transparent)]
    Start(#[from] sounding_emu::StartError),
    /// The emulated link broke.
    #[error(transparent)]
    Stop(#[from] sounding_emu::StopError),
    /// The flow failed.
    #[error(transparent)]
    Flow(#[from] FlowError),
    /// The daemon failed.
    #[error(transparent)]
    Daemon(#[from] DaemonError),
    /// There is no pty for the modem.
    #[error("no pty for the modem: {0}")]
    Pty(#[source] std::io::Error),
    /// The modem has no thread.
    #[error("a thread for the modem: {0}")]
    Thread(#[source] std::io::Error),
    /// The modem's pty broke.
    #[error("the modem's pty: {0}")]
    Replay(#[source] std::io::Error),
}

/// The flow begins this long after the link, as the modem's first reports arrive.
pub const HEAD_START: Duration = Duration::from_millis(300);

/// Runs one flow over the link, with the link's modem on a pty if the sender reads one.
pub fn run(
    link: &RadioLink,
    sender: &Sender,
    setup: &FlowSetup,
) -> Result<FlowRun, KernelRunError> {
    // The return path is wide, so that acknowledgements have no effect.
    let back = Steps::constant(Rate::from_bits_per_sec(100_000_000));
    let up = PathConfig { delay: setup.delay, ..PathConfig::new(link.offered.clone()) };
    let down = PathConfig { delay: setup.delay, ..PathConfig::new(back) };
    let config = Config { record: true, ..Config::new(up, down) };

    let name = match sender {
        Sender::Kernel(name) => name.clone(),
        // Not after the law, whose name leaves too little of the 15 letters.
        Sender::Fed(_) => format!("lab{}", setup.tag),
    };
    let flow = TcpFlow {
        congestion: Some(name.clone()),
        duration: Some(setup.duration),
        ..TcpFlow::new(Direction::Uplink)
    };
    let Sender::Fed(listener) = sender else {
        let emulation = Emulation::start(config)?;
        let flow = send(&emulation, flow)?;
        return Ok(FlowRun { name, report: emulation.stop()?, flow, events: Vec::new() });
    };

    let pty = Pty::create(None).map_err(KernelRunError::Pty)?;
    let daemon = start_daemon(pty.path(), &name, *listener, setup)?;
    let schedule = ReplaySchedule::since(&link.capture, link.begin);
    let mut replay = Replay::new(&link.capture, schedule, pty, 1.0);
    let stop = Arc::new(AtomicBool::new(false));
    let emulation = Emulation::start(config)?;
    let begin = emulation.started();
    let (flow, replayed) = std::thread::scope(|scope| {
        let modem = std::thread::Builder::new()
            .spawn_scoped(scope, || replay.run(begin, &stop, |_| {}))
            .map_err(KernelRunError::Thread)?;
        let flow = send(&emulation, flow);
        stop.store(true, Ordering::Relaxed);
        Ok::<_, KernelRunError>((flow, modem.join().expect("the replay does not panic")))
    })?;
    replayed.map_err(KernelRunError::Replay)?;
    let report = emulation.stop()?;
    Ok(FlowRun { name: sender.name().into(), report, flow: flow?, events: daemon.stop() })
}

fn start_daemon(
    device: &Path,
    name: &str,
    listener: RadioController,
    setup: &FlowSetup,
) -> Result<Daemon, DaemonError> {
    // The link is made from the grants: here they are its capacity by construction.
    let mut flags = vec!["--direction", "uplink", "--bound", "capacity"];
    flags.extend(law_flags(listener));
    flags.extend(setup.flags.iter().map(String::as_str));
    Daemon::start(&setup.program, device, name, &flags)
}

fn send(emulation: &Emulation, flow: TcpFlow) -> Result<TcpResult, FlowError> {
    let at: HostInstant = emulation.started() + HEAD_START;
    TcpFlow { connect_at: Some(at), ..flow }.start(emulation)?.wait()
}
