//! What the kernel is asked for. This stands also where a build has no programs.

use std::path::PathBuf;
use std::time::Duration;

use sounding_estimate::MAX_RATE;
use sounding_units::Rate;

/// The name of Copa in the kernel, unless it gets another.
pub const COPA_NAME: &str = "copa_gandalf";

/// Longest name of a congestion control, in bytes (Linux `TCP_CA_NAME_MAX` without its NUL).
const MAX_NAME: usize = 15;

/// The ExID (a number of 16 bits) of the option (RFC 6994 §3) unless another is chosen. Not
/// registered with IANA: both ends are to be ours.
pub const EXID: u16 = 0xB15C;

/// Whether an instance can have this name: 1 to 15 bytes of a-z, 0-9 and _. Linux takes no hyphen
/// in the name of a struct_ops object (`bpf_obj_name_cpy`), though its own algorithms may have one.
pub fn is_name(name: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
    (1..=MAX_NAME).contains(&name.len()) && name.bytes().all(plain)
}

/// The name of `background` in the kernel, and the cgroup whose sockets get it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BackgroundConfig {
    /// The name that sockets select, 1 to 15 bytes of `[a-z0-9_]`. Default `background`.
    pub name: String,
    /// The cgroup (v2) whose sockets get it as they connect; `None` if sockets choose for
    /// themselves.
    pub cgroup: Option<PathBuf>,
    /// Whether what the sockets of the cgroup receive is background too, by their receive windows.
    /// Default no.
    pub downloads: bool,
}

impl Default for BackgroundConfig {
    fn default() -> Self {
        Self { name: "background".into(), cgroup: None, downloads: false }
    }
}

/// How a sender is limited to the link's rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signal {
    /// By the receive window, which every TCP applies.
    Window,
    /// By a TCP option, which our servers apply. Middleboxes may strip it.
    Option,
    /// By both.
    Both,
}

/// Which sockets, and how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DownlinkConfig {
    /// The cgroup (v2) whose sockets it is about, those of its descendants included; `None` for
    /// the whole machine.
    pub cgroup: Option<PathBuf>,
    /// The modem's interfaces, in the network namespace of the thread that loads, at most
    /// [`MAX_RADIOS`](crate::MAX_RADIOS); every interface
    /// but loopback if none is named. One that is not there yet is found by
    /// [`follow`](crate::Downlink::follow).
    pub interfaces: Vec<String>,
    /// How senders are limited.
    pub signal: Signal,
    /// Queue that the window has room for above the round-trip time. Default 30 ms, more than
    /// BISCAY's allowance: reports are up to 50 ms old, acknowledgements wait for grants of
    /// the uplink, so that what they let in comes in clumps, and a stock sender makes nothing
    /// up. Chosen; docs/reference/downlink.md has what others gave.
    pub slack: Duration,
    /// The oldest estimate to go by. Default 100 ms: two of the 50 ms in which modems report
    /// downlink blocks.
    pub max_age: Duration,
    /// The longest silence of a living daemon. Default 60 ms, as BISCAY's.
    pub max_silence: Duration,
    /// Distinguishes the option from other experiments.
    pub exid: u16,
    /// What the pins are called; `None` pins nothing.
    pub pin: Option<String>,
}

impl Default for DownlinkConfig {
    fn default() -> Self {
        Self {
            cgroup: None,
            interfaces: Vec::new(),
            signal: Signal::Window,
            slack: Duration::from_millis(30),
            max_age: Duration::from_millis(100),
            max_silence: Duration::from_millis(60),
            exid: EXID,
            pin: None,
        }
    }
}

/// Whose options are read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PeersConfig {
    /// The cgroup (v2) whose sockets listen, those of its descendants included; `None` for the
    /// whole machine.
    pub cgroup: Option<PathBuf>,
    /// Distinguishes the option from other experiments.
    pub exid: u16,
    /// The upper limit on a device's reported rate. Default, and maximum: what any radio carries,
    /// 100 Gbit/s.
    pub at_most: Rate,
}

impl Default for PeersConfig {
    fn default() -> Self {
        Self { cgroup: None, exid: EXID, at_most: MAX_RATE }
    }
}
