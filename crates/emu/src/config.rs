use std::net::Ipv4Addr;
use std::path::PathBuf;

use sounding_sim::{PathConfig, Pipe};
use sounding_trace::Schedule;
use sounding_units::HostInstant;

use crate::Slot;

/// What to emulate.
#[derive(Debug)]
pub struct Config {
    /// From near to far.
    pub up: Way,
    /// From far to near.
    pub down: Way,
    /// Address of the near end. Default 100.64.0.1 (RFC 6598, never routed on the Internet).
    pub near_address: Ipv4Addr,
    /// Address of the far end. Default 100.64.0.2.
    pub far_address: Ipv4Addr,
    /// Largest IP packet, in bytes, 576..=9000. Default 1500.
    pub mtu: u16,
    /// Settings for both namespaces, as `net.ipv4.tcp_wmem` and its value.
    pub sysctls: Vec<(String, String)>,
    /// Where to write packet logs in mm-link's format.
    pub logs: Logs,
    /// Whether [`Report::records`](crate::Report::records) keeps what became of each packet.
    pub record: bool,
    /// How the thread that moves packets is run.
    pub realtime: Realtime,
}

impl Config {
    /// These two links and the defaults for everything else.
    pub fn new(up: impl Into<Way>, down: impl Into<Way>) -> Self {
        Self {
            up: up.into(),
            down: down.into(),
            near_address: Ipv4Addr::new(100, 64, 0, 1),
            far_address: Ipv4Addr::new(100, 64, 0, 2),
            mtu: 1500,
            sysctls: Vec::new(),
            logs: Logs::default(),
            record: false,
            realtime: Realtime::default(),
        }
    }
}

/// What one direction runs through.
#[derive(Debug)]
pub enum Way {
    /// A link and a delay, in the order of `mm-delay D mm-link UP DOWN`.
    Path(PathConfig),
    /// Any model of a network.
    Custom(Custom),
}

impl From<PathConfig> for Way {
    fn from(path: PathConfig) -> Self {
        Self::Path(path)
    }
}

/// A model of a network, made when the emulation starts.
pub struct Custom {
    /// Makes the model; its argument is the moment the emulation starts.
    pub make: Box<dyn FnOnce(HostInstant) -> Box<dyn Pipe<Slot> + Send> + Send>,
}

impl std::fmt::Debug for Custom {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Custom")
    }
}

impl Way {
    /// The schedule of the link, if it has one: what a log derives its opportunities from.
    pub(crate) fn schedule(&self) -> Option<&Schedule> {
        match self {
            Self::Path(path) => Some(&path.schedule),
            Self::Custom(_) => None,
        }
    }
}

/// One of the two ways through a network.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Direction {
    /// From near (the device) to far (the server).
    Up,
    /// From far to near.
    Down,
}

/// Where packet logs go; `None` for no log.
#[derive(Clone, Debug, Default)]
pub struct Logs {
    /// Log of the uplink.
    pub up: Option<PathBuf>,
    /// Log of the downlink.
    pub down: Option<PathBuf>,
    /// What the header of the uplink's log calls its trace.
    pub up_name: String,
    /// What the header of the downlink's log calls its trace.
    pub down_name: String,
    /// The command line that the log's header names.
    pub command_line: String,
}

/// How the thread that moves packets is run.
#[derive(Clone, Copy, Debug)]
pub struct Realtime {
    /// SCHED_FIFO priority, 1..=99; `None` for a thread like any other. Default 30. Refused by the kernel without
    /// CAP_SYS_NICE; the emulation then runs at normal priority and its report says so.
    pub priority: Option<u8>,
    /// Percent of one core that may go into being punctual, on top of moving packets: into waking up for every packet
    /// and into polling while the next departure is nearer than a wake-up takes. Beyond it packets are moved in
    /// groups, each late by some hundred microseconds at most. Default 10: full punctuality up to some ten Mbit/s on a
    /// virtual machine, and less CPU time than mahimahi above.
    pub overhead_percent: u8,
    /// Whether packet buffers are locked into memory.
    pub lock_memory: bool,
}

impl Default for Realtime {
    fn default() -> Self {
        Self { priority: Some(30), overhead_percent: 10, lock_memory: false }
    }
}
