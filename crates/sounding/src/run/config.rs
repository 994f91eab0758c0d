mod sniffers;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use serde::Deserialize;
use sounding_bpf::{LawConfig, Sharing};
use sounding_cc::{Fallback, Law};
use sounding_host::{MAX_TEXT, read_text_at_most};
use sounding_kpi::Direction;
use sounding_link::{Bound, Method};
use sounding_modem::{SnifferSource, Source};
use sounding_units::Rate;

use super::background;
use super::config_error::{ConfigError, time};
use super::copa_plan::CopaPlan;
use super::downlink;
use super::share::{self, ApplicationWord, ShareWord};
use crate::cli_types::{
    BoundWord, DirectionWord, FallbackWord, LawWord, MethodWord, RouterUser, SnifferUser,
    UntoldMask, Unused, is_prefix, user,
};

/// The configuration of `sounding run`, from its file and its flags; flags win.
#[derive(Clone, Debug)]
pub(crate) struct Config {
    /// `None` where no modem is needed.
    pub(crate) device: Option<Source>,
    /// Whether the modem is given the log mask that this needs.
    pub(crate) mask: bool,
    /// Whether that holds also for a mask that the modem does not tell.
    pub(crate) sets_untold: bool,
    /// What the modem may send, if that is limited.
    pub(crate) budget: Option<Rate>,
    pub(crate) link: sounding_link::Config,
    /// Sniffers of the device's carriers, in their order.
    pub(super) sniffers: Vec<SnifferSource>,
    /// Where rates by CQI are kept, if they are.
    pub(super) cqi_rates: Option<PathBuf>,
    /// The span of estimates was configured.
    own_window: bool,
    pub(crate) law: Law,
    pub(crate) fallback: Fallback,
    pub(crate) name: String,
    pub(crate) settings: LawConfig,
    pub(crate) sharing: Sharing,
    /// The modem's network devices.
    pub(crate) interfaces: Vec<String>,
    pub(crate) default: bool,
    pub(crate) routes: Vec<String>,
    /// Name of the board to publish, and its KPIs; the usual ones if none is named.
    pub(crate) board: Option<String>,
    pub(crate) kpis: Vec<String>,
    /// How long a processor may take to wake, if that is limited.
    pub(crate) cpu_latency: Option<Duration>,
    /// What is done for the other direction.
    pub(super) downlink: downlink::Plan,
}

/// The commented example, which `--example-config` prints and a test reads.
pub(crate) const EXAMPLE: &str = include_str!("example.toml");

/// Four times what the records of a rate estimate come to (Gandalf §4.2.2: below 1 Mbit/s; everything is 100 Mbit/s, and
/// has cut data links).
const BUDGET: Rate = Rate::from_bits_per_sec(4_000_000);

