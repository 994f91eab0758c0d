//! What the daemon does with modems: outputs, each from a section of the configuration.
//!
//! ```text
//!   section ─start─▶ output ─handle_*, publish, attend─▶ … ─drop─▶ the machine as it was
//!      ▲                │ fails
//!      └────────────────┘ tried again
//! ```
//!
//! An output that fails ends alone. Its changes are undone, and the other outputs go on.
//!
//! An output reads one modem and lives in that modem's thread. A congestion control reads all: it
//! lives in the main thread, and gives each modem's thread a part of its own to feed.

use std::fmt::Debug;
use std::io;
use std::sync::Arc;

use miette::Result;
use sounding_bpf::SubordinateMap;
use sounding_diag::{LogCode, LogRecord};
use sounding_link::{Config, DelayUpdate, LinkEstimate};
use sounding_units::HostInstant;

use super::devices::Radio;
use super::events::{Events, LastWords};

/// A section of the configuration that asks for an output, and whose modem it reads.
#[derive(Clone, Debug)]
pub(super) struct Asked {
    pub(super) section: Arc<dyn Section>,
    /// The modem's name; none of a congestion control, which reads all.
    pub(super) modem: Option<String>,
}

impl Asked {
    pub(super) fn of(modem: &str, section: impl Section + 'static) -> Self {
        Self { section: Arc::new(section), modem: Some(modem.to_owned()) }
    }
}

/// A section of the configuration that asks for an output. Two sections with the same values, as
/// `Debug` writes them, ask for the same.
pub(super) trait Section: Debug + Send + Sync {
    /// The output's name in messages. It differs from all others.
    fn name(&self) -> String;

    /// Whether the name is a congestion control's in this kernel.
    fn is_algorithm(&self) -> bool {
        false
    }

    /// What flows go on as while the modem is not heard, if the output has flows.
    fn stock(&self) -> Option<&'static str> {
        None
    }

    /// What the output needs of the modem.
    fn needs(&self) -> Needs {
        Needs::default()
    }

    /// Starts the output. This may take seconds and needs the rights to change the machine. Where
    /// it fails, the machine is as it was.
    fn start(&self) -> Result<Box<dyn Output>>;

    /// Whether the output can fail after it started.
    fn may_fail(&self) -> bool {
        false
    }
}

/// What an output needs of the modem.
#[derive(Clone, Debug, Default)]
pub(super) struct Needs {
    /// Estimates of the link, made so.
    pub(super) estimates: Vec<Config>,
    /// What the radio itself adds to packets.
    pub(super) delays: bool,
    /// The records for that. The most important ones come first, because a budget takes from the
    /// end.
    pub(super) codes: Vec<LogCode>,
}

/// An output that runs. Dropping it restores what it changed.
pub(super) trait Output: Send {
    /// Reports what became of the start.
    fn begin(&mut self, _events: &mut Events) {}

    /// The map by which ids of `/etc/subuid` count as their users, if flows have users.
    fn subordinates(&self) -> io::Result<Option<SubordinateMap>> {
        Ok(None)
    }

    /// A log record of the modem came.
    fn handle_record(&mut self, _now: HostInstant, _record: &LogRecord<'_>) {}

    /// All records of one read were handled.
    fn handle_read(&mut self) {}

    /// The radio's own delays, as far as the last read shows them.
    fn handle_delays(&mut self, _update: &DelayUpdate) -> Result<()> {
        Ok(())
    }

    /// New estimates, every 10 ms.
    fn publish(&mut self, _now: HostInstant, _estimates: &Estimates) {}

    /// The daemon lives. This is due every few milliseconds, and must not wait for anything.
    fn attend(&mut self, now: HostInstant, events: &mut Events) -> Result<()>;

    /// The network devices of its modems, every second. `moved` says that they are others than
    /// before, or that this is the first call.
    fn follow(&mut self, _radios: &[Radio], _moved: bool, _events: &mut Events) {}

    /// The part that the thread of the modem at this place feeds, if it reads more than one.
    fn part(&mut self, _place: usize) -> io::Result<Option<Box<dyn Output>>> {
        Ok(None)
    }

    /// The knowledge of the modem is outdated.
    fn forget(&mut self) {}

    /// What is left to say before it is dropped.
    fn last_words(&mut self, _last: &mut LastWords) {}
}

/// The estimates of one moment.
#[derive(Debug, Default)]
pub(super) struct Estimates(Vec<(Config, LinkEstimate)>);

impl Estimates {
    pub(super) fn new(of: impl Iterator<Item = (Config, LinkEstimate)>) -> Self {
        Self(of.collect())
    }

    /// The estimate that is made so.
    pub(super) fn of(&self, config: &Config) -> Option<&LinkEstimate> {
        self.0.iter().find(|(made, _)| made == config).map(|(_, estimate)| estimate)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &(Config, LinkEstimate)> {
        self.0.iter()
    }
}
