//! The other direction: the downlink's rate goes to the senders to this machine, or comes from the
//! devices that this machine sends to.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use humantime::format_duration;
use serde::{Deserialize, Serialize};
use sounding_bpf::{DownlinkConfig, EXID, PeersConfig, Signal};
use sounding_kpi::Direction;
use sounding_laws::Law;
use sounding_units::Rate;

use super::config_error::{ConfigError, time};
use crate::cli_types::{LACKS_KERNEL, SignalWord, Unused, is_default};

#[derive(Args, Clone, Debug, Default)]
#[group(id = "downlink_flags")]
pub(super) struct Flags {
    /// Limit senders to this machine to what the downlink carries: by the receive window, which
    /// every TCP applies, or by a TCP option, which a server with --peers applies
    #[arg(long, value_enum, value_name = "HOW", hide = LACKS_KERNEL)]
    downlink: Option<SignalWord>,
    /// With --downlink: queue that the receive window has room for above the round-trip time
    #[arg(long, value_name = "TIME", value_parser = humantime::parse_duration, hide = LACKS_KERNEL)]
    slack: Option<Duration>,
    /// Use a connection's peer's reports of its downlink in a TCP option; no modem is needed then
    #[arg(long, hide = LACKS_KERNEL)]
    peers: bool,
    /// With --peers: no more than this is believed of what a device says, as 200Mbit; without it,
    /// 100 Gbit/s. No device is believed beyond three times what was delivered to it lately
    #[arg(long, value_name = "RATE", hide = LACKS_KERNEL)]
    peers_at_most: Option<Rate>,
    /// With --downlink, --peers and --background: the cgroup (v2) whose sockets it is about;
    /// without it, the whole machine's
    #[arg(long, value_name = "DIR", hide = LACKS_KERNEL)]
    cgroup: Option<PathBuf>,
}

impl Flags {
    #[cfg(test)]
    pub(super) fn window() -> Self {
        Self { downlink: Some(SignalWord::Window), ..Self::default() }
    }

    /// Whether any of them is given.
    pub(super) fn is_given(&self) -> bool {
        self.downlink.is_some() || self.peers
    }

    /// Whose sockets it is about, if not the whole machine's.
    pub(super) fn cgroup(&self) -> Option<PathBuf> {
        self.cgroup.clone()
    }
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct File {
    #[serde(skip_serializing_if = "is_default")]
    pub(super) modem: Option<String>,
    #[serde(skip_serializing_if = "is_default")]
    signal: Option<SignalWord>,
    #[serde(skip_serializing_if = "is_default")]
    slack: Option<String>,
    #[serde(skip_serializing_if = "is_default")]
    peers: bool,
    #[serde(skip_serializing_if = "is_default")]
    peers_at_most: Option<String>,
    #[serde(skip_serializing_if = "is_default")]
    cgroup: Option<PathBuf>,
    /// A number of 16 bits.
    #[serde(skip_serializing_if = "is_default")]
    exid: Option<u16>,
}

impl File {
    /// With what the flags say.
    pub(super) fn with(mut self, flags: &Flags) -> Self {
        let Flags { downlink, slack, peers, peers_at_most, cgroup } = flags;
        self.signal = downlink.or(self.signal);
        self.slack = slack.map(|slack| format_duration(slack).to_string()).or(self.slack);
        self.peers |= peers;
        let at_most = peers_at_most.map(|rate| format!("{}bit", rate.bits_per_sec()));
        self.peers_at_most = at_most.or(self.peers_at_most);
        self.cgroup = cgroup.clone().or(self.cgroup);
        self
    }
}

/// The least limit on what peers say: the option counts in kbit/s.
const LEAST: Rate = Rate::from_bits_per_sec(1_000);

/// What is done for the downlink.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    /// As a device.
    device: Option<DownlinkConfig>,
    /// As a server.
    server: Option<PeersConfig>,
}

impl Plan {
    /// `name` is what the pins are called. `background` says that a cgroup may be that of
    /// `background`.
    pub(super) fn merge(
        file: File,
        flags: Flags,
        name: &str,
        background: bool,
    ) -> Result<Self, ConfigError> {
        let exid = file.exid.unwrap_or(EXID);
        let has_cgroup = flags.cgroup.is_some();
        let cgroup = flags.cgroup.or(file.cgroup);
        let slack = time("downlink.slack", file.slack.as_deref())?;
        let usual = DownlinkConfig::default();
        let slack = flags.slack.or(slack).unwrap_or(usual.slack);
        if slack > Duration::from_secs(1) {
            return Err(ConfigError::Slack(slack));
        }
        if let Some(folder) = cgroup.as_ref().filter(|folder| !folder.is_dir()) {
            return Err(ConfigError::Cgroup(folder.clone()));
        }
        let signal = flags.downlink.or(file.signal);
        let peers = flags.peers || file.peers;
        // In the file they may stand for when they are wanted.
        if flags.slack.is_some() && signal.is_none() {
            return Err(Unused { flag: "--slack", owner: "--downlink" }.into());
        }
        if has_cgroup && signal.is_none() && !peers && !background {
            return Err(
                Unused { flag: "--cgroup", owner: "--downlink, --peers or --background" }.into()
            );
        }
        if flags.peers_at_most.is_some() && !peers {
            return Err(Unused { flag: "--peers-at-most", owner: "--peers" }.into());
        }
        let at_most = file.peers_at_most.as_deref().map(str::parse).transpose();
        let at_most =
            at_most.map_err(|error| ConfigError::Rate { key: "downlink.peers_at_most", error })?;
        let at_most = flags.peers_at_most.or(at_most);
        let at_most = at_most.unwrap_or_else(|| PeersConfig::default().at_most);
        if !(LEAST..=PeersConfig::default().at_most).contains(&at_most) {
            return Err(ConfigError::PeersAtMost(at_most));
        }
        let device = signal.map(|signal| DownlinkConfig {
            cgroup: cgroup.clone(),
            signal: signal.into(),
            slack,
            exid,
            pin: Some(name.into()),
            ..usual
        });
        let server = peers.then_some(PeersConfig { cgroup, exid, at_most });
        Ok(Self { device, server })
    }

