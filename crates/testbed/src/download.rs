//! A phone in a modelled cell that downloads from a server, with a daemon at each.

use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Duration;

use serde::Serialize;
use sounding_bpf::{OwnCgroup, pins_of};
use sounding_emu::Emulation;
use sounding_experiment::plan::PlanError;
use sounding_laws::Law;
use sounding_link::Source;
use thiserror::Error;

use crate::daemon::{Daemon, DaemonError};
use crate::emulate::{EmulateError, Emulated, Ended, Settings};
use crate::radio::Download;

/// A phone in a cell of LTE, a server behind 20 ms of wire, and room for a daemon at each.
#[derive(Debug)]
pub struct Scene<'a> {
    emulated: Emulated,
    program: PathBuf,
    own: &'a OwnCgroup,
    /// Part of the names in the kernel, so that parallel scenes have different names.
    seed: u32,
}

/// The channel of the phone's radio.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Channel {
    /// It never changes.
    Still,
    /// It fades as people walk by.
    Fading,
}

impl Channel {
    /// In the order in which a table has them.
    pub const ALL: [Self; 2] = [Self::Still, Self::Fading];

    /// Its name in tables and on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Still => "still",
            Self::Fading => "fading",
        }
    }
}

impl FromStr for Channel {
    type Err = UnknownChannel;

    fn from_str(text: &str) -> Result<Self, UnknownChannel> {
        let found = Self::ALL.into_iter().find(|channel| channel.name() == text);
        found.ok_or_else(|| UnknownChannel(text.into()))
    }
}

/// A word that is no channel.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{0:?}: a radio is still or fading")]
pub struct UnknownChannel(String);

/// Why a scene does not run.
#[derive(Debug, Error)]
pub enum SceneError {
    /// The plan of this file is wrong.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// The cell is not emulated.
    #[error(transparent)]
    Emulate(#[from] EmulateError),
    /// A daemon does not run.
    #[error(transparent)]
    Daemon(#[from] DaemonError),
}

/// Longer than any flow: the network runs until it is stopped.
const LASTS: Duration = Duration::from_secs(3600);

impl<'a> Scene<'a> {
    /// Starts it. Sockets that this process makes from here on are `own`'s; no others are touched.
    pub fn start(
        program: &Path,
        channel: Channel,
        seed: u32,
        own: &'a OwnCgroup,
    ) -> Result<Self, SceneError> {
        let fades = channel == Channel::Fading;
        let runs = Download { sinr_db: 15.0, fades, seed: seed.into() }.lasting(LASTS).runs()?;
        let emulated = Emulated::start(&runs[0], &Settings::flows(program))?;
        Ok(Self { emulated, program: program.to_path_buf(), own, seed })
    }

    /// The network, the phone at its near end.
    pub fn emulation(&self) -> &Emulation {
        self.emulated.emulation()
    }

    /// Name of a daemon's objects in the kernel.
    fn name(&self, who: &str) -> String {
        format!("{}{who}{}", std::process::id() % 1_000_000, self.seed)
    }

    /// A daemon on the phone that reads its modem and limits senders by `signal`. It ends with the
    /// thread that started it.
    pub fn start_on_device(&self, signal: &str) -> Result<Daemon, SceneError> {
        self.on_device(signal, &[])
    }

    /// The same, for senders under this law: it reports by the option, estimated by the law's own
    /// method. `flags` are its others.
    pub fn start_reporter(&self, law: Law, flags: &[&str]) -> Result<Daemon, SceneError> {
        let by_channel: &[&str] = match law.needs().method {
            Some(Source::Cqi) => &["--direction", "downlink", "--method", "cqi"],
            _ => &[],
        };
        self.on_device("option", &[by_channel, flags].concat())
    }

    fn on_device(&self, signal: &str, flags: &[&str]) -> Result<Daemon, SceneError> {
        let modem = self.emulated.modems().first().ok_or(DaemonError::NotReady)?;
        let cgroup = self.own.path().to_string_lossy();
        let whose = ["--downlink", signal, "--cgroup", &*cgroup];
        let flags: Vec<_> = whose.into_iter().chain(flags.iter().copied()).collect();
        let (near, source) = (self.emulation().near(), Path::new(&modem.source));
        Ok(Daemon::start_in(near, &self.program, source, &self.name("dl"), &flags)?)
    }

    /// A daemon on the server whose flows use the devices' reports under this law, and the name to
    /// send by. It ends with the thread that started it.
    pub fn start_on_server(&self, law: Law) -> Result<(String, Daemon), SceneError> {
        let name = self.name("sv");
        let flags = ["--law", law.name(), "--cgroup", &*self.own.path().to_string_lossy()];
        let daemon = Daemon::serve_in(self.emulation().far(), &self.program, &name, &flags)?;
        Ok((name, daemon))
    }

    /// Folder of the pins of the daemon on the phone.
    pub fn pins(&self) -> PathBuf {
        pins_of(&self.name("dl"))
    }

    /// Ends it.
    pub fn stop(self) -> Result<Ended, SceneError> {
        Ok(self.emulated.stop()?)
    }
}
