//! A video call of an unmodified WebRTC stack from a plan's first device to a receiver behind its cell, in real time.
//!
//! The device's modem reports the radio's own delays to the receiver, over the bytes of its Diag port. The network's own account of
//! each packet is kept for judges, and neither end knows it.

mod bridge;
mod processes;
mod seen;
mod witness;

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use sounding_emu::{Config, Emulation, EnterError, Slot, StartError, StopError, Tap};
use sounding_experiment::plan::{Built, Run, Wrong, network};
use sounding_sim::Device;
use thiserror::Error;

pub use processes::may_call;
pub use seen::{CallSeen, FrameSeen, PacketSeen, StatsSeen, falls};
pub use witness::Waited;

use bridge::Bridge;
use processes::Programs;
use witness::Witness;

/// The receiver's source of corrected arrivals.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Corrected {
    /// None: a call as it is.
    Stock,
    /// The mean delay of 10 ms, without a modem.
    Blind,
    /// By the device's modem.
    Reported,
}

impl Corrected {
    /// Its name for the receiver, and in tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Stock => "stock",
            Self::Blind => "blind",
            Self::Reported => "reported",
        }
    }
}

/// A call.
#[derive(Clone, Debug)]
pub struct CallConfig {
    /// The receiver, `sounding-rtc-peer`.
    pub peer: PathBuf,
    /// The folder of the sender, `crates/rtc/call`, with its packages.
    pub caller: PathBuf,
    /// Corrections.
    pub corrected: Corrected,
    /// Its length.
    pub length: Duration,
    /// From then on the modem is silent; counted from the network's start.
    pub modem_dies: Option<Duration>,
    /// The most that the sender encodes, kbit/s.
    pub most_kbit: Option<u32>,
}

/// Why there is no call.
#[derive(Debug, Error)]
pub enum CallError {
    /// The plan has no such network.
    #[error("{}: {}", .0.key, .0.message)]
    Plan(Wrong),
    /// The emulation does not start.
    #[error(transparent)]
    Start(#[from] StartError),
    /// The emulation broke.
    #[error(transparent)]
    Stop(#[from] StopError),
    /// A thread does not reach a namespace.
    #[error(transparent)]
    Enter(#[from] EnterError),
    /// A program does not start.
    #[error("{program}: {source}")]
    Program {
        /// It.
        program: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// A program failed, or did not end.
    #[error("{program}: {said}")]
    Failed {
        /// It.
        program: PathBuf,
        /// What it wrote to standard error, or what became of it.
        said: String,
    },
    /// A file of the call's own.
    #[error("the call's files: {0}")]
    File(#[from] io::Error),
}

/// Makes a call over a plan's network. No process of it is left when this returns.
///
/// # Errors
///
/// [`CallError`].
pub fn call(run: &Run, config: &CallConfig) -> Result<CallSeen, CallError> {
    let folder = tempfile::tempdir()?;
    let mut built: Built<Slot> =
        network(&run.plan, &run.folder, run.seed).map_err(CallError::Plan)?;
    built.show(&[Device(0)], false);
    let (witness, account) = Witness::new(built);
    let (feed, diag) = std::sync::mpsc::sync_channel(4_096);
    let mut emulated = Config::over(witness, vec![Device(0)]);
    emulated.tap = Some(Tap::new(move |diag| feed.try_send((diag.at, diag.bytes)).is_ok()));
    let emulation = Emulation::start(emulated)?;
    let started = emulation.started();
    let mut programs = Programs::start(&emulation, config, folder.path())?;
    let bridge = match config.corrected {
        Corrected::Reported => {
            let dies = config.modem_dies.map(|dies| started + dies);
            Some(Bridge::start(diag, &programs.socket(), dies)?)
        }
        Corrected::Stock | Corrected::Blind => None,
    };
    let ended = programs.wait(config.length + Duration::from_secs(40));
    // Its input ends with the emulation.
    let report = emulation.stop();
    let heard = bridge.map(Bridge::end);
    let said = ended?;
    report?;
    let log = std::fs::read_to_string(folder.path().join("log"))?;
    let waited = account.take(started);
    Ok(CallSeen::of(started, &said, &log, waited, heard.flatten()))
}
