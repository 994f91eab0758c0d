//! The other direction: the downlink's rate goes to the senders to this machine, or comes from the devices that this
//! machine sends to.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use miette::{IntoDiagnostic, Result};
use serde::Deserialize;
use sounding_bpf::{Downlink, DownlinkConfig, EXID, Instance, PeersConfig, Signal, SubordinateMap};
use sounding_cc::Law;
use sounding_kpi::Direction;
use sounding_link::{Lately, RadioDelay, Sounder};
use sounding_units::{HostInstant, Rate};

use super::PUBLISH_EVERY;
use super::config_error::{ConfigError, time};
use super::events::Events;
use super::peers::{Hearing, failed};
use crate::cli_types::{SignalWord, Unused};
use crate::guard::Guard;

#[derive(Args, Debug, Default)]
#[group(id = "downlink_flags")]
pub(super) struct Flags {
    /// Limit senders to this machine to what the downlink carries: by the receive window, which every TCP applies, or
    /// by a TCP option, which a server with --peers applies
    #[arg(long, value_enum, value_name = "HOW")]
    downlink: Option<SignalWord>,
    /// With --downlink: queue that the receive window has room for above the round-trip time
    #[arg(long, value_name = "TIME", value_parser = humantime::parse_duration)]
    slack: Option<Duration>,
    /// Use a connection's peer's reports of its downlink in a TCP option; no modem is needed then
    #[arg(long)]
    peers: bool,
    /// With --peers: no more than this is believed of what a device says, as 200Mbit; without it, 100 Gbit/s. No device is
    /// believed beyond three times what was delivered to it lately
    #[arg(long, value_name = "RATE")]
    peers_at_most: Option<Rate>,
    /// With --downlink, --peers and --background: the cgroup (v2) whose sockets it is about; without it, the whole machine's
    #[arg(long, value_name = "DIR")]
    cgroup: Option<PathBuf>,
}

impl Flags {
    /// Whose reports are heard, where nothing but that is asked for.
    pub(super) fn hears(&self) -> Option<PeersConfig> {
        let cgroup = self.cgroup.clone();
        self.peers.then(|| PeersConfig { cgroup, ..PeersConfig::default() })
    }

    /// Whose sockets it is about, if not the whole machine's.
    pub(super) fn cgroup(self) -> Option<PathBuf> {
        self.cgroup
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct File {
    signal: Option<SignalWord>,
    slack: Option<String>,
    peers: bool,
    peers_at_most: Option<String>,
    cgroup: Option<PathBuf>,
    exid: Option<u16>,
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
    /// `name` is what the pins are called, `interfaces` are the modem's.
    pub(super) fn merge(
        file: File,
        flags: Flags,
        name: &str,
        interfaces: &[String],
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
        if has_cgroup && signal.is_none() && !peers {
            return Err(Unused { flag: "--cgroup", owner: "--downlink or --peers" }.into());
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
            interfaces: interfaces.to_vec(),
            signal: signal.into(),
            slack,
            exid,
            pin: Some(name.into()),
            ..usual
        });
        let server = peers.then_some(PeersConfig { cgroup, exid, at_most });
        Ok(Self { device, server })
    }

    /// Has these be the modem's interfaces.
    pub(super) fn name_interfaces(&mut self, names: &[String]) {
        if let Some(device) = &mut self.device {
            device.interfaces = names.to_vec();
        }
    }

    /// Whether something can be done without a modem.
    pub(super) fn needs_no_modem(&self) -> bool {
        self.server.is_some() && self.device.is_none()
    }

    /// Directions whose records are needed besides `of`.
    pub(super) fn reads_besides(&self, of: Direction) -> Option<Direction> {
        self.device.as_ref().map(|_| Direction::Downlink).filter(|reads| *reads != of)
    }

    /// Whether senders learn what the radio itself adds to packets.
    pub(super) fn says_delays(&self) -> bool {
        self.device.is_some()
    }

    /// How far back the estimates for senders look. A receive window limits a stock sender as the law of `sounding`
    /// would. An option goes to BISCAY, which uses the averages of its paper.
    pub(super) fn span(&self) -> Option<Duration> {
        let windows = self.device.as_ref().is_some_and(|device| device.signal == Signal::Window);
        Law::Sounding.needs().span.filter(|_| windows)
    }

    /// Makes flows under any law use their peers' reports, if configured. Then only flows of this network namespace report.
    pub(super) fn listen(
        &self,
        instance: &mut Instance,
        events: &mut Events,
    ) -> Result<Option<Hearing>> {
        let Some(config) = &self.server else { return Ok(None) };
        instance.report_own_namespace();
        Hearing::start(instance, config, events).map(Some)
    }

    /// Reports the downlink to senders, if that is wanted.
    pub(super) fn start(
        &self,
        guard: &mut Guard,
        events: &mut Events,
    ) -> Result<Option<Receiving>> {
        let Some(config) = &self.device else { return Ok(None) };
        let downlink = Downlink::load(config).map_err(failed)?;
        if let Some(name) = &config.pin {
            guard.keep_pins(name).into_diagnostic()?;
        }
        events.downlink(config.signal, downlink.adopt().map_err(failed)?);
        let (lately, told) = (Lately::default(), HostInstant::default());
        Ok(Some(Receiving { downlink, lately, told, published: HostInstant::default() }))
    }
}

/// The downlink of the modem that is read.
pub(super) struct Receiving {
    downlink: Downlink,
    /// What the radio itself adds to packets.
    lately: Lately,
    /// When the newest record behind it came.
    told: HostInstant,
    published: HostInstant,
}

impl Receiving {
    /// The map by which ids of `/etc/subuid` count as their users.
    pub(super) fn subordinates(&self) -> io::Result<SubordinateMap> {
        self.downlink.subordinates()
    }