#[derive(Args, Debug, Default)]
pub(crate) struct Flags {
    /// Source of the modem's Diag: a device such as /dev/ttyUSB0, /dev/wwan0qcdm0 or /dev/diag, tcp:HOST:PORT,
    /// router[:NAME], vendor-router[:NAME], or - for a stream on standard input; with non-hdlc: before it if the modem
    /// has the HDLC framing switched off
    #[arg(long, short, value_name = "SOURCE")]
    device: Option<String>,
    #[command(flatten)]
    router: RouterUser,
    /// Leave the modem's log mask unchanged, and read the records that come
    #[arg(long)]
    no_mask: bool,
    #[command(flatten)]
    untold: UntoldMask,
    /// What the modem may send; over it the least important records are switched off. 0bit is no limit
    #[arg(long, value_name = "RATE")]
    budget: Option<Rate>,
    /// Which way the flows of this machine send: uplink on the device itself
    #[arg(long, value_enum)]
    direction: Option<DirectionWord>,
    /// How granted bytes are counted
    #[arg(long, value_enum)]
    method: Option<MethodWord>,
    /// A sniffer of the cell, for --method cell: udp:ADDRESS:PORT (NG-Scope's service), dcilog:FILE (NG-Scope), falcon:FILE or
    /// nr-scope:FILE, read while it grows; once for each carrier, in their order
    #[arg(long, value_name = "SNIFFER")]
    sniffer: Vec<SnifferSource>,
    #[command(flatten)]
    sniffer_user: SnifferUser,
    /// With --method cqi: keep what is learnt of each cell's rates in this file, and begin with what it has
    #[arg(long, value_name = "FILE")]
    cqi_rates: Option<PathBuf>,
    /// Span of time that grants are summed over; 100ms where nothing is said, and 30ms for the law of sounding and for
    /// --downlink window, but not for --downlink both
    #[arg(long, value_name = "TIME", value_parser = humantime::parse_duration)]
    window: Option<Duration>,
    /// Meaning of an estimate: `auto` judges it; `capacity` is right if the link is made from the capture itself
    #[arg(long, value_enum)]
    bound: Option<BoundWord>,
    /// What decides on the window
    #[arg(long, value_enum)]
    law: Option<LawWord>,
    /// Algorithm for the window while the path is narrower than the radio, or while there is no usable estimate
    #[arg(long, value_enum)]
    fallback: Option<FallbackWord>,
    /// Name of the congestion control in this kernel, up to 15 characters; without it, the law's
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// With --law biscay: queue that the window has room for above the path's own round-trip time
    #[arg(long, value_name = "TIME", value_parser = humantime::parse_duration)]
    allowance: Option<Duration>,
    /// With --law biscay: pacing rate over the flow's share of the link, 1 to 4
    #[arg(long, value_name = "FACTOR")]
    pacing_gain: Option<f64>,
    /// By what its flows share the link
    #[arg(long, value_enum)]
    share: Option<ShareWord>,
    /// With --share app: what an application is
    #[arg(long, value_enum)]
    application: Option<ApplicationWord>,
    /// With --share weighted: what weighs more or less than 1, as port:443=2, user:1000=0.5 or
    /// cgroup:/sys/fs/cgroup/system.slice/backup.service=3
    #[arg(long, value_name = "OWNER=FACTOR")]
    weight: Vec<String>,
    /// The modem's network device, as wwan0: only flows that leave by it share its link, UDP and TCP of other algorithms
    /// too, and with --downlink only sockets that receive over it are held. Without it, the device that belongs to the port's
    /// own hardware, or where none does, every one but loopback; what is assumed is said
    #[arg(long, value_name = "NAME")]
    interface: Vec<String>,
    /// Make it this namespace's default for new flows, until the daemon ends
    #[arg(long)]
    default: bool,
    /// Use it for new flows over the route to exactly this prefix, until the daemon ends
    #[arg(long, value_name = "PREFIX")]
    route: Vec<String>,
    /// Publish KPIs in shared memory under this name, as `sounding board` does
    #[arg(long, value_name = "NAME")]
    board: Option<String>,
    /// With --board: names of KPIs, or `all`
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    kpi: Vec<String>,
    /// Let no processor sleep so deep that it takes longer to wake, as 0us or 20us: estimates come sooner, and the machine
    /// needs more power, until the daemon ends
    #[arg(long, value_name = "TIME", value_parser = humantime::parse_duration)]
    cpu_latency: Option<Duration>,
    #[command(flatten)]
    downlink: downlink::Flags,
}

impl Flags {
    /// Those that `--background` uses.
    pub(super) fn of_background(self) -> background::Wanted {
        let Self { name, default, route, downlink, .. } = self;
        background::Wanted { name, cgroup: downlink.cgroup(), default, routes: route }
    }

