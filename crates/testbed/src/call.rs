//! A video call of an unmodified WebRTC stack between a plan's first device and an end behind its
//! cell, in real time.
//!
//! The device's modem reports the radio's own delays over the bytes of its Diag port: to the
//! receiver of an uplink, or to a program in the device's kernel, before a receiver that is
//! unmodified too. The network's own account of each packet is kept for judges, and neither end
//! knows it.

mod bridge;
mod processes;
mod seen;
mod witness;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::mpsc::Receiver;
use std::time::Duration;

use sounding_bpf::ArrivalsError;

use sounding_emu::{Config, Emulation, EnterError, Slot, StartError, StopError, Tap};
use sounding_experiment::plan::{Built, Run, Wrong, network};
use sounding_kpi::Direction;
use sounding_sim::Device;
use sounding_units::HostInstant;
use thiserror::Error;

pub use seen::{CallSeen, FrameSeen, PacketSeen, StatsSeen, falls, queues_before};
pub use sounding_rtc::caller::prepare as may_call;
pub use witness::Waited;

use bridge::{Bridge, Corrector, Noted};
use processes::{Ends, Programs};
use witness::Witness;

/// The receiver's source of corrected arrivals.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Corrected {
    /// None: an unmodified call.
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
    /// What is common to calls of both directions.
    pub media: Media,
}

/// What is sent, and how long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Media {
    /// Length of the call.
    pub length: Duration,
    /// From then on the modem is silent; counted from the network's start.
    pub modem_dies: Option<Duration>,
    /// The most that the sender encodes, kbit/s; by default what the stack chooses.
    pub most_kbit: Option<u32>,
    /// The size of the pictures. A source never has larger ones.
    pub size: Size,
}

/// The size of a call's pictures.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Size {
    /// 640 × 360.
    #[default]
    P360,
    /// 1280 × 720.
    P720,
}

impl Size {
    /// Its pixels.
    pub const fn pixels(self) -> [u32; 2] {
        match self {
            Self::P360 => [640, 360],
            Self::P720 => [1280, 720],
        }
    }

    /// The most that libwebrtc encodes by default for a stream of this size, kbit/s (M106,
    /// `GetMaxDefaultVideoBitrateKbps`).
    pub const fn most_kbit(self) -> u32 {
        match self {
            Self::P360 => 1_700,
            Self::P720 => 2_500,
        }
    }
}

impl Media {
    /// Of this length, as the stack sends it.
    pub const fn of(length: Duration) -> Self {
        Self { length, modem_dies: None, most_kbit: None, size: Size::P360 }
    }

    fn flags(&self) -> Vec<String> {
        let [width, height] = self.size.pixels();
        let mut flags = vec!["--width".into(), width.to_string()];
        flags.extend(["--height".into(), height.to_string()]);
        if let Some(kbit) = self.most_kbit {
            flags.extend(["--max-kbit".into(), kbit.to_string()]);
        }
        flags
    }

    /// A call that takes longer does not end.
    fn patience(&self) -> Duration {
        self.length + Duration::from_secs(40)
    }
}

/// Why there is no call.
#[derive(Debug, Error)]
pub enum CallError {
    /// The plan has no such network.
    #[error(transparent)]
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
    /// Arrivals are not corrected.
    #[error(transparent)]
    Arrivals(ArrivalsError),
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

/// What a modem's port gives, and when.
type ModemBytes = Receiver<(HostInstant, Vec<u8>)>;

/// Starts a plan's network, whose first device's modem is read.
fn emulate(
    run: &Run,
    direction: Direction,
) -> Result<(Emulation, witness::Account, ModemBytes), CallError> {
    let mut built: Built<Slot> =
        network(&run.plan, &run.folder, run.seed).map_err(CallError::Plan)?;
    built.show(&[Device(0)], false);
    let (witness, account) = Witness::new(built, direction);
    let (feed, diag) = std::sync::mpsc::sync_channel(4_096);
    let mut emulated = Config::over(witness, vec![Device(0)]);
    emulated.tap = Some(Tap::new(move |diag| feed.try_send((diag.at, diag.bytes)).is_ok()));
    Ok((Emulation::start(emulated)?, account, diag))
}

/// Makes a call from a plan's device. No process of it is left when this returns.
///
/// # Errors
///
/// [`CallError`].
pub fn call(run: &Run, config: &CallConfig) -> Result<CallSeen, CallError> {
    let folder = tempfile::tempdir()?;
    let (emulation, account, diag) = emulate(run, Direction::Uplink)?;
    let started = emulation.started();
    let ends = Ends {
        receiver: emulation.far(),
        program: &config.peer,
        words: vec!["--corrections".into(), config.corrected.name().into()],
        sender: emulation.near(),
        caller: &config.caller,
        address: emulation.far_address(),
        flags: config.media.flags(),
        length: config.media.length,
    };
    let mut programs = Programs::start(&ends, folder.path())?;
    let bridge = match config.corrected {
        Corrected::Reported => {
            let dies = config.media.modem_dies.map(|dies| started + dies);
            Some(Bridge::start(diag, &programs.socket(), dies)?)
        }
        Corrected::Stock | Corrected::Blind => None,
    };
    let ended = programs.wait(config.media.patience());
    // Its input ends with the emulation.
    let report = emulation.stop();
    let heard = bridge.map(Bridge::end);
    let said = ended?;
    report?;
    let log = std::fs::read_to_string(folder.path().join("log"))?;
    let waited = account.take(started);
    Ok(CallSeen::of(started, &said, &log, waited, heard.flatten()))
}

/// Makes a call to a plan's device, both of whose ends are unmodified. A program in the device's
/// kernel corrects when packets came, if that is wanted. No process of the call is left when this
/// returns.
///
/// # Errors
///
/// [`CallError`].
pub fn call_down(
    run: &Run,
    caller: &Path,
    is_corrected: bool,
    media: &Media,
) -> Result<CallSeen, CallError> {
    let folder = tempfile::tempdir()?;
    let (emulation, account, diag) = emulate(run, Direction::Downlink)?;
    let started = emulation.started();
    let corrector = if is_corrected {
        let dies = media.modem_dies.map(|dies| started + dies);
        Some(Corrector::start(diag, emulation.near(), dies)?)
    } else {
        None
    };
    let ends = Ends {
        receiver: emulation.near(),
        program: Path::new("node"),
        words: vec![caller.join("answer.js").to_string_lossy().into_owned()],
        sender: emulation.far(),
        caller,
        address: emulation.near_address(),
        flags: media.flags().into_iter().chain(["--numbered".into()]).collect(),
        length: media.length,
    };
    let ended = Programs::start(&ends, folder.path())
        .and_then(|mut programs| programs.wait(media.patience()));
    // The modem's bytes end with the emulation.
    let report = emulation.stop();
    let noted = corrector.map(Corrector::end).transpose();
    let said = ended?;
    report?;
    let Noted { packets, heard } = noted?.unwrap_or_default();
    let log = std::fs::read_to_string(folder.path().join("log"))?;
    let mut seen = CallSeen::of(started, &said, &log, account.take(started), heard);
    seen.packets.extend(packets.iter().map(|packet| PacketSeen {
        sent: None,
        arrived: packet.at,
        corrected: packet.at.saturating_before(packet.back),
    }));
    Ok(seen)
}