    /// The modem's network devices have these numbers from here on.
    pub(super) fn follow(&mut self, devices: &[u32]) {
        // At most as many as fit. Open connections are taken on where the kernel allows that.
        let _ = self.downlink.follow(devices);
        let _ = self.downlink.adopt();
    }

    /// Records came: senders learn what the radio itself lately added to packets.
    pub(super) fn handle_records(&mut self, sounder: &mut Sounder) {
        let Some(update) = sounder.poll_delays() else { return };
        self.told = update.heard_at;
        let delay = self.lately.handle_update(&update);
        self.downlink.feed().publish_delay(delay, self.told);
    }

    pub(super) fn handle_disconnect(&mut self) {
        self.downlink.feed().invalidate();
        self.lately.forget();
        self.downlink.feed().publish_delay(RadioDelay::default(), self.told);
    }

    /// `sounder` makes the estimate of the downlink beside that of the flows of this machine.
    pub(super) fn attend(&mut self, now: HostInstant, sounder: &Sounder, events: &mut Events) {
        self.downlink.feed().heartbeat(now);
        if now - self.published < PUBLISH_EVERY {
            return;
        }
        self.published = now;
        let Some(estimator) = sounder.estimators().nth(1) else { return };
        let estimate = estimator.estimate(now);
        self.downlink.feed().publish_link(&estimate, now);
        events.estimate(now, &estimate, || estimator.cell(now)?.heard);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(file: &str, flags: Flags) -> Result<Plan, ConfigError> {
        Plan::merge(toml::from_str(file).expect("TOML"), flags, "biscay", &["wwan0".into()])
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
        assert_eq!(device.interfaces, ["wwan0"]);
        assert_eq!(plan.reads_besides(Direction::Uplink), Some(Direction::Downlink));
        assert_eq!(plan.reads_besides(Direction::Downlink), None);
        assert!(!plan.needs_no_modem());
        assert_eq!(plan.span(), None);
        let windows = Flags { downlink: Some(SignalWord::Window), ..Flags::default() };
        let windows = Plan::merge(File::default(), windows, "biscay", &[]).expect("fine");
        assert_eq!(windows.span(), Law::Sounding.needs().span);
    }

    #[test]
    fn a_server_needs_no_modem_and_shares_the_number_of_the_option() {
        let plan = plan("peers = true\nexid = 0x1234", Flags::default()).expect("fine");
        assert!(plan.needs_no_modem());
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
