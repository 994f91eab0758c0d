//! The configuration of `sounding run`: each section of it is present or absent, and asks for one
//! output.

mod cc;
mod file;
mod flags;
mod shape;
mod sniffers;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use sounding_host::{MAX_TEXT, read_text_at_most};
use sounding_kpi::Direction;
use sounding_laws::Law;
use sounding_link::{Bound, Config as Link, Method, Source as LinkSource};
use sounding_modem::{SnifferSource, Source};
use sounding_units::Rate;

use super::config_error::{ConfigError, time};
use super::downlink;
use super::output::Section;
use super::outputs::arrivals::ArrivalsSection;
use super::outputs::background::BackgroundSection;
use super::outputs::board::BoardSection;
use super::outputs::calls::CallsSection;
use super::outputs::copa::CopaSection;
use super::outputs::downlink::DownlinkSection;
use super::outputs::law::LawSection;
use crate::cli_types::{BoundWord, Unused, user};
use cc::{Algorithm, Chosen};
use file::File;
pub(crate) use flags::Flags;
pub(crate) use shape::ShapeFlags;
use shape::ShapePlan;

/// The configuration of `sounding run`, from its file and its flags; flags win.
#[derive(Clone, Debug)]
pub(crate) struct Config {
    /// `None` where no modem is needed.
    pub(super) modem: Option<ModemPlan>,
    pub(super) algorithms: Vec<Chosen>,
    /// The modem's network devices.
    pub(super) interfaces: Vec<String>,
    /// Whether flows of other algorithms share the link, because the modem's network devices are
    /// known.
    pub(super) counts_others: bool,
    /// The downlink in the other direction: as a device and as a server.
    pub(super) downlink: downlink::Plan,
    /// Name of the board to publish, and its KPIs; the usual ones if none is named.
    pub(super) board: Option<BoardSection>,
    pub(super) arrivals: Option<ArrivalsSection>,
    pub(super) calls: Option<CallsSection>,
    pub(super) shape: Option<ShapePlan>,
    /// How long a processor may take to wake, if that is limited.
    pub(super) cpu_latency: Option<Duration>,
    /// How estimates are made, as far as no law decides.
    estimates: EstimatePlan,
}

/// The modem that is read, and with which sniffers.
#[derive(Clone, Debug)]
pub(super) struct ModemPlan {
    pub(super) source: Source,
    /// Whether the modem is given the log mask that the outputs need.
    pub(super) mask: bool,
    /// Whether that holds also for a mask that the modem does not tell.
    pub(super) sets_untold: bool,
    /// What the modem may send, if that is limited.
    pub(super) budget: Option<Rate>,
    /// How an estimate is made that no output needs.
    pub(super) link: Link,
    /// Sniffers of the device's carriers, in their order.
    pub(super) sniffers: Vec<SnifferSource>,
    /// The direction of a sniffer's log that has one log for each.
    pub(super) sniffed: Direction,
    /// Where rates by CQI are kept, if they are.
    pub(super) cqi_rates: Option<PathBuf>,
}

/// How estimates are made: as configured, or else as each law needs it.
#[derive(Clone, Copy, Debug)]
struct EstimatePlan {
    direction: Direction,
    method: Option<Method>,
    window: Option<Duration>,
    assume: Option<Bound>,
}

/// The commented example, which `--example-config` prints and a test reads.
pub(crate) const EXAMPLE: &str = include_str!("example.toml");

/// Four times what the records of a rate estimate come to (Gandalf §4.2.2: below 1 Mbit/s;
/// everything is 100 Mbit/s, and has cut data links).
const BUDGET: Rate = Rate::from_bits_per_sec(4_000_000);

