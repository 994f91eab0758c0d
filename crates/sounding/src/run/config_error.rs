//! What may be wrong with a configuration.

use std::path::PathBuf;
use std::time::Duration;

use sounding_units::Rate;
use thiserror::Error;

use super::share::WeightError;
use crate::cli_types::Unused;

/// What is wrong with a configuration.
#[derive(Debug, Error)]
pub(crate) enum ConfigError {
    /// The file cannot be read.
    #[error("{path}: {error}")]
    Read { path: PathBuf, error: std::io::Error },
    /// The file is not TOML, or has a key or a value that nothing here knows.
    #[error("{path}: {error}")]
    Parse { path: PathBuf, error: Box<toml::de::Error> },
    /// It loads programs, and this build has none.
    #[error(
        "{0}: this build, soundingd, has no programs for the kernel: take {0} out, or install `sounding`, which has them"
    )]
    NoPrograms(&'static str),
    /// It cannot be written as TOML.
    #[error("the configuration cannot be printed: {0}")]
    Print(toml::ser::Error),
    /// A time without a unit, or not a time.
    #[error("{key}: {error}: a time has a unit, as in 100ms")]
    Time { key: &'static str, error: humantime::DurationError },
    /// A rate without a unit, or not a rate.
    #[error("{key}: {error}")]
    Rate { key: &'static str, error: sounding_units::ParseRateError },
    /// Not a place where Diag bytes come from.
    #[error("modem.device: {0}")]
    Source(#[from] sounding_modem::SourceError),
    /// Not a sniffer.
    #[error("link.sniffers: {0}")]
    Sniffer(#[source] sounding_modem::UnknownSniffer),
    /// More than a device has carriers.
    #[error("link.sniffers: {0} of them, a device has 8 carriers at most")]
    Sniffers(usize),
    /// No user of this machine.
    #[error("modem.router_user: {0}")]
    RouterUser(String),
    /// No user of this machine.
    #[error("link.sniffer_user: {0}")]
    SnifferUser(String),
    /// Outside what the kernel side takes.
    #[error("cc.allowance: {0:?} is longer than 1s")]
    Allowance(Duration),
    /// Outside what the kernel side takes.
    #[error("cc.pacing_gain: {0} is outside 1 to 4")]
    PacingGain(f64),
    /// Outside what the kernel side takes.
    #[error("downlink.slack: {0:?} is longer than 1s")]
    Slack(Duration),
    /// Outside what the option can say or any radio carries.
    #[error(
        "downlink.peers_at_most: {0} is outside 1kbit to 100Gbit; to believe no device, leave out --peers"
    )]
    PeersAtMost(Rate),
    /// Limits of a shaper that are none.
    #[error("shape: {0}")]
    Limits(sounding_shape::LimitsError),
    /// A shaper's device has no name that one can have.
    #[error("shape: {0}")]
    ShapeDevice(sounding_qdisc::Error),
    /// A limit of a shaper is above another.
    #[error("shape: {above} {rate} is above {below} {most}")]
    LimitsOrder {
        /// The name of the limit.
        above: &'static str,
        /// Its rate.
        rate: Rate,
        /// The name of the limit that it may not exceed.
        below: &'static str,
        /// That one's rate.
        most: Rate,
    },
    /// Not an address and a port.
    #[error("serve.address: {0:?} is no address with a port, as 127.0.0.1:8080 or [::1]:8080")]
    ServeAddress(String),
    /// Everyone, and those with the token.
    #[error("serve.open: everyone reads it, and `token` is not used: leave one of them out")]
    ServeOpen,
    /// Not a host's name.
    #[error(
        "serve.hosts: {0:?} is no host's name: it has no port, and letters, digits, \".\" and \"-\""
    )]
    ServeHost(String),
    /// Keys without an address.
    #[error("serve.address: it is missing: nothing is served without it")]
    ServeNowhere,
    /// A name that is none.
    #[error("feed.name: {0}")]
    FeedName(sounding_board::NameError),
    /// A mode that is none.
    #[error("feed.mode: {0:?} is no mode in octal digits, as 0660")]
    FeedMode(String),
    /// A group that is none.
    #[error("feed.group: {0}")]
    FeedGroup(String),
    /// A weight that is none.
    #[error(transparent)]
    Weight(#[from] WeightError),
    /// The window is outside what makes sense.
    #[error("link.window: {0:?} is outside 1ms to 10s")]
    WindowRange(Duration),
    /// More than the kernel side has places for.
    #[error("modem: {0} of them, and there is room for 4")]
    Modems(usize),
    /// More than the kernel side has places for.
    #[error("modem.interfaces: {0} of them, and a modem has at most 8 network devices")]
    Interfaces(usize),
    /// Nothing could name it.
    #[error(
        "modem: with several [[modem]] each has a name: write name = \"wan\", and another in the next"
    )]
    ModemUnnamed,
    /// It would not stand in events and other sections.
    #[error("modem.name: {0:?} is not 1 to 15 letters, digits, `-` and `_`")]
    ModemName(String),
    /// It is one of several.
    #[error("modem: {0} has no device: write its Diag port, as device = \"/dev/ttyUSB0\"")]
    ModemWithoutDevice(String),
    /// Only one of them can have it.
    #[error("modem.{key}: {value} stands in two [[modem]]: it is one modem's alone")]
    ModemTwice { key: &'static str, value: String },
    /// One of several modems would get it.
    #[error(
        "{0} is about one modem, and the file has several: write it in the [[modem]] that it is for"
    )]
    FlagOfOneModem(&'static str),
    /// The same.
    #[error("link.{0} is about one modem, and the file has several: write it in its [[modem]]")]
    LinkOfOneModem(&'static str),
    /// A section's modem is none.
    #[error("{section}.modem: {named:?} is none of the modems, which are {known}")]
    NoSuchModem { section: &'static str, named: String, known: String },
    /// A section reads one modem.
    #[error(
        "{section}.modem: it reads one of the modems {known}: write modem = \"{example}\" in the section"
    )]
    WhichModem { section: &'static str, known: String, example: String },
    /// A flow could not be told to belong to one.
    #[error(
        "modem: no network device of {0} is known: with several modems only a device says which one a flow \
         leaves by; write interfaces = [\"wwan0\"] in its [[modem]]"
    )]
    UnknownDevices(String),
    /// Both would set one shaper.
    #[error("shape: {direction} of modem {modem} stands in two [[shape]]: keep one")]
    ShapeTwice { modem: String, direction: sounding_kpi::Direction },
    /// No device was named.
    #[error("no modem: name its Diag port with --device or modem.device, e.g. /dev/ttyUSB0")]
    NoDevice,
    /// They would not be looked at.
    #[error(
        "cc.allowance and cc.pacing_gain are settings of the law biscay: leave them out, or choose it"
    )]
    NotOfThisLaw,
    /// It would not be looked at.
    #[error("cc.{key}: {law} has none: leave it out")]
    NotOfIt { key: &'static str, law: &'static str },
    /// One name for two of them.
    #[error("cc.name: {0} stands twice: give each [[cc]] its own law or name")]
    NameTwice(String),
    /// New flows have one default.
    #[error("cc.default: only one [[cc]] can be the default of new flows")]
    DefaultTwice,
    /// A route has one congestion control.
    #[error("cc.routes: {0} stands twice: a route has one congestion control")]
    RouteTwice(String),
    /// The modem would be read for nothing.
    #[error(
        "no output reads the modem: leave out --device, or add a law, --downlink, --arrivals, --calls, --feed, --serve, --board or a section [[shape]]"
    )]
    NoReader,
    /// The kernel would not take the name.
    #[error("cc.name: {0:?} is not 1 to 15 bytes of a-z, 0-9 and _: Linux takes no hyphen there")]
    Name(String),
    /// Its estimates would never be usable.
    #[error(
        "link.method: cqi is for link.direction downlink: no device reports a CQI of what it sends"
    )]
    NoCqi,
    /// `ip route` would not take it.
    #[error("cc.routes: {0:?} is not `default` or a prefix, as 10.0.0.0/8 or 2001:db8::/32")]
    Prefix(String),
    /// No sockets are in it.
    #[error(
        "downlink.cgroup: {0}: no folder: a cgroup of version 2 is a folder below /sys/fs/cgroup"
    )]
    Cgroup(PathBuf),
    /// It would not be looked at.
    #[error(transparent)]
    Unused(#[from] Unused),
}

pub(super) fn time(key: &'static str, text: Option<&str>) -> Result<Option<Duration>, ConfigError> {
    let time = text.map(humantime::parse_duration).transpose();
    time.map_err(|error| ConfigError::Time { key, error })
}