    /// What is done as a device.
    pub(super) fn device(&self) -> Option<&DownlinkConfig> {
        self.device.as_ref()
    }

    /// Whose reports are used as a server.
    pub(super) fn server(&self) -> Option<&PeersConfig> {
        self.server.as_ref()
    }

    /// Directions whose records are needed besides `of`.
    pub(super) fn reads_besides(&self, of: Direction) -> Option<Direction> {
        self.device.as_ref().map(|_| Direction::Downlink).filter(|reads| *reads != of)
    }

    /// How far back the estimates for senders look. A receive window limits a stock sender as the
    /// law of `sounding` would. An option goes to BISCAY, which uses the averages of its paper.
    pub(super) fn span(&self) -> Option<Duration> {
        let windows = self.device.as_ref().is_some_and(|device| device.signal == Signal::Window);
        Law::Sounding.needs().span.filter(|_| windows)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(file: &str, flags: Flags) -> Result<Plan, ConfigError> {
        Plan::merge(toml::from_str(file).expect("TOML"), flags, "biscay", false)
    }

    #[test]
    fn senders_and_peers_are_left_alone_by_default() {
        let plan = plan("", Flags::default()).expect("fine");
        assert!(plan.device.is_none() && plan.server.is_none());
        assert_eq!(plan.reads_besides(Direction::Uplink), None);
    }

    #[test]
    fn a_device_reads_the_downlink_too() {
        let flags = Flags { downlink: Some(SignalWord::Both), ..Flags::default() };
        let plan = plan("slack = '30ms'\nexid = 7", flags).expect("fine");
        let device = plan.device.as_ref().expect("asked for");
        assert_eq!((device.signal, device.exid), (Signal::Both, 7));
        assert_eq!(device.slack, Duration::from_millis(30));
        assert_eq!(device.pin.as_deref(), Some("biscay"));
        assert_eq!(plan.reads_besides(Direction::Uplink), Some(Direction::Downlink));
        assert_eq!(plan.reads_besides(Direction::Downlink), None);
        assert_eq!(plan.span(), None);
        let windows = Flags { downlink: Some(SignalWord::Window), ..Flags::default() };
        let windows = Plan::merge(File::default(), windows, "biscay", false).expect("fine");
        assert_eq!(windows.span(), Law::Sounding.needs().span);
    }

    #[test]
    fn a_server_needs_no_modem_and_shares_the_number_of_the_option() {
        let plan = plan("peers = true\nexid = 0x1234", Flags::default()).expect("fine");
        assert!(plan.device.is_none());
        assert_eq!(plan.server.map(|server| server.exid), Some(0x1234));
    }

    #[test]
    fn peers_are_believed_up_to_what_the_flag_or_else_the_file_says() {
        let at_most = |file: &str, flag: Option<u64>| {
            let peers_at_most = flag.map(Rate::from_bits_per_sec);
            let plan = plan(file, Flags { peers: true, peers_at_most, ..Flags::default() })?;
            Ok::<_, ConfigError>(plan.server.expect("asked for").at_most.bits_per_sec())
        };
        assert_eq!(at_most("", None).expect("fine"), 100_000_000_000);
        let file = "peers_at_most = '50Mbit'";
        assert_eq!(at_most(file, None).expect("fine"), 50_000_000);
        assert_eq!(at_most(file, Some(20_000_000)).expect("fine"), 20_000_000);
        for (file, flag) in [
            ("peers_at_most = '50'", None),
            ("peers_at_most = '200Gbit'", None),
            ("", Some(0)),
            ("", Some(999)),
        ] {
            let error = at_most(file, flag).expect_err("none that makes sense").to_string();
            assert!(error.contains("downlink.peers_at_most"), "{error}");
        }
        let flags = Flags { peers_at_most: Some(LEAST), ..Flags::default() };
        let error = plan("", flags).expect_err("peers are off").to_string();
        assert!(error.contains("--peers-at-most"), "{error}");
        // In the file it may wait for peers to be switched on.
        plan(file, Flags::default()).expect("fine");
    }

    #[test]
    fn a_flag_that_says_nothing_and_a_cgroup_that_is_none_are_refused() {
        let slack = Flags { slack: Some(Duration::from_millis(5)), ..Flags::default() };
        let error = plan("", slack).expect_err("senders are not limited");
        assert!(error.to_string().contains("--slack"), "{error}");
        let root = || Flags { cgroup: Some("/".into()), ..Flags::default() };
        let error = plan("", root()).expect_err("both are off");
        assert!(error.to_string().contains("--cgroup"), "{error}");
        plan("peers = true", root()).expect("fine");
        let error = plan("cgroup = '/no/such/folder'", Flags::default()).expect_err("none");
        assert!(matches!(error, ConfigError::Cgroup(_)), "{error}");
    }

    #[test]
    fn a_slack_of_minutes_is_refused() {
        let error = plan("signal = 'window'\nslack = '2m'", Flags::default()).expect_err("absurd");
        assert!(error.to_string().contains("downlink.slack"), "{error}");
    }
}
