use std::fmt;
use std::net::Ipv4Addr;
use std::path::PathBuf;

use sounding_estimate::Direction;
use sounding_sim::{Device, Diag, Network, PathConfig};
use sounding_trace::dci::Heard;

use crate::Slot;

/// Configuration of an emulation.
#[derive(Debug)]
pub struct Config {
    /// The network between the hosts.
    pub between: Between,
    /// The devices of the network that have hosts, each in a separate namespace: 1 to 64.
    pub devices: Vec<Device>,
    /// Receives the output of the network's modems, if set.
    pub tap: Option<Tap>,
    /// Takes what a modelled sniffer writes, if the network has one.
    pub sniffer: Option<SnifferTap>,
    /// Where the far end is.
    pub far: Far,
    /// Address of the near end. Default 100.64.0.1 (RFC 6598, never routed on the Internet). Each
    /// further device's is 256 beyond.
    pub near_address: Ipv4Addr,
    /// Address of the far end. Default 100.64.0.2.
    pub far_address: Ipv4Addr,
    /// Largest IP packet, in bytes, 576..=9000. Default 1500.
    pub mtu: u16,
    /// Settings for all namespaces, as `net.ipv4.tcp_wmem` and its value.
    pub sysctls: Vec<(String, String)>,
    /// Where to write packet logs in mm-link's format; only links have such logs.
    pub logs: Logs,
    /// Whether [`Report::records`](crate::Report::records) keeps what became of each packet.
    pub record: bool,
    /// Scheduling of the thread that moves packets.
    pub realtime: Realtime,
}

impl Config {
    /// One device with these two links, and defaults for all other settings.
    pub fn new(up: PathConfig, down: PathConfig) -> Self {
        Self::between(Between::Links { up: Box::new(up), down: Box::new(down) })
    }

    /// These devices of a network, and defaults for all other settings.
    pub fn over(network: impl Network<Slot> + Send + 'static, devices: Vec<Device>) -> Self {
        Self { devices, ..Self::between(Between::Network(Box::new(network))) }
    }

    fn between(between: Between) -> Self {
        Self {
            between,
            devices: vec![Device(0)],
            tap: None,
            sniffer: None,
            far: Far::default(),
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

/// The far end of an emulation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Far {
    /// A network namespace that leads nowhere else.
    #[default]
    Namespace,
    /// The network of the thread that starts the emulation: the near end reaches this machine at
    /// the far address and, by address translation, each network of this machine over IPv4. Both
    /// addresses are chosen so that the machine does not use them. For one device.
    Machine,
}

/// Takes modem output, with times by the host's clock. Called by the thread that moves packets, so
/// it must not wait; false means that the output is lost.
pub struct Tap(Box<dyn FnMut(Diag) -> bool + Send>);

impl Tap {
    /// Calls this.
    pub fn new(take: impl FnMut(Diag) -> bool + Send + 'static) -> Self {
        Self(Box::new(take))
    }

    pub(crate) fn take(&mut self, diag: Diag) -> bool {
        (self.0)(diag)
    }
}

impl fmt::Debug for Tap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Tap")
    }
}

/// Takes what a modelled sniffer writes, by its own clock. Called by the thread that moves packets,
/// so it must not wait.
pub struct SnifferTap(Box<dyn FnMut(Heard) + Send>);

impl SnifferTap {
    /// Calls this.
    pub fn new(take: impl FnMut(Heard) + Send + 'static) -> Self {
        Self(Box::new(take))
    }

    pub(crate) fn take(&mut self, heard: Heard) {
        (self.0)(heard);
    }
}

impl fmt::Debug for SnifferTap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SnifferTap")
    }
}

/// What packets pass.
pub enum Between {
    /// Two links and their delays, in the order of `mm-delay D mm-link UP DOWN`.
    Links {
        /// From near to far.
        up: Box<PathConfig>,
        /// From far to near.
        down: Box<PathConfig>,
    },
    /// Any network, at its time zero.
    Network(Box<dyn Network<Slot> + Send>),
}

impl fmt::Debug for Between {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Links { up, down } => {
                f.debug_struct("Links").field("up", up).field("down", down).finish()
            }
            Self::Network(_) => f.write_str("Network"),
        }
    }
}

impl Between {
    /// The link of a direction, if there are links: the source of a log.
    pub(crate) fn link(&self, direction: Direction) -> Option<&PathConfig> {
        match (self, direction) {
            (Self::Links { up, .. }, Direction::Uplink) => Some(up),
            (Self::Links { down, .. }, Direction::Downlink) => Some(down),
            (Self::Network(_), _) => None,
        }
    }
}

/// Where packet logs go; `None` for no log.
#[derive(Clone, Debug, Default)]
pub struct Logs {
    /// Log of the uplink.
    pub up: Option<PathBuf>,
    /// Log of the downlink.
    pub down: Option<PathBuf>,
    /// Name of the trace in the header of the uplink's log.
    pub up_name: String,
    /// Name of the trace in the header of the downlink's log.
    pub down_name: String,
    /// The command line that the log's header names.
    pub command_line: String,
}

/// How the thread that moves packets is run.
#[derive(Clone, Copy, Debug)]
pub struct Realtime {
    /// SCHED_FIFO priority, 1..=99; `None` for normal scheduling. Default 30. Without CAP_SYS_NICE
    /// the kernel refuses it; the emulation then runs at normal priority, and its report says
    /// so.
    pub priority: Option<u8>,
    /// Percent of one core that may go into being punctual, on top of moving packets: into waking
    /// up for every packet and into polling while the next departure is nearer than a wake-up
    /// takes. Beyond it packets are moved in groups, each late by some hundred microseconds at
    /// most. Default 10: full punctuality up to some ten Mbit/s on a virtual machine, and less
    /// CPU time than mahimahi above.
    pub overhead_percent: u8,
    /// Whether packet buffers are locked into memory.
    pub lock_memory: bool,
}

impl Default for Realtime {
    fn default() -> Self {
        Self { priority: Some(30), overhead_percent: 10, lock_memory: false }
    }
}