    /// Those that `--copa` uses.
    pub(super) fn of_copa(self) -> Result<CopaPlan, ConfigError> {
        let name = self.name.unwrap_or_else(|| sounding_bpf::COPA_NAME.to_owned());
        if !sounding_bpf::is_name(&name) {
            return Err(ConfigError::Name(name));
        }
        if let Some(wrong) = self.route.iter().find(|route| !is_prefix(route)) {
            return Err(ConfigError::Prefix(wrong.clone()));
        }
        let device = match self.device {
            Some(text) => Some(self.router.of(text.parse()?)?),
            None => None,
        };
        let budget = Some(self.budget.unwrap_or(BUDGET)).filter(|rate| *rate > Rate::default());
        Ok(CopaPlan {
            device,
            mask: !self.no_mask,
            sets_untold: self.untold.set_untold_mask,
            budget,
            name,
            default: self.default,
            routes: self.route,
            peers: self.downlink.hears(),
            interfaces: self.interface,
            cpu_latency: self.cpu_latency,
        })
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct File {
    modem: Modem,
    link: Link,
    cc: Cc,
    downlink: downlink::File,
    board: Board,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Modem {
    device: Option<String>,
    router_user: Option<String>,
    mask: Option<bool>,
    set_untold_mask: bool,
    budget: Option<String>,
    interfaces: Vec<String>,
    cpu_latency: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Link {
    direction: Option<DirectionWord>,
    method: Option<MethodWord>,
    sniffers: Vec<String>,
    sniffer_user: Option<String>,
    cqi_rates: Option<PathBuf>,
    window: Option<String>,
    bound: Option<BoundWord>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Cc {
    law: Option<LawWord>,
    fallback: Option<FallbackWord>,
    name: Option<String>,
    allowance: Option<String>,
    pacing_gain: Option<f64>,
    share: Option<ShareWord>,
    application: Option<ApplicationWord>,
    weights: BTreeMap<String, f64>,
    default: bool,
    routes: Vec<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Board {
    name: Option<String>,
    kpis: Vec<String>,
}

impl Config {
    /// Reads the file, if one is given, and lets the flags win.
    pub(crate) fn load(path: Option<&Path>, flags: Flags) -> Result<Self, ConfigError> {
        let file = match path {
            None => File::default(),
            Some(path) => {
                let at = || path.to_path_buf();
                let text = read_text_at_most(path, MAX_TEXT)
                    .map_err(|error| ConfigError::Read { path: at(), error })?;
                toml::from_str(&text)
                    .map_err(|error| ConfigError::Parse { path: at(), error: Box::new(error) })?
            }
        };
        Self::merge(file, flags)
    }

    fn merge(file: File, flags: Flags) -> Result<Self, ConfigError> {
        let direction =
            flags.direction.or(file.link.direction).map_or(Direction::Uplink, Into::into);
        let law = flags.law.or(file.cc.law).map_or(Law::default(), Into::into);
        // A law that goes by channel reports gets what there is in the uplink, which has none. One that goes by the cell
        // needs a sniffer, which is asked for by hand.
        let wished = law.needs().method.filter(|method| {
            *method == sounding_link::Source::Cqi && direction == Direction::Downlink
        });
        let mut link = sounding_link::Config::new(direction).by(wished);
        link.method = flags.method.or(file.link.method).map_or(link.method, Into::into);
        if link.method == Method::Cqi && direction == Direction::Uplink {
            return Err(ConfigError::NoCqi);
        }
        if flags.cqi_rates.is_some() && link.method != Method::Cqi {
            return Err(Unused { flag: "--cqi-rates", owner: "--method cqi" }.into());
        }
        // In the file it may stand for when it is wanted.
        let cqi_rates = flags.cqi_rates.or(file.link.cqi_rates);
        let cqi_rates = cqi_rates.filter(|_| link.method == Method::Cqi);
        let sniffers = sniffers::chosen(flags.sniffer, &file.link.sniffers, link.method)?;
        let sniffer_user = file.link.sniffer_user.as_deref().map(user).transpose();
        let sniffer_user = sniffer_user.map_err(ConfigError::SnifferUser)?;
        let sniffers = flags.sniffer_user.of(sniffers, sniffer_user)?;
        let window = flags.window.or(time("link.window", file.link.window.as_deref())?);
        link.window = window.unwrap_or(link.window);
        if !(Duration::from_millis(1)..=Duration::from_secs(10)).contains(&link.window) {
            return Err(ConfigError::WindowRange(link.window));
        }
        link.assume = match flags.bound.or(file.link.bound) {
            Some(BoundWord::Capacity) => Some(Bound::Capacity),
            Some(BoundWord::Auto) | None => None,
        };
        let fallback = flags.fallback.or(file.cc.fallback);
        let name = flags.name.or(file.cc.name).unwrap_or_else(|| law.kernel_name());
        if !sounding_bpf::is_name(&name) {
            return Err(ConfigError::Name(name));
        }
        let mut settings = LawConfig::default();
        let allowance = time("cc.allowance", file.cc.allowance.as_deref())?;
        let allowance = flags.allowance.or(allowance);
        let gain = flags.pacing_gain.or(file.cc.pacing_gain);
        if !law.has_settings() && (allowance.is_some() || gain.is_some()) {
            return Err(ConfigError::NotOfThisLaw);
        }
        settings.allowance = allowance.unwrap_or(settings.allowance);
        if settings.allowance > Duration::from_secs(1) {
            return Err(ConfigError::Allowance(settings.allowance));
        }
        if let Some(gain) = gain {
            if !(1.0..=4.0).contains(&gain) {
                return Err(ConfigError::PacingGain(gain));
            }
            settings.pacing_gain_permille = (gain * 1000.0).round() as u32;
        }
        let budget = file.modem.budget.as_deref().map(str::parse).transpose();
        let budget = budget.map_err(|error| ConfigError::Rate { key: "modem.budget", error })?;
        let budget = flags.budget.or(budget).unwrap_or(BUDGET);
        let cpu_latency = time("modem.cpu_latency", file.modem.cpu_latency.as_deref())?;
        let routes = if flags.route.is_empty() { file.cc.routes } else { flags.route };
        if let Some(wrong) = routes.iter().find(|route| !is_prefix(route)) {
            return Err(ConfigError::Prefix(wrong.clone()));
        }
        let interfaces =
            if flags.interface.is_empty() { file.modem.interfaces } else { flags.interface };
        let downlink = downlink::Plan::merge(file.downlink, flags.downlink, &name, &interfaces)?;
        let user = file.modem.router_user.as_deref().map(user).transpose();
        let user = user.map_err(ConfigError::RouterUser)?;
        let device = match flags.device.or(file.modem.device) {
            Some(text) => {
                let source = flags.router.of(text.parse()?)?;
                Some(if flags.router.is_named() { source } else { source.served_by(user) })
            }
            None if downlink.needs_no_modem() => None,
            None => return Err(ConfigError::NoDevice),
        };
        let policy = flags.share.or(file.cc.share).unwrap_or(ShareWord::Equal);
        // In the file they may stand for when they are wanted.
        if flags.application.is_some() && policy != ShareWord::App {
            return Err(Unused { flag: "--application", owner: "--share app" }.into());
        }
        let board = flags.board.or(file.board.name);
        if !flags.kpi.is_empty() && board.is_none() {
            return Err(Unused { flag: "--kpi", owner: "--board" }.into());
        }
        let sharing = share::sharing(
            policy,
            flags.application.or(file.cc.application).unwrap_or(ApplicationWord::User),
            file.cc.weights,
            &flags.weight,
            !interfaces.is_empty(),
        )?;
        Ok(Self {
            device,
            mask: !flags.no_mask && file.modem.mask.unwrap_or(true),
            sets_untold: flags.untold.set_untold_mask || file.modem.set_untold_mask,
            budget: (budget > Rate::default()).then_some(budget),
            link,
            sniffers,
            cqi_rates,
            own_window: window.is_some(),
            law,
            fallback: fallback.map_or(law.fallback(), Into::into),
            name,
            settings,
            sharing,
            interfaces,
            default: flags.default || file.cc.default,
            routes,
            board,
            kpis: if flags.kpi.is_empty() { file.board.kpis } else { flags.kpi },
            cpu_latency: flags.cpu_latency.or(cpu_latency),
            downlink,
        })
    }

    /// Has these be the modem's network devices.
    pub(super) fn name_interfaces(&mut self, names: Vec<String>) {
        self.downlink.name_interfaces(&names);
        self.interfaces = names;
    }

    /// The direction of a sniffer's log, for sniffers with one log for each direction.
    pub(super) fn sniffed(&self) -> Direction {
        self.downlink.reads_besides(self.link.direction).unwrap_or(self.link.direction)
    }

    /// How the law's estimates are made.
    pub(crate) fn told(&self) -> sounding_link::Config {
        self.looking_back(self.law.needs().span)
    }

    /// And those for senders to this machine.
    pub(crate) fn told_of_downlink(&self) -> sounding_link::Config {
        let link = self.looking_back(self.downlink.span());
        sounding_link::Config { direction: Direction::Downlink, ..link }
    }

    fn looking_back(&self, span: Option<Duration>) -> sounding_link::Config {
        self.link.over(span.filter(|_| !self.own_window))
    }
}

#[cfg(test)]
mod tests;