impl EstimatePlan {
    /// For a law. One that goes by channel reports gets what there is in the uplink, which has
    /// none. One that goes by the cell needs a sniffer, which is asked for by hand.
    fn of(&self, law: Option<Law>) -> Link {
        let needs = law.map(Law::needs);
        let wished = needs
            .and_then(|needs| needs.method)
            .filter(|method| *method == LinkSource::Cqi && self.direction == Direction::Downlink);
        let made = Link::new(self.direction).by(wished);
        let made = made.over(self.window.or(needs.and_then(|needs| needs.span)));
        Link { method: self.method.unwrap_or(made.method), assume: self.assume, ..made }
    }
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
        let algorithms = cc::chosen(file.cc, &flags)?;
        let direction =
            flags.direction.or(file.link.direction).map_or(Direction::Uplink, Into::into);
        let window = flags.window.or(time("link.window", file.link.window.as_deref())?);
        if let Some(window) = window.filter(|window| !WINDOWS.contains(window)) {
            return Err(ConfigError::WindowRange(window));
        }
        let estimates = EstimatePlan {
            direction,
            method: flags.method.or(file.link.method).map(Into::into),
            window,
            assume: match flags.bound.or(file.link.bound) {
                Some(BoundWord::Capacity) => Some(Bound::Capacity),
                Some(BoundWord::Auto) | None => None,
            },
        };
        if estimates.method == Some(Method::Cqi) && direction == Direction::Uplink {
            return Err(ConfigError::NoCqi);
        }
        let laws = || algorithms.iter().filter_map(Chosen::law);
        let made: Vec<Link> = laws().map(|law| estimates.of(Some(law))).collect();
        let base = made.first().copied().unwrap_or_else(|| estimates.of(None));
        let by_cqi =
            base.method == Method::Cqi || made.iter().any(|made| made.method == Method::Cqi);
        if flags.cqi_rates.is_some() && !by_cqi {
            return Err(Unused { flag: "--cqi-rates", owner: "--method cqi" }.into());
        }
        // In the file it may stand for when it is wanted.
        let cqi_rates = flags.cqi_rates.or(file.link.cqi_rates).filter(|_| by_cqi);
        let sniffers = sniffers::chosen(flags.sniffer, &file.link.sniffers, base.method)?;
        let sniffer_user = file.link.sniffer_user.as_deref().map(user).transpose();
        let sniffer_user = sniffer_user.map_err(ConfigError::SnifferUser)?;
        let sniffers = flags.sniffer_user.of(sniffers, sniffer_user)?;
        let budget = file.modem.budget.as_deref().map(str::parse).transpose();
        let budget = budget.map_err(|error| ConfigError::Rate { key: "modem.budget", error })?;
        let budget = flags.budget.or(budget).unwrap_or(BUDGET);
        let cpu_latency = time("modem.cpu_latency", file.modem.cpu_latency.as_deref())?;
        let shape = shape::chosen(file.shape, flags.shape)?;
        let mut interfaces =
            if flags.interface.is_empty() { file.modem.interfaces } else { flags.interface };
        // The WAN's device is the modem's.
        if let Some(named) = shape.as_ref().and_then(ShapePlan::interface)
            && interfaces.is_empty()
        {
            interfaces.push(named.clone());
        }
        // Pins have a name also where no law does.
        let name = algorithms.first().map(|chosen| chosen.name.clone()).or(flags.name);
        let name = name.unwrap_or_else(|| "downlink".into());
        if !sounding_bpf::is_name(&name) {
            return Err(ConfigError::Name(name));
        }
        let background = algorithms.iter().any(Chosen::is_background);
        let downlink = downlink::Plan::merge(file.downlink, flags.downlink, &name, background)?;
        let board = flags.board.or(file.board.name);
        if !flags.kpi.is_empty() && board.is_none() {
            return Err(Unused { flag: "--kpi", owner: "--board" }.into());
        }
        let kpis = if flags.kpi.is_empty() { file.board.kpis } else { flags.kpi };
        let arrivals = flags.arrivals.or(file.arrivals.interface);
        let calls = flags.calls.or(file.calls.socket);
        let user = file.modem.router_user.as_deref().map(user).transpose();
        let user = user.map_err(ConfigError::RouterUser)?;
        let source = match flags.device.or(file.modem.device) {
            Some(text) => {
                let source = flags.router.of(text.parse()?)?;
                Some(if flags.router.is_named() { source } else { source.served_by(user) })
            }
            None => None,
        };
        let modem = source.map(|source| ModemPlan {
            source,
            mask: !flags.no_mask && file.modem.mask.unwrap_or(true),
            sets_untold: flags.untold.set_untold_mask || file.modem.set_untold_mask,
            budget: (budget > Rate::default()).then_some(budget),
            link: base,
            sniffers,
            sniffed: downlink.reads_besides(direction).unwrap_or(direction),
            cqi_rates,
        });
        let config = Self {
            modem,
            algorithms,
            counts_others: !interfaces.is_empty(),
            interfaces,
            downlink,
            board: board.map(|name| BoardSection { name, kpis }),
            arrivals: arrivals.map(|device| ArrivalsSection { device }),
            calls: calls.map(|socket| CallsSection { socket }),
            shape,
            cpu_latency: flags.cpu_latency.or(cpu_latency),
            estimates,
        };
        config.check_modem()?;
        Ok(config)
    }

    /// Refuses a modem that no output reads, and an output that misses its modem.
    fn check_modem(&self) -> Result<(), ConfigError> {
        let hears = self.downlink.server().is_some();
        let has_law = self.algorithms.iter().any(|chosen| chosen.law().is_some());
        let has_copa =
            self.algorithms.iter().any(|chosen| matches!(chosen.algorithm, Algorithm::Copa));
        let reads = self.downlink.device().is_some()
            || self.board.is_some()
            || self.arrivals.is_some()
            || self.calls.is_some()
            || self.shape.is_some();
        match &self.modem {
            None if reads || (has_law && !hears) => Err(ConfigError::NoDevice),
            Some(_) if !(reads || has_law || has_copa) => Err(ConfigError::NoReader),
            None if self.algorithms.is_empty() => Err(ConfigError::NoReader),
            _ => Ok(()),
        }
    }

    /// The sections that ask for an output, in the order in which they start.
    pub(super) fn sections(&self) -> Vec<Arc<dyn Section>> {
        let mut sections: Vec<Arc<dyn Section>> = Vec::new();
        for Chosen { algorithm, name, new_flows } in &self.algorithms {
            let (name, new_flows) = (name.clone(), new_flows.clone());
            let peers = self.downlink.server().cloned();
            sections.push(match algorithm {
                Algorithm::Law(plan) => Arc::new(LawSection {
                    law: plan.law,
                    name,
                    fallback: plan.fallback,
                    settings: plan.settings,
                    sharing: sounding_bpf::Sharing {
                        others: self.counts_others,
                        ..plan.sharing.clone()
                    },
                    new_flows,
                    link: self.modem.as_ref().map(|_| self.estimates.of(Some(plan.law))),
                    peers,
                }),
                Algorithm::Copa => Arc::new(CopaSection { name, new_flows, peers }),
                Algorithm::Background { cgroup } => {
                    Arc::new(BackgroundSection { name, new_flows, cgroup: cgroup.clone() })
                }
            });
        }
        if let Some(device) = self.downlink.device() {
            let config = sounding_bpf::DownlinkConfig {
                interfaces: self.interfaces.clone(),
                ..device.clone()
            };
            sections.push(Arc::new(DownlinkSection { config, link: self.downlink_estimate() }));
        }
        if let Some(arrivals) = &self.arrivals {
            sections.push(Arc::new(arrivals.clone()));
        }
        if let Some(calls) = &self.calls {
            sections.push(Arc::new(calls.clone()));
        }
        for section in self.shape.iter().flat_map(|shape| shape.sections(&self.interfaces)) {
            sections.push(Arc::new(section));
        }
        if let Some(board) = &self.board {
            sections.push(Arc::new(board.clone()));
        }
        sections
    }

    /// How estimates for senders to this machine are made.
    fn downlink_estimate(&self) -> Link {
        let law = self.algorithms.iter().find_map(Chosen::law);
        let plan = self.estimates;
        let method = plan.of(law).method;
        let made = Link { method, ..Link::new(Direction::Downlink) };
        let window = plan.window.or(self.downlink.span());
        Link { assume: plan.assume, ..made.over(window) }
    }
}

impl Chosen {
    fn law(&self) -> Option<Law> {
        match &self.algorithm {
            Algorithm::Law(plan) => Some(plan.law),
            Algorithm::Copa | Algorithm::Background { .. } => None,
        }
    }

    fn is_background(&self) -> bool {
        matches!(self.algorithm, Algorithm::Background { .. })
    }
}

/// Spans of time that an estimate may look back.
const WINDOWS: std::ops::RangeInclusive<Duration> =
    Duration::from_millis(1)..=Duration::from_secs(10);

#[cfg(test)]
mod tests;
